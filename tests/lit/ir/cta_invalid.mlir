// What the cta dialect refuses, one violation a split.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// layout_c1
// expected-error@+1 {{basis vectors do not fit the sizes of the layout's dimensions}}
#a = #cta.layout<{register = [[8]], lane = [[1], [2]]} : [8]>

// -----

// expected-error@+1 {{basis vectors do not fit the sizes of the layout's dimensions}}
#a = #cta.layout<{register = [[1, 0], [1]]} : [2, 2]>

// -----

// expected-error@+1 {{basis vectors do not fit the sizes of the layout's dimensions}}
#a = #cta.layout<{register = [[1], [2]]} : [6]>

// -----

// convert_layout_c1
func.func @convert_without_layout(%x: tensor<128xf32>) {
  // expected-error@+1 {{expected blocks with a `#cta.layout` on both sides}}
  %0 = cta.convert_layout %x : tensor<128xf32> -> tensor<128xf32>
  return
}

// -----

// any_in_warp_c1
func.func @any_without_layout(%x: tensor<128xi1>) {
  // expected-error@+1 {{expected a block with a `#cta.layout`}}
  %0 = cta.any_in_warp %x : tensor<128xi1>
  return
}

// -----

// Warpgroup instructions transpose 16-bit operands only: columns are summed over here, and rows
// are contiguous.
#rows = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 4], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0], [0, 32]]} : [64, 64]>
func.func @product_across_the_sum(%x: !cta.buffer<[64, 64], f32, #rows>, %c: tensor<64x64xf32>) {
  // warpgroup_dot_c5
  // expected-error@+1 {{'cta.warpgroup_dot' op cannot read its right operand: a buffer must be a swizzled tile, contiguous along the dimension that is summed over if its elements do not have 16 bits}}
  %0 = cta.warpgroup_dot %x, %x, %c : !cta.buffer<[64, 64], f32, #rows>, <[64, 64], f32, #rows>, tensor<64x64xf32>
  return
}

// -----

#line = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
func.func @product_without_swizzle(%x: !cta.buffer<[64, 64], f16, #line>, %c: tensor<64x64xf32>) {
  // expected-error@+1 {{'cta.warpgroup_dot' op cannot read its left operand: a buffer must be a swizzled tile}}
  %0 = cta.warpgroup_dot %x, %x, %c : !cta.buffer<[64, 64], f16, #line>, <[64, 64], f16, #line>, tensor<64x64xf32>
  return
}
