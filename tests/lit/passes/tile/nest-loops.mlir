// RUN: tile-opt %s --tile-nest-loops | FileCheck %s
// RUN: tile-opt %s --tile-nest-loops --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: 2 tile-nest-loops - loops over tiles and their steps that became two

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// A loop over tiles around one over their steps. The row is known in front of the steps, the sum
// begins with zeros for each tile.
// CHECK-LABEL: func.func @tiles
// CHECK: %[[SOME:.*]] = arith.maxsi %[[STEPS:arg[0-9]+|%arg3]],
// CHECK: %[[WHOLE:.*]] = arith.divsi %{{.*}}, %[[SOME]]
// CHECK: %[[TILES:.*]] = arith.select %{{.*}}, %[[WHOLE]],
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TILES]] step %{{.*}} iter_args(%[[ROW:.*]] = %c-1_i32) -> (i32)
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c1_i32
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %arg3 step %{{.*}} iter_args(%[[PART:.*]] = %cst) -> (tensor<64xf32>)
// CHECK: arith.muli %[[NEXT]], %arg3
// CHECK: arith.addi %{{.*}}, %[[K]]
// CHECK: tile.load
// CHECK: arith.addf %[[PART]]
// CHECK-NOT: scf.if
// CHECK: scf.yield
// CHECK: tile.splat %[[NEXT]]
// CHECK: tile.store %{{.*}}, %[[SUM]]
// CHECK: scf.yield %[[NEXT]]
func.func @tiles(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %turns: i32, %steps: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant -1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %last = arith.subi %steps, %c1 : i32
  %r:3 = scf.for %i = %c0 to %turns step %c1 iter_args(%count = %none, %row = %none, %sum = %zeros) -> (i32, i32, tensor<64xf32>) : i32 {
    %end = arith.cmpi eq, %count, %last : i32
    %more = arith.addi %count, %c1 : i32
    %k = arith.select %end, %c0, %more : i32
    %first = arith.cmpi eq, %k, %c0 : i32
    %own = scf.if %first -> (i32) {
      %n = arith.addi %row, %c1 : i32
      scf.yield %n : i32
    } else {
      scf.yield %row : i32
    }
    %before = arith.muli %own, %steps : i32
    %step = arith.addi %before, %k : i32
    %start = arith.muli %step, %c64 : i32
    %starts = tile.splat %start : i32 -> tensor<64xi32>
    %offsets = arith.addi %starts, %range : tensor<64xi32>
    %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %xp = tile.addptr %xs, %offsets : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %v = tile.load %xp : tensor<64x!tile.ptr<f32>>
    %t = arith.addf %sum, %v : tensor<64xf32>
    %is_last = arith.cmpi eq, %k, %last : i32
    %next = arith.select %is_last, %zeros, %t : tensor<64xf32>
    scf.if %is_last {
      %rows = tile.splat %own : i32 -> tensor<64xi32>
      %o = arith.addi %rows, %range : tensor<64xi32>
      %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
      %yp = tile.addptr %ys, %o : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      tile.store %yp, %t : tensor<64x!tile.ptr<f32>>
    }
    scf.yield %k, %own, %next : i32, i32, tensor<64xf32>
  }
  return
}

// Each step stores: turns behind the last whole tile do something.
// CHECK-LABEL: func.func @stores
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
func.func @stores(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %turns: i32, %last: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant -1 : i32
  %zero = arith.constant 0.0 : f32
  %r:3 = scf.for %i = %c0 to %turns step %c1 iter_args(%count = %none, %row = %none, %sum = %zero) -> (i32, i32, f32) : i32 {
    %end = arith.cmpi eq, %count, %last : i32
    %more = arith.addi %count, %c1 : i32
    %k = arith.select %end, %c0, %more : i32
    %first = arith.cmpi eq, %k, %c0 : i32
    %own = scf.if %first -> (i32) {
      %n = arith.addi %row, %c1 : i32
      scf.yield %n : i32
    } else {
      scf.yield %row : i32
    }
    %xp = tile.addptr %x, %own : !tile.ptr<f32>, i32
    %v = tile.load %xp : !tile.ptr<f32>
    %t = arith.addf %sum, %v : f32
    tile.store %xp, %t : !tile.ptr<f32>
    %is_last = arith.cmpi eq, %k, %last : i32
    %next = scf.if %is_last -> (f32) {
      %yp = tile.addptr %y, %own : !tile.ptr<f32>, i32
      tile.store %yp, %t : !tile.ptr<f32>
      scf.yield %zero : f32
    } else {
      scf.yield %t : f32
    }
    scf.yield %k, %own, %next : i32, i32, f32
  }
  return
}

