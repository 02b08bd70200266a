// A mask against the end of a row is equal over whole runs of elements: the
// layout pass notes it, and a thread compares once for each run that it holds.
// RUN: tile-opt %s --tile-assign-layouts | FileCheck %s --check-prefix=NOTE
// RUN: tile-opt %s --tile-to-cta --tile-to-llvm --cse | FileCheck %s

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// NOTE-LABEL: func.func @row
// NOTE: arith.cmpi slt, {{.*}} {cta.equal_runs = array<i64: 16>}
// CHECK-LABEL: llvm.func @row
// CHECK-COUNT-2: llvm.icmp "slt"
// CHECK-NOT: llvm.icmp
// CHECK-COUNT-16: llvm.select
// CHECK: llvm.return
func.func @row(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}, %s: f16) {
  %column = tile.make_range 0 to 2048 : tensor<2048xi32>
  %end = tile.splat %n : i32 -> tensor<2048xi32>
  %mask = arith.cmpi slt, %column, %end : tensor<2048xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<2048x!tile.ptr<f16>>
  %p = tile.addptr %xs, %column : tensor<2048x!tile.ptr<f16>>, tensor<2048xi32>
  %v = tile.load %p : tensor<2048x!tile.ptr<f16>>
  %other = tile.splat %s : f16 -> tensor<2048xf16>
  %w = arith.select %mask, %v, %other : tensor<2048xi1>, tensor<2048xf16>
  tile.store %p, %w : tensor<2048x!tile.ptr<f16>>
  return
}

// Nothing is known of the end: every element is compared.
// NOTE-LABEL: func.func @unknown
// NOTE-NOT: equal_runs
// CHECK-LABEL: llvm.func @unknown
// CHECK-COUNT-16: llvm.icmp "slt"
func.func @unknown(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32, %s: f16) {
  %column = tile.make_range 0 to 2048 : tensor<2048xi32>
  %end = tile.splat %n : i32 -> tensor<2048xi32>
  %mask = arith.cmpi slt, %column, %end : tensor<2048xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<2048x!tile.ptr<f16>>
  %p = tile.addptr %xs, %column : tensor<2048x!tile.ptr<f16>>, tensor<2048xi32>
  %v = tile.load %p : tensor<2048x!tile.ptr<f16>>
  %other = tile.splat %s : f16 -> tensor<2048xf16>
  %w = arith.select %mask, %v, %other : tensor<2048xi1>, tensor<2048xf16>
  tile.store %p, %w : tensor<2048x!tile.ptr<f16>>
  return
}
// Of positions that share their quotient a thread divides one; what is left over counts up from it.
// Each run is of 16, and a thread holds two of 4.
// NOTE-LABEL: func.func @remainder
// NOTE: arith.remsi {{.*}} {cta.equal_runs = array<i64: 16>}
// CHECK-LABEL: llvm.func @remainder
// CHECK-COUNT-2: llvm.srem
// CHECK-NOT: llvm.srem
// CHECK: llvm.return
func.func @remainder(%x: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  %at = tile.make_range 0 to 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %left = arith.remsi %at, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<1024x!tile.ptr<i32>>
  %p = tile.addptr %xs, %at : tensor<1024x!tile.ptr<i32>>, tensor<1024xi32>
  tile.store %p, %left : tensor<1024x!tile.ptr<i32>>
  return
}

// How often a mask let something through is carried: elements that are alike are counted once.
// NOTE-LABEL: func.func @counted
// NOTE: arith.addi {{.*}} {cta.equal_runs = array<i64: 16>}
// CHECK-LABEL: llvm.func @counted
// CHECK: %[[ONE:.*]] = llvm.zext
// CHECK: %[[COUNT:.*]] = llvm.add %{{[0-9]+}}, %[[ONE]] : i32
// CHECK: llvm.br ^bb1(%{{[0-9]+}}, %[[COUNT]], %[[COUNT]], %[[COUNT]], %[[COUNT]], %
func.func @counted(%x: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}, %turns: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0> : tensor<1024xi32>
  %at = tile.make_range 0 to 1024 : tensor<1024xi32>
  %count = scf.for %i = %c0 to %turns step %c1 iter_args(%before = %none) -> (tensor<1024xi32>) : i32 {
    %left = arith.subi %n, %i : i32
    %end = arith.muli %left, %n : i32
    %ends = tile.splat %end : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %at, %ends : tensor<1024xi32>
    %one = arith.extui %mask : tensor<1024xi1> to tensor<1024xi32>
    %after = arith.addi %before, %one : tensor<1024xi32>
    scf.yield %after : tensor<1024xi32>
  }
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<1024x!tile.ptr<i32>>
  %p = tile.addptr %xs, %at : tensor<1024x!tile.ptr<i32>>, tensor<1024xi32>
  tile.store %p, %count : tensor<1024x!tile.ptr<i32>>
  return
}
}
