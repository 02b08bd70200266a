// Rows of a loop that asks for stages: one thread brings them in bulk, or all threads copy them.
// RUN: tile-opt %s --tile-assign-layouts --tile-pipeline-loads --tile-verify-protocol | FileCheck %s
// RUN: sed 's/warps = 1/warps = 4/' %s | tile-opt --tile-assign-layouts --tile-pipeline-loads \
// RUN:   | FileCheck %s --check-prefix=FOUR

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {

// A warp has two short rows sooner by a copy of each thread than one of them starts two
// bulk copies while all others wait for it. Warps beside it would not wait.
// CHECK-LABEL: func.func @short(
// CHECK-NOT: cta.ring
// CHECK: scf.for
// CHECK: cta.async_wait
// CHECK: cta.async_copy
// CHECK: cta.async_copy
// CHECK: cta.read
// FOUR-LABEL: func.func @short(
// FOUR-NOT: cta.async_copy
// FOUR: cta.ring_bulk_copy
func.func @short(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                 %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f16>,
                 %rows: i32, %stride: i32 {tile.divisibility = 16 : i32}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %column = tile.make_range 0 to 128 : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<128x!tile.ptr<f16>>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<128x!tile.ptr<f16>>
  %outs = tile.splat %out : !tile.ptr<f16> -> tensor<128x!tile.ptr<f16>>
  scf.for %i = %zero to %rows step %one : i32 {
    %start = arith.muli %i, %stride : i32
    %starts = tile.splat %start : i32 -> tensor<128xi32>
    %at = arith.addi %starts, %column : tensor<128xi32>
    %px = tile.addptr %xs, %at : tensor<128x!tile.ptr<f16>>, tensor<128xi32>
    %py = tile.addptr %ys, %at : tensor<128x!tile.ptr<f16>>, tensor<128xi32>
    %vx = tile.load %px : tensor<128x!tile.ptr<f16>>
    %vy = tile.load %py : tensor<128x!tile.ptr<f16>>
    %sum = arith.addf %vx, %vy : tensor<128xf16>
    %to = tile.addptr %outs, %at : tensor<128x!tile.ptr<f16>>, tensor<128xi32>
    tile.store %to, %sum : tensor<128x!tile.ptr<f16>>
  } {tile.num_stages = 3 : i32}
  return
}

// A long one takes so many copies of each thread that one bulk copy is less.
// CHECK-LABEL: func.func @long(
// CHECK-NOT: cta.async_copy
// CHECK: cta.ring_bulk_copy
func.func @long(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f16>,
                %rows: i32, %stride: i32 {tile.divisibility = 16 : i32}) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %column = tile.make_range 0 to 8192 : tensor<8192xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<8192x!tile.ptr<f16>>
  %outs = tile.splat %out : !tile.ptr<f16> -> tensor<8192x!tile.ptr<f16>>
  scf.for %i = %zero to %rows step %one : i32 {
    %start = arith.muli %i, %stride : i32
    %starts = tile.splat %start : i32 -> tensor<8192xi32>
    %at = arith.addi %starts, %column : tensor<8192xi32>
    %px = tile.addptr %xs, %at : tensor<8192x!tile.ptr<f16>>, tensor<8192xi32>
    %v = tile.load %px : tensor<8192x!tile.ptr<f16>>
    %to = tile.addptr %outs, %at : tensor<8192x!tile.ptr<f16>>, tensor<8192xi32>
    tile.store %to, %v : tensor<8192x!tile.ptr<f16>>
  } {tile.num_stages = 3 : i32}
  return
}

}