// What is loaded behind the store in its turn may be what was stored.
// CHECK-LABEL: func.func @loads_behind
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
func.func @loads_behind(%x: !tile.ptr<f32>, %turns: i32, %last: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant -1 : i32
  %zero = arith.constant 0.0 : f32
  %r:3 = scf.for %i = %c0 to %turns step %c1 iter_args(%count = %none, %row = %none, %sum = %zero) -> (i32, i32, f32) : i32 {
    %end = arith.cmpi eq, %count, %last : i32
    %more = arith.addi %count, %c1 : i32
    %k = arith.select %end, %c0, %more : i32
    %first = arith.cmpi eq, %k, %c0 : i32
    %own = scf.if %first -> (i32) {
      %n = arith.addi %row, %c1 : i32
      scf.yield %n : i32
    } else {
      scf.yield %row : i32
    }
    %xp = tile.addptr %x, %own : !tile.ptr<f32>, i32
    %is_last = arith.cmpi eq, %k, %last : i32
    scf.if %is_last {
      tile.store %xp, %sum : !tile.ptr<f32>
    }
    %v = tile.load %xp : !tile.ptr<f32>
    %t = arith.addf %sum, %v : f32
    scf.yield %k, %own, %t : i32, i32, f32
  }
  return
}

// A number of steps that is a constant, and what the last step alone hands on to the next tile.
// CHECK-LABEL: func.func @constant
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %c-1_i32, %[[MEAN:.*]] = %cst{{.*}}) -> (i32, f32)
// CHECK: scf.for %{{.*}} = %{{.*}} to %c8_i32
// CHECK: %[[NEW:.*]] = arith.mulf
// CHECK: tile.store %{{.*}}, %[[NEW]]
// CHECK: scf.yield %{{.*}}, %[[NEW]] : i32, f32
func.func @constant(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %turns: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = arith.constant 7 : i32
  %none = arith.constant -1 : i32
  %half = arith.constant 0.5 : f32
  %r:3 = scf.for %i = %c0 to %turns step %c1 iter_args(%count = %none, %row = %none, %sum = %half) -> (i32, i32, f32) : i32 {
    %end = arith.cmpi eq, %count, %last : i32
    %more = arith.addi %count, %c1 : i32
    %k = arith.select %end, %c0, %more : i32
    %first = arith.cmpi eq, %k, %c0 : i32
    %own = scf.if %first -> (i32) {
      %n = arith.addi %row, %c1 : i32
      scf.yield %n : i32
    } else {
      scf.yield %row : i32
    }
    %xp = tile.addptr %x, %own : !tile.ptr<f32>, i32
    %at = tile.addptr %xp, %k : !tile.ptr<f32>, i32
    %v = tile.load %at : !tile.ptr<f32>
    %t = arith.addf %sum, %v : f32
    %is_last = arith.cmpi eq, %k, %last : i32
    %next = scf.if %is_last -> (f32) {
      %m = arith.mulf %t, %half : f32
      %yp = tile.addptr %y, %own : !tile.ptr<f32>, i32
      tile.store %yp, %m : !tile.ptr<f32>
      scf.yield %m : f32
    } else {
      scf.yield %t : f32
    }
    scf.yield %k, %own, %next : i32, i32, f32
  }
  return
}

// Turns are counted as unsigned numbers, of which there may be more than signed ones.
// CHECK-LABEL: func.func @unsigned
// CHECK: scf.for unsigned
// CHECK-NOT: scf.for
// CHECK: scf.if
func.func @unsigned(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %turns: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = arith.constant 7 : i32
  %none = arith.constant -1 : i32
  %half = arith.constant 0.5 : f32
  %r:3 = scf.for unsigned %i = %c0 to %turns step %c1 iter_args(%count = %none, %row = %none, %sum = %half) -> (i32, i32, f32) : i32 {
    %end = arith.cmpi eq, %count, %last : i32
    %more = arith.addi %count, %c1 : i32
    %k = arith.select %end, %c0, %more : i32
    %first = arith.cmpi eq, %k, %c0 : i32
    %own = scf.if %first -> (i32) {
      %n = arith.addi %row, %c1 : i32
      scf.yield %n : i32
    } else {
      scf.yield %row : i32
    }
    %xp = tile.addptr %x, %own : !tile.ptr<f32>, i32
    %at = tile.addptr %xp, %k : !tile.ptr<f32>, i32
    %v = tile.load %at : !tile.ptr<f32>
    %t = arith.addf %sum, %v : f32
    %is_last = arith.cmpi eq, %k, %last : i32
    %next = scf.if %is_last -> (f32) {
      %m = arith.mulf %t, %half : f32
      %yp = tile.addptr %y, %own : !tile.ptr<f32>, i32
      tile.store %yp, %m : !tile.ptr<f32>
      scf.yield %m : f32
    } else {
      scf.yield %t : f32
    }
    scf.yield %k, %own, %next : i32, i32, f32
  }
  return
}
}
