// RUN: tile-opt %s --tile-early-copies --tile-verify-protocol | FileCheck %s
// RUN: sed s/sm_80/sm_75/ %s | tile-opt --tile-early-copies | FileCheck %s --check-prefix=OLD
// OLD-NOT: async_copy

#l = #cta.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]} : [1024]>
#rows = #cta.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[1, 0], [2, 0]]} : [4, 256]>
#row = #cta.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[0, 0], [0, 0]]} : [1, 256]>
#sums = #cta.layout<{register = [], lane = [[0], [0], [0], [0], [0]], warp = [[1], [2]]} : [4]>
!ptrs = tensor<1024x!tile.ptr<f16>, #l>

module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
// The copies start before anything is loaded, what they depend on is moved there.
// One wait for all of them, before the reduction in front of the first use; the
// reduction has a barrier.
// CHECK-LABEL: func.func @weights
// CHECK-DAG: %[[P:.*]] = tile.splat %arg1
// CHECK-DAG: %[[SLOT:.*]] = cta.slots {count = 1 : i32}
// CHECK: cta.async_copy %{{.*}} to %[[SLOT]] vector 8 {cta.read_by_others}
// CHECK: cta.async_copy %{{.*}}, %{{.*}} to %{{.*}} vector 8
// CHECK-NEXT: cta.async_commit
// CHECK-NEXT: cta.barrier
// CHECK: tile.load %arg0
// CHECK: tile.reduce
// CHECK: cta.async_wait 0
// CHECK-NEXT: tile.reduce
// CHECK: cta.read %[[SLOT]]
// CHECK-NOT: tile.load
func.func @weights(%x: !ptrs {tile.divisibility = 16 : i32}, %w: !tile.ptr<f16>, %b: !ptrs, %n: i32) {
  %v = tile.load %x {vector = 8 : i32} : !ptrs
  %f = arith.extf %v : tensor<1024xf16, #l> to tensor<1024xf32, #l>
  %s = tile.reduce %f {axis = 0 : i32} : tensor<1024xf32, #l> -> f32 {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %all = tile.splat %s : f32 -> tensor<1024xf32, #l>
  %d = arith.subf %f, %all : tensor<1024xf32, #l>
  %q = tile.reduce %d {axis = 0 : i32} : tensor<1024xf32, #l> -> f32 {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %i = tile.make_range 0 to 1024 : tensor<1024xi32, #l>
  %ws = tile.splat %w : !tile.ptr<f16> -> !ptrs
  %wp = tile.addptr %ws, %i : !ptrs, tensor<1024xi32, #l>
  %weight = tile.load %wp {vector = 8 : i32} : !ptrs
  %ns = tile.splat %n : i32 -> tensor<1024xi32, #l>
  %mask = arith.cmpi slt, %i, %ns : tensor<1024xi32, #l>
  %zero = arith.constant dense<0.0> : tensor<1024xf16, #l>
  %bias = tile.load %b, %mask, other %zero {vector = 8 : i32} : !ptrs
  %qs = tile.splat %q : f32 -> tensor<1024xf32, #l>
  %half = arith.truncf %qs : tensor<1024xf32, #l> to tensor<1024xf16, #l>
  %o = arith.mulf %half, %weight : tensor<1024xf16, #l>
  %o2 = arith.addf %o, %bias : tensor<1024xf16, #l>
  tile.store %x, %o2 {vector = 8 : i32} : !ptrs
  return
}

// Warps with rows of their own have the same weights: one brings them for all, and
// they meet where they wait.
// CHECK-LABEL: func.func @one_row_a_warp
// CHECK: cta.async_copy
// CHECK: cta.async_wait 0
// CHECK-NEXT: tile.reduce
func.func @one_row_a_warp(%x: tensor<4x256x!tile.ptr<f16>, #rows>, %w: tensor<1x256x!tile.ptr<f16>, #row>) {
  %v = tile.load %x {vector = 8 : i32} : tensor<4x256x!tile.ptr<f16>, #rows>
  %s = tile.reduce %v {axis = 1 : i32} : tensor<4x256xf16, #rows> -> tensor<4xf16, #sums> {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  %weight = tile.load %w {vector = 8 : i32} : tensor<1x256x!tile.ptr<f16>, #row>
  %all = tile.broadcast %weight : tensor<1x256xf16, #row> -> tensor<4x256xf16, #rows>
  %o = arith.mulf %v, %all : tensor<4x256xf16, #rows>
  tile.store %x, %o {vector = 8 : i32} : tensor<4x256x!tile.ptr<f16>, #rows>
  return
}

