// Products whose inner dimension warps share.
// RUN: tile-opt %s -split-input-file -tile-share-inner | FileCheck %s
// RUN: tile-opt %s -split-input-file -tile-share-inner -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// Two tiles for four warps: each multiplies a quarter of the inner dimension, and the loop's sums are
// added up behind it.
// CHECK-LABEL: func.func @carried
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<4x16x16xf32>)
// CHECK: %[[APART:.*]] = tile.reshape %{{.*}} : tensor<16x256xf16> -> tensor<16x4x64xf16>
// CHECK: %[[A:.*]] = tile.trans %[[APART]] [1, 0, 2]
// CHECK: %[[B:.*]] = tile.reshape %{{.*}} : tensor<256x16xf16> -> tensor<4x64x16xf16>
// CHECK: %[[P:.*]] = tile.dot %[[A]], %[[B]], %[[ACC]] : tensor<4x16x64xf16> * tensor<4x64x16xf16> -> tensor<4x16x16xf32>
// CHECK: scf.yield %[[P]]
// CHECK: tile.reduce %[[SUMS]] {axis = 0 : i32} : tensor<4x16x16xf32> -> tensor<16x16xf32>
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @carried(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %s = tile.make_range 0 to 256 : tensor<256xi32>
  %oa = tile.reshape %r : tensor<4096xi32> -> tensor<16x256xi32>
  %oc = tile.reshape %s : tensor<256xi32> -> tensor<16x16xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<16x256x!tile.ptr<f16>>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %pa = tile.addptr %as, %oa : tensor<16x256x!tile.ptr<f16>>, tensor<16x256xi32>
  %pc = tile.addptr %cs, %oc : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %x = tile.load %pa : tensor<16x256x!tile.ptr<f16>>
    %y = tile.trans %x [1, 0] : tensor<16x256xf16> -> tensor<256x16xf16>
    %d = tile.dot %x, %y, %acc : tensor<16x256xf16> * tensor<256x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tile.store %pc, %sum : tensor<16x16x!tile.ptr<f32>>
  return
}
}

// -----

// Two products that add up one result share it as one, and what they started from is added in the end,
// whole numbers as well.
// CHECK-LABEL: func.func @chained
// CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<4x16x16xi32>
// CHECK: %[[FIRST:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ZERO]] : tensor<4x16x256xi8> * tensor<4x256x16xi8>
// CHECK: %[[SECOND:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[FIRST]] : tensor<4x16x512xi8> * tensor<4x512x16xi8>
// CHECK: %[[SUM:.*]] = tile.reduce %[[SECOND]] {axis = 0 : i32}
// CHECK: arith.addi
// CHECK: arith.addi %[[START:.*]], %[[SUM]] : tensor<16x16xi32>
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @chained(%x: tensor<16x1024xi8>, %y: tensor<1024x16xi8>, %v: tensor<16x2048xi8>, %w: tensor<2048x16xi8>, %start: tensor<16x16xi32>, %c: !tile.ptr<i32> {tile.divisibility = 16 : i32}) {
  %first = tile.dot %x, %y, %start : tensor<16x1024xi8> * tensor<1024x16xi8> -> tensor<16x16xi32>
  %d = tile.dot %v, %w, %first : tensor<16x2048xi8> * tensor<2048x16xi8> -> tensor<16x16xi32>
  %r = tile.make_range 0 to 256 : tensor<256xi32>
  %oc = tile.reshape %r : tensor<256xi32> -> tensor<16x16xi32>
  %cs = tile.splat %c : !tile.ptr<i32> -> tensor<16x16x!tile.ptr<i32>>
  %pc = tile.addptr %cs, %oc : tensor<16x16x!tile.ptr<i32>>, tensor<16x16xi32>
  tile.store %pc, %d : tensor<16x16x!tile.ptr<i32>>
  return
}
}

// -----

