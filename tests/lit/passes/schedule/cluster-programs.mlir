// RUN: tile-opt %s --split-input-file --tile-persist-programs --tile-cluster-programs 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY --input-file %t --implicit-check-not=remark
// WHY: remark: its programs share no copies: neighbouring programs load nothing in common
// WHY: remark: its programs share no copies: it does more than load, compute and store

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
#map = #cta.map<base = 0, f16, sizes = [#cta.sum<[[64]]>, #cta.sum<[[64]]>], strides = [#cta.sum<[[64]]>], box = [64, 64], swizzle = 128>

// CHECK: module attributes {cta.kernel = #cta.kernel<cluster = 2>,
module attributes {tile.persistent, tile.kernel = #tile.kernel<warps = 4, ctas = 2>} {
// A tile in as many boxes as there are blocks.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: box = [64, 32]
// CHECK: arith.muli
// CHECK: %[[TOTAL:.*]] = arith.muli
// CHECK: %[[LAST:.*]] = arith.subi %[[TOTAL]]
// CHECK: %[[ROUND:.*]] = arith.ori %[[LAST]]
// CHECK: %[[END:.*]] = arith.addi %[[ROUND]]
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %[[END]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[P]], %[[TOTAL]]
// CHECK: %[[OWN:.*]] = arith.minsi %[[P]], %[[LAST]]
// CHECK: %[[OTHER:.*]] = arith.xori %[[P]]
// CHECK: %[[NEIGHBOUR:.*]] = arith.minsi %[[OTHER]], %[[LAST]]
// CHECK: %[[COLUMN:.*]] = arith.divsi %{{.*}}, %[[HEIGHT:[a-z0-9_]+]]
// CHECK: arith.remui %[[NEIGHBOUR]]
// CHECK: %[[ITS:.*]] = arith.divsi %{{.*}}, %[[HEIGHT]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[COLUMN]], %[[ITS]]
// CHECK: scf.for
// CHECK: cta.tma_load %{{.*}}[%[[COLUMN]], %{{.*}}] dims [1, 0] common %[[SAME]]
// CHECK: scf.if %[[EXISTS]] {
// CHECK-NEXT: tile.store
func.func @columns(%p: !tile.ptr<f32>, %n: i32, %height: i32, %z: tensor<64x64xf32>, %a: !cta.tensor_map {cta.tensor_map = #map}) {
  %x = tile.program_id 0 : i32
  %column = arith.divsi %x, %height : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%column, %i] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %q = tile.splat %p : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %q, %s : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
#map = #cta.map<base = 0, f16, sizes = [#cta.sum<[[64]]>, #cta.sum<[[64]]>], strides = [#cta.sum<[[64]]>], box = [64, 64], swizzle = 128>

// CHECK: module attributes {tile.kernel
module attributes {tile.persistent, tile.kernel = #tile.kernel<warps = 4, ctas = 2>} {
// Loops that start elsewhere are not in step.
// CHECK-LABEL: func.func @parts
// CHECK-NOT: common
// CHECK: return
func.func @parts(%n: i32, %z: tensor<64x64xf32>, %a: !cta.tensor_map {cta.tensor_map = #map}) {
  %x = tile.program_id 0 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = arith.addi %x, %n : i32
  %s = scf.for %i = %x to %end step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%c0, %i] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  return
}
}

// -----

#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
!tile = !cta.buffer<[64, 64], f16, #image>
#map = #cta.map<base = 0, f16, sizes = [#cta.sum<[[64]]>, #cta.sum<[[64]]>], strides = [#cta.sum<[[64]]>], box = [64, 64], swizzle = 128>

// CHECK: module attributes {tile.kernel
module attributes {tile.persistent, tile.kernel = #tile.kernel<warps = 4, ctas = 2>} {
// An atomic addition must not happen twice.
// CHECK-LABEL: func.func @counts
// CHECK-NOT: common
// CHECK: return
func.func @counts(%p: !tile.ptr<i32>, %n: i32, %z: tensor<64x64xf32>, %a: !cta.tensor_map {cta.tensor_map = #map}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) : i32 {
    %t = cta.tma_load %a[%c0, %i] dims [1, 0] : !tile
    %d = cta.warpgroup_dot %t, %t, %acc : !tile, !tile, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %old = tile.atomic_rmw add relaxed gpu %p, %c1 : !tile.ptr<i32>
  return
}
}
