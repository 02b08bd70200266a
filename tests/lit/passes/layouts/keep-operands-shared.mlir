// RUN: tile-opt %s --split-input-file --tile-keep-operands-shared | FileCheck %s

#home = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0]]} : [64, 64]>
#right = #cta.layout<{register = [[1, 0], [8, 0], [16, 0], [32, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]} : [64, 64]>
!home = tensor<64x64xf16, #home>
!left = tensor<64x64xf16, #acc>
!right = tensor<64x64xf16, #right>
!sum = tensor<64x64xf32, #acc>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 2>} {
// Three sums of 64 registers, a left operand of 32 and a right one of 64 are more than a thread
// has: the block is written once, where it is computed, and read in front of each product. What is
// needed for something else, too, is held as before.
// CHECK-LABEL: func.func @too_many
// CHECK: %[[S:.*]] = cta.stage %{{.*}} : tensor<64x64xf16, #{{.*}}> -> <[64, 64], f16, #{{.*}}>
// CHECK: %[[OTHER:.*]] = cta.convert_layout
// CHECK: scf.for
// CHECK: %[[B:.*]] = cta.read %[[S]]
// CHECK-NEXT: tile.dot %{{.*}}, %[[B]]
// CHECK: %[[A:.*]] = cta.read %[[S]]
// CHECK-NEXT: tile.dot %[[A]], %[[OTHER]]
func.func @too_many(%x: !home, %y: !home, %a: !left, %z: !sum, %n: i32) -> (!sum, !sum, !sum, !right) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xb = cta.convert_layout %x : !home -> !right
  %xa = cta.convert_layout %x : !home -> !left
  %yb = cta.convert_layout %y : !home -> !right
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %z, %q = %z, %s = %z) -> (!sum, !sum, !sum) : i32 {
    %d = tile.dot %a, %xb, %p : !left * !right -> !sum
    %e = tile.dot %xa, %yb, %q : !left * !right -> !sum
    %f = arith.addf %s, %e : !sum
    scf.yield %d, %e, %f : !sum, !sum, !sum
  }
  return %r#0, %r#1, %r#2, %yb : !sum, !sum, !sum, !right
}
}

// -----

#home = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0]]} : [64, 64]>
#right = #cta.layout<{register = [[1, 0], [8, 0], [16, 0], [32, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]} : [64, 64]>
!home = tensor<64x64xf16, #home>
!left = tensor<64x64xf16, #acc>
!right = tensor<64x64xf16, #right>
!sum = tensor<64x64xf32, #acc>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 2>} {
// One sum leaves room for the operand.
// CHECK-LABEL: func.func @enough
// CHECK-NOT: cta.stage
func.func @enough(%x: !home, %a: !left, %z: !sum, %n: i32) -> !sum {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xb = cta.convert_layout %x : !home -> !right
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %z) -> (!sum) : i32 {
    %d = tile.dot %a, %xb, %p : !left * !right -> !sum
    scf.yield %d : !sum
  }
  return %r : !sum
}
}
