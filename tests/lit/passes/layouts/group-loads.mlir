// RUN: tile-opt %s --split-input-file --tile-group-loads | FileCheck %s

#home = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]} : [64, 64]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [16, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0]]} : [64, 64]>
#right = #cta.layout<{register = [[1, 0], [8, 0], [16, 0], [32, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]} : [64, 64]>
#rows = #cta.layout<{register = [[8], [16], [32]], lane = [[0], [0], [0], [1], [2]], warp = [[4]]} : [64]>
!home = tensor<64x64xf16, #home>
!mask = tensor<64x64xi1, #home>
!places = tensor<64x64xi32, #home>
!pointers = tensor<64x64x!tile.ptr<f16>, #home>
!indices = tensor<64x64x!tile.ptr<i32>, #home>
!sums = tensor<64xi32, #rows>
!left = tensor<64x64xf16, #acc>
!right = tensor<64x64xf16, #right>
!sum = tensor<64x64xf32, #acc>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 2>} {
// The second block is loaded, with its addresses, before what waits for the first; also across an
// exchange, at which threads wait for each other.
// CHECK-LABEL: func.func @two_operands
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: %[[Q:.*]] = tile.addptr
// CHECK-NEXT: %[[Y:.*]] = tile.load %[[Q]]
// CHECK-NEXT: %[[M:.*]] = arith.select %{{.*}}, %[[X]]
// CHECK-NEXT: cta.convert_layout %[[M]]
// CHECK-NEXT: cta.convert_layout %[[Y]]
func.func @two_operands(%p: !pointers, %places: !places, %c: !mask, %zero: !home, %z: !sum) -> !sum {
  %x = tile.load %p : !pointers
  %m = arith.select %c, %x, %zero : !mask, !home
  %a = cta.convert_layout %m : !home -> !left
  %q = tile.addptr %p, %places : !pointers, !places
  %y = tile.load %q : !pointers
  %b = cta.convert_layout %y : !home -> !right
  %d = tile.dot %a, %b, %z : !left * !right -> !sum
  return %d : !sum
}

// Not across what writes memory, nor a volatile load.
// CHECK-LABEL: func.func @writes
// CHECK: tile.load
// CHECK: arith.select
// CHECK: tile.store
// CHECK: tile.load
// CHECK: arith.select
// CHECK: tile.load %{{.*}} {is_volatile
func.func @writes(%p: !pointers, %c: !mask, %zero: !home, %z: !sum) -> (!sum, !home) {
  %x = tile.load %p : !pointers
  %m = arith.select %c, %x, %zero : !mask, !home
  tile.store %p, %m : !pointers
  %a = cta.convert_layout %m : !home -> !left
  %y = tile.load %p : !pointers
  %n = arith.select %c, %y, %zero : !mask, !home
  %b = cta.convert_layout %n : !home -> !right
  %v = tile.load %p {is_volatile = true} : !pointers
  %d = tile.dot %a, %b, %z : !left * !right -> !sum
  return %d, %v : !sum, !home
}

// What is loaded decides what is loaded next: that waits.
// CHECK-LABEL: func.func @chased
// CHECK: tile.load
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tile.addptr
// CHECK-NEXT: tile.load
func.func @chased(%i: tensor<64x64x!tile.ptr<i32>, #home>, %p: !pointers, %o: !places, %a: !left, %z: !sum) -> !sum {
  %x = tile.load %i : tensor<64x64x!tile.ptr<i32>, #home>
  %t = arith.addi %x, %o : !places
  %q = tile.addptr %p, %t : !pointers, !places
  %y = tile.load %q : !pointers
  %b = cta.convert_layout %y : !home -> !right
  %d = tile.dot %a, %b, %z : !left * !right -> !sum
  return %d : !sum
}

// Without products the registers of a row decide how many programs there are at once. Here all
// blocks are held in the end, whenever they are loaded.
// CHECK-LABEL: func.func @no_product
// CHECK: tile.load
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.select
func.func @no_product(%p: !pointers, %q: !pointers, %c: !mask, %zero: !home) -> (!home, !home, !home) {
  %x = tile.load %p : !pointers
  %m = arith.select %c, %x, %zero : !mask, !home
  %y = tile.load %q : !pointers
  return %x, %m, %y : !home, !home, !home
}

// One block at a time is held, of floats or of integers: so it stays.
// CHECK-LABEL: func.func @one_by_one
// CHECK: tile.load
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tile.store
// CHECK-NEXT: tile.load
// CHECK-LABEL: func.func @integers
// CHECK: tile.load
// CHECK-NEXT: tile.reduce
// CHECK: tile.load
func.func @one_by_one(%p: !indices, %q: !indices, %o: !places) {
  %x = tile.load %p : !indices
  %m = arith.addi %x, %o : !places
  tile.store %p, %m : !indices
  %y = tile.load %q : !indices
  %n = arith.addi %y, %o : !places
  tile.store %q, %n : !indices
  return
}
func.func @integers(%p: !indices, %q: !indices) -> (!sums, !sums) {
  %x = tile.load %p : !indices
  %m = tile.reduce %x {axis = 1 : i32} : !places -> !sums {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %y = tile.load %q : !indices
  %n = tile.reduce %y {axis = 1 : i32} : !places -> !sums {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  return %m, %n : !sums, !sums
}
}

// -----

#home = #cta.layout<{register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128], [0, 256]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0]]} : [64, 512]>
#small = #cta.layout<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0]]} : [16, 16]>
!home = tensor<64x512xf16, #home>
!pointers = tensor<64x512x!tile.ptr<f16>, #home>
!left = tensor<16x16xf16, #small>
!sum = tensor<16x16xf32, #small>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 2>} {
// The second block would take as many registers again while the first is computed with.
// CHECK-LABEL: func.func @no_room
// CHECK: tile.load
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tile.load
func.func @no_room(%p: !pointers, %q: !pointers, %a: !left, %b: !left, %z: !sum) -> (!sum, !home, !home) {
  %x = tile.load %p : !pointers
  %m = arith.negf %x : !home
  %w = tile.load %q : !pointers
  %d = tile.dot %a, %b, %z : !left * !left -> !sum
  return %d, %m, %w : !sum, !home, !home
}
}
