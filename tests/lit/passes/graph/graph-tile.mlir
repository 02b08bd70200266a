// RUN: tile-opt %s --graph-to-kernels --graph-tile=block=128 | FileCheck %s
// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=128 rows=4" | FileCheck %s --check-prefix=ROWS
// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=128 loop" | FileCheck %s --check-prefix=LOOP
// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=128 loop stages=4" | FileCheck %s --check-prefix=AHEAD
// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=128 even" | FileCheck %s --check-prefix=EVEN

// A row is loaded once, and what lies behind its end is the least there is.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: !tile.ptr<f16> {tile.sig_index = 0 : i64}, %{{.*}}: !tile.ptr<f16>
// CHECK: arith.cmpi slt
// CHECK-COUNT-1: tile.load {{.*}} other
// CHECK-NOT: tile.load
// CHECK: arith.extf
// CHECK: tile.reduce {{.*}} {axis = 0 : i32}
// CHECK: math.exp
// The powers behind the end of the row are none.
// CHECK: arith.select
// CHECK: tile.reduce
// CHECK: arith.truncf
// CHECK: tile.store

// Four rows together are reduced along the second dimension.
// ROWS-LABEL: func.func @softmax(
// ROWS: tile.load {{.*}} : tensor<4x128x!tile.ptr<f16>>
// ROWS: tile.reduce {{.*}} {axis = 1 : i32} : tensor<4x128xf32> -> tensor<4xf32>

// Long rows: one pass for the maximum and the sum that is relative to it, which a larger
// maximum scales; one for the result.
// LOOP-LABEL: func.func @softmax(
// LOOP: scf.for {{.*}} -> (f32, tensor<128xf32>)
// LOOP: tile.reduce
// LOOP: arith.maximumf
// LOOP: %[[SCALE:.*]] = math.exp {{.*}} : f32
// LOOP: math.exp {{.*}} : tensor<128xf32>
// LOOP: %[[BY:.*]] = tile.splat %[[SCALE]]
// LOOP: arith.mulf %{{.*}}, %[[BY]]
// LOOP: scf.yield
// LOOP: tile.reduce
// LOOP: scf.for
// LOOP-NOT: tile.reduce
// LOOP: tile.store

// Of the pass that only reduces, chunks are on their way.
// AHEAD-LABEL: func.func @softmax(
// AHEAD: scf.for
// AHEAD: tile.reduce
// AHEAD: } {tile.num_stages = 4 : i32}
// AHEAD: scf.for
// AHEAD: tile.store
// AHEAD-NOT: num_stages
// AHEAD: return

