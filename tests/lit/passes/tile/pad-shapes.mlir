// RUN: tile-opt %s --tile-pad-shapes | FileCheck %s

// Added elements are not read or written; arithmetic does not care about them.
// CHECK-LABEL: func.func @memory
// CHECK: %[[I:.*]] = tile.make_range 0 to 64 : tensor<64xi32>
// CHECK: %[[C:.*]] = arith.constant dense<2.000000e+00> : tensor<64xf32>
// CHECK: %[[N:.*]] = arith.constant dense<48> : tensor<64xi32>
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %[[N]] : tensor<64xi32>
// CHECK: %[[V:.*]] = tile.load %{{.*}}, %[[IN]] : tensor<64x!tile.ptr<f32>>
// CHECK: %[[S:.*]] = arith.mulf %[[V]], %[[C]] : tensor<64xf32>
// CHECK: tile.store %{{.*}}, %[[S]], %{{.*}} : tensor<64x!tile.ptr<f32>>
func.func @memory(%p: !tile.ptr<f32>) {
  %i = tile.make_range 0 to 48 : tensor<48xi32>
  %b = tile.splat %p : !tile.ptr<f32> -> tensor<48x!tile.ptr<f32>>
  %q = tile.addptr %b, %i : tensor<48x!tile.ptr<f32>>, tensor<48xi32>
  %c = arith.constant dense<2.0> : tensor<48xf32>
  %v = tile.load %q : tensor<48x!tile.ptr<f32>>
  %s = arith.mulf %v, %c : tensor<48xf32>
  tile.store %q, %s : tensor<48x!tile.ptr<f32>>
  return
}

// A mask that is there already is narrowed.
// CHECK-LABEL: func.func @mask
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %arg1 : tensor<4xi1>
// CHECK: tile.load %arg0, %[[BOTH]]
func.func @mask(%p: tensor<3x!tile.ptr<f32>>, %m: tensor<3xi1>) -> tensor<3xf32> {
  %v = tile.load %p, %m : tensor<3x!tile.ptr<f32>>
  return %v : tensor<3xf32>
}

// Only dimensions that grew are compared.
// CHECK-LABEL: func.func @columns
// CHECK: tile.make_range 0 to 8
// CHECK-NOT: tile.make_range
// CHECK: tile.atomic_rmw add relaxed gpu %arg0, %arg1, %{{.*}} : tensor<4x8x!tile.ptr<i32>>
func.func @columns(%p: tensor<4x6x!tile.ptr<i32>>, %v: tensor<4x6xi32>) {
  %old = tile.atomic_rmw add relaxed gpu %p, %v : tensor<4x6x!tile.ptr<i32>>
  return
}

// Sums see zeros (of the sign that changes nothing).
// CHECK-LABEL: func.func @sum
// CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<4x8xf32>
// CHECK: %[[X:.*]] = arith.select %{{.*}}, %arg0, %[[ZERO]]
// CHECK: tile.reduce %[[X]] {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4xf32>
func.func @sum(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %s = tile.reduce %x {axis = 1 : i32} : tensor<3x5xf32> -> tensor<3xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  return %s : tensor<3xf32>
}

// Along a dimension that did not grow nothing needs to be done.
// CHECK-LABEL: func.func @whole_axis
// CHECK-NOT: arith.select
// CHECK: tile.reduce %arg0 {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4xf32>
func.func @whole_axis(%x: tensor<3x8xf32>) -> tensor<3xf32> {
  %s = tile.reduce %x {axis = 1 : i32} : tensor<3x8xf32> -> tensor<3xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  return %s : tensor<3xf32>
}

// A combiner that nothing is known about takes the side that is there.
// CHECK-LABEL: func.func @any
// CHECK: %[[FLAG:.*]] = arith.extui %{{.*}} : tensor<8xi1> to tensor<8xi32>
// CHECK: tile.reduce %arg0, %[[FLAG]]
// CHECK: ^bb0(%[[A:.*]]: f32, %[[FA:.*]]: i32, %[[B:.*]]: f32, %[[FB:.*]]: i32):
// CHECK: %[[BOTH:.*]] = arith.subf %[[A]], %[[B]]
// CHECK: %[[NOA:.*]] = arith.cmpi eq, %[[FA]], %{{.*}}
// CHECK: %[[NOB:.*]] = arith.cmpi eq, %[[FB]], %{{.*}}
// CHECK: %[[R:.*]] = arith.select %[[NOA]], %[[B]], %[[BOTH]]
// CHECK: %[[S:.*]] = arith.select %[[NOB]], %[[A]], %[[R]]
// CHECK: %[[F:.*]] = arith.ori %[[FA]], %[[FB]]
// CHECK: tile.yield %[[S]], %[[F]]
func.func @any(%x: tensor<5xf32>) -> f32 {
  %s = tile.reduce %x {axis = 0 : i32} : tensor<5xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    tile.yield %c : f32
  }
  return %s : f32
}

