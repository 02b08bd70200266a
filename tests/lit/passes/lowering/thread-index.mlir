// The part of an index that the thread contributes.
// RUN: tile-opt %s --tile-lower-to-llvm --cse | FileCheck %s

// A run of thread bits that is shifted down, but not to the bottom, is masked:
// here the warp (bits 5 and 6 of the thread) becomes bits 1 and 2 of the index.
#down = #cta.layout<{register = [[1]], lane = [[8], [16], [32], [64], [128]], warp = [[2], [4]]} : [256]>
// CHECK-LABEL: llvm.func @shifted_down
// CHECK-DAG: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK-DAG: %[[WARPS:.*]] = llvm.mlir.constant(96 : i32) : i32
// CHECK: %[[BITS:.*]] = llvm.and %[[TID]], %[[WARPS]] : i32
// CHECK: llvm.lshr %[[BITS]]
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @shifted_down(%p: !tile.ptr<i32>) {
  %r = tile.make_range 0 to 256 : tensor<256xi32, #down>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>, #down>
  %pp = tile.addptr %ps, %r : tensor<256x!tile.ptr<i32>, #down>, tensor<256xi32, #down>
  tile.store %pp, %r : tensor<256x!tile.ptr<i32>, #down>
  return
}
}
