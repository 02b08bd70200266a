// Why blocks that are asked to take several programs take one.
// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-persist-programs -o /dev/null

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.persistent, cta.block_programs = array<i32: 0, 2>, tile.kernel = #tile.kernel<warps = 4>} {
// expected-remark @below {{its blocks run one program each: neighbouring programs run in one thread block at once}}
func.func @shared_blocks(%a: !cta.tensor_map, %z: tensor<64x64xf32>) {
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %n = tile.num_programs 1 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%x, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.persistent, tile.kernel = #tile.kernel<warps = 4, roles = none>} {
// expected-remark @below {{its blocks run one program each: the warps that compute start its copies, too}}
func.func @in_place(%a: !cta.tensor_map, %z: tensor<64x64xf32>) {
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %n = tile.num_programs 1 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%x, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.persistent, tile.kernel = #tile.kernel<warps = 4>} {
// expected-remark @below {{its blocks run one program each: loops are longer in some programs than in others: a grid shares these out by itself}}
func.func @up_to_a_diagonal(%a: !cta.tensor_map, %z: tensor<64x64xf32>, %n: i32) {
  %x = tile.program_id 0 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %next = arith.addi %x, %c1 : i32
  %rows = arith.muli %next, %c64 : i32
  %end = arith.minsi %rows, %n : i32
  %s = scf.for %i = %c0 to %end step %c64 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%x, %i] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.persistent, tile.kernel = #tile.kernel<warps = 4>} {
// expected-remark @below {{its blocks run one program each: no loop of it copies by TMA, whose copies would run under the stores before}}
func.func @plain(%p: !tile.ptr<f32>, %v: f32) {
  %x = tile.program_id 0 : i32
  %q = tile.addptr %p, %x : !tile.ptr<f32>, i32
  tile.store %q, %v : !tile.ptr<f32>
  return
}
}
