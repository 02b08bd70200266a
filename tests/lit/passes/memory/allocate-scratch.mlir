// Where exchange buffers go.
// RUN: tile-opt %s -split-input-file --tile-allocate-scratch | FileCheck %s

#l = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [128]>
#one = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [32]>

// Two small buffers take turns; a reduction within one warp needs none.
// CHECK: sharedBytes = 32
// CHECK-LABEL: func.func @reductions
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @reductions(%x: tensor<128xf32, #l>, %y: tensor<32xf32, #one>) {
  // CHECK: tile.reduce {{.*}}cta.scratch_offset = 0
  %0 = tile.reduce %x {axis = 0 : i32} : tensor<128xf32, #l> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  // CHECK: tile.reduce {{.*}}cta.scratch_offset = 16
  %1 = tile.reduce %x {axis = 0 : i32} : tensor<128xf32, #l> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  // CHECK: tile.reduce
  // CHECK-NOT: cta.scratch_offset
  %2 = tile.reduce %y {axis = 0 : i32} : tensor<32xf32, #one> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  return
}
}

// -----

#src = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#dst = #cta.layout<{register = [[128], [256]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [512]>

// A large buffer lies behind the ring of small ones.
// CHECK: sharedBytes = 2064
// CHECK-LABEL: func.func @large_behind_small
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @large_behind_small(%x: tensor<512xf32, #src>) {
  // CHECK: cta.convert_layout {{.*}}cta.scratch_offset = 16
  %0 = cta.convert_layout %x : tensor<512xf32, #src> -> tensor<512xf32, #dst>
  // CHECK: tile.reduce {{.*}}cta.scratch_offset = 0
  %1 = tile.reduce %x {axis = 0 : i32} : tensor<512xf32, #src> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  return
}
}

// -----

#src = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#dst = #cta.layout<{register = [[128], [256]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [512]>

// Large buffers of one loop lie side by side; those outside share their place.
// CHECK: sharedBytes = 4096
// CHECK-LABEL: func.func @loop
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @loop(%x: tensor<512xf32, #src>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK: cta.convert_layout {{.*}}cta.scratch_offset = 0 :
    %y = cta.convert_layout %x : tensor<512xf32, #src> -> tensor<512xf32, #dst>
    // CHECK: cta.convert_layout {{.*}}cta.scratch_offset = 2048 :
    %z = cta.convert_layout %x : tensor<512xf32, #src> -> tensor<512xf32, #dst>
  }
  // CHECK: cta.convert_layout {{.*}}cta.scratch_offset = 0 :
  %w = cta.convert_layout %x : tensor<512xf32, #src> -> tensor<512xf32, #dst>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 256]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [0, 64], [0, 128]]} : [128, 256]>
#a = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#b = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]} : [64, 256]>
!slots = !cta.ring<!cta.buffer<[128, 64], f16, #a>, !cta.buffer<[64, 256], f16, #b>>

