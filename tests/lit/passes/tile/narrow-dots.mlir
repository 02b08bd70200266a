// Products of operands that were widened in front of them.
// RUN: tile-opt %s --tile-narrow-dots | FileCheck %s

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// CHECK-LABEL: func.func @halves
// CHECK-SAME: %[[A:.*]]: tensor<16x32xf16>, %[[B:.*]]: tensor<32x16xf16>, %[[C:[a-z0-9]*]]: tensor<16x16xf32>
// CHECK-NEXT: %[[D:.*]] = tile.dot %[[A]], %[[B]], %[[C]] : tensor<16x32xf16> * tensor<32x16xf16>
// CHECK-NEXT: return %[[D]]
func.func @halves(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %x = arith.extf %a : tensor<16x32xf16> to tensor<16x32xf32>
  %y = arith.extf %b : tensor<32x16xf16> to tensor<32x16xf32>
  %d = tile.dot %x, %y, %c precision = tf32 : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Masked, turned, with another sign; one block on both sides. Parts of what has one part are it.
// CHECK-LABEL: func.func @in_between
// CHECK-SAME: %[[A:.*]]: tensor<16x16xbf16>, %[[M:.*]]: tensor<16x16xi1>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x16xbf16>
// CHECK-DAG: %[[X:.*]] = arith.select %[[M]], %[[A]], %[[ZERO]] : tensor<16x16xi1>, tensor<16x16xbf16>
// CHECK-DAG: %[[N:.*]] = arith.negf %[[X]] : tensor<16x16xbf16>
// CHECK-DAG: %[[T:.*]] = tile.trans %[[N]] {{.*}} : tensor<16x16xbf16> -> tensor<16x16xbf16>
// CHECK: tile.dot %[[X]], %[[T]], %{{.*}} : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
// CHECK-NEXT: return
func.func @in_between(%a: tensor<16x16xbf16>, %m: tensor<16x16xi1>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %w = arith.extf %a : tensor<16x16xbf16> to tensor<16x16xf32>
  %x = arith.select %m, %w, %zero : tensor<16x16xi1>, tensor<16x16xf32>
  %n = arith.negf %x : tensor<16x16xf32>
  %t = tile.trans %n [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  %d = tile.dot %x, %t, %c precision = bf16x6 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Eight bits and sixteen.
// CHECK-LABEL: func.func @bytes
// CHECK-SAME: %[[A:.*]]: tensor<16x32xf8E4M3FN>, %[[B:.*]]: tensor<32x16xbf16>
// CHECK-NEXT: %[[X:.*]] = arith.extf %[[A]] : tensor<16x32xf8E4M3FN> to tensor<16x32xbf16>
// CHECK-NEXT: tile.dot %[[X]], %[[B]], %{{.*}} : tensor<16x32xbf16> * tensor<32x16xbf16>
func.func @bytes(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %x = arith.extf %a : tensor<16x32xf8E4M3FN> to tensor<16x32xf32>
  %y = arith.extf %b : tensor<32x16xbf16> to tensor<32x16xf32>
  %d = tile.dot %x, %y, %c precision = tf32 : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// One operand is made of the other.
// CHECK-LABEL: func.func @of_itself
// CHECK: tile.dot {{.*}} tensor<16x16xf16> *
func.func @of_itself(%a: tensor<16x16xf16>, %m: tensor<16x16xi1>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %one = arith.constant dense<-1.0> : tensor<16x16xf32>
  %y = arith.extf %a : tensor<16x16xf16> to tensor<16x16xf32>
  %x = arith.select %m, %one, %y : tensor<16x16xi1>, tensor<16x16xf32>
  %d = tile.dot %x, %y, %c precision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Neither type holds the other's numbers.
// CHECK-LABEL: func.func @two_kinds
// CHECK: tile.dot {{.*}} tensor<16x32xf32> *
func.func @two_kinds(%a: tensor<16x32xf16>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %x = arith.extf %a : tensor<16x32xf16> to tensor<16x32xf32>
  %y = arith.extf %b : tensor<32x16xbf16> to tensor<32x16xf32>
  %d = tile.dot %x, %y, %c precision = tf32 : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// A constant that the type does not hold; what was computed; what was asked for exactly.
// CHECK-LABEL: func.func @wide
// CHECK-COUNT-3: tile.dot {{.*}} tensor<16x16xf32> *
func.func @wide(%a: tensor<16x16xf16>, %m: tensor<16x16xi1>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %third = arith.constant dense<0.1> : tensor<16x16xf32>
  %w = arith.extf %a : tensor<16x16xf16> to tensor<16x16xf32>
  %x = arith.select %m, %w, %third : tensor<16x16xi1>, tensor<16x16xf32>
  %d = tile.dot %x, %w, %c precision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %y = arith.mulf %w, %w : tensor<16x16xf32>
  %e = tile.dot %y, %w, %d precision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %f = tile.dot %w, %w, %e : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  return %f : tensor<16x16xf32>
}
}
