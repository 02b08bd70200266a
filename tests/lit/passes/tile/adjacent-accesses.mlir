// RUN: tile-opt %s --tile-adjacent-accesses | FileCheck %s
// RUN: tile-opt %s --tile-adjacent-accesses --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: 11 tile-adjacent-accesses - loads and stores that are one with their neighbours

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Pairs, the second first: a row of twice as many elements, taken apart, put together and stored.
// CHECK-LABEL: func.func @pairs
// CHECK: %[[V:.*]] = tile.load %{{.*}}, %{{.*}} {tile.joined} : tensor<256x!tile.ptr<f32>>
// CHECK: %[[R:.*]] = tile.reshape %[[V]] : tensor<256xf32> -> tensor<128x2xf32>
// CHECK: %[[A:.*]], %[[B:.*]] = tile.split %[[R]]
// CHECK: %[[J:.*]] = tile.join %[[B]], %[[A]]
// CHECK: %[[W:.*]] = tile.reshape %[[J]] : tensor<128x2xf32> -> tensor<256xf32>
// CHECK: tile.store %{{.*}}, %[[W]], %{{.*}} {tile.joined}
// CHECK-NOT: tile.store
func.func @pairs(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %two = arith.constant dense<2> : tensor<128xi32>
  %one = arith.constant dense<1> : tensor<128xi32>
  %i = tile.make_range 0 to 128 : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<128xi32>
  %at = arith.muli %i, %two : tensor<128xi32>
  %next = arith.addi %at, %one : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %pb = tile.addptr %xs, %next : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %b = tile.load %pb, %mask : tensor<128x!tile.ptr<f32>>
  %pa = tile.addptr %xs, %at : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %pa, %mask : tensor<128x!tile.ptr<f32>>
  %qa = tile.addptr %ys, %at : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %qa, %b, %mask : tensor<128x!tile.ptr<f32>>
  %qb = tile.addptr %ys, %next : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %qb, %a, %mask : tensor<128x!tile.ptr<f32>>
  return
}

// Four numbers of each row that is looked up: a vector each.
// CHECK-LABEL: func.func @looked_up
// CHECK: tile.load %{{.*}} {tile.joined} : tensor<128x4x!tile.ptr<f32>>
// CHECK-COUNT-3: tile.split
// CHECK-NOT: tile.load
func.func @looked_up(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %row: tensor<128xi32>) -> tensor<128xf32> {
  %four = arith.constant dense<4> : tensor<128xi32>
  %one = arith.constant dense<1> : tensor<128xi32>
  %two = arith.constant dense<2> : tensor<128xi32>
  %three = arith.constant dense<3> : tensor<128xi32>
  %at = arith.muli %row, %four : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p0 = tile.addptr %xs, %at : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %p1 = tile.addptr %p0, %one : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %p2 = tile.addptr %p0, %two : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %p3 = tile.addptr %p0, %three : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %p0 : tensor<128x!tile.ptr<f32>>
  %b = tile.load %p1 : tensor<128x!tile.ptr<f32>>
  %c = tile.load %p2 : tensor<128x!tile.ptr<f32>>
  %d = tile.load %p3 : tensor<128x!tile.ptr<f32>>
  %ab = arith.addf %a, %b : tensor<128xf32>
  %cd = arith.addf %c, %d : tensor<128xf32>
  %s = arith.mulf %ab, %cd : tensor<128xf32>
  return %s : tensor<128xf32>
}

// Three to a row fill memory without gaps, but not by vectors: a fourth that is not stored.
// CHECK-LABEL: func.func @threes

// CHECK: %[[M:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<128x4xi32>
// CHECK: tile.store %{{.*}}, %{{.*}}, %[[M]] {tile.joined} : tensor<128x4x!tile.ptr<f32>>
func.func @threes(%y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %v: tensor<128xf32>) {
  %three = arith.constant dense<3> : tensor<128xi32>
  %one = arith.constant dense<1> : tensor<128xi32>
  %two = arith.constant dense<2> : tensor<128xi32>
  %i = tile.make_range 0 to 128 : tensor<128xi32>
  %at = arith.muli %i, %three : tensor<128xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p0 = tile.addptr %ys, %at : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %p1 = tile.addptr %p0, %one : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %p2 = tile.addptr %p0, %two : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %p0, %v : tensor<128x!tile.ptr<f32>>
  tile.store %p1, %v : tensor<128x!tile.ptr<f32>>
  tile.store %p2, %v : tensor<128x!tile.ptr<f32>>
  return
}

// What lies along the block anyway; pairs of which the first is not aligned; and pairs between which
// something is stored.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-6: tile.load
// CHECK-NOT: tile.joined
func.func @apart(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32>) -> (tensor<128xf32>, tensor<128xf32>, tensor<128xf32>) {
  %one = arith.constant dense<1> : tensor<128xi32>
  %two = arith.constant dense<2> : tensor<128xi32>
  %i = tile.make_range 0 to 128 : tensor<128xi32>
  %j = arith.addi %i, %one : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p0 = tile.addptr %xs, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %p1 = tile.addptr %xs, %j : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %p0 : tensor<128x!tile.ptr<f32>>
  %b = tile.load %p1 : tensor<128x!tile.ptr<f32>>
  %at = arith.muli %i, %two : tensor<128xi32>
  %q0 = tile.addptr %ys, %at : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %q1 = tile.addptr %q0, %one : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %c = tile.load %q0 : tensor<128x!tile.ptr<f32>>
  %d = tile.load %q1 : tensor<128x!tile.ptr<f32>>
  %r0 = tile.addptr %xs, %at : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %r1 = tile.addptr %r0, %one : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %e = tile.load %r0 : tensor<128x!tile.ptr<f32>>
  tile.store %q0, %a : tensor<128x!tile.ptr<f32>>
  %f = tile.load %r1 : tensor<128x!tile.ptr<f32>>
  %ab = arith.addf %a, %b : tensor<128xf32>
  %cd = arith.addf %c, %d : tensor<128xf32>
  %ef = arith.addf %e, %f : tensor<128xf32>
  return %ab, %cd, %ef : tensor<128xf32>, tensor<128xf32>, tensor<128xf32>
}
}
