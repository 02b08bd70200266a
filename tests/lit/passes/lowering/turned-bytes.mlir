// Bytes that change places with those of other registers are joined by `prmt`, two of four words at
// a time, not taken out and put in one by one.
// Halves that two results have in common are the same instruction, which LLVM makes once.
// RUN: tile-opt %s --tile-allocate-scratch --tile-lower-to-llvm --cse | FileCheck %s
#from = #cta.layout<{register = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [[0, 4], [0, 8], [4, 0], [8, 0], [16, 0]], warp = []} : [32, 16]>
#to = #cta.layout<{register = [[1, 0], [2, 0], [0, 1], [0, 2]], lane = [[0, 4], [0, 8], [4, 0], [8, 0], [16, 0]], warp = []} : [32, 16]>
#flat = #cta.layout<{register = [[1], [2], [16], [32]], lane = [[4], [8], [64], [128], [256]], warp = []} : [512]>
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {

// CHECK-LABEL: llvm.func{{.*}} @turned
// CHECK-COUNT-12: nvvm.prmt
// CHECK-NOT: nvvm.prmt
// CHECK: llvm.return
func.func @turned(%p: !tile.ptr<i8>, %q: !tile.ptr<i8>) {
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<32x16x!tile.ptr<i8>, #from>
  %range = tile.make_range 0 to 512 : tensor<512xi32, #flat>
  %at = tile.reshape %range : tensor<512xi32, #flat> -> tensor<32x16xi32, #from>
  %pp = tile.addptr %ps, %at : tensor<32x16x!tile.ptr<i8>, #from>, tensor<32x16xi32, #from>
  %x = tile.load %pp {vector = 4 : i32} : tensor<32x16x!tile.ptr<i8>, #from>
  %y = cta.convert_layout %x : tensor<32x16xi8, #from> -> tensor<32x16xi8, #to>
  %qs = tile.splat %q : !tile.ptr<i8> -> tensor<32x16x!tile.ptr<i8>, #to>
  tile.store %qs, %y {vector = 4 : i32} : tensor<32x16x!tile.ptr<i8>, #to>
  return
}
}
