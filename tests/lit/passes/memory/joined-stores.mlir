// Operands that are written one behind the other are fenced and met for once, behind the last.
// RUN: tile-opt %s --tile-insert-barriers | FileCheck %s --check-prefix=BARRIERS
// RUN: tile-opt %s --tile-insert-barriers --tile-lower-to-llvm | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
  // One barrier in front of both, for those that still read; one fence and one barrier behind both.
  // BARRIERS-LABEL: func.func @in_turns(
  // BARRIERS: scf.for
  // BARRIERS: cta.barrier
  // BARRIERS-NEXT: cta.stage
  // BARRIERS-NOT: cta.barrier
  // BARRIERS: scf.yield
  // CHECK-LABEL: llvm.func @in_turns(
  // CHECK: nvvm.barrier
  // CHECK: stmatrix
  // CHECK-NOT: fence.proxy.async
  // CHECK-NOT: nvvm.barrier
  // CHECK: fence.proxy.async
  // CHECK-NEXT: nvvm.barrier
  // CHECK-NOT: nvvm.barrier
  // CHECK: wgmma.mma_async
  func.func @in_turns(%lo: i32, %hi: i32, %x: f16, %y: f32) {
    %c1 = arith.constant 1 : i32
    %v = tile.splat %x : f16 -> tensor<64x64xf16, #acc>
    %z = tile.splat %y : f32 -> tensor<64x64xf32, #acc>
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %a = cta.stage %v {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #acc> -> !tile
      %w = arith.addf %v, %v : tensor<64x64xf16, #acc>
      %b = cta.stage %w {cta.scratch_offset = 8192 : i32} : tensor<64x64xf16, #acc> -> !tile
      %d = cta.warpgroup_dot %a, %b, %acc : !tile, !tile, tensor<64x64xf32, #acc>
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    %used = arith.mulf %s, %s : tensor<64x64xf32, #acc>
    return
  }

  // What is read of the second's place from before the first is waited for in front of both.
  // BARRIERS-LABEL: func.func @read_before(
  // BARRIERS: cta.warpgroup_dot
  // BARRIERS-NEXT: cta.barrier
  // BARRIERS-NEXT: cta.stage
  // BARRIERS-NEXT: cta.stage
  func.func @read_before(%x: f16, %y: f32) {
    %v = tile.splat %x : f16 -> tensor<64x64xf16, #acc>
    %z = tile.splat %y : f32 -> tensor<64x64xf32, #acc>
    %a = cta.stage %v {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #acc> -> !tile
    %d = cta.warpgroup_dot %a, %a, %z : !tile, !tile, tensor<64x64xf32, #acc>
    %b = cta.stage %v {cta.scratch_offset = 8192 : i32} : tensor<64x64xf16, #acc> -> !tile
    %c = cta.stage %v {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #acc> -> !tile
    %e = cta.warpgroup_dot %b, %c, %z : !tile, !tile, tensor<64x64xf32, #acc>
    %used = arith.mulf %d, %e : tensor<64x64xf32, #acc>
    return
  }

  // So where the threads read both: one barrier, which needs no fence.
  // CHECK-LABEL: llvm.func @read_by_threads(
  // CHECK: stmatrix
  // CHECK-NOT: {{fence|nvvm.barrier}}
  // CHECK: stmatrix
  // CHECK-NOT: fence
  // CHECK: nvvm.barrier
  // CHECK-NOT: {{fence|nvvm.barrier}}
  // CHECK: llvm.return
  func.func @read_by_threads(%x: f16, %to: !tile.ptr<f16>) {
    %p = tile.splat %to : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>, #acc>
    %v = tile.splat %x : f16 -> tensor<64x64xf16, #acc>
    %a = cta.stage %v {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #acc> -> !tile
    %w = arith.addf %v, %v : tensor<64x64xf16, #acc>
    %b = cta.stage %w {cta.scratch_offset = 8192 : i32} : tensor<64x64xf16, #acc> -> !tile
    %ra = cta.read %a : !tile -> tensor<64x64xf16, #acc>
    %rb = cta.read %b : !tile -> tensor<64x64xf16, #acc>
    %s = arith.addf %ra, %rb : tensor<64x64xf16, #acc>
    tile.store %p, %s : tensor<64x64x!tile.ptr<f16>, #acc>
    return
  }

  // A product between two of them reads the first: each is met for by itself.
  // CHECK-LABEL: llvm.func @product_between(
  // CHECK: fence.proxy.async
  // CHECK: wgmma.mma_async
  // CHECK: fence.proxy.async
  // CHECK: wgmma.mma_async
  func.func @product_between(%x: f16, %y: f32) {
    %v = tile.splat %x : f16 -> tensor<64x64xf16, #acc>
    %z = tile.splat %y : f32 -> tensor<64x64xf32, #acc>
    %a = cta.stage %v {cta.scratch_offset = 0 : i32} : tensor<64x64xf16, #acc> -> !tile
    %d = cta.warpgroup_dot %v, %a, %z : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
    %b = cta.stage %v {cta.scratch_offset = 8192 : i32} : tensor<64x64xf16, #acc> -> !tile
    %e = cta.warpgroup_dot %v, %b, %d : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
    %used = arith.mulf %d, %e : tensor<64x64xf32, #acc>
    return
  }
}
