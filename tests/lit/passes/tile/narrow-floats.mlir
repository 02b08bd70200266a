// Halves that are widened, added or multiplied, and rounded, are added or multiplied as they are.
// RUN: tile-opt %s --tile-narrow-floats | FileCheck %s
// RUN: tile-opt %s --tile-narrow-floats --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS: 6 tile-narrow-floats - sums and products of halves that are not widened

// Through shapes, and what is rounded in between; a constant that is a half is one.
// CHECK-LABEL: func.func @scaled
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2.000000e+00> : tensor<32x16xf16>
// CHECK-DAG: %[[SCALE:.*]] = tile.broadcast %arg1 : tensor<1x16xf16> -> tensor<32x16xf16>
// CHECK-DAG: %[[PRODUCT:.*]] = arith.mulf %arg0, %[[SCALE]] : tensor<32x16xf16>
// CHECK: %[[SUM:.*]] = arith.addf %[[PRODUCT]], %[[TWO]] : tensor<32x16xf16>
// CHECK: return %[[SUM]]
func.func @scaled(%x: tensor<32x16xf16>, %s: tensor<1x16xf16>) -> tensor<32x16xf16> {
  %two = arith.constant dense<2.0> : tensor<32x16xf32>
  %a = arith.extf %x : tensor<32x16xf16> to tensor<32x16xf32>
  %w = arith.extf %s : tensor<1x16xf16> to tensor<1x16xf32>
  %b = tile.broadcast %w : tensor<1x16xf32> -> tensor<32x16xf32>
  %p = arith.mulf %a, %b : tensor<32x16xf32>
  %r = arith.truncf %p : tensor<32x16xf32> to tensor<32x16xf16>
  %e = arith.extf %r : tensor<32x16xf16> to tensor<32x16xf32>
  %q = arith.addf %e, %two : tensor<32x16xf32>
  %t = arith.truncf %q : tensor<32x16xf32> to tensor<32x16xf16>
  return %t : tensor<32x16xf16>
}

// What a mask leaves out is nothing.
// CHECK-LABEL: func.func @masked
// CHECK-DAG: %[[NOTHING:.*]] = arith.constant dense<0.000000e+00> : tensor<64xbf16>
// CHECK-DAG: %[[PRODUCT:.*]] = arith.mulf %arg0, %arg1 : tensor<64xbf16>
// CHECK: arith.select %arg2, %[[PRODUCT]], %[[NOTHING]] : tensor<64xi1>, tensor<64xbf16>
// CHECK-NOT: arith.truncf
func.func @masked(%x: tensor<64xbf16>, %y: tensor<64xbf16>, %m: tensor<64xi1>) -> tensor<64xbf16> {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %a = arith.extf %x : tensor<64xbf16> to tensor<64xf32>
  %b = arith.extf %y : tensor<64xbf16> to tensor<64xf32>
  %p = arith.mulf %a, %b : tensor<64xf32>
  %s = arith.select %m, %p, %zero : tensor<64xi1>, tensor<64xf32>
  %r = arith.truncf %s : tensor<64xf32> to tensor<64xbf16>
  return %r : tensor<64xbf16>
}

// Of scalars and differences alike.
// CHECK-LABEL: func.func @spread
// CHECK: %[[S:.*]] = arith.subf %arg0, %arg1 : f16
// CHECK: %[[ALL:.*]] = tile.splat %[[S]] : f16 -> tensor<8xf16>
// CHECK: arith.mulf %arg2, %[[ALL]] : tensor<8xf16>
func.func @spread(%x: f16, %y: f16, %z: tensor<8xf16>) -> tensor<8xf16> {
  %a = arith.extf %x : f16 to f32
  %b = arith.extf %y : f16 to f32
  %d = arith.subf %a, %b : f32
  %r = arith.truncf %d : f32 to f16
  %w = arith.extf %r : f16 to f32
  %s = tile.splat %w : f32 -> tensor<8xf32>
  %c = arith.extf %z : tensor<8xf16> to tensor<8xf32>
  %p = arith.mulf %c, %s : tensor<8xf32>
  %t = arith.truncf %p : tensor<8xf32> to tensor<8xf16>
  return %t : tensor<8xf16>
}

// A square, of what nothing else is widened for.
// CHECK-LABEL: func.func @squared
// CHECK-NEXT: %[[S:.*]] = arith.mulf %arg0, %arg0 : tensor<8xf16>
// CHECK-NEXT: return %[[S]]
func.func @squared(%x: tensor<8xf16>) -> tensor<8xf16> {
  %a = arith.extf %x : tensor<8xf16> to tensor<8xf32>
  %p = arith.mulf %a, %a : tensor<8xf32>
  %r = arith.truncf %p : tensor<8xf32> to tensor<8xf16>
  return %r : tensor<8xf16>
}

// A constant that is no half, another type of half, what is needed wide, and quotients stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: f32
// CHECK: arith.mulf {{.*}} : tensor<8xf32>
// CHECK: arith.mulf {{.*}} : tensor<8xf32>
// CHECK: arith.addf {{.*}} : tensor<8xf32>
// CHECK: arith.divf {{.*}} : tensor<8xf32>
func.func @others(%x: tensor<8xf16>, %y: tensor<8xbf16>) -> (tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf32>, tensor<8xf16>) {
  %tenth = arith.constant dense<0.1> : tensor<8xf32>
  %a = arith.extf %x : tensor<8xf16> to tensor<8xf32>
  %b = arith.extf %y : tensor<8xbf16> to tensor<8xf32>
  %p = arith.mulf %a, %tenth : tensor<8xf32>
  %q = arith.mulf %a, %b : tensor<8xf32>
  %s = arith.addf %a, %a : tensor<8xf32>
  %d = arith.divf %a, %a : tensor<8xf32>
  %r0 = arith.truncf %p : tensor<8xf32> to tensor<8xf16>
  %r1 = arith.truncf %q : tensor<8xf32> to tensor<8xf16>
  %r2 = arith.truncf %s : tensor<8xf32> to tensor<8xf16>
  %r3 = arith.truncf %d : tensor<8xf32> to tensor<8xf16>
  return %r0, %r1, %r2, %s, %r3 : tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf32>, tensor<8xf16>
}
