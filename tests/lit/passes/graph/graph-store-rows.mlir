// What is one number of each row, and combined of all rows, is stored and combined by a kernel of its own.
// RUN: tile-opt %s --graph-to-kernels --graph-store-rows --split-input-file | FileCheck %s
// RUN: tile-opt %s --graph-to-kernels --graph-store-rows --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: 1 graph-store-rows - kernels that store what they had combined of rows

// The mean of losses: rows are stored once, whoever combines them.
// CHECK-LABEL: func.func @losses
// CHECK: %[[ROWS:.*]] = graph.kernel "losses_0"(%arg0)
// CHECK: graph.reduce sum
// CHECK-NOT: graph.partial
// CHECK: -> !graph.tensor<"M", f32>
// CHECK: graph.kernel "losses_0_rows"(%[[ROWS]]) : (!graph.tensor<"M", f32>) -> !graph.tensor<"parts.0", f32>
// CHECK: graph.partial sum
// CHECK: graph.kernel "losses_1"
// CHECK: return
func.func @losses(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"", f32> {
  %e = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %r = graph.reduce sum %e [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %s = graph.reduce sum %r [0] : !graph.tensor<"M", f32> -> !graph.tensor<"", f32>
  return %s : !graph.tensor<"", f32>
}

// -----

// Columns of the array itself are combined where its rows are at hand.
// CHECK-LABEL: func.func @both
// CHECK-NOT: _rows
// CHECK: return
func.func @both(%x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"N", f32>) {
  %r = graph.reduce max %x [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %w = graph.rearrange %r [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %d = graph.map sub(%x, %w) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %c = graph.reduce sum %d [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N", f32>
  return %d, %c : !graph.tensor<"M, N", f32>, !graph.tensor<"N", f32>
}
