// What asynchronous operations, their types and attributes refuse, one violation a split.
// How rings are used: passes/verify-protocol.mlir.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

#image = #cta.layout<{offset = [[0, 1], [0, 2], [1, 0]]} : [2, 4]>
// buffer_c1
// expected-error@+1 {{expected an invertible layout from `offset` to dimensions of the sizes 4, 4}}
func.func private @buffer_shape(!cta.buffer<[4, 4], f16, #image>)

// -----

#copies = #cta.layout<{offset = [[1], [0]]} : [2]>
// expected-error@+1 {{expected an invertible layout from `offset`}}
func.func private @buffer_copies(!cta.buffer<[2], f16, #copies>)

// -----

// ring_type_c1
// expected-error@+1 {{expected slots of one buffer or more, got 'f16'}}
func.func private @ring_of_numbers(!cta.ring<f16>)

// -----

// sum_c1
// expected-error@+1 {{expected terms of a coefficient and parameters from 0 on, got array<i64: 1, -2>}}
#sum = #cta.sum<[[1, -2]]>

// -----

#one = #cta.sum<[[1]]>
// map_c1
// expected-error@+1 {{expected one to five sizes, as many entries of the box and one stride less, got 2, 1 and 1}}
#map = #cta.map<base = 0, f16, sizes = [#one, #one], strides = [#one], box = [8], swizzle = 0>

// -----

#one = #cta.sum<[[1]]>
// map_c2
// expected-error@+1 {{expected a box of 1 to 256 elements in each dimension, got 512}}
#map = #cta.map<base = 0, f16, sizes = [#one], strides = [], box = [512], swizzle = 0>

// -----

#one = #cta.sum<[[1]]>
// map_c3
// expected-error@+1 {{expected a swizzle of 0, or of 32, 64 or 128 bytes and no wider box, got 32}}
#map = #cta.map<base = 0, f16, sizes = [#one], strides = [], box = [32], swizzle = 32>

// -----

#one = #cta.sum<[[1]]>
// map_c4
// expected-error@+1 {{expected the number of a parameter as base, got -1}}
#map = #cta.map<base = -1, f16, sizes = [#one], strides = [], box = [8], swizzle = 0>

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
// tma_c1
func.func @tma_starts(%map: !cta.tensor_map, %i: i32) {
  // expected-error@+1 {{expected one start for each dimension of the map}}
  %a = cta.tma_load %map[%i, %i] dims [0] : !cta.buffer<[4], f32, #line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
// tma_c2
func.func @tma_dimension(%map: !cta.tensor_map, %i: i32) {
  // expected-error@+1 {{dimension 1 is not one of the block's}}
  %a = cta.tma_load %map[%i] dims [1] : !cta.buffer<[4], f32, #line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
// tma_c3
func.func @tma_twice(%map: !cta.tensor_map, %i: i32) {
  // expected-error@+1 {{expected dimension 0 of the block along one dimension of the map, got 2}}
  %a = cta.tma_load %map[%i, %i] dims [0, 0] : !cta.buffer<[4], f32, #line>
  return
}

// -----

#one = #cta.sum<[[1]]>
#map = #cta.map<base = 0, f32, sizes = [#one], strides = [], box = [8], swizzle = 0>
#line = #cta.layout<{offset = [[1], [2]]} : [4]>
// tma_c4
func.func @tma_box(%p: !tile.ptr<f32>, %map: !cta.tensor_map {cta.tensor_map = #map}, %i: i32) {
  // expected-error@+1 {{expected a map of 1 dimensions of 'f32' in boxes that the block falls into}}
  %a = cta.tma_load %map[%i] dims [0] : !cta.buffer<[4], f32, #line>
  return
}

// -----

#one = #cta.sum<[[1]]>
#map = #cta.map<base = 0, f16, sizes = [#one], strides = [], box = [4], swizzle = 0>
#line = #cta.layout<{offset = [[1], [2]]} : [4]>
func.func @tma_elements(%p: !tile.ptr<f16>, %map: !cta.tensor_map {cta.tensor_map = #map}, %i: i32) {
  // expected-error@+1 {{expected a map of 1 dimensions of 'f32'}}
  %a = cta.tma_load %map[%i] dims [0] : !cta.buffer<[4], f32, #line>
  return
}

// -----

#one = #cta.sum<[[1]]>
#whole = #cta.map<base = 0, f32, sizes = [#one], strides = [], box = [4], swizzle = 0>
#halves = #cta.map<base = 0, f32, sizes = [#one], strides = [], box = [2], swizzle = 0>
#line = #cta.layout<{offset = [[1], [2]]} : [4]>
// tma_c5
func.func @tma_choice(%p: !tile.ptr<f32>, %a: !cta.tensor_map {cta.tensor_map = #whole},
                      %b: !cta.tensor_map {cta.tensor_map = #halves}, %first: i1, %i: i32) {
  %map = arith.select %first, %a, %b : !cta.tensor_map
  // expected-error@+1 {{expected maps that copy alike, got}}
  %x = cta.tma_load %map[%i] dims [0] : !cta.buffer<[4], f32, #line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
// tma_store_c1
func.func @tma_store_layout(%x: tensor<8xf32>, %map: !cta.tensor_map, %i: i32) {
  // expected-error@+1 {{expected an invertible layout from `offset` to the dimensions of 'tensor<8xf32>'}}
  cta.tma_store %x, %map[%i] dims [0] staged #line : tensor<8xf32>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
// stage_c1
func.func @stage_elements(%x: tensor<4xf16>) {
  // expected-error@+1 {{expected a buffer of the shape and elements of 'tensor<4xf16>'}}
  %a = cta.stage %x : tensor<4xf16> -> !cta.buffer<[4], f32, #line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
func.func @ring_without_slots() {
  // expected-error@+1 {{attribute 'stages' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %r = cta.ring {stages = 0 : i32, consumers = 4 : i32} : !cta.ring<!line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// ring_slot_c1
func.func @slot_types(%r: !cta.ring<!line>) {
  // expected-error@+1 {{expected the buffers of}}
  %a, %b = cta.ring_wait %r : !cta.ring<!line> -> !line, !line
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
func.func @slot_types_acquired(%r: !cta.ring<!line>) {
  // expected-error@+1 {{expected the buffers of}}
  %a, %b = cta.ring_acquire %r : !cta.ring<!line> -> !line, !line
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
#long = #cta.layout<{offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256]]} : [512]>
!line = !cta.buffer<[4], f32, #line>
!other = !cta.buffer<[512], f32, #long>
// ring_copy_c1
func.func @ring_copy_buffer(%map: !cta.tensor_map, %i: i32, %a: !other, %r: !cta.ring<!line>) {
  // expected-error@+1 {{expected a buffer of}}
  cta.ring_copy %map[%i] dims [0] to %a of %r : !other, !cta.ring<!line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// ring_bulk_copy_c1
func.func @bulk_pointee(%p: !tile.ptr<f16>, %n: i32, %a: !line, %r: !cta.ring<!line>) {
  // expected-error@+1 {{expected a pointer to elements of}}
  cta.ring_bulk_copy %p, %n to %a at 0 of %r : !tile.ptr<f16>, !line, !cta.ring<!line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// ring_bulk_copy_c2
func.func @bulk_offset(%p: !tile.ptr<f32>, %n: i32, %a: !line, %r: !cta.ring<!line>) {
  // expected-error@+1 {{expected an offset that is a multiple of 16 below 16 bytes, got 16}}
  cta.ring_bulk_copy %p, %n to %a at 16 of %r : !tile.ptr<f32>, !line, !cta.ring<!line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// ring_bulk_copy_c3
func.func @bulk_bytes(%p: !tile.ptr<f32>, %a: !line, %r: !cta.ring<!line>) {
  %n = arith.constant 32 : i32
  // expected-error@+1 {{expected a multiple of 16 bytes, at most 16, got 32}}
  cta.ring_bulk_copy %p, %n to %a at 0 of %r : !tile.ptr<f32>, !line, !cta.ring<!line>
  return
}

// -----

#none = #cta.layout<{offset = []} : [1]>
!number = !cta.buffer<[1], f32, #none>
// ring_element_copy_c1
func.func @element_pointee(%p: !tile.ptr<i32>, %a: !number, %r: !cta.ring<!number>) {
  // expected-error@+1 {{expected a pointer to an element of}}
  cta.ring_element_copy %p to %a of %r : !tile.ptr<i32>, !number, !cta.ring<!number>
  return
}

// -----

#none = #cta.layout<{offset = []} : [1]>
!number = !cta.buffer<[1], f16, #none>
// ring_element_copy_c2
func.func @element_bytes(%p: !tile.ptr<f16>, %a: !number, %r: !cta.ring<!number>) {
  // expected-error@+1 {{expected a buffer of one element of 4 or 8 bytes}}
  cta.ring_element_copy %p to %a of %r : !tile.ptr<f16>, !number, !cta.ring<!number>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// ring_fill_c1
func.func @fill_buffer(%x: tensor<4xf32>, %r: !cta.ring<!line>) {
  // expected-error@+1 {{expected one of 1 buffers, got 1}}
  cta.ring_fill %x to 1 of %r : tensor<4xf32>, !cta.ring<!line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// ring_fill_c2
func.func @fill_shape(%x: tensor<8xf32>, %r: !cta.ring<!line>) {
  // expected-error@+1 {{expected a block of the shape and elements of}}
  cta.ring_fill %x to 0 of %r : tensor<8xf32>, !cta.ring<!line>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// slot_c1
func.func @slot_index() {
  %s = cta.slots {count = 3 : i32} : !line
  %i = arith.constant 3 : i32
  // expected-error@+1 {{index 3 is not one of 3 slots}}
  %b = cta.slot %s[%i] : !line
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// fill_c1
func.func @filled_with_others(%x: tensor<8xf32>, %i: i32) {
  %s = cta.slots {count = 3 : i32} : !line
  %b = cta.slot %s[%i] : !line
  // expected-error@+1 {{expected a buffer of the shape and elements of}}
  cta.fill %x to %b : tensor<8xf32>, !line
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// fill_c2
func.func @filled_elsewhere(%x: tensor<4xf32>, %b: !line) {
  // expected-error@+1 {{expected a slot of `cta.slots`}}
  cta.fill %x to %b : tensor<4xf32>, !line
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// async_copy_c1
func.func @copy_pointers(%p: tensor<8x!tile.ptr<f32>>, %b: !line) {
  // expected-error@+1 {{expected pointers of the shape and to the elements of}}
  cta.async_copy %p to %b vector 1 : tensor<8x!tile.ptr<f32>>, !line
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// async_copy_c2
func.func @copy_mask(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<4xi8>, %b: !line) {
  // expected-error@+1 {{expected a mask of the shape of}}
  cta.async_copy %p, %m to %b vector 1 : tensor<4x!tile.ptr<f32>>, !line, tensor<4xi8>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f16, #line>
// async_copy_c3
func.func @copy_vector(%p: tensor<4x!tile.ptr<f16>>, %b: !line) {
  // expected-error@+1 {{expected 4, 8 or 16 bytes at once, got 2}}
  cta.async_copy %p to %b vector 1 : tensor<4x!tile.ptr<f16>>, !line
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// read_c1
func.func @read_shape(%b: !line) {
  // expected-error@+1 {{expected a block of the shape and elements of}}
  %x = cta.read %b : !line -> tensor<8xf32>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// read_c2
func.func @read_scalar(%b: !line) {
  // expected-error@+1 {{expected a scalar from a buffer of one such element}}
  %x = cta.read %b : !line -> f32
  return
}

// -----

// roles_c1
func.func @roles_in_branch(%c: i1) {
  scf.if %c {
    // expected-error@+1 {{expected to stand in the kernel's body}}
    cta.roles consumers {
    } producer {
    }
  }
  return
}

// -----

// one_thread_c1
func.func @block_in_producer(%x: tensor<4xf32>) {
  cta.roles consumers {
  } producer {
    // expected-error@+1 {{works on a block where one thread runs alone}}
    %y = arith.negf %x : tensor<4xf32>
  }
  return
}

// -----

// one_thread_c2
func.func @barrier_in_single() {
  cta.single {
    // expected-error@+1 {{waits for threads where one runs alone}}
    cta.barrier
  }
  return
}

// -----

// group_c1
func.func @group_of_all() {
  // expected-error@+1 {{expected to stand in the consumers of `cta.roles`}}
  %g = cta.group : i32
  return
}

// -----

// turn_c1
func.func @turn_of_all() {
  // expected-error@+1 {{expected to stand in the consumers of `cta.roles`}}
  cta.turn_begin 0
  cta.turn_end 0
  return
}

// -----

// turn_c2
func.func @turn_without_end() {
  cta.roles consumers {
    // expected-error@+1 {{expected a `cta.turn_end 0` of the same rings behind it}}
    cta.turn_begin 0
    cta.turn_begin 1
    cta.turn_end 1
  } producer {
  }
  return
}

// -----

func.func @turn_without_begin() {
  cta.roles consumers {
    // expected-error@+1 {{expected a `cta.turn_begin 1` before it}}
    cta.turn_end 1
  } producer {
  }
  return
}

// -----

// cluster_barrier_c1
func.func @cluster_barrier_of_some() {
  cta.roles consumers {
    // expected-error@+1 {{expected to stand where all threads come by}}
    cta.cluster_barrier
  } producer {
  }
  return
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]} : [16, 8]>
// warpgroup_dot_c1
func.func @product_shapes(%a: tensor<64x32xf16>, %b: !cta.buffer<[16, 8], f16, #image>, %c: tensor<64x8xf32>) {
  // expected-error@+1 {{expected M x K by K x N to M x N}}
  %d = cta.warpgroup_dot %a, %b, %c : tensor<64x32xf16>, !cta.buffer<[16, 8], f16, #image>, tensor<64x8xf32>
  return
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]} : [16, 8]>
// warpgroup_dot_c2
func.func @product_types(%a: tensor<64x16xf16>, %b: !cta.buffer<[16, 8], bf16, #image>, %c: tensor<64x8xf32>) {
  // expected-error@+1 {{has no product of 'f16' and 'bf16' accumulated in 'f32'}}
  %d = cta.warpgroup_dot %a, %b, %c : tensor<64x16xf16>, !cta.buffer<[16, 8], bf16, #image>, tensor<64x8xf32>
  return
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]} : [16, 8]>
// warpgroup_dot_c3
func.func @product_rows(%a: tensor<32x16xf16>, %b: !cta.buffer<[16, 8], f16, #image>, %c: tensor<32x8xf32>) {
  // expected-error@+1 {{expected multiples of 64 rows, 8 columns and 32 bytes of K, got 32, 8 and 32}}
  %d = cta.warpgroup_dot %a, %b, %c : tensor<32x16xf16>, !cta.buffer<[16, 8], f16, #image>, tensor<32x8xf32>
  return
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]} : [16, 8]>
// warpgroup_dot_c4
func.func @product_promotes(%a: tensor<64x16xf16>, %b: !cta.buffer<[16, 8], f16, #image>, %c: tensor<64x8xf32>) {
  // expected-error@+1 {{expected `promote` on 8-bit floats that are waited for alone}}
  %d = cta.warpgroup_dot %a, %b, %c {promote = 32 : i32} : tensor<64x16xf16>, !cta.buffer<[16, 8], f16, #image>, tensor<64x8xf32>
  return
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]} : [16, 8]>
// warpgroup_dot_c6
func.func @product_turns_registers(%a: tensor<16x64xf16>, %b: !cta.buffer<[16, 8], f16, #image>, %c: tensor<64x8xf32>) {
  // expected-error@+1 {{reads a block in registers as it is: only a buffer can be turned}}
  %d = cta.warpgroup_dot %a turned, %b, %c : tensor<16x64xf16>, !cta.buffer<[16, 8], f16, #image>, tensor<64x8xf32>
  return
}
