// RUN: tile-opt %s --split-input-file --tile-specialize-warps --tile-verify-protocol | FileCheck %s
// Groups of consumers, each with a program of its own, and one producer for all.

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {cta.block_programs = array<i32: 0, 3>, tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 2>} {
// What each has for itself has a slot each, which its own warps release; what they share is released
// by all warps. Programs past the end do as the last one, and store nothing.
// CHECK-LABEL: func.func @alike
// CHECK-SAME: %[[ALL:[a-z0-9]+]]: i32 {tile.num_programs = 0 : i32})
// CHECK-DAG: %[[OWN:.*]] = cta.ring {consumers = 4 : i32, cta.own_slots, stages = 3 : i32}
// CHECK-DAG: %[[RING:.*]] = cta.ring {consumers = 12 : i32, stages = 2 : i32}
// CHECK: %[[BLOCK:.*]] = tile.program_id 0
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]]
// CHECK: cta.roles consumers {
// CHECK: %[[GROUP:.*]] = cta.group
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[GROUP]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[NUMBER]], %[[ALL]]
// CHECK: cta.ring_wait %[[OWN]]
// CHECK: scf.for
// CHECK: cta.ring_wait %[[RING]]
// CHECK: cta.ring_release %[[RING]]
// CHECK: cta.ring_release %[[OWN]]
// CHECK-NOT: scf.for
// CHECK: scf.if %[[EXISTS]] {
// CHECK-NEXT: tile.store
// CHECK: } producer {
// CHECK-COUNT-3: cta.ring_acquire %[[OWN]]
// CHECK: scf.for
// CHECK: cta.ring_acquire %[[RING]]
// CHECK-NOT: cta.ring_acquire
// CHECK: return
func.func @alike(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = tile.program_id 0 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %t = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// Two loops, of which the second goes on where the first has stopped: to the producer they are one,
// as long as the longest of the programs is, and the others pass the slots by that they do not want.
// CHECK-LABEL: func.func @continued
// CHECK: %[[RING:.*]] = cta.ring {consumers = 12
// CHECK-NOT: cta.ring {
// CHECK: %[[LOWER:.*]] = arith.minsi
// CHECK: cta.roles consumers {
// CHECK: scf.for
// CHECK: cta.warpgroup_dot
// CHECK: scf.for
// CHECK: cta.warpgroup_dot
// CHECK: scf.for
// CHECK-NEXT: cta.ring_wait %[[RING]]
// CHECK-NEXT: cta.ring_release %[[RING]]
// CHECK-NEXT: }
// CHECK: } producer {
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK: cta.ring_acquire %[[RING]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @continued(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = tile.program_id 0 : i32
  %first = arith.muli %x, %c64 : i32
  %middle = arith.maxsi %first, %c0 : i32
  %end = arith.addi %middle, %c64 : i32
  %s = scf.for %k = %c0 to %middle step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %t = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  %u = scf.for %k = %middle to %end step %c64 iter_args(%acc = %s) -> (tensor<64x64xf32, #acc>) : i32 {
    %t = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  tile.store %p, %u : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// Programs that start apart pass slots by before their own turns, too.
// CHECK-LABEL: func.func @windows
// CHECK: cta.roles consumers {
// CHECK: scf.for
// CHECK-NEXT: cta.ring_wait
// CHECK-NEXT: cta.ring_release
// CHECK: scf.for
// CHECK: cta.warpgroup_dot
// CHECK: scf.for
// CHECK-NEXT: cta.ring_wait
// CHECK-NEXT: cta.ring_release
// CHECK: } producer {
func.func @windows(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = tile.program_id 0 : i32
  %first = arith.muli %x, %c64 : i32
  %end = arith.addi %first, %n : i32
  %s = scf.for %k = %first to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %t = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// Nothing is copied for one of them alone, and no loop is longer than another: which programs these are is
// asked for by their results only.
// CHECK-LABEL: func.func @nothing_of_their_own
// CHECK-SAME: %[[ALL:[a-z0-9]+]]: i32 {tile.num_programs = 0 : i32})
// CHECK: %[[FIRST:.*]] = arith.muli
// CHECK: %[[LAST:.*]] = arith.subi %[[ALL]]
// CHECK: cta.roles consumers {
// CHECK: %[[GROUP:.*]] = cta.group
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[GROUP]]
// CHECK: %[[ITS:.*]] = arith.minsi %[[NUMBER]], %[[LAST]]
// CHECK: tile.splat %[[ITS]]
// CHECK: return
func.func @nothing_of_their_own(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %n: i32, %left: tensor<64x64xf16, #acc>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = tile.program_id 0 : i32
  %l = cta.stage %left : tensor<64x64xf16, #acc> -> !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %t = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  %y = tile.splat %x : i32 -> tensor<64x64xi32, #acc>
  %o = tile.addptr %p, %y : tensor<64x64x!tile.ptr<f32>, #acc>, tensor<64x64xi32, #acc>
  tile.store %o, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}
