// RUN: tile-opt %s --graph-chain-products --split-input-file | FileCheck %s
// RUN: tile-opt %s --graph-to-kernels --split-input-file | FileCheck %s --check-prefix=KERNEL

// The product multiplies the powers, rounded as their quotients were; the sum divides its result.
// CHECK-LABEL: @attention
// CHECK: %[[E:.*]] = graph.map exp
// CHECK: %[[S:.*]] = graph.reduce sum %[[E]] [1]
// CHECK: %[[P:.*]] = graph.cast %[[E]] {{.*}} -> !graph.tensor<"T, S", f16>
// CHECK: %[[A:.*]] = graph.matmul %[[P]], %arg2
// CHECK: %[[S1:.*]] = graph.rearrange %[[S]] [0, -1]
// CHECK: graph.map div(%[[A]], %[[S1]]) {{.*}} -> !graph.tensor<"T, D", f32>
// CHECK: graph.cast {{.*}} -> !graph.tensor<"T, D", f16>
// KERNEL: graph.kernel "attention"(%arg0, %arg1, %arg2)
// KERNEL-NOT: graph.kernel
func.func @attention(%q: !graph.tensor<"T, D", f16>, %k: !graph.tensor<"D, S", f16>, %v: !graph.tensor<"S, D", f16>) -> !graph.tensor<"T, D", f16> {
  %s = graph.matmul %q, %k : !graph.tensor<"T, D", f16>, !graph.tensor<"D, S", f16> -> !graph.tensor<"T, S", f16>
  %x = graph.cast %s : !graph.tensor<"T, S", f16> -> !graph.tensor<"T, S", f32>
  %m = graph.reduce max %x [1] : !graph.tensor<"T, S", f32> -> !graph.tensor<"T", f32>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"T", f32> -> !graph.tensor<"T, 1", f32>
  %d = graph.map sub(%x, %m1) : (!graph.tensor<"T, S", f32>, !graph.tensor<"T, 1", f32>) -> !graph.tensor<"T, S", f32>
  %e = graph.map exp(%d) : (!graph.tensor<"T, S", f32>) -> !graph.tensor<"T, S", f32>
  %l = graph.reduce sum %e [1] : !graph.tensor<"T, S", f32> -> !graph.tensor<"T", f32>
  %l1 = graph.rearrange %l [0, -1] : !graph.tensor<"T", f32> -> !graph.tensor<"T, 1", f32>
  %p = graph.map div(%e, %l1) : (!graph.tensor<"T, S", f32>, !graph.tensor<"T, 1", f32>) -> !graph.tensor<"T, S", f32>
  %p16 = graph.cast %p : !graph.tensor<"T, S", f32> -> !graph.tensor<"T, S", f16>
  %o = graph.matmul %p16, %v : !graph.tensor<"T, S", f16>, !graph.tensor<"S, D", f16> -> !graph.tensor<"T, D", f16>
  return %o : !graph.tensor<"T, D", f16>
}

// -----

