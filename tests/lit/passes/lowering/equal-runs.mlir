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
}
