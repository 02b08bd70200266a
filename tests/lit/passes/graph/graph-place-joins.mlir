// RUN: tile-opt %s --graph-place-joins | FileCheck %s
// RUN: tile-opt %s --graph-place-joins --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=128" | FileCheck %s --check-prefix=TILE
// COUNT: 8 graph-place-joins - joined tensors whose parts are stored where they belong

// What is done with the elements on the way to memory is done to the parts, with parts of what else it needs.
// CHECK-LABEL: func.func @sunk
// CHECK-DAG: %[[S0:.*]] = graph.window %arg1 ["0"] {inside} : !graph.tensor<"2*N", f32> -> !graph.tensor<"N", f32>
// CHECK-DAG: %[[S1:.*]] = graph.window %arg1 ["N"] {inside} : !graph.tensor<"2*N", f32> -> !graph.tensor<"N", f32>
// CHECK-DAG: %[[M0:.*]] = graph.map mul(%{{.*}}, %[[S0]])
// CHECK-DAG: %[[M1:.*]] = graph.map mul(%{{.*}}, %[[S1]])
// CHECK-DAG: %[[C0:.*]] = graph.cast %[[M0]]
// CHECK-DAG: %[[C1:.*]] = graph.cast %[[M1]]
// CHECK: %[[J:.*]] = graph.join %[[C0]], %[[C1]] 1 : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, N", f16>) -> !graph.tensor<"M, 2*N", f16>
// CHECK: return %[[J]]
//
// Both parts are stored by one program, one N behind the other.
// TILE-LABEL: func.func @sunk
// TILE-COUNT-2: tile.store
// TILE-NOT: tile.store
// TILE: return
func.func @sunk(%x: !graph.tensor<"M, 2*N", f32>, %s: !graph.tensor<"2*N", f32>) -> !graph.tensor<"M, 2*N", f16> {
  %a = graph.window %x ["0", "0"] {inside} : !graph.tensor<"M, 2*N", f32> -> !graph.tensor<"M, N", f32>
  %b = graph.window %x ["0", "N"] {inside} : !graph.tensor<"M, 2*N", f32> -> !graph.tensor<"M, N", f32>
  %n = graph.map neg(%b) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %j = graph.join %n, %a 1 : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, 2*N", f32>
  %m = graph.map mul(%j, %s) : (!graph.tensor<"M, 2*N", f32>, !graph.tensor<"2*N", f32>) -> !graph.tensor<"M, 2*N", f32>
  %c = graph.cast %m : !graph.tensor<"M, 2*N", f32> -> !graph.tensor<"M, 2*N", f16>
  return %c : !graph.tensor<"M, 2*N", f16>
}

// In another order of dimensions and another shape.
// CHECK-LABEL: func.func @views
// CHECK: %[[J:.*]] = graph.join %{{.*}}, %{{.*}} 0 : (!graph.tensor<"N, M", f32>, !graph.tensor<"N, M", f32>) -> !graph.tensor<"2*N, M", f32>
// CHECK: %[[R:.*]] = graph.reshape %[[J]]
// CHECK: return %[[R]]
func.func @views(%x: !graph.tensor<"M, N", f32>, %y: !graph.tensor<"M, N", f32>) -> !graph.tensor<"2*M*N", f32> {
  %j = graph.join %x, %y 1 : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, 2*N", f32>
  %t = graph.rearrange %j [1, 0] : !graph.tensor<"M, 2*N", f32> -> !graph.tensor<"2*N, M", f32>
  %r = graph.reshape %t : !graph.tensor<"2*N, M", f32> -> !graph.tensor<"2*M*N", f32>
  return %r : !graph.tensor<"2*M*N", f32>
}

