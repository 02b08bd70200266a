// Slots of loops one after the other lie in the same memory and count once: 112 KB of one and 104 KB of the other leave
// room for an operand that is kept. Slots that are in use at once do not.
// RUN: tile-opt %s --split-input-file --tile-keep-operands-shared | FileCheck %s

#home = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0]]} : [64, 64]>
#right = #cta.layout<{register = [[1, 0], [8, 0], [16, 0], [32, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]} : [64, 64]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!home = tensor<64x64xf16, #home>
!left = tensor<64x64xf16, #acc>
!right = tensor<64x64xf16, #right>
!sum = tensor<64x64xf32, #acc>
!ptrs = tensor<64x64x!tile.ptr<f16>, #home>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 2>} {
// CHECK-LABEL: func.func @in_turn
// CHECK: %[[S:.*]] = cta.stage %{{.*}} : tensor<64x64xf16, #{{.*}}> -> <[64, 64], f16, #{{.*}}>
// CHECK: cta.read %[[S]]
func.func @in_turn(%x: !home, %y: !home, %a: !left, %z: !sum, %ptrs: !ptrs, %n: i32) -> (!sum, !sum, !sum, !right) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %first = cta.slots {count = 14 : i32} : !tile
  scf.for %i = %c0 to %n step %c1 : i32 {
    %to = cta.slot %first[%c0] : !tile
    cta.async_copy %ptrs to %to vector 8 : !ptrs, !tile
    cta.async_commit
    cta.async_wait 0
  }
  %second = cta.slots {count = 13 : i32} : !tile
  %xb = cta.convert_layout %x : !home -> !right
  %xa = cta.convert_layout %x : !home -> !left
  %yb = cta.convert_layout %y : !home -> !right
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %z, %q = %z, %s = %z) -> (!sum, !sum, !sum) : i32 {
    %to = cta.slot %second[%c0] : !tile
    cta.async_copy %ptrs to %to vector 8 : !ptrs, !tile
    cta.async_commit
    cta.async_wait 0
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
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!home = tensor<64x64xf16, #home>
!left = tensor<64x64xf16, #acc>
!right = tensor<64x64xf16, #right>
!sum = tensor<64x64xf32, #acc>
!ptrs = tensor<64x64x!tile.ptr<f16>, #home>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 2>} {
// CHECK-LABEL: func.func @at_once
// CHECK-NOT: cta.stage
// CHECK: return
func.func @at_once(%x: !home, %y: !home, %a: !left, %z: !sum, %ptrs: !ptrs, %n: i32) -> (!sum, !sum, !sum, !right) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %first = cta.slots {count = 14 : i32} : !tile
  scf.for %i = %c0 to %n step %c1 : i32 {
    %to = cta.slot %first[%c0] : !tile
    cta.async_copy %ptrs to %to vector 8 : !ptrs, !tile
    cta.async_commit
    cta.async_wait 0
  }
  %second = cta.slots {count = 13 : i32} : !tile
  %xb = cta.convert_layout %x : !home -> !right
  %xa = cta.convert_layout %x : !home -> !left
  %yb = cta.convert_layout %y : !home -> !right
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %z, %q = %z, %s = %z) -> (!sum, !sum, !sum) : i32 {
    %to = cta.slot %second[%c0] : !tile
    cta.async_copy %ptrs to %to vector 8 : !ptrs, !tile
    %more = cta.slot %first[%c1] : !tile
    cta.async_copy %ptrs to %more vector 8 : !ptrs, !tile
    cta.async_commit
    cta.async_wait 0
    %d = tile.dot %a, %xb, %p : !left * !right -> !sum
    %e = tile.dot %xa, %yb, %q : !left * !right -> !sum
    %f = arith.addf %s, %e : !sum
    scf.yield %d, %e, %f : !sum, !sum, !sum
  }
  return %r#0, %r#1, %r#2, %yb : !sum, !sum, !sum, !right
}
}
