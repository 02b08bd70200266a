// RUN: tile-opt %s --tile-overlap-dots | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#half = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 128]>
#halfimage = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]} : [64, 128]>
#wide = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 256]>
#wideimage = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]} : [64, 256]>
!tile = !cta.buffer<[64, 64], f16, #image>
!tilehalf = !cta.buffer<[64, 128], f16, #halfimage>
!tilewide = !cta.buffer<[64, 256], f16, #wideimage>
#line = #cta.layout<{offset = [[1], [2], [4], [8], [16], [32]]} : [64]>
#rows = #cta.layout<{register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]} : [64]>
#column = #cta.layout<{register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 1]>
!vector = !cta.buffer<[64], f32, #line>
!ring = !cta.ring<!tile, !tile>
!ringvector = !cta.ring<!tile, !tilehalf, !vector>
!ringhalf = !cta.ring<!tile, !tilehalf>
!ringwide = !cta.ring<!tile, !tilewide>
!sum = tensor<64x64xf32, #acc>
!sumhalf = tensor<64x128xf32, #half>
!sumwide = tensor<64x256xf32, #wide>

module attributes {tile.kernel = #tile.kernel<warps = 4>} {
// Four iterations at a time: each product is issued before the result of the one
// before is scaled, whose slot is given back first. The scale of the next
// iteration comes from memory: what is done to it waits with the rest.
// CHECK-LABEL: func.func @scaled
// CHECK: %[[MAIN:.*]]:2 = scf.for
// CHECK:   %[[L0:.*]] = tile.load
// CHECK:   cta.ring_wait
// CHECK:   %[[D0:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.ring_advance
// CHECK-NOT: arith.mulf
// CHECK:   cta.ring_wait
// CHECK:   %[[D1:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.ring_advance
// CHECK:   %[[R0:.*]] = cta.warpgroup_wait %[[D0]]
// CHECK:   cta.ring_release %{{.*}} when %true
// CHECK:   arith.mulf %[[R0]]
// CHECK:   arith.addf %[[L0]], %[[L0]]
// CHECK:   %[[D2:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.warpgroup_wait %[[D1]]
// CHECK:   %[[D3:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:   cta.warpgroup_wait %[[D2]]
// CHECK:   %[[R3:.*]] = cta.warpgroup_wait %[[D3]]
// CHECK:   arith.mulf %[[R3]]
// CHECK:   scf.yield
// What is left over, one by one.
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[MAIN]]#0, {{.*}} = %[[MAIN]]#1)
// CHECK:   %[[D:.*]] = cta.warpgroup_dot
// CHECK:   cta.warpgroup_wait %[[D]]
// CHECK-NOT: cta.warpgroup_dot
func.func @scaled(%lo: i32, %hi: i32, %s: f32, %q: !tile.ptr<f32>, %p: tensor<64x128x!tile.ptr<f32>, #half>) {
  %c2 = arith.constant 2 : i32
  %z = arith.constant dense<0.0> : !sumhalf
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ringhalf
  cta.roles consumers {
    %t:2 = scf.for %i = %lo to %hi step %c2 iter_args(%acc = %z, %scale = %s) -> (!sumhalf, f32) : i32 {
      %at = tile.addptr %q, %i : !tile.ptr<f32>, i32
      %next = tile.load %at : !tile.ptr<f32>
      %a, %b = cta.ring_wait %r : !ringhalf -> !tile, !tilehalf
      %d = cta.warpgroup_dot %a, %b, %z : !tile, !tilehalf, !sumhalf
      cta.ring_release %r : !ringhalf
      %wide = tile.splat %scale : f32 -> !sumhalf
      %scaled = arith.mulf %d, %wide : !sumhalf
      %sum = arith.addf %acc, %scaled : !sumhalf
      %twice = arith.addf %next, %next : f32
      scf.yield %sum, %twice : !sumhalf, f32
    }
    tile.store %p, %t#0 : tensor<64x128x!tile.ptr<f32>, #half>
  } producer {
  }
  return
}

