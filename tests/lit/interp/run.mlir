// RUN: tile-interp %s | FileCheck %s
// RUN: tile-interp --check %s | FileCheck %s
// Layouts change where elements are, never what they are.
// RUN: tile-opt %s --tile-to-cta | tile-interp | FileCheck %s

// CHECK-LABEL: double:
// CHECK-NEXT: arg0 = [1, 2.5, -0, inf]
// CHECK-NEXT: arg1 = [2, 5, -0, inf]
func.func @double(%x: !tile.ptr<f32> {tile.data = dense<[1.0, 2.5, -0.0, 0x7F800000]> : tensor<4xf32>},
                  %q: !tile.ptr<f32> {tile.data = dense<0.0> : tensor<4xf32>, tile.unwritten}) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %v = tile.load %xp : tensor<4x!tile.ptr<f32>>
  %w = arith.addf %v, %v : tensor<4xf32>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %qp = tile.addptr %qs, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  tile.store %qp, %w : tensor<4x!tile.ptr<f32>>
  return
}

// A grid of programs, scalars by value, printing in program order.
// CHECK-LABEL: scaled_ids:
// CHECK-NEXT: pid (0, 0, 0) id: 0
// CHECK-NEXT: pid (1, 0, 0) id: -3
// CHECK-NEXT: pid (0, 1, 0) id: -6
// CHECK-NEXT: pid (1, 1, 0) id: -9
// CHECK-NEXT: arg0 = [0, -3, -6, -9]
func.func @scaled_ids(%q: !tile.ptr<i16> {tile.data = dense<7> : tensor<4xi16>},
                      %k: i32 {tile.value = -3 : i32})
    attributes {tile.grid = array<i64: 2, 2, 1>} {
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %n = tile.num_programs 0 : i32
  %r = arith.muli %y, %n : i32
  %id = arith.addi %r, %x : i32
  %v = arith.muli %id, %k : i32
  tile.print "id" %v {hex = false, is_signed = array<i1: true>} : i32
  %h = arith.trunci %v : i32 to i16
  %p = tile.addptr %q, %id : !tile.ptr<i16>, i32
  tile.store %p, %h : !tile.ptr<i16>
  return
}
