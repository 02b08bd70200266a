// The cta dialect: layouts on block types, conversion between them.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -canonicalize | FileCheck %s --check-prefix=FOLD

#a = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]} : [128]>
#b = #cta.layout<{register = [[64]], lane = [[1], [2], [4], [8], [16]], warp = [[32]]} : [128]>
// Two dimensions, and a zero vector: lanes that differ in that bit hold copies.
#c = #cta.layout<{register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 0]], warp = []} : [16, 4]>

// CHECK: #[[A:.*]] = #cta.layout<{register = {{\[\[}}1]], lane = {{\[\[}}2], [4], [8], [16], [32]], warp = {{\[\[}}64]]} : [128]>
// CHECK: #[[B:.*]] = #cta.layout<{register = {{\[\[}}64]], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}32]]} : [128]>
// CHECK: #[[C:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [0, 0]], warp = []} : [16, 4]>

// CHECK-LABEL: func.func @convert
// CHECK: cta.convert_layout %{{.*}} : tensor<128xf32, #[[A]]> -> tensor<128xf32, #[[B]]>
func.func @convert(%x: tensor<128xf32, #a>) -> tensor<128xf32, #b> {
  %0 = cta.convert_layout %x : tensor<128xf32, #a> -> tensor<128xf32, #b>
  // CHECK: cta.barrier
  cta.barrier
  return %0 : tensor<128xf32, #b>
}

// CHECK-LABEL: func.func @with_layout
// CHECK: tile.splat %{{.*}} : f32 -> tensor<16x4xf32, #[[C]]>
func.func @with_layout(%x: f32) -> tensor<16x4xf32, #c> {
  %0 = tile.splat %x : f32 -> tensor<16x4xf32, #c>
  return %0 : tensor<16x4xf32, #c>
}

// FOLD-LABEL: func.func @there_and_back(
// FOLD-SAME: %[[X:.*]]: tensor
// FOLD-NEXT: return %[[X]]
func.func @there_and_back(%x: tensor<128xf32, #a>) -> tensor<128xf32, #a> {
  %0 = cta.convert_layout %x : tensor<128xf32, #a> -> tensor<128xf32, #b>
  %1 = cta.convert_layout %0 : tensor<128xf32, #b> -> tensor<128xf32, #a>
  return %1 : tensor<128xf32, #a>
}
