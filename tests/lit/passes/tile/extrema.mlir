// Choices that hand on NaN are maxima and minima, where no zero of another sign may come of it.
// RUN: tile-opt %s --tile-extrema | FileCheck %s
// RUN: tile-opt %s --tile-extrema --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=DROPPED
// DROPPED: 5 tile-extrema - limits that conversions have themselves

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

// The conversion has the upper limit; of NaN the lower one makes a number.
// CHECK-LABEL: func.func @limited
// CHECK: %[[LOW:.*]] = arith.maxnumf %arg0, %{{.*}} : tensor<64xf32>
// CHECK: tile.fp_cast %[[LOW]] rtne
func.func @limited(%x: tensor<64xf32>) -> tensor<64xf8E4M3FN> {
  %low = arith.constant dense<-448.0> : tensor<64xf32>
  %high = arith.constant dense<448.0> : tensor<64xf32>
  %y = tile.clamp %x, %low, %high : tensor<64xf32>
  %z = tile.fp_cast %y rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  return %z : tensor<64xf8E4M3FN>
}

// NaN that is handed on is NaN behind the conversion, too.
// CHECK-LABEL: func.func @limited_with_nan
// CHECK: %[[Z:.*]] = tile.fp_cast %arg0 rtne
// CHECK: %[[W:.*]] = tile.fp_cast %arg0 rtne
// CHECK: return %[[Z]], %[[W]]
func.func @limited_with_nan(%x: tensor<64xf32>) -> (tensor<64xf8E5M2>, tensor<64xf8E4M3FN>) {
  %low = arith.constant dense<-57344.0> : tensor<64xf32>
  %high = arith.constant dense<57344.0> : tensor<64xf32>
  %y = tile.clamp %x, %low, %high propagate_nan : tensor<64xf32>
  %z = tile.fp_cast %y rtne : tensor<64xf32> -> tensor<64xf8E5M2>
  %a = arith.maximumf %low, %x : tensor<64xf32>
  %b = arith.minimumf %a, %high : tensor<64xf32>
  %w = tile.fp_cast %b rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  return %z, %w : tensor<64xf8E5M2>, tensor<64xf8E4M3FN>
}

// Extrema one by one: the outer one finds a number.
// CHECK-LABEL: func.func @extrema_of_numbers
// CHECK-NOT: arith.maxnumf
// CHECK: %[[LOW:.*]] = arith.minnumf %arg0, %{{.*}}
// CHECK: tile.fp_cast %[[LOW]] rtne
func.func @extrema_of_numbers(%x: tensor<64xbf16>) -> tensor<64xf8E4M3FN> {
  %low = arith.constant dense<-448.0> : tensor<64xbf16>
  %high = arith.constant dense<448.0> : tensor<64xbf16>
  %a = arith.minnumf %x, %high : tensor<64xbf16>
  %b = arith.maxnumf %a, %low : tensor<64xbf16>
  %z = tile.fp_cast %b rtne : tensor<64xbf16> -> tensor<64xf8E4M3FN>
  return %z : tensor<64xf8E4M3FN>
}

// A limit within the range, one of which only a launch knows whether it is a number, one that is wanted
// by itself, and one that makes numbers of NaN.
// CHECK-LABEL: func.func @limits_kept
// CHECK-COUNT-3: tile.clamp
// CHECK: arith.minnumf
func.func @limits_kept(%x: tensor<64xf32>, %l: f32) -> (tensor<64xf8E4M3FN>, tensor<64xf8E4M3FN>, tensor<64xf32>, tensor<64xf8E4M3FN>, tensor<64xf8E4M3FN>) {
  %low = arith.constant dense<-240.0> : tensor<64xf32>
  %high = arith.constant dense<240.0> : tensor<64xf32>
  %end = arith.constant dense<448.0> : tensor<64xf32>
  %any = tile.splat %l : f32 -> tensor<64xf32>
  %y = tile.clamp %x, %low, %high : tensor<64xf32>
  %z = tile.fp_cast %y rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %y1 = tile.clamp %x, %any, %end : tensor<64xf32>
  %z1 = tile.fp_cast %y1 rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %y2 = tile.clamp %x, %low, %end : tensor<64xf32>
  %z2 = tile.fp_cast %y2 rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %y3 = arith.minnumf %x, %end : tensor<64xf32>
  %z3 = tile.fp_cast %y3 rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  return %z, %z1, %y2, %z2, %z3 : tensor<64xf8E4M3FN>, tensor<64xf8E4M3FN>, tensor<64xf32>, tensor<64xf8E4M3FN>, tensor<64xf8E4M3FN>
}
