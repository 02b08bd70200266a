// Lanes that hold parts of several results share them out, and hand them around in the end, where that is less
// than butterflies for each.
// RUN: tile-opt %s --tile-allocate-scratch --tile-lower-to-llvm --cse | FileCheck %s

#many = #cta.layout<{register = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[16, 0], [32, 0]]} : [64, 32]>
#each = #cta.layout<{register = [[1], [2], [4], [8]], lane = [[0], [0], [0], [0], [0]], warp = [[16], [32]]} : [64]>
#sums = #cta.layout<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 8]>
#of_sums = #cta.layout<{register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]} : [64]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Sixteen results of 32 lanes: 8 and 4 shuffles, three butterflies of the four that are left, and 12 shuffles on the
// way back, in place of 80: more halves would be fewer, but each is waited for twice. Each lane has all results then,
// and no memory is used.
// CHECK-LABEL: llvm.func @many
// CHECK: llvm.select
// CHECK: nvvm.shfl.sync bfly
// CHECK-COUNT-35: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @many(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>, #many>
  %x = tile.load %ps : tensor<64x32x!tile.ptr<f32>, #many>
  %s = tile.reduce %x {axis = 1 : i32} : tensor<64x32xf32, #many> -> tensor<64xf32, #each> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #each>
  tile.store %qs, %s : tensor<64x!tile.ptr<f32>, #each>
  return
}

// Two results of four lanes, as products leave them, would wait once more for a shuffle: two butterflies each.
// CHECK-LABEL: llvm.func @few
// CHECK-NOT: llvm.select
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @few(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<64x8x!tile.ptr<f32>, #sums>
  %x = tile.load %ps : tensor<64x8x!tile.ptr<f32>, #sums>
  %s = tile.reduce %x {axis = 1 : i32} : tensor<64x8xf32, #sums> -> tensor<64xf32, #of_sums> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #of_sums>
  tile.store %qs, %s : tensor<64x!tile.ptr<f32>, #of_sums>
  return
}

// All lanes of a warp reduce integers of 32 bits in one instruction, as before.
// CHECK-LABEL: llvm.func @at_once
// CHECK-COUNT-16: nvvm.redux.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @at_once(%p: !tile.ptr<i32>) {
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<64x32x!tile.ptr<i32>, #many>
  %x = tile.load %ps : tensor<64x32x!tile.ptr<i32>, #many>
  %s = tile.reduce %x {axis = 1 : i32} : tensor<64x32xi32, #many> -> tensor<64xi32, #each> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  %qs = tile.splat %p : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>, #each>
  tile.store %qs, %s : tensor<64x!tile.ptr<i32>, #each>
  return
}
}