// A factor above 0 moves out of a mask, where it is part of the powers; one that may be below
// stays.
// CHECK-LABEL: @masked
// CHECK-SAME: %{{[^ ]*}}: {{.*}}, %[[N:arg3]]: !graph.tensor<"", f32>
// CHECK: %[[C:.*]] = graph.constant 1.250000e-01
// CHECK: %[[BY:.*]] = graph.map mul(%{{.*}}, %[[N]])
// CHECK: %[[W:.*]] = graph.map where(%{{.*}}, %[[BY]], %{{.*}})
// CHECK: %[[X:.*]] = graph.map mul(%[[W]], %[[C]])
// CHECK: graph.reduce max %[[X]]
// KERNEL-LABEL: @masked
// KERNEL: graph.kernel "masked"
// KERNEL-NOT: graph.kernel
func.func @masked(%q: !graph.tensor<"T, D", f32>, %k: !graph.tensor<"D, T", f32>, %v: !graph.tensor<"T, D", f32>, %n: !graph.tensor<"", f32>) -> !graph.tensor<"T, D", f32> {
  %c = graph.constant 0.125 : f64 : !graph.tensor<"", f32>
  %none = graph.constant 0xFFF0000000000000 : f64 : !graph.tensor<"", f32>
  %i = graph.index : !graph.tensor<"T", i32>
  %r = graph.rearrange %i [0, -1] : !graph.tensor<"T", i32> -> !graph.tensor<"T, 1", i32>
  %sees = graph.map ge(%r, %i) : (!graph.tensor<"T, 1", i32>, !graph.tensor<"T", i32>) -> !graph.tensor<"T, T", i1>
  %s = graph.matmul %q, %k : !graph.tensor<"T, D", f32>, !graph.tensor<"D, T", f32> -> !graph.tensor<"T, T", f32>
  %s1 = graph.map mul(%s, %n) : (!graph.tensor<"T, T", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"T, T", f32>
  %s2 = graph.map mul(%s1, %c) : (!graph.tensor<"T, T", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"T, T", f32>
  %x = graph.map where(%sees, %s2, %none) : (!graph.tensor<"T, T", i1>, !graph.tensor<"T, T", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"T, T", f32>
  %m = graph.reduce max %x [1] : !graph.tensor<"T, T", f32> -> !graph.tensor<"T", f32>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"T", f32> -> !graph.tensor<"T, 1", f32>
  %d = graph.map sub(%x, %m1) : (!graph.tensor<"T, T", f32>, !graph.tensor<"T, 1", f32>) -> !graph.tensor<"T, T", f32>
  %e = graph.map exp(%d) : (!graph.tensor<"T, T", f32>) -> !graph.tensor<"T, T", f32>
  %l = graph.reduce sum %e [1] : !graph.tensor<"T, T", f32> -> !graph.tensor<"T", f32>
  %l1 = graph.rearrange %l [0, -1] : !graph.tensor<"T", f32> -> !graph.tensor<"T, 1", f32>
  %o = graph.matmul %e, %v : !graph.tensor<"T, T", f32>, !graph.tensor<"T, D", f32> -> !graph.tensor<"T, D", f32>
  %y = graph.map div(%o, %l1) : (!graph.tensor<"T, D", f32>, !graph.tensor<"T, 1", f32>) -> !graph.tensor<"T, D", f32>
  return %y : !graph.tensor<"T, D", f32>
}

// -----

// Who wants the quotients has them stored: nothing changes.
// CHECK-LABEL: @stored
// CHECK: graph.map div
// CHECK: graph.matmul {{.*}} {graph.unchained = "`div`{{.*}} is needed elsewhere too, by `return`{{.*}}, so that it is stored"}
// KERNEL-LABEL: @stored
// KERNEL-COUNT-3: graph.kernel
// KERNEL-SAME: reasons = [{{.*}}"softmax not with `matmul`{{.*}}: `div`
func.func @stored(%q: !graph.tensor<"T, D", f32>, %k: !graph.tensor<"D, S", f32>, %v: !graph.tensor<"S, D", f32>) -> (!graph.tensor<"T, D", f32>, !graph.tensor<"T, S", f32>) {
  %x = graph.matmul %q, %k : !graph.tensor<"T, D", f32>, !graph.tensor<"D, S", f32> -> !graph.tensor<"T, S", f32>
  %m = graph.reduce max %x [1] : !graph.tensor<"T, S", f32> -> !graph.tensor<"T", f32>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"T", f32> -> !graph.tensor<"T, 1", f32>
  %d = graph.map sub(%x, %m1) : (!graph.tensor<"T, S", f32>, !graph.tensor<"T, 1", f32>) -> !graph.tensor<"T, S", f32>
  %e = graph.map exp(%d) : (!graph.tensor<"T, S", f32>) -> !graph.tensor<"T, S", f32>
  %l = graph.reduce sum %e [1] : !graph.tensor<"T, S", f32> -> !graph.tensor<"T", f32>
  %l1 = graph.rearrange %l [0, -1] : !graph.tensor<"T", f32> -> !graph.tensor<"T, 1", f32>
  %p = graph.map div(%e, %l1) : (!graph.tensor<"T, S", f32>, !graph.tensor<"T, 1", f32>) -> !graph.tensor<"T, S", f32>
  %o = graph.matmul %p, %v : !graph.tensor<"T, S", f32>, !graph.tensor<"S, D", f32> -> !graph.tensor<"T, D", f32>
  return %o, %p : !graph.tensor<"T, D", f32>, !graph.tensor<"T, S", f32>
}

// -----

// Dropout takes powers away, which is the same before the division.
// CHECK-LABEL: @dropped
// CHECK: %[[E:.*]] = graph.map exp
// CHECK: %[[M:.*]] = graph.map where(%{{.*}}, %[[E]], %{{.*}})
// CHECK: %[[O:.*]] = graph.matmul %[[M]]
// CHECK: graph.map div(%[[O]],
// KERNEL-LABEL: @dropped
// KERNEL-COUNT-1: graph.kernel
// KERNEL-NOT: graph.kernel
func.func @dropped(%q: !graph.tensor<"T, D", f32>, %k: !graph.tensor<"D, S", f32>, %v: !graph.tensor<"S, D", f32>, %c: !graph.tensor<"T, S", i1>) -> !graph.tensor<"T, D", f32> {
  %zero = graph.constant 0.0 : f64 : !graph.tensor<"", f32>
  %share = graph.constant 0.5 : f64 : !graph.tensor<"", f32>
  %x = graph.matmul %q, %k : !graph.tensor<"T, D", f32>, !graph.tensor<"D, S", f32> -> !graph.tensor<"T, S", f32>
  %m = graph.reduce max %x [1] : !graph.tensor<"T, S", f32> -> !graph.tensor<"T", f32>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"T", f32> -> !graph.tensor<"T, 1", f32>
  %d = graph.map sub(%x, %m1) : (!graph.tensor<"T, S", f32>, !graph.tensor<"T, 1", f32>) -> !graph.tensor<"T, S", f32>
  %e = graph.map exp(%d) : (!graph.tensor<"T, S", f32>) -> !graph.tensor<"T, S", f32>
  %l = graph.reduce sum %e [1] : !graph.tensor<"T, S", f32> -> !graph.tensor<"T", f32>
  %l1 = graph.rearrange %l [0, -1] : !graph.tensor<"T", f32> -> !graph.tensor<"T, 1", f32>
  %p = graph.map div(%e, %l1) : (!graph.tensor<"T, S", f32>, !graph.tensor<"T, 1", f32>) -> !graph.tensor<"T, S", f32>
  %h = graph.map div(%p, %share) : (!graph.tensor<"T, S", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"T, S", f32>
  %w = graph.map where(%c, %h, %zero) : (!graph.tensor<"T, S", i1>, !graph.tensor<"T, S", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"T, S", f32>
  %o = graph.matmul %w, %v : !graph.tensor<"T, S", f32>, !graph.tensor<"S, D", f32> -> !graph.tensor<"T, D", f32>
  return %o : !graph.tensor<"T, D", f32>
}

// -----

// Without a softmax: what is computed of scores element by element is multiplied block by block.
// CHECK-LABEL: @retention
// CHECK: graph.matmul {{.*}} {graph.chained}
// KERNEL-LABEL: @retention
// KERNEL: graph.kernel
// KERNEL-NOT: graph.kernel
func.func @retention(%q: !graph.tensor<"H, T, D", f16>, %k: !graph.tensor<"H, D, S", f16>, %w: !graph.tensor<"H, T, S", f16>, %v: !graph.tensor<"H, S, E", f16>) -> !graph.tensor<"H, T, E", f16> {
  %s = graph.matmul %q, %k : !graph.tensor<"H, T, D", f16>, !graph.tensor<"H, D, S", f16> -> !graph.tensor<"H, T, S", f16>
  %x = graph.map mul(%s, %w) : (!graph.tensor<"H, T, S", f16>, !graph.tensor<"H, T, S", f16>) -> !graph.tensor<"H, T, S", f16>
  %o = graph.matmul %x, %v : !graph.tensor<"H, T, S", f16>, !graph.tensor<"H, S, E", f16> -> !graph.tensor<"H, T, E", f16>
  return %o : !graph.tensor<"H, T, E", f16>
}

// -----

// Weights are no batches: of many columns a program could hold no block.
// CHECK-LABEL: @network
// CHECK-NOT: graph.chained
// KERNEL-LABEL: @network
func.func @network(%x: !graph.tensor<"B, T, D", f16>, %w: !graph.tensor<"D, F", f16>, %v: !graph.tensor<"F, D", f16>) -> !graph.tensor<"B, T, D", f16> {
  %s = graph.matmul %x, %w : !graph.tensor<"B, T, D", f16>, !graph.tensor<"D, F", f16> -> !graph.tensor<"B, T, F", f16>
  %y = graph.map gelu(%s) : (!graph.tensor<"B, T, F", f16>) -> !graph.tensor<"B, T, F", f16>
  %o = graph.matmul %y, %v : !graph.tensor<"B, T, F", f16>, !graph.tensor<"F, D", f16> -> !graph.tensor<"B, T, D", f16>
  return %o : !graph.tensor<"B, T, D", f16>
}
