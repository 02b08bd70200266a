// The three pipelines, one after the other as the compiler runs them, take a
// kernel from blocks to the LLVM dialect.
// RUN: tile-opt %s --tile-simplify | FileCheck %s --check-prefix=SIMPLIFY
// RUN: tile-opt %s --tile-simplify --tile-to-cta | FileCheck %s --check-prefix=CTA
// RUN: tile-opt %s --tile-simplify --tile-to-cta --tile-to-llvm | FileCheck %s --check-prefix=LLVM

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 1>} {
  // What does not change in the loop is hoisted, and computed once.
  // SIMPLIFY-LABEL: func.func @scale
  // SIMPLIFY: tile.make_range
  // SIMPLIFY-NOT: tile.make_range
  // SIMPLIFY: scf.for
  // SIMPLIFY-NOT: tile.splat %{{.*}} : f32
  // SIMPLIFY: tile.store

  // CTA: #layout = #cta.layout
  // CTA-LABEL: func.func @scale
  // CTA: tile.load {{.*}} : tensor<1024x!tile.ptr<f32>, #layout

  // LLVM-LABEL: llvm.func @scale
  // LLVM-NOT: tensor<
  // LLVM: llvm.return
  func.func @scale(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %factor: f32, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %offset = tile.make_range 0 to 1024 : tensor<1024xi32>
      %again = tile.make_range 0 to 1024 : tensor<1024xi32>
      %f = tile.splat %factor : f32 -> tensor<1024xf32>
      %p = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
      %from = tile.addptr %p, %offset : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
      %to = tile.addptr %p, %again : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
      %v = tile.load %from : tensor<1024x!tile.ptr<f32>>
      %w = arith.mulf %v, %f : tensor<1024xf32>
      tile.store %to, %w : tensor<1024x!tile.ptr<f32>>
    }
    return
  }
}
