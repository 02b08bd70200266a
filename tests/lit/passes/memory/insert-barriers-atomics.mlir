// What a program loads and stores is in order with its atomic operations on the same memory, and
// comes before what it releases.
// RUN: tile-opt %s --tile-insert-barriers | FileCheck %s

#rows = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]} : [128]>

module attributes {tile.kernel = #tile.kernel<>} {

// CHECK-LABEL: func.func @loaded_behind
// CHECK: tile.atomic_rmw
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.load
func.func @loaded_behind(%p: !tile.ptr<i32>, %v: i32) -> i32 {
  %old = tile.atomic_rmw add relaxed gpu %p, %v : !tile.ptr<i32>
  %n = tile.load %p : !tile.ptr<i32>
  return %n : i32
}

// One thread does both.
// CHECK-LABEL: func.func @number_stored_before
// CHECK-NOT: cta.barrier
// CHECK: return
func.func @number_stored_before(%p: !tile.ptr<i32>, %v: i32) {
  tile.store %p, %v : !tile.ptr<i32>
  %old = tile.atomic_rmw add acq_rel gpu %p, %v : !tile.ptr<i32>
  return
}

// Each thread counts where it has stored.
// CHECK-LABEL: func.func @by_the_same_threads
// CHECK-NOT: cta.barrier
// CHECK: return
func.func @by_the_same_threads(%p: tensor<128x!tile.ptr<i32>, #rows>, %v: tensor<128xi32, #rows>) {
  tile.store %p, %v : tensor<128x!tile.ptr<i32>, #rows>
  %old = tile.atomic_rmw add relaxed gpu %p, %v : tensor<128x!tile.ptr<i32>, #rows>
  return
}

// CHECK-LABEL: func.func @given_back
// CHECK: tile.store
// CHECK-NEXT: cta.barrier
// CHECK-NEXT: tile.atomic_rmw
func.func @given_back(%lock: !tile.ptr<i32>, %p: tensor<128x!tile.ptr<i32>, #rows>, %v: tensor<128xi32, #rows>, %zero: i32) {
  tile.store %p, %v : tensor<128x!tile.ptr<i32>, #rows>
  %old = tile.atomic_rmw xchg release gpu %lock, %zero : !tile.ptr<i32>
  return
}

// Nobody stores to what has been read, or what is counted tells nobody that it was.
// CHECK-LABEL: func.func @nothing_to_release
// CHECK-NOT: cta.barrier
// CHECK: return
func.func @nothing_to_release(%count: !tile.ptr<i32>, %p: tensor<128x!tile.ptr<i32>, #rows>, %q: tensor<128x!tile.ptr<i32>, #rows>, %one: i32) -> tensor<128xi32, #rows> {
  %v = tile.load %p : tensor<128x!tile.ptr<i32>, #rows>
  %old = tile.atomic_rmw add acq_rel gpu %count, %one : !tile.ptr<i32>
  tile.store %q, %v : tensor<128x!tile.ptr<i32>, #rows>
  %more = tile.atomic_rmw add relaxed gpu %count, %one : !tile.ptr<i32>
  return %v : tensor<128xi32, #rows>
}

}
