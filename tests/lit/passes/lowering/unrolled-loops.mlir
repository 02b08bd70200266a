// A loop whose turns load little compares what its counter grows to: the assembler unrolls it.
// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s
#row = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [128]>
#long = #cta.layout<{register = [[1], [2], [512], [1024], [2048], [4096], [8192]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [16384]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// CHECK-LABEL: llvm.func{{.*}} @sums
// CHECK: ^[[BODY:bb[0-9]+]](%[[I:.*]]: i32, %{{.*}}: f32):
// CHECK: %[[NEXT:.*]] = llvm.add %[[I]], %{{.*}} overflow<nuw>
// CHECK: llvm.icmp "ult" %[[NEXT]], %arg1
func.func @sums(%p: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<128xf32, #row>
  %range = tile.make_range 0 to 128 : tensor<128xi32, #row>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #row>
  %sum = scf.for %i = %c0 to %n step %c128 iter_args(%s = %zero) -> (tensor<128xf32, #row>) : i32 {
    %is = tile.splat %i : i32 -> tensor<128xi32, #row>
    %at = arith.addi %is, %range : tensor<128xi32, #row>
    %pp = tile.addptr %ps, %at : tensor<128x!tile.ptr<f32>, #row>, tensor<128xi32, #row>
    %x = tile.load %pp : tensor<128x!tile.ptr<f32>, #row>
    %t = arith.addf %s, %x : tensor<128xf32, #row>
    scf.yield %t : tensor<128xf32, #row>
  }
  %pr = tile.addptr %ps, %range : tensor<128x!tile.ptr<f32>, #row>, tensor<128xi32, #row>
  tile.store %pr, %sum : tensor<128x!tile.ptr<f32>, #row>
  return
}

// A thread has no registers for what four of these turns load.
// CHECK-LABEL: llvm.func{{.*}} @long_turns
// CHECK: llvm.icmp "slt" %{{.*}}, %{{.*}}
// CHECK-NOT: llvm.icmp "ult"
// CHECK: llvm.return
func.func @long_turns(%p: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c16384 = arith.constant 16384 : i32
  %range = tile.make_range 0 to 16384 : tensor<16384xi32, #long>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>, #long>
  scf.for %i = %c0 to %n step %c16384 : i32 {
    %is = tile.splat %i : i32 -> tensor<16384xi32, #long>
    %at = arith.addi %is, %range : tensor<16384xi32, #long>
    %pp = tile.addptr %ps, %at : tensor<16384x!tile.ptr<f32>, #long>, tensor<16384xi32, #long>
    %x = tile.load %pp : tensor<16384x!tile.ptr<f32>, #long>
    tile.store %pp, %x : tensor<16384x!tile.ptr<f32>, #long>
  }
  return
}

// Threads that meet in each turn wait there.
// CHECK-LABEL: llvm.func{{.*}} @meeting
// CHECK-NOT: llvm.icmp "ult"
// CHECK: llvm.return
func.func @meeting(%p: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %range = tile.make_range 0 to 128 : tensor<128xi32, #row>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #row>
  scf.for %i = %c0 to %n step %c128 : i32 {
    %is = tile.splat %i : i32 -> tensor<128xi32, #row>
    %at = arith.addi %is, %range : tensor<128xi32, #row>
    %pp = tile.addptr %ps, %at : tensor<128x!tile.ptr<f32>, #row>, tensor<128xi32, #row>
    %x = tile.load %pp : tensor<128x!tile.ptr<f32>, #row>
    tile.barrier
    tile.store %pp, %x : tensor<128x!tile.ptr<f32>, #row>
  }
  return
}
}
