// What products of a loop multiply is copied to shared memory iterations ahead.
// RUN: tile-opt %s --tile-assign-layouts --tile-pipeline-loads --tile-verify-protocol -o %t 2>%t.remarks
// RUN: FileCheck %s --input-file %t
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=WHY

!ptrs = tensor<64x32x!tile.ptr<f16>>
!block = tensor<64x32xf16>

module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4, stages = 3>} {

// The first two iterations' copies start before the loop, each under the
// condition that there is such an iteration. In the loop the slot that the
// iteration before has read is filled for the iteration after the next.
// CHECK-LABEL: func.func @product
// CHECK-DAG: %[[X:.*]] = cta.slots {count = 3 : i32} : <[64, 32], f16
// CHECK-DAG: %[[Y:.*]] = cta.slots {count = 3 : i32} : <[32, 64], f16
// CHECK: %[[AHEAD:.*]]:2 = scf.for %[[S:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[P:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK:   %[[IN:.*]] = arith.cmpi slt
// CHECK:   %[[XS:.*]] = cta.slot %[[X]][%[[S]]]
// CHECK:   cta.async_copy %[[P]], %{{.*}} to %[[XS]] when %[[IN]] vector 8
// CHECK:   %[[YS:.*]] = cta.slot %[[Y]][%[[S]]]
// CHECK:   cta.async_copy %{{.*}} to %[[YS]] when %[[IN]] vector 8
// CHECK:   cta.async_commit
// CHECK: } {cta.prologue}
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %{{.*}} = %[[AHEAD]]#0, %{{.*}} = %[[AHEAD]]#1, %[[USED:.*]] = %{{.*}}, %[[FILLED:.*]] = %{{.*}})
// CHECK-NEXT: cta.async_wait 1
// CHECK:   cta.slot %[[X]][%[[FILLED]]]
// CHECK:   cta.async_copy
// CHECK:   cta.slot %[[Y]][%[[FILLED]]]
// CHECK:   cta.async_copy
// CHECK:   cta.async_commit
// CHECK-NOT: tile.load
// CHECK-DAG: %[[XR:.*]] = cta.slot %[[X]][%[[USED]]]
// CHECK-DAG: %[[A:.*]] = cta.read %[[XR]]
// CHECK-DAG: %[[YR:.*]] = cta.slot %[[Y]][%[[USED]]]
// CHECK-DAG: %[[B:.*]] = cta.read %[[YR]]
// CHECK:   %[[NEXT:.*]] = tile.dot %[[A]], %[[B]], %[[ACC]]
// CHECK:   scf.yield %[[NEXT]], %{{.*}}, %{{.*}}, %{{.*}}, %[[USED]]
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32>,
                   %K: i32 {tile.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %k = tile.make_range 0 to 32 : tensor<32xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %Ks = tile.splat %K : i32 -> tensor<64x1xi32>
  %row_at = arith.muli %row, %Ks : tensor<64x1xi32>
  %rows = tile.broadcast %row_at : tensor<64x1xi32> -> tensor<64x32xi32>
  %k_row = tile.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %columns = tile.broadcast %k_row : tensor<1x32xi32> -> tensor<64x32xi32>
  %offset = arith.addi %rows, %columns : tensor<64x32xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> !ptrs
  %a0 = tile.addptr %as, %offset : !ptrs, tensor<64x32xi32>
  %k_column = tile.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %c64s = arith.constant dense<64> : tensor<32x1xi32>
  %k_at = arith.muli %k_column, %c64s : tensor<32x1xi32>
  %k_rows = tile.broadcast %k_at : tensor<32x1xi32> -> tensor<32x64xi32>
  %n_row = tile.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %n_columns = tile.broadcast %n_row : tensor<1x64xi32> -> tensor<32x64xi32>
  %b_offset = arith.addi %k_rows, %n_columns : tensor<32x64xi32>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<32x64x!tile.ptr<f16>>
  %b0 = tile.addptr %bs, %b_offset : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
  %a_step = arith.constant dense<32> : tensor<64x32xi32>
  %b_step = arith.constant dense<2048> : tensor<32x64xi32>
  %sum:3 = scf.for %i = %c0 to %K step %c32 iter_args(%acc = %zero, %pa = %a0, %pb = %b0)
      -> (tensor<64x64xf32>, !ptrs, tensor<32x64x!tile.ptr<f16>>) : i32 {
    %left = arith.subi %K, %i : i32
    %lefts = tile.splat %left : i32 -> tensor<1x32xi32>
    %in = arith.cmpi slt, %k_row, %lefts : tensor<1x32xi32>
    %mask = tile.broadcast %in : tensor<1x32xi1> -> tensor<64x32xi1>
    %x = tile.load %pa, %mask : !ptrs
    %y = tile.load %pb : tensor<32x64x!tile.ptr<f16>>
    %next = tile.dot %x, %y, %acc : !block * tensor<32x64xf16> -> tensor<64x64xf32>
    %na = tile.addptr %pa, %a_step : !ptrs, tensor<64x32xi32>
    %nb = tile.addptr %pb, %b_step : tensor<32x64x!tile.ptr<f16>>, tensor<32x64xi32>
    scf.yield %next, %na, %nb : tensor<64x64xf32>, !ptrs, tensor<32x64x!tile.ptr<f16>>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %cs, %sum#0 : tensor<64x64x!tile.ptr<f32>>
  return
}

// An index is loaded at the top, under the same condition; the copies that
// depend on it start when the product has been issued.
// CHECK-LABEL: func.func @by_index
// CHECK: scf.for
// CHECK:   %[[THERE:.*]] = arith.cmpi slt
// CHECK:   tile.load %{{.*}}, %[[THERE]] : !tile.ptr<i32>
// CHECK: {cta.prologue}
// CHECK: cta.async_wait 1
// CHECK: %[[WHEN:.*]] = arith.cmpi slt
// CHECK: tile.load %{{.*}}, %[[WHEN]] : !tile.ptr<i32>
// CHECK: tile.dot
// CHECK: cta.async_copy {{.*}} when %[[WHEN]] vector 8
// CHECK: cta.async_commit
func.func @by_index(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %index: !tile.ptr<i32>,
                    %c: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2048 = arith.constant 2048 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %y = arith.constant dense<1.0> : tensor<32x64xf16>
  %m = tile.make_range 0 to 2048 : tensor<2048xi32>
  %at = tile.reshape %m : tensor<2048xi32> -> tensor<64x32xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %p = tile.addptr %index, %i : !tile.ptr<i32>, i32
    %which = tile.load %p : !tile.ptr<i32>
    %first = arith.muli %which, %c2048 : i32
    %base = tile.addptr %a, %first : !tile.ptr<f16>, i32
    %bases = tile.splat %base : !tile.ptr<f16> -> !ptrs
    %ptrs = tile.addptr %bases, %at : !ptrs, tensor<64x32xi32>
    %x = tile.load %ptrs : !ptrs
    %next = tile.dot %x, %y, %acc : !block * tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %cs, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}

// What the loop writes is not read ahead of it.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT: cta.async_copy
// WHY: remark: not copied by cp.async: the loop also writes through the same pointer
func.func @in_place(%base: !tile.ptr<f16>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<f16> -> !ptrs
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %a : !ptrs
    %d = tile.dot %x, %y, %zero : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    %h = arith.truncf %d : tensor<64x32xf32> to !block
    tile.store %a, %h : !ptrs
  }
  return
}

// Elements that are scattered, two bytes each.
// CHECK-LABEL: func.func @scattered
// CHECK-NOT: cta.async_copy
// WHY: remark: not copied by cp.async: less than 4 bytes are known to lie side by side
func.func @scattered(%base: !tile.ptr<f16>, %c: !tile.ptr<f32>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<f16> -> !ptrs
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
    %x = tile.load %a : !ptrs
    %d = tile.dot %x, %y, %acc : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  tile.store %cs, %sum : tensor<64x32x!tile.ptr<f32>>
  return
}

// Elements of four bytes may be scattered. `num_stages` of the loop counts.
// CHECK-LABEL: func.func @gathered
// CHECK: cta.slots {count = 2 : i32}
// CHECK: cta.async_copy {{.*}} vector 1
// CHECK: cta.async_wait 0
// With one stage nothing is copied ahead.
// CHECK: scf.for
// CHECK-NOT: cta.async_copy
// CHECK: tile.num_stages = 1
func.func @gathered(%base: !tile.ptr<i32>, %c: !tile.ptr<f32>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<i32> -> tensor<64x32x!tile.ptr<i32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %acc : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  } {tile.num_stages = 2 : i32}
  %more = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<64x32xf32>) : i32 {
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %acc : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  } {tile.num_stages = 1 : i32}
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  tile.store %cs, %more : tensor<64x32x!tile.ptr<f32>>
  return
}

