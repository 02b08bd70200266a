// Where matrix products are computed, and what moves on the way there.
// RUN: tile-opt %s -split-input-file -tile-assign-layouts -cse -loop-invariant-code-motion | FileCheck %s

// Accumulators stay in one layout around the loop; operands move to theirs.
// CHECK-DAG: #[[ACC:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}0, 32], [32, 0]]} : [64, 64]>
// CHECK-DAG: #[[A:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}0, 0], [32, 0]]} : [64, 32]>
// CHECK-DAG: #[[B:.*]] = #cta.layout<{register = {{\[\[}}1, 0], [8, 0], [16, 0], [0, 8], [0, 16]], lane = {{\[\[}}2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = {{\[\[}}0, 32], [0, 0]]} : [32, 64]>
// CHECK-LABEL: func.func @loop
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32, #[[ACC]]>)
// CHECK: cta.convert_layout {{.*}} -> tensor<64x32xf16, #[[A]]>
// CHECK: cta.convert_layout {{.*}} -> tensor<32x64xf16, #[[B]]>
// CHECK-NOT: convert_layout
// CHECK: tile.dot
// CHECK-NOT: convert_layout
// CHECK: scf.yield
// The epilogue works where the product is, and moves 16 bits an element.
// CHECK-NOT: convert_layout
// CHECK: arith.truncf
// CHECK: cta.convert_layout {{.*}} : tensor<64x64xf16, #[[ACC]]>
// CHECK: tile.store
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @loop(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %half = arith.constant dense<0.5> : tensor<64x64xf32>
  %r = tile.make_range 0 to 2048 : tensor<2048xi32>
  %oa = tile.reshape %r : tensor<2048xi32> -> tensor<64x32xi32>
  %ob = tile.reshape %r : tensor<2048xi32> -> tensor<32x64xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %pa = tile.addptr %as, %oa : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  %pb = tile.addptr %bs, %ob : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = tile.load %pa : tensor<64x32x!tile.ptr<f16>>
    %y = tile.load %pb : tensor<32x64x!tile.ptr<f16>>
    %d = tile.dot %x, %y, %acc : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %scaled = arith.mulf %sum, %half : tensor<64x64xf32>
  %out = arith.truncf %scaled : tensor<64x64xf32> to tensor<64x64xf16>
  %r2 = tile.make_range 0 to 4096 : tensor<4096xi32>
  %oc = tile.reshape %r2 : tensor<4096xi32> -> tensor<64x64xi32>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pc = tile.addptr %cs, %oc : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  tile.store %pc, %out : tensor<64x64x!tile.ptr<f16>>
  return
}
}

// -----

// A product that feeds another one keeps its rows in one warp: its result is
// the next one's operand as it lies, and the sums of its rows stay in the warp.
// CHECK: #[[ACC:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16]], lane = {{.*}}, warp = {{\[\[}}16, 0], [32, 0]]} : [64, 32]>
// CHECK-LABEL: func.func @chained
// CHECK: %[[S:.*]] = tile.dot {{.*}} -> tensor<64x32xf32, #[[ACC]]>
// CHECK-NOT: convert_layout
// CHECK: %[[P:.*]] = arith.truncf {{.*}} : tensor<64x32xf32, #[[ACC]]> to tensor<64x32xf16, #[[ACC]]>
// CHECK-NOT: convert_layout
// CHECK: tile.dot %[[P]],
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @chained(%q_: f16, %k_: f16, %v_: f16) {
  %q = tile.splat %q_ : f16 -> tensor<64x64xf16>
  %k = tile.splat %k_ : f16 -> tensor<64x32xf16>
  %v = tile.splat %v_ : f16 -> tensor<32x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tile.dot %q, %k, %zero : tensor<64x64xf16> * tensor<64x32xf16> -> tensor<64x32xf32>
  %e = math.exp2 %s : tensor<64x32xf32>
  %p = arith.truncf %e : tensor<64x32xf32> to tensor<64x32xf16>
  %o = tile.dot %p, %v, %none : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  tile.print "" %o {is_signed = array<i1: true>} : tensor<64x64xf32>
  return
}
}

// -----

// In a loop over products a loaded block moves to the accumulator, not the
// accumulator to the block; and it is widened there.
// CHECK-LABEL: func.func @bias_in_the_loop
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32, #[[ACC:.*]]>)
// CHECK: tile.load
// CHECK: cta.convert_layout {{.*}} -> tensor<64x64xf16, #[[ACC]]>
// CHECK: arith.addf {{.*}} : tensor<64x64xf32, #[[ACC]]>
// CHECK: scf.yield {{.*}} : tensor<64x64xf32, #[[ACC]]>
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @bias_in_the_loop(%x_: f16, %b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  %x = tile.splat %x_ : f16 -> tensor<64x64xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %o = tile.reshape %r : tensor<4096xi32> -> tensor<64x64xi32>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %pb = tile.addptr %bs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %bias = tile.load %pb : tensor<64x64x!tile.ptr<f16>>
    %wide = arith.extf %bias : tensor<64x64xf16> to tensor<64x64xf32>
    %d = tile.dot %x, %x, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    %next = arith.addf %wide, %d : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %h = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %pb, %h : tensor<64x64x!tile.ptr<f16>>
  return
}
}

// -----

