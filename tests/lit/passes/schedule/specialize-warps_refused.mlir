// Why no warps only copy: a remark, or an error where groups of warps by turns count on them.
// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-specialize-warps -o /dev/null

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#line = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]} : [64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// expected-remark @below {{no warps only copy: where to copy depends on what all threads compute}}
func.func @of_a_block(%a: !cta.tensor_map, %i: tensor<64xi32, #line>, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %start = tile.reduce %i {axis = 0 : i32} : tensor<64xi32, #line> -> i32 {
  ^bb0(%l: i32, %r: i32):
    %s = arith.maxsi %l, %r : i32
    tile.yield %s : i32
  }
  %x = cta.tma_load %a[%start, %start] dims [1, 0] : !tile
  %d = cta.warpgroup_dot %x, %x, %z : !tile, !tile, tensor<64x64xf32, #acc>
  tile.store %p, %d : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// expected-remark @below {{no warps only copy: where to copy is read from what the kernel writes}}
func.func @of_what_is_written(%a: !cta.tensor_map, %q: !tile.ptr<i32>, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %start = tile.load %q : !tile.ptr<i32>
  %x = cta.tma_load %a[%start, %start] dims [1, 0] : !tile
  %d = cta.warpgroup_dot %x, %x, %z : !tile, !tile, tensor<64x64xf32, #acc>
  tile.store %p, %d : tensor<64x64x!tile.ptr<f32>, #acc>
  tile.store %q, %start : !tile.ptr<i32>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 32>} {
// expected-remark @below {{no warps only copy: a thread block has no room for more warps}}
func.func @of_1024_threads(%a: !cta.tensor_map, %i: i32) {
  %x = cta.tma_load %a[%i, %i] dims [1, 0] : !tile
  %r = cta.read %x : !tile -> tensor<64x64xf16, #cta.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]} : [64, 64]>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {cta.kernel = #cta.kernel<groups = 2>, tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {
// expected-error @below {{is to compute blocks by turns without warps that only copy: where to copy is read from what the kernel writes}}
func.func @by_turns(%a: !cta.tensor_map, %q: !tile.ptr<i32>, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %start = tile.load %q : !tile.ptr<i32>
  %x = cta.tma_load %a[%start, %start] dims [1, 0] : !tile
  %d = cta.warpgroup_dot %x, %x, %z : !tile, !tile, tensor<64x64xf32, #acc>
  tile.store %p, %d : tensor<64x64x!tile.ptr<f32>, #acc>
  tile.store %q, %start : !tile.ptr<i32>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {cta.kernel = #cta.kernel<groups = 2>, tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = none>} {
// expected-error @below {{is to compute blocks by turns without warps that only copy: the author wants the others to copy}}
func.func @by_turns_in_place(%a: !cta.tensor_map, %i: i32, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %x = cta.tma_load %a[%i, %i] dims [1, 0] : !tile
  %d = cta.warpgroup_dot %x, %x, %z : !tile, !tile, tensor<64x64xf32, #acc>
  tile.store %p, %d : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}

// -----

module attributes {cta.kernel = #cta.kernel<groups = 2>, tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {
// expected-error @below {{is to compute blocks by turns without warps that only copy: nothing is copied by TMA}}
func.func @by_turns_without_copies() {
  return
}
}
