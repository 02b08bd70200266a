// Loops whose turns are chains of reductions, side by side.
// RUN: tile-opt %s --tile-join-loops | FileCheck %s

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
// The turns that both have, then what each has left. The comparison with the number of the turn is made once.
// CHECK-LABEL: func.func @side_by_side
// CHECK-SAME: %[[N:.*]]: i32, %[[M:.*]]: i32, %[[X:.*]]: tensor<16x16xf32>, %[[Y:.*]]: tensor<16x16xf32>)
// CHECK: %[[END:.*]] = arith.minsi %[[N]], %[[M]]
// CHECK: %[[ALL:.*]]:2 = scf.for %{{.*}} = %[[TWO:.*]] to %[[END]] step %{{.*}} iter_args(%{{.*}} = %[[X]], %{{.*}} = %[[Y]])
// CHECK-COUNT-1: arith.cmpi
// CHECK-NOT: arith.cmpi
// CHECK-COUNT-2: tile.reduce
// CHECK: scf.yield %{{.*}}, %{{.*}} :
// CHECK: %[[REST:.*]] = arith.maxsi %[[END]], %[[TWO]]
// CHECK: scf.for %{{.*}} = %[[REST]] to %[[N]] step %{{.*}} iter_args(%{{.*}} = %[[ALL]]#0)
// CHECK-COUNT-1: tile.reduce
// CHECK: scf.for %{{.*}} = %[[REST]] to %[[M]] step %{{.*}} iter_args(%{{.*}} = %[[ALL]]#1)
// CHECK-COUNT-1: tile.reduce
// CHECK-NOT: tile.reduce
func.func @side_by_side(%n: i32, %m: i32, %x: tensor<16x16xf32>, %y: tensor<16x16xf32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %rows = tile.make_range 0 to 16 : tensor<16xi32>
  %a = scf.for %i = %two to %n step %one iter_args(%v = %x) -> tensor<16x16xf32> : i32 {
    %at = tile.splat %i : i32 -> tensor<16xi32>
    %is = arith.cmpi eq, %rows, %at : tensor<16xi32>
    %row = tile.expand_dims %is {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
    %here = tile.broadcast %row : tensor<16x1xi1> -> tensor<16x16xi1>
    %sum = tile.reduce %v {axis = 0 : i32} : tensor<16x16xf32> -> tensor<16xf32> {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    }
    %wide = tile.expand_dims %sum {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>
    %new = tile.broadcast %wide : tensor<1x16xf32> -> tensor<16x16xf32>
    %next = arith.select %here, %new, %v : tensor<16x16xi1>, tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  %b = scf.for %i = %two to %m step %one iter_args(%v = %y) -> tensor<16x16xf32> : i32 {
    %at = tile.splat %i : i32 -> tensor<16xi32>
    %is = arith.cmpi eq, %rows, %at : tensor<16xi32>
    %row = tile.expand_dims %is {axis = 1 : i32} : tensor<16xi1> -> tensor<16x1xi1>
    %here = tile.broadcast %row : tensor<16x1xi1> -> tensor<16x16xi1>
    %sum = tile.reduce %v {axis = 0 : i32} : tensor<16x16xf32> -> tensor<16xf32> {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      tile.yield %s : f32
    }
    %wide = tile.expand_dims %sum {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>
    %new = tile.broadcast %wide : tensor<1x16xf32> -> tensor<16x16xf32>
    %next = arith.select %here, %new, %v : tensor<16x16xi1>, tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  return %a, %b : tensor<16x16xf32>, tensor<16x16xf32>
}

// Loops that start apart: each counts for itself. An end far below the start has no room for the
// distance, so it is raised first.
// CHECK-LABEL: func.func @apart
// CHECK-SAME: %[[N:.*]]: i32,
// CHECK: %[[RAISED:.*]] = arith.maxsi %[[N]], %[[LATE:.*]] : i32
// CHECK: %[[LOWERED:.*]] = arith.subi %[[RAISED]], %[[BY:.*]] : i32
// CHECK: %[[END:.*]] = arith.minsi %[[N]], %[[LOWERED]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[END]]
// CHECK: %[[OTHER:.*]] = arith.addi %[[I]], %[[BY]]
// CHECK: tile.splat %[[OTHER]]
// CHECK: scf.for
// CHECK: %[[START:.*]] = arith.addi %{{.*}}, %[[BY]]
// CHECK: scf.for %{{.*}} = %[[START]] to %[[N]]
func.func @apart(%n: i32, %x: tensor<16xi32>, %y: tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %late = arith.constant 18 : i32
  %a = scf.for %i = %two to %n step %one iter_args(%v = %x) -> tensor<16xi32> : i32 {
    %sum = tile.reduce %v {axis = 0 : i32} : tensor<16xi32> -> i32 {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    %turn = arith.addi %sum, %i : i32
    %next = tile.splat %turn : i32 -> tensor<16xi32>
    scf.yield %next : tensor<16xi32>
  }
  %b = scf.for %i = %late to %n step %one iter_args(%v = %y) -> tensor<16xi32> : i32 {
    %sum = tile.reduce %v {axis = 0 : i32} : tensor<16xi32> -> i32 {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    %at = tile.splat %i : i32 -> tensor<16xi32>
    %all = tile.splat %sum : i32 -> tensor<16xi32>
    %next = arith.addi %at, %all : tensor<16xi32>
    scf.yield %next : tensor<16xi32>
  }
  return %a, %b : tensor<16xi32>, tensor<16xi32>
}

// Nothing is left of loops with as many turns.
// CHECK-LABEL: func.func @as_many
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @as_many(%x: tensor<16xi32>, %y: tensor<16xi32>) -> (tensor<16xi32>, tensor<16xi32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %end = arith.constant 9 : i32
  %late = arith.constant 18 : i32
  %last = arith.constant 25 : i32
  %a = scf.for %i = %two to %end step %one iter_args(%v = %x) -> tensor<16xi32> : i32 {
    %next = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<16xi32> -> tensor<16xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<16xi32>
  }
  %b = scf.for %i = %late to %last step %one iter_args(%v = %y) -> tensor<16xi32> : i32 {
    %next = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<16xi32> -> tensor<16xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<16xi32>
  }
  return %a, %b : tensor<16xi32>, tensor<16xi32>
}

// One needs what the other gives.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK-COUNT-2: iter_args(%{{[^,]*}}) ->
func.func @one_after_the_other(%n: i32, %x: tensor<16xi32>) -> tensor<16xi32> {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %a = scf.for %i = %two to %n step %one iter_args(%v = %x) -> tensor<16xi32> : i32 {
    %next = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<16xi32> -> tensor<16xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<16xi32>
  }
  %b = scf.for %i = %two to %n step %one iter_args(%v = %x) -> tensor<16xi32> : i32 {
    %sum = arith.addi %v, %a : tensor<16xi32>
    %next = tile.scan %sum {axis = 0 : i32, reverse = false} : tensor<16xi32> -> tensor<16xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<16xi32>
  }
  return %b : tensor<16xi32>
}

// What is between them writes, and the second one may read that; the first must not read it.
// CHECK-LABEL: func.func @around_a_store
// CHECK: iter_args(%{{[^,]*}}) ->
// CHECK: tile.store
// CHECK: iter_args(%{{[^,]*}}) ->
func.func @around_a_store(%n: i32, %from: tensor<16x!tile.ptr<i32>>, %x: tensor<16xi32>)
    -> (tensor<16xi32>, tensor<16xi32>) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %a = scf.for %i = %two to %n step %one iter_args(%v = %x) -> tensor<16xi32> : i32 {
    %w = tile.load %from : tensor<16x!tile.ptr<i32>>
    %sum = arith.addi %v, %w : tensor<16xi32>
    %next = tile.scan %sum {axis = 0 : i32, reverse = false} : tensor<16xi32> -> tensor<16xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<16xi32>
  }
  tile.store %from, %x : tensor<16x!tile.ptr<i32>>
  %b = scf.for %i = %two to %n step %one iter_args(%v = %x) -> tensor<16xi32> : i32 {
    %next = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<16xi32> -> tensor<16xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<16xi32>
  }
  return %a, %b : tensor<16xi32>, tensor<16xi32>
}

// Sums of what is loaded wait for nothing but memory.
// CHECK-LABEL: func.func @no_chains
// CHECK-COUNT-2: iter_args(%{{[^,]*}}) ->
func.func @no_chains(%n: i32, %from: tensor<16x!tile.ptr<i32>>, %x: i32) -> (i32, i32) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %a = scf.for %i = %two to %n step %one iter_args(%v = %x) -> i32 : i32 {
    %w = tile.load %from : tensor<16x!tile.ptr<i32>>
    %sum = tile.reduce %w {axis = 0 : i32} : tensor<16xi32> -> i32 {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    %next = arith.addi %v, %sum : i32
    scf.yield %next : i32
  }
  %b = scf.for %i = %two to %n step %one iter_args(%v = %x) -> i32 : i32 {
    %w = tile.load %from : tensor<16x!tile.ptr<i32>>
    %sum = tile.reduce %w {axis = 0 : i32} : tensor<16xi32> -> i32 {
    ^bb0(%p: i32, %q: i32):
      %s = arith.muli %p, %q : i32
      tile.yield %s : i32
    }
    %next = arith.addi %v, %sum : i32
    scf.yield %next : i32
  }
  return %a, %b : i32, i32
}

// A block of 32 registers each leaves room for two: the third stays.
// CHECK-LABEL: func.func @much
// CHECK: iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) ->
// CHECK: iter_args(%{{[^,]*}}) ->
// CHECK-NOT: scf.for
func.func @much(%x: tensor<1024xi32>) -> (tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>) {
  %one = arith.constant 1 : i32
  %end = arith.constant 9 : i32
  %a = scf.for %i = %one to %end step %one iter_args(%v = %x) -> tensor<1024xi32> : i32 {
    %next = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<1024xi32> -> tensor<1024xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<1024xi32>
  }
  %b = scf.for %i = %one to %end step %one iter_args(%v = %x) -> tensor<1024xi32> : i32 {
    %next = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<1024xi32> -> tensor<1024xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.muli %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<1024xi32>
  }
  %c = scf.for %i = %one to %end step %one iter_args(%v = %x) -> tensor<1024xi32> : i32 {
    %next = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<1024xi32> -> tensor<1024xi32> {
    ^bb0(%p: i32, %q: i32):
      %s = arith.maxsi %p, %q : i32
      tile.yield %s : i32
    }
    scf.yield %next : tensor<1024xi32>
  }
  return %a, %b, %c : tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>
}
}
