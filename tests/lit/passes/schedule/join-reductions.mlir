// RUN: tile-opt %s --tile-join-reductions | FileCheck %s

#l = #cta.layout<{register = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [0, 0]]} : [16, 16]>
#m = #cta.layout<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [0, 0]]} : [16, 16]>
#rows = #cta.layout<{register = [], lane = [[0], [0], [1], [2], [4]], warp = [[8], [0]]} : [16]>
#line = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [128]>

module attributes {tile.kernel = #tile.kernel<warps = 4>, tile.target = #tile.target<sm_90a>} {
// Each thread adds up what it holds of both, where it is there; what else is added stays where it was.
// CHECK-LABEL: func.func @sums_of_rows
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<16x16xf32{{.*}}%[[Y:[a-z0-9]*]]: tensor<16x16xf32{{.*}}%[[S:[a-z0-9]*]]: tensor<16xf32
// CHECK: tile.reshape %[[X]]
// CHECK: tile.reduce
// CHECK: %[[OWN:.*]] = tile.reduce %{{.*}} {axis = 1
// CHECK: tile.reshape %[[Y]]
// CHECK: tile.reduce
// CHECK: %[[OTHER:.*]] = tile.reduce %{{.*}} {axis = 1
// CHECK: %[[BOTH:.*]] = arith.addf %[[OWN]], %[[OTHER]] : tensor<16x4xf32
// CHECK: %[[SUM:.*]] = tile.reduce %[[BOTH]] {axis = 1
// CHECK-NOT: tile.reduce
// CHECK: %[[ALL:.*]] = arith.addf %[[S]], %[[SUM]]
// CHECK-NOT: arith.addf
// CHECK: tile.store %{{.*}}, %[[ALL]]
func.func @sums_of_rows(%x: tensor<16x16xf32, #l>, %y: tensor<16x16xf32, #l>, %s: tensor<16xf32, #rows>, %p: tensor<16x!tile.ptr<f32>, #rows>) {
  %r = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %first = arith.addf %s, %r : tensor<16xf32, #rows>
  %q = tile.reduce %y {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %all = arith.addf %first, %q : tensor<16xf32, #rows>
  tile.store %p, %all : tensor<16x!tile.ptr<f32>, #rows>
  return
}

// Of blocks of copies, too: what is made of each result is made of the one.
// CHECK-LABEL: func.func @copies
// CHECK-COUNT-1: tile.reduce
// CHECK-NOT: tile.reduce
// CHECK: tile.splat
// CHECK-NOT: tile.splat
// CHECK: return
func.func @copies(%x: tensor<128xf32, #line>, %y: tensor<128xf32, #line>, %z: tensor<128xf32, #line>, %p: tensor<128x!tile.ptr<f32>, #line>) {
  %r = tile.reduce %x {axis = 0 : i32} : tensor<128xf32, #line> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  %rs = tile.splat %r : f32 -> tensor<128xf32, #line>
  %q = tile.reduce %y {axis = 0 : i32} : tensor<128xf32, #line> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  %qs = tile.splat %q : f32 -> tensor<128xf32, #line>
  %o = tile.reduce %z {axis = 0 : i32} : tensor<128xf32, #line> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  %os = tile.splat %o : f32 -> tensor<128xf32, #line>
  %two = arith.maxnumf %rs, %qs : tensor<128xf32, #line>
  %all = arith.maxnumf %two, %os : tensor<128xf32, #line>
  tile.store %p, %all : tensor<128x!tile.ptr<f32>, #line>
  return
}

// A result that is needed besides, blocks of other layouts, another operation.
// CHECK-LABEL: func.func @not_these
// CHECK-COUNT-6: tile.reduce
// CHECK-NOT: tile.reduce
func.func @not_these(%x: tensor<16x16xf32, #l>, %y: tensor<16x16xf32, #l>, %z: tensor<16x16xf32, #m>, %p: tensor<16x!tile.ptr<f32>, #rows>) {
  %r = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %r : tensor<16x!tile.ptr<f32>, #rows>
  %q = tile.reduce %y {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %both = arith.addf %r, %q : tensor<16xf32, #rows>
  tile.store %p, %both : tensor<16x!tile.ptr<f32>, #rows>
  %o = tile.reduce %y {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %n = tile.reduce %z {axis = 1 : i32} : tensor<16x16xf32, #m> -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %others = arith.addf %o, %n : tensor<16xf32, #rows>
  tile.store %p, %others : tensor<16x!tile.ptr<f32>, #rows>
  %t = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %u = tile.reduce %y {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %larger = arith.maxnumf %t, %u : tensor<16xf32, #rows>
  tile.store %p, %larger : tensor<16x!tile.ptr<f32>, #rows>
  return
}

// What one lane has is asked of it.
// CHECK-LABEL: func.func @picked
// CHECK-COUNT-2: tile.reduce
// CHECK-NOT: tile.reduce
func.func @picked(%i: i32, %x: tensor<128xf32, #line>, %y: tensor<128xf32, #line>, %p: !tile.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<128xf32, #line>
  %n = tile.make_range 0 to 128 : tensor<128xi32, #line>
  %is = tile.splat %i : i32 -> tensor<128xi32, #line>
  %mask = arith.cmpi eq, %n, %is : tensor<128xi32, #line>
  %xs = arith.select %mask, %x, %zero : tensor<128xi1, #line>, tensor<128xf32, #line>
  %ys = arith.select %mask, %y, %zero : tensor<128xi1, #line>, tensor<128xf32, #line>
  %r = tile.reduce %xs {axis = 0 : i32} : tensor<128xf32, #line> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %q = tile.reduce %ys {axis = 0 : i32} : tensor<128xf32, #line> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %both = arith.addf %r, %q : f32
  tile.store %p, %both : !tile.ptr<f32>
  return
}

// To be the same and to differ are one operation, and two combiners.
// CHECK-LABEL: func.func @same_and_different
// CHECK-COUNT-2: tile.reduce
// CHECK-NOT: tile.reduce
// CHECK: arith.cmpi ne
func.func @same_and_different(%x: tensor<16x16xi1, #l>, %y: tensor<16x16xi1, #l>, %p: tensor<16x!tile.ptr<i8>, #rows>) {
  %r = tile.reduce %x {axis = 1 : i32} : tensor<16x16xi1, #l> -> tensor<16xi1, #rows> {
  ^bb0(%a: i1, %b: i1):
    %c = arith.cmpi eq, %a, %b : i1
    tile.yield %c : i1
  }
  %q = tile.reduce %y {axis = 1 : i32} : tensor<16x16xi1, #l> -> tensor<16xi1, #rows> {
  ^bb0(%a: i1, %b: i1):
    %c = arith.cmpi eq, %a, %b : i1
    tile.yield %c : i1
  }
  %differ = arith.cmpi ne, %r, %q : tensor<16xi1, #rows>
  %n = arith.extui %differ : tensor<16xi1, #rows> to tensor<16xi8, #rows>
  tile.store %p, %n : tensor<16x!tile.ptr<i8>, #rows>
  return
}

// What combines the results of one kind is of no other kind, even by the same name.
// CHECK-LABEL: func.func @of_both_kinds
// CHECK-COUNT-3: tile.reduce
// CHECK-NOT: tile.reduce
// CHECK: arith.cmpi ne
// CHECK: arith.cmpi eq
func.func @of_both_kinds(%x: tensor<16x16xi1, #l>, %y: tensor<16x16xi1, #l>, %z: tensor<16x16xi1, #l>, %p: tensor<16x!tile.ptr<i8>, #rows>) {
  %r = tile.reduce %x {axis = 1 : i32} : tensor<16x16xi1, #l> -> tensor<16xi1, #rows> {
  ^bb0(%a: i1, %b: i1):
    %c = arith.cmpi eq, %a, %b : i1
    tile.yield %c : i1
  }
  %q = tile.reduce %y {axis = 1 : i32} : tensor<16x16xi1, #l> -> tensor<16xi1, #rows> {
  ^bb0(%a: i1, %b: i1):
    %c = arith.cmpi eq, %a, %b : i1
    tile.yield %c : i1
  }
  %t = tile.reduce %z {axis = 1 : i32} : tensor<16x16xi1, #l> -> tensor<16xi1, #rows> {
  ^bb0(%a: i1, %b: i1):
    %c = arith.cmpi eq, %a, %b : i1
    tile.yield %c : i1
  }
  %differ = arith.cmpi ne, %r, %q : tensor<16xi1, #rows>
  %same = arith.cmpi eq, %differ, %t : tensor<16xi1, #rows>
  %n = arith.extui %same : tensor<16xi1, #rows> to tensor<16xi8, #rows>
  tile.store %p, %n : tensor<16x!tile.ptr<i8>, #rows>
  return
}
}