// Small blocks: what a fragment has too much of are copies, in lanes and warps.
// CHECK-DAG: #cta.layout<{register = {{\[\[}}0, 1]], lane = {{\[\[}}0, 2], [0, 0], [1, 0], [0, 0], [0, 0]], warp = {{\[\[}}0, 0]]} : [2, 4]>
// CHECK-DAG: #cta.layout<{register = {{\[\[}}0, 1]], lane = {{\[\[}}0, 0], [0, 0], [1, 0], [0, 0], [0, 0]], warp = {{\[\[}}0, 0]]} : [2, 2]>
// CHECK-LABEL: func.func @small
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 2>} {
func.func @small(%a_: f16, %b_: f16, %c_: f32) {
  %a = tile.splat %a_ : f16 -> tensor<2x2xf16>
  %b = tile.splat %b_ : f16 -> tensor<2x4xf16>
  %c = tile.splat %c_ : f32 -> tensor<2x4xf32>
  %d = tile.dot %a, %b, %c : tensor<2x2xf16> * tensor<2x4xf16> -> tensor<2x4xf32>
  tile.print "" %d {is_signed = array<i1: true>} : tensor<2x4xf32>
  return
}
}

// -----

// Batches are spread over warps before rows and columns are.
// CHECK: #cta.layout<{register = {{.*}}, warp = {{\[\[}}1, 0, 0], [2, 0, 0]]} : [4, 16, 8]>
// CHECK-LABEL: func.func @batched
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @batched(%a_: f16, %b_: f16, %c_: f32) {
  %a = tile.splat %a_ : f16 -> tensor<4x16x16xf16>
  %b = tile.splat %b_ : f16 -> tensor<4x16x8xf16>
  %c = tile.splat %c_ : f32 -> tensor<4x16x8xf32>
  %d = tile.dot %a, %b, %c : tensor<4x16x16xf16> * tensor<4x16x8xf16> -> tensor<4x16x8xf32>
  tile.print "" %d {is_signed = array<i1: true>} : tensor<4x16x8xf32>
  return
}
}

// -----

// Products by multiply-adds: a tile of what the block has for each thread, so that no two
// threads compute the same. 64 x 32 in 8 warps are 2 x 4 for each.
// CHECK: #[[OWN:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [0, 2], [1, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [2, 0], [4, 0]], warp = {{\[\[}}8, 0], [16, 0], [32, 0]]} : [64, 32]>
// CHECK-LABEL: func.func @small_by_multiply_adds
// CHECK: tile.dot {{.*}} -> tensor<64x32xf32, #[[OWN]]>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {
func.func @small_by_multiply_adds(%x_: f32, %y_: f32) {
  %x = tile.splat %x_ : f32 -> tensor<64x64xf32>
  %y = tile.splat %y_ : f32 -> tensor<64x32xf32>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tile.dot %x, %y, %zero : tensor<64x64xf32> * tensor<64x32xf32> -> tensor<64x32xf32>
  tile.print "" %d {is_signed = array<i1: true>} : tensor<64x32xf32>
  return
}
}

// -----

// 4 x 4 and no more where there is enough for all.
// CHECK: #[[FULL:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [4, 0], [8, 0]], warp = {{\[\[}}0, 32], [16, 0]]} : [32, 64]>
// CHECK-LABEL: func.func @large_by_multiply_adds
// CHECK: tile.dot {{.*}} -> tensor<32x64xf32, #[[FULL]]>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @large_by_multiply_adds(%x_: f32, %y_: f32) {
  %x = tile.splat %x_ : f32 -> tensor<32x64xf32>
  %y = tile.splat %y_ : f32 -> tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %d = tile.dot %x, %y, %zero : tensor<32x64xf32> * tensor<64x64xf32> -> tensor<32x64xf32>
  tile.print "" %d {is_signed = array<i1: true>} : tensor<32x64xf32>
  return
}
}

// -----

// A product's result is another's left operand as it lies: two neighbours a thread, of which
// instructions take the second for the fifth. The right operand's rows are counted alike.
// CHECK-DAG: #[[ACC:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [8, 0], [0, 8]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []} : [16, 16]>
// CHECK-DAG: #[[A:.*]] = #cta.layout<{register = {{\[\[}}8, 0], [0, 1], [0, 8]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []} : [16, 16]>
// CHECK-DAG: #[[B:.*]] = #cta.layout<{register = {{\[\[}}1, 0], [8, 0], [0, 8]], lane = {{\[\[}}2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []} : [16, 16]>
// CHECK-DAG: #[[FIFTH:.*]] = #cta.layout<{register = {{\[\[}}8, 0], [0, 4], [0, 8]], lane = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = []} : [16, 16]>
// CHECK-LABEL: func.func @left_operand_in_pairs
// CHECK: tile.dot {{.*}} tensor<16x16xf32, #[[FIFTH]]> *
// CHECK: tile.dot {{.*}} tensor<16x16xf32, #[[A]]> * tensor<16x16xf32, #[[B]]> -> tensor<16x16xf32, #[[ACC]]>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
func.func @left_operand_in_pairs(%a: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.make_range 0 to 256 : tensor<256xi32>
  %at = tile.reshape %r : tensor<256xi32> -> tensor<16x16xi32>
  %as = tile.splat %a : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %pa = tile.addptr %as, %at : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %x = tile.load %pa : tensor<16x16x!tile.ptr<f32>>
  %d = tile.dot %x, %x, %zero precision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %e = tile.dot %d, %x, %zero precision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %pc = tile.addptr %cs, %at : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  tile.store %pc, %e : tensor<16x16x!tile.ptr<f32>>
  return
}
}
