// RUN: tile-opt %s --tile-expand-descriptors | FileCheck %s

// One unsigned comparison covers both ends of a dimension.
// CHECK-LABEL: func.func @load
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f16>, %[[I:.*]]: i32, %[[J:.*]]: i32, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: i64
// CHECK: tile.hint %[[P]] {divisibility = array<i64: 16>}
// CHECK: %[[ROWS:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK: arith.cmpi ult, %[[ROWS]], %{{.*}} : tensor<8xi32>
// The stride is a multiple of 16 bytes.
// CHECK: tile.hint %[[S]] {divisibility = array<i64: 8>} : i64
// CHECK: %[[COLUMNS:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<32xi32>
// CHECK: arith.cmpi ult, %[[COLUMNS]], %{{.*}} : tensor<32xi32>
// The last stride is one: nothing to multiply.
// CHECK-NOT: arith.muli
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

// A dimension of size one that a reshape drops is a coordinate: what is multiplied is
// loaded as it is, and what is stored never gets the dimension.
// CHECK-LABEL: func.func @units
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f16>, %[[H:.*]]: i32, %[[I:.*]]: i32, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: i64
// CHECK: arith.cmpi ult, %[[H]], %[[N]] : i32
// CHECK: tile.addptr {{.*}} : !tile.ptr<f16>, i64
// CHECK: %[[V:.*]] = tile.load {{.*}} : tensor<8x32x!tile.ptr<f16>>
// CHECK-NOT: tile.reshape
// CHECK: tile.store {{.*}}, %[[V]]
func.func @units(%p: !tile.ptr<f16>, %h: i32, %i: i32, %m: i32, %n: i32, %s: i64) {
  %one = arith.constant 1 : i64
  %v = tile.descriptor_load %p[%h, %i, %i] of [%n, %m, %n] by [%s, %s, %one] : !tile.ptr<f16> -> tensor<1x8x32xf16>
  %narrow = tile.reshape %v : tensor<1x8x32xf16> -> tensor<8x32xf16>
  %wide = tile.reshape %narrow : tensor<8x32xf16> -> tensor<1x8x32xf16>
  tile.descriptor_store %p[%h, %i, %i] of [%n, %m, %n] by [%s, %s, %one], %wide : !tile.ptr<f16>, tensor<1x8x32xf16>
  return
}

// Who wants the dimension gets it.
// CHECK-LABEL: func.func @both
// CHECK: %[[V:.*]] = tile.load {{.*}} : tensor<8x32x!tile.ptr<f16>>
// CHECK: %[[WIDE:.*]] = tile.reshape %[[V]] : tensor<8x32xf16> -> tensor<1x8x32xf16>
// CHECK: return %[[WIDE]], %[[V]]
func.func @both(%p: !tile.ptr<f16>, %h: i32, %i: i32, %n: i32, %s: i64) -> (tensor<1x8x32xf16>, tensor<8x32xf16>) {
  %one = arith.constant 1 : i64
  %v = tile.descriptor_load %p[%h, %i, %i] of [%n, %n, %n] by [%s, %s, %one] : !tile.ptr<f16> -> tensor<1x8x32xf16>
  %narrow = tile.reshape %v : tensor<1x8x32xf16> -> tensor<8x32xf16>
  return %v, %narrow : tensor<1x8x32xf16>, tensor<8x32xf16>
}

// The last stride is one, also where that dimension goes: no multiple of 16 bytes.
// CHECK-LABEL: func.func @column
// CHECK-NOT: divisibility = array<i64: 4>
// CHECK: tile.load {{.*}} : tensor<8x!tile.ptr<f32>>
func.func @column(%p: !tile.ptr<f32>, %i: i32, %n: i32, %s: i64) -> tensor<8xf32> {
  %one = arith.constant 1 : i64
  %v = tile.descriptor_load %p[%i, %i] of [%n, %n] by [%s, %one] : !tile.ptr<f32> -> tensor<8x1xf32>
  %narrow = tile.reshape %v : tensor<8x1xf32> -> tensor<8xf32>
  return %narrow : tensor<8xf32>
}
