// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=64 rows=64 inner=64 even aligned" --canonicalize | FileCheck %s
// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=64 rows=64 inner=64" --canonicalize | FileCheck %s --check-prefix=ENDS

// Scores stay in registers: two products in one loop, the powers of two of which are one
// multiplication, one subtraction, one exponential, rounded for the second product.
// CHECK-LABEL: func.func @plain(
// CHECK: %[[Q:.*]] = tile.load
// CHECK: scf.for
// CHECK: %[[S:.*]] = tile.dot %[[Q]]
// CHECK: tile.reduce {{.*}} {axis = 1 : i32}
// CHECK: arith.maxnumf
// CHECK-NOT: arith.cmpi
// CHECK: %[[U:.*]] = arith.mulf %[[S]]
// CHECK: %[[D:.*]] = arith.subf %[[U]]
// CHECK: %[[P:.*]] = math.exp2 %[[D]]
// CHECK: arith.truncf %[[P]] : tensor<64x64xf32> to tensor<64x64xf16>
// CHECK: tile.dot
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: arith.divf
// CHECK: tile.store
// Behind the last whole block one is masked.
// ENDS-LABEL: func.func @plain(
// ENDS: scf.for
// ENDS-NOT: arith.select {{.*}} tensor<64x64xi1>
// ENDS: scf.yield
// ENDS: scf.for
// ENDS: arith.select {{.*}} tensor<64x64xi1>
// ENDS: scf.yield
// ENDS-NOT: scf.for
// ENDS-LABEL: func.func @window(
func.func @plain(%q: !graph.tensor<"T, D", f16>, %k: !graph.tensor<"D, S", f16>, %v: !graph.tensor<"S, D", f16>) -> !graph.tensor<"T, D", f16> {
  %x = graph.matmul %q, %k : !graph.tensor<"T, D", f16>, !graph.tensor<"D, S", f16> -> !graph.tensor<"T, S", f16>
  %m = graph.reduce max %x [1] : !graph.tensor<"T, S", f16> -> !graph.tensor<"T", f16>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"T", f16> -> !graph.tensor<"T, 1", f16>
  %d = graph.map sub(%x, %m1) : (!graph.tensor<"T, S", f16>, !graph.tensor<"T, 1", f16>) -> !graph.tensor<"T, S", f16>
  %e = graph.map exp(%d) : (!graph.tensor<"T, S", f16>) -> !graph.tensor<"T, S", f16>
  %l = graph.reduce sum %e [1] : !graph.tensor<"T, S", f16> -> !graph.tensor<"T", f16>
  %l1 = graph.rearrange %l [0, -1] : !graph.tensor<"T", f16> -> !graph.tensor<"T, 1", f16>
  %p = graph.map div(%e, %l1) : (!graph.tensor<"T, S", f16>, !graph.tensor<"T, 1", f16>) -> !graph.tensor<"T, S", f16>
  %o = graph.matmul %p, %v : !graph.tensor<"T, S", f16>, !graph.tensor<"S, D", f16> -> !graph.tensor<"T, D", f16>
  return %o : !graph.tensor<"T, D", f16>
}

// Columns up to the row, and less than eight before it: blocks that nobody sees are not visited,
// and between the edges nothing is compared. The last rows come first.
// CHECK-LABEL: func.func @window(
// CHECK: arith.subi
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: scf.for
// CHECK: arith.cmpi {{.*}} tensor<64x64xi32>
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-NOT: arith.cmpi {{.*}} tensor<64x64xi32>
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: arith.cmpi {{.*}} tensor<64x64xi32>
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: tile.store
func.func @window(%q: !graph.tensor<"T, D", f16>, %k: !graph.tensor<"D, T", f16>, %v: !graph.tensor<"T, D", f16>) -> !graph.tensor<"T, D", f16> {
  %none = graph.constant 0xFFF0000000000000 : f64 : !graph.tensor<"", f16>
  %eight = graph.constant 8 : i64 : !graph.tensor<"", i32>
  %i = graph.index : !graph.tensor<"T", i32>
  %r = graph.rearrange %i [0, -1] : !graph.tensor<"T", i32> -> !graph.tensor<"T, 1", i32>
  %ge = graph.map ge(%r, %i) : (!graph.tensor<"T, 1", i32>, !graph.tensor<"T", i32>) -> !graph.tensor<"T, T", i1>
  %far = graph.map sub(%r, %i) : (!graph.tensor<"T, 1", i32>, !graph.tensor<"T", i32>) -> !graph.tensor<"T, T", i32>
  %lt = graph.map lt(%far, %eight) : (!graph.tensor<"T, T", i32>, !graph.tensor<"", i32>) -> !graph.tensor<"T, T", i1>
  %sees = graph.map bit_and(%ge, %lt) : (!graph.tensor<"T, T", i1>, !graph.tensor<"T, T", i1>) -> !graph.tensor<"T, T", i1>
  %s = graph.matmul %q, %k : !graph.tensor<"T, D", f16>, !graph.tensor<"D, T", f16> -> !graph.tensor<"T, T", f16>
  %x = graph.map where(%sees, %s, %none) : (!graph.tensor<"T, T", i1>, !graph.tensor<"T, T", f16>, !graph.tensor<"", f16>) -> !graph.tensor<"T, T", f16>
  %m = graph.reduce max %x [1] : !graph.tensor<"T, T", f16> -> !graph.tensor<"T", f16>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"T", f16> -> !graph.tensor<"T, 1", f16>
  %d = graph.map sub(%x, %m1) : (!graph.tensor<"T, T", f16>, !graph.tensor<"T, 1", f16>) -> !graph.tensor<"T, T", f16>
  %e = graph.map exp(%d) : (!graph.tensor<"T, T", f16>) -> !graph.tensor<"T, T", f16>
  %l = graph.reduce sum %e [1] : !graph.tensor<"T, T", f16> -> !graph.tensor<"T", f16>
  %l1 = graph.rearrange %l [0, -1] : !graph.tensor<"T", f16> -> !graph.tensor<"T, 1", f16>
  %p = graph.map div(%e, %l1) : (!graph.tensor<"T, T", f16>, !graph.tensor<"T, 1", f16>) -> !graph.tensor<"T, T", f16>
  %o = graph.matmul %p, %v : !graph.tensor<"T, T", f16>, !graph.tensor<"T, D", f16> -> !graph.tensor<"T, D", f16>
  return %o : !graph.tensor<"T, D", f16>
}
