// Reductions: registers, then lanes, then warps through scratch memory.
// RUN: tile-opt %s --split-input-file --tile-allocate-scratch --tile-lower-to-llvm --cse | FileCheck %s

#row = #cta.layout<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]} : [16, 16]>
#col = #cta.layout<{register = [], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 0]], warp = [[0, 0], [0, 0]]} : [16, 1]>
#flat = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]} : [512]>
#repeats = #cta.layout<{register = [[1], [256]], lane = [[2], [4], [8], [16], [32]], warp = [[64], [128]]} : [512]>
#pair = #cta.layout<{register = [], lane = [[1], [0], [0], [0], [0]], warp = [[0], [0]]} : [2]>
#quad = #cta.layout<{register = [], lane = [[1], [2], [0], [0], [0]], warp = [[0], [0]]} : [4]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Eight lanes hold a row: three butterflies, no shared memory, no barrier.
// CHECK-LABEL: llvm.func @rows
// CHECK: llvm.fadd
// CHECK-COUNT-3: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @rows(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>, #row>
  %x = tile.load %ps : tensor<16x16x!tile.ptr<f32>, #row>
  %s = tile.reduce %x {axis = 1 : i32} : tensor<16x16xf32, #row> -> tensor<16xf32, #cta.layout<{register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]]} : [16]>> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  return
}

// The whole block to one scalar: each warp's partial goes through shared
// memory once, behind one barrier, and all threads read them in one access.
// CHECK-LABEL: llvm.func @whole
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: llvm.inline_asm {{.*}}st.shared.b32
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.return
func.func @whole(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #flat>
  %x = tile.load %ps : tensor<512x!tile.ptr<f32>, #flat>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<512xf32, #flat> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %s : !tile.ptr<f32>
  return
}

// What is not known to be commutative is combined in order: each lane takes the value of the
// lower one for the left.
// CHECK-LABEL: llvm.func @in_order
// CHECK-COUNT-5: nvvm.shfl.sync bfly {{.*}}
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @one_lane_bit
// CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly
// CHECK: %[[LEFT:.*]] = llvm.select %[[RIGHT:.*]], %[[O:.*]], %[[OWN:.*]] : i1, f32
// CHECK: llvm.select %[[RIGHT]], %[[OWN]], %[[O]] : i1, f32
func.func @in_order(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #flat>
  %x = tile.load %ps : tensor<512x!tile.ptr<f32>, #flat>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<512xf32, #flat> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %s : !tile.ptr<f32>
  return
}
func.func @one_lane_bit(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>, #pair>
  %x = tile.load %ps : tensor<2x!tile.ptr<f32>, #pair>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<2xf32, #pair> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %s : !tile.ptr<f32>
  return
}

// Two repeats: of two lanes the left one goes on with the first, the right one with the second, so
// that one butterfly does for both.
// CHECK-LABEL: llvm.func @repeats
// CHECK: %[[MINE:.*]] = llvm.select %[[RIGHT:.*]], %[[Y:.*]], %[[X:.*]] : i1, f32
// CHECK: llvm.select %[[RIGHT]], %[[X]], %[[Y]] : i1, f32
// CHECK: %[[ITS:.*]] = nvvm.shfl.sync bfly
// CHECK: llvm.select %[[RIGHT]], %{{.*}}, %[[MINE]] : i1, f32
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: nvvm.barrier0
// CHECK: llvm.return
func.func @repeats(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #repeats>
  %i = tile.make_range 0 to 512 : tensor<512xi32, #repeats>
  %at = tile.addptr %ps, %i : tensor<512x!tile.ptr<f32>, #repeats>, tensor<512xi32, #repeats>
  %x = tile.load %at : tensor<512x!tile.ptr<f32>, #repeats>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<512xf32, #repeats> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %s : !tile.ptr<f32>
  return
}

