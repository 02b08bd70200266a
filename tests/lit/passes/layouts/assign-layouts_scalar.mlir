// RUN: tile-opt %s --tile-assign-layouts | FileCheck %s

// A choice by a scalar is computed again like anything else, though its first
// operand has no shape.
// CHECK-LABEL: func.func @scalar_choice
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x64xi32, #{{.*}}>
func.func @scalar_choice(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>, %c: i1) {
  %one = arith.constant dense<1> : tensor<2x4x64xi32>
  %i = tile.make_range 0 to 64 : tensor<64xi32>
  %e = tile.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %b = tile.broadcast %e : tensor<1x64xi32> -> tensor<2x64xi32>
  %s = tile.splat %p : !tile.ptr<i32> -> tensor<2x64x!tile.ptr<i32>>
  %a = tile.addptr %s, %b : tensor<2x64x!tile.ptr<i32>>, tensor<2x64xi32>
  %v = tile.load %a : tensor<2x64x!tile.ptr<i32>>
  %w = tile.expand_dims %v {axis = 1 : i32} : tensor<2x64xi32> -> tensor<2x1x64xi32>
  %x = tile.broadcast %w : tensor<2x1x64xi32> -> tensor<2x4x64xi32>
  %y = arith.addi %x, %one : tensor<2x4x64xi32>
  %z = arith.select %c, %x, %y : tensor<2x4x64xi32>
  %t = tile.splat %q : !tile.ptr<i32> -> tensor<2x4x64x!tile.ptr<i32>>
  tile.store %t, %z : tensor<2x4x64x!tile.ptr<i32>>
  return
}
