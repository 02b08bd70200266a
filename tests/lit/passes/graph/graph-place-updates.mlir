// RUN: tile-opt %s --pass-pipeline="builtin.module(func.func(graph-fuse,graph-place-updates))" --split-input-file | FileCheck %s --check-prefixes=CHECK,GAPS
// RUN: tile-opt %s --graph-fuse --graph-place-updates="without-gaps" --split-input-file | FileCheck %s --check-prefixes=CHECK,DENSE

// Each element is read by who writes it: in place.
// CHECK-LABEL: @step
// CHECK-COUNT-1: graph.kernel "step"{{.*}} {graph.in_place = array<i64: 0, 0>}
// CHECK-NOT: graph.kernel
func.func @step(%w: !graph.tensor<"N", f32> {graph.name = "w"}, %g: !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32> attributes {graph.updates = array<i64: 0>} {
  %n = graph.map sub(%w, %g) : (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  return %n : !graph.tensor<"N", f32>
}

// -----

// What is only written has no need of it.
// CHECK-LABEL: @written
// CHECK: graph.kernel "written"(%arg1) : {{.*}} {
func.func @written(%w: !graph.tensor<"N", f32>, %g: !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32> attributes {graph.updates = array<i64: 0>} {
  %n = graph.map exp(%g) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  return %n : !graph.tensor<"N", f32>
}

// -----

// A later kernel reads the old values.
// CHECK-LABEL: @later
// CHECK: %[[N:.*]] = graph.kernel
// CHECK: graph.kernel
// CHECK: %[[C:.*]] = graph.kernel "later_update_0"(%[[N]]) {reasons = ["update of `w` not in place: a later kernel reads what it was"]}
// CHECK: return %{{.*}}, %[[C]]
func.func @later(%w: !graph.tensor<"N, N", f32> {graph.name = "w"}, %g: !graph.tensor<"N, N", f32>) -> (!graph.tensor<"N, N", f32>, !graph.tensor<"N, N", f32>) attributes {graph.updates = array<i64: 0>} {
  %n = graph.matmul %w, %g : !graph.tensor<"N, N", f32>, !graph.tensor<"N, N", f32> -> !graph.tensor<"N, N", f32>
  %m = graph.matmul %n, %w : !graph.tensor<"N, N", f32>, !graph.tensor<"N, N", f32> -> !graph.tensor<"N, N", f32>
  return %m, %n : !graph.tensor<"N, N", f32>, !graph.tensor<"N, N", f32>
}

// -----

// Other programs read what a block of the product is written over.
// CHECK-LABEL: @operand
// CHECK: graph.kernel "operand_update_0"{{.*}}reads it in another order than it is written
func.func @operand(%w: !graph.tensor<"N, N", f32>, %g: !graph.tensor<"N, N", f32>) -> !graph.tensor<"N, N", f32> attributes {graph.updates = array<i64: 0>} {
  %n = graph.matmul %w, %g : !graph.tensor<"N, N", f32>, !graph.tensor<"N, N", f32> -> !graph.tensor<"N, N", f32>
  return %n : !graph.tensor<"N, N", f32>
}

// -----

// Added to the product of others, each element is read where it is written.
// CHECK-LABEL: @residual
// CHECK: graph.kernel "residual"{{.*}} {graph.in_place = array<i64: 0, {{[0-2]}}>}
// CHECK-NOT: graph.kernel
func.func @residual(%w: !graph.tensor<"M, N", f32>, %a: !graph.tensor<"M, K", f32>, %g: !graph.tensor<"K, N", f32>) -> !graph.tensor<"M, N", f32> attributes {graph.updates = array<i64: 0>} {
  %p = graph.matmul %a, %g : !graph.tensor<"M, K", f32>, !graph.tensor<"K, N", f32> -> !graph.tensor<"M, N", f32>
  %n = graph.map add(%w, %p) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  return %n : !graph.tensor<"M, N", f32>
}

// -----

// Long rows are read again for the quotients: the pass that does so stores both (graph-tile-states.mlir).
// CHECK-LABEL: @two_passes
// CHECK-COUNT-1: graph.kernel "two_passes"{{.*}} {graph.in_place = array<i64: {{[01]}}, 0>}
// CHECK-NOT: graph.kernel
func.func @two_passes(%w: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) attributes {graph.updates = array<i64: 0>} {
  %s = graph.reduce sum %w [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %s1 = graph.rearrange %s [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %q = graph.map div(%w, %s1) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %n = graph.map exp(%w) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  return %q, %n : !graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>
}

// -----

// Each row of programs reads all of it.
// CHECK-LABEL: @shared
// CHECK: graph.kernel "shared_update_0"{{.*}}several programs need each of its elements
func.func @shared(%w: !graph.tensor<"N", f32>, %x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"N", f32>) attributes {graph.updates = array<i64: 0>} {
  %n = graph.map exp(%w) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  %y = graph.map mul(%x, %n) : (!graph.tensor<"M, N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"M, N", f32>
  return %y, %n : !graph.tensor<"M, N", f32>, !graph.tensor<"N", f32>
}

// -----

// What the kernel computes of the old values besides could find the new ones.
// CHECK-LABEL: @exchanged
// CHECK: graph.kernel "exchanged_update_0"{{.*}}could be read too late
func.func @exchanged(%w: !graph.tensor<"N", f32>, %x: !graph.tensor<"N", f32>) -> (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) attributes {graph.updates = array<i64: 0>} {
  %y = graph.map add(%w, %x) : (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  %n = graph.map exp(%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  return %y, %n : !graph.tensor<"N", f32>, !graph.tensor<"N", f32>
}

// -----

// All threads multiply by what one of them writes.
// CHECK-LABEL: @scaled_operand
// CHECK: graph.kernel "scaled_operand_update_0"{{.*}}update of `w` not in place: `matmul` in line {{[0-9]+}} is of it, and its threads read what one of them writes
func.func @scaled_operand(%w: !graph.tensor<"M, 1", f32> {graph.name = "w"}, %a: !graph.tensor<"M, K", f32>, %b: !graph.tensor<"K, 1", f32>) -> !graph.tensor<"M, 1", f32> attributes {graph.updates = array<i64: 0>} {
  %s = graph.map mul(%a, %w) : (!graph.tensor<"M, K", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, K", f32>
  %p = graph.matmul %s, %b : !graph.tensor<"M, K", f32>, !graph.tensor<"K, 1", f32> -> !graph.tensor<"M, 1", f32>
  %n = graph.map add(%w, %p) : (!graph.tensor<"M, 1", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, 1", f32>
  return %n : !graph.tensor<"M, 1", f32>
}

// -----

// A kernel that somebody wrote changes the parameter where it lies, and so does the next one.
// CHECK-LABEL: @changed
// CHECK: %[[N:.*]] = graph.kernel "changed_0"(%arg0, %arg1)
// CHECK: %[[M:.*]] = graph.kernel "changed_1"(%[[N]], %arg1)
// CHECK-NOT: graph.kernel
// CHECK: return %[[M]]
func.func @changed(%w: !graph.tensor<"N", f32> {graph.name = "w"}, %g: !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32> attributes {graph.updates = array<i64: 0>} {
  %n = graph.launch "put" 0 (%w, %g) {graph.changes = array<i64: 0>} : (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  %m = graph.launch "put" 1 (%n, %g) {graph.changes = array<i64: 0>} : (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  return %m : !graph.tensor<"N", f32>
}

// -----

// A parameter that stays what it was is copied first.
// CHECK-LABEL: @apart
// CHECK: %[[C:.*]] = graph.kernel "apart_copy_0"(%arg0) {reasons = ["copied for `put`{{.*}}, which changes it"]}
// CHECK: graph.kernel "apart"(%arg0, %arg1, %[[C]])
// CHECK: ^bb0(%{{.*}}, %[[G:[^:]*]]: {{[^,]*}}, {{[^,]*}}, %[[OWN:[^:]*]]:
// CHECK: graph.launch "put" 0(%[[OWN]], %[[G]])
func.func @apart(%w: !graph.tensor<"N", f32>, %g: !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32> {
  %n = graph.launch "put" 0 (%w, %g) {graph.changes = array<i64: 0>} : (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  return %n : !graph.tensor<"N", f32>
}

// -----

// What a kernel computed is changed where it lies, unless somebody needs it behind that.
// CHECK-LABEL: @computed
// CHECK: graph.kernel "computed_0"
// CHECK: graph.kernel "computed_1"
// CHECK-NOT: copied for
// CHECK: return
func.func @computed(%x: !graph.tensor<"N", f32>, %g: !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32> {
  %w = graph.map exp(%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  %n = graph.launch "put" 0 (%w, %g) {graph.changes = array<i64: 0>} : (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  return %n : !graph.tensor<"N", f32>
}

// -----

// What is read in another shape lies in the parameter only if that has no gaps.
// CHECK-LABEL: @in_another_shape
// CHECK: %[[N:.*]] = graph.kernel "in_another_shape_0"
// CHECK: %[[R:.*]] = graph.reshape %[[N]]
// CHECK: graph.kernel "in_another_shape_1"(%[[R]])
// GAPS: graph.kernel "in_another_shape_update_0"(%[[N]]) {reasons = ["update of `w` not in place: it is read in another shape, which has no gaps"]}
// DENSE-NOT: graph.kernel
func.func @in_another_shape(%w: !graph.tensor<"M, 4*N", f32> {graph.name = "w"}) -> (!graph.tensor<"M*N", f32>, !graph.tensor<"M, 4*N", f32>) attributes {graph.updates = array<i64: 0>} {
  %n = graph.map exp(%w) : (!graph.tensor<"M, 4*N", f32>) -> !graph.tensor<"M, 4*N", f32>
  %r = graph.reshape %n : !graph.tensor<"M, 4*N", f32> -> !graph.tensor<"M*N, 4", f32>
  %s = graph.reduce sum %r [1] : !graph.tensor<"M*N, 4", f32> -> !graph.tensor<"M*N", f32>
  return %s, %n : !graph.tensor<"M*N", f32>, !graph.tensor<"M, 4*N", f32>
}
