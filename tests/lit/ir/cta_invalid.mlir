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