// Forward, added elements come last; backward, first.
// CHECK-LABEL: func.func @scans
// CHECK: tile.scan %arg0 {axis = 0 : i32, reverse = false}
// CHECK: %[[X:.*]] = arith.select
// CHECK: tile.scan %[[X]] {axis = 0 : i32, reverse = true}
func.func @scans(%x: tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>) {
  %f = tile.scan %x {axis = 0 : i32, reverse = false} : tensor<5xi32> -> tensor<5xi32> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  %r = tile.scan %x {axis = 0 : i32, reverse = true} : tensor<5xi32> -> tensor<5xi32> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  return %f, %r : tensor<5xi32>, tensor<5xi32>
}

// What a combiner asserts is about elements that are there, also where whole rows are added.
// CHECK-LABEL: func.func @heard
// CHECK: tile.scan %arg0, %{{.*}} {axis = 1 : i32, reverse = false}
// CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %[[LEFT:.*]]: i32, %[[B:.*]]: i32, %[[RIGHT:.*]]: i32):
// CHECK: %[[AND:.*]] = arith.andi %[[LEFT]], %[[RIGHT]]
// CHECK: %[[BOTH:.*]] = arith.trunci %[[AND]] : i32 to i1
// CHECK: scf.if %[[BOTH]] {
// CHECK-NEXT: tile.assert
func.func @heard(%x: tensor<3x8xi32>) -> tensor<3x8xi32> {
  %r = tile.scan %x {axis = 1 : i32, reverse = false} : tensor<3x8xi32> -> tensor<3x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %less = arith.cmpi slt, %a, %b : i32
    tile.assert %less, "rising" : i1
    tile.yield %b : i32
  }
  return %r : tensor<3x8xi32>
}

// Both operands are zero along the inner dimension; rows and columns may be anything.
// CHECK-LABEL: func.func @dot
// CHECK: %[[A:.*]] = arith.select %{{.*}}, %arg0, %{{.*}} : tensor<64x64xi1>, tensor<64x64xf16>
// CHECK: %[[B:.*]] = arith.select %{{.*}}, %arg1, %{{.*}} : tensor<64x32xi1>, tensor<64x32xf16>
// CHECK: tile.dot %[[A]], %[[B]], %arg2 : tensor<64x64xf16> * tensor<64x32xf16> -> tensor<64x32xf32>
func.func @dot(%a: tensor<48x40xf16>, %b: tensor<40x24xf16>, %c: tensor<48x24xf32>) -> tensor<48x24xf32> {
  %d = tile.dot %a, %b, %c : tensor<48x40xf16> * tensor<40x24xf16> -> tensor<48x24xf32>
  return %d : tensor<48x24xf32>
}

// Positions stay where only the outermost dimension grows.
// CHECK-LABEL: func.func @flatten
// CHECK-NOT: tile.gather
// CHECK: tile.reshape %arg0 : tensor<4x8xf32> -> tensor<32xf32>
func.func @flatten(%x: tensor<3x8xf32>) -> tensor<24xf32> {
  %y = tile.reshape %x : tensor<3x8xf32> -> tensor<24xf32>
  return %y : tensor<24xf32>
}

// Elsewhere they are looked up.
// CHECK-LABEL: func.func @lookup
// CHECK: tile.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : tensor<32xf32>, tensor<32xi32> -> tensor<32xf32>
func.func @lookup(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %y = tile.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  return %y : tensor<24xf32>
}

// Loops carry what has grown.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %arg0) -> (tensor<4xf32>)
func.func @loop(%x: tensor<3xf32>, %n: i32) -> tensor<3xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<3xf32> : i32 {
    %s = arith.addf %a, %a : tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// What nothing needs to be done for stays as it is.
// CHECK-LABEL: func.func @powers
// CHECK-NEXT: %[[V:.*]] = tile.load %arg0 : tensor<8x!tile.ptr<f32>>
// CHECK-NEXT: return %[[V]]
func.func @powers(%p: tensor<8x!tile.ptr<f32>>) -> tensor<8xf32> {
  %v = tile.load %p : tensor<8x!tile.ptr<f32>>
  return %v : tensor<8xf32>
}
