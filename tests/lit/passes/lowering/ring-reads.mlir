// A slot that threads have read is given back when what they have read has come: the address of
// the barrier depends on it, though it adds nothing. An arrival by itself would pass reads that
// queue for shared memory.
// RUN: tile-opt %s --tile-assign-layouts --tile-pipeline-loads --tile-allocate-scratch \
// RUN:   --tile-lower-to-llvm | FileCheck %s

!ptrs = tensor<1024x!tile.ptr<f16>>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {

// CHECK-LABEL: llvm.func @rows
// CHECK: %[[ZERO:.*]] = llvm.inline_asm {{.*}}%clock_hi
// CHECK: llvm.nvvm.ldmatrix
// CHECK: %[[BOTH:.*]] = llvm.or %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: llvm.store %[[BOTH]], %[[READS:[0-9]+]] : i32
// CHECK: %[[ALL:.*]] = llvm.load %[[READS]] : !llvm.ptr -> i32
// CHECK: %[[NOTHING:.*]] = llvm.and %[[ALL]], %[[ZERO]] : i32
// CHECK: llvm.store %{{.*}}, %[[READS]] : i32
// CHECK: %[[BARRIER:.*]] = llvm.add %{{.*}}, %[[NOTHING]] : i32
// CHECK: bar.warp.sync
// CHECK: mbarrier.arrive.shared::cta.b64 _, [$0];{{.*}} %[[BARRIER]],
func.func @rows(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %out: !tile.ptr<f16>,
                %rows: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %columns = arith.constant 1024 : i32
  %column = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> !ptrs
  %outs = tile.splat %out : !tile.ptr<f16> -> !ptrs
  scf.for %i = %zero to %rows step %one : i32 {
    %start = arith.muli %i, %columns : i32
    %starts = tile.splat %start : i32 -> tensor<1024xi32>
    %at = arith.addi %starts, %column : tensor<1024xi32>
    %from = tile.addptr %xs, %at : !ptrs, tensor<1024xi32>
    %v = tile.load %from : !ptrs
    %to = tile.addptr %outs, %at : !ptrs, tensor<1024xi32>
    tile.store %to, %v : !ptrs
  } {tile.num_stages = 3 : i32}
  return
}
}
