// The cheapest mechanism that moves a block from one layout to another.
// RUN: tile-opt %s --tile-allocate-scratch --tile-lower-to-llvm --cse | FileCheck %s

#a = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#renamed = #cta.layout<{register = [[2], [1]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#swapped = #cta.layout<{register = [[4], [2]], lane = [[1], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#strided = #cta.layout<{register = [[128], [256]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [512]>

module attributes {tile.num_warps = 4 : i32, tile.target = "sm_90a"} {
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

// CHECK-LABEL: llvm.func @through_memory
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: llvm.load {{.*}} !llvm.ptr<3>
func.func @through_memory(%p: !tile.ptr<f32>) {
  %r = tile.make_range 0 to 512 : tensor<512xi32, #a>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #a>
  %pp = tile.addptr %ps, %r : tensor<512x!tile.ptr<f32>, #a>, tensor<512xi32, #a>
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #strided>
  %x = tile.load %pp : tensor<512x!tile.ptr<f32>, #a>
  %y = cta.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #strided>
  tile.store %qs, %y : tensor<512x!tile.ptr<f32>, #strided>
  return
}
}
