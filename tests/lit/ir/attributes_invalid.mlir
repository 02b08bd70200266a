// What ops carry besides their own attributes is verified: its name, its type, its place.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{has an attribute that no pass knows: `tile.num_wraps`}}
module attributes {tile.num_wraps = 4 : i32} {}

// -----

// expected-error @below {{attribute `tile.fp_fusion` must be a bool}}
module attributes {tile.fp_fusion = "no"} {}

// -----

// expected-error @below {{cannot carry `cta.by_turns`}}
module attributes {cta.by_turns} {}

// -----

func.func @loop(%n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-error @below {{attribute `tile.num_stages` must be an i32}}
  scf.for %i = %zero to %n step %one : i32 {
  } {tile.num_stages = 3 : i64}
  return
}

// -----

// expected-error @below {{cannot carry `tile.persistent`}}
func.func @parameter(%n: i32 {tile.persistent}) {
  return
}

// -----

// expected-error @below {{attribute `tile.divisibility` must be an i32}}
func.func @divisible(%n: i32 {tile.divisibility = 16 : i64}) {
  return
}

// -----

// expected-error @below {{did you mean `sm_90`}}
module attributes {tile.target = #tile.target<sm_90b>} {}

// -----

// kernel_c1
// expected-error @below {{`warps` must be from 1 to 32, got 64}}
module attributes {tile.kernel = #tile.kernel<warps = 64>} {}

// -----

// expected-error @below {{there are no warp roles `king`}}
// expected-error @below {{failed to parse Tile_KernelAttr parameter 'roles'}}
module attributes {tile.kernel = #tile.kernel<roles = king>} {}

// -----

// cta_kernel_c1
// expected-error @below {{`groups` and `cluster` must be at least 1}}
module attributes {cta.kernel = #cta.kernel<groups = 0>} {}

// -----

// kernel_c2
// expected-error @below {{`stages` must not be negative, got -1}}
module attributes {tile.kernel = #tile.kernel<stages = -1>} {}

// -----

// kernel_c3
// expected-error @below {{`ctas` must not be negative, got -2}}
module attributes {tile.kernel = #tile.kernel<ctas = -2>} {}

// -----

// cta_kernel_c2
// expected-error @below {{bytes must not be negative}}
module attributes {cta.kernel = #cta.kernel<groupBytes = -16>} {}

// -----

func.func @f(%x: tensor<64x64xf32>) {
  // expected-error @below {{attribute `cta.threads_of_result` must be an i32, a power of two up to 32}}
  %0 = "tile.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  }) {cta.threads_of_result = 12 : i32} : (tensor<64x64xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @f(%x: tensor<64xf32>) {
  // expected-error @below {{cannot carry `cta.threads_of_result`}}
  %0 = arith.addf %x, %x {cta.threads_of_result = 8 : i32} : tensor<64xf32>
  return
}

// -----

// expected-error @below {{attribute `tile.desc_part` must be `base`, `shape` or `stride`}}
func.func @part(%n: i32 {tile.desc_part = "stirde"}) {
  return
}

// -----

// expected-error @below {{attribute `tile.num_programs` must be an i32, an axis of the grid}}
func.func @axis(%n: i32 {tile.num_programs = 3 : i32}) {
  return
}

// -----

func.func @f(%x: tensor<64xf32>) {
  // expected-error @below {{attribute `cta.equal_runs` must be an array of i64, powers of two}}
  %0 = arith.addf %x, %x {cta.equal_runs = array<i64: 24>} : tensor<64xf32>
  return
}

// -----

func.func @f(%p: tensor<64x!tile.ptr<f32>>) {
  // expected-error @below {{attribute `cta.mask_run` must be an i32, a power of two}}
  %0 = tile.load %p {cta.mask_run = 3 : i32} : tensor<64x!tile.ptr<f32>>
  return
}
