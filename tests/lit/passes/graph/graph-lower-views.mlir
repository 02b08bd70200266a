// RUN: tile-opt %s --pass-pipeline="builtin.module(func.func(graph-lower-views))" --split-input-file | FileCheck %s

// A part of what is computed is computed of a part, and where the array is read there are
// other indices.
// CHECK-LABEL: @part
// CHECK-DAG: %[[K:.*]] = graph.size "K"
// CHECK: %[[AT:.*]] = graph.map add
// CHECK: %[[X:.*]] = graph.gather %arg0[{{.*}}, %[[AT]]] : {{.*}} -> !graph.tensor<"M, K", f32>
// CHECK: %[[R:.*]] = graph.map exp(%[[X]])
// CHECK: return %[[R]]
func.func @part(%x: !graph.tensor<"M, 2*K", f32>) -> !graph.tensor<"M, K", f32> {
  %e = graph.map exp(%x) : (!graph.tensor<"M, 2*K", f32>) -> !graph.tensor<"M, 2*K", f32>
  %w = graph.window %e ["0", "K"] {inside} : !graph.tensor<"M, 2*K", f32> -> !graph.tensor<"M, K", f32>
  return %w : !graph.tensor<"M, K", f32>
}

// -----

// Zeros around what is computed are not computed of zeros: what takes few instructions is computed again of what is taken.
// CHECK-LABEL: @padded
// CHECK: %[[G:.*]] = graph.gather %arg0[{{.*}}] {guarded}
// CHECK: %[[E:.*]] = graph.map exp(%[[G]])
// CHECK: graph.map where(%{{.*}}, %[[E]], %{{.*}})
func.func @padded(%x: !graph.tensor<"M", f32>) -> !graph.tensor<"M + 1", f32> {
  %e = graph.map exp(%x) : (!graph.tensor<"M", f32>) -> !graph.tensor<"M", f32>
  %w = graph.window %e ["-1"] : !graph.tensor<"M", f32> -> !graph.tensor<"M + 1", f32>
  return %w : !graph.tensor<"M + 1", f32>
}

// -----

// The caller's array may have gaps: another shape of it is other indices. Heads are found
// without a division.
// CHECK-LABEL: @heads
// CHECK-NOT: graph.map mod
// CHECK: graph.map mul
// CHECK: graph.gather %arg0
// CHECK-NOT: graph.reshape
func.func @heads(%x: !graph.tensor<"M, D*H", f16>) -> !graph.tensor<"M, H, D", f16> {
  %r = graph.reshape %x : !graph.tensor<"M, D*H", f16> -> !graph.tensor<"M, H, D", f16>
  return %r : !graph.tensor<"M, H, D", f16>
}

// -----

// What a kernel computes is in memory without gaps.
// CHECK-LABEL: @stored
// CHECK: graph.reshape
func.func @stored(%x: !graph.tensor<"M, D*H", f16>) -> !graph.tensor<"M, H, D", f16> {
  %e = graph.map exp(%x) : (!graph.tensor<"M, D*H", f16>) -> !graph.tensor<"M, D*H", f16>
  %r = graph.reshape %e : !graph.tensor<"M, D*H", f16> -> !graph.tensor<"M, H, D", f16>
  return %r : !graph.tensor<"M, H, D", f16>
}

// -----

// A view whose indices no longer give the result's shape stays.
// CHECK-LABEL: @one_of_one
// CHECK: graph.rearrange
// CHECK: graph.gather
func.func @one_of_one(%x: !graph.tensor<"", f32>) -> !graph.tensor<"1", f32> {
  %v = graph.rearrange %x [-1] : !graph.tensor<"", f32> -> !graph.tensor<"1", f32>
  %i = graph.index : !graph.tensor<"1", i32>
  %g = graph.gather %v [%i] : (!graph.tensor<"1", f32>, !graph.tensor<"1", i32>) -> !graph.tensor<"1", f32>
  return %g : !graph.tensor<"1", f32>
}

// -----