// The same from both sides, read off the combiner: a product of complex numbers; the greater of
// two pairs, the first that differ saying which.
// CHECK-LABEL: llvm.func @commutative
// CHECK-NOT: llvm.select %{{.*}} : i1, f32
// CHECK-LABEL: llvm.func @best
// CHECK-COUNT-4: llvm.select
// CHECK-NOT: llvm.select
// CHECK: llvm.return
func.func @commutative(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>, #pair>
  %x = tile.load %ps : tensor<2x!tile.ptr<f32>, #pair>
  %s:2 = tile.reduce %x, %x {axis = 0 : i32} : tensor<2xf32, #pair>, tensor<2xf32, #pair> -> f32, f32 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %ac = arith.mulf %a, %c : f32
    %bd = arith.mulf %b, %d : f32
    %ad = arith.mulf %a, %d : f32
    %bc = arith.mulf %b, %c : f32
    %r = arith.subf %ac, %bd : f32
    %i = arith.addf %ad, %bc : f32
    tile.yield %r, %i : f32, f32
  }
  tile.store %p, %s#0 : !tile.ptr<f32>
  tile.store %p, %s#1 : !tile.ptr<f32>
  return
}
func.func @best(%p: !tile.ptr<i32>) {
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>, #quad>
  %x = tile.load %ps : tensor<4x!tile.ptr<i32>, #quad>
  %s:2 = tile.reduce %x, %x {axis = 0 : i32} : tensor<4xi32, #quad>, tensor<4xi32, #quad> -> i32, i32 {
  ^bb0(%a: i32, %i: i32, %b: i32, %j: i32):
    %more = arith.cmpi sgt, %a, %b : i32
    %same = arith.cmpi eq, %a, %b : i32
    %first = arith.cmpi slt, %i, %j : i32
    %tie = arith.andi %same, %first : i1
    %left = arith.ori %more, %tie : i1
    %v = arith.select %left, %a, %b : i32
    %k = arith.select %left, %i, %j : i32
    tile.yield %v, %k : i32, i32
  }
  tile.store %p, %s#0 : !tile.ptr<i32>
  tile.store %p, %s#1 : !tile.ptr<i32>
  return
}

// Floats, too, where the index decides between equal ones and between NaNs: each lane combines
// what it has with what it gets. Where two NaNs leave it to the side, the order counts: the first lane
// tells the others.
// CHECK-LABEL: llvm.func @best_float
// CHECK-COUNT-4: llvm.select
// CHECK-NOT: llvm.select
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK-LABEL: llvm.func @nan_by_side
// CHECK-COUNT-4: llvm.select
// CHECK-NOT: llvm.select
// CHECK-COUNT-2: nvvm.shfl.sync idx
// CHECK: llvm.return
func.func @best_float(%p: !tile.ptr<f32>, %o: !tile.ptr<i32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>, #quad>
  %x = tile.load %ps : tensor<4x!tile.ptr<f32>, #quad>
  %r = tile.make_range 0 to 4 : tensor<4xi32, #quad>
  %s:2 = tile.reduce %x, %r {axis = 0 : i32} : tensor<4xf32, #quad>, tensor<4xi32, #quad> -> f32, i32 {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %more = arith.cmpf ogt, %a, %b : f32
    %nan = arith.cmpf une, %b, %b : f32
    %number = arith.cmpf ord, %a, %a : f32
    %over = arith.andi %nan, %number : i1
    %wins = arith.ori %more, %over : i1
    %same = arith.cmpf oeq, %a, %b : f32
    %equal = arith.ori %same, %nan : i1
    %first = arith.cmpi slt, %i, %j : i32
    %tie = arith.andi %equal, %first : i1
    %left = arith.ori %wins, %tie : i1
    %v = arith.select %left, %a, %b : f32
    %k = arith.select %left, %i, %j : i32
    tile.yield %v, %k : f32, i32
  }
  tile.store %p, %s#0 : !tile.ptr<f32>
  tile.store %o, %s#1 : !tile.ptr<i32>
  return
}
func.func @nan_by_side(%p: !tile.ptr<f32>, %o: !tile.ptr<i32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>, #quad>
  %x = tile.load %ps : tensor<4x!tile.ptr<f32>, #quad>
  %r = tile.make_range 0 to 4 : tensor<4xi32, #quad>
  %s:2 = tile.reduce %x, %r {axis = 0 : i32} : tensor<4xf32, #quad>, tensor<4xi32, #quad> -> f32, i32 {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %more = arith.cmpf ogt, %a, %b : f32
    %nan = arith.cmpf une, %b, %b : f32
    %wins = arith.ori %more, %nan : i1
    %same = arith.cmpf oeq, %a, %b : f32
    %first = arith.cmpi slt, %i, %j : i32
    %tie = arith.andi %same, %first : i1
    %left = arith.ori %wins, %tie : i1
    %v = arith.select %left, %a, %b : f32
    %k = arith.select %left, %i, %j : i32
    tile.yield %v, %k : f32, i32
  }
  tile.store %p, %s#0 : !tile.ptr<f32>
  tile.store %o, %s#1 : !tile.ptr<i32>
  return
}

