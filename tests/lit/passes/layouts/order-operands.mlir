// Left operands that are widened are counted as they lie in memory.
// RUN: tile-opt %s --tile-warpgroup-dots --tile-order-operands 2>/dev/null | FileCheck %s
// RUN: tile-opt %s --tile-warpgroup-dots --tile-order-operands --tile-assign-layouts 2>/dev/null | FileCheck %s --check-prefix LAID

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// A thread of the left operand has bits 0, 3, 4 and 5 of 128 columns in registers, and lanes count
// bits 1 and 2: 16 bytes side by side are those four. The right operand is renamed alike.
// CHECK-LABEL: func.func @sums
// CHECK: %[[Q:.*]] = tile.load {{.*}} tensor<16x128x!tile.ptr<f16>>
// CHECK: %[[K:.*]] = tile.load {{.*}} tensor<64x128x!tile.ptr<f8E4M3FN>>
// CHECK-NEXT: %[[K1:.*]] = tile.reshape %[[K]] : {{.*}} -> tensor<64x2x4x8x2xf8E4M3FN>
// CHECK-NEXT: %[[K2:.*]] = tile.trans %[[K1]] [0, 1, 3, 2, 4]
// CHECK-NEXT: %[[K3:.*]] = tile.reshape %[[K2]] : {{.*}} -> tensor<64x128xf8E4M3FN>
// CHECK: tile.fp_cast %[[K3]]
// CHECK: tile.reshape {{.*}} -> tensor<2x4x8x2x16xf16>
// CHECK-NEXT: tile.trans {{.*}} [0, 2, 1, 3, 4]
// CHECK-NEXT: %[[Q3:.*]] = tile.reshape
// CHECK-NEXT: %[[S:.*]] = cta.stage %[[Q3]]
// CHECK: cta.warpgroup_dot %{{.*}}, %[[S]]
// Nothing but the load is moved: to where a copy of it would be read.
// LAID-LABEL: func.func @sums
// LAID: %[[K:.*]] = tile.load {{.*}}f8E4M3FN
// LAID: cta.convert_layout %[[K]]
// LAID-NOT: cta.convert_layout
// LAID: cta.warpgroup_dot
func.func @sums(%qp: !tile.ptr<f16>, %k: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i32},
                %stride: i32 {tile.divisibility = 16 : i32}, %op: !tile.ptr<f32>) {
  %qs = tile.splat %qp : !tile.ptr<f16> -> tensor<16x128x!tile.ptr<f16>>
  %q = tile.load %qs : tensor<16x128x!tile.ptr<f16>>
  %n = tile.make_range 0 to 64 : tensor<64xi32>
  %d = tile.make_range 0 to 128 : tensor<128xi32>
  %nc = tile.expand_dims %n {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ss = tile.splat %stride : i32 -> tensor<64x1xi32>
  %ns = arith.muli %nc, %ss : tensor<64x1xi32>
  %nb = tile.broadcast %ns : tensor<64x1xi32> -> tensor<64x128xi32>
  %dr = tile.expand_dims %d {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %db = tile.broadcast %dr : tensor<1x128xi32> -> tensor<64x128xi32>
  %at = arith.addi %nb, %db : tensor<64x128xi32>
  %ks = tile.splat %k : !tile.ptr<f8E4M3FN> -> tensor<64x128x!tile.ptr<f8E4M3FN>>
  %kp = tile.addptr %ks, %at : tensor<64x128x!tile.ptr<f8E4M3FN>>, tensor<64x128xi32>
  %x = tile.load %kp : tensor<64x128x!tile.ptr<f8E4M3FN>>
  %w = tile.fp_cast %x rtne : tensor<64x128xf8E4M3FN> -> tensor<64x128xf16>
  %t = tile.trans %w [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %s = tile.dot %q, %t, %zero : tensor<16x128xf16> * tensor<128x64xf16> -> tensor<16x64xf32>
  %o = tile.splat %op : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  tile.store %o, %s : tensor<16x64x!tile.ptr<f32>>
  return
}

// Contiguous along its rows: those are renamed, and so is what the product is added to; the result
// gets its own back. Four bytes are what a thread has of 128 rows.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: %[[V:.*]] = tile.load {{.*}} tensor<64x128x!tile.ptr<f8E4M3FN>>
// CHECK: tile.reshape %[[V]] : {{.*}} -> tensor<64x4x8x2x2xf8E4M3FN>
// CHECK-NEXT: tile.trans {{.*}} [0, 3, 1, 4, 2]
// CHECK: %[[P:.*]] = cta.stage
// CHECK: tile.reshape {{.*}} : tensor<128x16xf32> -> tensor<4x8x2x2x16xf32>
// CHECK: %[[SUM:.*]] = cta.warpgroup_dot %{{.*}}, %[[P]]
// CHECK-NEXT: tile.reshape %[[SUM]] : {{.*}} -> tensor<2x4x2x8x16xf32>
// CHECK-NEXT: tile.trans {{.*}} [1, 3, 0, 2, 4]
// CHECK: scf.yield
// Sums stay where they are.
// LAID-LABEL: func.func @rows
// LAID: scf.for
// LAID: %[[V:.*]] = tile.load {{.*}}f8E4M3FN
// LAID: cta.convert_layout %[[V]]
// LAID-NOT: cta.convert_layout
// LAID: scf.yield
func.func @rows(%pp: !tile.ptr<f16>, %v: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i32},
                %stride: i32 {tile.divisibility = 16 : i32}, %count: i32, %op: !tile.ptr<f32>) {
  %ps = tile.splat %pp : !tile.ptr<f16> -> tensor<16x64x!tile.ptr<f16>>
  %p = tile.load %ps : tensor<16x64x!tile.ptr<f16>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = tile.make_range 0 to 64 : tensor<64xi32>
  %d = tile.make_range 0 to 128 : tensor<128xi32>
  %nc = tile.expand_dims %n {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ss = tile.splat %stride : i32 -> tensor<64x1xi32>
  %ns = arith.muli %nc, %ss : tensor<64x1xi32>
  %nb = tile.broadcast %ns : tensor<64x1xi32> -> tensor<64x128xi32>
  %dr = tile.expand_dims %d {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %db = tile.broadcast %dr : tensor<1x128xi32> -> tensor<64x128xi32>
  %at = arith.addi %nb, %db : tensor<64x128xi32>
  %vs = tile.splat %v : !tile.ptr<f8E4M3FN> -> tensor<64x128x!tile.ptr<f8E4M3FN>>
  %vp = tile.addptr %vs, %at : tensor<64x128x!tile.ptr<f8E4M3FN>>, tensor<64x128xi32>
  %zero = arith.constant dense<0.0> : tensor<16x128xf32>
  %r = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zero) -> (tensor<16x128xf32>) : i32 {
    %x = tile.load %vp : tensor<64x128x!tile.ptr<f8E4M3FN>>
    %w = tile.fp_cast %x rtne : tensor<64x128xf8E4M3FN> -> tensor<64x128xf16>
    %s = tile.dot %p, %w, %acc : tensor<16x64xf16> * tensor<64x128xf16> -> tensor<16x128xf32>
    scf.yield %s : tensor<16x128xf32>
  }
  %o = tile.splat %op : !tile.ptr<f32> -> tensor<16x128x!tile.ptr<f32>>
  tile.store %o, %r : tensor<16x128x!tile.ptr<f32>>
  return
}

// A right operand that each turn loads is copied as it lies, and cannot be renamed at no cost.
// CHECK-LABEL: func.func @both_in_turns
// CHECK-NOT: tensor<64x2x4x8x2xf8E4M3FN>
// CHECK: return
func.func @both_in_turns(%qp: !tile.ptr<f16>, %k: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i32},
                         %stride: i32 {tile.divisibility = 16 : i32}, %count: i32, %op: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = tile.make_range 0 to 64 : tensor<64xi32>
  %d = tile.make_range 0 to 128 : tensor<128xi32>
  %nc = tile.expand_dims %n {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ss = tile.splat %stride : i32 -> tensor<64x1xi32>
  %ns = arith.muli %nc, %ss : tensor<64x1xi32>
  %nb = tile.broadcast %ns : tensor<64x1xi32> -> tensor<64x128xi32>
  %dr = tile.expand_dims %d {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %db = tile.broadcast %dr : tensor<1x128xi32> -> tensor<64x128xi32>
  %at = arith.addi %nb, %db : tensor<64x128xi32>
  %ks = tile.splat %k : !tile.ptr<f8E4M3FN> -> tensor<64x128x!tile.ptr<f8E4M3FN>>
  %kp = tile.addptr %ks, %at : tensor<64x128x!tile.ptr<f8E4M3FN>>, tensor<64x128xi32>
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
    %qs = tile.splat %qp : !tile.ptr<f16> -> tensor<16x128x!tile.ptr<f16>>
    %q = tile.load %qs : tensor<16x128x!tile.ptr<f16>>
    %x = tile.load %kp : tensor<64x128x!tile.ptr<f8E4M3FN>>
    %w = tile.fp_cast %x rtne : tensor<64x128xf8E4M3FN> -> tensor<64x128xf16>
    %t = tile.trans %w [1, 0] : tensor<64x128xf16> -> tensor<128x64xf16>
    %s = tile.dot %q, %t, %acc : tensor<16x128xf16> * tensor<128x64xf16> -> tensor<16x64xf32>
    scf.yield %s : tensor<16x64xf32>
  }
  %o = tile.splat %op : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  tile.store %o, %r : tensor<16x64x!tile.ptr<f32>>
  return
}
}
