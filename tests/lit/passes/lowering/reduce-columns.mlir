// A thread that adds up several columns takes their rows as they are loaded, both columns of a row
// before the next one, and merges its chains of each column at the very end.
// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s

#block = #cta.layout<{register = [[0, 1], [1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []} : [16, 64]>
#sums = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []} : [64]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
// CHECK-LABEL: llvm.func{{.*}} @columns
// CHECK: %[[A:.*]] = llvm.fadd %{{[^,]*}}, %{{[^,]*}} : f32
// CHECK-NEXT: %[[B:.*]] = llvm.fadd %{{[^,]*}}, %{{[^,]*}} : f32
// Eight chains of either column: all have taken their second row, none is merged yet.
// CHECK-COUNT-14: llvm.fadd
// CHECK-NEXT: llvm.fadd %[[A]], %{{.*}} : f32
// CHECK-COUNT-6: llvm.fadd
// CHECK: llvm.fadd %[[B]], %{{.*}} : f32
// CHECK-COUNT-6: llvm.fadd
// CHECK-NOT: llvm.fadd
func.func @columns(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>, #block>
  %range = tile.make_range 0 to 1024 : tensor<1024xi32, #cta.layout<{register = [[1], [64], [128], [256], [512]], lane = [[2], [4], [8], [16], [32]], warp = []} : [1024]>>
  %at = tile.reshape %range : tensor<1024xi32, #cta.layout<{register = [[1], [64], [128], [256], [512]], lane = [[2], [4], [8], [16], [32]], warp = []} : [1024]>> -> tensor<16x64xi32, #block>
  %pp = tile.addptr %ps, %at : tensor<16x64x!tile.ptr<f32>, #block>, tensor<16x64xi32, #block>
  %x = tile.load %pp : tensor<16x64x!tile.ptr<f32>, #block>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<16x64xf32, #block> -> tensor<64xf32, #sums> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #sums>
  tile.store %qs, %s : tensor<64x!tile.ptr<f32>, #sums>
  return
}
}
