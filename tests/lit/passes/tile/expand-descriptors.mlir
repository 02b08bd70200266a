// RUN: tile-opt %s --tile-expand-descriptors | FileCheck %s

// One unsigned comparison covers both ends of a dimension.
// CHECK-LABEL: func.func @load
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f16>, %[[I:.*]]: i32, %[[J:.*]]: i32, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: i64
// CHECK: %[[ROWS:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK: arith.cmpi ult, %[[ROWS]], %{{.*}} : tensor<8xi32>
// The stride is a multiple of 16 bytes.
// CHECK: tile.hint %[[S]] {divisibility = array<i64: 8>} : i64
// CHECK: %[[COLUMNS:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<32xi32>
// CHECK: arith.cmpi ult, %[[COLUMNS]], %{{.*}} : tensor<32xi32>
// The last stride is one: nothing to multiply.
// CHECK-NOT: arith.muli
// CHECK: tile.hint %[[P]] {divisibility = array<i64: 16>}
// CHECK: tile.load %{{.*}}, %{{.*}} : tensor<8x32x!tile.ptr<f16>>
// CHECK-NOT: tile.descriptor
func.func @load(%p: !tile.ptr<f16>, %i: i32, %j: i32, %m: i32, %n: i32, %s: i64) -> tensor<8x32xf16> {
  %one = arith.constant 1 : i64
  %v = tile.descriptor_load %p[%i, %j] of [%m, %n] by [%s, %one] : !tile.ptr<f16> -> tensor<8x32xf16>
  return %v : tensor<8x32xf16>
}

// CHECK-LABEL: func.func @nan
// CHECK: %[[NAN:.*]] = arith.constant dense<0x7FC00000> : tensor<16xf32>
// CHECK: tile.load %{{.*}}, %{{.*}}, other %[[NAN]]
func.func @nan(%p: !tile.ptr<f32>, %i: i32, %n: i32) -> tensor<16xf32> {
  %one = arith.constant 1 : i64
  %v = tile.descriptor_load %p[%i] of [%n] by [%one] padding = nan : !tile.ptr<f32> -> tensor<16xf32>
  return %v : tensor<16xf32>
}

// CHECK-LABEL: func.func @rest
// CHECK: tile.store
// CHECK: tile.atomic_rmw add relaxed gpu
// CHECK: tile.load
// CHECK: tile.store
// CHECK-NOT: tile.descriptor
func.func @rest(%p: !tile.ptr<i32>, %i: i32, %n: i32, %s: i64, %v: tensor<8x16xi32>, %r: tensor<8xi32>) {
  %one = arith.constant 1 : i64
  tile.descriptor_store %p[%i, %i] of [%n, %n] by [%s, %one], %v : !tile.ptr<i32>, tensor<8x16xi32>
  tile.descriptor_reduce add %p[%i, %i] of [%n, %n] by [%s, %one], %v : !tile.ptr<i32>, tensor<8x16xi32>
  %g = tile.descriptor_gather %p[%r, %i] of [%n, %n] by [%s, %one] : !tile.ptr<i32>, tensor<8xi32> -> tensor<8x16xi32>
  tile.descriptor_scatter %p[%r, %i] of [%n, %n] by [%s, %one], %g : !tile.ptr<i32>, tensor<8xi32>, tensor<8x16xi32>
  return
}
