// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-alternate-tiles | FileCheck %s

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, stages = 3, roles = pingpong>} {
// Programs of the grid may store in any order: the loop is marked, the kernel compiled for one
// group of four warps.
// CHECK: module attributes {cta.kernel = #cta.kernel<groups = 2>, {{.*}}warps = 8
// CHECK-LABEL: func.func @programs
// CHECK: scf.for
// CHECK: } {cta.by_turns, cta.programs}

func.func @programs(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %all: i32, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %first = tile.program_id 0 : i32
  %step = tile.num_programs 0 : i32
  scf.for %t = %first to %all step %step : i32 {
    %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cta.tma_load %a[%k, %t] dims [1, 0] : !tile
      %next = cta.warpgroup_dot %x, %x, %acc : !tile, !tile, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    tile.store %p, %sum : tensor<64x64x!tile.ptr<f32>>
  } {cta.programs}
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, stages = 3, roles = pingpong>} {
// What the loop carries only to count is no obstacle.
// CHECK: module attributes {cta.kernel = #cta.kernel<groups = 2>
func.func @author(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %all: i32, %K: i32, %by: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %end = scf.for %t = %c0 to %all step %c1 iter_args(%at = %K) -> (i32) : i32 {
    %sum = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cta.tma_load %a[%k, %at] dims [1, 0] : !tile
      %next = cta.warpgroup_dot %x, %x, %acc : !tile, !tile, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %old = tile.load %p : tensor<64x64x!tile.ptr<f32>>
    %new = arith.addf %old, %sum : tensor<64x64xf32>
    tile.store %p, %new : tensor<64x64x!tile.ptr<f32>>
    %more = arith.addi %at, %by : i32
    scf.yield %more : i32
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {
// CHECK-LABEL: func.func @sum_of_all
// CHECK-NOT: cta.by_turns
func.func @sum_of_all(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @below {{its blocks are not computed by turns: its iterations hand values on to each other}}
  %end = scf.for %t = %c0 to %all step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = cta.tma_load %a[%c0, %t] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %x, %acc : !tile, !tile, tensor<64x64xf32>
    tile.store %p, %next : tensor<64x64x!tile.ptr<f32>>
    scf.yield %next : tensor<64x64xf32>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {
// CHECK-LABEL: func.func @barrier
// CHECK-NOT: cta.by_turns
func.func @barrier(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @below {{it does more than multiply what TMA copies, and load and store}}
  scf.for %t = %c0 to %all step %c1 : i32 {
    %x = cta.tma_load %a[%c0, %t] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %x, %zero : !tile, !tile, tensor<64x64xf32>
    tile.barrier
    tile.store %p, %next : tensor<64x64x!tile.ptr<f32>>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {
// CHECK-LABEL: func.func @stores_behind
// CHECK-NOT: cta.by_turns
func.func @stores_behind(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @below {{the kernel accesses what it stores outside the loop, too}}
  scf.for %t = %c0 to %all step %c1 : i32 {
    %x = cta.tma_load %a[%c0, %t] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %x, %zero : !tile, !tile, tensor<64x64xf32>
    tile.store %p, %next : tensor<64x64x!tile.ptr<f32>>
  }
  tile.store %p, %zero : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {
// CHECK-LABEL: func.func @reads_what_it_stored
// CHECK-NOT: cta.by_turns
func.func @reads_what_it_stored(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @below {{what it stores is not computed behind all products}}
  scf.for %t = %c0 to %all step %c1 : i32 {
    %old = tile.load %p : tensor<64x64x!tile.ptr<f32>>
    %x = cta.tma_load %a[%c0, %t] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %x, %old : !tile, !tile, tensor<64x64xf32>
    tile.store %p, %next : tensor<64x64x!tile.ptr<f32>>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {
// CHECK-LABEL: func.func @too_wide
// CHECK-NOT: cta.by_turns
func.func @too_wide(%a: !cta.tensor_map, %p: tensor<128x256x!tile.ptr<f32>>, %z: tensor<128x256xf32>, %x: !cta.buffer<[128, 64], f16, #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>>, %y: !cta.buffer<[64, 256], f16, #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]} : [64, 256]>>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @below {{a warpgroup has no registers for the sums}}
  scf.for %t = %c0 to %all step %c1 : i32 {
    %next = cta.warpgroup_dot %x, %y, %z : !cta.buffer<[128, 64], f16, #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>>, <[64, 256], f16, #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64], [0, 128]]} : [64, 256]>>, tensor<128x256xf32>
    tile.store %p, %next : tensor<128x256x!tile.ptr<f32>>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {
// CHECK-LABEL: func.func @place_from_a_block
// CHECK-NOT: cta.by_turns
func.func @place_from_a_block(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %i: tensor<64xi32>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-remark @below {{one thread alone cannot follow its copies}}
  scf.for %t = %c0 to %all step %c1 : i32 {
    %start = tile.reduce %i {axis = 0 : i32} : tensor<64xi32> -> i32 {
    ^bb0(%l: i32, %r: i32):
      %s = arith.maxsi %l, %r : i32
      tile.yield %s : i32
    }
    %x = cta.tma_load %a[%start, %t] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %x, %zero : !tile, !tile, tensor<64x64xf32>
    tile.store %p, %next : tensor<64x64x!tile.ptr<f32>>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, roles = pingpong>} {
// Four warps are one warpgroup: nobody to take turns with.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @one_warpgroup
// CHECK-NOT: cta.by_turns
func.func @one_warpgroup(%a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %t = %c0 to %all step %c1 : i32 {
    %x = cta.tma_load %a[%c0, %t] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %x, %zero : !tile, !tile, tensor<64x64xf32>
    tile.store %p, %next : tensor<64x64x!tile.ptr<f32>>
  }
  return
}
}

// -----

#a = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#b = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]} : [64, 128]>
!a = !cta.buffer<[128, 64], f16, #a>
!b = !cta.buffer<[64, 128], f16, #b>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {
// Nobody has asked: it pays where something is computed from a large sum, and the order of stores
// does not matter.
// CHECK: module attributes {cta.kernel = #cta.kernel<groups = 2>
// CHECK-LABEL: func.func @pays
// CHECK: cta.by_turns
func.func @pays(%x: !cta.tensor_map, %y: !cta.tensor_map, %p: tensor<128x128x!tile.ptr<f32>>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  scf.for %t = %c0 to %all step %c1 : i32 {
    %next = scf.for %k = %c0 to %all step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %a = cta.tma_load %x[%k, %t] dims [1, 0] : !a
      %b = cta.tma_load %y[%k, %t] dims [1, 0] : !b
      %sum = cta.warpgroup_dot %a, %b, %acc : !a, !b, tensor<128x128xf32>
      scf.yield %sum : tensor<128x128xf32>
    }
    %relu = arith.maximumf %next, %zero : tensor<128x128xf32>
    tile.store %p, %relu : tensor<128x128x!tile.ptr<f32>>
  } {cta.programs}
  return
}
}

// -----

#a = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0]]} : [128, 64]>
#b = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [0, 64]]} : [64, 128]>
!a = !cta.buffer<[128, 64], f16, #a>
!b = !cta.buffer<[64, 128], f16, #b>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {
// Only stored: left alone.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @only_stores
// CHECK-NOT: cta.by_turns
func.func @only_stores(%x: !cta.tensor_map, %y: !cta.tensor_map, %p: tensor<128x128x!tile.ptr<f16>>, %all: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  scf.for %t = %c0 to %all step %c1 : i32 {
    %next = scf.for %k = %c0 to %all step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %a = cta.tma_load %x[%k, %t] dims [1, 0] : !a
      %b = cta.tma_load %y[%k, %t] dims [1, 0] : !b
      %sum = cta.warpgroup_dot %a, %b, %acc : !a, !b, tensor<128x128xf32>
      scf.yield %sum : tensor<128x128xf32>
    }
    %half = arith.truncf %next : tensor<128x128xf32> to tensor<128x128xf16>
    tile.store %p, %half : tensor<128x128x!tile.ptr<f16>>
  } {cta.programs}
  return
}
}
