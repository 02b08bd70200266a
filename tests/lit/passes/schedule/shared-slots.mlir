// RUN: tile-opt %s --split-input-file --tile-specialize-warps --tile-verify-protocol | FileCheck %s

#tall = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0], [64, 0], [128, 0]]} : [256, 64]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#half = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]} : [64, 32]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [64, 0], [128, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [256, 64]>
#narrow = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [64, 0], [128, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [256, 32]>
!tall = !cta.buffer<[256, 64], f16, #tall>
!tile = !cta.buffer<[64, 64], f16, #image>
!half = !cta.buffer<[64, 32], f16, #half>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3, roles = none>} {
// Side by side two blocks of 32 KB and the slots of two loops leave room for two programs. What is
// loaded for the second loop goes where the first had its block, once that is given back, and its
// slots, of another kind, where those of the first were: there is room for three.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK: %[[TALL:.*]] = cta.ring {consumers = 4 : i32, stages = 1 : i32} : <!cta.buffer<[256, 64]
// CHECK: %[[R:.*]] = cta.ring {consumers = 4 : i32, stages = 3 : i32} : <!cta.buffer<[64, 64]
// CHECK-NOT: cta.ring {
// CHECK: cta.ring_acquire %[[TALL]]
// CHECK: scf.for
// CHECK: cta.ring_wait %[[R]]
// CHECK-SAME: -> !cta.buffer<[64, 64]
// CHECK: cta.ring_release %[[TALL]]
// CHECK: cta.ring_acquire %[[TALL]]
// CHECK: scf.for
// CHECK: cta.ring_wait %[[R]]
// CHECK-SAME: -> !cta.buffer<[64, 32]
// CHECK: return
func.func @one_after_the_other(%a: !cta.tensor_map, %b: !cta.tensor_map, %c: !cta.tensor_map, %d: !cta.tensor_map, %p: tensor<256x64x!tile.ptr<f32>, #acc>, %q: tensor<256x32x!tile.ptr<f32>, #narrow>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<256x64xf32, #acc>
  %none = arith.constant dense<0.0> : tensor<256x32xf32, #narrow>
  %x = cta.tma_load %a[%c0, %c0] dims [1, 0] : !tall
  %one = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<256x64xf32, #acc>) : i32 {
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %y, %acc : !tall, !tile, tensor<256x64xf32, #acc>
    scf.yield %next : tensor<256x64xf32, #acc>
  }
  tile.store %p, %one : tensor<256x64x!tile.ptr<f32>, #acc>
  %z = cta.tma_load %c[%c0, %c0] dims [1, 0] : !tall
  %two = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %none) -> (tensor<256x32xf32, #narrow>) : i32 {
    %y = cta.tma_load %d[%c0, %k] dims [1, 0] : !half
    %next = cta.warpgroup_dot %z, %y, %acc : !tall, !half, tensor<256x32xf32, #narrow>
    scf.yield %next : tensor<256x32xf32, #narrow>
  }
  tile.store %q, %two : tensor<256x32x!tile.ptr<f32>, #narrow>
  return
}
}

// -----

#tall = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
#half = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 8], [4, 16], [8, 0], [16, 0], [32, 0]]} : [64, 32]>
#acc = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 64]>
#narrow = #cta.layout<{register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]} : [64, 32]>
!tall = !cta.buffer<[64, 64], f16, #tall>
!tile = !cta.buffer<[64, 64], f16, #image>
!half = !cta.buffer<[64, 32], f16, #half>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4, stages = 3, roles = none>} {
// Four programs fit as it is, and more are of no use: what is loaded for the second loop need not
// wait for the first.
// CHECK-LABEL: func.func @side_by_side
// CHECK-COUNT-4: cta.ring {
// CHECK: return
func.func @side_by_side(%a: !cta.tensor_map, %b: !cta.tensor_map, %c: !cta.tensor_map, %d: !cta.tensor_map, %p: tensor<64x64x!tile.ptr<f32>, #acc>, %q: tensor<64x32x!tile.ptr<f32>, #narrow>, %K: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %none = arith.constant dense<0.0> : tensor<64x32xf32, #narrow>
  %x = cta.tma_load %a[%c0, %c0] dims [1, 0] : !tall
  %one = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) : i32 {
    %y = cta.tma_load %b[%c0, %k] dims [1, 0] : !tile
    %next = cta.warpgroup_dot %x, %y, %acc : !tall, !tile, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %p, %one : tensor<64x64x!tile.ptr<f32>, #acc>
  %z = cta.tma_load %c[%c0, %c0] dims [1, 0] : !tall
  %two = scf.for %k = %c0 to %K step %c64 iter_args(%acc = %none) -> (tensor<64x32xf32, #narrow>) : i32 {
    %y = cta.tma_load %d[%c0, %k] dims [1, 0] : !half
    %next = cta.warpgroup_dot %z, %y, %acc : !tall, !half, tensor<64x32xf32, #narrow>
    scf.yield %next : tensor<64x32xf32, #narrow>
  }
  tile.store %q, %two : tensor<64x32x!tile.ptr<f32>, #narrow>
  return
}
}
