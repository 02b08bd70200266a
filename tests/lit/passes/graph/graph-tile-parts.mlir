// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=128 rows=16 parts=3" | FileCheck %s

// Programs share the inner dimension: one kernel stores the sums of a part of it, whose turns are
// dealt out by the grid's y, and reads nothing that is not multiplied. The other adds up three
// parts, and does the rest.
// CHECK-LABEL: func.func @linear_parts(
// CHECK-SAME: %arg0: !tile.ptr<f16> {{.*}}, %arg1: !tile.ptr<f16> {{.*}}, %[[SUMS:[a-z0-9]+]]: !tile.ptr<f32>
// CHECK: %[[PART:.*]] = tile.program_id 1
// CHECK: %[[PARTS:.*]] = tile.num_programs 1
// CHECK: %[[BEFORE:.*]] = arith.muli %[[PART]], %[[TURNS:.*]] : i32
// CHECK: arith.divsi %[[BEFORE]], %[[PARTS]]
// CHECK: scf.for
// CHECK: tile.dot {{.*}} -> tensor<16x128xf32>
// CHECK: tile.addptr %[[SUMS]]
// CHECK: tile.store {{.*}} tensor<16x128x!tile.ptr<f32>>
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: !tile.ptr<f16> {{.*}}, %[[FROM:[a-z0-9]+]]: !tile.ptr<f32> {{.*}}, %{{[a-z0-9]+}}: !tile.ptr<f16>
// CHECK-NOT: scf.for
// CHECK-COUNT-3: tile.load {{.*}} tensor<16x128x!tile.ptr<f32>>
// CHECK-COUNT-2: arith.addf
// CHECK: %[[B:.*]] = tile.splat %[[BIAS]]
// CHECK: arith.maximumf
// CHECK: tile.store {{.*}} tensor<16x128x!tile.ptr<f16>>
func.func @linear(%x: !graph.tensor<"B, M, K", f16>, %w: !graph.tensor<"K, N", f16>, %b: !graph.tensor<"N", f16>) -> !graph.tensor<"B, M, N", f16> {
  %p = graph.matmul %x, %w : !graph.tensor<"B, M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"B, M, N", f16>
  %q = graph.map add(%p, %b) : (!graph.tensor<"B, M, N", f16>, !graph.tensor<"N", f16>) -> !graph.tensor<"B, M, N", f16>
  %r = graph.map relu(%q) : (!graph.tensor<"B, M, N", f16>) -> !graph.tensor<"B, M, N", f16>
  return %r : !graph.tensor<"B, M, N", f16>
}

// Two products of one left operand: an array of sums each.
// CHECK-LABEL: func.func @gated_parts(
// CHECK-SAME: %arg3: !tile.ptr<f32> {{.*}}, %arg4: !tile.ptr<f32>
// CHECK-COUNT-2: tile.dot
// CHECK-COUNT-2: tile.store
// CHECK-LABEL: func.func @gated(
// CHECK-COUNT-6: tile.load
// CHECK-COUNT-1: tile.store
// CHECK-NOT: tile.load
func.func @gated(%x: !graph.tensor<"M, K", f16>, %g: !graph.tensor<"K, N", f16>, %u: !graph.tensor<"K, N", f16>) -> !graph.tensor<"M, N", f16> {
  %p = graph.matmul %x, %g : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %q = graph.matmul %x, %u : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %r = graph.map mul(%p, %q) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16>
  return %r : !graph.tensor<"M, N", f16>
}
