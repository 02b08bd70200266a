// RUN: tile-opt %s --pass-pipeline="builtin.module(func.func(graph-normalize,graph-lower-views))" --split-input-file | FileCheck %s

// Rows that are one dimension for a product alone are multiplied as they lie, and what is done with
// its result, in whatever shape, is done there.
// CHECK-LABEL: @joined_rows
// CHECK-NOT: graph.gather
// CHECK: %[[M:.*]] = graph.matmul %arg0, %arg1
// CHECK: %[[B:.*]] = graph.rearrange %arg2 [-1, -1, 0]
// CHECK: %[[N:.*]] = graph.map add(%[[M]], %[[B]])
// CHECK: %[[Z:.*]] = graph.map add(%arg3, %[[N]])
// CHECK: return %[[Z]]
func.func @joined_rows(%x: !graph.tensor<"B, S, D", f32>, %w: !graph.tensor<"D, F", f32>, %b: !graph.tensor<"F", f32>, %r: !graph.tensor<"B, S, F", f32>) -> !graph.tensor<"B, S, F", f32> {
  %e = graph.reshape %x : !graph.tensor<"B, S, D", f32> -> !graph.tensor<"B*S, D", f32>
  %m = graph.matmul %e, %w : !graph.tensor<"B*S, D", f32>, !graph.tensor<"D, F", f32> -> !graph.tensor<"B*S, F", f32>
  %n = graph.map add(%m, %b) : (!graph.tensor<"B*S, F", f32>, !graph.tensor<"F", f32>) -> !graph.tensor<"B*S, F", f32>
  %y = graph.reshape %n : !graph.tensor<"B*S, F", f32> -> !graph.tensor<"B, S, F", f32>
  %z = graph.map add(%r, %y) : (!graph.tensor<"B, S, F", f32>, !graph.tensor<"B, S, F", f32>) -> !graph.tensor<"B, S, F", f32>
  return %z : !graph.tensor<"B, S, F", f32>
}

// -----

