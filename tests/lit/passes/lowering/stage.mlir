// Operands of products that threads write to shared memory.
// RUN: tile-opt %s -split-input-file -tile-lower-to-llvm | FileCheck %s

#along_n = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#along_k = #cta.layout<{offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8], [0, 16], [0, 32]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
  // A product's result by matrices, as it lies ...
  // CHECK-LABEL: llvm.func @as_it_lies(
  // CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK-NOT: stmatrix
  // CHECK: wgmma.mma_async
  func.func @as_it_lies(%x: f16, %y: f32) {
    %v = tile.splat %x : f16 -> tensor<64x64xf16, #acc>
    %b = cta.stage %v {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #acc> -> !cta.buffer<[64, 64], f16, #along_n>
    %c = tile.splat %y : f32 -> tensor<64x64xf32, #acc>
    %d = cta.warpgroup_dot %v, %b, %c : tensor<64x64xf16, #acc>, <[64, 64], f16, #along_n>, tensor<64x64xf32, #acc>
    %e = arith.mulf %d, %c : tensor<64x64xf32, #acc>
    return
  }
  // ... or turned.
  // CHECK-LABEL: llvm.func @turned(
  // CHECK-COUNT-4: llvm.nvvm.stmatrix.sync.aligned{{.*}}x4.trans
  // CHECK-NOT: stmatrix
  // CHECK: wgmma.mma_async
  func.func @turned(%x: f16, %y: f32) {
    %v = tile.splat %x : f16 -> tensor<64x64xf16, #acc>
    %b = cta.stage %v {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #acc> -> !cta.buffer<[64, 64], f16, #along_k>
    %c = tile.splat %y : f32 -> tensor<64x64xf32, #acc>
    %d = cta.warpgroup_dot %v, %b, %c : tensor<64x64xf16, #acc>, <[64, 64], f16, #along_k>, tensor<64x64xf32, #acc>
    %e = arith.mulf %d, %c : tensor<64x64xf32, #acc>
    return
  }
}
