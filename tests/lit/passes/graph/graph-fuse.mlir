// RUN: tile-opt %s --graph-to-kernels --split-input-file | FileCheck %s

// Numbers and weights are part of the kernel; what is computed twice is computed once.
// CHECK-LABEL: @softmax
// CHECK: graph.kernel "softmax"(%arg0) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
// CHECK-COUNT-1: graph.map exp
// CHECK-NOT: graph.map exp
// CHECK-NOT: graph.kernel
func.func @softmax(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %m = graph.reduce max %x [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %d = graph.map sub(%x, %m1) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %e = graph.map exp(%d) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %again = graph.map exp(%d) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %s = graph.reduce sum %again [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %s1 = graph.rearrange %s [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %r = graph.map div(%e, %s1) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  return %r : !graph.tensor<"M, N", f32>
}

// -----

// Reductions over different dimensions are two kernels, and the reason is kept.
// CHECK-LABEL: @rows_and_columns
// CHECK: graph.kernel "rows_and_columns_0"
// CHECK: graph.kernel "rows_and_columns_1"
// CHECK-SAME: reasons = ["`sum`{{.*}} not with `max`{{.*}}: `sum`{{.*}} reduces over `M`, `max`{{.*}} over `N`"]
func.func @rows_and_columns(%x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M", f32>, !graph.tensor<"N", f32>) {
  %e = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %m = graph.reduce max %e [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %s = graph.reduce sum %e [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N", f32>
  return %m, %s : !graph.tensor<"M", f32>, !graph.tensor<"N", f32>
}

// -----

// Dimensions of the same size that nothing connects: the result of a square is needed in
// two orders at once.
// CHECK-LABEL: @symmetric
// CHECK: graph.kernel "symmetric_0"
// CHECK: graph.kernel "symmetric_1"
// CHECK-SAME: two orders of dimensions
func.func @symmetric(%x: !graph.tensor<"N, N", f32>) -> !graph.tensor<"N, N", f32> {
  %e = graph.map exp(%x) : (!graph.tensor<"N, N", f32>) -> !graph.tensor<"N, N", f32>
  %t = graph.rearrange %e [1, 0] : !graph.tensor<"N, N", f32> -> !graph.tensor<"N, N", f32>
  %r = graph.map add(%e, %t) : (!graph.tensor<"N, N", f32>, !graph.tensor<"N, N", f32>) -> !graph.tensor<"N, N", f32>
  return %r : !graph.tensor<"N, N", f32>
}

// -----

// A parameter may be read in two orders.
// CHECK-LABEL: @both_orders
// CHECK: graph.kernel "both_orders"
// CHECK-NOT: graph.kernel
func.func @both_orders(%x: !graph.tensor<"N, N", f32>) -> !graph.tensor<"N, N", f32> {
  %t = graph.rearrange %x [1, 0] : !graph.tensor<"N, N", f32> -> !graph.tensor<"N, N", f32>
  %r = graph.map add(%x, %t) : (!graph.tensor<"N, N", f32>, !graph.tensor<"N, N", f32>) -> !graph.tensor<"N, N", f32>
  return %r : !graph.tensor<"N, N", f32>
}

// -----

// Two that read the same and do not wait for each other are one; two that have nothing
// in common are not.
// CHECK-LABEL: @siblings
// CHECK: graph.kernel "siblings_0"(%arg0) : (!graph.tensor<"N", f32>) -> (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>)
// CHECK: graph.kernel "siblings_1"(%arg1)
// CHECK-NOT: graph.kernel
func.func @siblings(%x: !graph.tensor<"N", f32>, %y: !graph.tensor<"N", f32>) -> (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>, !graph.tensor<"N", f32>) {
  %a = graph.map exp(%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  %b = graph.map sin(%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  %c = graph.map sin(%y) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  return %a, %b, %c : !graph.tensor<"N", f32>, !graph.tensor<"N", f32>, !graph.tensor<"N", f32>
}

// -----

// What would wait for itself by way of another kernel stays apart.
// CHECK-LABEL: @around
// CHECK: graph.kernel "around_0"
// CHECK: graph.kernel "around_1"
// CHECK: graph.kernel "around_2"
// CHECK-SAME: wait for
func.func @around(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %e = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %m = graph.reduce max %e [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %t = graph.reduce sum %m [0] : !graph.tensor<"M", f32> -> !graph.tensor<"", f32>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %r = graph.map mul(%e, %m1) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %q = graph.map div(%r, %t) : (!graph.tensor<"M, N", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"M, N", f32>
  return %q : !graph.tensor<"M, N", f32>
}

// -----

// A product takes what is done with the elements of its operands and of its result along,
// but no norm in front of it, and no second product.
// CHECK-LABEL: @mlp
// CHECK: graph.kernel "mlp_0"
// CHECK: graph.reduce
// CHECK: graph.kernel "mlp_1"
// CHECK-SAME: reasons = ["`matmul`{{.*}} not with {{.*}} needs whole rows
// CHECK: graph.map tanh
// CHECK: graph.matmul
// CHECK: graph.map relu
// CHECK: graph.kernel "mlp_2"
// CHECK-SAME: is another product than
// CHECK: graph.matmul
// CHECK: graph.map add
// CHECK-NOT: graph.kernel
func.func @mlp(%x: !graph.tensor<"M, K", f16>, %v: !graph.tensor<"K, N", f16>, %w: !graph.tensor<"N, K", f16>) -> !graph.tensor<"M, K", f16> {
  %s = graph.reduce sum %x [1] : !graph.tensor<"M, K", f16> -> !graph.tensor<"M", f16>
  %s1 = graph.rearrange %s [0, -1] : !graph.tensor<"M", f16> -> !graph.tensor<"M, 1", f16>
  %n = graph.map div(%x, %s1) : (!graph.tensor<"M, K", f16>, !graph.tensor<"M, 1", f16>) -> !graph.tensor<"M, K", f16>
  %t = graph.map tanh(%v) : (!graph.tensor<"K, N", f16>) -> !graph.tensor<"K, N", f16>
  %p = graph.matmul %n, %t : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %r = graph.map relu(%p) : (!graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16>
  %q = graph.matmul %r, %w : !graph.tensor<"M, N", f16>, !graph.tensor<"N, K", f16> -> !graph.tensor<"M, K", f16>
  %y = graph.map add(%q, %x) : (!graph.tensor<"M, K", f16>, !graph.tensor<"M, K", f16>) -> !graph.tensor<"M, K", f16>
  return %y : !graph.tensor<"M, K", f16>
}

// -----

// What is computed of an operand and needed elsewhere too is computed once.
// CHECK-LABEL: @shared
// CHECK: graph.kernel "shared_0"
// CHECK: graph.kernel "shared_1"
// CHECK-SAME: is needed elsewhere too
func.func @shared(%x: !graph.tensor<"M, K", f16>, %w: !graph.tensor<"K, N", f16>) -> (!graph.tensor<"M, N", f16>, !graph.tensor<"M, K", f16>) {
  %e = graph.map exp(%x) : (!graph.tensor<"M, K", f16>) -> !graph.tensor<"M, K", f16>
  %p = graph.matmul %e, %w : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  return %p, %e : !graph.tensor<"M, N", f16>, !graph.tensor<"M, K", f16>
}
