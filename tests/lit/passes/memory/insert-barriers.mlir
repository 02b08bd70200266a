// A barrier exactly where two uses of overlapping scratch memory meet.
// RUN: tile-opt %s --tile-insert-barriers | FileCheck %s

#a = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#b = #cta.layout<{register = [[128], [256]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [512]>

// CHECK-LABEL: func.func @shared_buffer
func.func @shared_buffer(%x: tensor<512xf32, #a>) -> tensor<512xf32, #a> {
  // CHECK-NEXT: cta.convert_layout
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: cta.convert_layout
  %0 = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<512xf32, #a> -> tensor<512xf32, #b>
  %1 = cta.convert_layout %0 {cta.scratch_offset = 0 : i32} : tensor<512xf32, #b> -> tensor<512xf32, #a>
  return %1 : tensor<512xf32, #a>
}

// CHECK-LABEL: func.func @separate_buffers
func.func @separate_buffers(%x: tensor<512xf32, #a>) -> tensor<512xf32, #a> {
  // CHECK-NOT: cta.barrier
  // CHECK: return
  %0 = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<512xf32, #a> -> tensor<512xf32, #b>
  %1 = cta.convert_layout %0 {cta.scratch_offset = 2048 : i32} : tensor<512xf32, #b> -> tensor<512xf32, #a>
  return %1 : tensor<512xf32, #a>
}

// The next iteration writes what slower warps of this one may still read.
// CHECK-LABEL: func.func @around_a_loop
func.func @around_a_loop(%x: tensor<512xf32, #a>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.for
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK-NEXT: cta.barrier
    // CHECK-NEXT: cta.convert_layout
    %0 = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<512xf32, #a> -> tensor<512xf32, #b>
  }
  return
}

// Two buffers in one loop separate each other: each op's own barrier stands
// between the other's read and its next write.
// CHECK-LABEL: func.func @alternating_in_a_loop
func.func @alternating_in_a_loop(%x: tensor<512xf32, #a>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.for
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK-NOT: cta.barrier
    // CHECK: return
    %0 = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<512xf32, #a> -> tensor<512xf32, #b>
    %1 = cta.convert_layout %0 {cta.scratch_offset = 2048 : i32} : tensor<512xf32, #b> -> tensor<512xf32, #a>
  }
  return
}

// Pending on one path only is pending.
// CHECK-LABEL: func.func @after_a_branch
func.func @after_a_branch(%x: tensor<512xf32, #a>, %c: i1) {
  scf.if %c {
    %0 = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<512xf32, #a> -> tensor<512xf32, #b>
  }
  // CHECK: {{^    }$}}
  // CHECK-NEXT: cta.barrier
  %1 = cta.convert_layout %x {cta.scratch_offset = 1024 : i32} : tensor<512xf32, #a> -> tensor<512xf32, #b>
  return
}

// The author's own barrier counts.
// CHECK-LABEL: func.func @explicit_barrier
func.func @explicit_barrier(%x: tensor<512xf32, #a>) {
  // CHECK: tile.barrier
  // CHECK-NOT: cta.barrier
  // CHECK: return
  %0 = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<512xf32, #a> -> tensor<512xf32, #b>
  tile.barrier
  %1 = cta.convert_layout %x {cta.scratch_offset = 0 : i32} : tensor<512xf32, #a> -> tensor<512xf32, #b>
  return
}

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#own = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Slots that have been read are filled again behind a barrier only. Within
// their loop the wait for copies is one.
// CHECK-LABEL: func.func @slots_again
// CHECK: scf.for
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.slots
// CHECK: scf.for
// CHECK-NEXT: cta.async_wait
// CHECK-NOT: cta.barrier
// CHECK: return
func.func @slots_again(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %j = %c0 to %n step %c1 : i32 {
    %x = cta.slots {count = 2 : i32, cta.scratch_offset = 0 : i32} : !tile
    scf.for %i = %c0 to %n step %c1 : i32 {
      cta.async_wait 0
      %a = cta.slot %x[%c0] : !tile
      %v = cta.read %a : !tile -> tensor<64x64xf16, #own>
    }
  }
  return
}

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 16], [16, 0]]} : [32, 32]>
#left = #cta.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [16, 0]]} : [32, 16]>
#right = #cta.layout<{register = [[1, 0], [8, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 16], [0, 0]]} : [16, 32]>
#loaded = #cta.layout<{register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]} : [16, 32]>
#stored = #cta.layout<{register = [[0, 1], [0, 2], [16, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]} : [32, 32]>
#leftImage = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [4, 8], [8, 0], [16, 0]]} : [32, 16]>
!left = !cta.buffer<[32, 16], f16, #leftImage>

// A product takes its operand from the slot when it is computed, not where the
// operand is said to be read: the conversion's barrier between the two orders nothing.
// CHECK-LABEL: func.func @read_by_the_product
// CHECK: tile.dot
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: cta.convert_layout
func.func @read_by_the_product(%y: tensor<16x32xf16, #loaded>, %acc: tensor<32x32xf32, #acc>) -> tensor<32x32xf32, #stored> {
  %c0 = arith.constant 0 : i32
  %x = cta.slots {count = 2 : i32, cta.scratch_offset = 4096 : i32} : !left
  cta.async_wait 0
  %a = cta.slot %x[%c0] : !left
  %v = cta.read %a : !left -> tensor<32x16xf16, #left>
  %w = cta.convert_layout %y {cta.scratch_offset = 0 : i32} : tensor<16x32xf16, #loaded> -> tensor<16x32xf16, #right>
  %z = tile.dot %v, %w, %acc : tensor<32x16xf16, #left> * tensor<16x32xf16, #right> -> tensor<32x32xf32, #acc>
  %s = cta.convert_layout %z {cta.scratch_offset = 4096 : i32} : tensor<32x32xf32, #acc> -> tensor<32x32xf32, #stored>
  return %s : tensor<32x32xf32, #stored>
}