// Conditions that are compared, and chosen by others: both NaN or neither, then the greater, then
// the first.
// CHECK-LABEL: llvm.func @compared_conditions
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK: llvm.return
func.func @compared_conditions(%p: !tile.ptr<f32>, %o: !tile.ptr<i32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>, #quad>
  %x = tile.load %ps : tensor<4x!tile.ptr<f32>, #quad>
  %r = tile.make_range 0 to 4 : tensor<4xi32, #quad>
  %s:2 = tile.reduce %x, %r {axis = 0 : i32} : tensor<4xf32, #quad>, tensor<4xi32, #quad> -> f32, i32 {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %an = arith.cmpf une, %a, %a : f32
    %bn = arith.cmpf une, %b, %b : f32
    %alike = arith.cmpi eq, %an, %bn : i1
    %more = arith.cmpf ogt, %a, %b : f32
    %same = arith.cmpf oeq, %a, %b : f32
    %even = arith.ori %same, %an : i1
    %first = arith.cmpi slt, %i, %j : i32
    %left = arith.select %even, %first, %more : i1
    %over = arith.select %alike, %left, %an : i1
    %v = arith.select %over, %a, %b : f32
    %k = arith.select %over, %i, %j : i32
    tile.yield %v, %k : f32, i32
  }
  tile.store %p, %s#0 : !tile.ptr<f32>
  tile.store %o, %s#1 : !tile.ptr<i32>
  return
}

// Two values travel together; the combiner sees both of each side.
// CHECK-LABEL: llvm.func @argmax
// CHECK: llvm.fcmp "ogt"
// CHECK: llvm.select {{.*}} f32
// CHECK: llvm.select {{.*}} i32
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.shfl.sync bfly
func.func @argmax(%p: !tile.ptr<f32>, %o: !tile.ptr<i32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #flat>
  %i = tile.make_range 0 to 512 : tensor<512xi32, #flat>
  %pp = tile.addptr %ps, %i : tensor<512x!tile.ptr<f32>, #flat>, tensor<512xi32, #flat>
  %x = tile.load %pp : tensor<512x!tile.ptr<f32>, #flat>
  %s:2 = tile.reduce %x, %i {axis = 0 : i32} : tensor<512xf32, #flat>, tensor<512xi32, #flat> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %gt = arith.cmpf ogt, %a, %b : f32
    %m = arith.select %gt, %a, %b : f32
    %mi = arith.select %gt, %ai, %bi : i32
    tile.yield %m, %mi : f32, i32
  }
  tile.store %o, %s#1 : !tile.ptr<i32>
  return
}
}

// -----

#sixteen = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128], [256]]} : [512]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 16>} {
// Of the results of 16 warps each lane reads four in one access; two more butterflies.
// CHECK-LABEL: llvm.func @many_warps
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @many_warps(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #sixteen>
  %x = tile.load %ps : tensor<512x!tile.ptr<f32>, #sixteen>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<512xf32, #sixteen> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  tile.store %p, %s : !tile.ptr<f32>
  return
}

// Lanes that combined in different orders could differ: of what they share out, they take what the
// first has, with the lower lane's value on the left. What warps leave, the first lane alone needs.
// CHECK-LABEL: llvm.func @in_one_order
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: nvvm.shfl.sync bfly {{.*}}
// CHECK-NOT: llvm.select
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @in_one_order(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #sixteen>
  %x = tile.load %ps : tensor<512x!tile.ptr<f32>, #sixteen>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<512xf32, #sixteen> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    %d = math.fma %a, %b, %c : f32
    tile.yield %d : f32
  }
  tile.store %p, %s : !tile.ptr<f32>
  return
}

