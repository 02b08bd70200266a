// What a branch in a loop loads is loaded in front of it, where the branch is taken in every turn or in none.
// RUN: tile-opt %s --tile-load-before-branches | FileCheck %s

!ptrs = tensor<16x32x!tile.ptr<f16>>
!block = tensor<16x32xf16>
!sums = tensor<16x16xf32>
!row = tensor<128x!tile.ptr<f32>>
!numbers = tensor<128xf32>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1, stages = 3>} {
// With the address and the mask. Of the branch in the branch, whose condition is computed in it, both conditions hold.
// CHECK-LABEL: func.func @nested
// CHECK-SAME: %[[P:.*]]: tensor<16x32x!tile.ptr<f16>>, %[[Q:.*]]: tensor<16x32x!tile.ptr<f16>>, %[[M:.*]]: tensor<16x32xi1>, %[[T:.*]]: i1,
// CHECK: scf.for
// CHECK-NEXT: tile.splat %{{.*}} : i32
// CHECK-NEXT: %[[AT:.*]] = tile.addptr %[[P]]
// CHECK-NEXT: %[[S:.*]] = tile.splat %[[T]] : i1 -> tensor<16x32xi1>
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[M]], %[[S]]
// CHECK-NEXT: %[[X:.*]] = tile.load %[[AT]], %[[BOTH]] :
// CHECK: %[[C:.*]] = arith.cmpi slt
// CHECK-NEXT: %[[CS:.*]] = arith.andi %[[T]], %[[C]] : i1
// CHECK-NEXT: %[[INNER:.*]] = tile.splat %[[CS]]
// CHECK-NEXT: %[[Y:.*]] = tile.load %[[Q]], %[[INNER]] :
// CHECK-NEXT: scf.if %[[T]]
// CHECK-NOT: tile.load
// CHECK: scf.if %[[C]]
// CHECK-NOT: tile.load
// CHECK: return
func.func @nested(%p: !ptrs, %q: !ptrs, %m: tensor<16x32xi1>, %t: i1, %i: i32, %n: i32) -> !sums {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> !sums : i32 {
    %b = scf.if %t -> !sums {
      %o = tile.splat %k : i32 -> tensor<16x32xi32>
      %at = tile.addptr %p, %o : !ptrs, tensor<16x32xi32>
      %x = tile.load %at, %m : !ptrs
      %xt = tile.trans %x [1, 0] : !block -> tensor<32x16xf16>
      %d = tile.dot %x, %xt, %a : !block * tensor<32x16xf16> -> !sums
      %c = arith.cmpi slt, %i, %n : i32
      %e = scf.if %c -> !sums {
        %y = tile.load %q : !ptrs
        %f = tile.dot %y, %xt, %d : !block * tensor<32x16xf16> -> !sums
        scf.yield %f : !sums
      } else {
        scf.yield %d : !sums
      }
      scf.yield %e : !sums
    } else {
      scf.yield %a : !sums
    }
    scf.yield %b : !sums
  }
  return %r : !sums
}

// A branch of some turns: its loads would be for nothing in others. And a loop that does not multiply.
// CHECK-LABEL: func.func @others
// CHECK: scf.if
// CHECK: tile.load
// CHECK: scf.for
// CHECK-NEXT: scf.if
// CHECK-NEXT: tile.load
func.func @others(%p: !ptrs, %q: !row, %t: i1, %n: i32) -> (!sums, !numbers) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %none = arith.constant dense<0.0> : !numbers
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> !sums : i32 {
    %c = arith.cmpi eq, %k, %c1 : i32
    %b = scf.if %c -> !sums {
      %x = tile.load %p : !ptrs
      %xt = tile.trans %x [1, 0] : !block -> tensor<32x16xf16>
      %d = tile.dot %x, %xt, %a : !block * tensor<32x16xf16> -> !sums
      scf.yield %d : !sums
    } else {
      scf.yield %a : !sums
    }
    scf.yield %b : !sums
  }
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %none) -> !numbers : i32 {
    %b = scf.if %t -> !numbers {
      %x = tile.load %q : !row
      %d = arith.addf %a, %x : !numbers
      scf.yield %d : !numbers
    } else {
      scf.yield %a : !numbers
    }
    scf.yield %b : !numbers
  }
  return %r, %s : !sums, !numbers
}