// Dimensions of one in front of another shape are none of the array's.
// CHECK-LABEL: @flat_row
// CHECK: graph.gather %arg0{{.*}} -> !graph.tensor<"1, M*N", f32>
func.func @flat_row(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"1, M*N", f32> {
  %r = graph.reshape %x : !graph.tensor<"M, N", f32> -> !graph.tensor<"1, M*N", f32>
  return %r : !graph.tensor<"1, M*N", f32>
}

// -----

// What is done with elements alone is done in the shape that a kernel computes them in.
// CHECK-LABEL: @before_the_shape
// CHECK: %[[P:.*]] = graph.matmul
// CHECK: %[[M:.*]] = graph.map relu(%[[P]])
// CHECK: graph.reshape %[[M]]
func.func @before_the_shape(%x: !graph.tensor<"M, K", f16>, %w: !graph.tensor<"K, D*H", f16>) -> !graph.tensor<"M, H, D", f16> {
  %p = graph.matmul %x, %w : !graph.tensor<"M, K", f16>, !graph.tensor<"K, D*H", f16> -> !graph.tensor<"M, D*H", f16>
  %r = graph.reshape %p : !graph.tensor<"M, D*H", f16> -> !graph.tensor<"M, H, D", f16>
  %e = graph.map relu(%r) : (!graph.tensor<"M, H, D", f16>) -> !graph.tensor<"M, H, D", f16>
  return %e : !graph.tensor<"M, H, D", f16>
}

// -----

// A part of what is padded is read where it lies, 0 where it does not.
// CHECK-LABEL: @part_of_padded
// CHECK-NOT: graph.gather %{{[0-9]}}
// CHECK: graph.gather %arg0{{.*}}guarded
// CHECK-NEXT: return
func.func @part_of_padded(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %p = graph.window %x ["0", "-2"] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M, N + 4", f32>
  %w = graph.window %p ["0", "1"] {inside} : !graph.tensor<"M, N + 4", f32> -> !graph.tensor<"M, N", f32>
  return %w : !graph.tensor<"M, N", f32>
}

// -----

// So is what goes on in front of a part, but not behind one that the array goes on behind.
// CHECK-LABEL: @padded_part
// CHECK: %[[A:.*]] = graph.gather %arg0[%{{.*}}] {guarded}
// CHECK: %[[P:.*]] = graph.gather %arg0[%{{.*}}] {guarded}
// CHECK: %[[B:.*]] = graph.map where(%{{.*}}, %[[P]], %{{.*}})
// CHECK: return %[[A]], %[[B]]
func.func @padded_part(%x: !graph.tensor<"N", f32>) -> (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) {
  %p = graph.window %x ["0"] {inside} : !graph.tensor<"N", f32> -> !graph.tensor<"N - 1", f32>
  %a = graph.window %p ["-1"] : !graph.tensor<"N - 1", f32> -> !graph.tensor<"N", f32>
  %b = graph.window %p ["0"] : !graph.tensor<"N - 1", f32> -> !graph.tensor<"N", f32>
  return %a, %b : !graph.tensor<"N", f32>, !graph.tensor<"N", f32>
}

// -----

// A part of what is taken by indices is taken by a part of them.
// CHECK-LABEL: @part_of_taken
// CHECK: graph.gather %arg0[%{{.*}}] {{.*}} -> !graph.tensor<"K", f32>
// CHECK-NEXT: return
func.func @part_of_taken(%x: !graph.tensor<"V", f32>, %i: !graph.tensor<"K + N", i32>) -> !graph.tensor<"K", f32> {
  %g = graph.gather %x [%i] : (!graph.tensor<"V", f32>, !graph.tensor<"K + N", i32>) -> !graph.tensor<"K + N", f32>
  %w = graph.window %g ["N"] {inside} : !graph.tensor<"K + N", f32> -> !graph.tensor<"K", f32>
  return %w : !graph.tensor<"K", f32>
}

// -----

// The first of a pair repeats where nobody looks.
// CHECK-LABEL: @pair
// CHECK-NOT: graph.gather
// CHECK: graph.map where(%{{.*}}, %arg0, %arg1)
func.func @pair(%x: !graph.tensor<"M, 1", f32>, %y: !graph.tensor<"M, 2", f32>, %c: !graph.tensor<"2", i1>) -> !graph.tensor<"M, 2", f32> {
  %w = graph.window %x ["0", "0"] {loose} : !graph.tensor<"M, 1", f32> -> !graph.tensor<"M, 2", f32>
  %r = graph.map where(%c, %w, %y) : (!graph.tensor<"2", i1>, !graph.tensor<"M, 2", f32>, !graph.tensor<"M, 2", f32>) -> !graph.tensor<"M, 2", f32>
  return %r : !graph.tensor<"M, 2", f32>
}

// -----

// Few elements of what is computed element by element are computed of few: of the array's, and of
// what is known of their rows. Where an index lies outside there is 0, whatever is computed of it.
// CHECK-LABEL: func.func @label(
// CHECK-SAME: %[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}, %[[AT:[a-z0-9]+]]:
// CHECK: %[[OWN:.*]] = graph.gather %[[X]][%{{.*}}, %[[AT]]] {guarded}
// CHECK: %[[APART:.*]] = graph.map sub(%[[OWN]], %[[Y]])
// CHECK: graph.map ge(%[[AT]]
// CHECK: graph.map lt(%[[AT]]
// CHECK: %[[R:.*]] = graph.map where(%{{.*}}, %[[APART]], %{{.*}})
// CHECK: return %[[R]]
func.func @label(%x: !graph.tensor<"N, C", f32>, %y: !graph.tensor<"N, 1", f32>, %at: !graph.tensor<"N, 1", i64>) -> !graph.tensor<"N, 1", f32> {
  %d = graph.map sub(%x, %y) : (!graph.tensor<"N, C", f32>, !graph.tensor<"N, 1", f32>) -> !graph.tensor<"N, C", f32>
  %i = graph.index : !graph.tensor<"N", i32>
  %row = graph.rearrange %i [0, -1] : !graph.tensor<"N", i32> -> !graph.tensor<"N, 1", i32>
  %r = graph.gather %d[%row, %at] {guarded} : (!graph.tensor<"N, C", f32>, !graph.tensor<"N, 1", i32>, !graph.tensor<"N, 1", i64>) -> !graph.tensor<"N, 1", f32>
  return %r : !graph.tensor<"N, 1", f32>
}

// -----

// Of a table as many or more rows may be taken than it has: what takes many instructions is computed once.
// CHECK-LABEL: func.func @rows(
// CHECK: graph.map erf
// CHECK: %[[E:.*]] = graph.map tanh
// CHECK: graph.gather %[[E]]
func.func @rows(%x: !graph.tensor<"V, D", f32>, %at: !graph.tensor<"T, 1", i64>) -> !graph.tensor<"T, D", f32> {
  %e1 = graph.map tanh(%x) : (!graph.tensor<"V, D", f32>) -> !graph.tensor<"V, D", f32>
  %e2 = graph.map erf(%e1) : (!graph.tensor<"V, D", f32>) -> !graph.tensor<"V, D", f32>
  %e = graph.map tanh(%e2) : (!graph.tensor<"V, D", f32>) -> !graph.tensor<"V, D", f32>
  %i = graph.index : !graph.tensor<"D", i32>
  %r = graph.gather %e[%at, %i] {guarded} : (!graph.tensor<"V, D", f32>, !graph.tensor<"T, 1", i64>, !graph.tensor<"D", i32>) -> !graph.tensor<"T, D", f32>
  return %r : !graph.tensor<"T, D", f32>
}

// -----

// Of the numbers along a dimension each is its place: nothing is taken.
// CHECK-LABEL: func.func @places(
// CHECK-NOT: graph.gather
// CHECK: graph.map pow(%arg0, %arg1)
func.func @places(%w: !graph.tensor<"", f32>, %at: !graph.tensor<"N", i32>) -> !graph.tensor<"N", f32> {
  %i = graph.index : !graph.tensor<"N", i32>
  %p = graph.map pow(%w, %i) : (!graph.tensor<"", f32>, !graph.tensor<"N", i32>) -> !graph.tensor<"N", f32>
  %g = graph.gather %p[%at] : (!graph.tensor<"N", f32>, !graph.tensor<"N", i32>) -> !graph.tensor<"N", f32>
  return %g : !graph.tensor<"N", f32>
}

// -----

// Elements of elements are elements of the array, wherever they lie; what lies outside of either is 0.
// CHECK-LABEL: @elements_of_elements
// CHECK: %[[I:.*]] = graph.gather %arg1[%arg2]
// CHECK: %[[X:.*]] = graph.gather %arg0[%[[I]]] {guarded}
// CHECK-NOT: graph.gather
// CHECK: %[[R:.*]] = graph.map where(%{{.*}}, %[[X]], %{{.*}})
// CHECK: return %[[R]]
func.func @elements_of_elements(%x: !graph.tensor<"M", f32>, %i: !graph.tensor<"N", i32>, %j: !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32> {
  %a = graph.gather %x[%i] : (!graph.tensor<"M", f32>, !graph.tensor<"N", i32>) -> !graph.tensor<"N", f32>
  %b = graph.gather %a[%j] {guarded} : (!graph.tensor<"N", f32>, !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32>
  return %b : !graph.tensor<"K", f32>
}

// -----

// Of what is stored anyway they are taken from there.
// CHECK-LABEL: @stored_anyway
// CHECK: %[[A:.*]] = graph.gather %arg0
// CHECK: graph.gather %[[A]]
func.func @stored_anyway(%x: !graph.tensor<"M", f32>, %i: !graph.tensor<"N", i32>, %j: !graph.tensor<"K", i32>) -> (!graph.tensor<"N", f32>, !graph.tensor<"K", f32>) {
  %a = graph.gather %x[%i] : (!graph.tensor<"M", f32>, !graph.tensor<"N", i32>) -> !graph.tensor<"N", f32>
  %b = graph.gather %a[%j] : (!graph.tensor<"N", f32>, !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32>
  return %a, %b : !graph.tensor<"N", f32>, !graph.tensor<"K", f32>
}

// -----

// Of an array with numbers around it as many elements as there are, or more, are no reason to store
// it; of exponentials they are.
// CHECK-LABEL: @around
// CHECK: graph.gather %arg0[{{.*}}] {guarded}
// CHECK-NOT: graph.gather
// CHECK: graph.map where
// CHECK: return
func.func @around(%x: !graph.tensor<"M", f32>, %c: f32, %j: !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32> {
  %w = graph.window %x ["-1"] : !graph.tensor<"M", f32> -> !graph.tensor<"M + 2", f32>
  %i = graph.index : !graph.tensor<"M + 2", i32>
  %z = graph.constant 0 : i64 : !graph.tensor<"", i32>
  %n = graph.constant 0xFFF0000000000000 : f64 : !graph.tensor<"", f32>
  %in = graph.map gt(%i, %z) : (!graph.tensor<"M + 2", i32>, !graph.tensor<"", i32>) -> !graph.tensor<"M + 2", i1>
  %p = graph.map where(%in, %w, %n) : (!graph.tensor<"M + 2", i1>, !graph.tensor<"M + 2", f32>, !graph.tensor<"", f32>) -> !graph.tensor<"M + 2", f32>
  %b = graph.gather %p[%j] : (!graph.tensor<"M + 2", f32>, !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32>
  return %b : !graph.tensor<"K", f32>
}

// CHECK-LABEL: @exponentials
// CHECK: %[[G:.*]] = graph.gather %arg0
// CHECK: graph.map exp(%[[G]])
func.func @exponentials(%x: !graph.tensor<"M", f32>, %j: !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32> {
  %e = graph.map exp(%x) : (!graph.tensor<"M", f32>) -> !graph.tensor<"M", f32>
  %b = graph.gather %e[%j] : (!graph.tensor<"M", f32>, !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32>
  return %b : !graph.tensor<"K", f32>
}

// -----

// What is added to another shape of what is computed is added before: a number of each channel, which
// repeats along all that is joined, and an array of the caller's, at other indices.
// CHECK-LABEL: @biased
// CHECK: %[[E:.*]] = graph.scan sum %arg0
// CHECK: %[[B:.*]] = graph.rearrange %arg1 [-1, 0, -1] : {{.*}} -> !graph.tensor<"1, C, 1", f32>
// CHECK: %[[S:.*]] = graph.map mul(%[[E]], %[[B]]) : {{.*}} -> !graph.tensor<"N, C, H*W", f32>
// CHECK: %[[R:.*]] = graph.gather %arg2
// CHECK: %[[A:.*]] = graph.map add(%[[R]], %[[S]])
// CHECK: %[[O:.*]] = graph.reshape %[[A]]
// CHECK: return %[[O]]
func.func @biased(%x: !graph.tensor<"N, C, H*W", f32>, %b: !graph.tensor<"C, 1, 1", f32>, %r: !graph.tensor<"N, C, H, W", f32>) -> !graph.tensor<"N, C, H, W", f32> {
  %e = graph.scan sum %x 2 : !graph.tensor<"N, C, H*W", f32>
  %y = graph.reshape %e : !graph.tensor<"N, C, H*W", f32> -> !graph.tensor<"N, C, H, W", f32>
  %s = graph.map mul(%y, %b) : (!graph.tensor<"N, C, H, W", f32>, !graph.tensor<"C, 1, 1", f32>) -> !graph.tensor<"N, C, H, W", f32>
  %a = graph.map add(%r, %s) : (!graph.tensor<"N, C, H, W", f32>, !graph.tensor<"N, C, H, W", f32>) -> !graph.tensor<"N, C, H, W", f32>
  return %a : !graph.tensor<"N, C, H, W", f32>
}

// -----

// So is what repeats along a part of what is joined, at its indices, if it is the caller's; what is
// computed elsewhere is not.
// CHECK-LABEL: @part_of_joined
// CHECK: %[[S:.*]] = graph.scan sum %arg0 1
// CHECK: %[[H:.*]] = graph.map floordiv
// CHECK: %[[B:.*]] = graph.gather %arg1[%[[H]]] : {{.*}} -> !graph.tensor<"H*W", f32>
// CHECK: %[[M:.*]] = graph.map mul(%[[S]], %[[B]])
// CHECK: %[[Y:.*]] = graph.reshape %[[M]]
// CHECK: %[[T:.*]] = graph.scan sum %arg1 0
// CHECK: graph.map add(%[[Y]], %{{.*}}) : {{.*}} -> !graph.tensor<"N, H, W", f32>
func.func @part_of_joined(%x: !graph.tensor<"N, H*W", f32>, %b: !graph.tensor<"H", f32>) -> !graph.tensor<"N, H, W", f32> {
  %e = graph.scan sum %x 1 : !graph.tensor<"N, H*W", f32>
  %y = graph.reshape %e : !graph.tensor<"N, H*W", f32> -> !graph.tensor<"N, H, W", f32>
  %c = graph.rearrange %b [0, -1] : !graph.tensor<"H", f32> -> !graph.tensor<"H, 1", f32>
  %s = graph.map mul(%y, %c) : (!graph.tensor<"N, H, W", f32>, !graph.tensor<"H, 1", f32>) -> !graph.tensor<"N, H, W", f32>
  %t = graph.scan sum %b 0 : !graph.tensor<"H", f32>
  %d = graph.rearrange %t [0, -1] : !graph.tensor<"H", f32> -> !graph.tensor<"H, 1", f32>
  %a = graph.map add(%s, %d) : (!graph.tensor<"N, H, W", f32>, !graph.tensor<"H, 1", f32>) -> !graph.tensor<"N, H, W", f32>
  return %a : !graph.tensor<"N, H, W", f32>
}

// -----

// Another shape of what repeats an array is other indices of the array.
// CHECK-LABEL: @repeated
// CHECK: %[[H:.*]] = graph.map floordiv
// CHECK: %[[G:.*]] = graph.gather %arg0[%[[H]], %{{.*}}] : {{.*}} -> !graph.tensor<"4*K, D", f32>
// CHECK: return %[[G]]
func.func @repeated(%x: !graph.tensor<"K, D", f32>) -> !graph.tensor<"4*K, D", f32> {
  %a = graph.rearrange %x [0, -1, 1] : !graph.tensor<"K, D", f32> -> !graph.tensor<"K, 1, D", f32>
  %i = graph.index : !graph.tensor<"4", i32>
  %r = graph.rearrange %i [0, -1] : !graph.tensor<"4", i32> -> !graph.tensor<"4, 1", i32>
  %z = graph.constant 0 : i64 : !graph.tensor<"", i32>
  %c = graph.map ge(%r, %z) : (!graph.tensor<"4, 1", i32>, !graph.tensor<"", i32>) -> !graph.tensor<"4, 1", i1>
  %e = graph.map where(%c, %a, %a) : (!graph.tensor<"4, 1", i1>, !graph.tensor<"K, 1, D", f32>, !graph.tensor<"K, 1, D", f32>) -> !graph.tensor<"K, 4, D", f32>
  %s = graph.reshape %e : !graph.tensor<"K, 4, D", f32> -> !graph.tensor<"4*K, D", f32>
  return %s : !graph.tensor<"4*K, D", f32>
}

// -----

// Another shape of what is computed of the caller's arrays is computed of other shapes of those:
// groups of so many rows with a scale each, and places.
// CHECK-LABEL: @scaled
// CHECK-NOT: graph.reshape
// CHECK: %[[Q:.*]] = graph.gather %arg0
// CHECK: %[[G:.*]] = graph.map floordiv(%{{.*}}) {graph.of_places} : {{.*}} -> !graph.tensor<"64*K, 1", i32>
// CHECK: %[[S:.*]] = graph.gather %arg1[%[[G]], %{{.*}}]
// CHECK: graph.map mul(%{{.*}}, %[[S]]) : {{.*}} -> !graph.tensor<"64*K, N", f32>
func.func @scaled(%q: !graph.tensor<"K, 64, N", f32>, %s: !graph.tensor<"K, N", f32>) -> !graph.tensor<"N", f32> {
  %r = graph.rearrange %s [0, -1, 1] : !graph.tensor<"K, N", f32> -> !graph.tensor<"K, 1, N", f32>
  %m = graph.map mul(%q, %r) : (!graph.tensor<"K, 64, N", f32>, !graph.tensor<"K, 1, N", f32>) -> !graph.tensor<"K, 64, N", f32>
  %w = graph.reshape %m : !graph.tensor<"K, 64, N", f32> -> !graph.tensor<"64*K, N", f32>
  %o = graph.reduce sum %w [0] : !graph.tensor<"64*K, N", f32> -> !graph.tensor<"N", f32>
  return %o : !graph.tensor<"N", f32>
}

// -----

// What is stored in any case is stored in its own shape.
// CHECK-LABEL: @stored
// CHECK: %[[E:.*]] = graph.map exp(%arg0)
// CHECK: %[[R:.*]] = graph.reshape %[[E]]
// CHECK: return %[[R]]
func.func @stored(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M*N", f32> {
  %e = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %r = graph.reshape %e : !graph.tensor<"M, N", f32> -> !graph.tensor<"M*N", f32>
  return %r : !graph.tensor<"M*N", f32>
}

// -----

// So does a column, of which rows are taken from another one on.
// CHECK-LABEL: @column
// CHECK: %[[F:.*]] = graph.gather %arg0[%{{.*}}, %{{.*}}] {guarded} : {{.*}} -> !graph.tensor<"M, 1", f32>
// CHECK: graph.map where(%{{.*}}, %[[F]], %arg1) : {{.*}} -> !graph.tensor<"M, N", f32>
func.func @column(%f: !graph.tensor<"M, 1", f32>, %y: !graph.tensor<"M, N", f32>, %c: !graph.tensor<"N", i1>) -> !graph.tensor<"M, N", f32> {
  %l = graph.window %f ["-1", "-2"] {loose} : !graph.tensor<"M, 1", f32> -> !graph.tensor<"M, N", f32>
  %s = graph.map where(%c, %l, %y) : (!graph.tensor<"N", i1>, !graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  return %s : !graph.tensor<"M, N", f32>
}

// -----

// Elements of parts of one array, of which conditions of their places choose one, are its elements.
// CHECK-LABEL: @elements_of_parts
// CHECK-NOT: graph.map where{{.*}}-> !graph.tensor<"N + 1", f32>
// CHECK-DAG: graph.gather %arg0{{.*}} -> !graph.tensor<"K", f32>
// CHECK-DAG: graph.gather %arg0{{.*}} -> !graph.tensor<"", f32>
// CHECK: graph.map where{{.*}} -> !graph.tensor<"K", f32>
func.func @elements_of_parts(%x: !graph.tensor<"N", f32>, %j: !graph.tensor<"K", i32>) -> (!graph.tensor<"K", f32>, !graph.tensor<"", f32>) {
  %z = graph.constant 0 : i64 : !graph.tensor<"", i32>
  %f = graph.gather %x[%z] : (!graph.tensor<"N", f32>, !graph.tensor<"", i32>) -> !graph.tensor<"", f32>
  %i = graph.index : !graph.tensor<"N + 1", i32>
  %one = graph.constant 1 : i64 : !graph.tensor<"", i32>
  %p = graph.map sub(%i, %one) : (!graph.tensor<"N + 1", i32>, !graph.tensor<"", i32>) -> !graph.tensor<"N + 1", i32>
  %r = graph.gather %x[%p] {guarded} : (!graph.tensor<"N", f32>, !graph.tensor<"N + 1", i32>) -> !graph.tensor<"N + 1", f32>
  %c = graph.map lt(%i, %one) : (!graph.tensor<"N + 1", i32>, !graph.tensor<"", i32>) -> !graph.tensor<"N + 1", i1>
  %s = graph.map where(%c, %f, %r) : (!graph.tensor<"N + 1", i1>, !graph.tensor<"", f32>, !graph.tensor<"N + 1", f32>) -> !graph.tensor<"N + 1", f32>
  %e = graph.gather %s[%j] : (!graph.tensor<"N + 1", f32>, !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32>
  return %e, %f : !graph.tensor<"K", f32>, !graph.tensor<"", f32>
}

// -----

// What only repeats along a dimension goes on doing so in another shape.
// CHECK-LABEL: @repeated_alone
// CHECK: graph.map where({{.*}}) : {{.*}} -> !graph.tensor<"6, N", f32>
// CHECK: graph.map exp({{.*}}) : {{.*}} -> !graph.tensor<"6, N", f32>
// CHECK: graph.reduce sum
func.func @repeated_alone(%x: !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32> {
  %i = graph.index : !graph.tensor<"3", i32>
  %r = graph.rearrange %i [0, -1, -1] : !graph.tensor<"3", i32> -> !graph.tensor<"3, 1, 1", i32>
  %j = graph.index : !graph.tensor<"2", i32>
  %t = graph.rearrange %j [0, -1] : !graph.tensor<"2", i32> -> !graph.tensor<"2, 1", i32>
  %s = graph.map add(%r, %t) : (!graph.tensor<"3, 1, 1", i32>, !graph.tensor<"2, 1", i32>) -> !graph.tensor<"3, 2, 1", i32>
  %z = graph.constant 0 : i64 : !graph.tensor<"", i32>
  %c = graph.map ge(%s, %z) : (!graph.tensor<"3, 2, 1", i32>, !graph.tensor<"", i32>) -> !graph.tensor<"3, 2, 1", i1>
  %w = graph.map where(%c, %x, %x) : (!graph.tensor<"3, 2, 1", i1>, !graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"3, 2, N", f32>
  %e = graph.map exp(%w) : (!graph.tensor<"3, 2, N", f32>) -> !graph.tensor<"3, 2, N", f32>
  %f = graph.reshape %e : !graph.tensor<"3, 2, N", f32> -> !graph.tensor<"6, N", f32>
  %o = graph.reduce sum %f [0] : !graph.tensor<"6, N", f32> -> !graph.tensor<"N", f32>
  return %o : !graph.tensor<"N", f32>
}
