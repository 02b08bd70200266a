// A number that a loop loads beside what is copied ahead is loaded in the turn before.
// RUN: tile-opt %s --tile-assign-layouts --tile-pipeline-loads --tile-verify-protocol | FileCheck %s

module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {

// In front of the loop if there is a turn, then at the top of each for the next one.
// CHECK-LABEL: func.func @scaled
// CHECK: } {cta.prologue}
// CHECK: %[[ANY:.*]] = arith.cmpi slt
// CHECK: %[[FIRST:.*]] = tile.load %{{.*}}, %[[ANY]] : !tile.ptr<f32>
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[NOW:.*]] = %[[FIRST]])
// CHECK: %[[MORE:.*]] = arith.cmpi ugt
// CHECK: %[[NEXT:.*]] = tile.load %{{.*}}, %[[MORE]] : !tile.ptr<f32>
// CHECK: tile.dot
// CHECK-NOT: tile.load
// CHECK: tile.splat %[[NOW]] : f32
// CHECK: scf.yield {{.*}}, %[[NEXT]] :
func.func @scaled(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %s: !tile.ptr<f32>, %out: !tile.ptr<f32>, %n: i32) {
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %at = tile.reshape %r : tensor<4096xi32> -> tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %p = tile.addptr %xs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %is = tile.splat %i : i32 -> tensor<64x64xi32>
    %q = tile.addptr %p, %is : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %p : tensor<64x64x!tile.ptr<f16>>
    %b = tile.load %q : tensor<64x64x!tile.ptr<f16>>
    %d = tile.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %sp = tile.addptr %s, %i : !tile.ptr<f32>, i32
    %v = tile.load %sp : !tile.ptr<f32>
    %vs = tile.splat %v : f32 -> tensor<64x64xf32>
    %e = arith.mulf %d, %vs : tensor<64x64xf32>
    %next = arith.addf %acc, %e : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %o = tile.addptr %os, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %o, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}

// A chain of numbers, each the place of the next, cannot be.
// CHECK-LABEL: func.func @chained
// CHECK: scf.for
// CHECK: tile.dot
// CHECK: %[[V:.*]] = tile.load %{{[a-z0-9]*}} : !tile.ptr<i32>
func.func @chained(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %s: !tile.ptr<i32>, %out: !tile.ptr<f32>, %n: i32) {
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %at = tile.reshape %r : tensor<4096xi32> -> tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %p = tile.addptr %xs, %at : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %link = %c0) -> (tensor<64x64xf32>, i32) : i32 {
    %is = tile.splat %i : i32 -> tensor<64x64xi32>
    %q = tile.addptr %p, %is : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %a = tile.load %q : tensor<64x64x!tile.ptr<f16>>
    %d = tile.dot %a, %a, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %sp = tile.addptr %s, %link : !tile.ptr<i32>, i32
    %v = tile.load %sp : !tile.ptr<i32>
    scf.yield %d, %v : tensor<64x64xf32>, i32
  }
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %o = tile.addptr %os, %at : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %o, %sum#0 : tensor<64x64x!tile.ptr<f32>>
  tile.store %s, %sum#1 : !tile.ptr<i32>
  return
}
}
