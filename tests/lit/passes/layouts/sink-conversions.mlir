// All loads first: a conversion goes down to where its result is needed.
// RUN: tile-opt %s --tile-assign-layouts --tile-sink-conversions | FileCheck %s

module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {

// CHECK-LABEL: func.func @operands
// CHECK: %[[A:.*]] = tile.load
// CHECK-NOT: cta.convert_layout
// CHECK: %[[B:.*]] = tile.load
// CHECK-DAG: cta.convert_layout %[[A]]
// CHECK-DAG: cta.convert_layout %[[B]]
// CHECK: tile.dot
func.func @operands(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f32>) {
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %at = tile.reshape %r : tensor<1024xi32> -> tensor<32x32xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %p = tile.addptr %xs, %at : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %q = tile.addptr %ys, %at : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %a = tile.load %p : tensor<32x32x!tile.ptr<f16>>
  %b = tile.load %q : tensor<32x32x!tile.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tile.dot %a, %b, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<32x32x!tile.ptr<f32>>
  tile.store %os, %d : tensor<32x32x!tile.ptr<f32>>
  return
}
}
