// How an operand lies that is written to shared memory for a warpgroup product.
// RUN: tile-opt %s --split-input-file --tile-warpgroup-dots --tile-assign-layouts | FileCheck %s

// Rows that an index finds are contiguous along N, and stay so: whole vectors are written.
// CHECK: #[[ALONG_N:.*]] = #cta.layout<{offset = {{\[\[}}0, 1], [0, 2], [0, 4],
// CHECK-LABEL: func.func @gathered
// CHECK: cta.stage %{{.*}} -> <[64, 64], f16, #[[ALONG_N]]>
// CHECK: cta.warpgroup_dot
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @gathered(%index: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %is = tile.splat %index : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %ip = tile.addptr %is, %r : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %rows = tile.load %ip : tensor<64x!tile.ptr<i32>>
  %c64 = arith.constant dense<64> : tensor<64xi32>
  %starts = arith.muli %rows, %c64 : tensor<64xi32>
  %column = tile.expand_dims %starts {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %row = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %down = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x64xi32>
  %across = tile.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %down, %across : tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %p = tile.addptr %xs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %b = tile.load %p : tensor<64x64x!tile.ptr<f16>>
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %os, %d : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

// 32 bits must be contiguous along K.
// CHECK: #[[ALONG_K:.*]] = #cta.layout<{offset = {{\[\[}}1, 0], [2, 0],
// CHECK-LABEL: func.func @wide
// CHECK: cta.stage %{{.*}} -> <[64, 64], f32, #[[ALONG_K]]>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @wide(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32>) {
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %at = tile.reshape %r : tensor<4096xi32> -> tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %b = tile.load %p : tensor<64x64x!tile.ptr<f32>>
  %a = arith.constant dense<1.0> : tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %b, %zero precision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %os, %d : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

// What only a product reads is loaded by 16 bytes, though the result has its shape and is
// stored by as many elements as have 16 bytes there.
// CHECK-LABEL: func.func @narrower_than_the_result
// CHECK: tile.load %{{.*}} {vector = 8 : i32} : tensor<64x64x!tile.ptr<f16>
// CHECK: cta.warpgroup_dot
// CHECK: tile.store %{{.*}} {vector = 4 : i32} : tensor<64x64x!tile.ptr<f32>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @narrower_than_the_result(%index: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %is = tile.splat %index : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %ip = tile.addptr %is, %r : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %rows = tile.load %ip : tensor<64x!tile.ptr<i32>>
  %c64 = arith.constant dense<64> : tensor<64xi32>
  %starts = arith.muli %rows, %c64 : tensor<64xi32>
  %column = tile.expand_dims %starts {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %row = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %down = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x64xi32>
  %across = tile.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %down, %across : tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %p = tile.addptr %xs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %b = tile.load %p : tensor<64x64x!tile.ptr<f16>>
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %op = tile.addptr %os, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %op, %d : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

// Products read it in two directions. Written along K from where it was loaded along N, lanes would
// meet in a bank: it is exchanged while it is narrow, and written from squares.
// CHECK-LABEL: func.func @both_directions
// CHECK: %[[LOADED:.*]] = tile.load
// CHECK: %[[SQUARES:.*]] = cta.convert_layout %[[LOADED]] : tensor<64x64xbf16,
// CHECK: %[[WIDE:.*]] = arith.extf %[[SQUARES]] : tensor<64x64xbf16, {{.*}}> to tensor<64x64xf32
// CHECK: cta.stage %[[WIDE]]
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @both_directions(%x: !tile.ptr<bf16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32>) {
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %at = tile.reshape %r : tensor<4096xi32> -> tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<bf16> -> tensor<64x64x!tile.ptr<bf16>>
  %p = tile.addptr %xs, %at : tensor<64x64x!tile.ptr<bf16>>, tensor<64x64xi32>
  %v = tile.load %p : tensor<64x64x!tile.ptr<bf16>>
  %b = arith.extf %v : tensor<64x64xbf16> to tensor<64x64xf32>
  %t = tile.trans %b [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %a = arith.constant dense<1.0> : tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %a, %b, %zero precision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  %e = tile.dot %a, %t, %d precision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %os, %e : tensor<64x64x!tile.ptr<f32>>
  return
}
}
