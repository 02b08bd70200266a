// Sums of which at most one element is not zero: the lane that has it is asked.
// RUN: tile-opt %s --tile-allocate-scratch --tile-lower-to-llvm --cse | FileCheck %s

#block = #cta.layout<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [0, 16]]} : [16, 32]>
#thin = #cta.layout<{register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[0, 4], [0, 8]]} : [8, 16]>
#twisted = #cta.layout<{register = [], lane = [[0, 1], [0, 2], [3, 0], [2, 0], [4, 0]], warp = [[0, 4], [0, 8]]} : [8, 16]>
#rows = #cta.layout<{register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[0], [0]]} : [16]>
#column = #cta.layout<{register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]} : [16, 1]>
#sums = #cta.layout<{register = [[1]], lane = [[2], [4], [0], [0], [0]], warp = [[8], [16]]} : [32]>
#rows8 = #cta.layout<{register = [], lane = [[0], [0], [1], [2], [4]], warp = [[0], [0]]} : [8]>
#column8 = #cta.layout<{register = [], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]} : [8, 1]>
#sums8 = #cta.layout<{register = [], lane = [[1], [2], [0], [0], [0]], warp = [[4], [8]]} : [16]>
#lanes = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [32]>
#rowst = #cta.layout<{register = [], lane = [[0], [0], [3], [2], [4]], warp = [[0], [0]]} : [8]>
#columnt = #cta.layout<{register = [], lane = [[0, 0], [0, 0], [3, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]} : [8, 1]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// The row's three bits that lanes share are three bits of the index. What registers hold is added up first.
// CHECK-LABEL: llvm.func @row
// CHECK-SAME: %[[I:.*]]: i32
// CHECK: llvm.fadd
// CHECK: llvm.lshr %[[I]]
// CHECK-COUNT-2: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: llvm.fadd
// CHECK: llvm.return
func.func @row(%i: i32, %f: f32, %q: !tile.ptr<f32>) {
  %p = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #sums>
  %x = tile.splat %f : f32 -> tensor<16x32xf32, #block>
  %zero = arith.constant dense<0.0> : tensor<16x32xf32, #block>
  %r = tile.make_range 0 to 16 : tensor<16xi32, #rows>
  %s = tile.splat %i : i32 -> tensor<16xi32, #rows>
  %c = arith.cmpi eq, %r, %s : tensor<16xi32, #rows>
  %e = tile.expand_dims %c {axis = 1 : i32} : tensor<16xi1, #rows> -> tensor<16x1xi1, #column>
  %m = tile.broadcast %e : tensor<16x1xi1, #column> -> tensor<16x32xi1, #block>
  %v = arith.select %m, %x, %zero : tensor<16x32xi1, #block>, tensor<16x32xf32, #block>
  %y = tile.reduce %v {axis = 0 : i32} : tensor<16x32xf32, #block> -> tensor<32xf32, #sums> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %p, %y : tensor<32x!tile.ptr<f32>, #sums>
  return
}

// A combiner that does more than add is asked for each element.
// CHECK-LABEL: llvm.func @counted
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK-COUNT-6: nvvm.shfl.sync bfly
// CHECK: llvm.return
func.func @counted(%i: i32, %f: f32, %q: !tile.ptr<f32>) {
  %p = tile.splat %q : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #sums>
  %x = tile.splat %f : f32 -> tensor<16x32xf32, #block>
  %zero = arith.constant dense<0.0> : tensor<16x32xf32, #block>
  %r = tile.make_range 0 to 16 : tensor<16xi32, #rows>
  %s = tile.splat %i : i32 -> tensor<16xi32, #rows>
  %c = arith.cmpi eq, %r, %s : tensor<16xi32, #rows>
  %e = tile.expand_dims %c {axis = 1 : i32} : tensor<16xi1, #rows> -> tensor<16x1xi1, #column>
  %m = tile.broadcast %e : tensor<16x1xi1, #column> -> tensor<16x32xi1, #block>
  %v = arith.select %m, %x, %zero : tensor<16x32xi1, #block>, tensor<16x32xf32, #block>
  %y = tile.reduce %v {axis = 0 : i32} : tensor<16x32xf32, #block> -> tensor<32xf32, #sums> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    %one = arith.constant 1.0 : f32
    %n = arith.addf %t, %one : f32
    tile.yield %n : f32
  }
  tile.store %p, %y : tensor<32x!tile.ptr<f32>, #sums>
  return
}

