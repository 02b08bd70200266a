// Threads that are one warp wait for each other as a warp, which costs next to nothing and orders
// memory all the same; more of them by a barrier of the thread block.
// RUN: tile-opt %s -split-input-file -tile-lower-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func{{.*}} @one_warp
// CHECK: %[[ALL:.*]] = llvm.mlir.constant(-1 : i32) : i32
// CHECK-NEXT: nvvm.bar.warp.sync %[[ALL]]
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
func.func @one_warp(%p: !tile.ptr<f32>, %x: f32) {
  cta.barrier
  tile.store %p, %x : !tile.ptr<f32>
  return
}
}

// -----

// CHECK-LABEL: llvm.func{{.*}} @two_warps
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: nvvm.barrier0
// CHECK: llvm.return
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 2>} {
func.func @two_warps(%p: !tile.ptr<f32>, %x: f32) {
  cta.barrier
  tile.store %p, %x : !tile.ptr<f32>
  return
}
}
