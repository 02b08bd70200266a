// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s

#l = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [32]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// What is at least 1 is no denormal divisor: 1 / (1 + e^x) needs no scaling.
// CHECK-LABEL: llvm.func @sigmoid
// CHECK: rcp.approx.ftz.f
// CHECK-NOT: div.full
func.func @sigmoid(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #l>
  %one = arith.constant dense<1.0> : tensor<32xf32, #l>
  %x = tile.load %p : tensor<32x!tile.ptr<f32>, #l>
  %e = math.exp %x : tensor<32xf32, #l>
  %s = arith.addf %e, %one : tensor<32xf32, #l>
  %r = arith.divf %one, %s : tensor<32xf32, #l>
  tile.store %p, %r : tensor<32x!tile.ptr<f32>, #l>
  return
}

// Of a large numerator more would be lost than what is below 2^-126.
// CHECK-LABEL: llvm.func @other_numerator
// CHECK: div.full
func.func @other_numerator(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #l>
  %one = arith.constant dense<1.0> : tensor<32xf32, #l>
  %x = tile.load %p : tensor<32x!tile.ptr<f32>, #l>
  %e = math.exp %x : tensor<32xf32, #l>
  %s = arith.addf %e, %one : tensor<32xf32, #l>
  %r = arith.divf %x, %s : tensor<32xf32, #l>
  tile.store %p, %r : tensor<32x!tile.ptr<f32>, #l>
  return
}

// 1 + x may be anything, and so may e^x - 1.
// CHECK-LABEL: llvm.func @other_divisors
// CHECK: div.full
// CHECK: div.full
func.func @other_divisors(%base: !tile.ptr<f32>) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #l>
  %one = arith.constant dense<1.0> : tensor<32xf32, #l>
  %minus = arith.constant dense<-1.0> : tensor<32xf32, #l>
  %x = tile.load %p : tensor<32x!tile.ptr<f32>, #l>
  %s = arith.addf %x, %one : tensor<32xf32, #l>
  %r = arith.divf %one, %s : tensor<32xf32, #l>
  %e = math.exp %x : tensor<32xf32, #l>
  %t = arith.addf %e, %minus : tensor<32xf32, #l>
  %q = arith.divf %r, %t : tensor<32xf32, #l>
  %u = arith.divf %one, %t : tensor<32xf32, #l>
  %v = arith.addf %q, %u : tensor<32xf32, #l>
  tile.store %p, %v : tensor<32x!tile.ptr<f32>, #l>
  return
}
}
