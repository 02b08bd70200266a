// A kernel that follows another asks the L2 cache for what its first copies bring before it waits
// for it: each role waits by itself, the producer behind that.
// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s
// RUN: sed 's/, tile.follows//' %s | tile-opt --tile-lower-to-llvm | FileCheck %s --check-prefix=ALONE

#a = #cta.layout<{offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [8, 1], [16, 2], [32, 4], [0, 8]]} : [64, 16]>
#m = #cta.sum<[[1, 1]]>
#map = #cta.map<base = 0, bf16, sizes = [#m, #m], strides = [#m], box = [64, 16], swizzle = 128>
!tile = !cta.buffer<[64, 16], bf16, #a>
!ring = !cta.ring<!tile>

module attributes {tile.target = #tile.target<sm_90a>, tile.dependent_launch, tile.follows, cta.kernel = #cta.kernel<sharedBytes = 8192>, tile.kernel = #tile.kernel<warps = 4>} {
// CHECK-LABEL: llvm.func @two_slots
// The consumers:
// CHECK: nvvm.griddepcontrol wait
// The producer, of two slots:
// CHECK: llvm.icmp "slt" %[[FIRST:.*]], %[[END:.*]] : i32
// CHECK: cp.async.bulk.prefetch.tensor.2d.L2.global [$0, {$1, $2}];", "l,r,r,~{memory}"
// CHECK: %[[SECOND:.*]] = llvm.add %[[FIRST]], %{{.*}} : i32
// CHECK: llvm.icmp "slt" %[[SECOND]], %[[END]] : i32
// CHECK: cp.async.bulk.prefetch.tensor.2d
// CHECK-NOT: cp.async.bulk.prefetch
// CHECK: nvvm.griddepcontrol wait
// CHECK: cp.async.bulk.tensor.2d.shared
// CHECK-NOT: griddepcontrol
// ALONE-LABEL: llvm.func @two_slots
// ALONE: nvvm.griddepcontrol wait
// ALONE-NOT: cp.async.bulk.prefetch
// ALONE-NOT: cp.async.bulk.prefetch
func.func @two_slots(%map: !cta.tensor_map {cta.tensor_map = #map}, %row: i32, %from: i32, %k: i32) {
  %step = arith.constant 64 : i32
  %r = cta.ring {stages = 2 : i32, consumers = 4 : i32, cta.scratch_offset = 0 : i32} : !ring
  cta.barrier
  cta.roles consumers {
    scf.for %i = %from to %k step %step : i32 {
      %a = cta.ring_wait %r : !ring -> !tile
      cta.ring_release %r : !ring
    }
  } producer {
    scf.for %i = %from to %k step %step : i32 {
      %a = cta.ring_acquire %r : !ring -> !tile
      cta.ring_copy %map[%i, %row] dims [0, 1] to %a of %r : !tile, !ring
      cta.ring_commit %r : !ring
    }
  }
  return
}

// What the loop carries is not known before it runs.
// CHECK-LABEL: llvm.func @carried
// CHECK: nvvm.griddepcontrol wait
// CHECK-NOT: griddepcontrol
// CHECK-NOT: cp.async.bulk.prefetch
func.func @carried(%map: !cta.tensor_map {cta.tensor_map = #map}, %row: i32, %k: i32) {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %r = cta.ring {stages = 2 : i32, consumers = 4 : i32, cta.scratch_offset = 0 : i32} : !ring
  cta.barrier
  cta.roles consumers {
    scf.for %i = %zero to %k step %step : i32 {
      %a = cta.ring_wait %r : !ring -> !tile
      cta.ring_release %r : !ring
    }
  } producer {
    scf.for %i = %zero to %k step %step iter_args(%at = %row) -> (i32) : i32 {
      %a = cta.ring_acquire %r : !ring -> !tile
      cta.ring_copy %map[%i, %at] dims [0, 1] to %a of %r : !tile, !ring
      cta.ring_commit %r : !ring
      %next = arith.addi %at, %step : i32
      scf.yield %next : i32
    }
  }
  return
}
}