// A vector of the slot goes to registers before the product is issued, and is used with
// its result.
// CHECK-LABEL: func.func @vector
// CHECK: scf.for
// CHECK:   %[[W0:.*]]:3 = cta.ring_wait
// CHECK:   %[[V0:.*]] = cta.read %[[W0]]#2
// CHECK:   %[[D0:.*]] = cta.warpgroup_dot %[[W0]]#0, %[[W0]]#1, {{.*}} in_flight
// CHECK:   %[[W1:.*]]:3 = cta.ring_wait
// CHECK:   cta.read %[[W1]]#2
// CHECK:   cta.warpgroup_dot %[[W1]]#0, %[[W1]]#1, {{.*}} in_flight
// CHECK:   cta.warpgroup_wait %[[D0]]
// CHECK:   cta.ring_release %{{.*}} when %true
// CHECK:   tile.expand_dims %[[V0]]
func.func @vector(%lo: i32, %hi: i32, %p: tensor<64x128x!tile.ptr<f32>, #half>) {
  %c2 = arith.constant 2 : i32
  %z = arith.constant dense<0.0> : !sumhalf
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ringvector
  cta.roles consumers {
    %t = scf.for %i = %lo to %hi step %c2 iter_args(%acc = %z) -> (!sumhalf) : i32 {
      %a, %b, %v = cta.ring_wait %r : !ringvector -> !tile, !tilehalf, !vector
      %s = cta.read %v : !vector -> tensor<64xf32, #rows>
      %d = cta.warpgroup_dot %a, %b, %z : !tile, !tilehalf, !sumhalf
      cta.ring_release %r : !ringvector
      %column = tile.expand_dims %s {axis = 1 : i32} : tensor<64xf32, #rows> -> tensor<64x1xf32, #column>
      %all = tile.broadcast %column : tensor<64x1xf32, #column> -> !sumhalf
      %scaled = arith.mulf %d, %all : !sumhalf
      %sum = arith.addf %acc, %scaled : !sumhalf
      scf.yield %sum : !sumhalf
    }
    tile.store %p, %t : tensor<64x128x!tile.ptr<f32>, #half>
  } producer {
  }
  return
}

// The result decides how the loop goes on: nothing can wait.
// CHECK-LABEL: func.func @needed_at_once
// CHECK-NOT: in_flight
func.func @needed_at_once(%lo: i32, %hi: i32, %p: tensor<64x128x!tile.ptr<f32>, #half>) {
  %c2 = arith.constant 2 : i32
  %z = arith.constant dense<0.0> : !sumhalf
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ringhalf
  cta.roles consumers {
    scf.for %i = %lo to %hi step %c2 : i32 {
      %a, %b = cta.ring_wait %r : !ringhalf -> !tile, !tilehalf
      %d = cta.warpgroup_dot %a, %b, %z : !tile, !tilehalf, !sumhalf
      cta.ring_release %r : !ringhalf
      tile.store %p, %d : tensor<64x128x!tile.ptr<f32>, #half>
    }
  } producer {
  }
  return
}

// A second thread block has room beside a loop this small.
// CHECK-LABEL: func.func @small
// CHECK-NOT: in_flight
func.func @small(%lo: i32, %hi: i32, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c2 = arith.constant 2 : i32
  %z = arith.constant dense<0.0> : !sum
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %t = scf.for %i = %lo to %hi step %c2 iter_args(%acc = %z) -> (!sum) : i32 {
      %a, %b = cta.ring_wait %r : !ring -> !tile, !tile
      %d = cta.warpgroup_dot %a, %b, %z : !tile, !tile, !sum
      cta.ring_release %r : !ring
      %sum = arith.addf %acc, %d : !sum
      scf.yield %sum : !sum
    }
    tile.store %p, %t : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// Two results and a sum of 128 registers each are more than a thread has.
// CHECK-LABEL: func.func @too_large
// CHECK-NOT: in_flight
func.func @too_large(%lo: i32, %hi: i32, %p: tensor<64x256x!tile.ptr<f32>, #wide>) {
  %c2 = arith.constant 2 : i32
  %z = arith.constant dense<0.0> : !sumwide
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ringwide
  cta.roles consumers {
    %t = scf.for %i = %lo to %hi step %c2 iter_args(%acc = %z) -> (!sumwide) : i32 {
      %a, %b = cta.ring_wait %r : !ringwide -> !tile, !tilewide
      %d = cta.warpgroup_dot %a, %b, %z : !tile, !tilewide, !sumwide
      cta.ring_release %r : !ringwide
      %sum = arith.addf %acc, %d : !sumwide
      scf.yield %sum : !sumwide
    }
    tile.store %p, %t : tensor<64x256x!tile.ptr<f32>, #wide>
  } producer {
  }
  return
}
}
