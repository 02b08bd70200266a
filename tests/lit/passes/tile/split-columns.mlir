// RUN: tile-opt %s --tile-split-columns | FileCheck %s

// Everything that the columns come from is computed in parts: pointers that a loop
// carries, masks, what is added to the sum. What is the same in all columns is not,
// and what is promised of the whole is no promise for a part.
// CHECK-LABEL: func.func @product
// CHECK-DAG: tile.make_range 0 to 32 : tensor<32xi32>
// CHECK-DAG: tile.make_range 32 to 48 : tensor<16xi32>
// CHECK-NOT: tile.hint
// CHECK: %[[SUMS:.*]]:4 = scf.for {{.*}} -> (tensor<16x32xf32>, tensor<16x16xf32>, tensor<16x32x!tile.ptr<f16>>, tensor<16x16x!tile.ptr<f16>>)
// CHECK-NOT: tensor<16x48
// CHECK: %[[LEFT:.*]] = tile.load {{.*}} : tensor<16x32x!tile.ptr<f16>>
// CHECK: %[[RIGHT:.*]] = tile.load {{.*}} : tensor<16x16x!tile.ptr<f16>>
// CHECK: tile.dot %{{.*}}, %[[LEFT]], %{{.*}} : tensor<16x16xf16> * tensor<16x32xf16> -> tensor<16x32xf32>
// CHECK: tile.dot %{{.*}}, %[[RIGHT]], %{{.*}} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
// CHECK: scf.yield
// CHECK: %[[ROWS:.*]] = tile.broadcast %{{.*}} : tensor<16x1xf32> -> tensor<16x32xf32>
// CHECK: arith.addf %[[SUMS]]#0, %[[ROWS]] : tensor<16x32xf32>
// CHECK: tile.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32x!tile.ptr<f32>>
// CHECK: tile.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x16x!tile.ptr<f32>>
// CHECK-NOT: tile.store
func.func @product(%x: tensor<16x16xf16>, %b: !tile.ptr<f16>, %bias: tensor<16x1xf32>,
                   %c: !tile.ptr<f32>, %n: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<16x48xf32>
  %step = arith.constant dense<768> : tensor<16x48xi32>
  %r = tile.make_range 0 to 48 : tensor<48xi32>
  %h = tile.hint %r {divisibility = array<i64: 48>} : tensor<48xi32>
  %row = tile.expand_dims %h {axis = 0 : i32} : tensor<48xi32> -> tensor<1x48xi32>
  %all = tile.broadcast %row : tensor<1x48xi32> -> tensor<16x48xi32>
  %p = tile.splat %b : !tile.ptr<f16> -> tensor<16x48x!tile.ptr<f16>>
  %first = tile.addptr %p, %all : tensor<16x48x!tile.ptr<f16>>, tensor<16x48xi32>
  %sum:2 = scf.for %i = %c0 to %k step %c16 iter_args(%acc = %zero, %q = %first)
      -> (tensor<16x48xf32>, tensor<16x48x!tile.ptr<f16>>) : i32 {
    %y = tile.load %q : tensor<16x48x!tile.ptr<f16>>
    %d = tile.dot %x, %y, %acc : tensor<16x16xf16> * tensor<16x48xf16> -> tensor<16x48xf32>
    %next = tile.addptr %q, %step : tensor<16x48x!tile.ptr<f16>>, tensor<16x48xi32>
    scf.yield %d, %next : tensor<16x48xf32>, tensor<16x48x!tile.ptr<f16>>
  }
  %rows = tile.broadcast %bias : tensor<16x1xf32> -> tensor<16x48xf32>
  %out = arith.addf %sum#0, %rows : tensor<16x48xf32>
  %end = tile.splat %n : i32 -> tensor<16x48xi32>
  %in = arith.cmpi slt, %all, %end : tensor<16x48xi32>
  %o = tile.splat %c : !tile.ptr<f32> -> tensor<16x48x!tile.ptr<f32>>
  %to = tile.addptr %o, %all : tensor<16x48x!tile.ptr<f32>>, tensor<16x48xi32>
  tile.store %to, %out, %in : tensor<16x48x!tile.ptr<f32>>
  return
}

