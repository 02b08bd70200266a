// What is left over of a division is a remainder.
// RUN: tile-opt %s --tile-remainders | FileCheck %s
// RUN: tile-opt %s --tile-remainders --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: 3 tile-remainders - differences that are remainders

// CHECK-LABEL: func.func @signed
// CHECK: %[[Q:.*]] = arith.divsi %arg0, %arg1
// CHECK-NOT: arith.muli
// CHECK: %[[R:.*]] = arith.remsi %arg0, %arg1 : tensor<8xi32>
// CHECK: return %[[Q]], %[[R]]
func.func @signed(%x: tensor<8xi32>, %n: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %q = arith.divsi %x, %n : tensor<8xi32>
  %p = arith.muli %q, %n : tensor<8xi32>
  %r = arith.subi %x, %p : tensor<8xi32>
  return %q, %r : tensor<8xi32>, tensor<8xi32>
}

// The factors the other way around, single numbers, no signs.
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.remui %arg0, %arg1 : i64
func.func @unsigned(%x: i64, %n: i64) -> i64 {
  %q = arith.divui %x, %n : i64
  %p = arith.muli %n, %q : i64
  %r = arith.subi %x, %p : i64
  return %r : i64
}

// The product is needed by itself, too.
// CHECK-LABEL: func.func @product_is_used
// CHECK: %[[P:.*]] = arith.muli
// CHECK: %[[R:.*]] = arith.remsi
// CHECK: return %[[P]], %[[R]]
func.func @product_is_used(%x: i32, %n: i32) -> (i32, i32) {
  %q = arith.divsi %x, %n : i32
  %p = arith.muli %q, %n : i32
  %r = arith.subi %x, %p : i32
  return %p, %r : i32, i32
}

// Divided by another number, of another number, and the wrong way around.
// CHECK-LABEL: func.func @others
// CHECK-NOT: arith.rem
func.func @others(%x: i32, %y: i32, %n: i32, %m: i32) -> (i32, i32, i32) {
  %q = arith.divsi %x, %n : i32
  %p = arith.muli %q, %m : i32
  %a = arith.subi %x, %p : i32
  %t = arith.muli %q, %n : i32
  %b = arith.subi %y, %t : i32
  %c = arith.subi %t, %x : i32
  return %a, %b, %c : i32, i32, i32
}
