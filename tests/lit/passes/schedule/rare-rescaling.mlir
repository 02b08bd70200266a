// RUN: tile-opt %s --tile-defer-reductions | FileCheck %s
// RUN: tile-opt %s --tile-defer-reductions=maxima=false | FileCheck %s --check-prefix OFF
// RUN: sed 's/exp2 %below/sin %below/' %s | tile-opt --tile-defer-reductions | FileCheck %s --check-prefix OFF
// What combines maxima does nothing else.
// RUN: sed 's/^      %c = arith.maxnumf %a, %b : f32/%d = arith.maxnumf %a, %b : f32\n%zero1 = arith.constant 0.0 : f32\n%c = arith.maxnumf %d, %zero1 : f32/' %s | tile-opt --tile-defer-reductions | FileCheck %s --check-prefix OFF
// OFF-NOT: any_in_warp
// Exponentials relative to the maximum less 4 are as much larger: 4 are left of the 8 that it may grow by.
// RUN: sed 's/^    %column = tile.expand_dims %now/%four = arith.constant dense<4.0> : tensor<64xf32, #rows>\n%near = arith.subf %now, %four : tensor<64xf32, #rows>\n%column = tile.expand_dims %near/' %s >%t
// RUN: tile-opt %t --tile-defer-reductions | FileCheck %s --check-prefix NEAR
// NEAR: %[[MOST:.*]] = arith.constant dense<4.000000e+00> : tensor<64x4xf32
// NEAR: arith.cmpf ogt, %{{.*}}, %[[MOST]]
// NEAR: cta.any_in_warp
// With no room left, or where sums are scaled by what is relative to another number, it stays.
// RUN: sed 's/dense<4.0>/dense<7.5>/' %t | tile-opt --tile-defer-reductions | FileCheck %s --check-prefix OFF
// RUN: sed 's/arith.subf %m, %now/arith.subf %m, %near/' %t | tile-opt --tile-defer-reductions | FileCheck %s --check-prefix OFF

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 16]>
#b = #cta.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]} : [16, 16]>
#one = #cta.layout<{register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 1]>
#rows = #cta.layout<{register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]} : [64]>

module attributes {tile.kernel = #tile.kernel<warps = 4>, tile.target = #tile.target<sm_90a>} {
// CHECK-LABEL: func.func @online
// CHECK: scf.for
// CHECK:   %[[OWN:.*]] = tile.reduce {{.*}} {axis = 1
// CHECK:   %[[ABOVE:.*]] = arith.subf %[[OWN]]
// CHECK:   %[[FAR:.*]] = arith.cmpf ogt, %[[ABOVE]]
// CHECK:   %[[ANY:.*]] = cta.any_in_warp %[[FAR]]
// CHECK:   %[[GROWN:.*]]:2 = scf.if %[[ANY]]
// CHECK:     tile.reduce %[[OWN]]
// CHECK:     arith.maxnumf
// CHECK:     math.exp2
// CHECK:   } else {
// CHECK:   math.exp2
// CHECK:   scf.if %[[ANY]]
// CHECK:     arith.mulf %{{.*}} : tensor<64x16xf32
// CHECK:   } else {
// CHECK:   tile.dot
// CHECK:   arith.maxnumf %{{.*}}, %[[OWN]] : tensor<64x4xf32
// CHECK:   scf.yield
// Behind the loop: the maximum, and the sums relative to it.
// CHECK: %[[SAME:.*]] = arith.cmpf oeq, %{{.*}}, %[[MAX:.*]] :
// CHECK: arith.select %[[SAME]]
// CHECK: tile.store %{{.*}}, %[[MAX]]
func.func @online(%n: i32, %s: tensor<64x16xf32, #acc>, %v: tensor<16x16xf32, #b>, %p: tensor<64x!tile.ptr<f32>, #rows>, %o: tensor<64x16x!tile.ptr<f32>, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #acc>
  %none = arith.constant dense<0.0> : tensor<64xf32, #rows>
  %lowest = arith.constant dense<0xFF800000> : tensor<64xf32, #rows>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %l = %none, %m = %lowest) -> (tensor<64x16xf32, #acc>, tensor<64xf32, #rows>, tensor<64xf32, #rows>) : i32 {
    %high = tile.reduce %s {axis = 1 : i32} : tensor<64x16xf32, #acc> -> tensor<64xf32, #rows> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tile.yield %c : f32
    }
    %now = arith.maxnumf %m, %high : tensor<64xf32, #rows>
    %column = tile.expand_dims %now {axis = 1 : i32} : tensor<64xf32, #rows> -> tensor<64x1xf32, #one>
    %all = tile.broadcast %column : tensor<64x1xf32, #one> -> tensor<64x16xf32, #acc>
    %below = arith.subf %s, %all : tensor<64x16xf32, #acc>
    %e = math.exp2 %below : tensor<64x16xf32, #acc>
    %grown = arith.subf %m, %now : tensor<64xf32, #rows>
    %scale = math.exp2 %grown : tensor<64xf32, #rows>
    %part = tile.reduce %e {axis = 1 : i32} : tensor<64x16xf32, #acc> -> tensor<64xf32, #rows> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    %ls = arith.mulf %l, %scale : tensor<64xf32, #rows>
    %ln = arith.addf %ls, %part : tensor<64xf32, #rows>
    %sc = tile.expand_dims %scale {axis = 1 : i32} : tensor<64xf32, #rows> -> tensor<64x1xf32, #one>
    %sa = tile.broadcast %sc : tensor<64x1xf32, #one> -> tensor<64x16xf32, #acc>
    %scaled = arith.mulf %sum, %sa : tensor<64x16xf32, #acc>
    %next = tile.dot %e, %v, %scaled : tensor<64x16xf32, #acc> * tensor<16x16xf32, #b> -> tensor<64x16xf32, #acc>
    scf.yield %next, %ln, %now : tensor<64x16xf32, #acc>, tensor<64xf32, #rows>, tensor<64xf32, #rows>
  }
  tile.store %p, %r#2 : tensor<64x!tile.ptr<f32>, #rows>
  tile.store %p, %r#1 : tensor<64x!tile.ptr<f32>, #rows>
  tile.store %o, %r#0 : tensor<64x16x!tile.ptr<f32>, #acc>
  return
}
}
