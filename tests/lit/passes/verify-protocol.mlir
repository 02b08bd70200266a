// What rings and groups of asynchronous copies must keep to, one violation a split.
// RUN: tile-opt %s -split-input-file -tile-verify-protocol -verify-diagnostics

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
func.func @roles(%map: !cta.tensor_map, %i: i32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    scf.for %k = %c0 to %n step %c1 {
      %a = cta.ring_wait %r : !ring -> !line
      %x = cta.read %a : !line -> tensor<4xf32>
      cta.ring_release %r : !ring
    }
  } producer {
    scf.for %k = %c0 to %n step %c1 {
      %a = cta.ring_acquire %r : !ring -> !line
      cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
      cta.ring_commit %r : !ring
    }
  }
  return
}

// Slots are given back an iteration later.
func.func @later(%map: !cta.tensor_map, %i: i32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    scf.for %k = %c0 to %n step %c1 {
      %a = cta.ring_wait %r : !ring -> !line
      cta.ring_advance %r : !ring
      %later = arith.cmpi ne, %k, %c0 : index
      cta.ring_release %r when %later : !ring
    }
    %any = arith.cmpi ne, %n, %c0 : index
    cta.ring_release %r when %any : !ring
  } producer {
    scf.for %k = %c0 to %n step %c1 {
      %a = cta.ring_acquire %r : !ring -> !line
      cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
      cta.ring_commit %r : !ring
    }
  }
  return
}

// As many slots ahead as there are.
func.func @bulk(%p: !tile.ptr<f32>, %n: index) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    scf.for %k = %c0 to %c3 step %c1 : i32 {
      %a = cta.ring_acquire %r for %k : !ring -> !line
      cta.ring_bulk_copy %p, %k to %a at 0 of %r : !tile.ptr<f32>, !line, !ring
      cta.ring_commit %r : !ring
    }
  }
  %a = cta.ring_wait %r : !ring -> !line
  cta.ring_release %r : !ring
  return
}

