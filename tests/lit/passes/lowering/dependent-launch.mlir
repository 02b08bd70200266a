// A dependent launch waits for the grids before it behind the index arithmetic,
// but before whatever may touch global memory, and on every path.
// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s
// RUN: sed 's/tile.dependent_launch/tile.dependent_launch, tile.announces/' %s | tile-opt --tile-lower-to-llvm | FileCheck %s --check-prefix=NEXT

#l = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = []} : [32]>

module attributes {tile.target = #tile.target<sm_90a>, tile.dependent_launch, tile.kernel = #tile.kernel<warps = 1>} {
// CHECK-LABEL: llvm.func @before_the_first_access
// CHECK: llvm.getelementptr
// CHECK: nvvm.griddepcontrol wait
// CHECK: llvm.load
// CHECK-NOT: griddepcontrol
// Without products the next grid may start as soon as those before have ended.
// NEXT: nvvm.griddepcontrol wait
// NEXT-NEXT: nvvm.griddepcontrol launch_dependents
// NEXT: llvm.load
func.func @before_the_first_access(%p: !tile.ptr<i32>) {
  %r = tile.make_range 0 to 32 : tensor<32xi32, #l>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>, #l>
  %pp = tile.addptr %ps, %r : tensor<32x!tile.ptr<i32>, #l>, tensor<32xi32, #l>
  %x = tile.load %pp : tensor<32x!tile.ptr<i32>, #l>
  tile.store %pp, %x : tensor<32x!tile.ptr<i32>, #l>
  return
}

// CHECK-LABEL: llvm.func @before_the_branch
// CHECK: nvvm.griddepcontrol wait
// CHECK: llvm.cond_br
// CHECK-NOT: griddepcontrol
func.func @before_the_branch(%p: !tile.ptr<i32>, %x: i32, %c: i1) {
  scf.if %c {
    tile.store %p, %x : !tile.ptr<i32>
  }
  return
}

// PTX that is called pure may read memory all the same.
// CHECK-LABEL: llvm.func @before_inline_ptx
// CHECK: nvvm.griddepcontrol wait
// CHECK: llvm.inline_asm
func.func @before_inline_ptx(%p: !tile.ptr<i32>) {
  %x = tile.inline_asm "ld.global.u32 $0, [$1];", "=r,l" (%p) {pack = 1 : i32, pure} : (!tile.ptr<i32>) -> i32
  tile.store %p, %x : !tile.ptr<i32>
  return
}

// Later grids rely on this one to have waited, even if it reads nothing.
// CHECK-LABEL: llvm.func @without_access
// CHECK: nvvm.griddepcontrol wait
// CHECK-NEXT: llvm.return
func.func @without_access(%x: i32) {
  return
}
}
