// A loop that asks for stages has its rows copied ahead, also without products.
// RUN: tile-opt %s --tile-assign-layouts --tile-pipeline-loads --tile-verify-protocol -o %t 2>%t.remarks
// RUN: FileCheck %s --input-file %t
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=WHY
// RUN: sed 's/sm_90a/sm_80/' %s | tile-opt --tile-assign-layouts --tile-pipeline-loads 2>/dev/null \
// RUN:   | FileCheck %s --check-prefix=AMPERE

!ptrs = tensor<1024x!tile.ptr<f16>>
!row = tensor<1024xf16>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {

// One thread starts the copies of the first three iterations, as far as there are
// such; in the loop, that of the third behind once all warps have read the row.
// What is behind the end of the row was written before.
// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !tile.ptr<f16>
// CHECK: %[[RING:.*]] = cta.ring {consumers = 4 : i32, stages = 3 : i32}
// CHECK-NEXT: cta.barrier
// CHECK: %[[LENGTH:.*]] = arith.minsi
// CHECK: %[[BYTES:.*]] = arith.muli
// CHECK: cta.ring_fill %{{.*}} to 0 of %[[RING]]
// CHECK: cta.single
// CHECK:   arith.cmpi slt
// CHECK:   scf.if
// CHECK:     scf.for
// CHECK:       arith.cmpi ugt
// CHECK:       scf.if
// CHECK:         %[[SLOT:.*]] = cta.ring_acquire %[[RING]] for
// CHECK:         %[[FROM:.*]] = tile.addptr %[[X]]
// CHECK:         cta.ring_bulk_copy %[[FROM]], %{{.*}} to %[[SLOT]] at 0 of %[[RING]]
// CHECK:         cta.ring_commit
// CHECK: {cta.prologue}
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step
// CHECK-NOT: tile.load
// CHECK:   %[[FULL:.*]] = cta.ring_wait %[[RING]]
// CHECK:   %[[ROW:.*]] = cta.read %[[FULL]]
// CHECK:   cta.ring_release %[[RING]]
// CHECK:   cta.single
// CHECK:     %[[LEFT:.*]] = arith.subi %[[N]], %[[I]]
// CHECK:     %[[WIDE:.*]] = arith.extui %[[LEFT]] : i32 to i64
// CHECK:     arith.cmpi ugt, %[[WIDE]]
// CHECK:     cta.ring_bulk_copy
// CHECK:   tile.store %{{.*}}, %[[ROW]]

// Without bulk copies the threads copy the row themselves, and what masked elements
// read is put in later.
// AMPERE-LABEL: func.func @row(
// AMPERE: cta.slots {count = 3 : i32}
// AMPERE: cta.async_wait 1
// AMPERE: cta.async_copy
// AMPERE: %[[ROW:.*]] = cta.read
// AMPERE: arith.select %{{.*}}, %[[ROW]], %{{.*}}
func.func @row(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f16>,
               %first: i32, %rows: i32, %step: i32,
               %columns: i32 {tile.divisibility = 16 : i32}) {
  %column = tile.make_range 0 to 1024 : tensor<1024xi32>
  %length = tile.splat %columns : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %column, %length : tensor<1024xi32>
  %other = arith.constant dense<0xFC00> : !row
  %xs = tile.splat %x : !tile.ptr<f16> -> !ptrs
  %outs = tile.splat %out : !tile.ptr<f16> -> !ptrs
  scf.for %i = %first to %rows step %step : i32 {
    %start = arith.muli %i, %columns : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %at = arith.addi %starts, %column : tensor<1024xi32>
    %from = tile.addptr %xs, %at : !ptrs, tensor<1024xi32>
    %v = tile.load %from, %mask, other %other : !ptrs
    %to = tile.addptr %outs, %at : !ptrs, tensor<1024xi32>
    tile.store %to, %v, %mask : !ptrs
  } {tile.num_stages = 3 : i32}
  return
}

// Several rows at a time, one copy each; nothing is masked, whole slots arrive. The
// index of the rows is loaded by the thread that copies.
// CHECK-LABEL: func.func @gathered(
// CHECK: cta.single
// CHECK:   %[[WHICH:.*]] = tile.load %{{.*}} : !tile.ptr<i32>
// CHECK:   %[[SLOT:.*]] = cta.ring_acquire %[[RING:.*]] : <
// CHECK:   cta.ring_bulk_copy %{{.*}} to %[[SLOT]] at 0 of %[[RING]]
// CHECK:   cta.ring_bulk_copy %{{.*}} to %[[SLOT]] at 1024 of %[[RING]]
// CHECK: {cta.prologue}
func.func @gathered(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %index: !tile.ptr<i32>,
                    %out: !tile.ptr<f16>, %n: i32, %stride: i32 {tile.divisibility = 8 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %column = tile.make_range 0 to 512 : tensor<512xi32>
  %two = tile.make_range 0 to 2 : tensor<2xi32>
  %two_column = tile.expand_dims %two {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<2x1xi32>
  %row_at = arith.muli %two_column, %strides : tensor<2x1xi32>
  %rows = tile.broadcast %row_at : tensor<2x1xi32> -> tensor<2x512xi32>
  %column_row = tile.expand_dims %column {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
  %columns = tile.broadcast %column_row : tensor<1x512xi32> -> tensor<2x512xi32>
  %offset = arith.addi %rows, %columns : tensor<2x512xi32>
  %outs = tile.splat %out : !tile.ptr<f16> -> tensor<2x512x!tile.ptr<f16>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %p = tile.addptr %index, %i : !tile.ptr<i32>, i32
    %which = tile.load %p : !tile.ptr<i32>
    %start = arith.muli %which, %stride : i32
    %base = tile.addptr %x, %start : !tile.ptr<f16>, i32
    %bases = tile.splat %base : !tile.ptr<f16> -> tensor<2x512x!tile.ptr<f16>>
    %from = tile.addptr %bases, %offset : tensor<2x512x!tile.ptr<f16>>, tensor<2x512xi32>
    %v = tile.load %from : tensor<2x512x!tile.ptr<f16>>
    %to = tile.addptr %outs, %offset : tensor<2x512x!tile.ptr<f16>>, tensor<2x512xi32>
    tile.store %to, %v : tensor<2x512x!tile.ptr<f16>>
  } {tile.num_stages = 2 : i32}
  return
}

// Nobody asked.
// CHECK-LABEL: func.func @unasked(
// CHECK-NOT: cta.ring
// CHECK: return
func.func @unasked(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f16>,
                   %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1024 = arith.constant 1024 : i32
  %column = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> !ptrs
  %outs = tile.splat %out : !tile.ptr<f16> -> !ptrs
  scf.for %i = %c0 to %n step %c1024 : i32 {
    %starts = tile.splat %i : i32 -> tensor<1024xi32>
    %at = arith.addi %starts, %column : tensor<1024xi32>
    %from = tile.addptr %xs, %at : !ptrs, tensor<1024xi32>
    %v = tile.load %from : !ptrs
    %to = tile.addptr %outs, %at : !ptrs, tensor<1024xi32>
    tile.store %to, %v : !ptrs
  }
  return
}

// What other threads may just have written is not read by bulk copies; nor are rows
// whose ends are unknown, or change.
// CHECK-LABEL: func.func @not_bulk(
// CHECK-NOT: cta.ring_bulk_copy
// CHECK: return
// WHY: remark: the kernel also writes through the same pointer
// WHY: remark: its rows are not known to start and end at multiples of 16 bytes
// WHY: remark: its mask is not the beginning of a row, the same in every iteration
func.func @not_bulk(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                    %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f16>,
                    %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1024 = arith.constant 1024 : i32
  %column = tile.make_range 0 to 1024 : tensor<1024xi32>
  %length = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %column, %length : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> !ptrs
  %ys = tile.splat %y : !tile.ptr<f16> -> !ptrs
  %outs = tile.splat %out : !tile.ptr<f16> -> !ptrs
  %zeros = arith.constant dense<0.0> : !row
  tile.store %outs, %zeros : !ptrs
  scf.for %i = %c0 to %n step %c1024 : i32 {
    %starts = tile.splat %i : i32 -> tensor<1024xi32>
    %at = arith.addi %starts, %column : tensor<1024xi32>
    %inside = arith.cmpi slt, %at, %length : tensor<1024xi32>
    %own = tile.addptr %outs, %at : !ptrs, tensor<1024xi32>
    %a = tile.load %own : !ptrs
    %from = tile.addptr %xs, %at : !ptrs, tensor<1024xi32>
    %b = tile.load %from, %mask : !ptrs
    %other = tile.addptr %ys, %at : !ptrs, tensor<1024xi32>
    %c = tile.load %other, %inside : !ptrs
    %ab = arith.addf %a, %b : !row
    %abc = arith.addf %ab, %c : !row
    tile.store %own, %abc : !ptrs
  } {tile.num_stages = 2 : i32}
  return
}

}
