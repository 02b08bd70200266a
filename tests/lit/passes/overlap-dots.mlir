// RUN: tile-opt %s --tile-overlap-dots | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
!ring = !cta.ring<!tile, !tile>

module attributes {tile.num_warps = 4 : i32} {
// The slot of an iteration is given back in the next one, the last one behind
// the loop; only there is the sum complete.
// CHECK-LABEL: func.func @sum
// CHECK: %[[L:.*]] = scf.for %[[I:.*]] = %[[LO:.*]] to %[[HI:.*]] step
// CHECK:   cta.ring_wait
// CHECK:   cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.ring_advance
// CHECK:   %[[LATER:.*]] = arith.cmpi ne, %[[I]], %[[LO]]
// CHECK:   cta.ring_release %{{.*}} when %[[LATER]]
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
}
