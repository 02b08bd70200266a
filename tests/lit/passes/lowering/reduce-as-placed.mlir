// A reduction that has its room is lowered as that was made for it, whatever would be chosen now: sums
// of eight parts, each result by four neighbouring threads, and handed around behind a second barrier.
// RUN: tile-opt %s --tile-lower-to-llvm --cse | FileCheck %s

#block = #cta.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]} : [32, 64]>
#sums = #cta.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [0], [0]], warp = [[0], [0], [0]]} : [64]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {
// CHECK-LABEL: llvm.func{{.*}} @sums
// CHECK: nvvm.barrier0
// CHECK: nvvm.barrier0
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @sums(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x64x!tile.ptr<f32>, #block>
  %x = tile.load %ps : tensor<32x64x!tile.ptr<f32>, #block>
  %s = tile.reduce %x {axis = 0 : i32, cta.scratch_offset = 0 : i32, cta.threads_of_result = 4 : i32} : tensor<32x64xf32, #block> -> tensor<64xf32, #sums> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #sums>
  tile.store %qs, %s : tensor<64x!tile.ptr<f32>, #sums>
  return
}
}