func.func @groups(%p: tensor<4x!tile.ptr<f32>>, %b: !line) {
  cta.async_copy %p to %b vector 1 : tensor<4x!tile.ptr<f32>>, !line
  cta.async_commit
  cta.async_wait 0
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c1
func.func @ring_from_elsewhere(%r: !ring) {
  // expected-error@+1 {{expected a ring that `cta.ring` has made}}
  %a = cta.ring_wait %r : !ring -> !line
  cta.ring_release %r : !ring // expected-error {{expected a ring that `cta.ring` has made}}
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!ring = !cta.ring<!cta.buffer<[4], f32, #line>>
func.func @ring_passed_on() {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  // expected-error@+1 {{uses a ring and is no operation on rings}}
  func.call @elsewhere(%r) : (!ring) -> ()
  return
}
func.func private @elsewhere(!ring)

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c2
func.func @never_committed(%map: !cta.tensor_map, %i: i32) {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    // expected-error@+1 {{expected copies to its buffers and a `cta.ring_commit` behind it}}
    %a = cta.ring_acquire %r : !ring -> !line
    cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
  }
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
func.func @committed_twice(%map: !cta.tensor_map, %i: i32) {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    %a = cta.ring_acquire %r : !ring -> !line
    cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
    cta.ring_commit %r : !ring
    // expected-error@+1 {{follows no `cta.ring_acquire` of its slot}}
    cta.ring_commit %r : !ring
  }
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line, !line>
// ring_c3
func.func @half_filled(%map: !cta.tensor_map, %i: i32) {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    // expected-error@+1 {{expected buffer 1 to be copied to once, or in parts, got 0 whole copies and 0 of parts}}
    %a, %b = cta.ring_acquire %r : !ring -> !line, !line
    cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
    cta.ring_commit %r : !ring
  }
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
func.func @copied_twice(%map: !cta.tensor_map, %i: i32) {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    // expected-error@+1 {{got 2 whole copies}}
    %a = cta.ring_acquire %r : !ring -> !line
    cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
    cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
    cta.ring_commit %r : !ring
  }
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
func.func @part_copied_twice(%p: !tile.ptr<f32>, %n: i32) {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    %a = cta.ring_acquire %r for %n : !ring -> !line
    cta.ring_bulk_copy %p, %n to %a at 0 of %r : !tile.ptr<f32>, !line, !ring
    // expected-error@+1 {{copies to where another one does}}
    cta.ring_bulk_copy %p, %n to %a at 0 of %r : !tile.ptr<f32>, !line, !ring
    cta.ring_commit %r : !ring
  }
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c4
func.func @waits_twice() {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  // expected-error@+1 {{expected a `cta.ring_release` or `cta.ring_advance` behind it}}
  %a = cta.ring_wait %r : !ring -> !line
  %b = cta.ring_wait %r : !ring -> !line
  cta.ring_release %r : !ring
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
func.func @released_twice() {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %a = cta.ring_wait %r : !ring -> !line
  cta.ring_release %r : !ring
  // expected-error@+1 {{follows no `cta.ring_wait` for its slot}}
  cta.ring_release %r : !ring
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c5
func.func @releases_of_both_kinds(%later: i1) {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %a = cta.ring_wait %r : !ring -> !line
  // expected-error@+1 {{has no condition, others of the ring have}}
  cta.ring_release %r : !ring
  cta.ring_release %r when %later : !ring
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
func.func @never_given_back() {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %a = cta.ring_wait %r : !ring -> !line
  // expected-error@+1 {{expected releases with a condition beside `cta.ring_advance`}}
  cta.ring_advance %r : !ring
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
func.func @advances_beside_plain_releases() {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %a = cta.ring_wait %r : !ring -> !line
  cta.ring_release %r : !ring
  %b = cta.ring_wait %r : !ring -> !line
  // expected-error@+1 {{stands beside releases without a condition}}
  cta.ring_advance %r : !ring
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c6
func.func @read_when_released() {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %a = cta.ring_wait %r : !ring -> !line
  cta.ring_release %r : !ring
  // expected-error@+1 {{uses a slot behind its `cta.ring_release`}}
  %x = cta.read %a : !line -> tensor<4xf32>
  return
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]} : [16, 8]>
!right = !cta.buffer<[16, 8], f16, #image>
!ring = !cta.ring<!right>
func.func @multiplied_when_released(%a: tensor<64x16xf16>, %c: tensor<64x8xf32>) {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %b = cta.ring_wait %r : !ring -> !right
  // expected-error@+1 {{is in flight when its slot is released}}
  %d = cta.warpgroup_dot %a, %b, %c in_flight : tensor<64x16xf16>, !right, tensor<64x8xf32>
  cta.ring_release %r : !ring
  %e = cta.warpgroup_wait %d : tensor<64x8xf32>
  return
}

// -----

// Sums that a loop carries are waited for behind it.
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]} : [16, 8]>
!right = !cta.buffer<[16, 8], f16, #image>
!ring = !cta.ring<!right>
func.func @multiplied_in_a_loop(%map: !cta.tensor_map, %a: tensor<64x16xf16>, %c: tensor<64x8xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.roles consumers {
    %b = cta.ring_wait %r : !ring -> !right
    %d = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> tensor<64x8xf32> : i32 {
      %more = cta.warpgroup_dot %a, %b, %acc in_flight : tensor<64x16xf16>, !right, tensor<64x8xf32>
      scf.yield %more : tensor<64x8xf32>
    }
    %e = cta.warpgroup_wait %d : tensor<64x8xf32>
    cta.ring_release %r : !ring
  } producer {
    %s = cta.ring_acquire %r : !ring -> !right
    cta.ring_copy %map[%zero, %zero] dims [1, 0] to %s of %r : !right, !ring
    cta.ring_commit %r : !ring
  }
  return
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]]} : [16, 8]>
!right = !cta.buffer<[16, 8], f16, #image>
!ring = !cta.ring<!right>
func.func @carried_when_released(%a: tensor<64x16xf16>, %c: tensor<64x8xf32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %b = cta.ring_wait %r : !ring -> !right
  %d = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> tensor<64x8xf32> : i32 {
    // expected-error@+1 {{is in flight when its slot is released}}
    %more = cta.warpgroup_dot %a, %b, %acc in_flight : tensor<64x16xf16>, !right, tensor<64x8xf32>
    scf.yield %more : tensor<64x8xf32>
  }
  cta.ring_release %r : !ring
  %e = cta.warpgroup_wait %d : tensor<64x8xf32>
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c7
func.func @filled_by_all() {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  // expected-error@+1 {{fills a ring outside of `cta.single` and producers}}
  %a = cta.ring_acquire %r : !ring -> !line
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!ring = !cta.ring<!cta.buffer<[4], f32, #line>>
func.func @released_by_one() {
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    // expected-error@+1 {{reads a ring where one thread runs alone}}
    cta.ring_release %r : !ring
  }
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c8
func.func @never_filled() {
  // expected-error@+1 {{is read and never filled}}
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  %a = cta.ring_wait %r : !ring -> !line
  cta.ring_release %r : !ring
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
func.func @never_read(%map: !cta.tensor_map, %i: i32) {
  // expected-error@+1 {{is filled and never read}}
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    %a = cta.ring_acquire %r : !ring -> !line
    cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
    cta.ring_commit %r : !ring
  }
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c9
func.func @too_far_ahead(%map: !cta.tensor_map, %i: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    scf.for %k = %c0 to %c4 step %c1 {
      // expected-error@+1 {{takes 4 slots ahead of a ring of 3}}
      %a = cta.ring_acquire %r : !ring -> !line
      cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
      cta.ring_commit %r : !ring
    }
  }
  %a = cta.ring_wait %r : !ring -> !line
  cta.ring_release %r : !ring
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
!ring = !cta.ring<!line>
// ring_c10
func.func @gives_only_the_last_back(%map: !cta.tensor_map, %i: i32, %n: index, %any: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = cta.ring {stages = 3 : i32, consumers = 4 : i32} : !ring
  cta.single {
    %a = cta.ring_acquire %r : !ring -> !line
    cta.ring_copy %map[%i] dims [0] to %a of %r : !line, !ring
    cta.ring_commit %r : !ring
  }
  scf.for %k = %c0 to %n step %c1 {
    %b = cta.ring_wait %r : !ring -> !line
    // expected-error@+1 {{goes on in a loop that releases no slot}}
    cta.ring_advance %r : !ring
  }
  cta.ring_release %r when %any : !ring
  return
}

// -----

#line = #cta.layout<{offset = [[1], [2]]} : [4]>
!line = !cta.buffer<[4], f32, #line>
// async_copy_c4
func.func @never_in_a_group(%p: tensor<4x!tile.ptr<f32>>, %b: !line) {
  // expected-error@+1 {{expected a `cta.async_commit` before the next `cta.async_wait`}}
  cta.async_copy %p to %b vector 1 : tensor<4x!tile.ptr<f32>>, !line
  cta.async_wait 0
  return
}
