// RUN: tile-opt %s --split-input-file --tile-skip-masks | FileCheck %s
// Masks that are a small part of a turn stay.
// RUN: tile-opt %s --split-input-file --tile-skip-masks=share=0.9 | FileCheck %s --check-prefix=SMALL --implicit-check-not=scf.if
// SMALL: func.func @causal

#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#row = #cta.layout<{register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]} : [64]>
#rows = #cta.layout<{register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 1]>
#column = #cta.layout<{register = [[1], [8], [16], [32]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]]} : [64]>
#columns = #cta.layout<{register = [[0, 1], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]]} : [1, 64]>
#left = #cta.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 16]>
#right = #cta.layout<{register = [[1, 0], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]} : [16, 64]>

module attributes {tile.kernel = #tile.kernel<warps = 4>, tile.target = #tile.target<sm_90a>} {
// The last row of a turn's columns is known to be no later than the first row: what may wrap is asked for.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[FIRST:[a-z0-9]*]]: i32, %{{[a-z0-9]*}}: tensor
// CHECK: scf.for %[[N:[a-z0-9]*]] =
// CHECK:   %[[S:.*]] = tile.dot
// CHECK:   %[[ROW:.*]] = arith.extsi %[[FIRST]] : i32 to i64
// CHECK:   %[[LASTROW:.*]] = arith.addi %[[ROW]], %{{.*}} : i64
// CHECK:   %[[INTYPE:.*]] = arith.cmpi sle, %[[LASTROW]]
// CHECK:   %[[AT:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK:   %[[C63:.*]] = arith.constant 63 : i64
// CHECK:   %[[LAST:.*]] = arith.addi %[[AT]], %[[C63]] : i64
// CHECK:   %[[INTYPETOO:.*]] = arith.cmpi sle, %[[LAST]]
// CHECK:   %[[BOTH:.*]] = arith.andi %[[INTYPE]], %[[INTYPETOO]]
// CHECK:   %[[BEFORE:.*]] = arith.cmpi sle, %[[LAST]], %[[ROW]]
// CHECK:   %[[ALL:.*]] = arith.andi %[[BOTH]], %[[BEFORE]]
// CHECK-NOT: tensor<64x64xi1
// CHECK:   %[[MASKED:.*]] = scf.if %[[ALL]]
// CHECK-NEXT: scf.yield %[[S]]
// CHECK:   } else {
// CHECK:     arith.cmpi sge, %{{.*}} : tensor<64x64xi32
// CHECK:     arith.select
// CHECK:   }
// CHECK:   arith.addf %{{.*}}, %[[MASKED]]
func.func @causal(%n: i32, %first: i32, %q: tensor<64x16xf16, #left>, %k: tensor<16x64xf16, #right>) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %lowest = arith.constant dense<0xFF800000> : tensor<64x64xf32, #acc>
  %i = tile.make_range 0 to 64 : tensor<64xi32, #row>
  %j = tile.make_range 0 to 64 : tensor<64xi32, #column>
  %start = tile.splat %first : i32 -> tensor<64xi32, #row>
  %row = arith.addi %start, %i : tensor<64xi32, #row>
  %r1 = tile.expand_dims %row {axis = 1 : i32} : tensor<64xi32, #row> -> tensor<64x1xi32, #rows>
  %r = tile.broadcast %r1 : tensor<64x1xi32, #rows> -> tensor<64x64xi32, #acc>
  %sum = scf.for %at = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = tile.dot %q, %k, %zero : tensor<64x16xf16, #left> * tensor<16x64xf16, #right> -> tensor<64x64xf32, #acc>
    %from = tile.splat %at : i32 -> tensor<64xi32, #column>
    %column = arith.addi %from, %j : tensor<64xi32, #column>
    %c1 = tile.expand_dims %column {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #columns>
    %c = tile.broadcast %c1 : tensor<1x64xi32, #columns> -> tensor<64x64xi32, #acc>
    %seen = arith.cmpi sge, %r, %c : tensor<64x64xi32, #acc>
    %y = arith.select %seen, %x, %lowest : tensor<64x64xi1, #acc>, tensor<64x64xf32, #acc>
    %next = arith.addf %s, %y : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  return %sum : tensor<64x64xf32, #acc>
}

// Numbers that a mask chooses and that are added: the same addition on both ways, of 0 on one, with the product
// that it adds to. The mask that is false everywhere leaves all, too.
// CHECK-LABEL: func.func @added
// CHECK: scf.for
// CHECK:   %[[WHOLE:.*]] = scf.if
// CHECK:     %[[SCALED:.*]] = arith.mulf
// CHECK:     arith.addf %[[SCALED]], %[[NOTHING:.*]] : tensor<64x64xf32
// CHECK:   } else {
// CHECK:     arith.cmpi slt
// CHECK:     %[[CHOSEN:.*]] = arith.select %{{.*}}, %{{.*}}, %[[NOTHING]]
// CHECK:     %[[SCALED:.*]] = arith.mulf
// CHECK:     arith.addf %[[SCALED]], %[[CHOSEN]]
func.func @added(%n: i32, %end: i32, %scale: f32, %q: tensor<64x16xf16, #left>, %k: tensor<16x64xf16, #right>) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %low = arith.constant dense<-1.0e6> : tensor<64x64xf32, #acc>
  %by = tile.splat %scale : f32 -> tensor<64x64xf32, #acc>
  %limit = tile.splat %end : i32 -> tensor<64x64xi32, #acc>
  %j = tile.make_range 0 to 64 : tensor<64xi32, #column>
  %sum = scf.for %at = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = tile.dot %q, %k, %zero : tensor<64x16xf16, #left> * tensor<16x64xf16, #right> -> tensor<64x64xf32, #acc>
    %from = tile.splat %at : i32 -> tensor<64xi32, #column>
    %column = arith.addi %from, %j : tensor<64xi32, #column>
    %c1 = tile.expand_dims %column {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #columns>
    %c = tile.broadcast %c1 : tensor<1x64xi32, #columns> -> tensor<64x64xi32, #acc>
    %hidden = arith.cmpi slt, %limit, %c : tensor<64x64xi32, #acc>
    %bias = arith.select %hidden, %low, %zero : tensor<64x64xi1, #acc>, tensor<64x64xf32, #acc>
    %scaled = arith.mulf %x, %by : tensor<64x64xf32, #acc>
    %y = arith.addf %scaled, %bias : tensor<64x64xf32, #acc>
    %next = arith.addf %s, %y : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  return %sum : tensor<64x64xf32, #acc>
}

// The author has cut the loop already; and a mask that is loaded may be anything.
// CHECK-LABEL: func.func @cut
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func @loaded
// CHECK-NOT: scf.if
func.func @cut(%n: i32, %end: i32, %q: tensor<64x16xf16, #left>, %k: tensor<16x64xf16, #right>) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %limit = tile.splat %end : i32 -> tensor<64x64xi32, #acc>
  %j = tile.make_range 0 to 64 : tensor<64xi32, #column>
  %most = scf.for %at = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = tile.dot %q, %k, %zero : tensor<64x16xf16, #left> * tensor<16x64xf16, #right> -> tensor<64x64xf32, #acc>
    %next = arith.addf %s, %x : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  %sum = scf.for %at = %n to %end step %c64 iter_args(%s = %most) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = tile.dot %q, %k, %zero : tensor<64x16xf16, #left> * tensor<16x64xf16, #right> -> tensor<64x64xf32, #acc>
    %from = tile.splat %at : i32 -> tensor<64xi32, #column>
    %column = arith.addi %from, %j : tensor<64xi32, #column>
    %c1 = tile.expand_dims %column {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #columns>
    %c = tile.broadcast %c1 : tensor<1x64xi32, #columns> -> tensor<64x64xi32, #acc>
    %seen = arith.cmpi slt, %c, %limit : tensor<64x64xi32, #acc>
    %y = arith.select %seen, %x, %zero : tensor<64x64xi1, #acc>, tensor<64x64xf32, #acc>
    %next = arith.addf %s, %y : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  return %sum : tensor<64x64xf32, #acc>
}
func.func @loaded(%n: i32, %p: tensor<64x64x!tile.ptr<i8>, #acc>, %q: tensor<64x16xf16, #left>, %k: tensor<16x64xf16, #right>) -> tensor<64x64xf32, #acc> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %none = arith.constant dense<0> : tensor<64x64xi8, #acc>
  %sum = scf.for %at = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %x = tile.dot %q, %k, %zero : tensor<64x16xf16, #left> * tensor<16x64xf16, #right> -> tensor<64x64xf32, #acc>
    %m = tile.load %p : tensor<64x64x!tile.ptr<i8>, #acc>
    %seen = arith.cmpi ne, %m, %none : tensor<64x64xi8, #acc>
    %y = arith.select %seen, %x, %zero : tensor<64x64xi1, #acc>, tensor<64x64xf32, #acc>
    %next = arith.addf %s, %y : tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  return %sum : tensor<64x64xf32, #acc>
}
}
