// What the graph dialect folds, and the nearest that it must not.
// RUN: tile-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @ones
// CHECK: return %arg0, %{{.*}} :
// CHECK-NOT: return %arg0, %arg0
func.func @ones(%x: !graph.tensor<"M", f32>) -> (!graph.tensor<"M", f32>, !graph.tensor<"M", f32>) {
  %one = graph.constant 1.0 : f64 : !graph.tensor<"", f32>
  %zero = graph.constant 0.0 : f64 : !graph.tensor<"", f32>
  %a = graph.map mul(%x, %one) : (!graph.tensor<"M", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"M", f32>
  %b = graph.map div(%a, %one) : (!graph.tensor<"M", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"M", f32>
  // -0 + 0 is 0.
  %c = graph.map add(%x, %zero) : (!graph.tensor<"M", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"M", f32>
  return %b, %c : !graph.tensor<"M", f32>, !graph.tensor<"M", f32>
}

// Two transpositions are one, or none.
// CHECK-LABEL: @rearranged
// CHECK: %[[A:.*]] = graph.rearrange %arg0 [1, -1, 0]
// CHECK: return %arg0, %[[A]]
func.func @rearranged(%x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"N, 1, M", f32>) {
  %t = graph.rearrange %x [1, 0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N, M", f32>
  %a = graph.rearrange %t [1, 0] : !graph.tensor<"N, M", f32> -> !graph.tensor<"M, N", f32>
  %b = graph.rearrange %t [0, -1, 1] : !graph.tensor<"N, M", f32> -> !graph.tensor<"N, 1, M", f32>
  return %a, %b : !graph.tensor<"M, N", f32>, !graph.tensor<"N, 1, M", f32>
}

// CHECK-LABEL: @casts
// CHECK: graph.cast %arg0 : !graph.tensor<"M", f32> -> !graph.tensor<"M", f16>
// CHECK-NOT: graph.cast
func.func @casts(%x: !graph.tensor<"M", f32>) -> !graph.tensor<"M", f16> {
  %a = graph.cast %x : !graph.tensor<"M", f32> -> !graph.tensor<"M", f32>
  %b = graph.cast %a : !graph.tensor<"M", f32> -> !graph.tensor<"M", f16>
  return %b : !graph.tensor<"M", f16>
}

// Along a dimension of 1 there is nothing to combine.
// CHECK-LABEL: @reductions
// CHECK: %[[A:.*]] = graph.rearrange %arg0 [1, 2] : !graph.tensor<"1, M, N", f32> -> !graph.tensor<"M, N", f32>
// CHECK: %[[B:.*]] = graph.reduce sum %{{.*}} [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N", f32>
// CHECK: return %[[A]], %[[B]]
func.func @reductions(%x: !graph.tensor<"1, M, N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"N", f32>) {
  %a = graph.reduce max %x [0] : !graph.tensor<"1, M, N", f32> -> !graph.tensor<"M, N", f32>
  %b = graph.reduce sum %x [0, 1] : !graph.tensor<"1, M, N", f32> -> !graph.tensor<"N", f32>
  return %a, %b : !graph.tensor<"M, N", f32>, !graph.tensor<"N", f32>
}

// A dimension of one that is left out and put there again is where it was.
// CHECK-LABEL: @kept_dimension
// CHECK-NEXT: return %arg0
func.func @kept_dimension(%x: !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, 1", f32> {
  %y = graph.rearrange %x [0, -1] : !graph.tensor<"M, 1", f32> -> !graph.tensor<"M, 1", f32>
  return %y : !graph.tensor<"M, 1", f32>
}

// What is chosen of one value is that value, in its own shape.
// CHECK-LABEL: @no_choice
// CHECK: %[[E:.*]] = graph.map where(%arg0, %arg2, %arg2)
// CHECK: return %arg1, %[[E]]
func.func @no_choice(%c: !graph.tensor<"M, N", i1>, %x: !graph.tensor<"M, N", f32>, %y: !graph.tensor<"N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) {
  %s = graph.map where(%c, %x, %x) : (!graph.tensor<"M, N", i1>, !graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %e = graph.map where(%c, %y, %y) : (!graph.tensor<"M, N", i1>, !graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"M, N", f32>
  return %s, %e : !graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>
}
