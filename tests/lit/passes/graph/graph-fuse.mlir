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

// What is combined along columns is combined in parts by the kernel that reduces rows, and
// another one combines the parts: what both read is read once.
// CHECK-LABEL: @rows_and_columns
// CHECK: graph.kernel "rows_and_columns_0"(%arg0)
// CHECK: graph.reduce max
// CHECK: graph.partial sum %{{.*}} [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"parts.0, N", f32>
// CHECK: graph.kernel "rows_and_columns_1"
// CHECK: graph.reduce sum %{{.*}} [0] : !graph.tensor<"parts.0, N", f32> -> !graph.tensor<"N", f32>
// CHECK-NOT: graph.kernel
func.func @rows_and_columns(%x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M", f32>, !graph.tensor<"N", f32>) {
  %e = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %m = graph.reduce max %e [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %s = graph.reduce sum %e [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N", f32>
  return %m, %s : !graph.tensor<"M", f32>, !graph.tensor<"N", f32>
}

// -----

// All that one kernel combines in parts has as many of them.
// CHECK-LABEL: @parts
// CHECK: graph.kernel "parts_0"(%arg0)
// CHECK: graph.partial sum {{.*}} !graph.tensor<"parts.0, N", f32>
// CHECK: graph.partial max {{.*}} !graph.tensor<"parts.0, N", f32>
// CHECK: graph.kernel "parts_1"
// CHECK-NOT: graph.kernel
func.func @parts(%x: !graph.tensor<"M, N", f16>) -> (!graph.tensor<"N", f16>, !graph.tensor<"N", f16>) {
  %s = graph.reduce sum %x [0] : !graph.tensor<"M, N", f16> -> !graph.tensor<"N", f16>
  %m = graph.reduce max %x [0] : !graph.tensor<"M, N", f16> -> !graph.tensor<"N", f16>
  return %s, %m : !graph.tensor<"N", f16>, !graph.tensor<"N", f16>
}

// -----

// So have those that became one kernel last, because they read the same array.
// CHECK-LABEL: @parts_of_a_product
// CHECK: graph.matmul
// CHECK: graph.kernel "parts_of_a_product_1"
// CHECK-COUNT-2: graph.partial sum {{.*}} !graph.tensor<"parts.0", f32>
// CHECK-NOT: parts.1
func.func @parts_of_a_product(%x: !graph.tensor<"M, K", f32>, %y: !graph.tensor<"K, N", f32>) -> (!graph.tensor<"", f32>, !graph.tensor<"", f32>) {
  %z = graph.matmul %x, %y : !graph.tensor<"M, K", f32>, !graph.tensor<"K, N", f32> -> !graph.tensor<"M, N", f32>
  %q = graph.map mul(%z, %z) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %s = graph.reduce sum %q [0, 1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"", f32>
  %t = graph.reduce sum %z [0, 1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"", f32>
  return %s, %t : !graph.tensor<"", f32>, !graph.tensor<"", f32>
}

// -----

// A softmax along columns has its columns in hand.
// CHECK-LABEL: @columns
// CHECK: graph.kernel "columns"
// CHECK-NOT: graph.kernel
func.func @columns(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %s = graph.reduce sum %x [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N", f32>
  %r = graph.map div(%x, %s) : (!graph.tensor<"M, N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"M, N", f32>
  return %r : !graph.tensor<"M, N", f32>
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

// Two that read the same and do not wait for each other are one, and so are two that have
// nothing in common but how many elements they go over.
// CHECK-LABEL: @siblings
// CHECK: graph.kernel "siblings"(%arg0, %arg1)
// CHECK-NOT: graph.kernel
func.func @siblings(%x: !graph.tensor<"N", f32>, %y: !graph.tensor<"N", f32>) -> (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>, !graph.tensor<"N", f32>) {
  %a = graph.map exp(%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  %b = graph.map sin(%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  %c = graph.map sin(%y) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
  return %a, %b, %c : !graph.tensor<"N", f32>, !graph.tensor<"N", f32>, !graph.tensor<"N", f32>
}

// -----

// Rows to be reduced are held in registers: two kernels of such stay two, and so do kernels
// of other sizes.
// CHECK-LABEL: @apart
// CHECK-COUNT-3: graph.kernel
func.func @apart(%x: !graph.tensor<"M, N", f32>, %y: !graph.tensor<"M, N", f32>, %z: !graph.tensor<"K", f32>) -> (!graph.tensor<"M", f32>, !graph.tensor<"M", f32>, !graph.tensor<"K", f32>) {
  %a = graph.reduce max %x [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %b = graph.reduce max %y [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %c = graph.map sin(%z) : (!graph.tensor<"K", f32>) -> !graph.tensor<"K", f32>
  return %a, %b, %c : !graph.tensor<"M", f32>, !graph.tensor<"M", f32>, !graph.tensor<"K", f32>
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

// -----

// Two products of one left operand, with what joins them; another of other sizes stays apart.
// CHECK-LABEL: @gated
// CHECK: graph.kernel "gated_0"
// CHECK: graph.matmul
// CHECK: graph.matmul
// CHECK: graph.map mul
// CHECK: graph.kernel "gated_1"
// CHECK-NOT: graph.kernel
func.func @gated(%x: !graph.tensor<"M, K", f16>, %g: !graph.tensor<"K, N", f16>, %u: !graph.tensor<"K, N", f16>, %v: !graph.tensor<"K, L", f16>) -> (!graph.tensor<"M, N", f16>, !graph.tensor<"M, L", f16>) {
  %a = graph.matmul %x, %g : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %s = graph.map silu(%a) : (!graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16>
  %b = graph.matmul %x, %u : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %m = graph.map mul(%s, %b) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16>
  %c = graph.matmul %x, %v : !graph.tensor<"M, K", f16>, !graph.tensor<"K, L", f16> -> !graph.tensor<"M, L", f16>
  return %m, %c : !graph.tensor<"M, N", f16>, !graph.tensor<"M, L", f16>
}

// -----

// What reads only what a product has stored anyway is not stored beside it.
// CHECK-LABEL: @squares
// CHECK: graph.kernel "squares_0"
// CHECK-SAME: -> !graph.tensor<"M, N", f16> {
// CHECK: graph.kernel "squares_1"
// CHECK: graph.map square
// CHECK: graph.reduce sum
func.func @squares(%x: !graph.tensor<"M, K", f16>, %w: !graph.tensor<"K, N", f16>) -> (!graph.tensor<"M, N", f16>, !graph.tensor<"M", f16>) {
  %p = graph.matmul %x, %w : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %s = graph.map square(%p) : (!graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16>
  %r = graph.reduce sum %s [1] : !graph.tensor<"M, N", f16> -> !graph.tensor<"M", f16>
  return %p, %r : !graph.tensor<"M, N", f16>, !graph.tensor<"M", f16>
}

// -----

// Places are computed where they are needed, and never stored.
// CHECK-LABEL: @places
// CHECK: graph.kernel "places_0"
// CHECK-SAME: -> !graph.tensor<"N", i32> {
// CHECK: graph.index
// CHECK: graph.kernel "places_1"
// CHECK: graph.index
func.func @places(%x: !graph.tensor<"N, M", i32>, %y: !graph.tensor<"N, K", i32>) -> (!graph.tensor<"N", i32>, !graph.tensor<"N", i32>) {
  %i = graph.index : !graph.tensor<"N", i32>
  %c = graph.rearrange %i [0, -1] : !graph.tensor<"N", i32> -> !graph.tensor<"N, 1", i32>
  %a = graph.map add(%x, %c) : (!graph.tensor<"N, M", i32>, !graph.tensor<"N, 1", i32>) -> !graph.tensor<"N, M", i32>
  %r = graph.reduce max %a [1] : !graph.tensor<"N, M", i32> -> !graph.tensor<"N", i32>
  %b = graph.map add(%y, %c) : (!graph.tensor<"N, K", i32>, !graph.tensor<"N, 1", i32>) -> !graph.tensor<"N, K", i32>
  %m = graph.reduce max %b [1] : !graph.tensor<"N, K", i32> -> !graph.tensor<"N", i32>
  return %r, %m : !graph.tensor<"N", i32>, !graph.tensor<"N", i32>
}

// -----

// Elements are taken by their indices once, not for every block of a product.
// CHECK-LABEL: @rows_by_number
// CHECK: graph.kernel "rows_by_number_0"
// CHECK: graph.gather
// CHECK: graph.kernel "rows_by_number_1"
// CHECK-SAME: by their indices again
func.func @rows_by_number(%x: !graph.tensor<"V, K", f16>, %i: !graph.tensor<"T, 1", i32>, %w: !graph.tensor<"K, N", f16>) -> !graph.tensor<"T, N", f16> {
  %c = graph.index : !graph.tensor<"K", i32>
  %g = graph.gather %x [%i, %c] : (!graph.tensor<"V, K", f16>, !graph.tensor<"T, 1", i32>, !graph.tensor<"K", i32>) -> !graph.tensor<"T, K", f16>
  %p = graph.matmul %g, %w : !graph.tensor<"T, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"T, N", f16>
  return %p : !graph.tensor<"T, N", f16>
}

// -----

// Sums so far are part of the kernel that has the row: with what they are of, what is made of
// them, and reductions of the same dimension.
// CHECK-LABEL: @sums_so_far
// CHECK-COUNT-1: graph.kernel
// CHECK: graph.scan sum %{{.*}} 1
// CHECK-NOT: graph.kernel
func.func @sums_so_far(%x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"M", f32>) {
  %e = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %s = graph.scan sum %e 1 : !graph.tensor<"M, N", f32>
  %r = graph.map mul(%s, %x) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %t = graph.reduce max %s [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  return %r, %t : !graph.tensor<"M, N", f32>, !graph.tensor<"M", f32>
}

// -----

// Long rows are gone through from one end.
// CHECK-LABEL: @from_both_ends
// CHECK: graph.kernel
// CHECK: graph.kernel {{.*}}reasons = ["`cumsum`{{.*}} goes along its rows the other way than `cumsum`
func.func @from_both_ends(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %s = graph.scan sum %x 1 : !graph.tensor<"M, N", f32>
  %t = graph.scan sum %s 1 {reverse} : !graph.tensor<"M, N", f32>
  return %t : !graph.tensor<"M, N", f32>
}

// -----

// What somebody wrote is a kernel by itself, and reads what is in memory.
// CHECK-LABEL: @launch
// CHECK: %[[E:.*]] = graph.kernel "launch_0"
// CHECK: %[[Y:.*]]:2 = graph.kernel "launch_1"(%[[E]])
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.launch "k" 0
// CHECK-NEXT: graph.yield
// CHECK: graph.kernel "launch_2"(%[[Y]]#0) {reasons = ["`exp`{{.*}} not with `k`{{.*}}: `k`{{.*}} is a kernel that somebody wrote"]}
func.func @launch(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %e = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %y:2 = graph.launch "k" 0 (%e) : (!graph.tensor<"M, N", f32>) -> (!graph.tensor<"M, N", f32>, !graph.tensor<"M", f32>)
  %z = graph.map exp(%y#0) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  return %z : !graph.tensor<"M, N", f32>
}

// What a mask leaves of a product is summed by a kernel that reads the product anyway, and is
// computed there, with the places that the mask compares: it is not stored beside it.
// CHECK-LABEL: func.func @own(
// CHECK: graph.kernel "own_0"
// CHECK: graph.matmul
// CHECK-NOT: graph.map where
// CHECK: graph.yield %{{[a-z0-9]+}} :
// CHECK: graph.kernel "own_1"
// CHECK: graph.map where
// CHECK: graph.reduce sum
func.func @own(%x: !graph.tensor<"M, K", f16>, %y: !graph.tensor<"K, N", f16>, %c: !graph.tensor<"", f32>) -> !graph.tensor<"M", f32> {
  %p = graph.matmul %x, %y : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f32>
  %d = graph.map mul(%p, %c) : (!graph.tensor<"M, N", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"M, N", f32>
  %top = graph.reduce max %d [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %i = graph.index : !graph.tensor<"M", i32>
  %row = graph.rearrange %i [0, -1] : !graph.tensor<"M", i32> -> !graph.tensor<"M, 1", i32>
  %j = graph.index : !graph.tensor<"N", i32>
  %is = graph.map eq(%row, %j) : (!graph.tensor<"M, 1", i32>, !graph.tensor<"N", i32>) -> !graph.tensor<"M, N", i1>
  %zero = graph.constant 0.0 : f64 : !graph.tensor<"", f32>
  %w = graph.map where(%is, %d, %zero) : (!graph.tensor<"M, N", i1>, !graph.tensor<"M, N", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"M, N", f32>
  %s = graph.reduce sum %w [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %r = graph.map sub(%top, %s) : (!graph.tensor<"M", f32>, !graph.tensor<"M", f32>) -> !graph.tensor<"M", f32>
  return %r : !graph.tensor<"M", f32>
}