// What is loaded moves with what its address is loaded by. A volatile load stays, and what is behind it, which may be
// another thread's answer to it.
// CHECK-LABEL: func.func @order
// CHECK-SAME: %[[P:.*]]: tensor<16x32x!tile.ptr<f16>>, %[[I:.*]]: !tile.ptr<i32>, %[[T:.*]]: i1,
// CHECK: scf.for
// CHECK-NEXT: %[[J:.*]] = tile.load %[[I]], %[[T]] : !tile.ptr<i32>
// CHECK-NEXT: tile.splat %[[J]]
// CHECK-NEXT: %[[AT:.*]] = tile.addptr %[[P]]
// CHECK-NEXT: %[[S:.*]] = tile.splat %[[T]]
// CHECK-NEXT: tile.load %[[AT]], %[[S]] :
// CHECK-NEXT: scf.if %[[T]]
// CHECK: tile.load %[[P]] {is_volatile = true}
// CHECK: tile.load %[[P]] :
// CHECK: return
func.func @order(%p: !ptrs, %i: !tile.ptr<i32>, %t: i1, %n: i32) -> !sums {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> !sums : i32 {
    %b = scf.if %t -> !sums {
      %j = tile.load %i : !tile.ptr<i32>
      %o = tile.splat %j : i32 -> tensor<16x32xi32>
      %at = tile.addptr %p, %o : !ptrs, tensor<16x32xi32>
      %x = tile.load %at : !ptrs
      %v = tile.load %p {is_volatile = true} : !ptrs
      %w = tile.load %p : !ptrs
      %u = arith.addf %v, %w : !block
      %xt = tile.trans %x [1, 0] : !block -> tensor<32x16xf16>
      %d = tile.dot %u, %xt, %a : !block * tensor<32x16xf16> -> !sums
      scf.yield %d : !sums
    } else {
      scf.yield %a : !sums
    }
    scf.yield %b : !sums
  }
  return %r : !sums
}

// What is multiplied, as far as three turns of it leave room for as many programs as
// registers do; not what would stay in registers, nor what the loop writes.
// CHECK-LABEL: func.func @room
// CHECK-SAME: %[[P:.*]]: tensor<16x32x!tile.ptr<f16>>, %[[Q:.*]]: tensor<64x32x!tile.ptr<f16>>, %[[L:.*]]: tensor<128x32x!tile.ptr<f16>>, %[[S:.*]]: tensor<16x16x!tile.ptr<f32>>, %[[W:.*]]: tensor<32x32x!tile.ptr<f16>>
// CHECK: scf.for
// CHECK: tile.load %[[P]], %
// CHECK: tile.load %[[Q]], %
// CHECK-NOT: tile.load
// CHECK: scf.if
// CHECK-DAG: tile.load %[[L]] :
// CHECK-DAG: tile.load %[[S]] :
// CHECK-DAG: tile.load %[[W]] :
// CHECK: return
func.func @room(%p: !ptrs, %q: tensor<64x32x!tile.ptr<f16>>, %l: tensor<128x32x!tile.ptr<f16>>,
                %s: tensor<16x16x!tile.ptr<f32>>, %w: tensor<32x32x!tile.ptr<f16>>, %t: i1, %n: i32)
    -> (!sums, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x32xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant dense<0.0> : !sums
  %z64 = arith.constant dense<0.0> : tensor<16x64xf32>
  %z128 = arith.constant dense<0.0> : tensor<16x128xf32>
  %z32 = arith.constant dense<0.0> : tensor<16x32xf32>
  %one = arith.constant dense<1.0> : tensor<32x32xf16>
  %r:4 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z, %b = %z64, %c = %z128, %d = %z32)
      -> (!sums, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x32xf32>) : i32 {
    %m:4 = scf.if %t -> (!sums, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x32xf32>) {
      %x = tile.load %p : !ptrs
      %y = tile.load %q : tensor<64x32x!tile.ptr<f16>>
      %v = tile.load %l : tensor<128x32x!tile.ptr<f16>>
      %u = tile.load %s : tensor<16x16x!tile.ptr<f32>>
      %g = tile.load %w : tensor<32x32x!tile.ptr<f16>>
      %e = arith.addf %a, %u : !sums
      %yt = tile.trans %y [1, 0] : tensor<64x32xf16> -> tensor<32x64xf16>
      %vt = tile.trans %v [1, 0] : tensor<128x32xf16> -> tensor<32x128xf16>
      %f = tile.dot %x, %yt, %b : !block * tensor<32x64xf16> -> tensor<16x64xf32>
      %h = tile.dot %x, %vt, %c : !block * tensor<32x128xf16> -> tensor<16x128xf32>
      %i = tile.dot %x, %g, %d : !block * tensor<32x32xf16> -> tensor<16x32xf32>
      scf.yield %e, %f, %h, %i : !sums, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x32xf32>
    } else {
      scf.yield %a, %b, %c, %d : !sums, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x32xf32>
    }
    tile.store %w, %one : tensor<32x32x!tile.ptr<f16>>
    scf.yield %m#0, %m#1, %m#2, %m#3 : !sums, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x32xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : !sums, tensor<16x64xf32>, tensor<16x128xf32>, tensor<16x32xf32>
}

