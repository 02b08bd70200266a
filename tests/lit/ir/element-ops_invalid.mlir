// What the verifiers of descriptor and element operations refuse, one violation
// a split.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// descriptor_c1
func.func @descriptor_rank(%p: !tile.ptr<f16>, %i: i32, %s: i64) {
  // expected-error@+1 {{expected 2 offsets, sizes and strides, got 1, 2 and 2}}
  %a = tile.descriptor_load %p[%i] of [%i, %i] by [%s, %s] : !tile.ptr<f16> -> tensor<8x32xf16>
  return
}

// -----

// descriptor_c2
func.func @descriptor_element(%p: !tile.ptr<f16>, %i: i32, %s: i64, %v: tensor<8xf32>) {
  // expected-error@+1 {{expected a block of 'f16', got 'tensor<8xf32>'}}
  tile.descriptor_store %p[%i] of [%i] by [%s], %v : !tile.ptr<f16>, tensor<8xf32>
  return
}

// -----

// descriptor_load_c1
func.func @descriptor_nan(%p: !tile.ptr<i32>, %i: i32, %s: i64) {
  // expected-error@+1 {{padding with NaN needs floats}}
  %a = tile.descriptor_load %p[%i] of [%i] by [%s] padding = nan : !tile.ptr<i32> -> tensor<8xi32>
  return
}

// -----

// descriptor_rows_c1
func.func @descriptor_rows(%p: !tile.ptr<f16>, %i: i32, %s: i64, %r: tensor<8xi32>) {
  // expected-error@+1 {{expected a two-dimensional block with one row index each}}
  %a = tile.descriptor_gather %p[%r, %i] of [%i, %i] by [%s, %s] : !tile.ptr<f16>, tensor<8xi32> -> tensor<16x32xf16>
  return
}

// -----

// gather_c2
func.func @gather_shape(%x: tensor<4x8xf32>, %i: tensor<2x8xi32>) {
  // expected-error@+1 {{operand and indices differ in dimension 0}}
  %0 = tile.gather %x[%i] {axis = 1 : i32} : tensor<4x8xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  return
}

// -----

// gather_c1
func.func @gather_rank(%x: tensor<8xf32>, %i: tensor<2x8xi32>) {
  // expected-error@+1 {{expected operand and indices of one rank above 1}}
  %0 = tile.gather %x[%i] {axis = 1 : i32} : tensor<8xf32>, tensor<2x8xi32> -> tensor<2x8xf32>
  return
}

// -----

// histogram_c1
func.func @histogram_rank(%x: tensor<4x8xi32>) {
  // expected-error@+1 {{operand and result have one dimension}}
  %0 = tile.histogram %x : tensor<4x8xi32> -> tensor<8xi32>
  return
}

// -----

// map_elementwise_c2
func.func @map_arguments(%x: tensor<8xf32>) {
  // expected-error@+1 {{the function must take 'f32', 'f32', got 'f32'}}
  %0 = tile.map_elementwise %x {pack = 2 : i32} : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%a: f32):
    tile.yield %a, %a : f32, f32
  }
  return
}

// -----

// map_elementwise_c3
func.func @map_results(%x: tensor<8xf32>) {
  // expected-error@+1 {{the function must end in a `tile.yield` of 'i32'}}
  %0 = tile.map_elementwise %x {pack = 1 : i32} : tensor<8xf32> -> tensor<8xi32> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

// elementwise_c1
func.func @asm_shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{operands and results must be blocks of one shape, or scalars}}
  %0 = tile.inline_asm "", "=f,f,f" (%x, %y) {pack = 1 : i32} : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// descriptor_c3
func.func @descriptor_i1(%p: !tile.ptr<i1>, %i: i32, %s: i64) {
  // expected-error@+1 {{i1 is not addressable}}
  %a = tile.descriptor_load %p[%i] of [%i] by [%s] : !tile.ptr<i1> -> tensor<8xi1>
  return
}

// -----

// gather_c3
func.func @gather_result(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{expected a result like the indices with the operand's elements, got 'tensor<8xf32>'}}
  %0 = tile.gather %x[%i] {axis = 0 : i32} : tensor<8xf32>, tensor<4xi32> -> tensor<8xf32>
  return
}

// -----

// map_elementwise_c1
func.func @map_nothing(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs operands and results}}
  "tile.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    tile.yield
  }) : (tensor<8xf32>) -> ()
  return
}

// -----

// extern_elementwise_c1
func.func @extern_scalar_result(%x: tensor<8xf32>, %y: f32) {
  // expected-error@+1 {{operands and results must be blocks of one shape, or scalars}}
  %0 = tile.extern_elementwise "f" from "" (%x, %y) : (tensor<8xf32>, f32) -> f32
  return
}
