// What a loop stores to memory that it loads from, and later turns do not load, keeps nobody from
// copying ahead.
// RUN: tile-opt %s --tile-assign-layouts --tile-pipeline-loads --tile-verify-protocol | FileCheck %s
// RUN: sed 's/sm_90a/sm_80/' %s | tile-opt --tile-assign-layouts --tile-pipeline-loads \
// RUN:   | FileCheck %s --check-prefix=AMPERE

module attributes {tile.load_ahead, tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {

// A block further on each turn; the sum goes behind the last one.
// CHECK-LABEL: func.func @forward(
// CHECK: cta.ring {
// CHECK: scf.for
// CHECK: cta.ring_wait
// CHECK-NOT: tile.load
// CHECK: tile.store
// AMPERE-LABEL: func.func @forward(
// AMPERE: cta.slots
// AMPERE: cta.async_copy
func.func @forward(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %first = tile.addptr %xs, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<1024xf32>) : i32 {
    %start = arith.muli %i, %c1024 : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %p = tile.addptr %first, %starts : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %next = arith.addf %sum, %v : tensor<1024xf32>
    tile.store %p, %sum : tensor<1024x!tile.ptr<f32>>
    scf.yield %next : tensor<1024xf32>
  }
  %end = arith.muli %n, %c1024 : i32
  %ends = tile.splat %end : i32 -> tensor<1024xi32>
  %last = tile.addptr %first, %ends : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %last, %all : tensor<1024x!tile.ptr<f32>>
  return
}

// Backward, by pointers that the loop carries.
// CHECK-LABEL: func.func @backward(
// CHECK: cta.ring {
// CHECK: scf.for
// CHECK: cta.ring_wait
// CHECK-NOT: tile.load
// CHECK: tile.store
// AMPERE-LABEL: func.func @backward(
// AMPERE: cta.slots
// AMPERE: cta.async_copy
func.func @backward(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %first = tile.addptr %xs, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %zeros = arith.constant dense<0> : tensor<1024xi32>
  %end = arith.muli %n, %c1024 : i32
  %ends = tile.splat %end : i32 -> tensor<1024xi32>
  %last = tile.addptr %first, %ends : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %back = tile.splat %c1024 : i32 -> tensor<1024xi32>
  %down = arith.subi %zeros, %back : tensor<1024xi32>
  %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %q = %last) -> (tensor<1024xf32>, tensor<1024x!tile.ptr<f32>>) : i32 {
    %p = tile.addptr %q, %down : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %next = arith.addf %sum, %v : tensor<1024xf32>
    tile.store %p, %sum : tensor<1024x!tile.ptr<f32>>
    scf.yield %next, %p : tensor<1024xf32>, tensor<1024x!tile.ptr<f32>>
  }
  return
}

// By half a block: a turn loads what the one before has stored.
// CHECK-LABEL: func.func @half(
// CHECK-NOT: cta.
// CHECK: tile.store
// AMPERE-LABEL: func.func @half(
// AMPERE-NOT: cta.
// AMPERE: tile.store
func.func @half(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %first = tile.addptr %xs, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<1024xf32>) : i32 {
    %start = arith.muli %i, %c512 : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %p = tile.addptr %first, %starts : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %next = arith.addf %sum, %v : tensor<1024xf32>
    tile.store %p, %sum : tensor<1024x!tile.ptr<f32>>
    scf.yield %next : tensor<1024xf32>
  }
  return
}

// What a turn has stored, it loads.
// CHECK-LABEL: func.func @stored_first(
// CHECK-NOT: cta.
// CHECK: tile.store
// AMPERE-LABEL: func.func @stored_first(
// AMPERE-NOT: cta.
// AMPERE: tile.store
func.func @stored_first(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %first = tile.addptr %xs, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<1024xf32>) : i32 {
    %start = arith.muli %i, %c1024 : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %p = tile.addptr %first, %starts : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    tile.store %p, %sum : tensor<1024x!tile.ptr<f32>>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %next = arith.addf %sum, %v : tensor<1024xf32>
    scf.yield %next : tensor<1024xf32>
  }
  return
}

// Always the same block.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: cta.
// CHECK: tile.store
// AMPERE-LABEL: func.func @stays(
// AMPERE-NOT: cta.
// AMPERE: tile.store
func.func @stays(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %first = tile.addptr %xs, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<1024xf32>) : i32 {
    %start = arith.muli %i, %c0 : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %p = tile.addptr %first, %starts : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %next = arith.addf %sum, %v : tensor<1024xf32>
    tile.store %p, %sum : tensor<1024x!tile.ptr<f32>>
    scf.yield %next : tensor<1024xf32>
  }
  return
}

// Sweeps over the same memory: bulk copies would not see what threads stored before; copies that
// threads start do.
// CHECK-LABEL: func.func @sweeps(
// CHECK-NOT: cta.ring
// CHECK: cta.async_copy
// AMPERE-LABEL: func.func @sweeps(
// AMPERE: cta.async_copy
func.func @sweeps(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c512 = arith.constant 512 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf32>
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %first = tile.addptr %xs, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  scf.for %sweep = %c0 to %c512 step %c1 : i32 {
    %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<1024xf32>) : i32 {
      %start = arith.muli %i, %c1024 : i32
      %starts = tile.splat %start : i32 -> tensor<1024xi32>
      %p = tile.addptr %first, %starts : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
      %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
      %next = arith.addf %sum, %v : tensor<1024xf32>
      tile.store %p, %sum : tensor<1024x!tile.ptr<f32>>
      scf.yield %next : tensor<1024xf32>
    }
  }
  return
}

}