// A sum of a few numbers that nobody stores, of arrays that repeat, is a sum of maps.
// CHECK-LABEL: @distances
// CHECK-NOT: graph.reduce sum
// CHECK-COUNT-2: graph.map square
// CHECK: %[[S:.*]] = graph.map add(%{{.*}}, %{{.*}}) : {{.*}} -> !graph.tensor<"M, N", f32>
// CHECK: graph.reduce min %[[S]] [1]
func.func @distances(%x: !graph.tensor<"M, 2", f32>, %y: !graph.tensor<"N, 2", f32>) -> !graph.tensor<"M", f32> {
  %a = graph.rearrange %x [0, -1, 1] : !graph.tensor<"M, 2", f32> -> !graph.tensor<"M, 1, 2", f32>
  %d = graph.map sub(%a, %y) : (!graph.tensor<"M, 1, 2", f32>, !graph.tensor<"N, 2", f32>) -> !graph.tensor<"M, N, 2", f32>
  %q = graph.map square(%d) : (!graph.tensor<"M, N, 2", f32>) -> !graph.tensor<"M, N, 2", f32>
  %s = graph.reduce sum %q [2] : !graph.tensor<"M, N, 2", f32> -> !graph.tensor<"M, N", f32>
  %m = graph.reduce min %s [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  return %m : !graph.tensor<"M", f32>
}

// -----

// Rows of an array are reduced as rows, however short.
// CHECK-LABEL: @short_rows
// CHECK: graph.reduce sum
func.func @short_rows(%x: !graph.tensor<"M, 2", f32>) -> !graph.tensor<"M", f32> {
  %q = graph.map square(%x) : (!graph.tensor<"M, 2", f32>) -> !graph.tensor<"M, 2", f32>
  %s = graph.reduce sum %q [1] : !graph.tensor<"M, 2", f32> -> !graph.tensor<"M", f32>
  return %s : !graph.tensor<"M", f32>
}

// -----

// Heads that share keys are rows of a product in front of queries that count products, or the other
// way round: it has the rows that the second product wants.
// CHECK-LABEL: @turned
// CHECK: %[[Q:.*]] = graph.rearrange %arg0 [0, 2, 1, 3]
// CHECK: %[[S:.*]] = graph.matmul %[[Q]], %{{.*}} -> !graph.tensor<"B, H, S, T", f32>
// CHECK: %[[E:.*]] = graph.map exp(%[[S]])
// CHECK: graph.matmul %[[E]]
func.func @turned(%q: !graph.tensor<"B, S, H, D", f32>, %k: !graph.tensor<"B, 1, D, T", f32>, %v: !graph.tensor<"B, 1, T, D", f32>) -> !graph.tensor<"B, H, S, D", f32> {
  %s = graph.matmul %q, %k : !graph.tensor<"B, S, H, D", f32>, !graph.tensor<"B, 1, D, T", f32> -> !graph.tensor<"B, S, H, T", f32>
  %t = graph.rearrange %s [0, 2, 1, 3] : !graph.tensor<"B, S, H, T", f32> -> !graph.tensor<"B, H, S, T", f32>
  %e = graph.map exp(%t) : (!graph.tensor<"B, H, S, T", f32>) -> !graph.tensor<"B, H, S, T", f32>
  %o = graph.matmul %e, %v : !graph.tensor<"B, H, S, T", f32>, !graph.tensor<"B, 1, T, D", f32> -> !graph.tensor<"B, H, S, D", f32>
  return %o : !graph.tensor<"B, H, S, D", f32>
}

// -----

// Not where each has keys of its own.
// CHECK-LABEL: @own_keys
// CHECK: %[[S:.*]] = graph.matmul %arg0, %arg1
// CHECK: graph.rearrange %[[S]]
func.func @own_keys(%q: !graph.tensor<"B, S, H, D", f32>, %k: !graph.tensor<"B, S, D, T", f32>, %v: !graph.tensor<"B, 1, T, D", f32>) -> !graph.tensor<"B, H, S, D", f32> {
  %s = graph.matmul %q, %k : !graph.tensor<"B, S, H, D", f32>, !graph.tensor<"B, S, D, T", f32> -> !graph.tensor<"B, S, H, T", f32>
  %t = graph.rearrange %s [0, 2, 1, 3] : !graph.tensor<"B, S, H, T", f32> -> !graph.tensor<"B, H, S, T", f32>
  %o = graph.matmul %t, %v : !graph.tensor<"B, H, S, T", f32>, !graph.tensor<"B, 1, T, D", f32> -> !graph.tensor<"B, H, S, D", f32>
  return %o : !graph.tensor<"B, H, S, D", f32>
}

// -----

// Scores with heads behind queries: all between the two products is computed in the order of both, and
// a mask is read in it.
// CHECK-LABEL: @heads_behind
// CHECK: %[[S:.*]] = graph.matmul %arg0, %arg1
// CHECK: %[[M:.*]] = graph.rearrange %arg3 [0, -1, 1, 2] : {{.*}} -> !graph.tensor<"B, 1, Q, K", f32>
// CHECK: %[[A:.*]] = graph.map add(%[[S]], %[[M]])
// CHECK: graph.reduce max %[[A]] [3]
// CHECK: %[[E:.*]] = graph.map exp
// CHECK: graph.reduce sum %[[E]] [3]
// CHECK: %[[P:.*]] = graph.map div(%[[E]]
// CHECK: graph.matmul %[[P]], %arg2
func.func @heads_behind(%q: !graph.tensor<"B, H, Q, D", f32>, %k: !graph.tensor<"B, H, D, K", f32>, %v: !graph.tensor<"B, H, K, D", f32>, %m: !graph.tensor<"B, Q, K", f32>) -> !graph.tensor<"B, H, Q, D", f32> {
  %s = graph.matmul %q, %k : !graph.tensor<"B, H, Q, D", f32>, !graph.tensor<"B, H, D, K", f32> -> !graph.tensor<"B, H, Q, K", f32>
  %r = graph.rearrange %s [0, 2, 1, 3] : !graph.tensor<"B, H, Q, K", f32> -> !graph.tensor<"B, Q, H, K", f32>
  %n = graph.rearrange %m [0, 1, -1, 2] : !graph.tensor<"B, Q, K", f32> -> !graph.tensor<"B, Q, 1, K", f32>
  %a = graph.map add(%r, %n) : (!graph.tensor<"B, Q, H, K", f32>, !graph.tensor<"B, Q, 1, K", f32>) -> !graph.tensor<"B, Q, H, K", f32>
  %x = graph.reduce max %a [3] : !graph.tensor<"B, Q, H, K", f32> -> !graph.tensor<"B, Q, H", f32>
  %y = graph.rearrange %x [0, 1, 2, -1] : !graph.tensor<"B, Q, H", f32> -> !graph.tensor<"B, Q, H, 1", f32>
  %d = graph.map sub(%a, %y) : (!graph.tensor<"B, Q, H, K", f32>, !graph.tensor<"B, Q, H, 1", f32>) -> !graph.tensor<"B, Q, H, K", f32>
  %e = graph.map exp(%d) : (!graph.tensor<"B, Q, H, K", f32>) -> !graph.tensor<"B, Q, H, K", f32>
  %t = graph.reduce sum %e [3] : !graph.tensor<"B, Q, H, K", f32> -> !graph.tensor<"B, Q, H", f32>
  %u = graph.rearrange %t [0, 1, 2, -1] : !graph.tensor<"B, Q, H", f32> -> !graph.tensor<"B, Q, H, 1", f32>
  %p = graph.map div(%e, %u) : (!graph.tensor<"B, Q, H, K", f32>, !graph.tensor<"B, Q, H, 1", f32>) -> !graph.tensor<"B, Q, H, K", f32>
  %w = graph.rearrange %p [0, 2, 1, 3] : !graph.tensor<"B, Q, H, K", f32> -> !graph.tensor<"B, H, Q, K", f32>
  %o = graph.matmul %w, %v : !graph.tensor<"B, H, Q, K", f32>, !graph.tensor<"B, H, K, D", f32> -> !graph.tensor<"B, H, Q, D", f32>
  return %o : !graph.tensor<"B, H, Q, D", f32>
}

// -----

// The product has the order in which the next one takes its scores: heads in front of the batch.
// CHECK-LABEL: @batch_behind
// CHECK: %[[Q:.*]] = graph.rearrange %arg0 [1, 0, 2, 3]
// CHECK: %[[K:.*]] = graph.rearrange %arg1 [1, 0, 2, 3]
// CHECK: %[[S:.*]] = graph.matmul %[[Q]], %[[K]] : {{.*}} -> !graph.tensor<"H, B, Q, K", f32>
// CHECK: graph.reduce max %[[S]] [3]
func.func @batch_behind(%q: !graph.tensor<"B, H, Q, D", f32>, %k: !graph.tensor<"B, H, D, K", f32>, %v: !graph.tensor<"H, B, K, D", f32>) -> !graph.tensor<"H, B, Q, D", f32> {
  %s = graph.matmul %q, %k : !graph.tensor<"B, H, Q, D", f32>, !graph.tensor<"B, H, D, K", f32> -> !graph.tensor<"B, H, Q, K", f32>
  %a = graph.rearrange %s [1, 0, 2, 3] : !graph.tensor<"B, H, Q, K", f32> -> !graph.tensor<"H, B, Q, K", f32>
  %x = graph.reduce max %a [3] : !graph.tensor<"H, B, Q, K", f32> -> !graph.tensor<"H, B, Q", f32>
  %y = graph.rearrange %x [0, 1, 2, -1] : !graph.tensor<"H, B, Q", f32> -> !graph.tensor<"H, B, Q, 1", f32>
  %d = graph.map sub(%a, %y) : (!graph.tensor<"H, B, Q, K", f32>, !graph.tensor<"H, B, Q, 1", f32>) -> !graph.tensor<"H, B, Q, K", f32>
  %e = graph.map exp(%d) : (!graph.tensor<"H, B, Q, K", f32>) -> !graph.tensor<"H, B, Q, K", f32>
  %o = graph.matmul %e, %v : !graph.tensor<"H, B, Q, K", f32>, !graph.tensor<"H, B, K, D", f32> -> !graph.tensor<"H, B, Q, D", f32>
  return %o : !graph.tensor<"H, B, Q, D", f32>
}

// -----

// Powers by small numbers are products and a root, of halves in f32; others stay.
// CHECK-LABEL: @powers
// CHECK: %[[S:.*]] = graph.map square(%arg0)
// CHECK: %[[C:.*]] = graph.map mul(%arg0, %[[S]])
// CHECK: %[[B:.*]] = graph.map add(%arg0, %{{.*}})
// CHECK: %[[R:.*]] = graph.map rsqrt(%[[B]])
// CHECK: %[[Q:.*]] = graph.map square(%[[R]])
// CHECK: %[[D:.*]] = graph.map mul(%[[R]], %[[Q]])
// CHECK: %[[W:.*]] = graph.cast %arg1 : {{.*}} -> !graph.tensor<"N", f32>
// CHECK: %[[V:.*]] = graph.map square(%[[W]]) : {{.*}} -> !graph.tensor<"N", f32>
// CHECK: graph.cast %[[V]] : {{.*}} -> !graph.tensor<"N", f16>
// CHECK: graph.map pow(%arg0
func.func @powers(%x: !graph.tensor<"N", f32>, %h: !graph.tensor<"N", f16>) -> (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>, !graph.tensor<"N", f16>, !graph.tensor<"N", f32>) {
  %3 = graph.constant 3 : i64 : !graph.tensor<"", i32>
  %d = graph.constant -1.5 : f64 : !graph.tensor<"", f32>
  %2 = graph.constant 2.0 : f64 : !graph.tensor<"", f16>
  %o = graph.constant 1.7 : f64 : !graph.tensor<"", f32>
  %a = graph.map pow(%x, %3) : (!graph.tensor<"N", f32>, !graph.tensor<"", i32>) -> !graph.tensor<"N", f32>
  %b = graph.map pow(%x, %d) : (!graph.tensor<"N", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"N", f32>
  %c = graph.map pow(%h, %2) : (!graph.tensor<"N", f16>, !graph.tensor<"", f16>) -> !graph.tensor<"N", f16>
  %e = graph.map pow(%x, %o) : (!graph.tensor<"N", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"N", f32>
  return %a, %b, %c, %e : !graph.tensor<"N", f32>, !graph.tensor<"N", f32>, !graph.tensor<"N", f16>, !graph.tensor<"N", f32>
}

// -----

// A matrix times a vector is a sum along rows, of halves too if the rows lie in memory; a vector times
// a matrix of halves, which has what is added up outside, is a product.
// CHECK-LABEL: @vectors
// CHECK: %[[P:.*]] = graph.map mul(%{{.*}}, %{{.*}}) : {{.*}} -> !graph.tensor<"M, K", f32>
// CHECK: graph.reduce sum %[[P]] [1]
// CHECK: graph.matmul
func.func @vectors(%a: !graph.tensor<"M, K", f16>, %v: !graph.tensor<"K, 1", f16>, %u: !graph.tensor<"1, K", f16>, %b: !graph.tensor<"K, N", f16>) -> (!graph.tensor<"M, 1", f16>, !graph.tensor<"1, N", f16>) {
  %p = graph.matmul %a, %v : !graph.tensor<"M, K", f16>, !graph.tensor<"K, 1", f16> -> !graph.tensor<"M, 1", f16>
  %q = graph.matmul %u, %b : !graph.tensor<"1, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"1, N", f16>
  return %p, %q : !graph.tensor<"M, 1", f16>, !graph.tensor<"1, N", f16>
}
