// RUN: tile-opt %s --split-input-file --tile-share-rings=programs=3 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY --input-file %t --implicit-check-not=remark
// WHY: remark: its programs do not share a thread block: neighbours along the grid copy different tiles in their loops
// WHY: remark: its programs do not share a thread block: whether neighbours copy at all differs
// WHY: remark: its programs do not share a thread block: where neighbours' loops start is not known to differ by whole steps
// WHY: remark: its programs do not share a thread block: it does more than load, compute and store
// WHY: remark: its programs do not share a thread block: along no axis of the grid do programs copy tiles in a loop
// WHY: remark: its programs do not share a thread block: a program is not one warpgroup
// WHY: remark: its programs do not share a thread block: no warps only copy, or there are clusters
// WHY: remark: its programs do not share a thread block: neighbours along the grid copy different tiles in their loops

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// What the loop copies depends on the second axis alone: neighbours along the first have it in common.
// CHECK: module attributes {cta.block_programs = array<i32: 0, 3>, cta.equal_programs,
// CHECK-LABEL: func.func @alike
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @alike(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#line = #cta.layout<{offset = [[1], [2], [4], [8], [16], [32]]} : [64]>
!tile = !cta.buffer<[64, 64], f16, #image>
!line = !cta.buffer<[64], f32, #line>

// Threads read numbers that come beside the operands.
// CHECK: module attributes {cta.block_programs = array<i32: 0, 3>
// CHECK-LABEL: func.func @numbers_beside
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @numbers_beside(%q: !cta.tensor_map, %a: !cta.tensor_map, %b: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %v = cta.tma_load %b[%k] dims [0] : !line
    %r = cta.read %v : !line -> tensor<64xf32>
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    %e = tile.expand_dims %r {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xf32>
    %f = tile.broadcast %e : tensor<1x64xf32> -> tensor<64x64xf32>
    %g = arith.addf %d, %f : tensor<64x64xf32>
    scf.yield %g : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// And the other way round.
// CHECK: module attributes {cta.block_programs = array<i32: 1, 3>
// CHECK-LABEL: func.func @second_axis
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @second_axis(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%first, %k] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Programs may run turns of different number, if they start at the same one, or whole steps apart.
// CHECK: module attributes {cta.block_programs = array<i32: 0, 3>, cta.equal_programs
// CHECK-LABEL: func.func @bounds
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @bounds(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %end = arith.addi %first, %n : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %first to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// From the first key on, the later programs have more turns: not all are equally long.
// CHECK: module attributes {cta.block_programs = array<i32: 0, 3>, cta.growing_programs, tile.kernel
// CHECK-LABEL: func.func @until_the_diagonal
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @until_the_diagonal(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %end = arith.addi %first, %n : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// A tile for each program.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @tiles_differ
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @tiles_differ(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%y, %first] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// A branch that programs do not enter together.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @branches
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @branches(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %odd = arith.cmpi slt, %x, %y : i32
  scf.if %odd {
    %l = cta.tma_load %q[%c0, %c0] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Turns of one program are between those of another.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @out_of_step
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @out_of_step(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %y] dims [1, 0] : !tile
  %s = scf.for %k = %x to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Programs that do not exist must not count.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @atomic
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @atomic(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  %old = tile.atomic_rmw add relaxed gpu %seen, %c1 : !tile.ptr<i32>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Nothing in a loop.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @no_loop
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @no_loop(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = cta.warpgroup_dot %l, %l, %zero : !tile, !tile, tensor<64x64xf32>
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Two warpgroups.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @eight_warps
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8, stages = 3>} {
func.func @eight_warps(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// The author wants all warps to copy.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @no_roles
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3, roles = none>} {
func.func @no_roles(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %first = arith.muli %x, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %y] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// A linear grid, of which a program's block is what is left and its head what it is divided by: two axes to
// launches, and neighbours along the first are blocks of one head. What counts programs has both.
// CHECK: module attributes {cta.block_programs = array<i32: 0, 3>, cta.equal_programs, cta.grid_splits = [#cta.split<axis = 0, to = 1, size = <{{\[\[63\], \[1, 3\]\]}}>, divisor = 64>]
// CHECK-LABEL: func.func @blocks_first
// CHECK-DAG: %[[BLOCK:.*]] = tile.program_id 0
// CHECK-DAG: %[[HEAD:.*]] = tile.program_id 1
// CHECK: %[[BLOCKS:.*]] = arith.divsi
// CHECK: arith.muli %[[BLOCK]]
// CHECK: cta.tma_load %{{.*}}[%{{.*}}, %[[HEAD]]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[HEAD]], %[[BLOCKS]]
// CHECK: %[[NUMBER:.*]] = arith.addi %[[BEFORE]], %[[BLOCK]]
// CHECK: tile.store %{{.*}}, %[[NUMBER]]
// CHECK: %[[ALONG:.*]] = tile.num_programs 0
// CHECK: %[[ACROSS:.*]] = tile.num_programs 1
// CHECK: %[[ALL:.*]] = arith.muli %[[ALONG]], %[[ACROSS]]
// CHECK: tile.store %{{.*}}, %[[ALL]]
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @blocks_first(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %heads: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %more = arith.addi %n, %c63 : i32
  %blocks = arith.divsi %more, %c64 : i32
  %block = arith.remsi %x, %blocks : i32
  %head = arith.divsi %x, %blocks : i32
  %first = arith.muli %block, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %head] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  tile.store %seen, %x : !tile.ptr<i32>
  %all = tile.num_programs 0 : i32
  tile.store %seen, %all : !tile.ptr<i32>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Heads come first.
// CHECK: module attributes {cta.block_programs = array<i32: 1, 3>, cta.equal_programs, cta.grid_splits = [#cta.split<axis = 0, to = 1, size = <{{\[\[1, 4\]\]}}>, divisor = 1>]
// CHECK-LABEL: func.func @heads_first
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @heads_first(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %heads: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %more = arith.addi %n, %c63 : i32
  %blocks = arith.divsi %more, %c64 : i32
  %block = arith.divsi %x, %heads : i32
  %head = arith.remsi %x, %heads : i32
  %first = arith.muli %block, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %head] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// Heads, then blocks, then batches: what is divided by a multiple of the heads is divided by the rest of it.
// CHECK: module attributes {cta.block_programs = array<i32: 1, 3>, cta.equal_programs, cta.grid_splits = [#cta.split<axis = 0, to = 1, size = <{{\[\[1, 4\]\]}}>, divisor = 1>, #cta.split<axis = 1, to = 2, size = <{{\[\[63\], \[1, 3\]\]}}>, divisor = 64>]
// CHECK-LABEL: func.func @heads_blocks_batches
// CHECK-DAG: %[[HEAD:.*]] = tile.program_id 0
// CHECK-DAG: %[[BLOCK:.*]] = tile.program_id 1
// CHECK-DAG: %[[BATCH:.*]] = tile.program_id 2
// CHECK: %[[PLACE:.*]] = arith.muli %[[BATCH]], %arg4
// CHECK: %[[ITS:.*]] = arith.addi %[[PLACE]], %[[HEAD]]
// CHECK: arith.muli %[[BLOCK]]
// CHECK: cta.tma_load %{{.*}}[%{{.*}}, %[[ITS]]]
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @heads_blocks_batches(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %heads: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %more = arith.addi %n, %c63 : i32
  %blocks = arith.divsi %more, %c64 : i32
  %rest = arith.remsi %x, %heads : i32
  %group = arith.divsi %x, %heads : i32
  %block = arith.remsi %group, %blocks : i32
  %batch_size = arith.muli %blocks, %heads : i32
  %batch = arith.divsi %x, %batch_size : i32
  %place = arith.muli %batch, %heads : i32
  %head = arith.addi %place, %rest : i32
  %first = arith.muli %block, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %head] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>

// How many blocks there are is read from memory: no launch knows it.
// CHECK: module attributes {tile.kernel
// CHECK-LABEL: func.func @blocks_unknown
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {
func.func @blocks_unknown(%q: !cta.tensor_map, %a: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>>, %n: i32, %heads: i32, %seen: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0 : i32
  %more = arith.addi %n, %c63 : i32
  %blocks = arith.divsi %more, %c64 : i32
  %some = tile.load %seen : !tile.ptr<i32>
  %block = arith.remsi %x, %some : i32
  %head = arith.divsi %x, %some : i32
  %first = arith.muli %block, %c64 : i32
  %l = cta.tma_load %q[%c0, %first] dims [1, 0] : !tile
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%k, %head] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %l, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %p, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}
