// RUN: tile-opt %s --tile-keep-operands-shared | FileCheck %s

#rows = #cta.layout<{register = [[0, 1], [0, 2], [8, 0], [16, 0], [32, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [0, 0]]} : [64, 32]>
#columns = #cta.layout<{register = [[1, 0], [2, 0], [0, 8], [0, 16], [0, 32]], lane = [[4, 0], [8, 0], [16, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 0]]} : [32, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#left = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 4], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]} : [64, 32]>
#right = #cta.layout<{offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [4, 1], [8, 2], [16, 4], [0, 8], [0, 16], [0, 32]]} : [32, 64]>
!rows = tensor<64x32xf32, #rows>
!columns = tensor<32x64xf32, #columns>
!sum = tensor<64x64xf32, #acc>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Both operands are contiguous along what is summed over: one copy serves both.
// CHECK-LABEL: func.func @squares
// CHECK: %[[S:.*]] = cta.stage %{{.*}} -> <[64, 32], f32,
// CHECK-NOT: cta.stage
// CHECK: cta.warpgroup_dot %[[S]], %[[S]] turned, %{{.*}}
func.func @squares(%k: !rows, %z: !sum) -> !sum {
  %t = tile.trans %k [1, 0] : !rows -> !columns
  %a = cta.stage %k : !rows -> <[64, 32], f32, #left>
  %b = cta.stage %t : !columns -> <[32, 64], f32, #right>
  %d = cta.warpgroup_dot %a, %b, %z : !cta.buffer<[64, 32], f32, #left>, <[32, 64], f32, #right>, !sum
  return %d : !sum
}

// The first may be the one in the other order, and is read so by the second product.
// CHECK-LABEL: func.func @right_first
// CHECK: %[[S:.*]] = cta.stage %{{.*}} -> <[32, 64], f32,
// CHECK-NOT: cta.stage %{{.*}} -> <[64, 32], f32
// CHECK: cta.warpgroup_dot %[[S]] turned, %[[S]], %{{.*}}
func.func @right_first(%k: !rows, %z: !sum) -> !sum {
  %t = tile.trans %k [1, 0] : !rows -> !columns
  %b = cta.stage %t : !columns -> <[32, 64], f32, #right>
  %a = cta.stage %k : !rows -> <[64, 32], f32, #left>
  %d = cta.warpgroup_dot %a, %b, %z : !cta.buffer<[64, 32], f32, #left>, <[32, 64], f32, #right>, !sum
  return %d : !sum
}

// Another block has a copy of its own.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: cta.stage
// CHECK: cta.warpgroup_dot %{{[^ ]*}}, %{{[^ ]*}}, %{{.*}}
func.func @others(%k: !rows, %other: !rows, %z: !sum) -> !sum {
  %t = tile.trans %other [1, 0] : !rows -> !columns
  %a = cta.stage %k : !rows -> <[64, 32], f32, #left>
  %b = cta.stage %t : !columns -> <[32, 64], f32, #right>
  %d = cta.warpgroup_dot %a, %b, %z : !cta.buffer<[64, 32], f32, #left>, <[32, 64], f32, #right>, !sum
  return %d : !sum
}
}
