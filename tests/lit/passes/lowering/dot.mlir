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
module attributes {"tile.num_warps" = 1 : i32} {
  func.func @ieee(%x: f32, %y: f32) {
    %a = tile.splat %x : f32 -> tensor<16x2xf32, #a>
    %b = tile.splat %y : f32 -> tensor<2x4xf32, #b>
    %c = tile.splat %y : f32 -> tensor<16x4xf32, #acc>
    %d = tile.dot %a, %b, %c : tensor<16x2xf32, #a> * tensor<2x4xf32, #b> -> tensor<16x4xf32, #acc>
    return
  }
}
