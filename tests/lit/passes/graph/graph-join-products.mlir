// RUN: tile-opt %s --graph-to-kernels --graph-join-products --split-input-file | FileCheck %s
// RUN: tile-opt %s --graph-to-kernels --graph-join-products --graph-tile='block=64 rows=16 inner=64' --split-input-file | FileCheck %s --check-prefix=TILE

// Queries of more columns than keys and values, which are one kernel before: three products in one
// kernel, each of whose results is computed of one of them.
// CHECK-LABEL: func.func @heads
// CHECK: graph.kernel "heads_0_beside"(%arg0, %arg1, %arg2, %arg3) {graph.side_by_side}
// CHECK-COUNT-3: graph.matmul
// CHECK-NOT: graph.kernel
// CHECK: return

// A program takes a block of the columns of all. There is one loop, whose right operand is chosen.
// TILE-LABEL: func.func @heads_0_beside
// TILE-SAME: (%arg0: !tile.ptr<f16> {{.*}}, %arg1: !tile.ptr<f16> {{.*}}, %arg2: !tile.ptr<f16> {{.*}}, %arg3: !tile.ptr<f16>
// TILE: %[[IS_K:.*]] = arith.cmpi sge, %[[BLOCK:.*]], %[[END_Q:.*]] : i32
// TILE: %[[IS_V:.*]] = arith.cmpi sge, %[[BLOCK]], %{{.*}} : i32
// TILE: arith.maxsi
// TILE: %[[QK:.*]] = arith.select %[[IS_K]], %arg2, %arg1 : !tile.ptr<f16>
// TILE: %[[QKV:.*]] = arith.select %[[IS_V]], %arg3, %[[QK]] : !tile.ptr<f16>
// TILE: %[[SUM:.*]] = scf.for
// TILE: tile.dot
// TILE-NOT: tile.dot
// TILE: scf.if %[[IS_V]]
// TILE: arith.maximumf
// TILE: tile.store
// TILE: } else {
// TILE: scf.if %[[IS_K]]
// TILE: tile.store
// TILE: } else {
// TILE: tile.store
// TILE: return
func.func @heads(%x: !graph.tensor<"T, C", f16>, %q: !graph.tensor<"C, G*N", f16>, %k: !graph.tensor<"C, N", f16>, %v: !graph.tensor<"C, N", f16>) -> (!graph.tensor<"T, G*N", f16>, !graph.tensor<"T, N", f16>, !graph.tensor<"T, N", f16>) {
  %a = graph.matmul %x, %q : !graph.tensor<"T, C", f16>, !graph.tensor<"C, G*N", f16> -> !graph.tensor<"T, G*N", f16>
  %b = graph.matmul %x, %k : !graph.tensor<"T, C", f16>, !graph.tensor<"C, N", f16> -> !graph.tensor<"T, N", f16>
  %c = graph.matmul %x, %v : !graph.tensor<"T, C", f16>, !graph.tensor<"C, N", f16> -> !graph.tensor<"T, N", f16>
  %d = graph.map relu(%c) : (!graph.tensor<"T, N", f16>) -> !graph.tensor<"T, N", f16>
  return %a, %b, %d : !graph.tensor<"T, G*N", f16>, !graph.tensor<"T, N", f16>, !graph.tensor<"T, N", f16>
}

// -----

// What takes two products is no product's alone; what waits for another kernel cannot run beside it.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.side_by_side
// CHECK-COUNT-3: graph.kernel
// CHECK-NOT: graph.side_by_side
// CHECK: return
func.func @others(%x: !graph.tensor<"M, K", f16>, %g: !graph.tensor<"K, N", f16>, %u: !graph.tensor<"K, N", f16>, %w: !graph.tensor<"K, P", f16>, %v: !graph.tensor<"P, R", f16>) -> (!graph.tensor<"M, N", f16>, !graph.tensor<"M, R", f16>) {
  %p = graph.matmul %x, %g : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %q = graph.matmul %x, %u : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %r = graph.map mul(%p, %q) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16>
  %s = graph.matmul %x, %w : !graph.tensor<"M, K", f16>, !graph.tensor<"K, P", f16> -> !graph.tensor<"M, P", f16>
  %t = graph.matmul %s, %v : !graph.tensor<"M, P", f16>, !graph.tensor<"P, R", f16> -> !graph.tensor<"M, R", f16>
  return %r, %t : !graph.tensor<"M, N", f16>, !graph.tensor<"M, R", f16>
}

// -----

// One that writes a parameter stays where it is.
// CHECK-LABEL: func.func @updates
// CHECK-NOT: graph.side_by_side
// CHECK: return
func.func @updates(%x: !graph.tensor<"M, K", f16>, %w: !graph.tensor<"K, N", f16>, %v: !graph.tensor<"K, 2*N", f16>, %out: !graph.tensor<"M, N", f16>) -> (!graph.tensor<"M, 2*N", f16>, !graph.tensor<"M, N", f16>) attributes {graph.updates = array<i64: 3>} {
  %p = graph.matmul %x, %w : !graph.tensor<"M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"M, N", f16>
  %q = graph.matmul %x, %v : !graph.tensor<"M, K", f16>, !graph.tensor<"K, 2*N", f16> -> !graph.tensor<"M, 2*N", f16>
  return %q, %p : !graph.tensor<"M, 2*N", f16>, !graph.tensor<"M, N", f16>
}