// What only scales products is copied ahead where the loop itself asks for stages.
// CHECK-LABEL: func.func @scaled
// CHECK-COUNT-2: cta.slots {count = 2 : i32}
// CHECK-NOT: tile.load
// With the kernel's number of stages it is loaded when it is needed.
// CHECK: cta.slots {count = 3 : i32}
// CHECK-NOT: cta.slots
// CHECK: tile.load
func.func @scaled(%base: !tile.ptr<i32>, %scale: !tile.ptr<f32>, %c: !tile.ptr<f32>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<i32> -> tensor<64x32x!tile.ptr<i32>>
  %ss = tile.splat %scale : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %s = tile.load %ss : tensor<64x32x!tile.ptr<f32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %zero : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    %m = arith.mulf %d, %s : tensor<64x32xf32>
    %next = arith.addf %acc, %m : tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  } {tile.num_stages = 2 : i32}
  %more = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %sum) -> (tensor<64x32xf32>) : i32 {
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %s = tile.load %ss : tensor<64x32x!tile.ptr<f32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %zero : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    %m = arith.mulf %d, %s : tensor<64x32xf32>
    %next = arith.addf %acc, %m : tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  tile.store %cs, %more : tensor<64x32x!tile.ptr<f32>>
  return
}

// CHECK-LABEL: func.func @with_barriers
// CHECK-NOT: cta.async_copy
// WHY: remark: not copied by cp.async: the loop has barriers, or atomics whose results are used, or waits for a flag
func.func @with_barriers(%base: !tile.ptr<i32>, %c: !tile.ptr<f32>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<i32> -> tensor<64x32x!tile.ptr<i32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
    tile.barrier
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %acc : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  tile.store %cs, %sum : tensor<64x32x!tile.ptr<f32>>
  return
}

