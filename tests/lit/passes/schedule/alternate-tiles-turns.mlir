// RUN: tile-opt %s --split-input-file --tile-alternate-tiles --tile-assign-layouts --tile-specialize-warps --tile-overlap-dots --tile-allocate-scratch --tile-verify-protocol | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, stages = 3, roles = pingpong>} {
// Iterations are counted, and every group takes each second one. Its turn lasts for the products,
// up to the wait for the last of them; the producer goes through all programs.
// CHECK: module attributes {cta.kernel = #cta.kernel<groups = 2, {{(groupBytes = )?}}
// CHECK-LABEL: func.func @programs
// CHECK: %[[R:.*]] = cta.ring {consumers = 4 : i32,
// CHECK: cta.roles consumers {
// CHECK:   %[[FIRST:.*]] = tile.program_id 0
// CHECK:   %[[ANY:.*]] = arith.cmpi slt, %[[FIRST]], %{{.*}}
// CHECK:   %[[LENGTH:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK:   arith.divui
// CHECK:   %[[COUNT:.*]] = arith.select %[[ANY]], %{{.*}}, %{{.*}}
// CHECK:   %[[G:.*]] = cta.group
// CHECK:   scf.for unsigned %[[N:.*]] = %[[G]] to %[[COUNT]] step %{{.*}}
// CHECK:     %[[SKIP:.*]] = arith.muli %[[N]],
// CHECK:     arith.addi %[[FIRST]], %[[SKIP]]
// CHECK:     cta.turn_begin 0 of %[[R]]
// CHECK:     scf.for
// CHECK:       cta.ring_wait
// CHECK:       cta.warpgroup_dot {{.*}} in_flight
// CHECK:     cta.turn_end 0 of %[[R]] :
// CHECK-NEXT: cta.warpgroup_wait
// CHECK-NOT: cta.turn
// CHECK:     tile.store
// CHECK: } producer {
// CHECK-NOT: cta.group
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK:       cta.ring_acquire

func.func @programs(%a: !cta.tensor_map, %base: !tile.ptr<f32>, %all: i32, %K: i32) {
  %p = tile.splat %base : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %first = tile.program_id 0 : i32
  %step = tile.num_programs 0 : i32
  scf.for %t = %first to %all step %step : i32 {
    %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cta.tma_load %a[%k, %t] dims [1, 0] : !tile
      %next = cta.warpgroup_dot %x, %x, %acc : !tile, !tile, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>>
  } {cta.programs}
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, stages = 3, roles = pingpong>} {
// Iterations of an author's loop store in order, which is a second sequence of turns; what the loop
// carries only to count is computed from the number of the iteration.
// CHECK-LABEL: func.func @author
// CHECK:   scf.for unsigned %[[N:.*]] = %{{.*}} to
// CHECK-NOT: iter_args
// CHECK:     %[[SUM:.*]] = arith.muli %[[N]], %arg4
// CHECK:     arith.addi %arg3, %[[SUM]]
// CHECK:     cta.turn_begin 0 of
// CHECK:     cta.turn_end 0 of
// CHECK:     cta.turn_begin 1{{$}}
// CHECK:     tile.load
// CHECK:     tile.store
// CHECK-NEXT: cta.turn_end 1{{$}}
func.func @author(%a: !cta.tensor_map, %base: !tile.ptr<f32>, %all: i32, %K: i32, %by: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %end = scf.for %t = %c0 to %all step %c1 iter_args(%at = %K) -> (i32) : i32 {
    %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cta.tma_load %a[%k, %at] dims [1, 0] : !tile
      %next = cta.warpgroup_dot %x, %x, %acc : !tile, !tile, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %here = tile.addptr %base, %at : !tile.ptr<f32>, i32
    %p = tile.splat %here : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
    %old = tile.load %p : tensor<64x64x!tile.ptr<f32>>
    %new = arith.addf %old, %sum : tensor<64x64xf32>
    tile.store %p, %new : tensor<64x64x!tile.ptr<f32>>
    %more = arith.addi %at, %by : i32
    scf.yield %more : i32
  }
  return
}
}

