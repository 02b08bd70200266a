// RUN: tile-opt %s --tile-hoist-store-starts | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// What the coordinates are made of moves along; a constant stays where it is.
// CHECK-LABEL: func.func @behind
// CHECK: %[[ROW:.*]] = arith.divsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[START:.*]] = arith.muli %[[ROW]], %{{.*}} {cta.computed_here} : i32
// CHECK: scf.for
// CHECK: cta.tma_store %{{.*}}, %{{.*}}[%{{.*}}, %[[START]]]
func.func @behind(%b: !tile, %c: !cta.tensor_map, %zero: tensor<64x64xf32, #acc>, %n: i32, %p: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %next = cta.warpgroup_dot %b, %b, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  %row = arith.divsi %p, %n : i32
  %start = arith.muli %row, %c64 : i32
  cta.tma_store %sum, %c[%c0, %start] dims [1, 0] staged #image : tensor<64x64xf32, #acc>
  return
}

// In a branch, too, the coordinates of which have been computed before.
// CHECK-LABEL: func.func @in_branch
// CHECK: %[[START:.*]] = arith.divsi %{{.*}}, %{{.*}} {cta.computed_here} : i32
// CHECK: scf.for
// CHECK: scf.if
// CHECK: cta.tma_store %{{.*}}, %{{.*}}[%{{.*}}, %[[START]]]
func.func @in_branch(%b: !tile, %c: !cta.tensor_map, %zero: tensor<64x64xf32, #acc>, %n: i32, %p: i32, %is: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %start = arith.divsi %p, %n : i32
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %next = cta.warpgroup_dot %b, %b, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  scf.if %is {
    cta.tma_store %sum, %c[%c0, %start] dims [1, 0] staged #image : tensor<64x64xf32, #acc>
  }
  return
}

// What the loop computes cannot be there before.
// CHECK-LABEL: func.func @from_loop
// CHECK: scf.for
// CHECK: arith.divsi
// CHECK-NOT: cta.computed_here
// CHECK: return
func.func @from_loop(%b: !tile, %c: !cta.tensor_map, %zero: tensor<64x64xf32, #acc>, %n: i32, %p: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %last = %c0) -> (tensor<64x64xf32, #acc>, i32) : i32 {
    %next = cta.warpgroup_dot %b, %b, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %next, %k : tensor<64x64xf32, #acc>, i32
  }
  %start = arith.divsi %sum#1, %n : i32
  cta.tma_store %sum#0, %c[%c0, %start] dims [1, 0] staged #image : tensor<64x64xf32, #acc>
  return
}
}
