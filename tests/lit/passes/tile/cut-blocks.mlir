// RUN: tile-opt %s --tile-cut-blocks | FileCheck %s
// RUN: tile-opt %s --tile-cut-blocks --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: 3 tile-cut-blocks - blocks that are loaded, changed and stored part by part

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// 512 x 512 numbers are 2048 of each thread: parts of 16 rows, each loaded, changed and stored
// before the next. The row of columns and what is the same in all rows stay in front.
// CHECK-LABEL: func.func @rows
// CHECK: %[[COLS:.*]] = tile.expand_dims %{{.*}} {axis = 0
// CHECK: %[[W:.*]] = tile.load %{{.*}} : tensor<1x512x!tile.ptr<f32>>
// CHECK-NOT: tensor<512x512
// CHECK: scf.for %[[PART:.*]] = %c0_i32 to %c32_i32 step %c1_i32
// CHECK: tile.make_range 0 to 16
// CHECK: %[[FIRST:.*]] = arith.muli %[[PART]], %c16_i32
// CHECK: tile.splat %[[FIRST]] : i32 -> tensor<16xi32>
// CHECK: tile.load %{{.*}} : tensor<16x512x!tile.ptr<f32>>
// CHECK: arith.mulf
// CHECK: tile.store %{{.*}} : tensor<16x512x!tile.ptr<f32>>
func.func @rows(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %y: !tile.ptr<f32>, %stride: i32) {
  %range = tile.make_range 0 to 512 : tensor<512xi32>
  %rows = tile.expand_dims %range {axis = 1 : i32} : tensor<512xi32> -> tensor<512x1xi32>
  %columns = tile.expand_dims %range {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
  %strides = tile.splat %stride : i32 -> tensor<512x1xi32>
  %starts = arith.muli %rows, %strides : tensor<512x1xi32>
  %a = tile.broadcast %starts : tensor<512x1xi32> -> tensor<512x512xi32>
  %b = tile.broadcast %columns : tensor<1x512xi32> -> tensor<512x512xi32>
  %offsets = arith.addi %a, %b : tensor<512x512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x512x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<512x512x!tile.ptr<f32>>
  %ws = tile.splat %w : !tile.ptr<f32> -> tensor<1x512x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offsets : tensor<512x512x!tile.ptr<f32>>, tensor<512x512xi32>
  %yp = tile.addptr %ys, %offsets : tensor<512x512x!tile.ptr<f32>>, tensor<512x512xi32>
  %wp = tile.addptr %ws, %columns : tensor<1x512x!tile.ptr<f32>>, tensor<1x512xi32>
  %wv = tile.load %wp : tensor<1x512x!tile.ptr<f32>>
  %wide = tile.broadcast %wv : tensor<1x512xf32> -> tensor<512x512xf32>
  %v = tile.load %xp : tensor<512x512x!tile.ptr<f32>>
  %r = arith.mulf %v, %wide : tensor<512x512xf32>
  tile.store %yp, %r : tensor<512x512x!tile.ptr<f32>>
  return
}

// What is stored by the pointers that it was loaded by, each element to its own place, too.
// CHECK-LABEL: func.func @in_place
// CHECK: scf.for %{{.*}} = %c0_i32 to %c8_i32 step %c1_i32
func.func @in_place(%x: !tile.ptr<f32>) {
  %range = tile.make_range 0 to 65536 : tensor<65536xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<65536x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %range : tensor<65536x!tile.ptr<f32>>, tensor<65536xi32>
  %v = tile.load %xp : tensor<65536x!tile.ptr<f32>>
  %r = arith.addf %v, %v : tensor<65536xf32>
  tile.store %xp, %r : tensor<65536x!tile.ptr<f32>>
  return
}

// By the same argument to other places, it is loaded as a whole before anything is stored.
// CHECK-LABEL: func.func @moved
// CHECK-NOT: scf.for
func.func @moved(%x: !tile.ptr<f32>) {
  %range = tile.make_range 0 to 65536 : tensor<65536xi32>
  %one = arith.constant dense<1> : tensor<65536xi32>
  %next = arith.addi %range, %one : tensor<65536xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<65536x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %range : tensor<65536x!tile.ptr<f32>>, tensor<65536xi32>
  %yp = tile.addptr %xs, %next : tensor<65536x!tile.ptr<f32>>, tensor<65536xi32>
  %v = tile.load %xp : tensor<65536x!tile.ptr<f32>>
  tile.store %yp, %v : tensor<65536x!tile.ptr<f32>>
  return
}

// Groups of 32 columns, each with its greatest number: rows of either shape are rows of the other,
// and what is stored beside them has the same parts.
// CHECK-LABEL: func.func @groups
// CHECK: scf.for %[[PART:.*]] = %c0_i32 to %c16_i32 step %c1_i32
// CHECK: arith.muli %[[PART]], %c8192_i32
// CHECK: %[[V:.*]] = tile.load %{{.*}} : tensor<8192x!tile.ptr<f32>>
// CHECK: arith.muli %[[PART]], %c256_i32
// CHECK: tile.reshape %[[V]] : tensor<8192xf32> -> tensor<256x32xf32>
// CHECK: tile.reduce %{{.*}} {axis = 1 : i32} : tensor<256x32xf32> -> tensor<256xf32>
// CHECK: tile.store %{{.*}} : tensor<256x!tile.ptr<f32>>
// CHECK: tile.store %{{.*}} : tensor<8192x!tile.ptr<f32>>
// CHECK-NOT: x131072x
func.func @groups(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %most: !tile.ptr<f32>) {
  %range = tile.make_range 0 to 131072 : tensor<131072xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<131072x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<131072x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %range : tensor<131072x!tile.ptr<f32>>, tensor<131072xi32>
  %yp = tile.addptr %ys, %range : tensor<131072x!tile.ptr<f32>>, tensor<131072xi32>
  %v = tile.load %xp : tensor<131072x!tile.ptr<f32>>
  %groups = tile.reshape %v : tensor<131072xf32> -> tensor<4096x32xf32>
  %m = tile.reduce %groups {axis = 1 : i32} : tensor<4096x32xf32> -> tensor<4096xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.maximumf %a, %b : f32
    tile.yield %t : f32
  }
  %few = tile.make_range 0 to 4096 : tensor<4096xi32>
  %ms = tile.splat %most : !tile.ptr<f32> -> tensor<4096x!tile.ptr<f32>>
  %mp = tile.addptr %ms, %few : tensor<4096x!tile.ptr<f32>>, tensor<4096xi32>
  tile.store %mp, %m : tensor<4096x!tile.ptr<f32>>
  %column = tile.expand_dims %m {axis = 1 : i32} : tensor<4096xf32> -> tensor<4096x1xf32>
  %wide = tile.broadcast %column : tensor<4096x1xf32> -> tensor<4096x32xf32>
  %q = arith.divf %groups, %wide : tensor<4096x32xf32>
  %flat = tile.reshape %q : tensor<4096x32xf32> -> tensor<131072xf32>
  tile.store %yp, %flat : tensor<131072x!tile.ptr<f32>>
  return
}