// Three values and a division: what 16 warps have, each lane combines of four, and only in the
// warp that stores the results.
// CHECK-LABEL: llvm.func @moments
// CHECK: nvvm.barrier0
// CHECK: llvm.cond_br %{{.*}}, ^[[WORKS:bb[0-9]+]], ^[[RESTS:bb[0-9]+]]
// CHECK: ^[[WORKS]]:
// CHECK-COUNT-3: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-5: llvm.nvvm.div.full
// CHECK-NOT: llvm.nvvm.div.full
// CHECK: ^[[RESTS]]:
// CHECK-NOT: llvm.nvvm.div.full
// CHECK: llvm.return
func.func @moments(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #sixteen>
  %x = tile.load %ps : tensor<512x!tile.ptr<f32>, #sixteen>
  %s:3 = tile.reduce %x, %x, %x {axis = 0 : i32}
      : tensor<512xf32, #sixteen>, tensor<512xf32, #sixteen>, tensor<512xf32, #sixteen> -> f32, f32, f32 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32):
    %far = arith.subf %d, %a : f32
    %n = arith.addf %c, %f : f32
    %share = arith.divf %f, %n : f32
    %step = arith.mulf %far, %share : f32
    %mean = arith.addf %a, %step : f32
    %both = arith.addf %b, %e : f32
    %square = arith.mulf %far, %far : f32
    %rest = arith.mulf %square, %share : f32
    %moment = arith.addf %both, %rest : f32
    tile.yield %mean, %moment, %n : f32, f32, f32
  }
  tile.store %p, %s#0 : !tile.ptr<f32>
  tile.store %p, %s#1 : !tile.ptr<f32>
  tile.store %p, %s#2 : !tile.ptr<f32>
  return
}
}

// -----

// What combines means and squared deviations is commutative but for rounding: registers that lanes
// lie between are combined first, and lanes, which are to have the same bits, get what the first has,
// with the lower one on the left. A recurrence is not: four times in each step of two lanes, and what is left.
#rows = #cta.layout<{register = [[0, 4], [0, 8]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = []} : [8, 16]>
#line = #cta.layout<{register = [], lane = [[0], [0], [1], [2], [4]], warp = []} : [8]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
// CHECK-LABEL: llvm.func @welford
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-3: llvm.nvvm.div.full
// CHECK-COUNT-3: nvvm.shfl.sync bfly
// CHECK: llvm.nvvm.div.full
// CHECK-COUNT-3: nvvm.shfl.sync bfly
// CHECK: llvm.nvvm.div.full
// CHECK-COUNT-3: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: llvm.nvvm.div.full
// CHECK-LABEL: llvm.func @recurrence
// CHECK-COUNT-16: nvvm.shfl.sync bfly
// CHECK-COUNT-8: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @welford(%p: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %zero = arith.constant 0.0 : f32
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x16x!tile.ptr<f32>, #rows>
  %x = tile.load %ps : tensor<8x16x!tile.ptr<f32>, #rows>
  %s:3 = tile.reduce %x, %x, %x {axis = 1 : i32}
      : tensor<8x16xf32, #rows>, tensor<8x16xf32, #rows>, tensor<8x16xf32, #rows>
      -> tensor<8xf32, #line>, tensor<8xf32, #line>, tensor<8xf32, #line> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32):
    %far = arith.subf %d, %a : f32
    %n = arith.addf %c, %f : f32
    %none = arith.cmpf oeq, %n, %zero : f32
    %ratio = arith.divf %f, %n : f32
    %share = arith.select %none, %zero, %ratio : f32
    %step = arith.mulf %far, %share : f32
    %mean = arith.addf %a, %step : f32
    %both = arith.addf %b, %e : f32
    %square = arith.mulf %far, %far : f32
    %weighted = arith.mulf %square, %c : f32
    %rest = arith.mulf %weighted, %share : f32
    %moment = arith.addf %both, %rest : f32
    tile.yield %mean, %moment, %n : f32, f32, f32
  }
  %os = tile.splat %o : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>, #line>
  tile.store %os, %s#0 : tensor<8x!tile.ptr<f32>, #line>
  tile.store %os, %s#1 : tensor<8x!tile.ptr<f32>, #line>
  return
}

func.func @recurrence(%p: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<8x16x!tile.ptr<f32>, #rows>
  %x = tile.load %ps : tensor<8x16x!tile.ptr<f32>, #rows>
  %s:2 = tile.reduce %x, %x {axis = 1 : i32} : tensor<8x16xf32, #rows>, tensor<8x16xf32, #rows>
      -> tensor<8xf32, #line>, tensor<8xf32, #line> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %factor = arith.mulf %a, %c : f32
    %carried = arith.mulf %b, %c : f32
    %next = arith.addf %carried, %d : f32
    tile.yield %factor, %next : f32, f32
  }
  %os = tile.splat %o : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>, #line>
  tile.store %os, %s#1 : tensor<8x!tile.ptr<f32>, #line>
  return
}
}

// -----

