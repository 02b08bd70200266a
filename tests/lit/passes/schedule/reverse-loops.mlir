// Sweeps over rows that an earlier loop has gone over.
// RUN: tile-opt %s --tile-reverse-loops | FileCheck %s

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// What the last turn of the first loop has read is read first.
// CHECK-LABEL: func.func @backward
// CHECK-SAME: %[[X:.*]]: !tile.ptr<f32>, %{{.*}}, %{{.*}}, %[[N:.*]]: i32, %{{.*}})
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[STEP:.*]] = arith.constant 64 : i32
// CHECK: scf.for %[[C:.*]] = %{{.*}} to %[[N]] step %[[STEP]]
// CHECK-NEXT: tile.splat %[[C]]
// CHECK: %[[MOST:.*]] = arith.subi %[[N]], %{{.*}} : i32
// CHECK: %[[TURNS:.*]] = arith.divui %[[MOST]], %[[STEP]]
// CHECK: %[[LAST:.*]] = arith.muli %[[TURNS]], %[[STEP]]
// CHECK: scf.for %[[C:.*]] = %{{.*}} to %[[N]] step %[[STEP]]
// CHECK-NEXT: %[[BACK:.*]] = arith.subi %[[LAST]], %[[C]]
// CHECK: %[[THERE:.*]] = arith.cmpi sge, %[[BACK]], %{{.*}} : i32
// CHECK-NEXT: tile.assume %[[THERE]]
// CHECK-NEXT: tile.splat %[[BACK]]
func.func @backward(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// What is written is in the caches, too; the third goes the other way again.
// CHECK-LABEL: func.func @three_sweeps
// CHECK: scf.for %[[C:.*]] =
// CHECK-NEXT: tile.splat %[[C]]
// CHECK: scf.for %[[C:.*]] =
// CHECK-NEXT: arith.subi
// CHECK: scf.for %[[C:.*]] =
// CHECK-NEXT: tile.splat %[[C]]
func.func @three_sweeps(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// Each turn writes what it alone reads.
// CHECK-LABEL: func.func @in_place
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: arith.subi
func.func @in_place(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// Another argument may be the same array: each element would be read behind the turn that writes it.
// CHECK-LABEL: func.func @moved_down
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @moved_down(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %by = arith.constant dense<64> : tensor<64xi32>
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %further = arith.addi %i, %by : tensor<64xi32>
    %p = tile.addptr %xs, %further : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// Not where each program would find its elements elsewhere: others would have written them.
// CHECK-LABEL: func.func @rows_elsewhere
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: arith.subi
func.func @rows_elsewhere(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %pid = tile.program_id 0 : i32
  %row = arith.muli %pid, %stride : i32
  %by = tile.splat %row : i32 -> tensor<64xi32>
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %further = arith.addi %i, %by : tensor<64xi32>
    %p = tile.addptr %xs, %further : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// The counter is the number of the turn.
// CHECK-LABEL: func.func @counted
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: arith.subi
func.func @counted(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %c = arith.muli %k, %step : i32
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %k = %c0 to %n step %c1 : i32 {
    %c = arith.muli %k, %step : i32
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// Each row ends where the next one starts: the mask says so.
// CHECK-LABEL: func.func @rows_end
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: arith.subi
func.func @rows_end(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %two = tile.make_range 0 to 2 : tensor<2xi32>
  %l = tile.splat %n : i32 -> tensor<2xi32>
  %at = arith.muli %two, %l : tensor<2xi32>
  %col = tile.expand_dims %at {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %rows = tile.broadcast %col : tensor<2x1xi32> -> tensor<2x64xi32>
  %nn = tile.splat %n : i32 -> tensor<1x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %j = arith.addi %s, %r : tensor<64xi32>
    %e = tile.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %f = arith.cmpi slt, %e, %nn : tensor<1x64xi32>
    %m = tile.broadcast %f : tensor<1x64xi1> -> tensor<2x64xi1>
    %w = tile.broadcast %e : tensor<1x64xi32> -> tensor<2x64xi32>
    %i = arith.addi %rows, %w : tensor<2x64xi32>
    %p = tile.addptr %xs, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %q = tile.addptr %ts, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %v = tile.load %p, %m : tensor<2x64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<2x64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %j = arith.addi %s, %r : tensor<64xi32>
    %e = tile.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %f = arith.cmpi slt, %e, %nn : tensor<1x64xi32>
    %m = tile.broadcast %f : tensor<1x64xi1> -> tensor<2x64xi1>
    %w = tile.broadcast %e : tensor<1x64xi32> -> tensor<2x64xi32>
    %i = arith.addi %rows, %w : tensor<2x64xi32>
    %p = tile.addptr %xs, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %q = tile.addptr %os, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %v = tile.load %p, %m : tensor<2x64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<2x64x!tile.ptr<f32>>
  }
  return
}

// Rows of 256 elements, gone over in four turns: the numbers say so.
// CHECK-LABEL: func.func @rows_by_numbers
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: arith.subi
func.func @rows_by_numbers(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %two = tile.make_range 0 to 2 : tensor<2xi32>
  %length = arith.constant 256 : i32
  %l = tile.splat %length : i32 -> tensor<2xi32>
  %at = arith.muli %two, %l : tensor<2xi32>
  %col = tile.expand_dims %at {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %rows = tile.broadcast %col : tensor<2x1xi32> -> tensor<2x64xi32>
  %nn = tile.splat %n : i32 -> tensor<1x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  scf.for %c = %c0 to %length step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %j = arith.addi %s, %r : tensor<64xi32>
    %e = tile.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %f = arith.cmpi slt, %e, %nn : tensor<1x64xi32>
    %m = tile.broadcast %f : tensor<1x64xi1> -> tensor<2x64xi1>
    %w = tile.broadcast %e : tensor<1x64xi32> -> tensor<2x64xi32>
    %i = arith.addi %rows, %w : tensor<2x64xi32>
    %p = tile.addptr %xs, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %q = tile.addptr %ts, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %v = tile.load %p : tensor<2x64x!tile.ptr<f32>>
    tile.store %q, %v : tensor<2x64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %length step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %j = arith.addi %s, %r : tensor<64xi32>
    %e = tile.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %f = arith.cmpi slt, %e, %nn : tensor<1x64xi32>
    %m = tile.broadcast %f : tensor<1x64xi1> -> tensor<2x64xi1>
    %w = tile.broadcast %e : tensor<1x64xi32> -> tensor<2x64xi32>
    %i = arith.addi %rows, %w : tensor<2x64xi32>
    %p = tile.addptr %xs, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %q = tile.addptr %os, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %v = tile.load %p : tensor<2x64x!tile.ptr<f32>>
    tile.store %q, %v : tensor<2x64x!tile.ptr<f32>>
  }
  return
}

// Rows may meet: what one turn writes another may write again.
// CHECK-LABEL: func.func @rows_of_any_stride
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @rows_of_any_stride(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %two = tile.make_range 0 to 2 : tensor<2xi32>
  %l = tile.splat %stride : i32 -> tensor<2xi32>
  %at = arith.muli %two, %l : tensor<2xi32>
  %col = tile.expand_dims %at {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %rows = tile.broadcast %col : tensor<2x1xi32> -> tensor<2x64xi32>
  %nn = tile.splat %n : i32 -> tensor<1x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %j = arith.addi %s, %r : tensor<64xi32>
    %e = tile.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %f = arith.cmpi slt, %e, %nn : tensor<1x64xi32>
    %m = tile.broadcast %f : tensor<1x64xi1> -> tensor<2x64xi1>
    %w = tile.broadcast %e : tensor<1x64xi32> -> tensor<2x64xi32>
    %i = arith.addi %rows, %w : tensor<2x64xi32>
    %p = tile.addptr %xs, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %q = tile.addptr %ts, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %v = tile.load %p, %m : tensor<2x64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<2x64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %j = arith.addi %s, %r : tensor<64xi32>
    %e = tile.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %f = arith.cmpi slt, %e, %nn : tensor<1x64xi32>
    %m = tile.broadcast %f : tensor<1x64xi1> -> tensor<2x64xi1>
    %w = tile.broadcast %e : tensor<1x64xi32> -> tensor<2x64xi32>
    %i = arith.addi %rows, %w : tensor<2x64xi32>
    %p = tile.addptr %xs, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %q = tile.addptr %os, %i : tensor<2x64x!tile.ptr<f32>>, tensor<2x64xi32>
    %v = tile.load %p, %m : tensor<2x64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<2x64x!tile.ptr<f32>>
  }
  return
}

// Nothing of the second sweep was there before.
// CHECK-LABEL: func.func @other_rows
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @other_rows(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// The second starts elsewhere.
// CHECK-LABEL: func.func @other_turns
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @other_turns(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c1 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// A turn writes what the next one reads.
// CHECK-LABEL: func.func @shifted
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @shifted(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %one = tile.splat %c1 : i32 -> tensor<64xi32>
    %next = arith.addi %i, %one : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %xs, %next : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// Half of what a turn writes the next one writes again.
// CHECK-LABEL: func.func @overlapping
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @overlapping(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %half = arith.constant 32 : i32
  scf.for %c = %c0 to %n step %half : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %half : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// The last turn decides.
// CHECK-LABEL: func.func @one_place
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @one_place(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %os, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// Others may see the order.
// CHECK-LABEL: func.func @atomic
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @atomic(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %os, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    %old = tile.atomic_rmw fadd relaxed gpu %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// Where it leads nobody knows.
// CHECK-LABEL: func.func @pointer_from_memory
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @pointer_from_memory(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %where: !tile.ptr<i64>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %w = tile.load %where : !tile.ptr<i64>
  %y = tile.int_to_ptr %w : i64 -> !tile.ptr<f32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ys, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  return
}

// Sums are rounded in their order.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: arith.subi
// CHECK: return
func.func @carried(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>, %t: !tile.ptr<f32>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %nn = tile.splat %n : i32 -> tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  scf.for %c = %c0 to %n step %step : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %q = tile.addptr %ts, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p, %m : tensor<64x!tile.ptr<f32>>
    tile.store %q, %v, %m : tensor<64x!tile.ptr<f32>>
  }
  %sum = scf.for %c = %c0 to %n step %step iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %s = tile.splat %c : i32 -> tensor<64xi32>
    %i = arith.addi %s, %r : tensor<64xi32>
    %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p : tensor<64x!tile.ptr<f32>>
    %b = arith.addf %acc, %v : tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  tile.store %os, %sum : tensor<64x!tile.ptr<f32>>
  return
}
}
