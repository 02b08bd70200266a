// Each part is a module with one kernel, as the compiler has them.
// RUN: tile-opt %s --split-input-file --tile-longest-first | FileCheck %s

// More keys for later queries.
// CHECK: module attributes {cta.from_end = array<i32: 0>
// CHECK-LABEL: func.func @up_to_a_diagonal
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @up_to_a_diagonal(%p: !tile.ptr<f32>, %n: i32) {
  %x = tile.program_id 0 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %next = arith.addi %x, %c1 : i32
  %rows = arith.muli %next, %c64 : i32
  %end = arith.minsi %rows, %n : i32
  scf.for %i = %c0 to %end step %c1 : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %v = tile.load %q : !tile.ptr<f32>
    tile.store %q, %v : !tile.ptr<f32>
  }
  return
}
}

// -----
// A window: it grows until it is full. Along the other axis, parts in reverse order: the longest
// are first already.
// CHECK: module attributes {cta.from_end = array<i32: 1>
// CHECK-LABEL: func.func @window
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @window(%p: !tile.ptr<f32>, %n: i32) {
  %y = tile.program_id 1 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c256 = arith.constant 256 : i32
  %row = arith.muli %y, %c64 : i32
  %far = arith.subi %row, %c256 : i32
  %first = arith.maxsi %far, %c0 : i32
  %end = arith.addi %row, %c64 : i32
  scf.for %i = %first to %end step %c1 : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %v = tile.load %q : !tile.ptr<f32>
    tile.store %q, %v : !tile.ptr<f32>
  }
  return
}
}

// -----
// All programs are as long: from the start of a part to its end.
// CHECK-NOT: cta.from_end
// CHECK-LABEL: func.func @parts
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @parts(%p: !tile.ptr<f32>, %n: i32) {
  %x = tile.program_id 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %row = arith.muli %x, %c64 : i32
  %end = arith.addi %row, %c64 : i32
  scf.for %i = %row to %end step %c1 : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %v = tile.load %q : !tile.ptr<f32>
    tile.store %q, %v : !tile.ptr<f32>
  }
  return
}
}

// -----
// Later programs have less to do.
// CHECK-NOT: cta.from_end
// CHECK-LABEL: func.func @from_a_diagonal
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @from_a_diagonal(%p: !tile.ptr<f32>, %n: i32) {
  %x = tile.program_id 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %row = arith.muli %x, %c64 : i32
  scf.for %i = %row to %n step %c1 : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %v = tile.load %q : !tile.ptr<f32>
    tile.store %q, %v : !tile.ptr<f32>
  }
  return
}
}

// -----
// One loop gets longer and one shorter: as much is to be done in each program.
// CHECK-NOT: cta.from_end
// CHECK-LABEL: func.func @both_ways
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @both_ways(%p: !tile.ptr<f32>, %n: i32) {
  %x = tile.program_id 0 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %x to %n step %c1 : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %v = tile.load %q : !tile.ptr<f32>
    tile.store %q, %v : !tile.ptr<f32>
  }
  scf.for %i = %c0 to %x step %c1 : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %v = tile.load %q : !tile.ptr<f32>
    tile.store %q, %v : !tile.ptr<f32>
  }
  return
}
}

// -----
// A program that waits for those before it must not be started before them.
// CHECK-NOT: cta.from_end
// CHECK-LABEL: func.func @waits
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @waits(%p: !tile.ptr<f32>, %flag: !tile.ptr<i32>) {
  %x = tile.program_id 0 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.while : () -> () {
    %f = tile.load %flag : !tile.ptr<i32>
    %before = arith.cmpi slt, %f, %x : i32
    scf.condition(%before)
  } do {
    scf.yield
  }
  scf.for %i = %c0 to %x step %c1 : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %v = tile.load %q : !tile.ptr<f32>
    tile.store %q, %v : !tile.ptr<f32>
  }
  return
}
}

// -----
// Nor one that takes a number from a counter.
// CHECK-NOT: cta.from_end
// CHECK-LABEL: func.func @counts
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @counts(%p: !tile.ptr<f32>, %counter: !tile.ptr<i32>) {
  %x = tile.program_id 0 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %turn = tile.atomic_rmw add relaxed gpu %counter, %c1 : !tile.ptr<i32>
  %end = arith.addi %x, %turn : i32
  scf.for %i = %c0 to %end step %c1 : i32 {
    %q = tile.addptr %p, %i : !tile.ptr<f32>, i32
    %v = tile.load %q : !tile.ptr<f32>
    tile.store %q, %v : !tile.ptr<f32>
  }
  return
}
}
