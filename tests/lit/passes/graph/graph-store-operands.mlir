// What products compute of their operands becomes kernels in front of them.
// RUN: tile-opt %s --graph-to-kernels --graph-store-operands --split-input-file | FileCheck %s
// RUN: tile-opt %s --graph-to-kernels --graph-store-operands --split-input-file --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: 2 graph-store-operands - operands of products that kernels of their own compute

// The block is stored as it is computed, and turned where it is read; the product has nothing of
// what it is computed of.
// CHECK-LABEL: func.func @scaled
// CHECK: %[[W:.*]] = graph.kernel "scaled_right"(%arg1, %arg2)
// CHECK: graph.map mul
// CHECK: -> !graph.tensor<"N, K", f16>
// CHECK: graph.kernel "scaled"(%arg0, %[[W]]) {reasons = ["a product's right operand, computed for each block of rows again
// CHECK-NOT: graph.map mul
// CHECK: graph.rearrange
// CHECK: graph.matmul
// CHECK: graph.map relu
// CHECK: return
func.func @scaled(%x: !graph.tensor<"M, K", f16>, %q: !graph.tensor<"N, K", i8>, %s: !graph.tensor<"N, 1", f16>) -> !graph.tensor<"M, N", f16> {
  %c = graph.cast %q : !graph.tensor<"N, K", i8> -> !graph.tensor<"N, K", f16>
  %w = graph.map mul(%c, %s) : (!graph.tensor<"N, K", f16>, !graph.tensor<"N, 1", f16>) -> !graph.tensor<"N, K", f16>
  %t = graph.rearrange %w [1, 0] : !graph.tensor<"N, K", f16> -> !graph.tensor<"K, N", f16>
  %p = graph.matmul %x, %t : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %r = graph.map relu(%p) : (!graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16>
  return %r : !graph.tensor<"M, N", f16>
}

// -----

// So is a left operand.
// CHECK-LABEL: func.func @curved
// CHECK: %[[X:.*]] = graph.kernel "curved_left"(%arg0)
// CHECK: graph.map gelu
// CHECK: graph.kernel "curved"(%arg1, %[[X]]) {reasons = ["a product's left operand, computed for each block of columns again
// CHECK-NOT: graph.map gelu
// CHECK: return
func.func @curved(%x: !graph.tensor<"M, K", f16>, %w: !graph.tensor<"K, N", f16>) -> !graph.tensor<"M, N", f16> {
  %a = graph.map gelu(%x) : (!graph.tensor<"M, K", f16>) -> !graph.tensor<"M, K", f16>
  %p = graph.matmul %a, %w : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  return %p : !graph.tensor<"M, N", f16>
}

// -----

// Arrays stay where they are.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: plain_
// CHECK: return
func.func @plain(%x: !graph.tensor<"M, K", f16>, %w: !graph.tensor<"N, K", f16>) -> !graph.tensor<"M, N", f16> {
  %t = graph.rearrange %w [1, 0] : !graph.tensor<"N, K", f16> -> !graph.tensor<"K, N", f16>
  %p = graph.matmul %x, %t : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  return %p : !graph.tensor<"M, N", f16>
}
