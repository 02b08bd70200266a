// Products added up one after the other: turns of a loop, the first of which adds what is nothing in it.
// RUN: tile-opt %s --tile-roll-products | FileCheck %s
// RUN: tile-opt %s --tile-roll-products --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: 1 tile-roll-products - sums of products that became loops

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {

// CHECK-LABEL: func.func @unrolled
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<64x64xf32>)
// CHECK: %[[STEP:.*]] = arith.constant 32 : i32
// CHECK: %[[FAR:.*]] = arith.muli %[[I]], %[[STEP]] : i32
// CHECK: %[[FARS:.*]] = tile.splat %[[FAR]] : i32 -> tensor<64x32xi32>
// CHECK: arith.addi %{{.*}}, %[[FARS]]
// CHECK: %[[LEFT:.*]] = tile.load
// CHECK: %[[DOWN:.*]] = arith.muli %[[K:.*]], %arg3 : i32
// CHECK: tile.addptr %arg1, %[[DOWN]]
// CHECK: %[[RIGHT:.*]] = tile.load
// CHECK: %[[NEXT:.*]] = tile.dot %[[LEFT]], %[[RIGHT]], %[[SUM]]
// CHECK: scf.yield %[[NEXT]]
// CHECK-NOT: tile.dot
func.func @unrolled(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>, %stride: i32) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.make_range 0 to 2048 : tensor<2048xi32>
  %at = tile.reshape %r : tensor<2048xi32> -> tensor<64x32xi32>
  %bt = tile.reshape %r : tensor<2048xi32> -> tensor<32x64xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %pa0 = tile.addptr %as, %at : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %pb0 = tile.addptr %bs, %bt : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %a0 = tile.load %pa0 : tensor<64x32x!tile.ptr<f16>>
  %b0 = tile.load %pb0 : tensor<32x64x!tile.ptr<f16>>
  %d0 = tile.dot %a0, %b0, %zero : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %c1 = arith.constant dense<32> : tensor<64x32xi32>
  %n1 = arith.addi %at, %c1 : tensor<64x32xi32>
  %pa1 = tile.addptr %as, %n1 : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %k1 = arith.constant 1 : i32
  %m1 = arith.muli %k1, %stride : i32
  %q1 = tile.addptr %b, %m1 : !tile.ptr<f16>, i32
  %s1 = tile.splat %q1 : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %pb1 = tile.addptr %s1, %bt : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %a1 = tile.load %pa1 : tensor<64x32x!tile.ptr<f16>>
  %b1 = tile.load %pb1 : tensor<32x64x!tile.ptr<f16>>
  %d1 = tile.dot %a1, %b1, %d0 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %c2 = arith.constant dense<64> : tensor<64x32xi32>
  %n2 = arith.addi %at, %c2 : tensor<64x32xi32>
  %pa2 = tile.addptr %as, %n2 : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %k2 = arith.constant 2 : i32
  %m2 = arith.muli %k2, %stride : i32
  %q2 = tile.addptr %b, %m2 : !tile.ptr<f16>, i32
  %s2 = tile.splat %q2 : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %pb2 = tile.addptr %s2, %bt : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %a2 = tile.load %pa2 : tensor<64x32x!tile.ptr<f16>>
  %b2 = tile.load %pb2 : tensor<32x64x!tile.ptr<f16>>
  %d2 = tile.dot %a2, %b2, %d1 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %c3 = arith.constant dense<96> : tensor<64x32xi32>
  %n3 = arith.addi %at, %c3 : tensor<64x32xi32>
  %pa3 = tile.addptr %as, %n3 : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %k3 = arith.constant 3 : i32
  %m3 = arith.muli %k3, %stride : i32
  %q3 = tile.addptr %b, %m3 : !tile.ptr<f16>, i32
  %s3 = tile.splat %q3 : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %pb3 = tile.addptr %s3, %bt : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %a3 = tile.load %pa3 : tensor<64x32x!tile.ptr<f16>>
  %b3 = tile.load %pb3 : tensor<32x64x!tile.ptr<f16>>
  %d3 = tile.dot %a3, %b3, %d2 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %c4 = arith.constant dense<128> : tensor<64x32xi32>
  %n4 = arith.addi %at, %c4 : tensor<64x32xi32>
  %pa4 = tile.addptr %as, %n4 : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %k4 = arith.constant 4 : i32
  %m4 = arith.muli %k4, %stride : i32
  %q4 = tile.addptr %b, %m4 : !tile.ptr<f16>, i32
  %s4 = tile.splat %q4 : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %pb4 = tile.addptr %s4, %bt : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %a4 = tile.load %pa4 : tensor<64x32x!tile.ptr<f16>>
  %b4 = tile.load %pb4 : tensor<32x64x!tile.ptr<f16>>
  %d4 = tile.dot %a4, %b4, %d3 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %cs, %d4 : tensor<64x64x!tile.ptr<f32>>
  return
}
}
