// What is stored and loaded of one argument's memory is in order, whichever threads do it.
// RUN: tile-opt %s --tile-insert-barriers | FileCheck %s

#rows = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [128]>
#copies = #cta.layout<{register = [[32], [64]], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [128]>
#turned = #cta.layout<{register = [], lane = [[4], [8], [16], [32], [64]], warp = [[1], [2]]} : [128]>
!buffer = !cta.buffer<[128], f32, #cta.layout<{offset = [[1], [2], [4], [8], [16], [32], [64]]} : [128]>>

module attributes {tile.kernel = #tile.kernel<>} {

// CHECK-LABEL: func.func @by_other_threads
func.func @by_other_threads(%p: !tile.ptr<f32>, %v: tensor<128xf32, #rows>) -> tensor<128xf32, #copies> {
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %j = tile.make_range 0 to 128 : tensor<128xi32, #copies>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %b = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #copies>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %y = tile.addptr %b, %j : tensor<128x!tile.ptr<f32>, #copies>, tensor<128xi32, #copies>
  // CHECK: tile.store
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.load
  tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  %w = tile.load %y : tensor<128x!tile.ptr<f32>, #copies>
  return %w : tensor<128xf32, #copies>
}

// CHECK-LABEL: func.func @by_the_same_threads
func.func @by_the_same_threads(%p: !tile.ptr<f32>, %v: tensor<128xf32, #rows>) -> tensor<128xf32, #rows> {
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  // CHECK-NOT: cta.barrier
  // CHECK: return
  tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  %w = tile.load %x : tensor<128x!tile.ptr<f32>, #rows>
  return %w : tensor<128xf32, #rows>
}

// Partners are others' elements: each has loaded its own before another stores to it. A constant
// distance is nothing that this orders.
// CHECK-LABEL: func.func @partners
func.func @partners(%p: !tile.ptr<f32>, %bit: tensor<128xi32, #rows>) {
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %other = arith.xori %i, %bit : tensor<128xi32, #rows>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %y = tile.addptr %a, %other : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  // CHECK: tile.load
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NOT: cta.barrier
  // CHECK: return
  %v = tile.load %y : tensor<128x!tile.ptr<f32>, #rows>
  tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  %end = arith.constant dense<128> : tensor<128xi32, #rows>
  %later = tile.addptr %x, %end : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %w = tile.load %later : tensor<128x!tile.ptr<f32>, #rows>
  tile.store %x, %w : tensor<128x!tile.ptr<f32>, #rows>
  return
}

// So are copies that threads start: who copies an element need not have stored it.
// CHECK-LABEL: func.func @copied_by_other_threads
func.func @copied_by_other_threads(%p: !tile.ptr<f32>, %v: tensor<128xf32, #rows>) {
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %j = tile.make_range 0 to 128 : tensor<128xi32, #turned>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %b = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #turned>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %y = tile.addptr %b, %j : tensor<128x!tile.ptr<f32>, #turned>, tensor<128xi32, #turned>
  %slots = cta.slots {cta.scratch_offset = 0 : i32, count = 1 : i32} : !buffer
  %zero = arith.constant 0 : i32
  %slot = cta.slot %slots[%zero] : !buffer
  // CHECK: tile.store
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: cta.async_copy
  tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  cta.async_copy %y to %slot vector 1 : tensor<128x!tile.ptr<f32>, #turned>, !buffer
  cta.async_commit
  // CHECK: cta.async_copy
  // CHECK-NOT: cta.barrier
  // CHECK: cta.async_wait
  // CHECK-NOT: cta.barrier
  // CHECK: tile.store
  cta.async_copy %y to %slot vector 1 : tensor<128x!tile.ptr<f32>, #turned>, !buffer
  cta.async_commit
  cta.async_wait 0
  tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  return
}

// The slower warps have not read what the first one counts on.
// CHECK-LABEL: func.func @a_number
func.func @a_number(%p: !tile.ptr<i32>, %one: i32) -> i32 {
  // CHECK: tile.load
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.store
  %n = tile.load %p : !tile.ptr<i32>
  %m = arith.addi %n, %one : i32
  tile.store %p, %m : !tile.ptr<i32>
  return %n : i32
}

// The next turn loads what this one stores.
// CHECK-LABEL: func.func @around_a_loop
func.func @around_a_loop(%p: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %j = tile.make_range 0 to 128 : tensor<128xi32, #copies>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %b = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #copies>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %y = tile.addptr %b, %j : tensor<128x!tile.ptr<f32>, #copies>, tensor<128xi32, #copies>
  // CHECK: scf.for
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.load
  // CHECK: cta.convert_layout
  // CHECK: tile.store
  scf.for %k = %zero to %n step %one : i32 {
    %w = tile.load %y : tensor<128x!tile.ptr<f32>, #copies>
    %v = cta.convert_layout %w {cta.scratch_offset = 0 : i32} : tensor<128xf32, #copies> -> tensor<128xf32, #rows>
    tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  }
  return
}

// A loop hands the place on: a turn loads what the one before has stored.
// CHECK-LABEL: func.func @handed_on
func.func @handed_on(%p: !tile.ptr<i32>, %n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.for
  // CHECK-NEXT: tile.addptr
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.addptr
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: scf.yield
  %last = scf.for %k = %zero to %n step %one iter_args(%at = %zero) -> i32 : i32 {
    %x = tile.addptr %p, %at : !tile.ptr<i32>, i32
    %next = tile.load %x : !tile.ptr<i32>
    %y = tile.addptr %p, %next : !tile.ptr<i32>, i32
    tile.store %y, %k : !tile.ptr<i32>
    scf.yield %next : i32
  }
  // CHECK: tile.addptr
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.load
  %z = tile.addptr %p, %last : !tile.ptr<i32>, i32
  %v = tile.load %z : !tile.ptr<i32>
  return %v : i32
}

// CHECK-LABEL: func.func @handed_on_while
func.func @handed_on_while(%p: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %last = scf.while (%at = %zero) : (i32) -> i32 {
    %more = arith.cmpi slt, %at, %n : i32
    scf.condition(%more) %at : i32
  } do {
  // CHECK: ^bb0
  // CHECK-NEXT: tile.addptr
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.load
  ^bb0(%at: i32):
    %x = tile.addptr %p, %at : !tile.ptr<i32>, i32
    %next = tile.load %x : !tile.ptr<i32>
    %y = tile.addptr %p, %next : !tile.ptr<i32>, i32
    tile.store %y, %n : !tile.ptr<i32>
    scf.yield %next : i32
  }
  return
}

// The place that is stored to is the next turn's.
// CHECK-LABEL: func.func @next_count
func.func @next_count(%p: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.for
  // CHECK-NEXT: tile.addptr
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.load
  scf.for %k = %zero to %n step %one : i32 {
    %x = tile.addptr %p, %k : !tile.ptr<i32>, i32
    %v = tile.load %x : !tile.ptr<i32>
    %next = arith.addi %k, %one : i32
    %y = tile.addptr %p, %next : !tile.ptr<i32>, i32
    tile.store %y, %v : !tile.ptr<i32>
  }
  return
}

// Another argument is other memory, or all of it is read before it is written: a turn may load what
// was there before the last one.
// CHECK-LABEL: func.func @other_argument
// CHECK: scf.for
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
func.func @other_argument(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %k = %zero to %n step %one : i32 {
    %x = tile.addptr %p, %k : !tile.ptr<i32>, i32
    %v = tile.load %x : !tile.ptr<i32>
    %next = arith.addi %k, %one : i32
    %y = tile.addptr %q, %next : !tile.ptr<i32>, i32
    tile.store %y, %v : !tile.ptr<i32>
  }
  return
}

// Both arguments may be one array that is worked on in place: what several threads load, one of them
// stores.
// CHECK-LABEL: func.func @in_place_by_two_arguments
func.func @in_place_by_two_arguments(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %j = tile.make_range 0 to 128 : tensor<128xi32, #copies>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #copies>
  %b = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #copies>
  %x = tile.addptr %a, %j : tensor<128x!tile.ptr<f32>, #copies>, tensor<128xi32, #copies>
  %y = tile.addptr %b, %j : tensor<128x!tile.ptr<f32>, #copies>, tensor<128xi32, #copies>
  // CHECK: tile.load
  // CHECK-NEXT: arith.negf
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.store
  %w = tile.load %x : tensor<128x!tile.ptr<f32>, #copies>
  %v = arith.negf %w : tensor<128xf32, #copies>
  tile.store %y, %v : tensor<128x!tile.ptr<f32>, #copies>
  return
}

// CHECK-LABEL: func.func @a_number_in_place_by_two_arguments
func.func @a_number_in_place_by_two_arguments(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %one: i32) -> i32 {
  // CHECK: tile.load
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.store
  %n = tile.load %p : !tile.ptr<i32>
  %m = arith.addi %n, %one : i32
  tile.store %q, %m : !tile.ptr<i32>
  return %n : i32
}

// Each thread stores what it alone has loaded.
// CHECK-LABEL: func.func @in_place_by_the_same_threads
// CHECK-NOT: cta.barrier
// CHECK: return
func.func @in_place_by_the_same_threads(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %b = tile.splat %q : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %y = tile.addptr %b, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %w = tile.load %x : tensor<128x!tile.ptr<f32>, #rows>
  tile.store %y, %w : tensor<128x!tile.ptr<f32>, #rows>
  return
}

// Numbers of 32 bits are not worked on in place where those of 16 are.
// CHECK-LABEL: func.func @other_widths
// CHECK-NOT: cta.barrier
// CHECK: return
func.func @other_widths(%p: !tile.ptr<i32>, %q: !tile.ptr<i16>, %m: i16) -> i32 {
  %n = tile.load %p : !tile.ptr<i32>
  tile.store %q, %m : !tile.ptr<i16>
  return %n : i32
}

// What is loaded behind a store through another argument may be what was there before.
// CHECK-LABEL: func.func @read_behind
// CHECK-NOT: cta.barrier
// CHECK: return
func.func @read_behind(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %m: i32) -> i32 {
  tile.store %q, %m : !tile.ptr<i32>
  %n = tile.load %p : !tile.ptr<i32>
  return %n : i32
}

}