// What is the same in all turns is seen in one walk, though each of forty steps takes the one before it twice.
// CHECK-LABEL: func.func @twice
// CHECK: scf.for
// CHECK: tile.load
// CHECK: scf.if
func.func @twice(%p: !ptrs, %i: i32, %n: i32) -> !sums {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : !sums
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> !sums : i32 {
    %s0 = arith.muli %i, %i : i32
    %s1 = arith.muli %s0, %s0 : i32
    %s2 = arith.muli %s1, %s1 : i32
    %s3 = arith.muli %s2, %s2 : i32
    %s4 = arith.muli %s3, %s3 : i32
    %s5 = arith.muli %s4, %s4 : i32
    %s6 = arith.muli %s5, %s5 : i32
    %s7 = arith.muli %s6, %s6 : i32
    %s8 = arith.muli %s7, %s7 : i32
    %s9 = arith.muli %s8, %s8 : i32
    %s10 = arith.muli %s9, %s9 : i32
    %s11 = arith.muli %s10, %s10 : i32
    %s12 = arith.muli %s11, %s11 : i32
    %s13 = arith.muli %s12, %s12 : i32
    %s14 = arith.muli %s13, %s13 : i32
    %s15 = arith.muli %s14, %s14 : i32
    %s16 = arith.muli %s15, %s15 : i32
    %s17 = arith.muli %s16, %s16 : i32
    %s18 = arith.muli %s17, %s17 : i32
    %s19 = arith.muli %s18, %s18 : i32
    %s20 = arith.muli %s19, %s19 : i32
    %s21 = arith.muli %s20, %s20 : i32
    %s22 = arith.muli %s21, %s21 : i32
    %s23 = arith.muli %s22, %s22 : i32
    %s24 = arith.muli %s23, %s23 : i32
    %s25 = arith.muli %s24, %s24 : i32
    %s26 = arith.muli %s25, %s25 : i32
    %s27 = arith.muli %s26, %s26 : i32
    %s28 = arith.muli %s27, %s27 : i32
    %s29 = arith.muli %s28, %s28 : i32
    %s30 = arith.muli %s29, %s29 : i32
    %s31 = arith.muli %s30, %s30 : i32
    %s32 = arith.muli %s31, %s31 : i32
    %s33 = arith.muli %s32, %s32 : i32
    %s34 = arith.muli %s33, %s33 : i32
    %s35 = arith.muli %s34, %s34 : i32
    %s36 = arith.muli %s35, %s35 : i32
    %s37 = arith.muli %s36, %s36 : i32
    %s38 = arith.muli %s37, %s37 : i32
    %s39 = arith.muli %s38, %s38 : i32
    %c = arith.cmpi slt, %s39, %n : i32
    %b = scf.if %c -> !sums {
      %x = tile.load %p : !ptrs
      %xt = tile.trans %x [1, 0] : !block -> tensor<32x16xf16>
      %d = tile.dot %x, %xt, %a : !block * tensor<32x16xf16> -> !sums
      scf.yield %d : !sums
    } else {
      scf.yield %a : !sums
    }
    scf.yield %b : !sums
  }
  return %r : !sums
}
}
