// What the verifiers of the tile dialect refuse, one violation a split.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @program_axis() {
  // expected-error@+1 {{attribute 'axis' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative whose maximum value is 2}}
  %0 = tile.program_id 3 : i32
  return
}

// -----

// make_range_c1
func.func @range_length() {
  // expected-error@+1 {{expected a one-dimensional result of 128 elements, got 'tensor<64xi32>'}}
  %0 = tile.make_range 0 to 128 : tensor<64xi32>
  return
}

// -----

// make_range_c1
func.func @range_rank() {
  // expected-error@+1 {{expected a one-dimensional result of 4 elements, got 'tensor<2x2xi32>'}}
  %0 = tile.make_range 0 to 4 : tensor<2x2xi32>
  return
}

// -----

// splat_c1
func.func @splat_element(%x: f32) {
  // expected-error@+1 {{expected equal element types, got 'f32' and 'tensor<4xf16>'}}
  %0 = tile.splat %x : f32 -> tensor<4xf16>
  return
}

// -----

// unsplat_c1
func.func @unsplat_many(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected a one-element block, got 'tensor<2xf32>'}}
  %0 = tile.unsplat %x : tensor<2xf32> -> f32
  return
}

// -----

// broadcast_c2
func.func @broadcast_grow(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{dimension 1 has size 2 and cannot grow to 8}}
  %0 = tile.broadcast %x : tensor<4x2xf32> -> tensor<4x8xf32>
  return
}

// -----

// broadcast_c1
func.func @broadcast_rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected operand and result of one rank, got 'tensor<4xf32>' and 'tensor<4x4xf32>'}}
  %0 = tile.broadcast %x : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

// expand_dims_c1
func.func @expand_dims_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 2 is past the end of 'tensor<4xf32>'}}
  %0 = tile.expand_dims %x {axis = 2 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

// expand_dims_c2
func.func @expand_dims_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected result of type 'tensor<1x4xf32>', got 'tensor<4x1xf32>'}}
  %0 = tile.expand_dims %x {axis = 0 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

// reshape_c1
func.func @reshape_count(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected equal element counts, got 'tensor<4xf32>' and 'tensor<8xf32>'}}
  %0 = tile.reshape %x : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// trans_c1
func.func @trans_length(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected 2 dimensions in the order, got 1}}
  %0 = tile.trans %x [0] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

// trans_c2
func.func @trans_permutation(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{order is not a permutation of 0..1}}
  %0 = tile.trans %x [1, 1] : tensor<4x2xf32> -> tensor<2x2xf32>
  return
}

// -----

// trans_c3
func.func @trans_result(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected result of type 'tensor<2x4xf32>', got 'tensor<4x2xf32>'}}
  %0 = tile.trans %x [1, 0] : tensor<4x2xf32> -> tensor<4x2xf32>
  return
}

// -----

// join_c1
func.func @join_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected result of type 'tensor<4x2xf32>', got 'tensor<2x4xf32>'}}
  %0 = tile.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----

// split_c1
func.func @split_last_dimension(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{expected a block of rank 2 or more with a last dimension of 2, got 'tensor<2x4xf32>'}}
  %a, %b = tile.split %x : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @addptr_shape(%p: tensor<4x!tile.ptr<f32>>, %o: tensor<8xi32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = tile.addptr %p, %o : tensor<4x!tile.ptr<f32>>, tensor<8xi32>
  return
}

// -----

func.func @addptr_float_offset(%p: !tile.ptr<f32>, %o: f32) {
  // expected-error@+1 {{operand #1 must be integer or block of integers, but got 'f32'}}
  %0 = tile.addptr %p, %o : !tile.ptr<f32>, f32
  return
}

// -----

func.func @load_not_a_pointer(%p: tensor<4xf32>) {
  // expected-error@+1 {{expected a pointer or a block of pointers, got 'tensor<4xf32>'}}
  %0 = tile.load %p : tensor<4xf32>
  return
}

// -----

// access_c1
func.func @load_i1(%p: !tile.ptr<i1>) {
  // expected-error@+1 {{i1 is not addressable: access bytes and compare with zero}}
  %0 = tile.load %p : !tile.ptr<i1>
  return
}

// -----

// load_c1
func.func @load_other_without_mask(%p: !tile.ptr<f32>, %o: f32) {
  // expected-error@+1 {{`other` has no meaning without a mask}}
  %0 = "tile.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tile.ptr<f32>, f32) -> f32
  return
}

// -----

// access_c3
func.func @load_mask_shape(%p: tensor<4x!tile.ptr<f32>>, %m: i1) {
  // expected-error@+1 {{expected mask of type 'tensor<4xi1>', got 'i1'}}
  %0 = "tile.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x!tile.ptr<f32>>, i1) -> tensor<4xf32>
  return
}

// -----

// access_c2
func.func @store_value(%p: tensor<4x!tile.ptr<f32>>, %v: tensor<4xf16>) {
  // expected-error@+1 {{expected value of type 'tensor<4xf32>', got 'tensor<4xf16>'}}
  "tile.store"(%p, %v) : (tensor<4x!tile.ptr<f32>>, tensor<4xf16>) -> ()
  return
}

// -----

