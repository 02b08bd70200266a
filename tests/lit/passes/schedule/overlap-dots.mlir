// RUN: tile-opt %s -split-input-file --tile-overlap-dots | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
!ring = !cta.ring<!tile, !tile>
!single = !cta.ring<!tile>

module attributes {tile.kernel = #tile.kernel<warps = 4>} {
// The slot of an iteration is given back in the next one, the last one behind
// the loop; only there is the sum complete.
// CHECK-LABEL: func.func @sum
// CHECK: %[[L:.*]] = scf.for %[[I:.*]] = %[[LO:.*]] to %[[HI:.*]] step
// CHECK:   cta.ring_wait
// CHECK:   cta.warpgroup_dot {{.*}} in_flight
// CHECK:   %[[LATER:.*]] = arith.cmpi ne, %[[I]], %[[LO]]
// CHECK:   cta.ring_release %{{.*}} when %[[LATER]]
// CHECK:   cta.ring_advance
// CHECK:   scf.yield
// CHECK: %[[DONE:.*]] = cta.warpgroup_wait %[[L]]
// CHECK: %[[RAN:.*]] = arith.cmpi slt, %[[LO]], %[[HI]]
// CHECK: cta.ring_release %{{.*}} when %[[RAN]]
// CHECK: tile.store %{{.*}}, %[[DONE]]
// The second loop scales the sum in between: it stays as it is.
// CHECK: scf.for
// CHECK-NOT: in_flight
// CHECK: cta.ring_release %{{[0-9]+}} :
func.func @sum(%lo: i32, %hi: i32, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %q = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %a, %b = cta.ring_wait %r : !ring -> !tile, !tile
      %d = cta.warpgroup_dot %a, %b, %acc : !tile, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %r : !ring
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
    %t = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %a, %b = cta.ring_wait %q : !ring -> !tile, !tile
      %scaled = arith.addf %acc, %acc : tensor<64x64xf32, #acc>
      %d = cta.warpgroup_dot %a, %b, %scaled : !tile, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %q : !ring
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tile.store %p, %t : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// One slot cannot be kept while the next is waited for.
// CHECK-LABEL: func.func @one_slot
// CHECK-NOT: in_flight
// CHECK: return
func.func @one_slot(%lo: i32, %hi: i32, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %r = cta.ring {stages = 1 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %a, %b = cta.ring_wait %r : !ring -> !tile, !tile
      %d = cta.warpgroup_dot %a, %b, %acc : !tile, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %r : !ring
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// Two sums: once the first product of an iteration is issued, both of the one
// before are done, and all their slots are given back.
// CHECK-LABEL: func.func @two_sums
// CHECK: %[[R:.*]] = cta.ring
// CHECK: %[[Q:.*]] = cta.ring
// CHECK: %[[L:.*]]:2 = scf.for
// CHECK:   cta.ring_wait %[[R]]
// CHECK:   cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.ring_release %[[R]] when
// CHECK:   cta.ring_release %[[Q]] when
// CHECK:   cta.ring_wait %[[Q]]
// CHECK:   cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.ring_advance %[[Q]]
// CHECK:   cta.ring_advance %[[R]]
// CHECK: cta.warpgroup_wait %[[L]]#0
// CHECK: cta.warpgroup_wait %[[L]]#1
// CHECK: cta.ring_release %[[R]] when
// CHECK: cta.ring_release %[[Q]] when
func.func @two_sums(%lo: i32, %hi: i32, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %q = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !single
  cta.roles consumers {
    %s:2 = scf.for %i = %lo to %hi step %c1 iter_args(%left = %z, %right = %z) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) : i32 {
      %a, %b = cta.ring_wait %r : !ring -> !tile, !tile
      %d = cta.warpgroup_dot %a, %b, %left : !tile, !tile, tensor<64x64xf32, #acc>
      %c = cta.ring_wait %q : !single -> !tile
      %e = cta.warpgroup_dot %a, %c, %right : !tile, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %q : !single
      cta.ring_release %r : !ring
      scf.yield %d, %e : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
    }
    tile.store %p, %s#0 : tensor<64x64x!tile.ptr<f32>, #acc>
    tile.store %p, %s#1 : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}
}

// -----

#left = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#right = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]} : [64, 256]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 256]>
!a = !cta.buffer<[128, 64], f16, #left>
!b = !cta.buffer<[64, 256], f16, #right>
!ring = !cta.ring<!a, !b>

// Two warpgroups with long products take turns.
// CHECK-LABEL: func.func @by_turns
// CHECK-NOT: in_flight
// CHECK: cta.ring_release %{{[0-9]+}} :
module attributes {tile.kernel = #tile.kernel<warps = 8>} {
func.func @by_turns(%lo: i32, %hi: i32, %z: tensor<128x256xf32, #acc>, %p: tensor<128x256x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 8 : i32} : !ring
  cta.roles consumers {
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<128x256xf32, #acc>) : i32 {
      %a, %b = cta.ring_wait %r : !ring -> !a, !b
      %d = cta.warpgroup_dot %a, %b, %acc : !a, !b, tensor<128x256xf32, #acc>
      cta.ring_release %r : !ring
      scf.yield %d : tensor<128x256xf32, #acc>
    }
    tile.store %p, %s : tensor<128x256x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.kernel = #tile.kernel<warps = 4>} {
// Slots that the warps fill themselves, one more than the copies ahead need.
// CHECK-LABEL: func.func @own_copies
// CHECK: cta.warpgroup_dot {{.*}} in_flight
// CHECK: cta.warpgroup_wait
// Without a spare one the slot would be filled under the product.
// CHECK: scf.for
// CHECK-NOT: in_flight
// CHECK-NOT: cta.warpgroup_wait
// CHECK: return
func.func @own_copies(%lo: i32, %hi: i32, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %slots = cta.slots {count = 4 : i32} : !tile
  %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
    cta.async_wait 1 for_products
    %a = cta.slot %slots[%i] : !tile
    %d = cta.warpgroup_dot %a, %a, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  } {cta.spare_slot}
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  %t = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
    cta.async_wait 1 for_products
    %a = cta.slot %slots[%i] : !tile
    %d = cta.warpgroup_dot %a, %a, %acc : !tile, !tile, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  tile.store %p, %t : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}
