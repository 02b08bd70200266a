// RUN: tile-opt %s -split-input-file --tile-overlap-dots | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#other = #cta.layout<{register = [[0, 1], [8, 0], [0, 4], [0, 16], [0, 32]], lane = [[0, 2], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
!ring = !cta.ring<!tile>
!both = !cta.ring<!tile, !tile>

module attributes {tile.kernel = #tile.kernel<warps = 4>, tile.target = #tile.target<sm_90a>} {
// The first turn without its last product; the last product behind all turns.
// CHECK-LABEL: func.func @chained
// CHECK: %[[RUNS:.*]] = arith.cmpi slt
// CHECK: scf.if %[[RUNS]]
// CHECK:   cta.ring_wait %[[K:[0-9]+]]
// CHECK:   cta.warpgroup_dot
// CHECK-NOT: in_flight
// CHECK:   cta.ring_release %[[K]]
// CHECK:   %[[P0:.*]] = arith.truncf
// CHECK:   %[[S0:.*]] = arith.mulf
// CHECK:   scf.for {{.*}} iter_args(%[[S:.*]] = %[[S0]], %[[P:.*]] = %[[P0]])
// CHECK:     cta.ring_wait %[[K]]
// CHECK:     %[[QK:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:     cta.ring_wait %[[V:[0-9]+]]
// CHECK:     %[[PV:.*]] = cta.warpgroup_dot %[[P]], %{{.*}}, %[[S]] in_flight
// CHECK:     %[[SCORES:.*]] = cta.warpgroup_wait %[[QK]]
// CHECK:     cta.ring_release %[[K]]
// CHECK:     math.exp2 %[[SCORES]]
// CHECK:     %[[SUM:.*]] = cta.warpgroup_wait %[[PV]]
// CHECK:     cta.ring_release %[[V]]
// CHECK:     cta.pin
// CHECK:     arith.truncf
// CHECK:     arith.mulf %[[SUM]]
// CHECK:     scf.yield
// CHECK:   cta.ring_wait %[[V]]
// CHECK:   cta.warpgroup_dot
// CHECK-NOT: in_flight
// CHECK:   cta.ring_release %[[V]]
// CHECK: } else {
func.func @chained(%lo: i32, %hi: i32, %q: tensor<64x64xf16, #acc>, %z: tensor<64x64xf32, #acc>, %scale: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %k = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !ring
  %v = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %kt = cta.ring_wait %k : !ring -> !tile
      %qk = cta.warpgroup_dot %q, %kt, %zero : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %k : !ring
      %e = math.exp2 %qk : tensor<64x64xf32, #acc>
      %h = arith.truncf %e : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
      %scaled = arith.mulf %acc, %scale : tensor<64x64xf32, #acc>
      %vt = cta.ring_wait %v : !ring -> !tile
      %d = cta.warpgroup_dot %h, %vt, %scaled : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %v : !ring
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// A left operand that takes more than narrowing is made under the product, and moves into the
// registers that the product reads behind it.
// CHECK-LABEL: func.func @exchanged
// CHECK:   scf.for
// CHECK:     cta.warpgroup_dot {{.*}} in_flight
// CHECK:     %[[PV:.*]] = cta.warpgroup_dot {{.*}} in_flight
// CHECK:     cta.warpgroup_wait
// CHECK:     arith.truncf
// CHECK:     cta.convert_layout
// CHECK:     %[[LEFT:.*]] = cta.convert_layout
// CHECK:     cta.warpgroup_wait %[[PV]]
// CHECK:     %[[PINNED:.*]] = cta.pin %[[LEFT]]
// CHECK:     scf.yield {{.*}}%[[PINNED]]
func.func @exchanged(%lo: i32, %hi: i32, %q: tensor<64x64xf16, #acc>, %z: tensor<64x64xf32, #acc>, %scale: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %k = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !ring
  %v = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %kt = cta.ring_wait %k : !ring -> !tile
      %qk = cta.warpgroup_dot %q, %kt, %zero : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %k : !ring
      %e = math.exp2 %qk : tensor<64x64xf32, #acc>
      %h = arith.truncf %e : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
      %swapped = cta.convert_layout %h : tensor<64x64xf16, #acc> -> tensor<64x64xf16, #other>
      %back = cta.convert_layout %swapped : tensor<64x64xf16, #other> -> tensor<64x64xf16, #acc>
      %scaled = arith.mulf %acc, %scale : tensor<64x64xf32, #acc>
      %vt = cta.ring_wait %v : !ring -> !tile
      %d = cta.warpgroup_dot %back, %vt, %scaled : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %v : !ring
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// Both operands come in one slot: it cannot be taken later for one of them.
// CHECK-LABEL: func.func @one_ring
// CHECK-NOT: in_flight
// CHECK: return
func.func @one_ring(%lo: i32, %hi: i32, %q: tensor<64x64xf16, #acc>, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %r = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !both
  cta.roles consumers {
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %kt, %vt = cta.ring_wait %r : !both -> !tile, !tile
      %qk = cta.warpgroup_dot %q, %kt, %zero : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      %h = arith.truncf %qk : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
      %d = cta.warpgroup_dot %h, %vt, %acc : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %r : !both
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// The sum is looked at in each turn, and must be complete there.
// CHECK-LABEL: func.func @sum_is_read
// CHECK-NOT: in_flight
// CHECK: return
func.func @sum_is_read(%lo: i32, %hi: i32, %q: tensor<64x64xf16, #acc>, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %k = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !ring
  %v = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32, #acc>) : i32 {
      %kt = cta.ring_wait %k : !ring -> !tile
      %qk = cta.warpgroup_dot %q, %kt, %zero : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %k : !ring
      %sum = arith.addf %qk, %acc : tensor<64x64xf32, #acc>
      %h = arith.truncf %sum : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
      %vt = cta.ring_wait %v : !ring -> !tile
      %d = cta.warpgroup_dot %h, %vt, %acc : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %v : !ring
      scf.yield %d : tensor<64x64xf32, #acc>
    }
    tile.store %p, %s : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}

// The product before does not give the left operand: nothing runs between the two.
// CHECK-LABEL: func.func @unchained
// CHECK-NOT: scf.if
// CHECK: return
func.func @unchained(%lo: i32, %hi: i32, %q: tensor<64x64xf16, #acc>, %z: tensor<64x64xf32, #acc>, %p: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c1 = arith.constant 1 : i32
  %k = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !ring
  %v = cta.ring {stages = 2 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %s:2 = scf.for %i = %lo to %hi step %c1 iter_args(%a = %z, %b = %z) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) : i32 {
      %kt = cta.ring_wait %k : !ring -> !tile
      %c = cta.warpgroup_dot %q, %kt, %a : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %k : !ring
      %vt = cta.ring_wait %v : !ring -> !tile
      %d = cta.warpgroup_dot %q, %vt, %b : tensor<64x64xf16, #acc>, !tile, tensor<64x64xf32, #acc>
      cta.ring_release %v : !ring
      scf.yield %c, %d : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
    }
    tile.store %p, %s#0 : tensor<64x64x!tile.ptr<f32>, #acc>
    tile.store %p, %s#1 : tensor<64x64x!tile.ptr<f32>, #acc>
  } producer {
  }
  return
}
}
