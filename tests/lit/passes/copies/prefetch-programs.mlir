// RUN: tile-opt %s --tile-prefetch-programs | FileCheck %s
// RUN: sed s/sm_90a/sm_80/ %s | tile-opt --tile-prefetch-programs | FileCheck %s --check-prefix=OLD
// OLD-NOT: cta.prefetch

!ptrs = tensor<1024x!tile.ptr<f16>>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// 6 MB are 3072 rows of 2 KB. The row of that program starts 3072 rows further and is as long.
// CHECK-LABEL: func.func @row
// CHECK: tile.load
// CHECK-NEXT: cta.single {
// CHECK: %[[ID:.*]] = tile.program_id 0
// CHECK: %[[N:.*]] = arith.constant 3072 : i32
// CHECK: %[[LATER:.*]] = arith.addi %[[ID]], %[[N]] : i32
// CHECK: %[[COUNT:.*]] = tile.num_programs 0
// CHECK: %[[THERE:.*]] = arith.cmpi ult, %[[LATER]], %[[COUNT]] : i32
// CHECK: scf.if %[[THERE]] {
// CHECK: %[[COLUMNS:.*]] = arith.extsi %arg1 : i32 to i64
// CHECK: arith.minsi %{{.*}}, %[[COLUMNS]] : i64
// CHECK: arith.maxsi
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: %[[LATER64:.*]] = arith.extsi %[[LATER]] : i32 to i64
// CHECK: %[[START:.*]] = arith.muli %[[LATER64]], %{{.*}} : i64
// CHECK: %[[FROM:.*]] = tile.addptr %arg0, %[[START]]
// CHECK: cta.prefetch %[[FROM]], %[[BYTES]] : !tile.ptr<f16>
// CHECK: tile.reduce
func.func @row(%x: !tile.ptr<f16>, %columns: i32, %out: !tile.ptr<f16>) {
  %id = tile.program_id 0 : i32
  %start = arith.muli %id, %columns : i32
  %row = tile.addptr %x, %start : !tile.ptr<f16>, i32
  %i = tile.make_range 0 to 1024 : tensor<1024xi32>
  %n = tile.splat %columns : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %i, %n : tensor<1024xi32>
  %rows = tile.splat %row : !tile.ptr<f16> -> !ptrs
  %p = tile.addptr %rows, %i : !ptrs, tensor<1024xi32>
  %v = tile.load %p, %mask : !ptrs
  %s = tile.reduce %v {axis = 0 : i32} : tensor<1024xf16> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  %o = tile.addptr %out, %id : !tile.ptr<f16>, i32
  tile.store %o, %s : !tile.ptr<f16>
  return
}

// What a loop reads is left alone.
// CHECK-LABEL: func.func @loop
// CHECK-NOT: cta.prefetch
// CHECK: return
func.func @loop(%x: !tile.ptr<f16>, %columns: i32, %out: !tile.ptr<f16>) {
  %c0 = arith.constant 0 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<1024xf16>
  %id = tile.program_id 0 : i32
  %start = arith.muli %id, %columns : i32
  %row = tile.addptr %x, %start : !tile.ptr<f16>, i32
  %i = tile.make_range 0 to 1024 : tensor<1024xi32>
  %n = tile.splat %columns : i32 -> tensor<1024xi32>
  %rows = tile.splat %row : !tile.ptr<f16> -> !ptrs
  %sum = scf.for %k = %c0 to %columns step %c1024 iter_args(%acc = %zero) -> (tensor<1024xf16>) : i32 {
    %ks = tile.splat %k : i32 -> tensor<1024xi32>
    %j = arith.addi %ks, %i : tensor<1024xi32>
    %mask = arith.cmpi slt, %j, %n : tensor<1024xi32>
    %p = tile.addptr %rows, %j : !ptrs, tensor<1024xi32>
    %v = tile.load %p, %mask, other %zero : !ptrs
    %a = arith.addf %acc, %v : tensor<1024xf16>
    scf.yield %a : tensor<1024xf16>
  }
  %s = tile.reduce %sum {axis = 0 : i32} : tensor<1024xf16> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  %o = tile.addptr %out, %id : !tile.ptr<f16>, i32
  tile.store %o, %s : !tile.ptr<f16>
  return
}

