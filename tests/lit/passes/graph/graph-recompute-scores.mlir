// RUN: tile-opt %s --pass-pipeline="builtin.module(func.func(graph-recompute-scores))" --split-input-file | FileCheck %s
// RUN: tile-opt %s --graph-to-kernels --split-input-file | FileCheck %s --check-prefix=KERNEL

// The gradient of attention by values: scores are computed again with keys as rows. Maxima and sums
// are arrays of f32.
// CHECK-LABEL: @by_values
// CHECK: %[[M:.*]] = graph.reduce max {{.*}} -> !graph.tensor<"B, T", f32>
// CHECK: %[[L:.*]] = graph.reduce sum {{.*}} -> !graph.tensor<"B, T", f32>
// CHECK: %[[S:.*]] = graph.matmul %arg1, %{{.*}} -> !graph.tensor<"B, S, T", f16>
// CHECK: graph.map exp({{.*}} -> !graph.tensor<"B, S, T", f32>
// CHECK: %[[P:.*]] = graph.cast {{.*}} -> !graph.tensor<"B, S, T", f16>
// CHECK: graph.matmul %[[P]], %arg3 {graph.chained}
// KERNEL-LABEL: @by_values
// KERNEL: graph.kernel "by_values_0"
// KERNEL: -> !graph.tensor<"B, T, D", f16>
// KERNEL: graph.kernel "by_values_1"
// KERNEL-NOT: graph.kernel
// KERNEL-NOT: !graph.tensor<"B, S, T", f16> {
// KERNEL: return
func.func @by_values(%q: !graph.tensor<"B, T, D", f16>, %k: !graph.tensor<"B, S, D", f16>, %v: !graph.tensor<"B, S, D", f16>, %g: !graph.tensor<"B, T, D", f16>) -> (!graph.tensor<"B, T, D", f16>, !graph.tensor<"B, S, D", f16>) {
  %kt = graph.rearrange %k [0, 2, 1] : !graph.tensor<"B, S, D", f16> -> !graph.tensor<"B, D, S", f16>
  %s = graph.matmul %q, %kt : !graph.tensor<"B, T, D", f16>, !graph.tensor<"B, D, S", f16> -> !graph.tensor<"B, T, S", f16>
  %m = graph.reduce max %s [2] : !graph.tensor<"B, T, S", f16> -> !graph.tensor<"B, T", f16>
  %m1 = graph.rearrange %m [0, 1, -1] : !graph.tensor<"B, T", f16> -> !graph.tensor<"B, T, 1", f16>
  %d = graph.map sub(%s, %m1) : (!graph.tensor<"B, T, S", f16>, !graph.tensor<"B, T, 1", f16>) -> !graph.tensor<"B, T, S", f16>
  %e = graph.map exp(%d) : (!graph.tensor<"B, T, S", f16>) -> !graph.tensor<"B, T, S", f16>
  %l = graph.reduce sum %e [2] : !graph.tensor<"B, T, S", f16> -> !graph.tensor<"B, T", f16>
  %l1 = graph.rearrange %l [0, 1, -1] : !graph.tensor<"B, T", f16> -> !graph.tensor<"B, T, 1", f16>
  %p = graph.map div(%e, %l1) : (!graph.tensor<"B, T, S", f16>, !graph.tensor<"B, T, 1", f16>) -> !graph.tensor<"B, T, S", f16>
  %o = graph.matmul %p, %v : !graph.tensor<"B, T, S", f16>, !graph.tensor<"B, S, D", f16> -> !graph.tensor<"B, T, D", f16>
  %pt = graph.rearrange %p [0, 2, 1] : !graph.tensor<"B, T, S", f16> -> !graph.tensor<"B, S, T", f16>
  %dv = graph.matmul %pt, %g : !graph.tensor<"B, S, T", f16>, !graph.tensor<"B, T, D", f16> -> !graph.tensor<"B, S, D", f16>
  return %o, %dv : !graph.tensor<"B, T, D", f16>, !graph.tensor<"B, S, D", f16>
}

// -----

// What is returned is stored: nothing is computed again.
// CHECK-LABEL: @returned
// CHECK-NOT: graph.chained
func.func @returned(%q: !graph.tensor<"B, T, D", f16>, %k: !graph.tensor<"B, S, D", f16>, %v: !graph.tensor<"B, S, D", f16>, %g: !graph.tensor<"B, T, D", f16>) -> (!graph.tensor<"B, T, D", f16>, !graph.tensor<"B, S, D", f16>, !graph.tensor<"B, T, S", f16>) {
  %kt = graph.rearrange %k [0, 2, 1] : !graph.tensor<"B, S, D", f16> -> !graph.tensor<"B, D, S", f16>
  %s = graph.matmul %q, %kt : !graph.tensor<"B, T, D", f16>, !graph.tensor<"B, D, S", f16> -> !graph.tensor<"B, T, S", f16>
  %m = graph.reduce max %s [2] : !graph.tensor<"B, T, S", f16> -> !graph.tensor<"B, T", f16>
  %m1 = graph.rearrange %m [0, 1, -1] : !graph.tensor<"B, T", f16> -> !graph.tensor<"B, T, 1", f16>
  %d = graph.map sub(%s, %m1) : (!graph.tensor<"B, T, S", f16>, !graph.tensor<"B, T, 1", f16>) -> !graph.tensor<"B, T, S", f16>
  %e = graph.map exp(%d) : (!graph.tensor<"B, T, S", f16>) -> !graph.tensor<"B, T, S", f16>
  %o = graph.matmul %e, %v : !graph.tensor<"B, T, S", f16>, !graph.tensor<"B, S, D", f16> -> !graph.tensor<"B, T, D", f16>
  %pt = graph.rearrange %e [0, 2, 1] : !graph.tensor<"B, T, S", f16> -> !graph.tensor<"B, S, T", f16>
  %dv = graph.matmul %pt, %g : !graph.tensor<"B, S, T", f16>, !graph.tensor<"B, T, D", f16> -> !graph.tensor<"B, S, D", f16>
  return %o, %dv, %e : !graph.tensor<"B, T, D", f16>, !graph.tensor<"B, S, D", f16>, !graph.tensor<"B, T, S", f16>
}
