// What the layout pass refuses.
// RUN: tile-opt %s --split-input-file --tile-assign-layouts --verify-diagnostics -o /dev/null

func.func @odd_size() {
  // expected-error @below {{dimensions of a block must be powers of two, got 'tensor<48xi32>'}}
  %0 = tile.make_range 0 to 48 : tensor<48xi32>
  return
}

// -----

// expected-error @below {{the number of warps must be a power of two, got 3}}
module attributes {tile.kernel = #tile.kernel<warps = 3>} {}
