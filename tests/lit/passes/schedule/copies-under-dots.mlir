// RUN: tile-opt %s -split-input-file --tile-overlap-dots | FileCheck %s
// RUN: tile-opt %s -split-input-file --tile-overlap-dots=copies=false | FileCheck %s --check-prefix=OFF

// OFF-NOT: in_flight

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#copy = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
!ptrs = tensor<64x64x!tile.ptr<f16>, #copy>
!sum = tensor<64x64xf32, #acc>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Addresses and copies for the turn after the next come behind the product, which is waited for
// where its result is used.
// CHECK-LABEL: func.func @scaled
// CHECK: scf.for
// CHECK:   cta.async_wait 1
// CHECK-NEXT: %[[A:.*]] = cta.slot
// CHECK-NEXT: %[[C:.*]] = cta.warpgroup_dot %[[A]], %[[A]], %{{.*}} in_flight
// CHECK:   tile.addptr
// CHECK:   cta.async_copy
// CHECK-NEXT: cta.async_commit
// CHECK-NEXT: arith.addf %{{.*}}, %{{.*}}
// CHECK-NEXT: %[[DONE:.*]] = cta.warpgroup_wait %[[C]]
// CHECK-NEXT: arith.mulf %[[DONE]]
func.func @scaled(%n: i32, %z: !sum, %f: !sum, %p: !ptrs, %o: tensor<64x64xi32, #copy>, %q: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = cta.slots {count = 3 : i32} : !tile
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z, %ptr = %p, %g = %f) -> (!sum, !ptrs, !sum) : i32 {
    cta.async_wait 1 for_products
    %next = tile.addptr %ptr, %o : !ptrs, tensor<64x64xi32, #copy>
    %to = cta.slot %s[%c1] : !tile
    cta.async_copy %ptr to %to vector 8 : !ptrs, !tile
    cta.async_commit
    %a = cta.slot %s[%i] : !tile
    %d = cta.warpgroup_dot %a, %a, %acc : !tile, !tile, !sum
    %h = arith.addf %g, %g : !sum
    %e = arith.mulf %d, %h : !sum
    scf.yield %e, %next, %h : !sum, !ptrs, !sum
  }
  tile.store %q, %r#0 : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}

// Copies that the next turn waits for come first, and so do those in front of a product that
// starts from a value of its own.
// CHECK-LABEL: func.func @needed_next
// CHECK-NOT: in_flight
// CHECK-LABEL: func.func @no_sum
// CHECK-NOT: in_flight
func.func @needed_next(%n: i32, %z: !sum, %f: !sum, %p: !ptrs, %q: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = cta.slots {count = 2 : i32} : !tile
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    cta.async_wait 0 for_products
    %to = cta.slot %s[%c1] : !tile
    cta.async_copy %p to %to vector 8 : !ptrs, !tile
    cta.async_commit
    %a = cta.slot %s[%i] : !tile
    %d = cta.warpgroup_dot %a, %a, %acc : !tile, !tile, !sum
    %e = arith.mulf %d, %f : !sum
    scf.yield %e : !sum
  }
  tile.store %q, %r : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
func.func @no_sum(%n: i32, %z: !sum, %f: !sum, %p: !ptrs, %q: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = cta.slots {count = 3 : i32} : !tile
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    cta.async_wait 1 for_products
    %to = cta.slot %s[%c1] : !tile
    cta.async_copy %p to %to vector 8 : !ptrs, !tile
    cta.async_commit
    %a = cta.slot %s[%i] : !tile
    %d = cta.warpgroup_dot %a, %a, %f : !tile, !tile, !sum
    %e = arith.addf %d, %acc : !sum
    scf.yield %e : !sum
  }
  tile.store %q, %r : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
// Copies that stand behind a product, which their addresses came under, stay there: the product runs on under them.
// Not one whose operand is written in the turn: its place may be another's as soon as it has been read.
// CHECK-LABEL: func.func @behind
// CHECK: scf.for
// CHECK:   %[[C:.*]] = cta.warpgroup_dot %{{.*}} in_flight
// CHECK-NEXT: cta.slot
// CHECK-NEXT: cta.async_copy
// CHECK-NEXT: cta.async_commit
// CHECK-NEXT: %[[DONE:.*]] = cta.warpgroup_wait %[[C]]
// CHECK-NEXT: arith.mulf %[[DONE]]
// CHECK-LABEL: func.func @staged
// CHECK-NOT: in_flight
func.func @behind(%n: i32, %z: !sum, %f: !sum, %p: !ptrs, %q: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = cta.slots {count = 2 : i32} : !tile
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    cta.async_wait 0 for_products
    %a = cta.slot %s[%i] : !tile
    %d = cta.warpgroup_dot %a, %a, %f : !tile, !tile, !sum
    %to = cta.slot %s[%c1] : !tile
    cta.async_copy %p to %to vector 8 : !ptrs, !tile
    cta.async_commit
    %e = arith.mulf %d, %acc : !sum
    scf.yield %e : !sum
  }
  tile.store %q, %r : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
func.func @staged(%n: i32, %z: !sum, %f: !sum, %p: !ptrs, %w: tensor<64x64xf16, #copy>, %q: tensor<64x64x!tile.ptr<f32>, #acc>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = cta.slots {count = 2 : i32} : !tile
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (!sum) : i32 {
    cta.async_wait 0 for_products
    %b = cta.stage %w : tensor<64x64xf16, #copy> -> !tile
    %a = cta.slot %s[%i] : !tile
    %d = cta.warpgroup_dot %a, %b, %f : !tile, !tile, !sum
    %to = cta.slot %s[%c1] : !tile
    cta.async_copy %p to %to vector 8 : !ptrs, !tile
    cta.async_commit
    %e = arith.mulf %d, %acc : !sum
    scf.yield %e : !sum
  }
  tile.store %q, %r : tensor<64x64x!tile.ptr<f32>, #acc>
  return
}
}
