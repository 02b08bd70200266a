// What is loaded again is loaded once; loops are unrolled for it where their turns are known.
// RUN: tile-opt %s -split-input-file --tile-keep-rows | FileCheck %s
// RUN: tile-opt %s -split-input-file --tile-keep-rows=most-turns=1 | FileCheck %s --check-prefix=FEW
// RUN: tile-opt %s -split-input-file --tile-keep-rows=most-operations=8 | FileCheck %s --check-prefix=FEW

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// CHECK-LABEL: func.func @twice
// CHECK-NOT: scf.for
// CHECK: %[[A:.*]] = tile.load %{{.*}} evict = evict_first
// CHECK: %[[B:.*]] = tile.load %{{.*}} evict = evict_first
// CHECK: arith.addf %{{.*}}, %[[B]]
// CHECK-NOT: tile.load
// CHECK: tile.store %{{.*}}, %[[A]]
// CHECK: tile.store %{{.*}}, %[[B]]
// FEW-LABEL: func.func @twice
// FEW-COUNT-2: scf.for
func.func @twice(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i32
  %block = arith.constant 1024 : i32
  %end = arith.constant 2048 : i32
  %none = arith.constant dense<0.0> : tensor<1024xf32>
  %i = tile.make_range 0 to 1024 : tensor<1024xi32>
  %all = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %to = tile.splat %out : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %sum = scf.for %c = %zero to %end step %block iter_args(%s = %none) -> tensor<1024xf32> : i32 {
    %start = tile.splat %c : i32 -> tensor<1024xi32>
    %at = arith.addi %start, %i : tensor<1024xi32>
    %p = tile.addptr %all, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p evict = evict_last : tensor<1024x!tile.ptr<f32>>
    %next = arith.addf %s, %v : tensor<1024xf32>
    scf.yield %next : tensor<1024xf32>
  }
  tile.store %to, %sum : tensor<1024x!tile.ptr<f32>>
  scf.for %c = %zero to %end step %block : i32 {
    %start = tile.splat %c : i32 -> tensor<1024xi32>
    %at = arith.addi %start, %i : tensor<1024xi32>
    %p = tile.addptr %all, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p evict = evict_first : tensor<1024x!tile.ptr<f32>>
    %q = tile.addptr %to, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    tile.store %q, %v : tensor<1024x!tile.ptr<f32>>
  }
  return
}

// The second loop writes where it reads: its later turns may read that.
// CHECK-LABEL: func.func @in_place
// CHECK-COUNT-2: scf.for
func.func @in_place(%x: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i32
  %block = arith.constant 1024 : i32
  %end = arith.constant 2048 : i32
  %none = arith.constant dense<0.0> : tensor<1024xf32>
  %i = tile.make_range 0 to 1024 : tensor<1024xi32>
  %all = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %sum = scf.for %c = %zero to %end step %block iter_args(%s = %none) -> tensor<1024xf32> : i32 {
    %start = tile.splat %c : i32 -> tensor<1024xi32>
    %at = arith.addi %start, %i : tensor<1024xi32>
    %p = tile.addptr %all, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %next = arith.addf %s, %v : tensor<1024xf32>
    scf.yield %next : tensor<1024xf32>
  }
  scf.for %c = %zero to %end step %block : i32 {
    %start = tile.splat %c : i32 -> tensor<1024xi32>
    %at = arith.addi %start, %i : tensor<1024xi32>
    %p = tile.addptr %all, %at : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
    %d = arith.subf %v, %sum : tensor<1024xf32>
    tile.store %p, %d : tensor<1024x!tile.ptr<f32>>
  }
  return
}

// Volatile loads, and what something was written to since.
// CHECK-LABEL: func.func @between
// CHECK-COUNT-4: tile.load
// CHECK-NOT: tile.load
// CHECK: return
func.func @between(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>) {
  %i = tile.make_range 0 to 128 : tensor<128xi32>
  %all = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %to = tile.splat %out : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p = tile.addptr %all, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %p : tensor<128x!tile.ptr<f32>>
  tile.store %to, %a : tensor<128x!tile.ptr<f32>>
  %b = tile.load %p : tensor<128x!tile.ptr<f32>>
  %ab = arith.addf %a, %b : tensor<128xf32>
  tile.store %p, %ab : tensor<128x!tile.ptr<f32>>
  %c = tile.load %p : tensor<128x!tile.ptr<f32>>
  %d = tile.load %p {is_volatile = true} : tensor<128x!tile.ptr<f32>>
  %e = tile.load %p {is_volatile = true} : tensor<128x!tile.ptr<f32>>
  %cd = arith.addf %c, %d : tensor<128xf32>
  %cde = arith.addf %cd, %e : tensor<128xf32>
  tile.store %to, %cde : tensor<128x!tile.ptr<f32>>
  return
}
}

// -----

// 16 warps are to leave room for as many again: 24 registers of each thread, not 32.
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 16>} {
// CHECK-LABEL: func.func @long
// CHECK-COUNT-2: tile.load
func.func @long(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>) {
  %i = tile.make_range 0 to 16384 : tensor<16384xi32>
  %all = tile.splat %x : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>>
  %to = tile.splat %out : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>>
  %p = tile.addptr %all, %i : tensor<16384x!tile.ptr<f32>>, tensor<16384xi32>
  %a = tile.load %p : tensor<16384x!tile.ptr<f32>>
  tile.store %to, %a : tensor<16384x!tile.ptr<f32>>
  %b = tile.load %p : tensor<16384x!tile.ptr<f32>>
  %q = tile.addptr %to, %i : tensor<16384x!tile.ptr<f32>>, tensor<16384xi32>
  tile.store %q, %b : tensor<16384x!tile.ptr<f32>>
  return
}
}
