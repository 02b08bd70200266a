// Left operands that are computed stay in registers where warpgroups share their rows, or they are
// small; where each would compute all of a large one, it is written to shared memory once.
// RUN: tile-opt %s --tile-warpgroup-dots | FileCheck %s
// RUN: sed 's/warps = 8/warps = 4/' %s | tile-opt --tile-warpgroup-dots | FileCheck %s --check-prefix=SHARED

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {

// CHECK-LABEL: func.func @few_rows
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: %[[S:.*]] = cta.stage %[[X]] : tensor<64x256xf16> -> <[64, 256], f16
// CHECK: cta.warpgroup_dot %[[S]],
// SHARED-LABEL: func.func @few_rows
// SHARED: %[[X:.*]] = arith.mulf
// SHARED: cta.warpgroup_dot %[[X]],
func.func @few_rows(%q: tensor<64x256xf16>, %y: tensor<256x128xf16>, %z: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %x = arith.mulf %q, %q : tensor<64x256xf16>
  %d = tile.dot %x, %y, %z : tensor<64x256xf16> * tensor<256x128xf16> -> tensor<64x128xf32>
  return %d : tensor<64x128xf32>
}

// Few registers: each computes it.
// CHECK-LABEL: func.func @small
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: cta.warpgroup_dot %[[X]],
func.func @small(%q: tensor<64x64xf16>, %y: tensor<64x128xf16>, %z: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %x = arith.mulf %q, %q : tensor<64x64xf16>
  %d = tile.dot %x, %y, %z : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
  return %d : tensor<64x128xf32>
}

// Rows for all.
// CHECK-LABEL: func.func @enough_rows
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: cta.warpgroup_dot %[[X]],
func.func @enough_rows(%q: tensor<128x64xf16>, %y: tensor<64x128xf16>, %z: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %x = arith.mulf %q, %q : tensor<128x64xf16>
  %d = tile.dot %x, %y, %z : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// Products of few rows are transposed, and both have the block of keys on the left: as it lies, and
// turned, though warpgroups would share the rows of the second.
// CHECK-LABEL: func.func @two_orders
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: %[[XT:.*]] = tile.trans %[[X]]
// CHECK: %[[XTT:.*]] = tile.trans %[[XT]]
// CHECK: %[[S:.*]] = cta.stage %[[XTT]] : tensor<64x256xf16> -> <[64, 256], f16
// CHECK: cta.warpgroup_dot %[[S]],
// CHECK-NOT: cta.stage %[[X]]
// CHECK: cta.warpgroup_dot %[[S]] turned,
func.func @two_orders(%q: tensor<16x256xf16>, %k: tensor<64x256xf16>, %s: tensor<16x64xf32>,
                      %p: tensor<16x64xf16>, %o: tensor<16x256xf32>) -> (tensor<16x64xf32>, tensor<16x256xf32>) {
  %x = arith.mulf %k, %k : tensor<64x256xf16>
  %t = tile.trans %x [1, 0] : tensor<64x256xf16> -> tensor<256x64xf16>
  %d = tile.dot %q, %t, %s : tensor<16x256xf16> * tensor<256x64xf16> -> tensor<16x64xf32>
  %e = tile.dot %p, %x, %o : tensor<16x64xf16> * tensor<64x256xf16> -> tensor<16x256xf32>
  return %d, %e : tensor<16x64xf32>, tensor<16x256xf32>
}

// A buffer written in a loop is none of the product behind it.
// CHECK-LABEL: func.func @behind_a_loop
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: scf.for
// CHECK: %[[S:.*]] = cta.stage %{{.*}} : tensor<64x256xf16> -> <[64, 256], f16
// CHECK: cta.warpgroup_dot %[[S]],
// CHECK: }
// CHECK: %[[B:.*]] = cta.stage %[[X]] : tensor<64x256xf16> -> <[64, 256], f16
// CHECK: cta.warpgroup_dot %[[B]],
func.func @behind_a_loop(%q: tensor<64x256xf16>, %y: tensor<256x64xf16>, %z: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.mulf %q, %q : tensor<64x256xf16>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> (tensor<64x64xf32>) : i32 {
    %t = tile.trans %x [1, 0] : tensor<64x256xf16> -> tensor<256x64xf16>
    %u = tile.trans %t [1, 0] : tensor<256x64xf16> -> tensor<64x256xf16>
    %d = tile.dot %u, %y, %sum : tensor<64x256xf16> * tensor<256x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %b = tile.dot %x, %y, %a : tensor<64x256xf16> * tensor<256x64xf16> -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}
}
