// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=128 loop" --split-input-file | FileCheck %s

// What is written where it lies is stored by the pass that computes it, if none reads it behind that.
// CHECK-LABEL: func.func @once
// CHECK: scf.for
// CHECK: tile.store
// CHECK: scf.yield
// CHECK-NOT: scf.for
func.func @once(%w: !graph.tensor<"M, N", f32>, %x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M", f32>, !graph.tensor<"M, N", f32>) attributes {graph.updates = array<i64: 0>} {
  %n = graph.map add(%w, %x) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %s = graph.reduce sum %n [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  return %s, %n : !graph.tensor<"M", f32>, !graph.tensor<"M, N", f32>
}

// -----

// Else by the last one: here what differs from the maximum is added up of what is read again.
// CHECK-LABEL: func.func @twice
// CHECK: scf.for
// CHECK-NOT: tile.store
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: tile.store
// CHECK: scf.yield
// CHECK-NOT: scf.for
func.func @twice(%w: !graph.tensor<"M, N", f32>, %x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M", f32>, !graph.tensor<"M, N", f32>) attributes {graph.updates = array<i64: 0>} {
  %n = graph.map add(%w, %x) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %m = graph.reduce max %n [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %r = graph.rearrange %m [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %d = graph.map sub(%n, %r) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %s = graph.reduce sum %d [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  return %s, %n : !graph.tensor<"M", f32>, !graph.tensor<"M, N", f32>
}

// -----

// What lies elsewhere is stored as soon as it is known.
// CHECK-LABEL: func.func @elsewhere
// CHECK: scf.for
// CHECK: tile.store
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-NOT: tile.store
// CHECK: scf.yield
func.func @elsewhere(%w: !graph.tensor<"M, N", f32>, %x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M", f32>, !graph.tensor<"M, N", f32>) {
  %n = graph.map add(%w, %x) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %m = graph.reduce max %n [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %r = graph.rearrange %m [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %d = graph.map sub(%n, %r) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %s = graph.reduce sum %d [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  return %s, %n : !graph.tensor<"M", f32>, !graph.tensor<"M, N", f32>
}

// -----

// A state that needs what it was through a reduction alone is read behind that as well.
// CHECK-LABEL: func.func @through_a_sum
// CHECK: scf.for
// CHECK-NOT: tile.store
// CHECK: scf.for
// CHECK-NOT: tile.store
// CHECK: scf.for
// CHECK-COUNT-2: tile.store
// CHECK-NOT: scf.for
func.func @through_a_sum(%w: !graph.tensor<"M, N", f32>, %x: !graph.tensor<"N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) attributes {graph.updates = array<i64: 0>} {
  %s = graph.reduce sum %w [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %r = graph.rearrange %s [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %d = graph.map sub(%w, %r) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %q = graph.map square(%d) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %v = graph.reduce sum %q [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %u = graph.rearrange %v [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %y = graph.map div(%d, %u) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %n = graph.map add(%r, %x) : (!graph.tensor<"M, 1", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"M, N", f32>
  return %y, %n : !graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>
}