// Sums that an inner loop adds to what an outer one carries, and that a second loop goes on with.
// CHECK-LABEL: func.func @nested
// CHECK: %[[OUTER:.*]]:2 = scf.for {{.*}} -> (tensor<16x32xf32>, tensor<16x16xf32>)
// CHECK: %[[INNER:.*]]:2 = scf.for {{.*}} -> (tensor<16x32xf32>, tensor<16x16xf32>)
// CHECK: scf.yield %[[INNER]]#0, %[[INNER]]#1
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[OUTER]]#0, %{{.*}} = %[[OUTER]]#1) -> (tensor<16x32xf32>, tensor<16x16xf32>)
// CHECK-NOT: tensor<16x48
func.func @nested(%x: tensor<16x16xf16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x48xf32>
  %q = tile.splat %b : !tile.ptr<f16> -> tensor<16x48x!tile.ptr<f16>>
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<16x48x!tile.ptr<f32>>
  %outer = scf.for %i = %c0 to %k step %c1 iter_args(%some = %zero) -> (tensor<16x48xf32>) : i32 {
    %inner = scf.for %j = %c0 to %k step %c1 iter_args(%acc = %some) -> (tensor<16x48xf32>) : i32 {
      %y = tile.load %q : tensor<16x48x!tile.ptr<f16>>
      %d = tile.dot %x, %y, %acc : tensor<16x16xf16> * tensor<16x48xf16> -> tensor<16x48xf32>
      scf.yield %d : tensor<16x48xf32>
    }
    tile.store %to, %inner : tensor<16x48x!tile.ptr<f32>>
    scf.yield %inner : tensor<16x48xf32>
  }
  %more = scf.for %i = %c0 to %k step %c1 iter_args(%acc = %outer) -> (tensor<16x48xf32>) : i32 {
    %y = tile.load %q : tensor<16x48x!tile.ptr<f16>>
    %d = tile.dot %x, %y, %acc : tensor<16x16xf16> * tensor<16x48xf16> -> tensor<16x48xf32>
    scf.yield %d : tensor<16x48xf32>
  }
  tile.store %to, %more : tensor<16x48x!tile.ptr<f32>>
  return
}

// As many parts as powers of two.
// CHECK-LABEL: func.func @three
// CHECK: tile.store {{.*}} : tensor<16x64x!tile.ptr<f32>>
// CHECK: tile.store {{.*}} : tensor<16x32x!tile.ptr<f32>>
// CHECK: tile.store {{.*}} : tensor<16x16x!tile.ptr<f32>>
func.func @three(%x: tensor<16x16xf16>, %c: !tile.ptr<f32>, %b: !tile.ptr<f16>) {
  %zero = arith.constant dense<0.0> : tensor<16x112xf32>
  %p = tile.splat %b : !tile.ptr<f16> -> tensor<16x112x!tile.ptr<f16>>
  %y = tile.load %p : tensor<16x112x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %zero : tensor<16x16xf16> * tensor<16x112xf16> -> tensor<16x112xf32>
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<16x112x!tile.ptr<f32>>
  tile.store %to, %d : tensor<16x112x!tile.ptr<f32>>
  return
}

// A sum over the columns needs them all: the product would be computed twice.
// CHECK-LABEL: func.func @reduced
// CHECK: tile.dot {{.*}} -> tensor<16x48xf32>
// CHECK-NOT: tile.dot
// CHECK: tile.store {{.*}} : tensor<16x48x!tile.ptr<f32>>
func.func @reduced(%x: tensor<16x16xf16>, %c: !tile.ptr<f32>, %b: !tile.ptr<f16>) -> tensor<16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x48xf32>
  %p = tile.splat %b : !tile.ptr<f16> -> tensor<16x48x!tile.ptr<f16>>
  %y = tile.load %p : tensor<16x48x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %zero : tensor<16x16xf16> * tensor<16x48xf16> -> tensor<16x48xf32>
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<16x48x!tile.ptr<f32>>
  tile.store %to, %d : tensor<16x48x!tile.ptr<f32>>
  %s = tile.reduce %d {axis = 1 : i32} : tensor<16x48xf32> -> tensor<16xf32> {
  ^bb0(%l: f32, %r: f32):
    %sum = arith.addf %l, %r : f32
    tile.yield %sum : f32
  }
  return %s : tensor<16xf32>
}

// Parts too small for an instruction; and blocks that are no product.
// CHECK-LABEL: func.func @small
// CHECK: tile.store {{.*}} : tensor<16x24x!tile.ptr<f32>>
func.func @small(%x: tensor<16x16xf16>, %c: !tile.ptr<f32>, %b: !tile.ptr<f16>) {
  %zero = arith.constant dense<0.0> : tensor<16x24xf32>
  %p = tile.splat %b : !tile.ptr<f16> -> tensor<16x24x!tile.ptr<f16>>
  %y = tile.load %p : tensor<16x24x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %zero : tensor<16x16xf16> * tensor<16x24xf16> -> tensor<16x24xf32>
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<16x24x!tile.ptr<f32>>
  tile.store %to, %d : tensor<16x24x!tile.ptr<f32>>
  return
}

// CHECK-LABEL: func.func @copy
// CHECK: tile.store {{.*}} : tensor<16x48x!tile.ptr<f32>>
func.func @copy(%a: !tile.ptr<f32>, %c: !tile.ptr<f32>) {
  %p = tile.splat %a : !tile.ptr<f32> -> tensor<16x48x!tile.ptr<f32>>
  %v = tile.load %p : tensor<16x48x!tile.ptr<f32>>
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<16x48x!tile.ptr<f32>>
  tile.store %to, %v : tensor<16x48x!tile.ptr<f32>>
  return
}