// Sums that others add to as well keep no load behind them, unless of what they add to; what tells the
// program something does.
// CHECK-LABEL: func.func @with_sums
// CHECK: scf.for
// CHECK: cta.async_copy
// CHECK: scf.for
// CHECK: tile.atomic_rmw
// CHECK: return
func.func @with_sums(%base: !tile.ptr<i32>, %c: !tile.ptr<f32>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<i32> -> tensor<64x32x!tile.ptr<i32>>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %zero : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    %old = tile.atomic_rmw fadd acq_rel gpu %cs, %d : tensor<64x32x!tile.ptr<f32>>
  }
  return
}

// CHECK-LABEL: func.func @with_sums_of_operands
// CHECK-NOT: cta.async_copy
// WHY: remark: not copied by cp.async: the loop also writes through the same pointer
func.func @with_sums_of_operands(%base: !tile.ptr<i32>, %c: !tile.ptr<f32>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<i32> -> tensor<64x32x!tile.ptr<i32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %acc : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    %old = tile.atomic_rmw add relaxed gpu %a, %x : tensor<64x32x!tile.ptr<i32>>
    scf.yield %d : tensor<64x32xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  tile.store %cs, %sum : tensor<64x32x!tile.ptr<f32>>
  return
}

// CHECK-LABEL: func.func @with_flags
// CHECK-NOT: cta.async_copy
func.func @with_flags(%base: !tile.ptr<i32>, %flag: !tile.ptr<i32>, %c: !tile.ptr<f32>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<i32> -> tensor<64x32x!tile.ptr<i32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %all = %c0) -> (tensor<64x32xf32>, i32) : i32 {
    %old = tile.atomic_rmw add relaxed gpu %flag, %c1 : !tile.ptr<i32>
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %acc : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    %seen = arith.addi %all, %old : i32
    scf.yield %d, %seen : tensor<64x32xf32>, i32
  }
  tile.store %flag, %sum#1 : !tile.ptr<i32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  tile.store %cs, %sum#0 : tensor<64x32x!tile.ptr<f32>>
  return
}

