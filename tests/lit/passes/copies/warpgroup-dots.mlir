// Products whose operands are strided tiles in global memory are read by the
// warpgroup instructions from copies that TMA makes.
// RUN: tile-opt %s --tile-warpgroup-dots | FileCheck %s

// What makes the map: base parameter, sizes, strides in parameters of the kernel.
// CHECK-LABEL: func.func @product
// CHECK-SAME: %[[MAP_A:[a-z0-9]+]]: !cta.tensor_map {cta.tensor_map = #cta.map<base = 0, f16, sizes = [<{{\[\[}}1, 3]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}1, 4]]>], box = [64, 64], swizzle = 128>}
// CHECK-SAME: %[[MAP_B:[a-z0-9]+]]: !cta.tensor_map {cta.tensor_map = #cta.map<base = 1, f16, sizes = [<{{\[\[}}2147483632]]>, <{{\[\[}}1, 3]]>], strides = [<{{\[\[}}1, 5]]>], box = [64, 64], swizzle = 128>}
// CHECK-NOT: tile.load
// CHECK: %[[ACC:.*]] = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<64x128xf32>)
// CHECK-DAG: %[[A:.*]] = cta.tma_load %[[MAP_A]][%[[K]], %{{.*}}] dims [1, 0] : <[64, 64], f16
// CHECK-DAG: %[[B:.*]] = cta.tma_load %[[MAP_B]][%{{.*}}, %[[K]]] dims [1, 0] : <[64, 128], f16
// CHECK: %[[NEXT:.*]] = cta.warpgroup_dot %[[A]], %[[B]], %[[SUM]]
// CHECK: scf.yield %[[NEXT]] : tensor<64x128xf32>
// CHECK: tile.store
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %b: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32>, %K: i32,
                   %lda: i32 {tile.divisibility = 16 : i32},
                   %ldb: i32 {tile.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none_a = arith.constant dense<0.0> : tensor<64x64xf16>
  %none_b = arith.constant dense<0.0> : tensor<64x128xf16>
  %pid = tile.program_id 0 : i32
  %first = arith.muli %pid, %c64 : i32
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %n = tile.make_range 0 to 128 : tensor<128xi32>
  %start = tile.splat %first : i32 -> tensor<64xi32>
  %rows = arith.addi %start, %m : tensor<64xi32>
  %row = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ldas = tile.splat %lda : i32 -> tensor<64x1xi32>
  %ldbs = tile.splat %ldb : i32 -> tensor<64x1xi32>
  %row_offset = arith.muli %row, %ldas : tensor<64x1xi32>
  %rows_a = tile.broadcast %row_offset : tensor<64x1xi32> -> tensor<64x64xi32>
  %n_row = tile.expand_dims %n {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tile.broadcast %n_row : tensor<1x128xi32> -> tensor<64x128xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %acc = scf.for %k0 = %c0 to %K step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) : i32 {
    %k0s = tile.splat %k0 : i32 -> tensor<64xi32>
    %k = arith.addi %k0s, %m : tensor<64xi32>
    %Ks = tile.splat %K : i32 -> tensor<64xi32>
    %in = arith.cmpi slt, %k, %Ks : tensor<64xi32>
    %k_row = tile.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %k_columns = tile.broadcast %k_row : tensor<1x64xi32> -> tensor<64x64xi32>
    %in_row = tile.expand_dims %in {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
    %mask_a = tile.broadcast %in_row : tensor<1x64xi1> -> tensor<64x64xi1>
    %offset_a = arith.addi %rows_a, %k_columns : tensor<64x64xi32>
    %ptr_a = tile.addptr %as, %offset_a : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %ptr_a, %mask_a, other %none_a : tensor<64x64x!tile.ptr<f16>>
    %k_column = tile.expand_dims %k {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %k_offset = arith.muli %k_column, %ldbs : tensor<64x1xi32>
    %k_rows = tile.broadcast %k_offset : tensor<64x1xi32> -> tensor<64x128xi32>
    %in_column = tile.expand_dims %in {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %mask_b = tile.broadcast %in_column : tensor<64x1xi1> -> tensor<64x128xi1>
    %offset_b = arith.addi %k_rows, %columns : tensor<64x128xi32>
    %ptr_b = tile.addptr %bs, %offset_b : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    %y = tile.load %ptr_b, %mask_b, other %none_b : tensor<64x128x!tile.ptr<f16>>
    %next = tile.dot %x, %y, %sum : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  // Nothing is known about where %c starts: an ordinary store.
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  %ptr_c = tile.addptr %cs, %columns : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xi32>
  tile.store %ptr_c, %acc : tensor<64x128x!tile.ptr<f32>>
  return
}

// A large constant step is a dimension of its own: along the contiguous one, 32 bits do not hold
// the coordinates of many.
// CHECK-LABEL: func.func @far_blocks
// CHECK-SAME: %[[MAP_A:[a-z0-9]+]]: !cta.tensor_map {cta.tensor_map = #cta.map<base = 0, f16, sizes = [<{{\[\[}}2147483632]]>, <{{\[\[}}2147483632]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}1, 1]]>, <{{\[\[}}1048576]]>], box = [64, 64, 1], swizzle = 128>}
// CHECK: %[[PID:.*]] = tile.program_id 0
// CHECK: cta.tma_load %[[MAP_A]][%{{.*}}, %{{.*}}, %[[PID]]] dims [1, 0, -1]
func.func @far_blocks(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                      %lda: i32 {tile.divisibility = 16 : i32}, %y: tensor<64x64xf16>,
                      %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %pid = tile.program_id 0 : i32
  %wide = arith.extsi %pid : i32 to i64
  %batch = arith.constant 1048576 : i64
  %first = arith.muli %wide, %batch : i64
  %at = tile.addptr %a, %first : !tile.ptr<f16>, i64
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ldas = tile.splat %lda : i32 -> tensor<64x1xi32>
  %rows = arith.muli %row, %ldas : tensor<64x1xi32>
  %column = tile.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %all_rows = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %all_columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %all_rows, %all_columns : tensor<64x64xi32>
  %as = tile.splat %at : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %ptr = tile.addptr %as, %offset : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %ptr : tensor<64x64x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %z : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// But not one of indices that the mask compares with the end of the array, a share of a long sum:
// no coordinate beyond 32 bits is in any array.
// CHECK-LABEL: func.func @far_shares
// CHECK-SAME: cta.tensor_map = #cta.map<base = 0, f16, sizes = [<{{\[\[}}1, 2]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}1, 1]]>], box = [64, 64], swizzle = 128>}
// CHECK: %[[MOST:.*]] = arith.constant 2147483632 : i64
// CHECK: %[[NEAR:.*]] = arith.minsi %{{.*}}, %[[MOST]] : i64
// CHECK: %[[START:.*]] = arith.trunci %[[NEAR]] : i64 to i32
// CHECK: cta.tma_load %{{.*}}[%[[START]], %{{.*}}] dims [1, 0]
func.func @far_shares(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                      %lda: i32 {tile.divisibility = 16 : i32}, %length: i64, %y: tensor<64x64xf16>,
                      %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %pid = tile.program_id 0 : i32
  %wide = arith.extsi %pid : i32 to i64
  %share = arith.constant 65536 : i64
  %first = arith.muli %wide, %share : i64
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ldas = tile.splat %lda : i32 -> tensor<64x1xi32>
  %row_starts = arith.muli %row, %ldas : tensor<64x1xi32>
  %rows = arith.extsi %row_starts : tensor<64x1xi32> to tensor<64x1xi64>
  %k = arith.extsi %m : tensor<64xi32> to tensor<64xi64>
  %firsts = tile.splat %first : i64 -> tensor<64xi64>
  %index = arith.addi %firsts, %k : tensor<64xi64>
  %column = tile.expand_dims %index {axis = 0 : i32} : tensor<64xi64> -> tensor<1x64xi64>
  %lengths = tile.splat %length : i64 -> tensor<1x64xi64>
  %inside = arith.cmpi slt, %column, %lengths : tensor<1x64xi64>
  %mask = tile.broadcast %inside : tensor<1x64xi1> -> tensor<64x64xi1>
  %all_rows = tile.broadcast %rows : tensor<64x1xi64> -> tensor<64x64xi64>
  %all_columns = tile.broadcast %column : tensor<1x64xi64> -> tensor<64x64xi64>
  %offset = arith.addi %all_rows, %all_columns : tensor<64x64xi64>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %ptr = tile.addptr %as, %offset : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi64>
  %x = tile.load %ptr, %mask : tensor<64x64x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %z : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// Heads that lie one after the other, as a product of sizes: where the mask compares the rows of one
// head only, the heads are a dimension of their own, and rows behind the end are no rows of the next.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: cta.tensor_map = #cta.map<base = 0, f16, sizes = [<{{\[\[}}2147483632]]>, <{{\[\[}}1, 1]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}64]]>, <{{\[\[}}64, 1]]>], box = [64, 64, 1], swizzle = 128>}
// CHECK: %[[PID:.*]] = tile.program_id 0
// CHECK: cta.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %[[PID]]] dims [1, 0, -1]
func.func @heads(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                 %n: i32 {tile.divisibility = 16 : i32}, %y: tensor<64x64xf16>,
                 %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %pid = tile.program_id 0 : i32
  %size = arith.constant 64 : i32
  %rows_before = arith.muli %pid, %n : i32
  %first = arith.muli %rows_before, %size : i32
  %at = tile.addptr %a, %first : !tile.ptr<f16>, i32
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %sizes = tile.splat %size : i32 -> tensor<64x1xi32>
  %rows = arith.muli %row, %sizes : tensor<64x1xi32>
  %ends = tile.splat %n : i32 -> tensor<64x1xi32>
  %inside = arith.cmpi slt, %row, %ends : tensor<64x1xi32>
  %mask = tile.broadcast %inside : tensor<64x1xi1> -> tensor<64x64xi1>
  %column = tile.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %all_rows = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %all_columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %all_rows, %all_columns : tensor<64x64xi32>
  %as = tile.splat %at : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %ptr = tile.addptr %as, %offset : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %ptr, %mask : tensor<64x64x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %z : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// So are heads that lie by numbers: 1024 rows of 64 each.
// CHECK-LABEL: func.func @heads_by_numbers
// CHECK-SAME: sizes = [<{{\[\[}}2147483632]]>, <{{\[\[}}1024]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}64]]>, <{{\[\[}}65536]]>]
// CHECK: %[[HEAD:.*]] = tile.program_id 0
// CHECK: cta.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %[[HEAD]]] dims [1, 0, -1]
func.func @heads_by_numbers(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                            %y: tensor<64x64xf16>,
                            %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %n = arith.constant 1024 : i32
  %pid = tile.program_id 0 : i32
  %size = arith.constant 64 : i32
  %rows_before = arith.muli %pid, %n : i32
  %first = arith.muli %rows_before, %size : i32
  %at = tile.addptr %a, %first : !tile.ptr<f16>, i32
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %sizes = tile.splat %size : i32 -> tensor<64x1xi32>
  %block = tile.program_id 1 : i32
  %start = arith.muli %block, %size : i32
  %starts = tile.splat %start : i32 -> tensor<64x1xi32>
  %index = arith.addi %starts, %row : tensor<64x1xi32>
  %rows = arith.muli %index, %sizes : tensor<64x1xi32>
  %ends = tile.splat %n : i32 -> tensor<64x1xi32>
  %inside = arith.cmpi slt, %index, %ends : tensor<64x1xi32>
  %mask = tile.broadcast %inside : tensor<64x1xi1> -> tensor<64x64xi1>
  %column = tile.expand_dims %m {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %all_rows = tile.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %all_columns = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offset = arith.addi %all_rows, %all_columns : tensor<64x64xi32>
  %as = tile.splat %at : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %ptr = tile.addptr %as, %offset : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %x = tile.load %ptr, %mask : tensor<64x64x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %z : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// Operands that are computed: the left one stays in registers.
// CHECK-LABEL: func.func @computed
// CHECK-SAME: (%[[X:.*]]: tensor<64x64xf16>, %[[Y:.*]]: tensor<64x128xf16>, %[[Z:.*]]: tensor<64x128xf32>)
// CHECK: %[[S:.*]] = cta.stage %[[Y]] : tensor<64x128xf16> -> <[64, 128], f16
// CHECK: cta.warpgroup_dot %[[X]], %[[S]], %[[Z]]
func.func @computed(%x: tensor<64x64xf16>, %y: tensor<64x128xf16>, %z: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %d = tile.dot %x, %y, %z : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
  return %d : tensor<64x128xf32>
}

// One that every turn of a loop multiplies would take its registers all the while, in both loops: it
// is written to shared memory once.
// CHECK-LABEL: func.func @computed_before
// CHECK: %[[X:.*]] = arith.mulf
// CHECK-NEXT: %[[S:.*]] = cta.stage %[[X]] : tensor<64x64xf16> -> <[64, 64], f16
// CHECK: scf.for
// CHECK: cta.warpgroup_dot %[[S]],
// CHECK: scf.for
// CHECK: cta.warpgroup_dot %[[S]],
func.func @computed_before(%q: tensor<64x64xf16>, %y: tensor<64x128xf16>, %z: tensor<64x128xf32>, %n: i32) -> tensor<64x128xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = arith.mulf %q, %q : tensor<64x64xf16>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> (tensor<64x128xf32>) : i32 {
    %d = tile.dot %x, %y, %sum : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %a) -> (tensor<64x128xf32>) : i32 {
    %d = tile.dot %x, %y, %sum : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  return %b : tensor<64x128xf32>
}

// Few rows: the transposed product has them as columns.
// CHECK-LABEL: func.func @few_rows
// CHECK-SAME: (%[[X:.*]]: tensor<32x64xf16>, %[[Y:.*]]: tensor<64x128xf16>, %[[Z:.*]]: tensor<32x128xf32>)
// CHECK: %[[YT:.*]] = tile.trans %[[Y]] [1, 0]
// CHECK: %[[ZT:.*]] = tile.trans %[[Z]] [1, 0]
// CHECK: %[[S:.*]] = cta.stage %{{.*}} : tensor<64x32xf16> -> <[64, 32], f16
// CHECK: %[[D:.*]] = cta.warpgroup_dot %[[YT]], %[[S]], %[[ZT]]
// CHECK: tile.trans %[[D]] [1, 0] : tensor<128x32xf32> -> tensor<32x128xf32>
func.func @few_rows(%x: tensor<32x64xf16>, %y: tensor<64x128xf16>, %z: tensor<32x128xf32>) -> tensor<32x128xf32> {
  %d = tile.dot %x, %y, %z : tensor<32x64xf16> * tensor<64x128xf16> -> tensor<32x128xf32>
  return %d : tensor<32x128xf32>
}

// Not for warpgroup instructions: too small, or f32 in full.
// CHECK-LABEL: func.func @left_alone
// CHECK-COUNT-2: tile.dot
func.func @left_alone(%x: tensor<32x64xf16>, %y: tensor<64x32xf16>, %z: tensor<32x32xf32>,
                      %u: tensor<64x64xf32>, %v: tensor<64x64xf32>) -> (tensor<32x32xf32>, tensor<64x64xf32>) {
  %d = tile.dot %x, %y, %z : tensor<32x64xf16> * tensor<64x32xf16> -> tensor<32x32xf32>
  %e = tile.dot %u, %v, %u : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  return %d, %e : tensor<32x32xf32>, tensor<64x64xf32>
}
}
