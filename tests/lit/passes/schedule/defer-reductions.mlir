// RUN: tile-opt %s -split-input-file --tile-defer-reductions | FileCheck %s
// RUN: tile-opt %s -split-input-file --tile-defer-reductions="results=false maxima=false" \
// RUN:   | FileCheck %s --check-prefix OFF
// OFF-NOT: tensor<16x4xf32

#l = #cta.layout<{register = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [0, 0]]} : [16, 16]>
#rows = #cta.layout<{register = [], lane = [[0], [0], [1], [2], [4]], warp = [[8], [0]]} : [16]>
#line = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [128]>

module attributes {tile.kernel = #tile.kernel<warps = 4>, tile.target = #tile.target<sm_90a>} {
// Four threads share a row: each adds up what it holds.
// CHECK-LABEL: func.func @sums_of_rows
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x4xf32
// CHECK: %[[PARTS:.*]] = scf.for {{.*}} iter_args(%[[PART:.*]] = %[[ZERO]])
// CHECK:   %[[SPLIT:.*]] = tile.reshape %{{.*}} : {{.*}} -> tensor<16x2x4x2xf32
// CHECK:   %[[PAIRS:.*]] = tile.reduce %[[SPLIT]] {axis = 3
// CHECK:   %[[OWN:.*]] = tile.reduce %[[PAIRS]] {axis = 1
// CHECK:   %[[NEXT:.*]] = arith.addf %[[PART]], %[[OWN]] : tensor<16x4xf32
// CHECK:   scf.yield %[[NEXT]]
// CHECK: %[[SUM:.*]] = tile.reduce %[[PARTS]] {axis = 1
// CHECK: tile.store %{{.*}}, %[[SUM]]
func.func @sums_of_rows(%n: i32, %x: tensor<16x16xf32, #l>, %p: tensor<16x!tile.ptr<f32>, #rows>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16xf32, #rows>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16xf32, #rows>) : i32 {
    %r = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %next = arith.addf %acc, %r : tensor<16xf32, #rows>
    scf.yield %next : tensor<16xf32, #rows>
  }
  tile.store %p, %s : tensor<16x!tile.ptr<f32>, #rows>
  return
}

// What is scaled row by row is scaled for each thread; the first holds what there was before.
// CHECK-LABEL: func.func @scaled_sums
// CHECK-SAME: %[[INIT:[a-z0-9]*]]: tensor<16xf32{{.*}}%[[SCALE:[a-z0-9]*]]: tensor<16xf32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: %[[START:.*]] = arith.select %{{.*}}, %{{.*}} : tensor<16x4xi1
// CHECK: scf.for {{.*}} iter_args(%[[PART:.*]] = %[[START]])
// CHECK:   %[[ROW:.*]] = tile.expand_dims %[[SCALE]]
// CHECK:   %[[ALL:.*]] = tile.broadcast %[[ROW]]
// CHECK:   arith.mulf %[[PART]], %[[ALL]] : tensor<16x4xf32
func.func @scaled_sums(%init: tensor<16xf32, #rows>, %scale: tensor<16xf32, #rows>, %n: i32, %x: tensor<16x16xf32, #l>, %p: tensor<16x!tile.ptr<f32>, #rows>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16xf32, #rows>) : i32 {
    %scaled = arith.mulf %acc, %scale : tensor<16xf32, #rows>
    %r = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %next = arith.addf %scaled, %r : tensor<16xf32, #rows>
    scf.yield %next : tensor<16xf32, #rows>
  }
  tile.store %p, %s : tensor<16x!tile.ptr<f32>, #rows>
  return
}

// A constant is one for each thread, too, and comes from nowhere.
// CHECK-LABEL: func.func @tripled_sums
// CHECK: scf.for {{.*}} iter_args(%[[PART:.*]] = %{{.*}})
// CHECK-NOT: tile.broadcast
// CHECK:   %[[THREE:.*]] = arith.constant dense<3.0{{.*}}> : tensor<16x4xf32
// CHECK:   arith.mulf %[[PART]], %[[THREE]] : tensor<16x4xf32
func.func @tripled_sums(%init: tensor<16xf32, #rows>, %n: i32, %x: tensor<16x16xf32, #l>, %p: tensor<16x!tile.ptr<f32>, #rows>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %scale = arith.constant dense<3.0> : tensor<16xf32, #rows>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16xf32, #rows>) : i32 {
    %scaled = arith.mulf %acc, %scale : tensor<16xf32, #rows>
    %r = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %next = arith.addf %scaled, %r : tensor<16xf32, #rows>
    scf.yield %next : tensor<16xf32, #rows>
  }
  tile.store %p, %s : tensor<16x!tile.ptr<f32>, #rows>
  return
}

// A number of the whole block: no thread waits for others in the loop.
// CHECK-LABEL: func.func @largest
// CHECK: scf.for {{.*}} -> (tensor<32xi32
// CHECK-NOT: -> i32 {
// CHECK: }
// CHECK: tile.reduce {{.*}} -> i32
func.func @largest(%n: i32, %start: i32, %x: tensor<64xi32, #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]} : [64]>>, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (i32) : i32 {
    %r = tile.reduce %x {axis = 0 : i32} : tensor<64xi32, #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]} : [64]>> -> i32 {
    ^bb0(%a: i32, %b: i32):
      %c = arith.maxsi %a, %b : i32
      tile.yield %c : i32
    }
    %next = arith.maxsi %acc, %r : i32
    scf.yield %next : i32
  }
  tile.store %p, %s : !tile.ptr<i32>
  return
}

