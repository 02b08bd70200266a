// RUN: tile-opt %s --graph-to-kernels "--graph-tile=block=2048 loop=true" | FileCheck %s

// A row that is too long for registers is gone through once: powers are relative to the maximum so
// far. What is read besides, the element at the label, is loaded before the loop, not waited for
// behind it. What is loaded as -inf behind the end has no power, and need not be cleared.
// CHECK-LABEL: func.func @losses(
// CHECK-SAME: %{{[a-z0-9]+}}: !tile.ptr<f16> {{.*}}, %[[LABELS:[a-z0-9]+]]: !tile.ptr<i64>
// CHECK: tile.addptr %[[LABELS]]
// CHECK: tile.load %{{.*}} : !tile.ptr<i64>
// CHECK: tile.load %{{.*}}, %{{.*}} : !tile.ptr<f16>
// CHECK: scf.for
// CHECK: tile.load %{{.*}} : tensor<2048x!tile.ptr<f16>>
// CHECK: tile.reduce
// CHECK: math.exp %{{.*}} : tensor<2048xf32>
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK-NOT: tile.load
// CHECK: tile.store
func.func @losses(%x: !graph.tensor<"M, N", f16>, %labels: !graph.tensor<"M", i64>) -> !graph.tensor<"M", f32> {
  %top = graph.reduce max %x [1] : !graph.tensor<"M, N", f16> -> !graph.tensor<"M", f32>
  %column = graph.rearrange %top [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %apart = graph.map sub(%x, %column) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %power = graph.map exp(%apart) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %sum = graph.reduce sum %power [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  %log = graph.map log(%sum) : (!graph.tensor<"M", f32>) -> !graph.tensor<"M", f32>
  %all = graph.map add(%top, %log) : (!graph.tensor<"M", f32>, !graph.tensor<"M", f32>) -> !graph.tensor<"M", f32>
  %row = graph.index : !graph.tensor<"M", i32>
  %own = graph.gather %x[%row, %labels] {guarded} : (!graph.tensor<"M, N", f16>, !graph.tensor<"M", i32>, !graph.tensor<"M", i64>) -> !graph.tensor<"M", f16>
  %loss = graph.map sub(%all, %own) : (!graph.tensor<"M", f32>, !graph.tensor<"M", f16>) -> !graph.tensor<"M", f32>
  return %loss : !graph.tensor<"M", f32>
}

// Powers times something else are cleared: that may be anything there.
// CHECK-LABEL: func.func @weighted(
// CHECK: scf.for
// CHECK: math.exp %{{.*}} : tensor<2048xf32>
// CHECK: arith.select {{.*}} tensor<2048xi1>, tensor<2048xf32>
// CHECK: scf.yield
func.func @weighted(%x: !graph.tensor<"M, N", f16>, %w: !graph.tensor<"N", f16>) -> !graph.tensor<"M", f32> {
  %top = graph.reduce max %x [1] : !graph.tensor<"M, N", f16> -> !graph.tensor<"M", f32>
  %column = graph.rearrange %top [0, -1] : !graph.tensor<"M", f32> -> !graph.tensor<"M, 1", f32>
  %apart = graph.map sub(%x, %column) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, 1", f32>) -> !graph.tensor<"M, N", f32>
  %power = graph.map exp(%apart) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
  %times = graph.map mul(%power, %w) : (!graph.tensor<"M, N", f32>, !graph.tensor<"N", f16>) -> !graph.tensor<"M, N", f32>
  %sum = graph.reduce sum %times [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  return %sum : !graph.tensor<"M", f32>
}
