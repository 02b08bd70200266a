// What warps leave of their parts of results. Where each lane has results of its own, those of a warp lie side by
// side, and a lane writes all of its own at once; where few lanes write, all parts of a result do, and are read at
// once.
// RUN: tile-opt %s --tile-allocate-scratch --tile-lower-to-llvm --cse | FileCheck %s

#columns = #cta.layout<{register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], warp = [[0, 1], [0, 2], [0, 4]]} : [128, 8]>
#each = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [0]]} : [128]>
#rows = #cta.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], warp = [[0, 32], [0, 64], [0, 128]]} : [2, 256]>
#few = #cta.layout<{register = [], lane = [[0], [0], [0], [0], [1]], warp = [[0], [0], [0]]} : [2]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {
// CHECK-LABEL: llvm.func @columns
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK-NOT: llvm.store
// CHECK: nvvm.barrier0
// CHECK: llvm.load %[[BASE:[0-9]+]] {{.*}} -> i32
// CHECK: llvm.getelementptr %[[BASE]][512]
// CHECK: llvm.getelementptr %[[BASE]][3584]
// CHECK-NOT: vector<4xi32>
// CHECK: llvm.return
func.func @columns(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x8x!tile.ptr<f32>, #columns>
  %x = tile.load %ps : tensor<128x8x!tile.ptr<f32>, #columns>
  %s = tile.reduce %x {axis = 1 : i32} : tensor<128x8xf32, #columns> -> tensor<128xf32, #each> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #each>
  tile.store %qs, %s : tensor<128x!tile.ptr<f32>, #each>
  return
}

// CHECK-LABEL: llvm.func @rows
// CHECK: llvm.inline_asm {{.*}}st.shared.b32
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} -> vector<4xi32>
// CHECK: llvm.return
func.func @rows(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<2x256x!tile.ptr<f32>, #rows>
  %x = tile.load %ps : tensor<2x256x!tile.ptr<f32>, #rows>
  %s = tile.reduce %x {axis = 1 : i32} : tensor<2x256xf32, #rows> -> tensor<2xf32, #few> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %p : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>, #few>
  tile.store %qs, %s : tensor<2x!tile.ptr<f32>, #few>
  return
}
}
