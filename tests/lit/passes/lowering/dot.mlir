// A product without a matrix unit for its types: one multiply-add for each
// accumulator register and step of the inner dimension.
// RUN: tile-opt %s -split-input-file -tile-lower-to-llvm | FileCheck %s

#acc = #cta.layout<{register = [[1, 0]], lane = [[0, 1], [0, 2], [2, 0], [4, 0], [8, 0]], warp = []} : [16, 4]>
#a = #cta.layout<{register = [[1, 0], [0, 1]], lane = [[0, 0], [0, 0], [2, 0], [4, 0], [8, 0]], warp = []} : [16, 2]>
#b = #cta.layout<{register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 0], [0, 0], [0, 0]], warp = []} : [2, 4]>
// CHECK-LABEL: llvm.func @ieee(
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-4: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
module attributes {tile.kernel = #tile.kernel<warps = 1>} {
  func.func @ieee(%x: f32, %y: f32) {
    %a = tile.splat %x : f32 -> tensor<16x2xf32, #a>
    %b = tile.splat %y : f32 -> tensor<2x4xf32, #b>
    %c = tile.splat %y : f32 -> tensor<16x4xf32, #acc>
    %d = tile.dot %a, %b, %c : tensor<16x2xf32, #a> * tensor<2x4xf32, #b> -> tensor<16x4xf32, #acc>
    return
  }
}

// -----

// Layouts that a matrix instruction wants make it one: here two, along the
// inner dimension.
#acc = #cta.layout<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []} : [16, 8]>
#a = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []} : [16, 32]>
#b = #cta.layout<{register = [[1, 0], [8, 0], [16, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []} : [32, 8]>
// CHECK-LABEL: llvm.func @matrix(
// CHECK: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK: %[[SUM:.*]] = llvm.extractvalue %[[FIRST]][0]
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"({{.*}}, %[[SUM]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT: mma
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 1>} {
  func.func @matrix(%x: f16, %y: f32) {
    %a = tile.splat %x : f16 -> tensor<16x32xf16, #a>
    %b = tile.splat %x : f16 -> tensor<32x8xf16, #b>
    %c = tile.splat %y : f32 -> tensor<16x8xf32, #acc>
    %d = tile.dot %a, %b, %c : tensor<16x32xf16, #a> * tensor<32x8xf16, #b> -> tensor<16x8xf32, #acc>
    return
  }
}

// -----

// A short inner dimension: the second element of each pair is zero, and so is
// what the lanes beyond the end hold. Rows and columns beyond the end are copies.
#acc = #cta.layout<{register = [], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []} : [1, 1]>
// CHECK-LABEL: llvm.func @smallest(
// CHECK: %[[THREE:.*]] = llvm.mlir.constant(3 : i32)
// CHECK: %[[BITS:.*]] = llvm.and %{{.*}}, %[[THREE]]
// CHECK: %[[BEYOND:.*]] = llvm.icmp "ne" %[[BITS]]
// CHECK: %[[ZERO:.*]] = llvm.mlir.zero : f16
// CHECK: llvm.select %[[BEYOND]], %[[ZERO]], %arg0 : i1, f16
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f32.f32"
// CHECK-NOT: mma
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 1>} {
  func.func @smallest(%x: f16, %y: f32) {
    %a = tile.splat %x : f16 -> tensor<1x1xf16, #acc>
    %c = tile.splat %y : f32 -> tensor<1x1xf32, #acc>
    %d = tile.dot %a, %a, %c : tensor<1x1xf16, #acc> * tensor<1x1xf16, #acc> -> tensor<1x1xf32, #acc>
    return
  }
}

// -----

// Partial sums of 8-bit products leave the matrix unit after each step.
#acc = #cta.layout<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []} : [16, 8]>
#a = #cta.layout<{register = [[0, 1], [0, 2], [8, 0], [0, 16], [0, 32]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []} : [16, 64]>
#b = #cta.layout<{register = [[1, 0], [2, 0], [16, 0], [32, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []} : [64, 8]>
// CHECK-LABEL: llvm.func @bounded(
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"
// CHECK-COUNT-4: llvm.fadd
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"
// CHECK-COUNT-4: llvm.fadd
module attributes {tile.target = #tile.target<sm_89>, tile.kernel = #tile.kernel<warps = 1>} {
  func.func @bounded(%x: f8E4M3FN, %y: f32) {
    %a = tile.splat %x : f8E4M3FN -> tensor<16x64xf8E4M3FN, #a>
    %b = tile.splat %x : f8E4M3FN -> tensor<64x8xf8E4M3FN, #b>
    %c = tile.splat %y : f32 -> tensor<16x8xf32, #acc>
    %d = tile.dot %a, %b, %c {max_num_imprecise_acc = 32 : i32} : tensor<16x64xf8E4M3FN, #a> * tensor<64x8xf8E4M3FN, #b> -> tensor<16x8xf32, #acc>
    return
  }
}

// -----

// Operands that are too much for registers: written once, read back in steps.
#acc = #cta.layout<{register = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [[0, 4], [0, 8], [0, 16], [4, 0], [8, 0]], warp = []} : [16, 32]>
#a = #cta.layout<{register = [[0, 1], [0, 2], [8, 0], [0, 32]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = []} : [16, 64]>
#b = #cta.layout<{register = [[0, 1], [0, 2], [8, 0], [16, 0], [32, 0], [4, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = []} : [64, 32]>
// CHECK-LABEL: llvm.func @staged(
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK: ^[[BODY:.*]](%[[STEP:.*]]: i32, %{{.*}}: f32
// CHECK: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xi32>
// CHECK: llvm.intr.fma
// CHECK: llvm.cond_br %{{.*}}, ^[[BODY]](
module attributes {tile.kernel = #tile.kernel<warps = 1>} {
  func.func @staged(%x: f32, %y: f32) {
    %a = tile.splat %x : f32 -> tensor<16x64xf32, #a>
    %b = tile.splat %y : f32 -> tensor<64x32xf32, #b>
    %c = tile.splat %y : f32 -> tensor<16x32xf32, #acc>
    %d = tile.dot %a, %b, %c {cta.scratch_offset = 0 : i32} : tensor<16x64xf32, #a> * tensor<64x32xf32, #b> -> tensor<16x32xf32, #acc>
    return
  }
}