// A block that takes up copies of a number has what the numbers give, behind the loop.
// CHECK-LABEL: func.func @copies
// CHECK: %[[PARTS:.*]] = scf.for
// CHECK-NOT: tile.splat
// CHECK:   scf.yield
// CHECK: %[[SUM:.*]] = tile.reduce %[[PARTS]]
// CHECK: %[[COPIES:.*]] = tile.splat %[[SUM]]
// CHECK: %[[ALL:.*]] = arith.addf %{{.*}}, %[[COPIES]]
// CHECK: tile.store %{{.*}}, %[[ALL]]
func.func @copies(%n: i32, %init: tensor<16xf32, #rows>, %x: tensor<128xf32, #line>, %p: tensor<16x!tile.ptr<f32>, #rows>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<16xf32, #rows>) : i32 {
    %r = tile.reduce %x {axis = 0 : i32} : tensor<128xf32, #line> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %rs = tile.splat %r : f32 -> tensor<16xf32, #rows>
    %next = arith.addf %acc, %rs : tensor<16xf32, #rows>
    scf.yield %next : tensor<16xf32, #rows>
  }
  tile.store %p, %s : tensor<16x!tile.ptr<f32>, #rows>
  return
}

// A sum that the loop looks at, and one of another kind than what it takes up.
// CHECK-LABEL: func.func @not_only_taken_up
// CHECK-NOT: tensor<16x4xf32
// CHECK: return
func.func @not_only_taken_up(%n: i32, %x: tensor<16x16xf32, #l>, %p: tensor<16x!tile.ptr<f32>, #rows>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16xf32, #rows>
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %other = %zero) -> (tensor<16xf32, #rows>, tensor<16xf32, #rows>) : i32 {
    %r = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %next = arith.addf %acc, %r : tensor<16xf32, #rows>
    tile.store %p, %next : tensor<16x!tile.ptr<f32>, #rows>
    %m = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #l> -> tensor<16xf32, #rows> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tile.yield %c : f32
    }
    %sum = arith.addf %other, %m : tensor<16xf32, #rows>
    scf.yield %next, %sum : tensor<16xf32, #rows>, tensor<16xf32, #rows>
  }
  tile.store %p, %s#1 : tensor<16x!tile.ptr<f32>, #rows>
  return
}
}

// -----

#tile = #cta.layout<{register = [[0, 1], [1, 0], [2, 0]], lane = [[0, 2], [0, 4], [0, 8], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]} : [64, 16]>
#columns = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [0], [0]], warp = [[0], [0]]} : [16]>

module attributes {tile.kernel = #tile.kernel<warps = 4>, tile.target = #tile.target<sm_90a>} {
// Of a block that a loop adds to, only the sum of its rows is wanted: each thread carries the sum
// of the four rows that it holds.
// CHECK-LABEL: func.func @narrowed
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<16x16xf32
// CHECK: %[[PARTS:.*]] = scf.for {{.*}} iter_args(%[[PART:.*]] = %[[ZERO]])
// CHECK:   %[[OWN:.*]] = tile.reduce
// CHECK:   %[[NEXT:.*]] = arith.addf %[[PART]], %{{.*}} : tensor<16x16xf32
// CHECK:   scf.yield %[[NEXT]]
// CHECK: %[[SUM:.*]] = tile.reduce %[[PARTS]] {axis = 0
// CHECK: tile.store
// OFF-LABEL: func.func @narrowed
// OFF: iter_args({{.*}}) -> (tensor<64x16xf32
func.func @narrowed(%n: i32, %x: tensor<64x16xf32, #tile>, %p: tensor<16x!tile.ptr<f32>, #columns>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #tile>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #tile>) : i32 {
    %next = arith.addf %acc, %x : tensor<64x16xf32, #tile>
    scf.yield %next : tensor<64x16xf32, #tile>
  }
  %r = tile.reduce %s {axis = 0 : i32} : tensor<64x16xf32, #tile> -> tensor<16xf32, #columns> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %r : tensor<16x!tile.ptr<f32>, #columns>
  return
}

// The block itself is wanted, too.
// CHECK-LABEL: func.func @used_twice
// CHECK: iter_args({{.*}}) -> (tensor<64x16xf32
func.func @used_twice(%n: i32, %x: tensor<64x16xf32, #tile>, %p: tensor<16x!tile.ptr<f32>, #columns>, %q: tensor<64x16x!tile.ptr<f32>, #tile>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #tile>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #tile>) : i32 {
    %next = arith.addf %acc, %x : tensor<64x16xf32, #tile>
    scf.yield %next : tensor<64x16xf32, #tile>
  }
  %r = tile.reduce %s {axis = 0 : i32} : tensor<64x16xf32, #tile> -> tensor<16xf32, #columns> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %r : tensor<16x!tile.ptr<f32>, #columns>
  tile.store %q, %s : tensor<64x16x!tile.ptr<f32>, #tile>
  return
}
}