// All warps want to know what goes back to the block, and all combine it.
#sixteen = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [128], [256]]} : [512]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 16>} {
// CHECK-LABEL: llvm.func @for_all
// CHECK: nvvm.barrier0
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.return
func.func @for_all(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>, #sixteen>
  %x = tile.load %ps : tensor<512x!tile.ptr<f32>, #sixteen>
  %s:2 = tile.reduce %x, %x {axis = 0 : i32}
      : tensor<512xf32, #sixteen>, tensor<512xf32, #sixteen> -> f32, f32 {
  ^bb0(%a: f32, %b: f32, %d: f32, %e: f32):
    %share = arith.divf %d, %a : f32
    %mean = arith.addf %a, %share : f32
    %both = arith.divf %b, %e : f32
    tile.yield %mean, %both : f32, f32
  }
  %means = tile.splat %s#0 : f32 -> tensor<512xf32, #sixteen>
  tile.store %ps, %means : tensor<512x!tile.ptr<f32>, #sixteen>
  tile.store %p, %s#1 : !tile.ptr<f32>
  return
}
}

// -----

// Each thread holds parts of eight results, in one row of eight that lanes and warps share. One of
// two lanes goes on with four of them, the other with the other four, then two, then one: seven
// butterflies in place of 24, and each lane leaves one result for the other warps. Behind them a
// thread takes up the only one that it is to have, as the result's layout says.
#rows = #cta.layout<{register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [0, 8], [0, 16]], warp = [[8, 0], [16, 0]]} : [32, 32]>
#line = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [32]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// CHECK-LABEL: llvm.func @columns
// CHECK-COUNT-7: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK-NOT: llvm.store
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT: !llvm.ptr<3>
// CHECK: llvm.return
func.func @columns(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>, #rows>
  %x = tile.load %ps : tensor<32x32x!tile.ptr<f32>, #rows>
  %s = tile.reduce %x {axis = 0 : i32} : tensor<32x32xf32, #rows> -> tensor<32xf32, #line> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  return
}
}

// -----

#lanes = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []} : [32]>
#halves = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [0]], warp = []} : [16]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
// All lanes of a warp reduce an integer in one instruction; some of them, and floats, do not.
// CHECK-LABEL: llvm.func @at_once
// CHECK-NOT: nvvm.shfl.sync
// CHECK: nvvm.redux.sync min %{{.*}} : i32 -> i32
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
func.func @at_once(%o: !tile.ptr<i32>) {
  %i = tile.make_range 0 to 32 : tensor<32xi32, #lanes>
  %s = tile.reduce %i {axis = 0 : i32} : tensor<32xi32, #lanes> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.minsi %a, %b : i32
    tile.yield %c : i32
  }
  tile.store %o, %s : !tile.ptr<i32>
  return
}
// CHECK-LABEL: llvm.func @some_lanes_added
// CHECK-NOT: nvvm.redux.sync
// CHECK-COUNT-4: nvvm.shfl.sync bfly
func.func @some_lanes_added(%o: !tile.ptr<i32>) {
  %i = tile.make_range 0 to 16 : tensor<16xi32, #halves>
  %s = tile.reduce %i {axis = 0 : i32} : tensor<16xi32, #halves> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tile.yield %c : i32
  }
  tile.store %o, %s : !tile.ptr<i32>
  return
}
// Of what makes no difference how often it is there, copies are part.
// CHECK-LABEL: llvm.func @some_lanes(
// CHECK: nvvm.redux.sync min
// CHECK-NOT: nvvm.shfl.sync bfly
func.func @some_lanes(%o: !tile.ptr<i32>) {
  %i = tile.make_range 0 to 16 : tensor<16xi32, #halves>
  %s = tile.reduce %i {axis = 0 : i32} : tensor<16xi32, #halves> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.minsi %a, %b : i32
    tile.yield %c : i32
  }
  tile.store %o, %s : !tile.ptr<i32>
  return
}
}

// -----

#lanes = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []} : [32]>

module attributes {tile.target = #tile.target<sm_75>, tile.kernel = #tile.kernel<warps = 1>} {
// CHECK-LABEL: llvm.func @older
// CHECK-COUNT-5: nvvm.shfl.sync bfly
func.func @older(%o: !tile.ptr<i32>) {
  %i = tile.make_range 0 to 32 : tensor<32xi32, #lanes>
  %s = tile.reduce %i {axis = 0 : i32} : tensor<32xi32, #lanes> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxui %a, %b : i32
    tile.yield %c : i32
  }
  tile.store %o, %s : !tile.ptr<i32>
  return
}
}
