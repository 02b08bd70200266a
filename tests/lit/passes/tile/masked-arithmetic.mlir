// A mask that clears a difference again moves to what is subtracted, where the
// load behind the difference is zero outside the mask anyway.
// RUN: tile-opt %s --tile-masked-arithmetic | FileCheck %s

// CHECK-LABEL: func.func @row
// CHECK-SAME: %[[P:[^:]*]]: {{[^,]*}}, %[[M:[^:]*]]: tensor<64xi1>
// CHECK: %[[X:.*]] = arith.extf
// CHECK: %[[S:.*]] = tile.splat
// CHECK: %[[C:.*]] = arith.select %[[M]], %[[S]], %{{.*}}
// CHECK: %[[D:.*]] = arith.subf %[[X]], %[[C]]
// CHECK: tile.store %{{.*}}, %[[D]]
func.func @row(%p: tensor<64x!tile.ptr<f16>>, %m: tensor<64xi1>, %mean: f32, %o: tensor<64x!tile.ptr<f32>>) {
  %zero16 = arith.constant dense<0.0> : tensor<64xf16>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %h = tile.load %p, %m, other %zero16 : tensor<64x!tile.ptr<f16>>
  %x = arith.extf %h : tensor<64xf16> to tensor<64xf32>
  %s = tile.splat %mean : f32 -> tensor<64xf32>
  %d = arith.subf %x, %s : tensor<64xf32>
  %c = arith.select %m, %d, %zero : tensor<64xi1>, tensor<64xf32>
  tile.store %o, %c : tensor<64x!tile.ptr<f32>>
  return
}

// The load's mask may say more.
// CHECK-LABEL: func.func @conjunction
// CHECK: %[[C:.*]] = arith.select
// CHECK: arith.subf %{{.*}}, %[[C]]
func.func @conjunction(%p: tensor<64x!tile.ptr<f32>>, %m: tensor<64xi1>, %n: tensor<64xi1>, %mean: f32, %o: tensor<64x!tile.ptr<f32>>) {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %both = arith.andi %n, %m : tensor<64xi1>
  %x = tile.load %p, %both, other %zero : tensor<64x!tile.ptr<f32>>
  %s = tile.splat %mean : f32 -> tensor<64xf32>
  %d = arith.subf %x, %s : tensor<64xf32>
  %c = arith.select %m, %d, %zero : tensor<64xi1>, tensor<64xf32>
  tile.store %o, %c : tensor<64x!tile.ptr<f32>>
  return
}

// Another mask, or another value where the load is masked off: nothing to gain.
// CHECK-LABEL: func.func @kept
// CHECK: %[[D:.*]] = arith.subf
// CHECK: arith.select %{{.*}}, %[[D]]
// CHECK: %[[E:.*]] = arith.subf
// CHECK: arith.select %{{.*}}, %[[E]]
// CHECK: %[[F:.*]] = arith.subf
// CHECK: arith.select %{{.*}}, %[[F]]
func.func @kept(%p: tensor<64x!tile.ptr<f32>>, %m: tensor<64xi1>, %n: tensor<64xi1>, %mean: f32, %o: tensor<64x!tile.ptr<f32>>) {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %minus = arith.constant dense<-0.0> : tensor<64xf32>
  %s = tile.splat %mean : f32 -> tensor<64xf32>
  %x = tile.load %p, %n, other %zero : tensor<64x!tile.ptr<f32>>
  %d = arith.subf %x, %s : tensor<64xf32>
  %c = arith.select %m, %d, %zero : tensor<64xi1>, tensor<64xf32>
  tile.store %o, %c : tensor<64x!tile.ptr<f32>>
  %y = tile.load %p, %m, other %minus : tensor<64x!tile.ptr<f32>>
  %e = arith.subf %y, %s : tensor<64xf32>
  %f = arith.select %m, %e, %zero : tensor<64xi1>, tensor<64xf32>
  tile.store %o, %f : tensor<64x!tile.ptr<f32>>
  %z = tile.load %p, %m, other %zero : tensor<64x!tile.ptr<f32>>
  %g = arith.subf %z, %s : tensor<64xf32>
  %k = arith.select %m, %g, %minus : tensor<64xi1>, tensor<64xf32>
  tile.store %o, %k : tensor<64x!tile.ptr<f32>>
  return
}
