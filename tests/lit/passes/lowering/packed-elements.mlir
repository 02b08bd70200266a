// Narrow elements that lie in one register stay there.
// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s

#four = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[0], [0]]} : [128]>
#two = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]} : [64]>
#one = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [32]>

module attributes {tile.num_warps = 4 : i32, tile.target = "sm_90a"} {
// Two 16-bit integers are masked and shifted at once; what comes from the neighbour
// is cleared. As floats they are multiplied and subtracted at once.
// CHECK-LABEL: llvm.func @decode
// CHECK: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i32)
// CHECK: %[[S:.*]] = llvm.lshr %{{.*}}, %[[EIGHT]] : i32
// CHECK: %[[LOW:.*]] = llvm.mlir.constant(16711935 : i32)
// CHECK: llvm.and %[[S]], %[[LOW]] : i32
// CHECK: %[[FIFTEEN:.*]] = llvm.mlir.constant(983055 : i32)
// CHECK: llvm.and %{{.*}}, %[[FIFTEEN]] : i32
// CHECK: llvm.fmul %{{.*}} : vector<2xf16>
// CHECK: llvm.fsub %{{.*}} : vector<2xf16>
// CHECK-NOT: llvm.fmul
// CHECK: llvm.return
func.func @decode(%base: !tile.ptr<i16> {tile.divisibility = 16 : i32}, %to: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 64 : tensor<64xi32, #two>
  %b = tile.splat %base : !tile.ptr<i16> -> tensor<64x!tile.ptr<i16>, #two>
  %p = tile.addptr %b, %r : tensor<64x!tile.ptr<i16>, #two>, tensor<64xi32, #two>
  %x = tile.load %p {vector = 2 : i32} : tensor<64x!tile.ptr<i16>, #two>
  %eight = arith.constant dense<8> : tensor<64xi16, #two>
  %mask = arith.constant dense<15> : tensor<64xi16, #two>
  %scale = arith.constant dense<32768.0> : tensor<64xf16, #two>
  %offset = arith.constant dense<0.5> : tensor<64xf16, #two>
  %high = arith.shrui %x, %eight : tensor<64xi16, #two>
  %bits = arith.andi %high, %mask : tensor<64xi16, #two>
  %f = arith.bitcast %bits : tensor<64xi16, #two> to tensor<64xf16, #two>
  %m = arith.mulf %f, %scale : tensor<64xf16, #two>
  %d = arith.subf %m, %offset : tensor<64xf16, #two>
  %ts = tile.splat %to : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>, #two>
  %t = tile.addptr %ts, %r : tensor<64x!tile.ptr<f16>, #two>, tensor<64xi32, #two>
  tile.store %t, %d {vector = 2 : i32} : tensor<64x!tile.ptr<f16>, #two>
  return
}

// To the left, the bits that leave an element are cleared before its neighbour.
// CHECK-LABEL: llvm.func @left
// CHECK: llvm.load
// CHECK: %[[S:.*]] = llvm.shl %{{.*}} : i32
// CHECK: %[[KEPT:.*]] = llvm.mlir.constant(-252645136 : i32)
// CHECK: llvm.and %[[S]], %[[KEPT]] : i32
func.func @left(%base: !tile.ptr<i8> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 128 : tensor<128xi32, #four>
  %b = tile.splat %base : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #four>
  %p = tile.addptr %b, %r : tensor<128x!tile.ptr<i8>, #four>, tensor<128xi32, #four>
  %x = tile.load %p {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  %four = arith.constant dense<4> : tensor<128xi8, #four>
  %y = arith.shli %x, %four : tensor<128xi8, #four>
  tile.store %p, %y {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  return
}

// A sign belongs to one element.
// CHECK-LABEL: llvm.func @signed
// CHECK-COUNT-2: llvm.ashr %{{.*}} : i16
func.func @signed(%base: !tile.ptr<i16> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 64 : tensor<64xi32, #two>
  %b = tile.splat %base : !tile.ptr<i16> -> tensor<64x!tile.ptr<i16>, #two>
  %p = tile.addptr %b, %r : tensor<64x!tile.ptr<i16>, #two>, tensor<64xi32, #two>
  %x = tile.load %p {vector = 2 : i32} : tensor<64x!tile.ptr<i16>, #two>
  %four = arith.constant dense<4> : tensor<64xi16, #two>
  %y = arith.shrsi %x, %four : tensor<64xi16, #two>
  tile.store %p, %y {vector = 2 : i32} : tensor<64x!tile.ptr<i16>, #two>
  return
}

// One element a thread stays one.
// CHECK-LABEL: llvm.func @single
// CHECK: llvm.and %{{.*}} : i16
func.func @single(%base: !tile.ptr<i16>) {
  %r = tile.make_range 0 to 32 : tensor<32xi32, #one>
  %b = tile.splat %base : !tile.ptr<i16> -> tensor<32x!tile.ptr<i16>, #one>
  %p = tile.addptr %b, %r : tensor<32x!tile.ptr<i16>, #one>, tensor<32xi32, #one>
  %x = tile.load %p : tensor<32x!tile.ptr<i16>, #one>
  %mask = arith.constant dense<15> : tensor<32xi16, #one>
  %y = arith.andi %x, %mask : tensor<32xi16, #one>
  tile.store %p, %y : tensor<32x!tile.ptr<i16>, #one>
  return
}
}
