// Loops without products whose turns store, wait for other threads or are long load ahead where programs
// are few; elsewhere the module says up to how many programs that would pay.
// RUN: tile-opt %s --tile-assign-layouts --tile-pipeline-loads | FileCheck %s --check-prefix=MANY
// RUN: sed 's/module attributes {/&tile.load_ahead, /' %s \
// RUN:   | tile-opt --tile-assign-layouts --tile-pipeline-loads --tile-verify-protocol | FileCheck %s
// RUN: sed 's/module attributes {/&tile.load_ahead, /; s/sm_90a/sm_80/' %s \
// RUN:   | tile-opt --tile-assign-layouts --tile-pipeline-loads | FileCheck %s --check-prefix=AMPERE

// MANY: module attributes {{.*}}tile.gains_ahead = 4 : i32
// MANY-NOT: cta.ring
// MANY-NOT: cta.slots

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {

// A row of 128 bytes a turn: as many turns ahead as are worth it, by bulk copies; the number
// beside it comes a turn before.
// CHECK-LABEL: func.func @row(
// CHECK: cta.ring {consumers = 4 : i32, stages = 8 : i32}
// CHECK: %[[FIRST:.*]] = tile.load %{{.*}} : !tile.ptr<f32>
// CHECK: scf.for {{.*}} iter_args({{.*}}%[[NOW:[a-z0-9]+]] = %[[FIRST]]
// CHECK: cta.ring_wait
// CHECK: arith.mulf
// AMPERE-LABEL: func.func @row(
// Two bytes a thread are less than its own copies take.
// AMPERE-NOT: cta.
// AMPERE: scf.for {{.*}} iter_args
func.func @row(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %s: !tile.ptr<f32>, %out: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %start = arith.muli %i, %c64 : i32
    %starts = tile.splat %start : i32 -> tensor<64xi32>
    %at = arith.addi %starts, %r : tensor<64xi32>
    %p = tile.addptr %xs, %at : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %v = tile.load %p : tensor<64x!tile.ptr<f16>>
    %sp = tile.addptr %s, %i : !tile.ptr<f32>, i32
    %f = tile.load %sp : !tile.ptr<f32>
    %fs = tile.splat %f : f32 -> tensor<64xf32>
    %w = arith.extf %v : tensor<64xf16> to tensor<64xf32>
    %y = arith.mulf %w, %fs : tensor<64xf32>
    %o = tile.addptr %os, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    tile.store %o, %y : tensor<64x!tile.ptr<f32>>
  }
  return
}

// 4 KB a turn: five stages have 16 KB under way.
// CHECK-LABEL: func.func @block(
// CHECK: cta.ring {consumers = 4 : i32, stages = 5 : i32}
// AMPERE-LABEL: func.func @block(
// AMPERE: cta.slots {count = 5 : i32}
// AMPERE: cta.async_wait 3
func.func @block(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %start = arith.muli %i, %c1024 : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %at = arith.addi %starts, %r : tensor<1024xi32>
    %p = tile.addptr %xs, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %o = tile.addptr %os, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    tile.store %o, %v : tensor<1024x!tile.ptr<f32>>
  }
  return
}

// Nothing is known of where rows start: two turns ahead, in registers.
// CHECK-LABEL: func.func @bytes(
// CHECK-NOT: cta.
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[B:.*]] = tile.load
// CHECK: scf.for {{.*}} iter_args(%[[NOW:[a-z0-9]+]] = %[[A]], %[[NEXT:[a-z0-9]+]] = %[[B]])
// CHECK: %[[THIRD:.*]] = tile.load
// CHECK: tile.store %{{.*}}, %[[NOW]]
// CHECK: scf.yield %[[NEXT]], %[[THIRD]]
func.func @bytes(%x: !tile.ptr<i8>, %out: !tile.ptr<i8>, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tile.make_range 0 to 128 : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>>
  %os = tile.splat %out : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %start = arith.muli %i, %stride : i32
    %starts = tile.splat %start : i32 -> tensor<128xi32>
    %at = arith.addi %starts, %r : tensor<128xi32>
    %p = tile.addptr %xs, %at : tensor<128x!tile.ptr<i8>>, tensor<128xi32>
    %v = tile.load %p : tensor<128x!tile.ptr<i8>>
    %o = tile.addptr %os, %at : tensor<128x!tile.ptr<i8>>, tensor<128xi32>
    tile.store %o, %v : tensor<128x!tile.ptr<i8>>
  }
  return
}

// What a turn stores the next one loads; a few turns are not worth a start; what only adds up
// the assembler unrolls; and where a loop goes on from what it has read, nobody knows it ahead.
// CHECK-LABEL: func.func @not(
// CHECK-NOT: iter_args
// CHECK-NOT: cta.ring
// CHECK-NOT: cta.slots
// CHECK: return
func.func @not(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ahead = tile.splat %c64 : i32 -> tensor<64xi32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %start = arith.muli %i, %c64 : i32
    %starts = tile.splat %start : i32 -> tensor<64xi32>
    %at = arith.addi %starts, %r : tensor<64xi32>
    %p = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p : tensor<64x!tile.ptr<f32>>
    %next = tile.addptr %p, %ahead : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    tile.store %next, %v : tensor<64x!tile.ptr<f32>>
  }
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    %start = arith.muli %i, %c64 : i32
    %starts = tile.splat %start : i32 -> tensor<64xi32>
    %at = arith.addi %starts, %r : tensor<64xi32>
    %p = tile.addptr %xs, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %p : tensor<64x!tile.ptr<f32>>
    %o = tile.addptr %os, %at : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    tile.store %o, %v : tensor<64x!tile.ptr<f32>>
  }
  return
}
// Nothing is stored, and yet the assembler does not unroll: a turn is long.
// CHECK-LABEL: func.func @long(
// CHECK: cta.ring {consumers = 4 : i32, stages = 5 : i32}
// AMPERE-LABEL: func.func @long(
// AMPERE: cta.slots {count = 5 : i32}
func.func @long(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<1024xf32>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%b = %none) -> (tensor<1024xf32>) : i32 {
    %start = arith.muli %i, %c1024 : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %at = arith.addi %starts, %r : tensor<1024xi32>
    %p = tile.addptr %xs, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %m0 = arith.mulf %v, %b : tensor<1024xf32>
    %m1 = arith.mulf %m0, %b : tensor<1024xf32>
    %m2 = arith.mulf %m1, %b : tensor<1024xf32>
    %m3 = arith.mulf %m2, %b : tensor<1024xf32>
    %m4 = arith.mulf %m3, %b : tensor<1024xf32>
    %m5 = arith.mulf %m4, %b : tensor<1024xf32>
    scf.yield %m5 : tensor<1024xf32>
  }
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %o = tile.addptr %os, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %o, %sum : tensor<1024x!tile.ptr<f32>>
  return
}

// A short one it does.
// CHECK-LABEL: func.func @short(
// CHECK-NOT: cta.ring
// CHECK: return
func.func @short(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  %none = arith.constant dense<0.0> : tensor<1024xf32>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%b = %none) -> (tensor<1024xf32>) : i32 {
    %start = arith.muli %i, %c1024 : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %at = arith.addi %starts, %r : tensor<1024xi32>
    %p = tile.addptr %xs, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %m = arith.addf %v, %b : tensor<1024xf32>
    scf.yield %m : tensor<1024xf32>
  }
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %o = tile.addptr %os, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %o, %sum : tensor<1024x!tile.ptr<f32>>
  return
}
}
