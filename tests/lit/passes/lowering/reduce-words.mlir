// What lanes hand each other of narrow elements goes several to a register.
// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s

#row = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [0], [0]], warp = [[0], [0]]} : [32]>
#few = #cta.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[0, 0], [0, 0]]} : [4, 32]>
#pairs = #cta.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[0, 0], [0, 0]]} : [4, 16]>
#pair = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [0], [0]], warp = [[0], [0]]} : [16]>
#one = #cta.layout<{register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 0], [0, 0]]} : [4, 8]>
#single = #cta.layout<{register = [], lane = [[1], [2], [4], [0], [0]], warp = [[0], [0]]} : [8]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Four bytes are combined at once, bit by bit.
// CHECK-LABEL: llvm.func @bits
// CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<4xi8> to i32
// CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[WORD]]
// CHECK: %[[BOTH:.*]] = llvm.xor %[[WORD]], %[[OTHER]] : i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[BOTH]]
// CHECK: llvm.xor %{{.*}} : i32
// CHECK-NOT: nvvm.shfl
// CHECK: llvm.return
func.func @bits(%to: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %x_s: i8) {
  %x = tile.splat %x_s : i8 -> tensor<4x32xi8, #few>
  %sum = tile.reduce %x {axis = 0 : i32} : tensor<4x32xi8, #few> -> tensor<32xi8, #row> {
  ^bb0(%l: i8, %r: i8):
    %c = arith.xori %l, %r : i8
    tile.yield %c : i8
  }
  %i = tile.make_range 0 to 32 : tensor<32xi32, #row>
  %ts = tile.splat %to : !tile.ptr<i8> -> tensor<32x!tile.ptr<i8>, #row>
  %t = tile.addptr %ts, %i : tensor<32x!tile.ptr<i8>, #row>, tensor<32xi32, #row>
  tile.store %t, %sum {vector = 4 : i32} : tensor<32x!tile.ptr<i8>, #row>
  return
}

// Two halves come at once, and are added one by one.
// CHECK-LABEL: llvm.func @halves
// CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[WORD]]
// CHECK-COUNT-2: llvm.fadd %{{.*}} : f16
// CHECK: nvvm.shfl.sync bfly
// CHECK-COUNT-2: llvm.fadd %{{.*}} : f16
// CHECK-NOT: nvvm.shfl
// CHECK: llvm.return
func.func @halves(%to: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %x_s: f16) {
  %x = tile.splat %x_s : f16 -> tensor<4x16xf16, #pairs>
  %sum = tile.reduce %x {axis = 0 : i32} : tensor<4x16xf16, #pairs> -> tensor<16xf16, #pair> {
  ^bb0(%l: f16, %r: f16):
    %c = arith.addf %l, %r : f16
    tile.yield %c : f16
  }
  %i = tile.make_range 0 to 16 : tensor<16xi32, #pair>
  %ts = tile.splat %to : !tile.ptr<f16> -> tensor<16x!tile.ptr<f16>, #pair>
  %t = tile.addptr %ts, %i : tensor<16x!tile.ptr<f16>, #pair>, tensor<16xi32, #pair>
  tile.store %t, %sum {vector = 2 : i32} : tensor<16x!tile.ptr<f16>, #pair>
  return
}

// Two operands: each as its own width says.
// CHECK-LABEL: llvm.func @widths
// CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<2xi16> to i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[WORD]]
// CHECK-COUNT-2: nvvm.shfl.sync bfly
// CHECK: llvm.intr.smax
// CHECK: llvm.add
// CHECK: llvm.intr.smax
func.func @widths(%to: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %x_s: i16, %n_s: i32) {
  %x = tile.splat %x_s : i16 -> tensor<4x16xi16, #pairs>
  %n = tile.splat %n_s : i32 -> tensor<4x16xi32, #pairs>
  %best:2 = tile.reduce %x, %n {axis = 0 : i32} : tensor<4x16xi16, #pairs>, tensor<4x16xi32, #pairs> -> tensor<16xi16, #pair>, tensor<16xi32, #pair> {
  ^bb0(%l: i16, %ln: i32, %r: i16, %rn: i32):
    %m = arith.maxsi %l, %r : i16
    %w = arith.addi %ln, %rn : i32
    tile.yield %m, %w : i16, i32
  }
  %i = tile.make_range 0 to 16 : tensor<16xi32, #pair>
  %ts = tile.splat %to : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>, #pair>
  %t = tile.addptr %ts, %i : tensor<16x!tile.ptr<i32>, #pair>, tensor<16xi32, #pair>
  tile.store %t, %best#1 {vector = 2 : i32} : tensor<16x!tile.ptr<i32>, #pair>
  return
}

// One element has a register to itself.
// CHECK-LABEL: llvm.func @alone
// CHECK: llvm.zext %{{.*}} : i16 to i32
// CHECK: nvvm.shfl.sync bfly
func.func @alone(%to: !tile.ptr<i16> {tile.divisibility = 16 : i32}, %x_s: i16) {
  %x = tile.splat %x_s : i16 -> tensor<4x8xi16, #one>
  %sum = tile.reduce %x {axis = 0 : i32} : tensor<4x8xi16, #one> -> tensor<8xi16, #single> {
  ^bb0(%l: i16, %r: i16):
    %c = arith.xori %l, %r : i16
    tile.yield %c : i16
  }
  %i = tile.make_range 0 to 8 : tensor<8xi32, #single>
  %ts = tile.splat %to : !tile.ptr<i16> -> tensor<8x!tile.ptr<i16>, #single>
  %t = tile.addptr %ts, %i : tensor<8x!tile.ptr<i16>, #single>, tensor<8xi32, #single>
  tile.store %t, %sum : tensor<8x!tile.ptr<i16>, #single>
  return
}
}