// atomic_cas_c1
func.func @atomic_cas_compare(%p: !tile.ptr<i32>, %c: i64, %v: i32) {
  // expected-error@+1 {{expected compare value of type 'i32', got 'i64'}}
  %0 = "tile.atomic_cas"(%p, %c, %v) <{sem = #tile<sem relaxed>, scope = #tile<scope gpu>}> : (!tile.ptr<i32>, i64, i32) -> i32
  return
}

// -----

// combine_c2
func.func @reduce_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 1 is past the end of 'tensor<4xf32>'}}
  %0 = tile.reduce %x {axis = 1 : i32} : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

// reduce_c1
func.func @reduce_result(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected result of type 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = tile.reduce %x {axis = 0 : i32} : tensor<4x8xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

// combine_c3
func.func @reduce_combiner_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{combiner must take}}
  %0 = tile.reduce %x {axis = 0 : i32} : tensor<4xf32> -> f32 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

// combine_c4
func.func @reduce_combiner_yield(%x: tensor<4xf32>, %y: i32) {
  // expected-error@+1 {{combiner must end in a `tile.yield` of}}
  %0 = tile.reduce %x {axis = 0 : i32} : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %y : i32
  }
  return
}

// -----

func.func @reduce_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error@+1 {{requires the same shape for all operands}}
  %0:2 = tile.reduce %x, %y {axis = 0 : i32} : tensor<4xf32>, tensor<8xf32> -> f32, f32 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  }
  return
}

// -----

// scan_c1
func.func @scan_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected result of type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %0 = tile.scan %x {axis = 0 : i32, reverse = false} : tensor<4xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @yield_alone(%x: f32) {
  // expected-error@+1 {{expects parent op to be one of 'tile.reduce, tile.scan, tile.map_elementwise'}}
  tile.yield %x : f32
}

// -----

func.func @fp_cast_of_integers(%x: i32) {
  // expected-error@+1 {{operand #0 must be float or block of floats, but got 'i32'}}
  %0 = tile.fp_cast %x rtne : i32 -> f32
  return
}

// -----

// dot_c1
func.func @dot_rank(%a: tensor<4xf16>, %b: tensor<4x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error@+1 {{expected operands and accumulator of rank two, or all of rank three, got 'tensor<4xf16>', 'tensor<4x4xf16>' and 'tensor<4x4xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<4xf16> * tensor<4x4xf16> -> tensor<4x4xf32>
  return
}

// -----

// dot_c2
func.func @dot_inner(%a: tensor<4x8xf16>, %b: tensor<4x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error@+1 {{expected equal inner dimensions, got 'tensor<4x8xf16>' and 'tensor<4x4xf16>'}}
  %0 = tile.dot %a, %b, %c : tensor<4x8xf16> * tensor<4x4xf16> -> tensor<4x4xf32>
  return
}

// -----

// dot_c3
func.func @dot_batch(%a: tensor<2x4x8xf16>, %b: tensor<1x8x4xf16>, %c: tensor<2x4x4xf32>) {
  // expected-error@+1 {{expected an accumulator of the rows of 'tensor<2x4x8xf16>' and the columns of 'tensor<1x8x4xf16>', got 'tensor<2x4x4xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<2x4x8xf16> * tensor<1x8x4xf16> -> tensor<2x4x4xf32>
  return
}

// -----

// dot_c4
func.func @dot_types(%a: tensor<4x8xf16>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf32>) {
  // expected-error@+1 {{has no product of 'f16' and 'bf16' accumulated in 'f32'}}
  %0 = tile.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x4xbf16> -> tensor<4x4xf32>
  return
}

// -----

// dot_c4
func.func @dot_accumulator(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf16>) {
  // expected-error@+1 {{has no product of 'bf16' and 'bf16' accumulated in 'f16'}}
  %0 = tile.dot %a, %b, %c : tensor<4x8xbf16> * tensor<8x4xbf16> -> tensor<4x4xf16>
  return
}

// -----

// dot_c5
func.func @dot_precision(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error@+1 {{expected f32 operands for `precision = tf32`, got 'f16'}}
  %0 = tile.dot %a, %b, %c precision = tf32 : tensor<4x8xf16> * tensor<8x4xf16> -> tensor<4x4xf32>
  return
}

// -----

// unsplat_c2
func.func @unsplat_element(%x: tensor<1xf32>) {
  // expected-error@+1 {{expected equal element types, got 'tensor<1xf32>' and 'f16'}}
  %0 = tile.unsplat %x : tensor<1xf32> -> f16
  return
}

// -----

// broadcast_c3
func.func @broadcast_element(%x: tensor<1xf32>) {
  // expected-error@+1 {{expected equal element types, got 'tensor<1xf32>' and 'tensor<4xf16>'}}
  %0 = tile.broadcast %x : tensor<1xf32> -> tensor<4xf16>
  return
}

// -----

// reshape_c2
func.func @reshape_element(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected equal element types, got 'tensor<4xf32>' and 'tensor<2x2xf16>'}}
  %0 = tile.reshape %x : tensor<4xf32> -> tensor<2x2xf16>
  return
}

// -----

// split_c2
func.func @split_result(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{expected left result of type 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %a, %b = tile.split %x : tensor<4x2xf32> -> tensor<2xf32>
  return
}

// -----

// load_c2
func.func @load_other_type(%p: !tile.ptr<f32>, %m: i1, %o: f16) {
  // expected-error@+1 {{expected other of type 'f32', got 'f16'}}
  %0 = "tile.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!tile.ptr<f32>, i1, f16) -> f32
  return
}

// -----

// combine_c1
func.func @reduce_result_count(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected as many results as operands}}
  %0:2 = tile.reduce %x {axis = 0 : i32} : tensor<4xf32> -> f32, f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}
