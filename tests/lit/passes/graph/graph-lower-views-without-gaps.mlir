// RUN: tile-opt %s --graph-lower-views="without-gaps" --split-input-file | FileCheck %s

// Arrays without gaps in other shapes are parameters of those shapes, one for each.
// CHECK-LABEL: @joined
// CHECK-SAME: %arg0: !graph.tensor<"B, C, H", f32>, %arg1: !graph.tensor<"C*H, N", f32>, %arg2: !graph.tensor<"B, C*H", f32>
// CHECK-SAME: graph.other_shapes = array<i64: 0>
// CHECK-NOT: graph.gather
// CHECK: graph.matmul %arg2, %arg1
// CHECK: graph.reduce sum %arg2 [1]
func.func @joined(%x: !graph.tensor<"B, C, H", f32>, %w: !graph.tensor<"C*H, N", f32>) -> (!graph.tensor<"B, N", f32>, !graph.tensor<"B", f32>) {
  %a = graph.reshape %x : !graph.tensor<"B, C, H", f32> -> !graph.tensor<"B, C*H", f32>
  %p = graph.matmul %a, %w : !graph.tensor<"B, C*H", f32>, !graph.tensor<"C*H, N", f32> -> !graph.tensor<"B, N", f32>
  %r = graph.rearrange %x [0, -1, 1, 2] : !graph.tensor<"B, C, H", f32> -> !graph.tensor<"B, 1, C, H", f32>
  %b = graph.reshape %r : !graph.tensor<"B, 1, C, H", f32> -> !graph.tensor<"B, C*H", f32>
  %s = graph.reduce sum %b [1] : !graph.tensor<"B, C*H", f32> -> !graph.tensor<"B", f32>
  return %p, %s : !graph.tensor<"B, N", f32>, !graph.tensor<"B", f32>
}

// -----

// Another order is no other shape of what lies there.
// CHECK-LABEL: @turned
// CHECK-NOT: graph.other_shapes
// CHECK: graph.gather %arg0
func.func @turned(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"", f32> {
  %t = graph.rearrange %x [1, 0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N, M", f32>
  %a = graph.reshape %t : !graph.tensor<"N, M", f32> -> !graph.tensor<"M*N", f32>
  %s = graph.reduce sum %a [0] : !graph.tensor<"M*N", f32> -> !graph.tensor<"", f32>
  return %s : !graph.tensor<"", f32>
}

// -----

// What is written where it lies has one shape: who reads it is found by its parameter.
// CHECK-LABEL: @written
// CHECK-NOT: graph.other_shapes
// CHECK: graph.gather %arg0
func.func @written(%x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"", f32>, !graph.tensor<"M, N", f32>) attributes {graph.updates = array<i64: 0>} {
  %a = graph.reshape %x : !graph.tensor<"M, N", f32> -> !graph.tensor<"M*N", f32>
  %s = graph.reduce sum %a [0] : !graph.tensor<"M*N", f32> -> !graph.tensor<"", f32>
  %e = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  return %s, %e : !graph.tensor<"", f32>, !graph.tensor<"M, N", f32>
}