// Rows that memory says where they are, and what all programs load, are not asked for.
// CHECK-LABEL: func.func @elsewhere
// CHECK-NOT: cta.prefetch
// CHECK: return
func.func @elsewhere(%x: !tile.ptr<f16>, %index: !tile.ptr<i32>, %out: !tile.ptr<f16>) {
  %id = tile.program_id 0 : i32
  %at = tile.addptr %index, %id : !tile.ptr<i32>, i32
  %start = tile.load %at : !tile.ptr<i32>
  %row = tile.addptr %x, %start : !tile.ptr<f16>, i32
  %i = tile.make_range 0 to 1024 : tensor<1024xi32>
  %rows = tile.splat %row : !tile.ptr<f16> -> !ptrs
  %p = tile.addptr %rows, %i : !ptrs, tensor<1024xi32>
  %v = tile.load %p : !ptrs
  %all = tile.splat %x : !tile.ptr<f16> -> !ptrs
  %q = tile.addptr %all, %i : !ptrs, tensor<1024xi32>
  %w = tile.load %q : !ptrs
  %y = arith.addf %v, %w : tensor<1024xf16>
  %s = tile.reduce %y {axis = 0 : i32} : tensor<1024xf16> -> f16 {
  ^bb0(%l: f16, %r: f16):
    %a = arith.addf %l, %r : f16
    tile.yield %a : f16
  }
  %o = tile.addptr %out, %id : !tile.ptr<f16>, i32
  tile.store %o, %s : !tile.ptr<f16>
  return
}

// Programs that leave each other messages are in order as they are.
// CHECK-LABEL: func.func @together
// CHECK-NOT: cta.prefetch
// CHECK: return
func.func @together(%x: !tile.ptr<f32>, %out: !tile.ptr<f32>) {
  %id = tile.program_id 0 : i32
  %c1024 = arith.constant 1024 : i32
  %start = arith.muli %id, %c1024 : i32
  %row = tile.addptr %x, %start : !tile.ptr<f32>, i32
  %i = tile.make_range 0 to 1024 : tensor<1024xi32>
  %rows = tile.splat %row : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.addptr %rows, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
  %s = tile.reduce %v {axis = 0 : i32} : tensor<1024xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %old = tile.atomic_rmw fadd relaxed gpu %out, %s : !tile.ptr<f32>
  return
}

// Rows that are only moved, beside something else that is reduced, keep the memory busy by themselves.
// CHECK-LABEL: func.func @moved
// CHECK-NOT: cta.prefetch
// CHECK: return
func.func @moved(%x: !tile.ptr<f32>, %bounds: !tile.ptr<f32>, %out: !tile.ptr<f32>, %sum: !tile.ptr<f32>) {
  %id = tile.program_id 0 : i32
  %c1024 = arith.constant 1024 : i32
  %start = arith.muli %id, %c1024 : i32
  %i = tile.make_range 0 to 1024 : tensor<1024xi32>
  %all = tile.splat %bounds : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %b = tile.addptr %all, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %w = tile.load %b : tensor<1024x!tile.ptr<f32>>
  %s = tile.reduce %w {axis = 0 : i32} : tensor<1024xf32> -> f32 {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %row = tile.addptr %x, %start : !tile.ptr<f32>, i32
  %rows = tile.splat %row : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %p = tile.addptr %rows, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %p : tensor<1024x!tile.ptr<f32>>
  %to = tile.addptr %out, %start : !tile.ptr<f32>, i32
  %tos = tile.splat %to : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %q = tile.addptr %tos, %i : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %q, %v : tensor<1024x!tile.ptr<f32>>
  tile.store %sum, %s : !tile.ptr<f32>
  return
}
}
