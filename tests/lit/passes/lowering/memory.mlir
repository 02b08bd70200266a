// Loads and stores: groups become wide accesses, masks become predicates.
// RUN: tile-opt %s -split-input-file --tile-lower-to-llvm --cse | FileCheck %s

#l = #cta.layout<{register = [[1], [2], [512]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [1024]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Unmasked: plain 16-byte loads; the second group is the first plus a constant.
// CHECK-LABEL: llvm.func @plain
// CHECK-SAME: nvvm.reqntid = array<i32: 128>
// CHECK: %[[BASE:.*]] = llvm.getelementptr %arg0[%{{.*}}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK: llvm.load %[[BASE]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[BASE]]{{.*}} -> !llvm.ptr<1>, i8
// CHECK: llvm.load %[[NEXT]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-COUNT-2: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>
func.func @plain(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %r = tile.make_range 0 to 1024 : tensor<1024xi32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #l>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #l>
  %pp = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xi32, #l>
  %qq = tile.addptr %qs, %r : tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xi32, #l>
  %v = tile.load %pp {vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #l>
  tile.store %qq, %v {vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #l>
  return
}

// Masked: one predicated access a group, other values moved in before.
// CHECK-LABEL: llvm.func @masked
// CHECK: llvm.inline_asm {{.*}}mov.b32 $0, $6;{{.*}}@$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];
// CHECK: llvm.inline_asm {{.*}}@$5 st.global.v4.b32 [$0], {$1, $2, $3, $4};
// CHECK-NOT: llvm.cond_br
func.func @masked(%p: !tile.ptr<f32>, %n: i32) {
  %other = arith.constant dense<0xFF800000> : tensor<1024xf32, #l>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<1024xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<1024xi32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #l>
  %pp = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xi32, #l>
  %v = tile.load %pp, %m, other %other {vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #l>
  tile.store %pp, %v, %m {vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #l>
  return
}

// A mask that may end inside of a group: the group where its first and last elements are true,
// then, behind all whole groups, what is true of the others, with the values at hand so far.
// CHECK-LABEL: llvm.func @ragged
// CHECK: %[[WHOLE:.*]] = llvm.and %[[FIRST:.*]], %[[LAST:.*]] : i1
// CHECK: llvm.inline_asm {{.*}}ld.global.v4.b32 {{.*}}, %[[WHOLE]]
// CHECK: llvm.inline_asm {{.*}}ld.global.v4.b32
// CHECK: %[[REST:.*]] = llvm.xor %[[WHOLE]], %{{.*}} : i1
// CHECK: %[[TAIL:.*]] = llvm.and %[[FIRST]], %[[REST]] : i1
// CHECK: llvm.inline_asm {{.*}}mov.b32 $0, $3;{{.*}}@$2 ld.global.b32 $0, [$1];{{.*}}, %[[TAIL]]
// CHECK-COUNT-7: ld.global.b32
// CHECK-COUNT-2: st.global.v4.b32
// CHECK-COUNT-8: st.global.b32
func.func @ragged(%p: !tile.ptr<f32>, %n: i32) {
  %other = arith.constant dense<0xFF800000> : tensor<1024xf32, #l>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32, #l>
  %ns = tile.splat %n : i32 -> tensor<1024xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<1024xi32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #l>
  %pp = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xi32, #l>
  %v = tile.load %pp, %m, other %other {vector = 4 : i32, cta.mask_run = 1 : i32} : tensor<1024x!tile.ptr<f32>, #l>
  tile.store %pp, %v, %m {vector = 4 : i32, cta.mask_run = 1 : i32} : tensor<1024x!tile.ptr<f32>, #l>
  return
}

// Cache operators and eviction priorities are spelled as PTX has them; what is read once is
// evicted first from the second cache, too.
// CHECK-LABEL: llvm.func @hints
// CHECK: createpolicy.fractional.L2::evict_first.b64 $0, 1.0;
// CHECK: ld.global.cg.v4.b32
// CHECK: ld.global.L1::evict_first.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;
// CHECK: ld.global.L1::evict_last.v4.b32 {$0, $1, $2, $3}, [$4];
// CHECK: ld.volatile.global.v4.b32
// CHECK: st.global.cs.v4.b32
func.func @hints(%p: !tile.ptr<f32>) {
  %r = tile.make_range 0 to 1024 : tensor<1024xi32, #l>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>, #l>
  %pp = tile.addptr %ps, %r : tensor<1024x!tile.ptr<f32>, #l>, tensor<1024xi32, #l>
  %a = tile.load %pp {vector = 4 : i32, cache = #tile<cache cg>} : tensor<1024x!tile.ptr<f32>, #l>
  %b = tile.load %pp {vector = 4 : i32, evict = #tile<evict evict_first>} : tensor<1024x!tile.ptr<f32>, #l>
  %d = tile.load %pp {vector = 4 : i32, evict = #tile<evict evict_last>} : tensor<1024x!tile.ptr<f32>, #l>
  %c = tile.load %pp {vector = 4 : i32, is_volatile = true} : tensor<1024x!tile.ptr<f32>, #l>
  %bd = arith.addf %b, %d : tensor<1024xf32, #l>
  %ab = arith.addf %a, %bd : tensor<1024xf32, #l>
  %abc = arith.addf %ab, %c : tensor<1024xf32, #l>
  tile.store %pp, %abc {vector = 4 : i32, cache = #tile<cache cs>} : tensor<1024x!tile.ptr<f32>, #l>
  return
}

// A scalar is stored by one thread.
// CHECK-LABEL: llvm.func @scalar
// CHECK: %[[BITS:.*]] = llvm.and %{{.*}}, %{{.*}} : i32
// CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %[[BITS]]
// CHECK: llvm.inline_asm {{.*}}@$2 st.global.b16 [$0], $1;{{.*}} %arg0, %{{.*}}, %[[FIRST]]
func.func @scalar(%p: !tile.ptr<f16>, %x: f16) {
  tile.store %p, %x : !tile.ptr<f16>
  return
}
}

// -----

// Rows of one address are loaded once if masked elements get the same in both, and not if the second
// alone is the same all along.
#i = #cta.layout<{lane = [[1], [2], [4], [8], [16]]} : [32]>
#ij = #cta.layout<{register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]} : [32, 2]>
#ji = #cta.layout<{register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]]} : [2, 32]>
#jik = #cta.layout<{register = [[0, 0, 1], [1, 0, 0]], lane = [[0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0]]} : [2, 32, 2]>
#rows = #cta.layout<{register = [[0, 1], [1, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]]} : [2, 64]>
#row = #cta.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]]} : [1, 64]>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
// CHECK-LABEL: llvm.func @copies
// CHECK-COUNT-1: ld.global.v2.b32
// CHECK-NOT: ld.global
func.func @copies(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %s: f32, %k: i1) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1x64x!tile.ptr<f32>, #row>
  %pp = tile.broadcast %ps : tensor<1x64x!tile.ptr<f32>, #row> -> tensor<2x64x!tile.ptr<f32>, #rows>
  %m = tile.splat %k : i1 -> tensor<2x64xi1, #rows>
  %other = tile.splat %s : f32 -> tensor<2x64xf32, #rows>
  %v = tile.load %pp, %m, other %other {vector = 2 : i32} : tensor<2x64x!tile.ptr<f32>, #rows>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>, #rows>
  tile.store %qs, %v : tensor<2x64x!tile.ptr<f32>, #rows>
  return
}
// CHECK-LABEL: llvm.func @others
// CHECK-COUNT-2: ld.global.v2.b32
func.func @others(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %s: f32, %t: f32, %k: i1) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<1x64x!tile.ptr<f32>, #row>
  %pp = tile.broadcast %ps : tensor<1x64x!tile.ptr<f32>, #row> -> tensor<2x64x!tile.ptr<f32>, #rows>
  %m = tile.splat %k : i1 -> tensor<2x64xi1, #rows>
  %x = tile.splat %s : f32 -> tensor<32xf32, #i>
  %y = tile.splat %t : f32 -> tensor<32xf32, #i>
  %columns = tile.join %y, %x : tensor<32xf32, #i> -> tensor<32x2xf32, #ij>
  %odd = tile.trans %columns [1, 0] : tensor<32x2xf32, #ij> -> tensor<2x32xf32, #ji>
  %even = tile.splat %s : f32 -> tensor<2x32xf32, #ji>
  %both = tile.join %even, %odd : tensor<2x32xf32, #ji> -> tensor<2x32x2xf32, #jik>
  %other = tile.reshape %both : tensor<2x32x2xf32, #jik> -> tensor<2x64xf32, #rows>
  %v = tile.load %pp, %m, other %other {vector = 2 : i32} : tensor<2x64x!tile.ptr<f32>, #rows>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<2x64x!tile.ptr<f32>, #rows>
  tile.store %qs, %v : tensor<2x64x!tile.ptr<f32>, #rows>
  return
}
}
