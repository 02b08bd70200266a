// Choices that hand on NaN are maxima and minima, where no zero of another sign may come of it.
// RUN: tile-opt %s --tile-extrema | FileCheck %s

// CHECK-LABEL: func.func @of_absolute
// CHECK-NOT: arith.cmpf
// CHECK: arith.maximumf %arg0, %{{.*}} : tensor<64xf32>
func.func @of_absolute(%a: tensor<64xf32>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %b = math.absf %x : tensor<64xf32>
  %m = arith.cmpf ogt, %a, %b : tensor<64xf32>
  %n = arith.cmpf une, %a, %a : tensor<64xf32>
  %c = arith.ori %m, %n : tensor<64xi1>
  %r = arith.select %c, %a, %b : tensor<64xi1>, tensor<64xf32>
  return %r : tensor<64xf32>
}

// Clamping to 8 bits: the sides may be exchanged, and NaN asked for first.
// CHECK-LABEL: func.func @clamped
// CHECK: %[[LOW:.*]] = arith.maximumf %arg0, %{{.*}}
// CHECK: arith.minimumf %[[LOW]], %{{.*}}
func.func @clamped(%a: tensor<64xf32>) -> tensor<64xf32> {
  %low = arith.constant dense<-127.0> : tensor<64xf32>
  %high = arith.constant dense<127.0> : tensor<64xf32>
  %m = arith.cmpf olt, %low, %a : tensor<64xf32>
  %n = arith.cmpf uno, %a, %a : tensor<64xf32>
  %c = arith.ori %n, %m : tensor<64xi1>
  %r = arith.select %c, %a, %low : tensor<64xi1>, tensor<64xf32>
  %m2 = arith.cmpf olt, %r, %high : tensor<64xf32>
  %n2 = arith.cmpf une, %r, %r : tensor<64xf32>
  %c2 = arith.ori %m2, %n2 : tensor<64xi1>
  %r2 = arith.select %c2, %r, %high : tensor<64xi1>, tensor<64xf32>
  return %r2 : tensor<64xf32>
}

// Nobody says in which order a reduction combines its elements.
// CHECK-LABEL: func.func @reduced
// CHECK: arith.maximumf
func.func @reduced(%x: tensor<64xf32>) -> f32 {
  %s = tile.reduce %x {axis = 0 : i32} : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.cmpf ogt, %a, %b : f32
    %n = arith.cmpf une, %a, %a : f32
    %c = arith.ori %m, %n : i1
    %r = arith.select %c, %a, %b : f32
    tile.yield %r : f32
  }
  return %s : f32
}

// +0 and -0 give -0 here; less than zero is +0; double has no such instruction; without NaN it is
// another choice.
// CHECK-LABEL: func.func @others
// CHECK-NOT: arith.maximumf
// CHECK-NOT: arith.minimumf
// CHECK: return
func.func @others(%a: f32, %b: f32, %d: f64) -> (f32, f32, f64, f32) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f64
  %m = arith.cmpf ogt, %a, %b : f32
  %n = arith.cmpf une, %a, %a : f32
  %c = arith.ori %m, %n : i1
  %r = arith.select %c, %a, %b : f32
  %m2 = arith.cmpf olt, %a, %zero : f32
  %n2 = arith.cmpf une, %a, %a : f32
  %c2 = arith.ori %m2, %n2 : i1
  %r2 = arith.select %c2, %a, %zero : f32
  %m3 = arith.cmpf ogt, %d, %one : f64
  %n3 = arith.cmpf une, %d, %d : f64
  %c3 = arith.ori %m3, %n3 : i1
  %r3 = arith.select %c3, %d, %one : f64
  %r4 = arith.select %m, %a, %b : f32
  return %r, %r2, %r3, %r4 : f32, f32, f64, f32
}
