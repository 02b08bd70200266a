// How blocks lie where warps share the inner dimension: each has a part of it, and what is loaded moves as
// it was loaded, and is taken apart where it is.
// RUN: tile-opt %s -tile-share-inner -tile-assign-layouts | FileCheck %s
// CHECK-DAG: #[[ACC:.*]] = #cta.layout<{register = {{.*}}, lane = {{.*}}, warp = {{\[\[}}1, 0, 0], [2, 0, 0]]} : [4, 16, 16]>
// CHECK-DAG: #[[LEFT:.*]] = #cta.layout<{register = {{.*}}, lane = {{.*}}, warp = {{\[\[}}0, 64], [0, 128]]} : [16, 256]>
// CHECK-LABEL: func.func @carried
// CHECK: scf.for {{.*}} -> (tensor<4x16x16xf32, #[[ACC]]>)
// CHECK: cta.convert_layout {{.*}} -> tensor<16x256xf16, #[[LEFT]]>
// CHECK: tile.reshape {{.*}} -> tensor<16x4x64xf16
// CHECK: tile.dot {{.*}} : tensor<4x16x64xf16, {{.*}}> * tensor<4x64x16xf16, {{.*}}> -> tensor<4x16x16xf32, #[[ACC]]>
// CHECK: scf.yield
// CHECK: tile.reduce {{.*}} {axis = 0 : i32} : tensor<4x16x16xf32, #[[ACC]]> -> tensor<16x16xf32
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @carried(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %s = tile.make_range 0 to 256 : tensor<256xi32>
  %oa = tile.reshape %r : tensor<4096xi32> -> tensor<16x256xi32>
  %oc = tile.reshape %s : tensor<256xi32> -> tensor<16x16xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<16x256x!tile.ptr<f16>>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<16x16x!tile.ptr<f32>>
  %pa = tile.addptr %as, %oa : tensor<16x256x!tile.ptr<f16>>, tensor<16x256xi32>
  %pc = tile.addptr %cs, %oc : tensor<16x16x!tile.ptr<f32>>, tensor<16x16xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %x = tile.load %pa : tensor<16x256x!tile.ptr<f16>>
    %y = tile.trans %x [1, 0] : tensor<16x256xf16> -> tensor<256x16xf16>
    %d = tile.dot %x, %y, %acc : tensor<16x256xf16> * tensor<256x16xf16> -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  tile.store %pc, %sum : tensor<16x16x!tile.ptr<f32>>
  return
}
}
