// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s
module attributes {tile.kernel = #tile.kernel<warps = 1>} {

// CHECK-LABEL: llvm.func{{.*}} @product_of_a_sum
// Base and constant are multiplied apart: x * 64 + 4096, not x + 64 + 4096.
func.func @product_of_a_sum(%p: !tile.ptr<i64>, %x: i64) {
  %c = arith.constant 64 : i64
  %sum = arith.addi %x, %c : i64
  // CHECK: %[[K:.*]] = llvm.mlir.constant(64 : i64)
  // CHECK: %[[BASE:.*]] = llvm.mul %arg1, %{{.*}} : i64
  %product = arith.muli %sum, %c : i64
  // CHECK: %[[C:.*]] = llvm.mlir.constant(4096 : i64)
  // CHECK: llvm.add %[[BASE]], %[[C]] : i64
  tile.store %p, %product : !tile.ptr<i64>
  return
}

// CHECK-LABEL: llvm.func{{.*}} @equal_constants
// One sum of the same base and constant serves twice.
func.func @equal_constants(%p: !tile.ptr<i64>, %x: i64) {
  %c = arith.constant 3 : i64
  // CHECK-COUNT-1: llvm.add %arg1
  // CHECK-NOT: llvm.add %arg1
  %a = arith.addi %x, %c : i64
  %b = arith.addi %x, %c : i64
  %d = arith.xori %a, %b : i64
  // CHECK: llvm.xor
  tile.store %p, %d : !tile.ptr<i64>
  return
}
}