// Rows of as many elements as a block need no masks.
// EVEN-LABEL: func.func @softmax(
// EVEN-NOT: arith.cmpi
// EVEN-NOT: arith.select
// EVEN: tile.store
func.func @softmax(%x: !graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16> {
  %m = graph.reduce max %x [1] : !graph.tensor<"M, N", f16> -> !graph.tensor<"M", f16>
  %m1 = graph.rearrange %m [0, -1] : !graph.tensor<"M", f16> -> !graph.tensor<"M, 1", f16>
  %d = graph.map sub(%x, %m1) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, 1", f16>) -> !graph.tensor<"M, N", f16>
  %e = graph.map exp(%d) : (!graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16>
  %s = graph.reduce sum %e [1] : !graph.tensor<"M, N", f16> -> !graph.tensor<"M", f16>
  %s1 = graph.rearrange %s [0, -1] : !graph.tensor<"M", f16> -> !graph.tensor<"M, 1", f16>
  %r = graph.map div(%e, %s1) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, 1", f16>) -> !graph.tensor<"M, N", f16>
  return %r : !graph.tensor<"M, N", f16>
}

// Arrays of one shape are one row: no division finds its place.
// CHECK-LABEL: func.func @flat(
// CHECK-NOT: arith.divsi
// CHECK: tile.load
// CHECK: tile.store
func.func @flat(%x: !graph.tensor<"B, M, N", f32>) -> !graph.tensor<"B, M, N", f32> {
  %r = graph.map relu(%x) : (!graph.tensor<"B, M, N", f32>) -> !graph.tensor<"B, M, N", f32>
  return %r : !graph.tensor<"B, M, N", f32>
}

// A product with a bias and an activation: the batch is part of the rows, the bias is
// loaded once, behind the loop.
// ROWS-LABEL: func.func @linear(
// ROWS-NOT: arith.remsi %{{.*}} : tensor
// ROWS: scf.for {{.*}} iter_args
// ROWS-COUNT-2: tile.load
// ROWS: tile.dot {{.*}} tensor<16x64xf16> * tensor<64x128xf16> -> tensor<16x128xf32>
// ROWS: scf.yield
// ROWS: tile.load
// ROWS: arith.maximumf
// ROWS: tile.store
func.func @linear(%x: !graph.tensor<"B, M, K", f16>, %w: !graph.tensor<"K, N", f16>, %b: !graph.tensor<"N", f16>) -> !graph.tensor<"B, M, N", f16> {
  %p = graph.matmul %x, %w : !graph.tensor<"B, M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"B, M, N", f16>
  %q = graph.map add(%p, %b) : (!graph.tensor<"B, M, N", f16>, !graph.tensor<"N", f16>) -> !graph.tensor<"B, M, N", f16>
  %r = graph.map relu(%q) : (!graph.tensor<"B, M, N", f16>) -> !graph.tensor<"B, M, N", f16>
  return %r : !graph.tensor<"B, M, N", f16>
}

// A program goes through its part of the rows, keeps the sums of columns beside the maximum of
// each row, and stores what it has added up.
// CHECK-LABEL: func.func @rows_and_columns_0(
// CHECK: scf.for {{.*}} -> (tensor<128xf32>)
// CHECK-COUNT-1: tile.load
// CHECK: tile.reduce
// CHECK: tile.store
// CHECK: arith.addf {{.*}} : tensor<128xf32>
// CHECK: scf.yield
// CHECK-NOT: tile.load
// CHECK: tile.store
// Rows that do not fit: the sums lie in memory, and the first row does not read them.
// LOOP-LABEL: func.func @rows_and_columns_0(
// LOOP: scf.for
// LOOP: tile.barrier
// LOOP: %[[FIRST:.*]] = arith.cmpi eq
// LOOP: scf.for
// LOOP: arith.xori %[[FIRST]]
// LOOP: tile.load
// LOOP: tile.store
// CHECK-LABEL: func.func @rows_and_columns_1(
func.func @rows_and_columns(%x: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"M", f32>, !graph.tensor<"N", f32>) {
  %m = graph.reduce max %x [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %s = graph.reduce sum %x [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N", f32>
  return %m, %s : !graph.tensor<"M", f32>, !graph.tensor<"N", f32>
}

// Elements by their indices: what lies outside is not read.
// CHECK-LABEL: func.func @rows_by_number(
// CHECK: arith.cmpi ult
// CHECK: tile.load
func.func @rows_by_number(%x: !graph.tensor<"V, D", f16>, %i: !graph.tensor<"T", i64>) -> !graph.tensor<"T, D", f16> {
  %r = graph.rearrange %i [0, -1] : !graph.tensor<"T", i64> -> !graph.tensor<"T, 1", i64>
  %c = graph.index : !graph.tensor<"D", i32>
  %g = graph.gather %x [%r, %c] {guarded} : (!graph.tensor<"V, D", f16>, !graph.tensor<"T, 1", i64>, !graph.tensor<"D", i32>) -> !graph.tensor<"T, D", f16>
  return %g : !graph.tensor<"T, D", f16>
}

// Sums so far of a row in one block; from the end, what lies behind it adds nothing.
// CHECK-LABEL: func.func @running(
// CHECK: tile.load
// CHECK: %[[S:.*]] = tile.scan {{.*}} {axis = 0 : i32, reverse = false}
// CHECK: tile.store {{.*}}%[[S]]
// ROWS-LABEL: func.func @running(
// ROWS: tile.scan {{.*}} {axis = 1 : i32, reverse = false} : tensor<4x128xf32>
// Of a long row each chunk adds what those before it add up to.
// LOOP-LABEL: func.func @running(
// LOOP: scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (f32)
// LOOP: arith.select
// LOOP: tile.scan
// LOOP: %[[CHUNK:.*]] = tile.reduce
// LOOP: %[[NEXT:.*]] = arith.addf %[[BEFORE]], %[[CHUNK]]
// LOOP: tile.splat %[[BEFORE]]
// LOOP: tile.store
// LOOP: scf.yield %[[NEXT]]
func.func @running(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %s = graph.scan sum %x 1 : !graph.tensor<"M, N", f32>
  return %s : !graph.tensor<"M, N", f32>
}

// The largest so far: of nothing it is -inf, in front of the row and behind its end.
// CHECK-LABEL: func.func @largest(
// CHECK: tile.scan
// CHECK: arith.maximumf
// LOOP-LABEL: func.func @largest(
// LOOP-DAG: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// LOOP: scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %[[NONE]])
// LOOP: arith.constant dense<0xFF800000>
// LOOP: arith.select
// LOOP: tile.scan
// LOOP: arith.maximumf
// LOOP: %[[CHUNK:.*]] = tile.reduce
// LOOP: %[[NEXT:.*]] = arith.maximumf %[[BEFORE]], %[[CHUNK]]
// LOOP: scf.yield %[[NEXT]]
func.func @largest(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %s = graph.scan max %x 1 : !graph.tensor<"M, N", f32>
  return %s : !graph.tensor<"M, N", f32>
}

// From the end: chunks come the last one first.
// CHECK-LABEL: func.func @from_the_end(
// CHECK: arith.select
// CHECK: tile.scan {{.*}} {axis = 0 : i32, reverse = true}
// LOOP-LABEL: func.func @from_the_end(
// LOOP: scf.for %[[TURN:[^ ]*]]
// LOOP: %[[START:.*]] = arith.subi %{{.*}}, %[[TURN]]
// LOOP: tile.splat %[[START]]
// LOOP: tile.scan {{.*}} reverse = true
func.func @from_the_end(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32> {
  %s = graph.scan sum %x 1 {reverse} : !graph.tensor<"M, N", f32>
  return %s : !graph.tensor<"M, N", f32>
}

// What is written where it was read is read by the thread that writes it: of a block that has
// rows, the first, not by all that hold the line.
// ROWS-LABEL: func.func @one_row_added(
// ROWS: scf.yield
// ROWS: tile.load {{.*}} : tensor<16x128x!tile.ptr<f16>>
// ROWS: tile.store {{.*}} : tensor<16x128x!tile.ptr<f16>>
func.func @one_row_added(%y: !graph.tensor<"1, N", f16>, %x: !graph.tensor<"1, K", f16>, %w: !graph.tensor<"K, N", f16>) -> !graph.tensor<"1, N", f16> attributes {graph.updates = array<i64: 0>} {
  %p = graph.matmul %x, %w : !graph.tensor<"1, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"1, N", f16>
  %s = graph.map add(%y, %p) : (!graph.tensor<"1, N", f16>, !graph.tensor<"1, N", f16>) -> !graph.tensor<"1, N", f16>
  return %s : !graph.tensor<"1, N", f16>
}

// What is combined in parts beside it is read before the turn's rows are written, too: where a
// block is one number, all threads read it.
// CHECK-LABEL: func.func @summed_before_0(
// CHECK: scf.for
// CHECK: tile.load
// CHECK: arith.mulf
// CHECK: tile.barrier
// CHECK-NOT: tile.load
// CHECK: tile.store
// CHECK-NOT: tile.load
// CHECK: scf.yield
func.func @summed_before(%x: !graph.tensor<"M, N", f32>, %y: !graph.tensor<"M, N", f32>) -> (!graph.tensor<"", f32>, !graph.tensor<"M, N", f32>) attributes {graph.updates = array<i64: 0>} {
  %p = graph.map mul(%x, %x) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %t = graph.reduce sum %p [0, 1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"", f32>
  %s = graph.map sub(%x, %y) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  return %t, %s : !graph.tensor<"", f32>, !graph.tensor<"M, N", f32>
}

// Three channels beside each other would be columns of blocks of 128: pixels are, and channels are rows.
// ROWS-LABEL: func.func @channels(
// ROWS: tile.load {{.*}} : tensor<4x128x!tile.ptr<f32>>
// ROWS: tile.load {{.*}} : tensor<4x1x!tile.ptr<f32>>
func.func @channels(%x: !graph.tensor<"N, P, 3", f32>, %m: !graph.tensor<"3", f32>) -> !graph.tensor<"N, 3, P", f32> {
  %d = graph.map sub(%x, %m) : (!graph.tensor<"N, P, 3", f32>, !graph.tensor<"3", f32>) -> !graph.tensor<"N, P, 3", f32>
  %t = graph.rearrange %d [0, 2, 1] : !graph.tensor<"N, P, 3", f32> -> !graph.tensor<"N, 3, P", f32>
  return %t : !graph.tensor<"N, 3, P", f32>
}
