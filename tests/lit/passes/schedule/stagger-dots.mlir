// RUN: tile-opt %s --tile-overlap-dots | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#half = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 128]>
#halfimage = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]} : [64, 128]>
!tile = !cta.buffer<[64, 64], f16, #image>
!tilehalf = !cta.buffer<[64, 128], f16, #halfimage>
!ring = !cta.ring<!tile, !tile, !tile>
!ringhalf = !cta.ring<!tile, !tilehalf, !tilehalf>
!sum = tensor<64x64xf32, #acc>
!sumhalf = tensor<64x128xf32, #half>

module attributes {tile.kernel = #tile.kernel<warps = 4>} {
// Four iterations at a time: each result is used under the next product, across the two.
// A slot is given back when the last product that reads it is done.
// CHECK-LABEL: func.func @two_sums
// CHECK: %[[MAIN:.*]]:2 = scf.for
// CHECK:   cta.ring_wait
// CHECK:   %[[D0:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK-NOT: arith.mulf
// CHECK:   %[[D1:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:   %[[R0:.*]] = cta.warpgroup_wait %[[D0]]
// CHECK-NOT: cta.ring_release
// CHECK:   arith.mulf %[[R0]]
// CHECK:   cta.ring_advance
// CHECK:   cta.ring_wait
// CHECK:   %[[D2:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:   %[[R1:.*]] = cta.warpgroup_wait %[[D1]]
// CHECK:   cta.ring_release %{{.*}} when %true
// CHECK:   arith.mulf %[[R1]]
// CHECK:   %[[D3:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:   %[[R2:.*]] = cta.warpgroup_wait %[[D2]]
// CHECK:   arith.mulf %[[R2]]
// CHECK:   %[[R3:.*]] = cta.warpgroup_wait %[[D3]]
// CHECK:   cta.ring_release %{{.*}} when %true
// CHECK:   arith.mulf %[[R3]]
// CHECK:   scf.yield
// What is left over, one by one.
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[MAIN]]#0, {{.*}} = %[[MAIN]]#1)
// CHECK:   cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.warpgroup_wait
// CHECK:   cta.warpgroup_wait
// CHECK-NOT: cta.warpgroup_dot
func.func @two_sums(%lo: i32, %hi: i32, %s: f32, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : !sum
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %wide = tile.splat %s : f32 -> !sum
    %t:2 = scf.for %i = %lo to %hi step %c1 iter_args(%x = %z, %y = %z) -> (!sum, !sum) : i32 {
      %a, %b, %c = cta.ring_wait %r : !ring -> !tile, !tile, !tile
      %d = cta.warpgroup_dot %a, %b, %z : !tile, !tile, !sum
      %ds = arith.mulf %d, %wide : !sum
      %nextx = arith.addf %x, %ds : !sum
      %e = cta.warpgroup_dot %a, %c, %z : !tile, !tile, !sum
      cta.ring_release %r : !ring
      %es = arith.mulf %e, %wide : !sum
      %nexty = arith.addf %y, %es : !sum
      scf.yield %nextx, %nexty : !sum, !sum
    }
    tile.store %p, %t#0 : tensor<64x64x!tile.ptr<f32>, #acc>
    tile.store %p, %t#1 : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// Two sums of 64 registers leave no room for two results more.
// CHECK-LABEL: func.func @too_large
// CHECK-NOT: in_flight
func.func @too_large(%lo: i32, %hi: i32, %p: tensor<64x128x!tile.ptr<f32>, #half>) {
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : !sumhalf
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ringhalf
  cta.roles consumers {
    %t:2 = scf.for %i = %lo to %hi step %c1 iter_args(%x = %z, %y = %z) -> (!sumhalf, !sumhalf) : i32 {
      %a, %b, %c = cta.ring_wait %r : !ringhalf -> !tile, !tilehalf, !tilehalf
      %d = cta.warpgroup_dot %a, %b, %z : !tile, !tilehalf, !sumhalf
      %nextx = arith.addf %x, %d : !sumhalf
      %e = cta.warpgroup_dot %a, %c, %z : !tile, !tilehalf, !sumhalf
      cta.ring_release %r : !ringhalf
      %nexty = arith.addf %y, %e : !sumhalf
      scf.yield %nextx, %nexty : !sumhalf, !sumhalf
    }
    tile.store %p, %t#0 : tensor<64x128x!tile.ptr<f32>, #half>
    tile.store %p, %t#1 : tensor<64x128x!tile.ptr<f32>, #half>
  } producer {
  }
  return
}

// What is stored at once is not worked on element by element: nothing is in flight behind the turn, but
// the second product is issued right behind the first one.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: %[[D:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK-NEXT: %[[E:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK-NEXT: cta.warpgroup_wait %[[D]]
// CHECK: %[[DONE:.*]] = cta.warpgroup_wait %[[E]]
// CHECK-NEXT: cta.ring_release
// CHECK-NEXT: tile.store {{.*}}, %[[DONE]]
func.func @rows(%lo: i32, %hi: i32, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : !sum
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %t:2 = scf.for %i = %lo to %hi step %c1 iter_args(%x = %z, %y = %z) -> (!sum, !sum) : i32 {
      %a, %b, %c = cta.ring_wait %r : !ring -> !tile, !tile, !tile
      %d = cta.warpgroup_dot %a, %b, %z : !tile, !tile, !sum
      %nextx = arith.addf %x, %d : !sum
      %e = cta.warpgroup_dot %a, %c, %z : !tile, !tile, !sum
      cta.ring_release %r : !ring
      tile.store %p, %e : tensor<64x64x!tile.ptr<f32>, #acc>
      %nexty = arith.addf %y, %e : !sum
      scf.yield %nextx, %nexty : !sum, !sum
    }
    tile.store %p, %t#0 : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}
}
