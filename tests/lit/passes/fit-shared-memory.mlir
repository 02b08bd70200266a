// The form of a kernel that fits: the steps run with all that was asked for, and again with
// less where what they make needs more shared memory than a thread block of the target has.
// RUN: tile-opt %s -split-input-file --tile-fit-shared-memory | FileCheck %s

// Both operands are staged: 128 KB.
// CHECK: module attributes {cta.kernel = #cta.kernel<sharedBytes
// CHECK-NOT: tile.no_warpgroup_dots
// CHECK-LABEL: func.func @fits
// CHECK: cta.warpgroup_dot
module attributes {tile.target = #tile.target<sm_90a>} {
func.func @fits(%a: tensor<128x256x!tile.ptr<f16>>, %b: tensor<256x128x!tile.ptr<f16>>, %c: tensor<128x128x!tile.ptr<f32>>) {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a : tensor<128x256x!tile.ptr<f16>>
  %y = tile.load %b : tensor<256x128x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %zero : tensor<128x256xf16> * tensor<256x128xf16> -> tensor<128x128xf32>
  tile.store %c, %d : tensor<128x128x!tile.ptr<f32>>
  return
}
}

// -----

// 256 KB are more than there are: warps multiply from registers.
// CHECK: module attributes {cta.kernel = #cta.kernel<sharedBytes = {{[0-9]+}}>, tile.no_warpgroup_dots
// CHECK-LABEL: func.func @too_large
// CHECK-NOT: cta.warpgroup_dot
// CHECK: tile.dot
module attributes {tile.target = #tile.target<sm_90a>} {
func.func @too_large(%a: tensor<128x512x!tile.ptr<f16>>, %b: tensor<512x128x!tile.ptr<f16>>, %c: tensor<128x128x!tile.ptr<f32>>) {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.load %a : tensor<128x512x!tile.ptr<f16>>
  %y = tile.load %b : tensor<512x128x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %zero : tensor<128x512xf16> * tensor<512x128xf16> -> tensor<128x128xf32>
  tile.store %c, %d : tensor<128x128x!tile.ptr<f32>>
  return
}
}
