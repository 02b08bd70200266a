// RUN: tile-opt %s -split-input-file --tile-overlap-dots -verify-diagnostics | FileCheck %s
// RUN: tile-opt %s -split-input-file --tile-overlap-dots --tile-allocate-scratch --tile-insert-barriers \
// RUN:   | FileCheck %s --check-prefix=BARRIERS

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
!single = !cta.ring<!tile>

module attributes {tile.kernel = #tile.kernel<warps = 4>} {
// What the threads compute in each turn goes to two places by turns; what is there from before the
// loop stays. A place is filled behind a barrier that all have waited in front of for the product
// that read it.
// CHECK-LABEL: func.func @computed
// CHECK: %[[OWN:.*]] = cta.stage
// CHECK: %[[SLOTS:.*]] = cta.slots {count = 2 : i32}
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[T:.*]] = %{{.*}})
// CHECK:   %[[SLOT:.*]] = cta.slot %[[SLOTS]][%[[T]]]
// CHECK:   cta.fill %{{.*}} to %[[SLOT]]
// CHECK:   cta.warpgroup_dot %{{.*}}, %[[SLOT]], %{{.*}} in_flight
// CHECK:   cta.ring_release %{{.*}} when
// CHECK:   cta.warpgroup_dot %[[OWN]], %[[SLOT]], %{{.*}} in_flight
// CHECK:   arith.xori %[[T]]
// CHECK: cta.warpgroup_wait
// CHECK: cta.warpgroup_wait
// BARRIERS-LABEL: func.func @computed
// BARRIERS: scf.for
// BARRIERS: cta.barrier
// BARRIERS-NEXT: cta.fill
// BARRIERS-NOT: cta.barrier
// BARRIERS: scf.yield
func.func @computed(%lo: i32, %hi: i32, %z: tensor<64x64xf32, #acc>, %x: tensor<64x64xf16, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !single
  cta.roles consumers {
    %own = cta.stage %x : tensor<64x64xf16, #acc> -> !tile
    %s:2 = scf.for %i = %lo to %hi step %c1 iter_args(%s0 = %z, %s1 = %z) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) : i32 {
      %n = arith.sitofp %i : i32 to f16
      %b = tile.splat %n : f16 -> tensor<64x64xf16, #acc>
      %w = arith.mulf %x, %b : tensor<64x64xf16, #acc>
      %right = cta.stage %w : tensor<64x64xf16, #acc> -> !tile
      %a = cta.ring_wait %r : !single -> !tile
      %d0 = cta.warpgroup_dot %a, %right, %s0 : !tile, !tile, tensor<64x64xf32, #acc>
      %d1 = cta.warpgroup_dot %own, %right, %s1 : !tile, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %r : !single
      scf.yield %d0, %d1 : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
    }
    tile.store %p, %s#0 : tensor<64x64x!tile.ptr<f32>, #acc>
    tile.store %p, %s#1 : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]]} : [256, 64]>
#tall = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #tall>
!big = !cta.buffer<[256, 64], f16, #image>
!ring = !cta.ring<!tile, !big, !big>

// CHECK-LABEL: func.func @no_room
// CHECK-NOT: cta.fill
// CHECK: return
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @no_room(%lo: i32, %hi: i32, %z: tensor<64x64xf32, #acc>, %x: tensor<64x64xf16, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    // expected-remark @below {{products are not in flight from one iteration to the next: a second place of what an iteration computes for them does not fit, or costs a program}}
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%s0 = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %n = arith.sitofp %i : i32 to f16
      %b = tile.splat %n : f16 -> tensor<64x64xf16, #acc>
      %w = arith.mulf %x, %b : tensor<64x64xf16, #acc>
      %right = cta.stage %w : tensor<64x64xf16, #acc> -> !tile
      %a, %others:2 = cta.ring_wait %r : !ring -> !tile, !big, !big
      %d0 = cta.warpgroup_dot %a, %right, %s0 : !tile, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %r : !ring
      scf.yield %d0 : tensor<64x64xf32, #acc>
    }
    tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}
}
