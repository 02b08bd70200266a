// RUN: tile-opt %s --tile-unroll-loops 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY --input-file %t
// WHY: remark: the loop is not unrolled: so many of its steps are more than its counter can be
// WHY-NOT: remark

// The end is not before the start; a second loop takes what is left over.
// CHECK-LABEL: func.func @dynamic
// CHECK: arith.maxsi %arg0, %arg1
// CHECK: scf.for
// CHECK-COUNT-4: arith.mulf
// CHECK-NOT: tile.loop_unroll_factor
// CHECK: scf.for
// CHECK-COUNT-1: arith.mulf
// CHECK: tile.num_stages = 1
func.func @dynamic(%start: i32, %stop: i32, %x: f32) -> f32 {
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %start to %stop step %c1 iter_args(%a = %x) -> f32 : i32 {
    %s = arith.mulf %a, %x : f32
    scf.yield %s : f32
  } {tile.loop_unroll_factor = 4 : i32}
  return %r : f32
}

// Nothing is left over of a length that the factor divides.
// CHECK-LABEL: func.func @known
// CHECK: scf.for
// CHECK-COUNT-2: arith.mulf
// CHECK-NOT: scf.for
// CHECK: return
func.func @known(%x: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> f32 : i32 {
    %s = arith.mulf %a, %x : f32
    scf.yield %s : f32
  } {tile.loop_unroll_factor = 2 : i32}
  return %r : f32
}

// CHECK-LABEL: func.func @unasked
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT: arith.mulf
func.func @unasked(%x: f32, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f32 : i32 {
    %s = arith.mulf %a, %x : f32
    scf.yield %s : f32
  }
  return %r : f32
}

// Longer steps: rounds end within the type, of which the counter behind the last turn may be
// out. `room` is how many turns do.
// CHECK-LABEL: func.func @long_steps
// CHECK-DAG: %[[STEP:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[MOST:.*]] = arith.constant 2147483647 : i32
// CHECK: %[[ROOM:.*]] = arith.subi %[[MOST]], %arg0
// CHECK: %[[FIT:.*]] = arith.divui %[[ROOM]], %[[STEP]]
// CHECK: %[[TURNS:.*]] = arith.minui %{{.*}}, %[[FIT]]
// CHECK: arith.divui %[[TURNS]]
// CHECK: %[[END:.*]] = arith.addi %arg0
// CHECK: scf.for %{{.*}} = %arg0 to %[[END]] step
// CHECK: scf.for %{{.*}} = %[[END]] to
func.func @long_steps(%start: i32, %stop: i32, %x: f32) -> f32 {
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %start to %stop step %c3 iter_args(%a = %x) -> f32 : i32 {
    %s = arith.mulf %a, %x : f32
    scf.yield %s : f32
  } {tile.loop_unroll_factor = 4 : i32}
  return %r : f32
}

// Of a step that nobody knows, four may be no number of the type: no round is run then.
// CHECK-LABEL: func.func @unknown_step
// CHECK-DAG: %[[LONGEST:.*]] = arith.constant 536870911 : i32
// CHECK: %[[LONG:.*]] = arith.cmpi sgt, %arg2, %[[LONGEST]]
// CHECK: %[[NONE:.*]] = arith.ori %{{.*}}, %[[LONG]]
// CHECK: arith.select %[[NONE]]
// CHECK: %[[SHORT:.*]] = arith.minsi %arg2, %[[LONGEST]]
// CHECK: %[[ROUND:.*]] = arith.muli %[[SHORT]]
// CHECK: scf.for %{{.*}} = %arg0 to %{{.*}} step %[[ROUND]]
// CHECK: scf.for %{{.*}} step %arg2
func.func @unknown_step(%start: i32, %stop: i32, %step: i32, %x: f32) -> f32 {
  %r = scf.for %i = %start to %stop step %step iter_args(%a = %x) -> f32 : i32 {
    %s = arith.mulf %a, %x : f32
    scf.yield %s : f32
  } {tile.loop_unroll_factor = 4 : i32}
  return %r : f32
}

// CHECK-LABEL: func.func @too_long_for_a_round
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT: arith.mulf
func.func @too_long_for_a_round(%start: i32, %x: f32) -> f32 {
  %step = arith.constant 1000000000 : i32
  %stop = arith.constant 2147483647 : i32
  %r = scf.for %i = %start to %stop step %step iter_args(%a = %x) -> f32 : i32 {
    %s = arith.mulf %a, %x : f32
    scf.yield %s : f32
  } {tile.loop_unroll_factor = 3 : i32}
  return %r : f32
}
