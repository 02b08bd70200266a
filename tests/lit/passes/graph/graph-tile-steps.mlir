// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=1024 parts=8" | FileCheck %s

// Programs share each row: a kernel for each pass over it. What one has found of its chunks lies
// among what the others have, and the next one combines it: sums of powers relative to the maximum
// of a part, to that of the row.
// CHECK-LABEL: func.func @softmax_step0(
// CHECK-SAME: %{{[a-z0-9]+}}: !tile.ptr<f16> {{.*}}, %[[TOPS:[a-z0-9]+]]: !tile.ptr<f32> {{.*}}, %[[SUMS:[a-z0-9]+]]: !tile.ptr<f32>
// CHECK: tile.program_id 1
// CHECK: %[[FROM:.*]] = arith.muli %{{.*}}, %c1024_i32 : i32
// CHECK: scf.for %{{.*}} = %[[FROM]] to %{{.*}} step %c8192_i32
// CHECK: math.exp
// CHECK: scf.yield
// CHECK: tile.addptr %[[TOPS]]
// CHECK: tile.store %{{.*}} : !tile.ptr<f32>
// CHECK: tile.addptr %[[SUMS]]
// CHECK: tile.store %{{.*}} : !tile.ptr<f32>
// CHECK-LABEL: func.func @softmax(
// CHECK-COUNT-2: tile.load %{{.*}} : tensor<8x!tile.ptr<f32>>
// CHECK: tile.reduce
// CHECK: math.exp %{{.*}} : tensor<8xf32>
// CHECK: tile.reduce
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.store %{{.*}} : tensor<1024x!tile.ptr<f16>>
// CHECK-NOT: tile.store
func.func @softmax(%x: !graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16> {
  %top = graph.reduce max %x [1] : !graph.tensor<"M, N", f16> -> !graph.tensor<"M", f32>
  %column = graph.rearrange %top [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %apart = graph.map sub(%x, %column) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %power = graph.map exp(%apart) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %sum = graph.reduce sum %power [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %sums = graph.rearrange %sum [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %r = graph.map div(%power, %sums) : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f16>
  return %r : !graph.tensor<"M, N", f16>
}

// Of what is only found there is one program for each row in the end, which goes along none.
// CHECK-LABEL: func.func @mean_step0(
// CHECK: scf.for
// CHECK-LABEL: func.func @mean(
// CHECK-NOT: scf.for
// CHECK-NOT: tile.program_id 1
// CHECK: tile.load %{{.*}} : tensor<8x!tile.ptr<f32>>
// CHECK: tile.store
func.func @mean(%x: !graph.tensor<"M, N", f16>, %n: !graph.tensor<"M", f16>) -> !graph.tensor<"M", f16> {
  %sum = graph.reduce sum %x [1] : !graph.tensor<"M, N", f16> -> !graph.tensor<"M", f32>
  %r = graph.map div(%sum, %n) : (!graph.tensor<"M", f32>, !graph.tensor<"M", f16>) -> !graph.tensor<"M", f16>
  return %r : !graph.tensor<"M", f16>
}

// Sums that go on from chunk to chunk take two steps: each part of a row is added up, of chunks beside each other, and what
// the parts before the own add up to is where the second step goes on.
// CHECK-LABEL: func.func @running_step0(
// CHECK: tile.program_id 1
// CHECK: scf.for
// CHECK-NOT: tile.scan
// CHECK: tile.reduce
// CHECK: tile.store
// CHECK-LABEL: func.func @running(
// CHECK: %[[PARTS:.*]] = tile.load
// CHECK: %[[BEFORE:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: tile.reduce %[[BEFORE]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.scan
// CHECK: tile.store
func.func @running(%x: !graph.tensor<"M, N", f16>) -> !graph.tensor<"M, N", f16> {
  %s = graph.scan sum %x 1 : !graph.tensor<"M, N", f16>
  return %s : !graph.tensor<"M, N", f16>
}

// A reduction of what goes on along the row is no such thing.
// CHECK-LABEL: func.func @highest(
// CHECK-NOT: tile.program_id 1
// CHECK-NOT: func.func
func.func @highest(%x: !graph.tensor<"M, N", f32>) -> !graph.tensor<"M", f32> {
  %s = graph.scan sum %x 1 : !graph.tensor<"M, N", f32>
  %m = graph.reduce max %s [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  return %m : !graph.tensor<"M", f32>
}