// Beside three slots of 48 KB a whole block of 64 KB has room.
// CHECK: sharedBytes = 214016
// CHECK-LABEL: func.func @store_whole
// CHECK: cta.ring {{.*}}cta.scratch_offset = 65536 {{.*}}stages = 3
// CHECK: cta.tma_store
// CHECK-NOT: cta.store_parts
module attributes {tile.kernel = #tile.kernel<warps = 8>} {
func.func @store_whole(%map: !cta.tensor_map, %x: tensor<128x256xf16, #acc>, %at: i32) {
  %r = cta.ring {stages = 3 : i32, consumers = 8 : i32} : !slots
  cta.tma_store %x, %map[%at, %at] dims [1, 0] staged #image : tensor<128x256xf16, #acc>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 256]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [0, 64], [0, 128]]} : [128, 256]>
#a = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#b = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]} : [64, 256]>
!slots = !cta.ring<!cta.buffer<[128, 64], f16, #a>, !cta.buffer<[64, 256], f16, #b>>

// Beside four it is staged in four parts, two at a time. A fifth slot would not
// fit even so.
// CHECK: sharedBytes = 230400
// CHECK-LABEL: func.func @store_in_parts
// CHECK: cta.ring {{.*}}cta.scratch_offset = 32768 {{.*}}stages = 4
// CHECK: cta.tma_store {{.*}}cta.scratch_offset = 0 {{.*}}cta.store_parts = 4
module attributes {tile.kernel = #tile.kernel<warps = 8>} {
func.func @store_in_parts(%map: !cta.tensor_map, %x: tensor<128x256xf16, #acc>, %at: i32) {
  %r = cta.ring {stages = 5 : i32, consumers = 8 : i32} : !slots
  cta.tma_store %x, %map[%at, %at] dims [1, 0] staged #image : tensor<128x256xf16, #acc>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 128]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [0, 64]]} : [128, 128]>
#a = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#b = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]} : [64, 256]>
!slots = !cta.ring<!cta.buffer<[128, 64], f16, #a>, !cta.buffer<[64, 256], f16, #b>>

// Two stores that always run together have an area of 32 KB each beside three slots: the
// second need not wait until the first has been copied. Four slots leave no room for that.
// CHECK: sharedBytes = 214016
// CHECK-LABEL: func.func @store_side_by_side
// CHECK: cta.ring {{.*}}cta.scratch_offset = 65536 {{.*}}stages = 3
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
// CHECK: cta.tma_store {{.*}} {cta.own_place, cta.scratch_offset = 32768 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 8>} {
func.func @store_side_by_side(%map: !cta.tensor_map, %x: tensor<128x128xf16, #acc>, %at: i32, %to: i32) {
  %r = cta.ring {stages = 3 : i32, consumers = 8 : i32} : !slots
  cta.tma_store %x, %map[%at, %at] dims [1, 0] staged #image : tensor<128x128xf16, #acc>
  cta.tma_store %x, %map[%to, %at] dims [1, 0] staged #image : tensor<128x128xf16, #acc>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 128]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [0, 64]]} : [128, 128]>
#a = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#b = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]} : [64, 256]>
!slots = !cta.ring<!cta.buffer<[128, 64], f16, #a>, !cta.buffer<[64, 256], f16, #b>>

// CHECK-LABEL: func.func @store_by_turns
// CHECK: cta.ring {{.*}}cta.scratch_offset = 32768 {{.*}}stages = 4
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 8>} {
func.func @store_by_turns(%map: !cta.tensor_map, %x: tensor<128x128xf16, #acc>, %at: i32, %to: i32) {
  %r = cta.ring {stages = 4 : i32, consumers = 8 : i32} : !slots
  cta.tma_store %x, %map[%at, %at] dims [1, 0] staged #image : tensor<128x128xf16, #acc>
  cta.tma_store %x, %map[%to, %at] dims [1, 0] staged #image : tensor<128x128xf16, #acc>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 128]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [0, 64]]} : [128, 128]>

// With one area of 32 KB seven programs have room on a multiprocessor, with two only three.
// CHECK: sharedBytes = 32768
// CHECK-LABEL: func.func @keep_programs
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 8>} {
func.func @keep_programs(%map: !cta.tensor_map, %x: tensor<128x128xf16, #acc>, %at: i32, %to: i32) {
  cta.tma_store %x, %map[%at, %at] dims [1, 0] staged #image : tensor<128x128xf16, #acc>
  cta.tma_store %x, %map[%to, %at] dims [1, 0] staged #image : tensor<128x128xf16, #acc>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]} : [128, 128]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [0, 64]]} : [128, 128]>

// But there are registers for two: 64 of each thread are the sum's.
// CHECK: sharedBytes = 65536
// CHECK-LABEL: func.func @few_programs
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
// CHECK: cta.tma_store {{.*}} {cta.own_place, cta.scratch_offset = 32768 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 8>} {
func.func @few_programs(%map: !cta.tensor_map, %x: tensor<128x128xf32, #acc>, %n: i32, %at: i32, %to: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<128x128xf32, #acc>) : i32 {
    %next = arith.addf %s, %s : tensor<128x128xf32, #acc>
    scf.yield %next : tensor<128x128xf32, #acc>
  }
  %y = arith.truncf %sum : tensor<128x128xf32, #acc> to tensor<128x128xf16, #acc>
  cta.tma_store %y, %map[%at, %at] dims [1, 0] staged #image : tensor<128x128xf16, #acc>
  cta.tma_store %y, %map[%to, %at] dims [1, 0] staged #image : tensor<128x128xf16, #acc>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#own = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Slots live until the loop that uses them ends: those of the next loop may lie
// in the same place, those of the same loop may not.
// CHECK: sharedBytes = 49152
// CHECK-LABEL: func.func @slots
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @slots(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: cta.slots {count = 3 : i32, cta.scratch_offset = 0 : i32}
  %x = cta.slots {count = 3 : i32} : !tile
  // CHECK: cta.slots {count = 3 : i32, cta.scratch_offset = 24576 : i32}
  %y = cta.slots {count = 3 : i32} : !tile
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = cta.slot %x[%c0] : !tile
    %b = cta.slot %y[%c0] : !tile
  }
  // CHECK: cta.slots {count = 2 : i32, cta.scratch_offset = 0 : i32}
  %z = cta.slots {count = 2 : i32} : !tile
  scf.for %i = %c0 to %n step %c1 : i32 {
    %c = cta.slot %z[%c0] : !tile
  }
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!slots = !cta.ring<!cta.buffer<[64, 64], f16, #image>>

// All that was in the slots has been read when the store begins: it is staged there, behind
// a barrier.
// CHECK: sharedBytes = 25600
// CHECK-LABEL: func.func @store_where_slots_were
// CHECK: cta.ring {{.*}}cta.scratch_offset = 0 {{.*}}stages = 3
// CHECK: cta.ring_release
// CHECK: cta.barrier
// CHECK-NEXT: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @store_where_slots_were(%map: !cta.tensor_map, %x: tensor<64x64xf16, #acc>, %at: i32) {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !slots
  %s = cta.ring_wait %r : !slots -> !cta.buffer<[64, 64], f16, #image>
  cta.ring_release %r : !slots
  cta.tma_store %x, %map[%at, %at] dims [1, 0] staged #image : tensor<64x64xf16, #acc>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!slots = !cta.ring<!cta.buffer<[64, 64], f16, #image>>

#small = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32]]} : [8, 64]>
!few = !cta.ring<!cta.buffer<[8, 64], f16, #small>>

// The barriers of slots lie behind everything: none of what is stored is ever where they are,
// however small the first ring is.
// CHECK: sharedBytes = 28672
// CHECK-LABEL: func.func @store_where_no_barriers_were
// CHECK: cta.ring {{.*}}cta.scratch_offset = 0 {{.*}}stages = 3
// CHECK: cta.ring {{.*}}cta.scratch_offset = 3072 {{.*}}stages = 3
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @store_where_no_barriers_were(%map: !cta.tensor_map, %x: tensor<64x64xf16, #acc>, %at: i32) {
  %few = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !few
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !slots
  %s = cta.ring_wait %few : !few -> !cta.buffer<[8, 64], f16, #small>
  cta.ring_release %few : !few
  %t = cta.ring_wait %r : !slots -> !cta.buffer<[64, 64], f16, #image>
  cta.ring_release %r : !slots
  cta.tma_store %x, %map[%at, %at] dims [1, 0] staged #image : tensor<64x64xf16, #acc>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!slots = !cta.ring<!cta.buffer<[64, 64], f16, #image>>

// Not in a loop that fills them again.
// CHECK-LABEL: func.func @store_beside_slots
// CHECK: cta.ring {{.*}}cta.scratch_offset = 8192 {{.*}}stages = 3
// CHECK-NOT: cta.barrier
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @store_beside_slots(%map: !cta.tensor_map, %x: tensor<64x64xf16, #acc>, %at: i32, %n: i32) {
  %one = arith.constant 1 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !slots
  scf.for %i = %at to %n step %one : i32 {
    %s = cta.ring_wait %r : !slots -> !cta.buffer<[64, 64], f16, #image>
    cta.ring_release %r : !slots
    cta.tma_store %x, %map[%at, %i] dims [1, 0] staged #image : tensor<64x64xf16, #acc>
  }
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Slots that threads fill are free behind their loop, too.
// CHECK: sharedBytes = 16384
// CHECK-LABEL: func.func @store_where_threads_copied
// CHECK: cta.slots {count = 2 : i32, cta.scratch_offset = 0 : i32}
// CHECK: scf.for
// CHECK: }
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.tma_store {{.*}} {cta.scratch_offset = 0 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @store_where_threads_copied(%map: !cta.tensor_map, %x: tensor<64x64xf16, #acc>, %at: i32, %n: i32) {
  %one = arith.constant 1 : i32
  %s = cta.slots {count = 2 : i32} : !tile
  scf.for %i = %at to %n step %one : i32 {
    %a = cta.slot %s[%i] : !tile
  }
  cta.tma_store %x, %map[%at, %at] dims [1, 0] staged #image : tensor<64x64xf16, #acc>
  return
}
}

// -----

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// But not what a turn stores: the next one's copies are under way.
// CHECK: sharedBytes = 24576
// CHECK-LABEL: func.func @store_beside_copies
// CHECK: cta.slots {count = 2 : i32, cta.scratch_offset = 0 : i32}
// CHECK-NOT: cta.barrier
// CHECK: cta.tma_store {{.*}} {cta.scratch_offset = 16384 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @store_beside_copies(%map: !cta.tensor_map, %x: tensor<64x64xf16, #acc>, %at: i32, %n: i32) {
  %one = arith.constant 1 : i32
  %s = cta.slots {count = 2 : i32} : !tile
  scf.for %i = %at to %n step %one : i32 {
    %a = cta.slot %s[%i] : !tile
    cta.tma_store %x, %map[%at, %i] dims [1, 0] staged #image : tensor<64x64xf16, #acc>
  }
  return
}
}

// -----

#row = #cta.layout<{offset = [[1], [2], [4], [8], [16], [32], [64]]} : [128]>
#few = #cta.layout<{offset = [[1], [2]]} : [4]>

// Slots that are smaller than the period of a swizzle follow each other closely: three of 256 bytes, and three
// of 8, which copies of 16 bytes may go to.
// CHECK: sharedBytes = 816
// CHECK-LABEL: func.func @small_slots
// CHECK: cta.slots {count = 3 : i32, cta.scratch_offset = 0 : i32}
// CHECK: cta.slots {count = 3 : i32, cta.scratch_offset = 768 : i32}
module attributes {tile.kernel = #tile.kernel<warps = 1>} {
func.func @small_slots(%at: i32, %n: i32) {
  %one = arith.constant 1 : i32
  %s = cta.slots {count = 3 : i32} : !cta.buffer<[128], f16, #row>
  %t = cta.slots {count = 3 : i32} : !cta.buffer<[4], f16, #few>
  scf.for %i = %at to %n step %one : i32 {
    %a = cta.slot %s[%i] : !cta.buffer<[128], f16, #row>
    %b = cta.slot %t[%i] : !cta.buffer<[4], f16, #few>
  }
  return
}
}

// -----

#src = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#dst = #cta.layout<{register = [[128], [256]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [512]>

// In a loop over programs a barrier more is little beside a program: large buffers of one share their place. Those of a loop in
// it lie side by side as ever.
// CHECK: sharedBytes = 4096
// CHECK-LABEL: func.func @programs
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @programs(%x: tensor<512xf32, #src>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %p = %c0 to %n step %c1 : i32 {
    // CHECK: cta.convert_layout {{.*}}cta.scratch_offset = 0 :
    %y = cta.convert_layout %x : tensor<512xf32, #src> -> tensor<512xf32, #dst>
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK: cta.convert_layout {{.*}}cta.scratch_offset = 0 :
      %v = cta.convert_layout %x : tensor<512xf32, #src> -> tensor<512xf32, #dst>
      // CHECK: cta.convert_layout {{.*}}cta.scratch_offset = 2048 :
      %w = cta.convert_layout %x : tensor<512xf32, #src> -> tensor<512xf32, #dst>
    }
    // CHECK: cta.convert_layout {{.*}}cta.scratch_offset = 0 :
    %z = cta.convert_layout %x : tensor<512xf32, #src> -> tensor<512xf32, #dst>
  } {cta.programs}
  return
}
}
