// Stores by TMA have memory of their own, but a barrier before their copies.
// RUN: tile-opt %s --split-input-file --tile-insert-barriers | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#own = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#other = #cta.layout<{register = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], lane = [[32, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = [[0, 16], [0, 32]]} : [64, 64]>

// One warpgroup: all threads have come to the store before the buffer is used again,
// by the next iteration too.
// CHECK-LABEL: func.func @one_warpgroup
// CHECK-NOT: cta.barrier
// CHECK: return
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @one_warpgroup(%map: !cta.tensor_map, %x: tensor<64x64xf16, #own>, %at: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #own> -> tensor<64x64xf16, #other>
    cta.tma_store %y, %map[%at, %at] dims [1, 0] staged #image {cta.scratch_offset = 8192 : i32} : tensor<64x64xf16, #other>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#own = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0], [0, 32]]} : [64, 64]>
#other = #cta.layout<{register = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[16, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = [[0, 16], [0, 32], [32, 0]]} : [64, 64]>

// Of two each may wait for its own threads only.
// CHECK-LABEL: func.func @two_warpgroups
// CHECK: scf.for
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.convert_layout
module attributes {tile.kernel = #tile.kernel<warps = 8>} {
func.func @two_warpgroups(%map: !cta.tensor_map, %x: tensor<64x64xf16, #own>, %at: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %y = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #own> -> tensor<64x64xf16, #other>
    cta.tma_store %y, %map[%at, %at] dims [1, 0] staged #image {cta.scratch_offset = 8192 : i32} : tensor<64x64xf16, #other>
  }
  return
}
}
