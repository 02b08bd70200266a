// A scan is computed where it costs least, with the way there and from there.
// RUN: tile-opt %s --tile-assign-layouts --split-input-file | FileCheck %s

// Memory is contiguous across the scanned axis, which ran over 8 lanes, 4 warps and 8
// repeats. It is scanned where the result is stored: 4 elements side by side in a thread,
// 16 lanes, and no warps.
// CHECK: #[[SCANNED:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [0, 2], [0, 64], [0, 128], [8, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = {{\[\[}}2, 0], [4, 0]]}
// CHECK-LABEL: func.func @across
// CHECK: %[[V:.*]] = tile.load
// CHECK: %[[C:.*]] = cta.convert_layout %[[V]] {{.*}} -> tensor<16x256xf32, #[[SCANNED]]>
// CHECK: tile.scan %[[C]]
// CHECK-NOT: cta.convert_layout
// CHECK: tile.store
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @across(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %h = tile.make_range 0 to 16 : tensor<16xi32>
  %c = tile.make_range 0 to 256 : tensor<256xi32>
  %hc = tile.expand_dims %h {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %cr = tile.expand_dims %c {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %hs = tile.broadcast %hc : tensor<16x1xi32> -> tensor<16x256xi32>
  %cs = tile.broadcast %cr : tensor<1x256xi32> -> tensor<16x256xi32>
  %c16 = arith.constant dense<16> : tensor<16x256xi32>
  %c256 = arith.constant dense<256> : tensor<16x256xi32>
  %cm = arith.muli %cs, %c16 : tensor<16x256xi32>
  %from = arith.addi %hs, %cm : tensor<16x256xi32>
  %hm = arith.muli %hs, %c256 : tensor<16x256xi32>
  %to = arith.addi %hm, %cs : tensor<16x256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x256x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<16x256x!tile.ptr<f32>>
  %p = tile.addptr %xs, %from : tensor<16x256x!tile.ptr<f32>>, tensor<16x256xi32>
  %q = tile.addptr %ys, %to : tensor<16x256x!tile.ptr<f32>>, tensor<16x256xi32>
  %v = tile.load %p : tensor<16x256x!tile.ptr<f32>>
  %s = tile.scan %v {axis = 1 : i32, reverse = false} : tensor<16x256xf32> -> tensor<16x256xf32> {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    tile.yield %d : f32
  }
  tile.store %q, %s : tensor<16x256x!tile.ptr<f32>>
  return
}
}

// -----

// Over rows: each thread scans a run of rows by itself; lanes lie along the columns.
// CHECK: #[[RUNS:.*]] = #cta.layout<{register = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [32, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]],
// CHECK-LABEL: func.func @over_rows
// CHECK: tile.scan {{.*}} : tensor<64x64xf32, #[[RUNS]]> ->
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @over_rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %at = tile.reshape %r : tensor<4096xi32> -> tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  %v = tile.load %p : tensor<64x64x!tile.ptr<f32>>
  %s = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<64x64xf32> -> tensor<64x64xf32> {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    tile.yield %d : f32
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

// Moving a row would cost more than its scan: it stays where it was loaded.
// CHECK-LABEL: func.func @row
// CHECK-NOT: cta.convert_layout
// CHECK: return
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @row(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.addptr %xs, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
  %s = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<1024xf32> -> tensor<1024xf32> {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    tile.yield %d : f32
  }
  tile.store %p, %s : tensor<1024x!tile.ptr<f32>>
  return
}
}

// -----

// Of every other element of memory each is a store of its own: by neighbouring lanes, for which
// what a thread has side by side is exchanged.
// CHECK-LABEL: func.func @every_other_element
// CHECK: %[[SUMS:.*]] = tile.scan
// CHECK: %[[ROW:.*]] = cta.convert_layout %[[SUMS]]
// CHECK: tile.store %{{.*}}, %[[ROW]]
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @every_other_element(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %v: f32) {
  %two = arith.constant dense<2> : tensor<2048xi32>
  %r = tile.make_range 0 to 2048 : tensor<2048xi32>
  %i = arith.muli %r, %two : tensor<2048xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<2048x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<2048x!tile.ptr<f32>>, tensor<2048xi32>
  %l = tile.load %p : tensor<2048x!tile.ptr<f32>>
  %s = tile.scan %l {axis = 0 : i32, reverse = false} : tensor<2048xf32> -> tensor<2048xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %s : tensor<2048x!tile.ptr<f32>>
  return
}
}
