// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s

#l = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [32]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// 1 + erf(x) does not need more of erf than its absolute error.
// CHECK-LABEL: llvm.func @added_to_one
// CHECK: llvm.call @__tile_erf_absolutef
// CHECK-NOT: @__tile_erff
func.func @added_to_one(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #l>
  %one = arith.constant dense<1.0> : tensor<32xf32, #l>
  %x = tile.load %p : tensor<32x!tile.ptr<f32>, #l>
  %e = math.erf %x : tensor<32xf32, #l>
  %s = arith.addf %one, %e : tensor<32xf32, #l>
  tile.store %p, %s : tensor<32x!tile.ptr<f32>, #l>
  return
}

// Small numbers are needed as exactly as large ones.
// CHECK-LABEL: llvm.func @stored
// CHECK: llvm.call @__tile_erff
func.func @stored(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #l>
  %one = arith.constant dense<1.0> : tensor<32xf32, #l>
  %x = tile.load %p : tensor<32x!tile.ptr<f32>, #l>
  %e = math.erf %x : tensor<32xf32, #l>
  %s = arith.addf %one, %e : tensor<32xf32, #l>
  %d = arith.mulf %s, %e : tensor<32xf32, #l>
  tile.store %p, %d : tensor<32x!tile.ptr<f32>, #l>
  return
}

// Nor is a small number enough.
// CHECK-LABEL: llvm.func @added_to_less
// CHECK: llvm.call @__tile_erff
func.func @added_to_less(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #l>
  %tenth = arith.constant dense<0.1> : tensor<32xf32, #l>
  %x = tile.load %p : tensor<32x!tile.ptr<f32>, #l>
  %e = math.erf %x : tensor<32xf32, #l>
  %s = arith.addf %e, %tenth : tensor<32xf32, #l>
  tile.store %p, %s : tensor<32x!tile.ptr<f32>, #l>
  return
}
}
