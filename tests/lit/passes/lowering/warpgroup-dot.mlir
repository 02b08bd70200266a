// Where a warpgroup's share of an operand starts is added to the lower word of the
// descriptor in 32 bits: of a wide product plus a constant ptxas 12.8 and 13.0 lose the
// upper half, with the strides and the swizzle.
// RUN: tile-opt %s -split-input-file -tile-lower-to-llvm | FileCheck %s

#a = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#b = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 64]>
// CHECK-LABEL: llvm.func @share(
// CHECK-NOT: llvm.mul {{.*}} : i64
// CHECK: %[[UNITS:.*]] = llvm.mlir.constant(512 : i32)
// CHECK: %[[SKIP:.*]] = llvm.mul %{{.*}}, %[[UNITS]] : i32
// CHECK: %[[START:.*]] = llvm.add %{{.*}}, %[[SKIP]] : i32
// CHECK: %[[LOW:.*]] = llvm.add %[[START]],
// CHECK: llvm.zext %[[LOW]]
// CHECK-NOT: llvm.mul {{.*}} : i64
// CHECK: wgmma.mma_async
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {
  func.func @share(%x: f16, %y: f32) {
    %u = tile.splat %x : f16 -> tensor<128x64xf16, #acc>
    %v = tile.splat %x : f16 -> tensor<64x64xf16, #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 32]]} : [64, 64]>>
    %a = cta.stage %u {cta.scratch_offset = 0 : i32} : tensor<128x64xf16, #acc> -> !cta.buffer<[128, 64], f16, #a>
    %b = cta.stage %v {cta.scratch_offset = 16384 : i32} : tensor<64x64xf16, #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 32]]} : [64, 64]>> -> !cta.buffer<[64, 64], f16, #b>
    %c = tile.splat %y : f32 -> tensor<128x64xf32, #acc>
    %d = cta.warpgroup_dot %a, %b, %c : !cta.buffer<[128, 64], f16, #a>, <[64, 64], f16, #b>, tensor<128x64xf32, #acc>
    %e = arith.mulf %d, %c : tensor<128x64xf32, #acc>
    return
  }
}

// -----

#a = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#b = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]} : [64, 128]>
#left = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 0], [0, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 32], [0, 64]]} : [64, 128]>
// Two shares of 32 columns lie in one span of the swizzle, 4 units of 16 bytes apart; the next
// two in the next span, 512 further on.
// CHECK-LABEL: llvm.func @shares_in_a_span(
// CHECK: %[[NEAR:.*]] = llvm.mul %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: %[[MANY:.*]] = llvm.mlir.constant(512 : i32)
// CHECK-NEXT: %[[FAR:.*]] = llvm.mul %{{.*}}, %[[MANY]]
// CHECK-NEXT: llvm.add %[[NEAR]], %[[FAR]]
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 16>} {
  func.func @shares_in_a_span(%x: f16, %y: f32) {
    %u = tile.splat %x : f16 -> tensor<64x64xf16, #left>
    %v = tile.splat %x : f16 -> tensor<64x128xf16, #acc>
    %a = cta.stage %u {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #left> -> !cta.buffer<[64, 64], f16, #a>
    %b = cta.stage %v {cta.scratch_offset = 8192 : i32} : tensor<64x128xf16, #acc> -> !cta.buffer<[64, 128], f16, #b>
    %c = tile.splat %y : f32 -> tensor<64x128xf32, #acc>
    %d = cta.warpgroup_dot %a, %b, %c : !cta.buffer<[64, 64], f16, #a>, <[64, 128], f16, #b>, tensor<64x128xf32, #acc>
    %e = arith.mulf %d, %c : tensor<64x128xf32, #acc>
    return
  }
}
