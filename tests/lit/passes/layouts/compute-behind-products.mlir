// What is needed only behind a loop that multiplies is computed there, if a thread then keeps less while it runs.
// RUN: tile-opt %s --tile-compute-behind-products | FileCheck %s

#row = #cta.layout<{register = [[8], [16]], lane = [[0], [0], [1], [2], [4]], warp = [[32]]} : [64]>
#column = #cta.layout<{register = [[1], [8], [16], [32]], lane = [[2], [4], [0], [0], [0]], warp = [[0]]} : [64]>
#lanes = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]]} : [64]>
#left = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0]]} : [64, 16]>
#right = #cta.layout<{register = [[1, 0], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]} : [16, 64]>
#sums = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0]]} : [64, 64]>
#of_row = #cta.layout<{register = [[0, 1], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], warp = [[0, 0]]} : [1, 64]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 2>} {

// Sixteen numbers of the columns, of one that was loaded, and the block of them.
// CHECK-LABEL: func.func @columns
// CHECK: tile.load
// CHECK-NOT: cta.convert_layout
// CHECK: scf.for
// CHECK: cta.convert_layout
// CHECK: math.exp2
// CHECK: tile.broadcast
// CHECK: arith.mulf
func.func @columns(%at: tensor<64x!tile.ptr<f32>, #lanes>, %a: tensor<64x16xbf16, #left>, %b: tensor<16x64xbf16, #right>, %out: tensor<64x64x!tile.ptr<f32>, #sums>, %turns: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %g = tile.load %at : tensor<64x!tile.ptr<f32>, #lanes>
  %c = cta.convert_layout %g : tensor<64xf32, #lanes> -> tensor<64xf32, #column>
  %e = math.exp2 %c : tensor<64xf32, #column>
  %r = tile.expand_dims %e {axis = 0 : i32} : tensor<64xf32, #column> -> tensor<1x64xf32, #of_row>
  %all = tile.broadcast %r : tensor<1x64xf32, #of_row> -> tensor<64x64xf32, #sums>
  %sum = scf.for %i = %c0 to %turns step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %d = tile.dot %a, %b, %acc : tensor<64x16xbf16, #left> * tensor<16x64xbf16, #right> -> tensor<64x64xf32, #sums>
    scf.yield %d : tensor<64x64xf32, #sums>
  }
  %scaled = arith.mulf %sum, %all : tensor<64x64xf32, #sums>
  tile.store %out, %scaled : tensor<64x64x!tile.ptr<f32>, #sums>
  return
}

// What it is computed from takes more, the sum of two rows here; and what the loop needs itself stays.
// CHECK-LABEL: func.func @stays
// CHECK: arith.addf
// CHECK: math.exp2
// CHECK: scf.for
func.func @stays(%x: tensor<64x64xf32, #sums>, %y: tensor<64x64xf32, #sums>, %a: tensor<64x16xbf16, #left>, %b: tensor<16x64xbf16, #right>, %out: tensor<64x64x!tile.ptr<f32>, #sums>, %turns: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %both = arith.addf %x, %y : tensor<64x64xf32, #sums>
  %scale = math.exp2 %y : tensor<64x64xf32, #sums>
  %sum = scf.for %i = %c0 to %turns step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #sums>) : i32 {
    %d = tile.dot %a, %b, %acc : tensor<64x16xbf16, #left> * tensor<16x64xbf16, #right> -> tensor<64x64xf32, #sums>
    %next = arith.mulf %d, %scale : tensor<64x64xf32, #sums>
    scf.yield %next : tensor<64x64xf32, #sums>
  }
  %scaled = arith.mulf %sum, %both : tensor<64x64xf32, #sums>
  tile.store %out, %scaled : tensor<64x64x!tile.ptr<f32>, #sums>
  return
}

// Behind a loop without products everything stays where it is: nothing else wants the registers.
// CHECK-LABEL: func.func @no_products
// CHECK: cta.convert_layout
// CHECK: scf.for
func.func @no_products(%at: tensor<64x!tile.ptr<f32>, #lanes>, %out: tensor<64x!tile.ptr<f32>, #column>, %turns: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32, #column>
  %g = tile.load %at : tensor<64x!tile.ptr<f32>, #lanes>
  %c = cta.convert_layout %g : tensor<64xf32, #lanes> -> tensor<64xf32, #column>
  %sum = scf.for %i = %c0 to %turns step %c1 iter_args(%acc = %zero) -> (tensor<64xf32, #column>) : i32 {
    %next = math.exp2 %acc : tensor<64xf32, #column>
    scf.yield %next : tensor<64xf32, #column>
  }
  %scaled = arith.mulf %sum, %c : tensor<64xf32, #column>
  tile.store %out, %scaled : tensor<64x!tile.ptr<f32>, #column>
  return
}
}
