// RUN: tile-opt %s --tile-persist-programs | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.persistent, tile.kernel = #tile.kernel<warps = 4>} {
// CHECK-LABEL: func.func @copies
// CHECK-SAME: %[[N0:[a-z0-9]+]]: i32 {tile.num_programs = 0 : i32}, %[[N1:[a-z0-9]+]]: i32 {tile.num_programs = 1 : i32}, %[[N2:[a-z0-9]+]]: i32 {tile.num_programs = 2 : i32})
// CHECK: %[[FIRST:.*]] = tile.program_id 0
// CHECK: %[[BLOCKS:.*]] = tile.num_programs 0
// CHECK: %[[PLANE:.*]] = arith.muli %[[N0]], %[[N1]]
// CHECK: %[[ALL:.*]] = arith.muli %[[PLANE]], %[[N2]]
// CHECK: scf.for %[[P:.*]] = %[[FIRST]] to %[[ALL]] step %[[BLOCKS]]
// CHECK:   %[[REST:.*]] = arith.divsi %[[P]], %[[N0]]
// CHECK:   %[[IS_FIRST:.*]] = arith.cmpi slt, %[[P]], %[[N0]]
// CHECK:   %[[X:.*]] = scf.if %[[IS_FIRST]]
// CHECK:     scf.yield %[[P]]
// CHECK:     %[[REM:.*]] = arith.remui %[[P]], %[[N0]]
// CHECK:     scf.yield %[[REM]]
// CHECK:   %[[Y:.*]] = arith.remsi %[[REST]], %[[N1]]
// CHECK:   scf.for %{{.*}} = %{{.*}} to %[[N1]]
// CHECK:     cta.tma_load %{{.*}}[%[[X]], %[[Y]]]
// CHECK: } {cta.programs, tile.num_stages = 1 : i32}
func.func @copies(%a: !cta.tensor_map, %z: tensor<64x64xf32>) {
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %n = tile.num_programs 1 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%x, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  return
}

// Up to a diagonal, loops are of different lengths: a block of its own for each.
// CHECK-LABEL: func.func @up_to_a_diagonal
// CHECK-SAME: %{{[a-z0-9]+}}: i32) {
// CHECK-NOT: cta.programs
// CHECK: return
func.func @up_to_a_diagonal(%a: !cta.tensor_map, %z: tensor<64x64xf32>, %n: i32) {
  %x = tile.program_id 0 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %next = arith.addi %x, %c1 : i32
  %rows = arith.muli %next, %c64 : i32
  %end = arith.minsi %rows, %n : i32
  %s = scf.for %i = %c0 to %end step %c64 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%x, %i] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  return
}

// Parts are of one length, but the last.
// CHECK-LABEL: func.func @parts
// CHECK: cta.programs
func.func @parts(%a: !cta.tensor_map, %z: tensor<64x64xf32>, %n: i32, %part: i32) {
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %next = arith.addi %y, %c1 : i32
  %start = arith.muli %y, %part : i32
  %stop = arith.muli %next, %part : i32
  %end = arith.minsi %stop, %n : i32
  %s = scf.for %i = %start to %end step %c64 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%x, %i] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  return
}

// Nothing to overlap: as it was.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: scf.for
// CHECK: return
func.func @plain(%p: !tile.ptr<f32>, %v: f32) {
  %x = tile.program_id 0 : i32
  %q = tile.addptr %p, %x : !tile.ptr<f32>, i32
  tile.store %q, %v : !tile.ptr<f32>
  return
}
}
