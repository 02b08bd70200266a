// RUN: tile-opt %s --tile-overlap-dots | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#square = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 64]>
#sum = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 0]]} : [64, 64]>
#copy = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]} : [64, 64]>
!rows = !cta.buffer<[128, 64], f16, #image>
!tile = !cta.buffer<[64, 64], f16, #square>
!ring = !cta.ring<!tile>

module attributes {tile.kernel = #tile.kernel<warps = 8>, tile.target = #tile.target<sm_90a>} {
// The second product needs nothing of the first, and is issued behind it; sums are waited for at
// the end, and slots given back behind that.
// CHECK-LABEL: func.func @gradients
// CHECK: scf.for
// CHECK: cta.ring_wait %[[Q:[0-9]+]]
// CHECK-NEXT: %[[S:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK-NEXT: cta.ring_wait %[[O:[0-9]+]]
// CHECK-NEXT: %[[D:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK: %[[SCORES:.*]] = cta.warpgroup_wait %[[S]]
// CHECK-NEXT: math.exp2 %[[SCORES]]
// CHECK: %[[V:.*]] = cta.warpgroup_dot {{.*}} turned, {{.*}} in_flight
// CHECK-NOT: cta.ring_release
// CHECK: %[[PRODUCT:.*]] = cta.warpgroup_wait %[[D]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[PRODUCT]]
// CHECK: %[[K:.*]] = cta.warpgroup_dot {{.*}} turned, {{.*}} in_flight
// CHECK-NOT: cta.ring_release
// CHECK-DAG: cta.warpgroup_wait %[[V]]
// CHECK-DAG: cta.warpgroup_wait %[[K]]
// CHECK-DAG: cta.ring_release %[[Q]]
// CHECK-DAG: cta.ring_release %[[O]]
// CHECK: scf.yield
func.func @gradients(%lo: i32, %hi: i32, %z: tensor<128x64xf32, #acc>, %p: tensor<128x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %kv = cta.ring {stages = 1 : i32, consumers = 8 : i32} : !cta.ring<!rows, !rows>
  %q = cta.ring {stages = 2 : i32, consumers = 8 : i32} : !ring
  %o = cta.ring {stages = 2 : i32, consumers = 8 : i32} : !ring
  cta.roles consumers {
    %keys, %values = cta.ring_wait %kv : !cta.ring<!rows, !rows> -> !rows, !rows
    %sums:2 = scf.for %i = %lo to %hi step %c1 iter_args(%dk = %z, %dv = %z) -> (tensor<128x64xf32, #acc>, tensor<128x64xf32, #acc>) : i32 {
      %qt = cta.ring_wait %q : !ring -> !tile
      %s = cta.warpgroup_dot %keys, %qt, %zero : !rows, !tile, tensor<128x64xf32, #acc>
      %e = math.exp2 %s : tensor<128x64xf32, #acc>
      %ot = cta.ring_wait %o : !ring -> !tile
      %d = cta.warpgroup_dot %values, %ot, %zero : !rows, !tile, tensor<128x64xf32, #acc>
      %h = arith.truncf %e : tensor<128x64xf32, #acc> to tensor<128x64xf16, #acc>
      %v = cta.warpgroup_dot %h, %ot turned, %dv : tensor<128x64xf16, #acc>, !tile, tensor<128x64xf32, #acc>
      cta.ring_release %o : !ring
      %ds = arith.mulf %e, %d : tensor<128x64xf32, #acc>
      %g = arith.truncf %ds : tensor<128x64xf32, #acc> to tensor<128x64xf16, #acc>
      %k = cta.warpgroup_dot %g, %qt turned, %dk : tensor<128x64xf16, #acc>, !tile, tensor<128x64xf32, #acc>
      cta.ring_release %q : !ring
      scf.yield %k, %v : tensor<128x64xf32, #acc>, tensor<128x64xf32, #acc>
    }
    cta.ring_release %kv : !cta.ring<!rows, !rows>
    tile.store %p, %sums#0 : tensor<128x64x!tile.ptr<f32>, #acc>
    tile.store %p, %sums#1 : tensor<128x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// Each needs the one before at once: nothing runs under any of them.
// CHECK-LABEL: func.func @in_a_row
// CHECK-NOT: in_flight
// CHECK: return
func.func @in_a_row(%lo: i32, %hi: i32, %a: tensor<128x64xf16, #acc>, %z: tensor<128x64xf32, #acc>, %p: tensor<128x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %q = cta.ring {stages = 2 : i32, consumers = 8 : i32} : !ring
  cta.roles consumers {
    %sum = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<128x64xf32, #acc>) : i32 {
      %qt = cta.ring_wait %q : !ring -> !tile
      %s = cta.warpgroup_dot %a, %qt, %zero : tensor<128x64xf16, #acc>, !tile, tensor<128x64xf32, #acc>
      %h = arith.truncf %s : tensor<128x64xf32, #acc> to tensor<128x64xf16, #acc>
      %v = cta.warpgroup_dot %h, %qt, %acc : tensor<128x64xf16, #acc>, !tile, tensor<128x64xf32, #acc>
      cta.ring_release %q : !ring
      scf.yield %v : tensor<128x64xf32, #acc>
    }
    tile.store %p, %sum : tensor<128x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// What threads have written to shared memory they may write again.
// CHECK-LABEL: func.func @staged
// CHECK-NOT: in_flight
// CHECK: return
func.func @staged(%lo: i32, %hi: i32, %a: tensor<128x64xf16, #acc>, %w: tensor<64x64xf16>, %z: tensor<128x64xf32, #acc>, %p: tensor<128x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %q = cta.ring {stages = 2 : i32, consumers = 8 : i32} : !ring
  cta.roles consumers {
    %sum:2 = scf.for %i = %lo to %hi step %c1 iter_args(%x = %z, %y = %z) -> (tensor<128x64xf32, #acc>, tensor<128x64xf32, #acc>) : i32 {
      %qt = cta.ring_wait %q : !ring -> !tile
      %s = cta.warpgroup_dot %a, %qt, %zero : tensor<128x64xf16, #acc>, !tile, tensor<128x64xf32, #acc>
      cta.ring_release %q : !ring
      %staged = cta.stage %w : tensor<64x64xf16> -> !tile
      %d = cta.warpgroup_dot %a, %staged, %y : tensor<128x64xf16, #acc>, !tile, tensor<128x64xf32, #acc>
      %t = arith.addf %s, %x : tensor<128x64xf32, #acc>
      scf.yield %t, %d : tensor<128x64xf32, #acc>, tensor<128x64xf32, #acc>
    }
    tile.store %p, %sum#0 : tensor<128x64x!tile.ptr<f32>, #acc>
    tile.store %p, %sum#1 : tensor<128x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// The first product goes in front of the copies; the second one reads what is made in front of where
// the first one was, and is issued there.
// CHECK-LABEL: func.func @made_before_the_first
// CHECK: scf.for
// CHECK: cta.async_wait 1
// CHECK-NEXT: %[[SLOT:.*]] = cta.slot
// CHECK-NEXT: %[[SUM:.*]] = cta.warpgroup_dot %[[SLOT]], %[[SLOT]], %{{.*}} in_flight
// CHECK: cta.async_copy
// CHECK-NEXT: cta.async_commit
// CHECK-NEXT: %[[READ:.*]] = cta.read %[[SLOT]]
// CHECK-NEXT: %[[MADE:.*]] = arith.addf %[[READ]], %[[READ]]
// CHECK-NEXT: %[[PRODUCT:.*]] = cta.warpgroup_dot %[[MADE]], %[[SLOT]], %{{.*}} in_flight
// CHECK: %[[DONE:.*]] = cta.warpgroup_wait %[[PRODUCT]]
// CHECK-NEXT: tile.store %{{.*}}, %[[DONE]]
// CHECK: cta.warpgroup_wait %[[SUM]]
func.func @made_before_the_first(%n: i32, %z: tensor<64x64xf32, #sum>, %p: tensor<64x64x!tile.ptr<f16>, #copy>, %q: tensor<64x64x!tile.ptr<f32>, #sum>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sum>
  %s = cta.slots {count = 3 : i32} : !tile
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #sum>) : i32 {
    cta.async_wait 1 for_products
    %to = cta.slot %s[%c1] : !tile
    cta.async_copy %p to %to vector 8 : tensor<64x64x!tile.ptr<f16>, #copy>, !tile
    cta.async_commit
    %a = cta.slot %s[%i] : !tile
    %x = cta.read %a : !tile -> tensor<64x64xf16, #sum>
    %y = arith.addf %x, %x : tensor<64x64xf16, #sum>
    %d = cta.warpgroup_dot %a, %a, %acc : !tile, !tile, tensor<64x64xf32, #sum>
    %e = cta.warpgroup_dot %y, %a, %zero : tensor<64x64xf16, #sum>, !tile, tensor<64x64xf32, #sum>
    tile.store %q, %e : tensor<64x64x!tile.ptr<f32>, #sum>
    scf.yield %d : tensor<64x64xf32, #sum>
  }
  tile.store %q, %r : tensor<64x64x!tile.ptr<f32>, #sum>
  return
}

// What the second product reads is copied in this very turn, behind the first one: it stays there.
// CHECK-LABEL: func.func @copied_in_its_turn
// CHECK: scf.for
// CHECK: cta.warpgroup_dot
// CHECK: cta.single
// CHECK: cta.ring_acquire %[[O:[0-9]+]]
// CHECK: cta.ring_wait %[[O]]
// CHECK: cta.warpgroup_dot
func.func @copied_in_its_turn(%lo: i32, %hi: i32, %z: tensor<128x64xf32, #acc>, %p: tensor<128x64x!tile.ptr<f32>, #acc>, %map: !cta.tensor_map) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %kv = cta.ring {stages = 1 : i32, consumers = 8 : i32} : !cta.ring<!rows>
  %q = cta.ring {stages = 1 : i32, consumers = 8 : i32} : !ring
  %o = cta.ring {stages = 1 : i32, consumers = 8 : i32} : !ring
  %keys = cta.ring_wait %kv : !cta.ring<!rows> -> !rows
  %sums:2 = scf.for %i = %lo to %hi step %c1 iter_args(%dk = %z, %dv = %z) -> (tensor<128x64xf32, #acc>, tensor<128x64xf32, #acc>) : i32 {
    cta.single {
      %to = cta.ring_acquire %q : !ring -> !tile
      cta.ring_copy %map[%i, %c0] dims [0, 1] to %to of %q : !tile, !ring
      cta.ring_commit %q : !ring
    }
    %qt = cta.ring_wait %q : !ring -> !tile
    %s = cta.warpgroup_dot %keys, %qt, %zero : !rows, !tile, tensor<128x64xf32, #acc>
    cta.ring_release %q : !ring
    %e = math.exp2 %s : tensor<128x64xf32, #acc>
    cta.single {
      %to = cta.ring_acquire %o : !ring -> !tile
      cta.ring_copy %map[%i, %c0] dims [0, 1] to %to of %o : !tile, !ring
      cta.ring_commit %o : !ring
    }
    %ot = cta.ring_wait %o : !ring -> !tile
    %d = cta.warpgroup_dot %keys, %ot, %zero : !rows, !tile, tensor<128x64xf32, #acc>
    cta.ring_release %o : !ring
    %x = arith.addf %dk, %e : tensor<128x64xf32, #acc>
    %y = arith.addf %dv, %d : tensor<128x64xf32, #acc>
    scf.yield %x, %y : tensor<128x64xf32, #acc>, tensor<128x64xf32, #acc>
  }
  cta.ring_release %kv : !cta.ring<!rows>
  tile.store %p, %sums#0 : tensor<128x64x!tile.ptr<f32>, #acc>
  tile.store %p, %sums#1 : tensor<128x64x!tile.ptr<f32>, #acc>
  return
}
}
