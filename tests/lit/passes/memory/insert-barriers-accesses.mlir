// What is stored and loaded by the same pointers is in order, whichever threads do it.
// RUN: tile-opt %s --tile-insert-barriers | FileCheck %s

#rows = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [128]>
#copies = #cta.layout<{register = [[32], [64]], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [128]>

module attributes {tile.kernel = #tile.kernel<>} {

// CHECK-LABEL: func.func @by_other_threads
func.func @by_other_threads(%p: !tile.ptr<f32>, %v: tensor<128xf32, #rows>) -> tensor<128xf32, #copies> {
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %j = tile.make_range 0 to 128 : tensor<128xi32, #copies>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %b = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #copies>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %y = tile.addptr %b, %j : tensor<128x!tile.ptr<f32>, #copies>, tensor<128xi32, #copies>
  // CHECK: tile.store
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.load
  tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  %w = tile.load %y : tensor<128x!tile.ptr<f32>, #copies>
  return %w : tensor<128xf32, #copies>
}

// CHECK-LABEL: func.func @by_the_same_threads
func.func @by_the_same_threads(%p: !tile.ptr<f32>, %v: tensor<128xf32, #rows>) -> tensor<128xf32, #rows> {
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  // CHECK-NOT: cta.barrier
  // CHECK: return
  tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  %w = tile.load %x : tensor<128x!tile.ptr<f32>, #rows>
  return %w : tensor<128xf32, #rows>
}

// The slower warps have not read what the first one counts on.
// CHECK-LABEL: func.func @a_number
func.func @a_number(%p: !tile.ptr<i32>, %one: i32) -> i32 {
  // CHECK: tile.load
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.store
  %n = tile.load %p : !tile.ptr<i32>
  %m = arith.addi %n, %one : i32
  tile.store %p, %m : !tile.ptr<i32>
  return %n : i32
}

// The next turn loads what this one stores.
// CHECK-LABEL: func.func @around_a_loop
func.func @around_a_loop(%p: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %i = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %j = tile.make_range 0 to 128 : tensor<128xi32, #copies>
  %a = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #rows>
  %b = tile.splat %p : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #copies>
  %x = tile.addptr %a, %i : tensor<128x!tile.ptr<f32>, #rows>, tensor<128xi32, #rows>
  %y = tile.addptr %b, %j : tensor<128x!tile.ptr<f32>, #copies>, tensor<128xi32, #copies>
  // CHECK: scf.for
  // CHECK-NEXT: cta.barrier
  // CHECK-NEXT: tile.load
  // CHECK: cta.convert_layout
  // CHECK: tile.store
  scf.for %k = %zero to %n step %one : i32 {
    %w = tile.load %y : tensor<128x!tile.ptr<f32>, #copies>
    %v = cta.convert_layout %w {cta.scratch_offset = 0 : i32} : tensor<128xf32, #copies> -> tensor<128xf32, #rows>
    tile.store %x, %v : tensor<128x!tile.ptr<f32>, #rows>
  }
  return
}

}