// A tile for each warp, but 512 words of a row for each thread, which has 255 registers: what the loop
// loads comes in steps, what it finds does not. The parts are added up in each turn.
// CHECK-LABEL: func.func @no_room
// CHECK: scf.for
// CHECK: tile.dot {{.*}} : tensor<4x32x256xf32> * tensor<4x256x32xf32> -> tensor<4x32x32xf32>
// CHECK: tile.reduce %{{.*}} {axis = 0 : i32} : tensor<4x32x32xf32> -> tensor<32x32xf32>
// CHECK: tile.store
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @no_room(%x: tensor<32x1024xf32>, %p: tensor<1024x32x!tile.ptr<f32>>, %n: i32, %c: tensor<32x32x!tile.ptr<f32>>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = tile.load %p : tensor<1024x32x!tile.ptr<f32>>
    %d = tile.dot %x, %y, %zero precision = tf32 : tensor<32x1024xf32> * tensor<1024x32xf32> -> tensor<32x32xf32>
    tile.store %c, %d : tensor<32x32x!tile.ptr<f32>>
  }
  return
}
}

// -----

// A tile for each warp, and room for its operands: nothing is gained.
// CHECK-LABEL: func.func @enough
// CHECK: tile.dot {{.*}} -> tensor<32x16xf32
// CHECK-NOT: tile.reduce
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @enough(%x: tensor<32x256xf16>, %y: tensor<256x16xf16>, %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %r = tile.make_range 0 to 512 : tensor<512xi32>
  %oc = tile.reshape %r : tensor<512xi32> -> tensor<32x16xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<32x16x!tile.ptr<f32>>
  %pc = tile.addptr %cs, %oc : tensor<32x16x!tile.ptr<f32>>, tensor<32x16xi32>
  %d = tile.dot %x, %y, %zero : tensor<32x256xf16> * tensor<256x16xf16> -> tensor<32x16xf32>
  tile.store %pc, %d : tensor<32x16x!tile.ptr<f32>>
  return
}
}

// -----

// An instruction multiplies all that there is.
// CHECK-LABEL: func.func @short
// CHECK: -> tensor<16x16xf32>
// WHY: remark: all warps multiply all of the inner dimension: a warp's part would be less than one instruction multiplies
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @short(%x: tensor<16x16xf16>, %y: tensor<16x16xf16>, %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %x, %y, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %r = tile.make_range 0 to 256 : tensor<256xi32>
  %oc = tile.reshape %r : tensor<256xi32> -> tensor<16x16xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %pc = tile.addptr %cs, %oc : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  tile.store %pc, %d : tensor<16x16x!tile.ptr<f32>>
  return
}
}

// -----

// A few instructions more are done sooner than threads have waited for each other.
// CHECK-LABEL: func.func @dear
// CHECK: -> tensor<16x16xf32>
// WHY: remark: all warps multiply all of the inner dimension: adding up the parts would take longer than they save
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @dear(%x: tensor<16x32xf16>, %y: tensor<32x16xf16>, %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.dot %x, %y, %zero : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  %r = tile.make_range 0 to 256 : tensor<256xi32>
  %oc = tile.reshape %r : tensor<256xi32> -> tensor<16x16xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %pc = tile.addptr %cs, %oc : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  tile.store %pc, %d : tensor<16x16x!tile.ptr<f32>>
  return
}
}

// -----

// Of what another product gave a warp has whole rows already.
// CHECK-LABEL: func.func @of_product
// CHECK: tile.dot {{.*}} : tensor<16x512xf16> * tensor<512x16xf16> -> tensor<16x16xf32>
// WHY: remark: all warps multiply all of the inner dimension: an operand is what another product gave, whole rows of which a warp has
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @of_product(%x: tensor<16x16xf16>, %y: tensor<16x512xf16>, %z: tensor<512x16xf16>, %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %zeros = arith.constant dense<0.0> : tensor<16x512xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %s = tile.dot %x, %y, %zeros : tensor<16x16xf16> * tensor<16x512xf16> -> tensor<16x512xf32>
  %t = arith.truncf %s : tensor<16x512xf32> to tensor<16x512xf16>
  %d = tile.dot %t, %z, %zero : tensor<16x512xf16> * tensor<512x16xf16> -> tensor<16x16xf32>
  %r = tile.make_range 0 to 256 : tensor<256xi32>
  %oc = tile.reshape %r : tensor<256xi32> -> tensor<16x16xi32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %pc = tile.addptr %cs, %oc : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  tile.store %pc, %d : tensor<16x16x!tile.ptr<f32>>
  return
}
}
