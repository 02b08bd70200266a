// RUN: tile-opt %s --split-input-file --tile-specialize-warps --tile-verify-protocol | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
#line = #cta.layout<{offset = [[1], [2], [4], [8], [16], [32]]} : [64]>
#rows = #cta.layout<{register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]} : [64]>
#column = #cta.layout<{register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 1]>
!vector = !cta.buffer<[64], f32, #line>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 4>} {
// Both copies of an iteration share a slot; the producer is the kernel less all
// that the copies do not need. With one of four slots less, a fourth program fits.
// CHECK-LABEL: func.func @loop
// CHECK: %[[R:.*]] = cta.ring {consumers = 4 : i32, stages = 3 : i32}
// CHECK: cta.barrier
// CHECK: cta.roles consumers {
// CHECK:   scf.for {{.*}} iter_args
// CHECK:     %[[W:.*]]:2 = cta.ring_wait %[[R]]
// CHECK:     cta.warpgroup_dot %[[W]]#0, %[[W]]#1
// CHECK-NEXT: cta.ring_release %[[R]]
// CHECK:   tile.store
// CHECK: } producer {
// CHECK:   scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK:     %[[S:.*]]:2 = cta.ring_acquire %[[R]]
// CHECK:     cta.ring_copy %{{.*}}[%[[K]], %{{.*}}] dims [1, 0] to %[[S]]#0 of %[[R]]
// CHECK:     cta.ring_copy %{{.*}}[%{{.*}}, %[[K]]] dims [1, 0] to %[[S]]#1 of %[[R]]
// CHECK:     cta.ring_commit %[[R]]
// CHECK-NOT: iter_args
// CHECK-NOT: tile.store
// CHECK: return
func.func @loop(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %y, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// Two products with a common operand: all three copies share a slot.
// CHECK-LABEL: func.func @common_operand
// CHECK: %[[R:.*]] = cta.ring
// CHECK-NOT: cta.ring {
// CHECK: %[[W:.*]]:3 = cta.ring_wait %[[R]]
// CHECK: cta.warpgroup_dot %[[W]]#0, %[[W]]#1
// CHECK: cta.warpgroup_dot %[[W]]#0, %[[W]]#2
// CHECK-NEXT: cta.ring_release %[[R]]
// CHECK: cta.ring_acquire %[[R]]
// CHECK-COUNT-3: cta.ring_copy
// CHECK: cta.ring_commit %[[R]]
func.func @common_operand(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum:2 = scf.for %k = %c0 to %K step %c64 iter_args(%s = %zero, %t = %zero) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) : i32 {
    %x = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %z = cta.tma_load %b[%c64, %k] dims [1, 0] : !tile
    %left = cta.warpgroup_dot %x, %y, %s : !tile, !tile, tensor<64x64xf32, #acc>
    %right = cta.warpgroup_dot %x, %z, %t : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %left, %right : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum#0 : tensor<64x64x!tile.ptr<f32>, #acc>
  tile.store %p, %sum#1 : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// Also if what they have in common is loaded last.
// CHECK-LABEL: func.func @common_operand_last
// CHECK: %[[R:.*]] = cta.ring
// CHECK-NOT: cta.ring {
// CHECK: %[[W:.*]]:3 = cta.ring_wait %[[R]]
// CHECK: cta.warpgroup_dot %[[W]]#0, %[[W]]#2
// CHECK: cta.warpgroup_dot %[[W]]#1, %[[W]]#2
// CHECK-NEXT: cta.ring_release %[[R]]
func.func @common_operand_last(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum:2 = scf.for %k = %c0 to %K step %c64 iter_args(%s = %zero, %t = %zero) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) : i32 {
    %x = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %y = cta.tma_load %a[%k, %c64] dims [1, 0] : !tile
    %z = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %upper = cta.warpgroup_dot %x, %z, %s : !tile, !tile, tensor<64x64xf32, #acc>
    %lower = cta.warpgroup_dot %y, %z, %t : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %upper, %lower : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum#0 : tensor<64x64x!tile.ptr<f32>, #acc>
  tile.store %p, %sum#1 : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// A vector that is only read into registers comes in the slot of the operands.
// CHECK-LABEL: func.func @vector
// CHECK: %[[R:.*]] = cta.ring
// CHECK-NOT: cta.ring {
// CHECK: %[[W:.*]]:3 = cta.ring_wait %[[R]]
// CHECK-NEXT: cta.read %[[W]]#0
// CHECK-NEXT: cta.warpgroup_dot %[[W]]#1, %[[W]]#2
// CHECK-NEXT: cta.ring_release %[[R]]
// CHECK: cta.ring_acquire %[[R]]
// CHECK-COUNT-3: cta.ring_copy
// CHECK: cta.ring_commit %[[R]]
func.func @vector(%a: !cta.tensor_map, %b: !cta.tensor_map, %v: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %c = cta.tma_load %v[%c0, %k] dims [0, -1] : !vector
    %s = cta.read %c : !vector -> tensor<64xf32, #rows>
    %x = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %x, %y, %zero : !tile, !tile, tensor<64x64xf32, #acc>
    %column = tile.expand_dims %s {axis = 1 : i32} : tensor<64xf32, #rows> -> tensor<64x1xf32, #column>
    %all = tile.broadcast %column : tensor<64x1xf32, #column> -> tensor<64x64xf32, #acc>
    %scaled = arith.mulf %d, %all : tensor<64x64xf32, #acc>
    %next = arith.addf %acc, %scaled : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// So does a number, if the producer can compute where it is: not if that is in memory.
// It is read ahead of the product, though it is loaded behind it.
// CHECK-LABEL: func.func @number
// CHECK: %[[R:.*]] = cta.ring {{.*}} : <{{.*}}, !cta.buffer<[1], f32, #{{.*}}>>
// CHECK: cta.roles consumers {
// CHECK:   tile.load %{{.*}} : !tile.ptr<f32>
// CHECK:   %[[W:.*]]:3 = cta.ring_wait %[[R]]
// CHECK-NEXT: %[[S:.*]] = cta.read %[[W]]#2 : <[1], f32, #{{.*}}> -> f32
// CHECK:   cta.warpgroup_dot %[[W]]#0, %[[W]]#1
// CHECK-NEXT: cta.ring_release %[[R]]
// CHECK:   tile.splat %[[S]]
// CHECK: } producer {
// CHECK:   scf.for
// CHECK:     %[[P:.*]] = tile.addptr
// CHECK:   %[[B:.*]]:3 = cta.ring_acquire %[[R]]
// CHECK-COUNT-2: cta.ring_copy
// CHECK-NEXT: cta.ring_element_copy %[[P]] to %[[B]]#2 of %[[R]]
// CHECK-NEXT: cta.ring_commit %[[R]]
// CHECK-NOT: tile.load
// CHECK: return
func.func @number(%a: !cta.tensor_map, %b: !cta.tensor_map, %q: !tile.ptr<f32>, %index: !tile.ptr<i32>, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %isLong = arith.cmpi sgt, %K, %c64 : i32
  %first = scf.if %isLong -> i32 {
    scf.yield %K : i32
  } else {
    scf.yield %c0 : i32
  }
  %from = tile.addptr %q, %first : !tile.ptr<f32>, i32
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %index_at = tile.addptr %index, %k : !tile.ptr<i32>, i32
    %i = tile.load %index_at : !tile.ptr<i32>
    %there = tile.addptr %q, %i : !tile.ptr<f32>, i32
    %t = tile.load %there {cta.may_run_ahead} : !tile.ptr<f32>
    %d = cta.warpgroup_dot %x, %y, %zero : !tile, !tile, tensor<64x64xf32, #acc>
    %at = tile.addptr %from, %k : !tile.ptr<f32>, i32
    %s = tile.load %at {cta.may_run_ahead} : !tile.ptr<f32>
    %ss = tile.splat %s : f32 -> tensor<64x64xf32, #acc>
    %ts = tile.splat %t : f32 -> tensor<64x64xf32, #acc>
    %scaled = arith.mulf %d, %ss : tensor<64x64xf32, #acc>
    %more = arith.addf %scaled, %ts : tensor<64x64xf32, #acc>
    %next = arith.addf %acc, %more : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// Where to copy depends on a block of values: one thread copies in place.
// CHECK-LABEL: func.func @in_place
// CHECK: cta.ring {consumers = 4 : i32, stages = 1 : i32}
// CHECK-NOT: cta.roles
// CHECK: tile.reduce
// CHECK: cta.single {
// CHECK:   cta.ring_acquire
// CHECK:   cta.ring_copy
// CHECK:   cta.ring_commit
// CHECK: }
// CHECK: cta.ring_wait
// CHECK: cta.warpgroup_dot
// CHECK: cta.ring_release
func.func @in_place(%a: !cta.tensor_map, %i: tensor<64xi32, #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]} : [64]>>,
                    %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %start = tile.reduce %i {axis = 0 : i32} : tensor<64xi32, #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]} : [64]>> -> i32 {
  ^bb0(%l: i32, %r: i32):
    %s = arith.maxsi %l, %r : i32
    tile.yield %s : i32
  }
  %x = cta.tma_load %a[%start, %start] dims [1, 0] : !tile
  %d = cta.warpgroup_dot %x, %x, %z : !tile, !tile, tensor<64x64xf32, #acc>
  tile.store %p, %d : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// A vector beside operands that are copied in place is used before they are: it comes by itself,
// and what is a number there is loaded as ever.
// CHECK-LABEL: func.func @in_place_beside
// CHECK: %[[V:.*]] = cta.ring {{.*}}stages = 1{{.*}}[64]
// CHECK: %[[R:.*]] = cta.ring {{.*}}stages = 1{{.*}}[64, 64]
// CHECK-NOT: cta.roles
// CHECK: tile.load %{{.*}} : !tile.ptr<f32>
// CHECK: cta.ring_acquire %[[V]]
// CHECK: cta.ring_wait %[[V]]
// CHECK-NEXT: cta.read
// CHECK: tile.reduce
// CHECK: cta.ring_acquire %[[R]]
// CHECK: cta.ring_wait %[[R]]
// CHECK: cta.warpgroup_dot
func.func @in_place_beside(%a: !cta.tensor_map, %v: !cta.tensor_map, %q: !tile.ptr<f32>, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %at = tile.addptr %q, %k : !tile.ptr<f32>, i32
    %n = tile.load %at {cta.may_run_ahead} : !tile.ptr<f32>
    %c = cta.tma_load %v[%c0, %k] dims [0, -1] : !vector
    %s = cta.read %c : !vector -> tensor<64xf32, #rows>
    %most = tile.reduce %s {axis = 0 : i32} : tensor<64xf32, #rows> -> f32 {
    ^bb0(%l: f32, %r: f32):
      %m = arith.maximumf %l, %r : f32
      tile.yield %m : f32
    }
    %start = arith.fptosi %most : f32 to i32
    %x = cta.tma_load %a[%start, %k] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %x, %x, %zero : !tile, !tile, tensor<64x64xf32, #acc>
    %ns = tile.splat %n : f32 -> tensor<64x64xf32, #acc>
    %scaled = arith.mulf %d, %ns : tensor<64x64xf32, #acc>
    %next = arith.addf %acc, %scaled : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// The producer does not read what the consumers store: it would be ahead of them.
// CHECK-LABEL: func.func @reads_what_is_stored
// CHECK-NOT: cta.roles
// CHECK: return
func.func @reads_what_is_stored(%a: !cta.tensor_map, %q: !tile.ptr<i32>, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %start = tile.load %q : !tile.ptr<i32>
    %x = cta.tma_load %a[%start, %k] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %x, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    tile.store %q, %k : !tile.ptr<i32>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.kernel = #tile.kernel<warps = 4, stages = 4>, cta.kernel = #cta.kernel<cluster = 2>} {
// What the blocks of a cluster may have in common goes through rings that move
// together, between two meetings of all threads.
// CHECK-LABEL: func.func @cluster
// CHECK: %[[R:.*]] = cta.ring {cluster = 2 : i32, consumers = 4 : i32, stages = 3 : i32}
// CHECK-NEXT: cta.cluster_barrier
// CHECK-NEXT: cta.roles consumers {
// CHECK: } producer {
// CHECK: cta.ring_copy {{.*}} of %[[R]] :
// CHECK: cta.ring_copy {{.*}} of %[[R]] common %{{.*}} :
// CHECK: cta.cluster_barrier
// CHECK-NEXT: return
func.func @cluster(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32, %same: i1) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] common %same : !tile
    %next = cta.warpgroup_dot %x, %y, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3, roles = none>} {
// No roles: one of the threads that compute starts the copies of the first iterations before the
// loop, as many as there are slots, and behind each release those of the iteration so much later.
// More slots than were asked for, as long as four programs fit. What is loaded outside of
// loops is copied where it stood.
// CHECK-LABEL: func.func @in_place
// CHECK-DAG: %[[Q:.*]] = cta.ring {consumers = 4 : i32, stages = 1 : i32}
// CHECK-DAG: %[[R:.*]] = cta.ring {consumers = 4 : i32, stages = 5 : i32}
// CHECK-NOT: cta.roles
// CHECK: cta.single {
// CHECK-NEXT: cta.ring_acquire %[[Q]]
// CHECK: cta.single {
// CHECK: scf.if
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[ELAPSED:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK: arith.cmpi ugt, %{{.*}}, %[[ELAPSED]]
// CHECK: scf.if
// CHECK: %[[K0:.*]] = arith.addi %{{.*}}, %[[ELAPSED]]
// CHECK: %[[S:.*]] = cta.ring_acquire %[[R]]
// CHECK: cta.ring_copy %{{.*}}[%{{.*}}, %[[K0]]] dims [1, 0] to %[[S]] of %[[R]]
// CHECK: cta.ring_commit %[[R]]
// CHECK: } {cta.prologue}
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[END:.*]] step
// CHECK: cta.ring_wait %[[R]]
// CHECK: cta.warpgroup_dot
// CHECK: cta.ring_release %[[R]]
// CHECK-NEXT: cta.single {
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[K]]
// CHECK: arith.cmpi ugt, %[[LEFT]]
// CHECK: cta.ring_acquire %[[R]]
// CHECK: return
func.func @in_place(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %x = cta.tma_load %a[%c0, %c0] dims [1, 0] : !tile
  %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %y, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// What programs that leave early do not copy, they make no rings for.
// CHECK-LABEL: func.func @leaves_early
// CHECK-NOT: cta.ring
// CHECK-NOT: cta.barrier
// CHECK: scf.if
// CHECK-NEXT: cta.ring {
// CHECK: cta.barrier
// CHECK: cta.single {
// CHECK: cta.ring_wait
func.func @leaves_early(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %ends: !tile.ptr<i32>, %first: i32, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %end = tile.load %ends : !tile.ptr<i32>
  %isThere = arith.cmpi slt, %first, %end : i32
  scf.if %isThere {
    %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
      %x = cta.tma_load %a[%c0, %k] dims [1, 0] : !tile
      %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
      %next = cta.warpgroup_dot %x, %y, %acc : !tile, !tile, tensor<64x64xf32, #acc>
      scf.yield %next : tensor<64x64xf32, #acc>
    }
    tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  }
  return
}

// Unless others copy something, too.
// CHECK-LABEL: func.func @copies_elsewhere
// CHECK-COUNT-2: cta.ring {
// CHECK: cta.barrier
// CHECK: scf.if
// CHECK: else
// CHECK: return
func.func @copies_elsewhere(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %isLeft: i1) {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  scf.if %isLeft {
    %x = cta.tma_load %a[%c0, %c0] dims [1, 0] : !tile
    %sum = cta.warpgroup_dot %x, %x, %zero : !tile, !tile, tensor<64x64xf32, #acc>
    tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  } else {
    %y = cta.tma_load %b[%c0, %c0] dims [1, 0] : !tile
    %sum = cta.warpgroup_dot %y, %y, %zero : !tile, !tile, tensor<64x64xf32, #acc>
    tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
// Two loops side by side fill slots of one kind, one after the other: one ring does for both.
// CHECK-LABEL: func.func @loops_side_by_side
// CHECK: %[[R:.*]] = cta.ring {
// CHECK-NOT: cta.ring {
// CHECK: cta.roles consumers {
// CHECK-COUNT-2: cta.ring_wait %[[R]]
// CHECK: } producer {
// CHECK-COUNT-2: cta.ring_acquire %[[R]]
// CHECK: return
func.func @loops_side_by_side(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %one = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = cta.tma_load %a[%k, %c0] dims [1, 0] : !tile
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %y, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  %two = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %one) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = cta.tma_load %b[%k, %c0] dims [1, 0] : !tile
    %y = cta.tma_load %a[%c0, %k] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %y, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %two : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]} : [64, 32]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!short = !cta.buffer<[64, 32], f16, #image>
!turned = !cta.buffer<[32, 64], f16, #cta.layout<{offset = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1], [8, 2], [16, 4], [0, 8], [0, 16], [0, 32]]} : [32, 64]>>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 4, roles = none>} {
// Four warpgroups with 64 cycles of products a turn each do not cover what the turn takes besides:
// more slots than were asked for would keep the fifth and sixth away.
// CHECK-LABEL: func.func @short_products
// CHECK: cta.ring {consumers = 4 : i32, stages = 4 : i32}
func.func @short_products(%a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %sum = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = cta.tma_load %a[%c0, %k] dims [1, 0] : !short
    %y = cta.tma_load %b[%k, %c0] dims [0, 1] : !turned
    %next = cta.warpgroup_dot %x, %y, %acc : !short, !turned, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}