// CHECK-LABEL: func.func @with_waits
// CHECK-NOT: cta.async_copy
func.func @with_waits(%base: !tile.ptr<i32>, %flag: !tile.ptr<i32>, %c: !tile.ptr<f32>, %n: i32) {
  %a = tile.splat %base : !tile.ptr<i32> -> tensor<64x32x!tile.ptr<i32>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
    %old = tile.atomic_rmw add acq_rel gpu %flag, %c1 : !tile.ptr<i32>
    scf.while : () -> () {
      %all = tile.load %flag {is_volatile = true} : !tile.ptr<i32>
      %wait = arith.cmpi ne, %all, %n : i32
      scf.condition(%wait)
    } do {
      scf.yield
    }
    %x = tile.load %a : tensor<64x32x!tile.ptr<i32>>
    %h = arith.sitofp %x : tensor<64x32xi32> to !block
    %d = tile.dot %h, %y, %acc : !block * tensor<32x32xf16> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  tile.store %cs, %sum : tensor<64x32x!tile.ptr<f32>>
  return
}

// No matrix instruction multiplies f32 in full. Each thread reads what it multiplies next from the
// slots: it could not hold all of it, and a second copy would take as much memory again.
// CHECK-LABEL: func.func @multiply_adds
// CHECK-DAG: %{{.*}} = cta.slots {count = 3 : i32} : <[64, 32], f32
// CHECK-DAG: %{{.*}} = cta.slots {count = 3 : i32} : <[32, 64], f32
// CHECK: cta.async_wait 1
// CHECK-DAG: %[[A:.*]] = cta.read %{{.*}} : <[64, 32], f32, #{{.*}}> -> tensor<64x32xf32, #[[ROWS:.*]]>
// CHECK-DAG: %[[B:.*]] = cta.read %{{.*}} : <[32, 64], f32, #{{.*}}> -> tensor<32x64xf32, #[[COLUMNS:.*]]>
// CHECK: tile.dot %[[A]], %[[B]], %{{.*}} : tensor<64x32xf32, #[[ROWS]]> * tensor<32x64xf32, #[[COLUMNS]]>
func.func @multiply_adds(%a: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                         %b: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32>,
                         %K: i32 {tile.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %k = tile.make_range 0 to 32 : tensor<32xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %Ks = tile.splat %K : i32 -> tensor<64x1xi32>
  %row_at = arith.muli %row, %Ks : tensor<64x1xi32>
  %rows = tile.broadcast %row_at : tensor<64x1xi32> -> tensor<64x32xi32>
  %k_row = tile.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %columns = tile.broadcast %k_row : tensor<1x32xi32> -> tensor<64x32xi32>
  %a_offset = arith.addi %rows, %columns : tensor<64x32xi32>
  %as = tile.splat %a : !tile.ptr<f32> -> tensor<64x32x!tile.ptr<f32>>
  %a0 = tile.addptr %as, %a_offset : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
  %k_column = tile.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %c64s = arith.constant dense<64> : tensor<32x1xi32>
  %k_at = arith.muli %k_column, %c64s : tensor<32x1xi32>
  %k_rows = tile.broadcast %k_at : tensor<32x1xi32> -> tensor<32x64xi32>
  %n_row = tile.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %n_columns = tile.broadcast %n_row : tensor<1x64xi32> -> tensor<32x64xi32>
  %b_offset = arith.addi %k_rows, %n_columns : tensor<32x64xi32>
  %bs = tile.splat %b : !tile.ptr<f32> -> tensor<32x64x!tile.ptr<f32>>
  %b0 = tile.addptr %bs, %b_offset : tensor<32x64x!tile.ptr<f32>>, tensor<32x64xi32>
  %sum = scf.for %i = %c0 to %K step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %is = tile.splat %i : i32 -> tensor<64x32xi32>
    %pa = tile.addptr %a0, %is : tensor<64x32x!tile.ptr<f32>>, tensor<64x32xi32>
    %x = tile.load %pa : tensor<64x32x!tile.ptr<f32>>
    %y = tile.load %b0 : tensor<32x64x!tile.ptr<f32>>
    %next = tile.dot %x, %y, %acc : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  tile.store %cs, %sum : tensor<64x64x!tile.ptr<f32>>
  return
}
}
