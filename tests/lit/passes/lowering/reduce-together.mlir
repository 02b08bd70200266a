// Combining is work, and a thread needs several results: the threads of all warps share out the
// results, and a second exchange hands them around. A sum of so few parts each thread makes itself.
// RUN: tile-opt %s --tile-allocate-scratch --tile-lower-to-llvm --cse | FileCheck %s
// What was chosen is recorded with the room for it, and lowering goes by that.
// RUN: tile-opt %s --tile-allocate-scratch | FileCheck %s --check-prefix=ROOM

#block = #cta.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]} : [32, 64]>
#row = #cta.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 0], [0, 0]], warp = [[0, 0], [0, 0], [0, 0]]} : [1, 64]>
#sums = #cta.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [0], [0]], warp = [[0], [0], [0]]} : [64]>
#fewer = #cta.layout<{register = [[0, 1], [0, 2], [16, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [0, 32]]} : [32, 64]>
#near = #cta.layout<{register = [[32]], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0], [0]]} : [64]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {
// ROOM-LABEL: func.func @quotients
// ROOM: tile.reduce {{.*}}cta.scratch_offset = {{[0-9]+}} : i32, cta.threads_of_result = 4 : i32
// CHECK-LABEL: llvm.func{{.*}} @quotients
// CHECK: nvvm.barrier0
// Four threads have two of the eight parts of a result each, which lie by warp: one
// combination, then two butterflies of either value.
// CHECK-COUNT-4: llvm.load {{.*}} : !llvm.ptr<3> -> i32
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: nvvm.shfl.sync {{.*}}bfly
// CHECK-NOT: nvvm.shfl
// CHECK: llvm.inline_asm {{.*}}st.shared.b32
// CHECK: nvvm.barrier0
// Eight neighbours of each value, in two instructions.
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<4xi32>
// CHECK-NOT: llvm.load
// CHECK: llvm.return
func.func @quotients(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x64x!tile.ptr<f32>, #block>
  %x = tile.load %ps : tensor<32x64x!tile.ptr<f32>, #block>
  %y = arith.addf %x, %x : tensor<32x64xf32, #block>
  %s:2 = tile.reduce %x, %y {axis = 0 : i32} : tensor<32x64xf32, #block>, tensor<32x64xf32, #block> -> tensor<64xf32, #sums>, tensor<64xf32, #sums> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %n = arith.addf %b, %d : f32
    %r = arith.divf %d, %n : f32
    %m = arith.mulf %r, %c : f32
    %t = arith.addf %a, %m : f32
    tile.yield %t, %n : f32, f32
  }
  %row = tile.expand_dims %s#0 {axis = 0 : i32} : tensor<64xf32, #sums> -> tensor<1x64xf32, #row>
  %rows = tile.broadcast %row : tensor<1x64xf32, #row> -> tensor<32x64xf32, #block>
  %z = arith.subf %x, %rows : tensor<32x64xf32, #block>
  tile.store %ps, %z : tensor<32x64x!tile.ptr<f32>, #block>
  return
}

// Eight results of a thread lie 256 bytes from those of the next: lanes would read from one bank.
// ROOM-LABEL: func.func @sums
// ROOM: tile.reduce {{.*}}cta.threads_of_result = 4 : i32
// CHECK-LABEL: llvm.func{{.*}} @sums
// CHECK-COUNT-2: nvvm.barrier0
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @sums(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x64x!tile.ptr<f32>, #block>
  %x = tile.load %ps : tensor<32x64x!tile.ptr<f32>, #block>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<32x64xf32, #block> -> tensor<64xf32, #sums> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #sums>
  tile.store %qs, %s : tensor<64x!tile.ptr<f32>, #sums>
  return
}

// The same with neighbours of results in lanes, and four parts of each.
// ROOM-LABEL: func.func @near
// ROOM-NOT: cta.threads_of_result
// CHECK-LABEL: llvm.func{{.*}} @near
// CHECK: nvvm.barrier0
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @near(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x64x!tile.ptr<f32>, #fewer>
  %x = tile.load %ps : tensor<32x64x!tile.ptr<f32>, #fewer>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<32x64xf32, #fewer> -> tensor<64xf32, #near> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #near>
  tile.store %qs, %s : tensor<64x!tile.ptr<f32>, #near>
  return
}
}