// Parts of pairs, each of one number from either half, are no parts of the halves.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: scf.for
func.func @apart(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %range = tile.make_range 0 to 131072 : tensor<131072xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<131072x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %range : tensor<131072x!tile.ptr<f32>>, tensor<131072xi32>
  %v = tile.load %xp : tensor<131072x!tile.ptr<f32>>
  %two = tile.reshape %v : tensor<131072xf32> -> tensor<2x65536xf32>
  %turned = tile.trans %two [1, 0] : tensor<2x65536xf32> -> tensor<65536x2xf32>
  %flat = tile.reshape %turned : tensor<65536x2xf32> -> tensor<131072xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<131072x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %range : tensor<131072x!tile.ptr<f32>>, tensor<131072xi32>
  tile.store %yp, %flat : tensor<131072x!tile.ptr<f32>>
  return
}

// A sum needs the whole block.
// CHECK-LABEL: func.func @summed
// CHECK-NOT: scf.for
func.func @summed(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %sum: !tile.ptr<f32>) {
  %range = tile.make_range 0 to 65536 : tensor<65536xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<65536x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<65536x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %range : tensor<65536x!tile.ptr<f32>>, tensor<65536xi32>
  %yp = tile.addptr %ys, %range : tensor<65536x!tile.ptr<f32>>, tensor<65536xi32>
  %v = tile.load %xp : tensor<65536x!tile.ptr<f32>>
  tile.store %yp, %v : tensor<65536x!tile.ptr<f32>>
  %s = tile.reduce %v {axis = 0 : i32} : tensor<65536xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  tile.store %sum, %s : !tile.ptr<f32>
  return
}

// 255 registers hold it.
// CHECK-LABEL: func.func @small
// CHECK-NOT: scf.for
func.func @small(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
  %range = tile.make_range 0 to 16384 : tensor<16384xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<16384x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %range : tensor<16384x!tile.ptr<f32>>, tensor<16384xi32>
  %yp = tile.addptr %ys, %range : tensor<16384x!tile.ptr<f32>>, tensor<16384xi32>
  %v = tile.load %xp : tensor<16384x!tile.ptr<f32>>
  tile.store %yp, %v : tensor<16384x!tile.ptr<f32>>
  return
}
}
