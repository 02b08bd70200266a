// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s
//
// Behind its last turn a loop's counter may be out of its type: the loop ends all the same.

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// By ones it never is.
// CHECK-LABEL: llvm.func @by_ones
// CHECK: llvm.icmp "slt" %{{.*}}, %arg1
func.func @by_ones(%from: i32, %to: i32, %p: !tile.ptr<i32>) {
  %c1 = arith.constant 1 : i32
  scf.for %i = %from to %to step %c1 : i32 {
    tile.store %p, %i : !tile.ptr<i32>
  }
  return
}

// From 0 on, the last turn is known by a difference that fits the type.
// CHECK-LABEL: llvm.func @from_zero
// CHECK: %[[LAST:.*]] = llvm.sub %arg0, %[[STEP:.*]] : i32
// CHECK: %[[ANY:.*]] = llvm.icmp "slt" %{{.*}}, %arg0
// CHECK: llvm.cond_br %[[ANY]], ^[[BODY:bb[0-9]+]]
// CHECK: ^[[BODY]](%[[I:.*]]: i32):
// CHECK: %[[NEXT:.*]] = llvm.add %[[I]], %[[STEP]] overflow<nsw>
// CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[I]], %[[LAST]]
// CHECK: llvm.cond_br %[[MORE]], ^[[BODY]](%[[NEXT]]
func.func @from_zero(%to: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  scf.for %i = %c0 to %to step %c3 : i32 {
    tile.store %p, %i : !tile.ptr<i32>
  }
  return
}

// Bounds that are known leave the counter in its type.
// CHECK-LABEL: llvm.func @known_end
// CHECK-NOT: llvm.intr.smax
// CHECK: llvm.icmp "slt"
func.func @known_end(%from: i32, %p: !tile.ptr<i32>) {
  %c100 = arith.constant 100 : i32
  %c3 = arith.constant 3 : i32
  scf.for %i = %from to %c100 step %c3 : i32 {
    tile.store %p, %i : !tile.ptr<i32>
  }
  return
}

// Otherwise the distance to the end is asked for before the counter grows.
// CHECK-LABEL: llvm.func @from_anywhere
// CHECK: %[[ANY:.*]] = llvm.icmp "slt" %arg0, %arg1
// CHECK: llvm.cond_br %[[ANY]], ^[[BODY:bb[0-9]+]](%arg0, %{{.*}} : i32, i32), ^[[EXIT:bb[0-9]+]](%{{.*}} : i32)
// CHECK: ^[[BODY]](%[[I:.*]]: i32, %[[SUM:.*]]: i32):
// CHECK: %[[NEXT:.*]] = llvm.add %[[I]], %[[STEP:.*]] overflow<nsw> : i32
// CHECK: %[[LEFT:.*]] = llvm.sub %arg1, %[[I]]
// CHECK: %[[MORE:.*]] = llvm.icmp "ugt" %[[LEFT]], %[[STEP]]
// CHECK: llvm.cond_br %[[MORE]], ^[[BODY]](%[[NEXT]], %[[NEW:.*]] : i32, i32), ^[[EXIT]](%[[NEW]] : i32)
func.func @from_anywhere(%from: i32, %to: i32, %p: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %sum = scf.for %i = %from to %to step %c3 iter_args(%s = %c0) -> (i32) : i32 {
    %next = arith.addi %s, %i : i32
    scf.yield %next : i32
  }
  tile.store %p, %sum : !tile.ptr<i32>
  return
}
}
