// Single numbers that a program has stored, or loaded, are not loaded again; a loop carries them.
// RUN: tile-opt %s -split-input-file --tile-keep-rows | FileCheck %s

// Each turn goes on with what the one before has left, which is stored behind the last.
// CHECK-LABEL: func.func @variables
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: !tile.ptr<f32>, %[[S:[a-z0-9]+]]: f32
// CHECK: %[[Q:.*]] = tile.addptr %[[OUT]]
// CHECK-NOT: tile.load
// CHECK: %[[END:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[S]], %[[B:.*]] = %[[S]])
// CHECK-NOT: tile.load
// CHECK: %[[X:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[B]]
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK-NEXT: scf.yield %[[Z]], %[[Y]]
// CHECK-DAG: tile.store %[[OUT]], %[[END]]#0
// CHECK-DAG: tile.store %[[Q]], %[[END]]#1
// CHECK: arith.addf %[[END]]#0, %[[END]]#1
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
func.func @variables(%out: !tile.ptr<f32>, %s: f32, %n: i32, %sum: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %q = tile.addptr %out, %one : !tile.ptr<f32>, i32
  tile.store %out, %s : !tile.ptr<f32>
  tile.store %q, %s : !tile.ptr<f32>
  scf.for %i = %zero to %n step %one : i32 {
    %a = tile.load %out : !tile.ptr<f32>
    %b = tile.load %q : !tile.ptr<f32>
    %x = arith.mulf %a, %b : f32
    tile.store %out, %x : !tile.ptr<f32>
    %c = tile.load %out : !tile.ptr<f32>
    %y = arith.addf %c, %b : f32
    tile.store %q, %y : !tile.ptr<f32>
    %d = tile.load %q : !tile.ptr<f32>
    %z = arith.addf %c, %d : f32
    tile.store %out, %z : !tile.ptr<f32>
  }
  %e = tile.load %out : !tile.ptr<f32>
  %f = tile.load %q : !tile.ptr<f32>
  %g = arith.addf %e, %f : f32
  tile.store %sum, %g : !tile.ptr<f32>
  return
}
}

// -----

// Where it is not known that two places differ, what is stored to one may be in the other.
// CHECK-LABEL: func.func @unknown
// CHECK: tile.store
// CHECK: tile.store
// CHECK: tile.load
// CHECK: tile.store
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
func.func @unknown(%out: !tile.ptr<f32>, %s: f32, %i: i32, %sum: !tile.ptr<f32>) {
  %p = tile.addptr %out, %i : !tile.ptr<f32>, i32
  tile.store %out, %s : !tile.ptr<f32>
  %t = arith.addf %s, %s : f32
  tile.store %p, %t : !tile.ptr<f32>
  %a = tile.load %out : !tile.ptr<f32>
  tile.store %sum, %a : !tile.ptr<f32>
  return
}
}

// -----

// What is in memory behind an atomic is what others have left there; what blocks or others may read stays stored.
// CHECK-LABEL: func.func @others
// CHECK: tile.store
// CHECK: tile.atomic_rmw
// CHECK: tile.load
// CHECK: tile.store
// CHECK: tile.load {{.*}} : tensor<4x!tile.ptr<f32>>
// CHECK: tile.store
// CHECK: tile.load {{.*}}is_volatile
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
func.func @others(%out: !tile.ptr<f32>, %s: f32, %sum: !tile.ptr<f32>) {
  tile.store %out, %s : !tile.ptr<f32>
  %old = tile.atomic_rmw fadd relaxed gpu %out, %s : !tile.ptr<f32>
  %a = tile.load %out : !tile.ptr<f32>
  tile.store %out, %a : !tile.ptr<f32>
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %all = tile.splat %out : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %p = tile.addptr %all, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %b = tile.load %p : tensor<4x!tile.ptr<f32>>
  %to = tile.splat %sum : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  tile.store %to, %b : tensor<4x!tile.ptr<f32>>
  tile.store %out, %s : !tile.ptr<f32>
  %c = tile.load %out {is_volatile = true} : !tile.ptr<f32>
  tile.store %sum, %c : !tile.ptr<f32>
  return
}
}

// -----

// A turn that may leave something else, or nothing, at a place loads it.
// CHECK-LABEL: func.func @branch
// CHECK: scf.for
// CHECK: tile.load
// CHECK: scf.if
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
func.func @branch(%out: !tile.ptr<f32>, %s: f32, %n: i32, %yes: i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  tile.store %out, %s : !tile.ptr<f32>
  scf.for %i = %zero to %n step %one : i32 {
    %a = tile.load %out : !tile.ptr<f32>
    scf.if %yes {
      %b = arith.addf %a, %s : f32
      tile.store %out, %b : !tile.ptr<f32>
    }
  }
  return
}
}

// -----

// Another program may write what this one waits for.
// CHECK-LABEL: func.func @waits
// CHECK: tile.load
// CHECK: scf.for
// CHECK: tile.load
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
func.func @waits(%flag: !tile.ptr<i32>, %n: i32, %out: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = tile.load %flag : !tile.ptr<i32>
  %last = scf.for %i = %zero to %n step %one iter_args(%s = %first) -> i32 : i32 {
    %a = tile.load %flag : !tile.ptr<i32>
    %t = arith.addi %s, %a : i32
    scf.yield %t : i32
  }
  tile.store %out, %last : !tile.ptr<i32>
  return
}
}

// -----

// What a turn stores stays there if the turn loads from where that may be.
// CHECK-LABEL: func.func @seen
// CHECK: scf.for
// CHECK: tile.store
// CHECK: tile.load
// CHECK: scf.yield
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
func.func @seen(%out: !tile.ptr<f32>, %s: f32, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  tile.store %out, %s : !tile.ptr<f32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%t = %s) -> f32 : i32 {
    %a = tile.load %out : !tile.ptr<f32>
    %b = arith.addf %a, %s : f32
    tile.store %out, %b : !tile.ptr<f32>
    %p = tile.addptr %out, %i : !tile.ptr<f32>, i32
    %c = tile.load %p : !tile.ptr<f32>
    %d = arith.addf %t, %c : f32
    scf.yield %d : f32
  }
  %one_more = tile.addptr %out, %n : !tile.ptr<f32>, i32
  tile.store %one_more, %sum : !tile.ptr<f32>
  return
}
}