// A lone negative zero is a sum of zeros, too. The index may be long, and the range start elsewhere.
// CHECK-LABEL: llvm.func @lone
// CHECK-SAME: %[[I:.*]]: i64
// CHECK: llvm.trunc %[[I]] : i64 to i32
// CHECK: llvm.add
// CHECK: %[[V:.*]] = nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.fadd
// CHECK: llvm.return
func.func @lone(%i: i64, %f: f32, %q: !tile.ptr<f32>, %k: i1) {
  %p = tile.splat %q : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>, #sums8>
  %x = tile.splat %f : f32 -> tensor<8x16xf32, #thin>
  %n = tile.splat %k : i1 -> tensor<8xi1, #rows8>
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #thin>
  %r = tile.make_range 3 to 11 : tensor<8xi32, #rows8>
  %w = arith.extsi %r : tensor<8xi32, #rows8> to tensor<8xi64, #rows8>
  %s = tile.splat %i : i64 -> tensor<8xi64, #rows8>
  %c = arith.cmpi eq, %s, %w : tensor<8xi64, #rows8>
  %d = arith.andi %n, %c : tensor<8xi1, #rows8>
  %e = tile.expand_dims %d {axis = 1 : i32} : tensor<8xi1, #rows8> -> tensor<8x1xi1, #column8>
  %m = tile.broadcast %e : tensor<8x1xi1, #column8> -> tensor<8x16xi1, #thin>
  %v = arith.select %m, %x, %zero : tensor<8x16xi1, #thin>, tensor<8x16xf32, #thin>
  %y = tile.reduce %v {axis = 0 : i32} : tensor<8x16xf32, #thin> -> tensor<16xf32, #sums8> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %p, %y : tensor<16x!tile.ptr<f32>, #sums8>
  return
}

// A number that is known.
// CHECK-LABEL: llvm.func @last
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @last(%f: f32, %q: !tile.ptr<f32>) {
  %x = tile.splat %f : f32 -> tensor<32xf32, #lanes>
  %zero = arith.constant dense<0.0> : tensor<32xf32, #lanes>
  %r = tile.make_range 0 to 32 : tensor<32xi32, #lanes>
  %s = arith.constant dense<31> : tensor<32xi32, #lanes>
  %c = arith.cmpi eq, %r, %s : tensor<32xi32, #lanes>
  %v = arith.select %c, %x, %zero : tensor<32xi1, #lanes>, tensor<32xf32, #lanes>
  %y = tile.reduce %v {axis = 0 : i32} : tensor<32xf32, #lanes> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %q, %y : !tile.ptr<f32>
  return
}

// Another mask, another value in its place, a maximum, or lanes that are no bits of the index: butterflies.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK-COUNT-12: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @others(%i: i32, %f: f32, %q: !tile.ptr<f32>) {
  %p = tile.splat %q : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>, #sums8>
  %x = tile.splat %f : f32 -> tensor<8x16xf32, #thin>
  %u = tile.splat %f : f32 -> tensor<8x16xf32, #twisted>
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #thin>
  %zerot = arith.constant dense<0.0> : tensor<8x16xf32, #twisted>
  %one = arith.constant dense<1.0> : tensor<8x16xf32, #thin>
  %r = tile.make_range 0 to 8 : tensor<8xi32, #rows8>
  %s = tile.splat %i : i32 -> tensor<8xi32, #rows8>
  %c = arith.cmpi eq, %r, %s : tensor<8xi32, #rows8>
  %l = arith.cmpi slt, %r, %s : tensor<8xi32, #rows8>
  %e = tile.expand_dims %c {axis = 1 : i32} : tensor<8xi1, #rows8> -> tensor<8x1xi1, #column8>
  %m = tile.broadcast %e : tensor<8x1xi1, #column8> -> tensor<8x16xi1, #thin>
  %le = tile.expand_dims %l {axis = 1 : i32} : tensor<8xi1, #rows8> -> tensor<8x1xi1, #column8>
  %lm = tile.broadcast %le : tensor<8x1xi1, #column8> -> tensor<8x16xi1, #thin>
  %less = arith.select %lm, %x, %zero : tensor<8x16xi1, #thin>, tensor<8x16xf32, #thin>
  %other = arith.select %m, %x, %one : tensor<8x16xi1, #thin>, tensor<8x16xf32, #thin>
  %picked = arith.select %m, %x, %zero : tensor<8x16xi1, #thin>, tensor<8x16xf32, #thin>
  %y0 = tile.reduce %less {axis = 0 : i32} : tensor<8x16xf32, #thin> -> tensor<16xf32, #sums8> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  %y1 = tile.reduce %other {axis = 0 : i32} : tensor<8x16xf32, #thin> -> tensor<16xf32, #sums8> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  %y2 = tile.reduce %picked {axis = 0 : i32} : tensor<8x16xf32, #thin> -> tensor<16xf32, #sums8> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.maximumf %a, %b : f32
    tile.yield %t : f32
  }
  %rt = tile.make_range 0 to 8 : tensor<8xi32, #rowst>
  %st = tile.splat %i : i32 -> tensor<8xi32, #rowst>
  %ct = arith.cmpi eq, %rt, %st : tensor<8xi32, #rowst>
  %et = tile.expand_dims %ct {axis = 1 : i32} : tensor<8xi1, #rowst> -> tensor<8x1xi1, #columnt>
  %mt = tile.broadcast %et : tensor<8x1xi1, #columnt> -> tensor<8x16xi1, #twisted>
  %vt = arith.select %mt, %u, %zerot : tensor<8x16xi1, #twisted>, tensor<8x16xf32, #twisted>
  %y3 = tile.reduce %vt {axis = 0 : i32} : tensor<8x16xf32, #twisted> -> tensor<16xf32, #sums8> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %p, %y0 : tensor<16x!tile.ptr<f32>, #sums8>
  tile.store %p, %y1 : tensor<16x!tile.ptr<f32>, #sums8>
  tile.store %p, %y2 : tensor<16x!tile.ptr<f32>, #sums8>
  tile.store %p, %y3 : tensor<16x!tile.ptr<f32>, #sums8>
  return
}
}