// Not what each program reads from a place of its own, nor through a volatile load,
// nor with something else than zeros behind the end, nor single elements.
// CHECK-LABEL: func.func @others
// CHECK-NOT: cta.async_copy
// CHECK: return
func.func @others(%x: !ptrs, %w: !tile.ptr<f16>, %b: !ptrs, %mask: tensor<1024xi1, #l>) {
  %id = tile.program_id 0 : i32
  %v = tile.load %x {vector = 8 : i32} : !ptrs
  %s = tile.reduce %v {axis = 0 : i32} : tensor<1024xf16, #l> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  %i = tile.make_range 0 to 1024 : tensor<1024xi32, #l>
  %at = tile.addptr %w, %id : !tile.ptr<f16>, i32
  %ws = tile.splat %at : !tile.ptr<f16> -> !ptrs
  %wp = tile.addptr %ws, %i : !ptrs, tensor<1024xi32, #l>
  %own = tile.load %wp {vector = 8 : i32} : !ptrs
  %again = tile.load %b {is_volatile = true, vector = 8 : i32} : !ptrs
  %one = arith.constant dense<1.0> : tensor<1024xf16, #l>
  %ones = tile.load %b, %mask, other %one {vector = 8 : i32} : !ptrs
  %single = tile.load %b {vector = 1 : i32} : !ptrs
  %ss = tile.splat %s : f16 -> tensor<1024xf16, #l>
  %o1 = arith.mulf %ss, %own : tensor<1024xf16, #l>
  %o2 = arith.mulf %o1, %again : tensor<1024xf16, #l>
  %o3 = arith.mulf %o2, %ones : tensor<1024xf16, #l>
  %o4 = arith.mulf %o3, %single : tensor<1024xf16, #l>
  tile.store %x, %o4 {vector = 8 : i32} : !ptrs
  return
}

// Not what is used while the row is still on its way, by the reduction too.
// CHECK-LABEL: func.func @used_early
// CHECK-NOT: cta.async_copy
// CHECK: return
func.func @used_early(%x: !ptrs, %w: !ptrs) {
  %v = tile.load %x {vector = 8 : i32} : !ptrs
  %weight = tile.load %w {vector = 8 : i32} : !ptrs
  %p = arith.mulf %v, %weight : tensor<1024xf16, #l>
  %s = tile.reduce %p {axis = 0 : i32} : tensor<1024xf16, #l> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  %ss = tile.splat %s : f16 -> tensor<1024xf16, #l>
  %o = arith.mulf %ss, %weight : tensor<1024xf16, #l>
  tile.store %x, %o {vector = 8 : i32} : !ptrs
  return
}

// Not across a store, which may be to the same place.
// CHECK-LABEL: func.func @stored_before
// CHECK-NOT: cta.async_copy
// CHECK: return
func.func @stored_before(%x: !ptrs, %w: !ptrs) {
  %v = tile.load %x {vector = 8 : i32} : !ptrs
  %s = tile.reduce %v {axis = 0 : i32} : tensor<1024xf16, #l> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  %ss = tile.splat %s : f16 -> tensor<1024xf16, #l>
  tile.store %x, %ss {vector = 8 : i32} : !ptrs
  %weight = tile.load %w {vector = 8 : i32} : !ptrs
  %o = arith.mulf %ss, %weight : tensor<1024xf16, #l>
  tile.store %x, %o {vector = 8 : i32} : !ptrs
  return
}

// What is stored behind the load, maybe to the same place, is stored when the copy has landed.
// CHECK-LABEL: func.func @stored_between
// CHECK: cta.async_copy
// CHECK: cta.async_wait
// CHECK-NEXT: tile.reduce
// CHECK: tile.store
// CHECK-NOT: cta.async_wait
// CHECK: tile.reduce
// CHECK: cta.read
func.func @stored_between(%x: !ptrs, %w: !ptrs) {
  %v = tile.load %x {vector = 8 : i32} : !ptrs
  %weight = tile.load %w {vector = 8 : i32} : !ptrs
  %s = tile.reduce %v {axis = 0 : i32} : tensor<1024xf16, #l> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  tile.store %w, %v {vector = 8 : i32} : !ptrs
  %t = tile.reduce %v {axis = 0 : i32} : tensor<1024xf16, #l> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.maximumf %l, %r : f16
    tile.yield %a : f16
  }
  %st = arith.addf %s, %t : f16
  %ss = tile.splat %st : f16 -> tensor<1024xf16, #l>
  %o = arith.mulf %ss, %weight : tensor<1024xf16, #l>
  tile.store %x, %o {vector = 8 : i32} : !ptrs
  return
}

// Not if the first reduction is behind such a store.
// CHECK-LABEL: func.func @stored_at_once
// CHECK-NOT: cta.async_copy
// CHECK: return
func.func @stored_at_once(%x: !ptrs, %w: !ptrs) {
  %v = tile.load %x {vector = 8 : i32} : !ptrs
  %weight = tile.load %w {vector = 8 : i32} : !ptrs
  tile.store %w, %v {vector = 8 : i32} : !ptrs
  %s = tile.reduce %v {axis = 0 : i32} : tensor<1024xf16, #l> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  %ss = tile.splat %s : f16 -> tensor<1024xf16, #l>
  %o = arith.mulf %ss, %weight : tensor<1024xf16, #l>
  tile.store %x, %o {vector = 8 : i32} : !ptrs
  return
}
}
