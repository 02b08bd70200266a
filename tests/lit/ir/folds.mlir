// What the folders of the tile dialect simplify, and what they must leave.
// RUN: tile-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @splat_of_constant
// CHECK: arith.constant dense<1.500000e+00> : tensor<8xf32>
func.func @splat_of_constant() -> tensor<8xf32> {
  %c = arith.constant 1.5 : f32
  %0 = tile.splat %c : f32 -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @unsplat_of_splat(
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-NEXT: return %[[X]]
func.func @unsplat_of_splat(%x: f32) -> f32 {
  %0 = tile.splat %x : f32 -> tensor<1xf32>
  %1 = tile.unsplat %0 : tensor<1xf32> -> f32
  return %1 : f32
}

// CHECK-LABEL: func.func @broadcast_to_same(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @broadcast_to_same(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tile.broadcast %x : tensor<4x8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @broadcast_of_splat_constant
// CHECK: arith.constant dense<7> : tensor<4x8xi32>
// CHECK-NOT: tile.broadcast
func.func @broadcast_of_splat_constant() -> tensor<4x8xi32> {
  %c = arith.constant dense<7> : tensor<4x1xi32>
  %0 = tile.broadcast %c : tensor<4x1xi32> -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: func.func @broadcast_of_different_constants
// CHECK: tile.broadcast
func.func @broadcast_of_different_constants() -> tensor<2x8xi32> {
  %c = arith.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %0 = tile.broadcast %c : tensor<2x1xi32> -> tensor<2x8xi32>
  return %0 : tensor<2x8xi32>
}

// CHECK-LABEL: func.func @reshape_of_reshape(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT: %[[R:.*]] = tile.reshape %[[X]] : tensor<4x8xf32> -> tensor<2x16xf32>
// CHECK-NEXT: return %[[R]]
func.func @reshape_of_reshape(%x: tensor<4x8xf32>) -> tensor<2x16xf32> {
  %0 = tile.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tile.reshape %0 : tensor<32xf32> -> tensor<2x16xf32>
  return %1 : tensor<2x16xf32>
}

// An ordered reshape of a reordered one still promises nothing about order, but
// the reverse would let the compiler reorder what must stay.
// CHECK-LABEL: func.func @reshape_keeps_unequal_promises
// CHECK-COUNT-2: tile.reshape
func.func @reshape_keeps_unequal_promises(%x: tensor<4x8xf32>) -> tensor<2x16xf32> {
  %0 = tile.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tile.reshape %0 allow_reorder : tensor<32xf32> -> tensor<2x16xf32>
  return %1 : tensor<2x16xf32>
}

// CHECK-LABEL: func.func @reshape_of_splat_constant
// CHECK: arith.constant dense<true> : tensor<32xi1>
func.func @reshape_of_splat_constant() -> tensor<32xi1> {
  %c = arith.constant dense<true> : tensor<4x8xi1>
  %0 = tile.reshape %c : tensor<4x8xi1> -> tensor<32xi1>
  return %0 : tensor<32xi1>
}

// CHECK-LABEL: func.func @identity_transpose(
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT: return %[[X]]
func.func @identity_transpose(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tile.trans %x [0, 1] : tensor<4x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// The types agree, the elements do not.
// CHECK-LABEL: func.func @square_transpose
// CHECK: tile.trans
func.func @square_transpose(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tile.trans %x [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @addptr_zero(
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[Q:.*]]: tensor<4x!tile.ptr<f32>>
// CHECK-NEXT: return %[[P]], %[[Q]]
func.func @addptr_zero(%p: !tile.ptr<f32>, %q: tensor<4x!tile.ptr<f32>>)
    -> (!tile.ptr<f32>, tensor<4x!tile.ptr<f32>>) {
  %c = arith.constant 0 : i32
  %d = arith.constant dense<0> : tensor<4xi64>
  %0 = tile.addptr %p, %c : !tile.ptr<f32>, i32
  %1 = tile.addptr %q, %d : tensor<4x!tile.ptr<f32>>, tensor<4xi64>
  return %0, %1 : !tile.ptr<f32>, tensor<4x!tile.ptr<f32>>
}

// CHECK-LABEL: func.func @casts_to_same(
// CHECK-SAME: %[[P:.*]]: !tile.ptr<f32>, %[[X:.*]]: f16
// CHECK-NEXT: return %[[P]], %[[X]]
func.func @casts_to_same(%p: !tile.ptr<f32>, %x: f16) -> (!tile.ptr<f32>, f16) {
  %0 = tile.ptr_cast %p : !tile.ptr<f32> -> !tile.ptr<f32>
  %1 = tile.fp_cast %x rtne : f16 -> f16
  return %0, %1 : !tile.ptr<f32>, f16
}

// A load nobody uses is gone; a volatile one and every store stay.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT: tile.load %{{.*}} {is_volatile = true}
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tile.store
// CHECK-NEXT: return
func.func @effects(%p: !tile.ptr<f32>, %x: f32) {
  %0 = tile.load %p : !tile.ptr<f32>
  %1 = tile.load %p {is_volatile = true} : !tile.ptr<f32>
  %2 = tile.atomic_rmw fadd relaxed gpu %p, %x : !tile.ptr<f32>
  tile.store %p, %x : !tile.ptr<f32>
  return
}
