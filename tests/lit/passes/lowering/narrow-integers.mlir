// Floats become 8 bits by way of 16, in one instruction: a number that was clamped before, too.
// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s
#row = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []} : [32]>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {

// CHECK-LABEL: llvm.func{{.*}} @clamped
// CHECK: llvm.select
// CHECK: llvm.inline_asm {{.*}}cvt.rzi.s16.f32
// CHECK-NOT: llvm.intr.smin
// CHECK: llvm.trunc {{.*}} : i16 to i8
func.func @clamped(%p: !tile.ptr<f32>, %q: !tile.ptr<i8>, %some: i1) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #row>
  %range = tile.make_range 0 to 32 : tensor<32xi32, #row>
  %pp = tile.addptr %ps, %range : tensor<32x!tile.ptr<f32>, #row>, tensor<32xi32, #row>
  %x = tile.load %pp : tensor<32x!tile.ptr<f32>, #row>
  %limit = arith.constant dense<127.0> : tensor<32xf32, #row>
  %m = arith.cmpf olt, %x, %limit : tensor<32xf32, #row>
  %y = arith.select %m, %x, %limit : tensor<32xi1, #row>, tensor<32xf32, #row>
  %i = arith.fptosi %y : tensor<32xf32, #row> to tensor<32xi8, #row>
  %qs = tile.splat %q : !tile.ptr<i8> -> tensor<32x!tile.ptr<i8>, #row>
  %qq = tile.addptr %qs, %range : tensor<32x!tile.ptr<i8>, #row>, tensor<32xi32, #row>
  tile.store %qq, %i : tensor<32x!tile.ptr<i8>, #row>
  return
}
}
