// The cheapest mechanism that moves a block from one layout to another.
// RUN: tile-opt %s --split-input-file --tile-allocate-scratch --tile-lower-to-llvm --cse | FileCheck %s

#a = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#renamed = #cta.layout<{register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#swapped = #cta.layout<{register = [[4], [2]], lane = [[1], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#strided = #cta.layout<{register = [[128], [256]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [512]>
#long = #cta.layout<{register = [[1], [2], [512], [1024], [2048], [4096]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [8192]>
#long_strided = #cta.layout<{register = [[128], [256], [512], [1024], [2048], [4096]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [8192]>
#sums = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]} : [16, 32]>
#left = #cta.layout<{register = [[0, 1], [0, 2], [8, 0], [0, 16]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]} : [16, 32]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// CHECK-LABEL: llvm.func @registers
// CHECK-NOT: nvvm.shfl
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @registers(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #a>
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #renamed>
  %x = tile.load %ps : tensor<512x!tile.ptr<f32>, #a>
  %y = cta.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #renamed>
  tile.store %qs, %y : tensor<512x!tile.ptr<f32>, #renamed>
  return
}

// CHECK-LABEL: llvm.func @shuffles
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @shuffles(%p: !tile.ptr<f32>) {
  %r = tile.make_range 0 to 512 : tensor<512xi32, #a>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #a>
  %pp = tile.addptr %ps, %r : tensor<512x!tile.ptr<f32>, #a>, tensor<512xi32, #a>
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #swapped>
  %x = tile.load %pp : tensor<512x!tile.ptr<f32>, #a>
  %y = cta.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #swapped>
  tile.store %qs, %y : tensor<512x!tile.ptr<f32>, #swapped>
  return
}

// Elements of 8 bits that go the same way are four in a shuffle: 16 of a thread take four.
// CHECK-LABEL: llvm.func @words
// CHECK-COUNT-4: nvvm.shfl.sync idx {{.*}} : i32 -> i32
// CHECK-NOT: nvvm.shfl
// CHECK-COUNT-4: llvm.nvvm.prmt
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @words(%p: !tile.ptr<i8>) {
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<16x32x!tile.ptr<i8>, #sums>
  %qs = tile.splat %p : !tile.ptr<i8> -> tensor<16x32x!tile.ptr<i8>, #left>
  %x = tile.load %ps {volatile} : tensor<16x32x!tile.ptr<i8>, #sums>
  %y = cta.convert_layout %x : tensor<16x32xi8, #sums> -> tensor<16x32xi8, #left>
  tile.store %qs, %y : tensor<16x32x!tile.ptr<i8>, #left>
  return
}

// CHECK-LABEL: llvm.func @through_memory
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: llvm.load {{.*}} !llvm.ptr<3>
func.func @through_memory(%p: !tile.ptr<f64>) {
  %ps = tile.splat %p : !tile.ptr<f64> -> tensor<512x!tile.ptr<f64>, #a>
  %qs = tile.splat %p : !tile.ptr<f64> -> tensor<512x!tile.ptr<f64>, #strided>
  %x = tile.load %ps : tensor<512x!tile.ptr<f64>, #a>
  %y = cta.convert_layout %x : tensor<512xf64, #a> -> tensor<512xf64, #strided>
  tile.store %qs, %y : tensor<512x!tile.ptr<f64>, #strided>
  return
}

// Four words a lane, each where a matrix of eight rows has it: one instruction.
// CHECK-LABEL: llvm.func @by_matrices
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: ldmatrix.sync.aligned.m8n8.x4.b16
// CHECK-NOT: ldmatrix
func.func @by_matrices(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #a>
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #strided>
  %x = tile.load %ps : tensor<512x!tile.ptr<f32>, #a>
  %y = cta.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #strided>
  tile.store %qs, %y : tensor<512x!tile.ptr<f32>, #strided>
  return
}

// 64 KB go through a buffer of 32 KB in two parts, one after the other.
// CHECK-LABEL: llvm.func @in_parts
// CHECK: nvvm.barrier0
// CHECK: nvvm.barrier0
// CHECK: nvvm.barrier0
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @in_parts(%p: !tile.ptr<f64>) {
  %ps = tile.splat %p : !tile.ptr<f64> -> tensor<8192x!tile.ptr<f64>, #long>
  %qs = tile.splat %p : !tile.ptr<f64> -> tensor<8192x!tile.ptr<f64>, #long_strided>
  %x = tile.load %ps : tensor<8192x!tile.ptr<f64>, #long>
  %y = cta.convert_layout %x : tensor<8192xf64, #long> -> tensor<8192xf64, #long_strided>
  tile.store %qs, %y : tensor<8192x!tile.ptr<f64>, #long_strided>
  return
}
}

// A product's result on its way to memory, 16 bits an element: what a thread
// holds is written as vectors, and matrices give whole rows back.
// -----
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 32]>
#rows = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]} : [64, 32]>
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
// CHECK-LABEL: llvm.func @result_of_a_product
// CHECK-COUNT-2: llvm.store {{.*}} vector<4xi32>, !llvm.ptr<3>
// CHECK-NOT: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK-COUNT-2: ldmatrix.sync.aligned.m8n8.x4
// CHECK-NOT: ldmatrix
func.func @result_of_a_product(%x: f16, %p: !tile.ptr<f16>) {
  %a = tile.splat %x : f16 -> tensor<64x32xf16, #acc>
  %qs = tile.splat %p : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>, #rows>
  %y = cta.convert_layout %a : tensor<64x32xf16, #acc> -> tensor<64x32xf16, #rows>
  tile.store %qs, %y : tensor<64x32x!tile.ptr<f16>, #rows>
  return
}
}
