// Truths that are combined as numbers are combined as truths.
// RUN: tile-opt %s --tile-truths | FileCheck %s
// RUN: tile-opt %s --tile-truths --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: 3 tile-truths - comparisons that combine truths as such

// Every second run is ordered the other way.
// CHECK-LABEL: func.func @turned
// CHECK: %[[DOWN:.*]] = tile.broadcast
// CHECK: %[[IS_DOWN:.*]] = arith.cmpi ne, %[[DOWN]], %{{.*}} : tensor<8x2xi32>
// CHECK: %[[SWAP:.*]] = arith.xori %arg0, %[[IS_DOWN]] : tensor<8x2xi1>
// CHECK: return %[[SWAP]]
func.func @turned(%c: tensor<8x2xi1>) -> tensor<8x2xi1> {
  %zero = arith.constant dense<0> : tensor<8x2xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %e = tile.expand_dims %r {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %down = tile.broadcast %e : tensor<1x2xi32> -> tensor<8x2xi32>
  %n = arith.extui %c : tensor<8x2xi1> to tensor<8x2xi32>
  %d = arith.xori %n, %down : tensor<8x2xi32>
  %s = arith.cmpi ne, %d, %zero : tensor<8x2xi32>
  return %s : tensor<8x2xi1>
}

// The same, compared with each other.
// CHECK-LABEL: func.func @differs
// CHECK: %[[IS_DOWN:.*]] = arith.cmpi ne, %{{.*}} : tensor<2xi32>
// CHECK: arith.xori %arg0, %[[IS_DOWN]] : tensor<2xi1>
func.func @differs(%c: tensor<2xi1>) -> tensor<2xi1> {
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %n = arith.extui %c : tensor<2xi1> to tensor<2xi32>
  %s = arith.cmpi ne, %n, %r : tensor<2xi32>
  return %s : tensor<2xi1>
}

// And asked whether they are the same.
// CHECK-LABEL: func.func @same
// CHECK: %[[DIFFERS:.*]] = arith.xori %arg0, %arg1 : i1
// CHECK: arith.xori %[[DIFFERS]], %true : i1
func.func @same(%c: i1, %d: i1) -> i1 {
  %n = arith.extui %c : i1 to i32
  %m = arith.extui %d : i1 to i32
  %s = arith.cmpi eq, %n, %m : i32
  return %s : i1
}

// A number that may be 2 is no truth.
// CHECK-LABEL: func.func @of_four
// CHECK: arith.extui
// CHECK: arith.xori %{{.*}} : tensor<4xi32>
func.func @of_four(%c: tensor<4xi1>) -> tensor<4xi1> {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %r = tile.make_range 0 to 4 : tensor<4xi32>
  %n = arith.extui %c : tensor<4xi1> to tensor<4xi32>
  %d = arith.xori %n, %r : tensor<4xi32>
  %s = arith.cmpi ne, %d, %zero : tensor<4xi32>
  return %s : tensor<4xi1>
}

// Where no truth is among them, numbers are compared.
// CHECK-LABEL: func.func @numbers
// CHECK: arith.xori %{{.*}} : tensor<2xi32>
func.func @numbers(%c: tensor<2xi32>) -> tensor<2xi1> {
  %one = arith.constant dense<1> : tensor<2xi32>
  %zero = arith.constant dense<0> : tensor<2xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %b = arith.andi %c, %one : tensor<2xi32>
  %d = arith.xori %b, %r : tensor<2xi32>
  %s = arith.cmpi ne, %d, %zero : tensor<2xi32>
  return %s : tensor<2xi1>
}