// Parts that are joined themselves, alike.
// CHECK-LABEL: func.func @nested
// CHECK-COUNT-3: graph.join
// CHECK-NOT: where
func.func @nested(%x: !graph.tensor<"M, 1", f32>, %y: !graph.tensor<"M, 1", f32>) -> !graph.tensor<"2*M, 2", f32> {
  %a = graph.join %x, %y 1 : (!graph.tensor<"M, 1", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, 2", f32>
  %b = graph.join %y, %x 1 : (!graph.tensor<"M, 1", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, 2", f32>
  %j = graph.join %a, %b 0 : (!graph.tensor<"M, 2", f32>, !graph.tensor<"M, 2", f32>) -> !graph.tensor<"2*M, 2", f32>
  return %j : !graph.tensor<"2*M, 2", f32>
}

// Derivatives of parts that tile what the parts are of, and one of all of it beside them.
// CHECK-LABEL: func.func @padded
// CHECK-DAG: %[[S0:.*]] = graph.window %arg2 ["0", "0"] {inside}
// CHECK-DAG: %[[S1:.*]] = graph.window %arg2 ["0", "N"] {inside}
// CHECK-DAG: %[[P0:.*]] = graph.map add(%[[S0]], %arg0)
// CHECK-DAG: %[[P1:.*]] = graph.map add(%[[S1]], %arg1)
// CHECK: graph.join %[[P0]], %[[P1]] 1
func.func @padded(%x: !graph.tensor<"M, N", f32>, %y: !graph.tensor<"M, N", f32>, %w: !graph.tensor<"M, 2*N", f32>) -> !graph.tensor<"M, 2*N", f32> {
  %a = graph.window %x ["0", "0"] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M, 2*N", f32>
  %b = graph.window %y ["0", "-N"] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M, 2*N", f32>
  %s = graph.map add(%w, %b) : (!graph.tensor<"M, 2*N", f32>, !graph.tensor<"M, 2*N", f32>) -> !graph.tensor<"M, 2*N", f32>
  %t = graph.map add(%s, %a) : (!graph.tensor<"M, 2*N", f32>, !graph.tensor<"M, 2*N", f32>) -> !graph.tensor<"M, 2*N", f32>
  return %t : !graph.tensor<"M, 2*N", f32>
}

// They overlap: a sum.
// CHECK-LABEL: func.func @overlapping
// CHECK-NOT: graph.join
// CHECK: graph.map add
func.func @overlapping(%x: !graph.tensor<"M, N", f32>, %y: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, 2*N", f32> {
  %a = graph.window %x ["0", "0"] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M, 2*N", f32>
  %b = graph.window %y ["0", "-1"] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M, 2*N", f32>
  %s = graph.map add(%a, %b) : (!graph.tensor<"M, 2*N", f32>, !graph.tensor<"M, 2*N", f32>) -> !graph.tensor<"M, 2*N", f32>
  return %s : !graph.tensor<"M, 2*N", f32>
}

// A part of what is joined that is one part's.
// CHECK-LABEL: func.func @part
// CHECK-NEXT: %[[W:.*]] = graph.window %arg1 ["1", "0"] {inside}
// CHECK-NEXT: return %[[W]]
func.func @part(%x: !graph.tensor<"4, N", f32>, %y: !graph.tensor<"4, N", f32>) -> !graph.tensor<"2, N", f32> {
  %j = graph.join %x, %y 0 : (!graph.tensor<"4, N", f32>, !graph.tensor<"4, N", f32>) -> !graph.tensor<"8, N", f32>
  %w = graph.window %j ["5", "0"] {inside} : !graph.tensor<"8, N", f32> -> !graph.tensor<"2, N", f32>
  return %w : !graph.tensor<"2, N", f32>
}

// Read again at once, or of parts that differ: chosen by the place, from the last part on.
// CHECK-LABEL: func.func @reduced
// CHECK-NOT: graph.join
// CHECK: graph.map lt
// CHECK: graph.map where
// CHECK: graph.reduce sum
func.func @reduced(%x: !graph.tensor<"M, N", f32>, %y: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M", f32> {
  %j = graph.join %x, %y 1 : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, 2*N", f32>
  %s = graph.reduce sum %j [1] : !graph.tensor<"M, 2*N", f32> -> !graph.tensor<"M", f32>
  return %s : !graph.tensor<"M", f32>
}
// CHECK-LABEL: func.func @uneven
// CHECK-NOT: graph.join
// CHECK: graph.map where
func.func @uneven(%x: !graph.tensor<"M", f32>, %y: !graph.tensor<"N", f32>) -> !graph.tensor<"M + N", f32> {
  %j = graph.join %x, %y 0 : (!graph.tensor<"M", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"M + N", f32>
  return %j : !graph.tensor<"M + N", f32>
}

// Parts of rows that are divided by what all of the row is combined to: one kernel has the row.
// CHECK-LABEL: func.func @of_rows
// CHECK-NOT: graph.join
// CHECK: graph.map where
func.func @of_rows(%x: !graph.tensor<"M, 2*N", f32>) -> !graph.tensor<"M, 2*N", f32> {
  %s = graph.reduce sum %x [1] : !graph.tensor<"M, 2*N", f32> -> !graph.tensor<"M", f32>
  %k = graph.rearrange %s [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %d = graph.map div(%x, %k) : (!graph.tensor<"M, 2*N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, 2*N", f32>
  %a = graph.window %d ["0", "0"] {inside} : !graph.tensor<"M, 2*N", f32> -> !graph.tensor<"M, N", f32>
  %b = graph.window %d ["0", "N"] {inside} : !graph.tensor<"M, 2*N", f32> -> !graph.tensor<"M, N", f32>
  %j = graph.join %b, %a 1 : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, 2*N", f32>
  return %j : !graph.tensor<"M, 2*N", f32>
}

// A product of columns in another order is joined of columns: each is computed once, of columns.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: where
// CHECK: %[[J:.*]] = graph.join %{{.*}}, %{{.*}}, %{{.*}} 1 : (!graph.tensor<"N, 1", f32>, !graph.tensor<"N, 1", f32>, !graph.tensor<"N, 1", f32>) -> !graph.tensor<"N, 3", f32>
// CHECK: return %[[J]]
func.func @columns(%x: !graph.tensor<"N, 3", f32>, %y: !graph.tensor<"N, 3", f32>) -> !graph.tensor<"N, 3", f32> {
  %0 = graph.window %x ["0", "1"] {inside} : !graph.tensor<"N, 3", f32> -> !graph.tensor<"N, 2", f32>
  %1 = graph.window %x ["0", "0"] {inside} : !graph.tensor<"N, 3", f32> -> !graph.tensor<"N, 1", f32>
  %2 = graph.join %0, %1 1 : (!graph.tensor<"N, 2", f32>, !graph.tensor<"N, 1", f32>) -> !graph.tensor<"N, 3", f32>
  %3 = graph.window %y ["0", "2"] {inside} : !graph.tensor<"N, 3", f32> -> !graph.tensor<"N, 1", f32>
  %4 = graph.window %y ["0", "0"] {inside} : !graph.tensor<"N, 3", f32> -> !graph.tensor<"N, 2", f32>
  %5 = graph.join %3, %4 1 : (!graph.tensor<"N, 1", f32>, !graph.tensor<"N, 2", f32>) -> !graph.tensor<"N, 3", f32>
  %6 = graph.map mul(%2, %5) : (!graph.tensor<"N, 3", f32>, !graph.tensor<"N, 3", f32>) -> !graph.tensor<"N, 3", f32>
  return %6 : !graph.tensor<"N, 3", f32>
}

// What is done with elements that lie beside each other is done before they do.
// CHECK-LABEL: func.func @beside
// CHECK: %[[J:.*]] = graph.join %{{.*}}, %{{.*}} 2 : (!graph.tensor<"M, N, 1", f32>, !graph.tensor<"M, N, 1", f32>) -> !graph.tensor<"M, N, 2", f32>
// CHECK: %[[R:.*]] = graph.reshape %[[J]] : !graph.tensor<"M, N, 2", f32> -> !graph.tensor<"M, 2*N", f32>
// CHECK: return %[[R]]
func.func @beside(%x: !graph.tensor<"M, N, 1", f32>, %y: !graph.tensor<"M, N, 1", f32>, %s: !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, 2*N", f32> {
  %0 = graph.join %x, %y 2 : (!graph.tensor<"M, N, 1", f32>, !graph.tensor<"M, N, 1", f32>) -> !graph.tensor<"M, N, 2", f32>
  %1 = graph.reshape %0 : !graph.tensor<"M, N, 2", f32> -> !graph.tensor<"M, 2*N", f32>
  %2 = graph.map mul(%1, %s) : (!graph.tensor<"M, 2*N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, 2*N", f32>
  return %2 : !graph.tensor<"M, 2*N", f32>
}

// A row with its ends around it, of which a sum is taken, is one element each, at a place that depends on its own.
// CHECK-LABEL: func.func @bordered
// CHECK: graph.map where
// CHECK: graph.gather %arg0[%{{.*}}] : (!graph.tensor<"N", f32>, !graph.tensor<"N + 2", i32>) -> !graph.tensor<"N + 2", f32>
// CHECK-NOT: graph.gather
// CHECK: graph.reduce sum
func.func @bordered(%x: !graph.tensor<"N", f32>) -> !graph.tensor<"", f32> {
  %0 = graph.window %x ["N - 1"] {inside} : !graph.tensor<"N", f32> -> !graph.tensor<"1", f32>
  %1 = graph.window %x ["0"] {inside} : !graph.tensor<"N", f32> -> !graph.tensor<"1", f32>
  %2 = graph.join %0, %x, %1 0 : (!graph.tensor<"1", f32>, !graph.tensor<"N", f32>, !graph.tensor<"1", f32>) -> !graph.tensor<"N + 2", f32>
  %3 = graph.reduce sum %2 [0] : !graph.tensor<"N + 2", f32> -> !graph.tensor<"", f32>
  return %3 : !graph.tensor<"", f32>
}
