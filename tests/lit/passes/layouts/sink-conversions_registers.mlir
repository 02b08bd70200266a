// Where conversions stand for the registers of what they give.
// RUN: tile-opt %s --tile-sink-conversions | FileCheck %s
// RUN: tile-opt %s --tile-sink-conversions --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS-DAG: 1 tile-sink-conversions - conversions behind loads
// COUNTS-DAG: 2 tile-sink-conversions - conversions in front of loads

#shared = #cta.layout<{register = [[0, 1], [0, 2], [8, 0], [16, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [32, 0]]} : [64, 32]>
#rows = #cta.layout<{register = [[8], [16]], lane = [[0], [0], [0], [1], [2]], warp = [[4], [32]]} : [64]>
#each = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], lane = [[4, 0], [8, 0], [16, 0], [32, 0], [0, 0]], warp = [[0, 0], [0, 0]]} : [64, 32]>
#sums = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 128]>
#lines = #cta.layout<{register = [[0, 1], [0, 2], [4, 0], [8, 0], [16, 0], [32, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[1, 0], [2, 0]]} : [64, 128]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {

// A thread holds sixteen elements of the block, and 128 of what every one repeats: behind the sum, which it waits
// for others for.
// CHECK-LABEL: func.func @grows
// CHECK: tile.load
// CHECK-NEXT: tile.reduce
// CHECK: cta.convert_layout
// CHECK-NEXT: arith.mulf
func.func @grows(%p: tensor<64x32x!tile.ptr<f32>, #shared>) -> (tensor<64xf32, #rows>, tensor<64x32xf32, #each>) {
  %a = tile.load %p : tensor<64x32x!tile.ptr<f32>, #shared>
  %w = cta.convert_layout %a : tensor<64x32xf32, #shared> -> tensor<64x32xf32, #each>
  %s = tile.reduce %a {axis = 1 : i32} : tensor<64x32xf32, #shared> -> tensor<64xf32, #rows> {
  ^bb0(%x: f32, %y: f32):
    %sum = arith.addf %x, %y : f32
    tile.yield %sum : f32
  }
  %r = arith.mulf %w, %w : tensor<64x32xf32, #each>
  return %s, %r : tensor<64xf32, #rows>, tensor<64x32xf32, #each>
}

// What shrinks stays where it is.
// CHECK-LABEL: func.func @shrinks
// CHECK: cta.convert_layout
// CHECK-NEXT: tile.reduce
func.func @shrinks(%p: tensor<64x32x!tile.ptr<f32>, #each>, %q: tensor<64x32x!tile.ptr<f32>, #shared>) -> (tensor<64xf32, #rows>, tensor<64x32xf32, #shared>) {
  %b = tile.load %q : tensor<64x32x!tile.ptr<f32>, #shared>
  %a = tile.load %p : tensor<64x32x!tile.ptr<f32>, #each>
  %w = cta.convert_layout %a : tensor<64x32xf32, #each> -> tensor<64x32xf32, #shared>
  %s = tile.reduce %b {axis = 1 : i32} : tensor<64x32xf32, #shared> -> tensor<64xf32, #rows> {
  ^bb0(%x: f32, %y: f32):
    %sum = arith.addf %x, %y : f32
    tile.yield %sum : f32
  }
  %r = arith.mulf %w, %w : tensor<64x32xf32, #shared>
  return %s, %r : tensor<64xf32, #rows>, tensor<64x32xf32, #shared>
}

// Two blocks of 64 registers move, and two more are loaded to be combined with them: moved first, they leave
// room for parts of what is loaded.
// CHECK-LABEL: func.func @crowded
// CHECK: cta.convert_layout
// CHECK-NEXT: cta.convert_layout
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.load
func.func @crowded(%x: tensor<64x128xf32, #sums>, %y: tensor<64x128xf32, #sums>, %p: tensor<64x128x!tile.ptr<f32>, #lines>, %q: tensor<64x128x!tile.ptr<f32>, #lines>) -> tensor<64x128xf32, #lines> {
  %xs = arith.addf %x, %x : tensor<64x128xf32, #sums>
  %ys = arith.addf %y, %y : tensor<64x128xf32, #sums>
  %c = tile.load %p : tensor<64x128x!tile.ptr<f32>, #lines>
  %s = tile.load %q : tensor<64x128x!tile.ptr<f32>, #lines>
  %xl = cta.convert_layout %xs : tensor<64x128xf32, #sums> -> tensor<64x128xf32, #lines>
  %yl = cta.convert_layout %ys : tensor<64x128xf32, #sums> -> tensor<64x128xf32, #lines>
  %a = arith.mulf %xl, %c : tensor<64x128xf32, #lines>
  %b = arith.mulf %yl, %s : tensor<64x128xf32, #lines>
  %r = arith.addf %a, %b : tensor<64x128xf32, #lines>
  return %r : tensor<64x128xf32, #lines>
}

// One block has room beside what is loaded, which starts first.
// CHECK-LABEL: func.func @roomy
// CHECK: tile.load
// CHECK: cta.convert_layout
func.func @roomy(%x: tensor<64x128xf32, #sums>, %p: tensor<64x128x!tile.ptr<f32>, #lines>) -> tensor<64x128xf32, #lines> {
  %xs = arith.addf %x, %x : tensor<64x128xf32, #sums>
  %c = tile.load %p : tensor<64x128x!tile.ptr<f32>, #lines>
  %xl = cta.convert_layout %xs : tensor<64x128xf32, #sums> -> tensor<64x128xf32, #lines>
  %a = arith.mulf %xl, %c : tensor<64x128xf32, #lines>
  return %a : tensor<64x128xf32, #lines>
}
}
