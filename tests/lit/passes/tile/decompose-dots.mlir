// Products in terms of what the hardware multiplies.
// RUN: tile-opt %s -split-input-file -tile-decompose-dots | FileCheck %s

// A sum that starts with a product starts the product.
module attributes {tile.target = #tile.target<sm_80>} {
  // CHECK-LABEL: func.func @start_from_sum
  // CHECK: %[[D:.*]] = tile.dot %{{.*}}, %{{.*}}, %arg2 :
  // CHECK-NEXT: return %[[D]]
  func.func @start_from_sum(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tile.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %s = arith.addf %c, %d : tensor<16x16xf32>
    return %s : tensor<16x16xf32>
  }
  // CHECK-LABEL: func.func @product_used_again
  // CHECK: tile.dot
  // CHECK: arith.addf
  func.func @product_used_again(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tile.dot %a, %b, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %s = arith.addf %c, %d : tensor<16x16xf32>
    return %s, %d : tensor<16x16xf32>, tensor<16x16xf32>
  }
  // CHECK-LABEL: func.func @tf32x3
  // CHECK: %[[SMALL:.*]] = tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision = tf32 :
  // CHECK: %[[SUM:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[SMALL]] precision = tf32 :
  // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[SUM]], %[[SUM]]
  // CHECK: %[[FINITE:.*]] = arith.select %[[NAN]], %{{.*}}, %[[SUM]]
  // CHECK: %[[START:.*]] = arith.addf %[[FINITE]], %arg2
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %[[START]] precision = tf32 :
  // CHECK-NOT: tile.dot
  func.func @tf32x3(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %d = tile.dot %a, %b, %c precision = tf32x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    return %d : tensor<16x16xf32>
  }
  // CHECK-LABEL: func.func @bf16x6
  // CHECK-COUNT-6: tile.dot {{.*}} : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
  // CHECK-NOT: tile.dot
  func.func @bf16x6(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %d = tile.dot %a, %b, %c precision = bf16x6 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    return %d : tensor<16x16xf32>
  }
  // CHECK-LABEL: func.func @widened
  // CHECK: tile.fp_cast %arg0 rtne : tensor<16x16xf8E5M2> -> tensor<16x16xf16>
  // CHECK: tile.dot {{.*}} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  func.func @widened(%a: tensor<16x16xf8E5M2>, %b: tensor<16x16xf8E4M3FN>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %d = tile.dot %a, %b, %c : tensor<16x16xf8E5M2> * tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
    return %d : tensor<16x16xf32>
  }
}

// -----

// Where 8-bit floats multiply, they do so in f32.
module attributes {tile.target = #tile.target<sm_89>} {
  // CHECK-LABEL: func.func @narrow
  // CHECK: %[[ACC:.*]] = arith.extf %arg2
  // CHECK: %[[D:.*]] = tile.dot %arg0, %arg1, %[[ACC]] : tensor<16x16xf8E5M2> * tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
  // CHECK: arith.truncf %[[D]]
  func.func @narrow(%a: tensor<16x16xf8E5M2>, %b: tensor<16x16xf8E4M3FN>, %c: tensor<16x16xf16>) -> tensor<16x16xf16> {
    %d = tile.dot %a, %b, %c : tensor<16x16xf8E5M2> * tensor<16x16xf8E4M3FN> -> tensor<16x16xf16>
    return %d : tensor<16x16xf16>
  }
}

// -----

// Without an instruction for the parts, the whole is more exact.
module attributes {tile.target = #tile.target<sm_75>} {
  // CHECK-LABEL: func.func @whole
  // CHECK: tile.dot %arg0, %arg1, %arg2 : tensor<16x16xf32>
  func.func @whole(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %d = tile.dot %a, %b, %c precision = tf32x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
    return %d : tensor<16x16xf32>
  }
}

// -----

// What is added to a product of 8-bit floats is added in f32, not in the matrix unit.
module attributes {tile.target = #tile.target<sm_89>} {
  // CHECK-LABEL: func.func @added
  // CHECK: tile.dot %arg0, %arg1, %arg2 {max_num_imprecise_acc = 32 : i32}
  // CHECK-LABEL: func.func @added_halves
  // CHECK: tile.dot %arg0, %arg1, %arg2 :
  func.func @added(%a: tensor<16x32xf8E5M2>, %b: tensor<32x16xf8E5M2>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tile.dot %a, %b, %zero : tensor<16x32xf8E5M2> * tensor<32x16xf8E5M2> -> tensor<16x16xf32>
    %e = arith.addf %c, %d : tensor<16x16xf32>
    return %e : tensor<16x16xf32>
  }
  func.func @added_halves(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %d = tile.dot %a, %b, %zero : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
    %e = arith.addf %c, %d : tensor<16x16xf32>
    return %e : tensor<16x16xf32>
  }
}
