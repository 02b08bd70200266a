// Beside the operands of products TMA brings vectors of numbers.
// RUN: tile-opt %s --tile-warpgroup-dots | FileCheck %s

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Scales of an iteration: 64 at once, of an array with a row for each iteration; rows may
// end anywhere. What is written to, what may be indices, and rows that may start anywhere
// are loaded. Numbers may be brought by the producer, but not what is written to.
// CHECK-LABEL: func.func @vectors
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !cta.tensor_map {cta.tensor_map = #cta.map<base = 1, f32, sizes = [<{{\[\[}}1, 5]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}1, 6]]>], box = [64, 1], swizzle = 0>}
// CHECK-SAME: %[[MAP2:[a-z0-9]+]]: !cta.tensor_map {cta.tensor_map = #cta.map<base = 1, f32, sizes = [<{{\[\[}}1, 8]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}1, 6]]>], box = [64, 1], swizzle = 0>}
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK:   cta.tma_load
// CHECK:   %[[C:.*]] = cta.tma_load %[[MAP]][%{{.*}}, %[[I]]] dims [0, -1] : <[64], f32
// CHECK:   %[[R:.*]] = cta.read %[[C]] : <[64], f32{{.*}} -> tensor<64xf32>
// CHECK-NOT: cta.read
// CHECK:   tile.load %{{.*}} : tensor<64x!tile.ptr<f32>>
// CHECK:   tile.load %{{.*}} : tensor<64x!tile.ptr<i32>>
// CHECK:   tile.load %{{.*}} : tensor<64x!tile.ptr<f32>>
// CHECK-NOT: tile.load
// CHECK:   cta.tma_load %[[MAP2]][%{{.*}}, %[[I]]] dims [0, -1] : <[64], f32
// CHECK:   tile.load %{{.*}} {cta.may_run_ahead} : !tile.ptr<f32>
// CHECK:   tile.load %{{.*}} : !tile.ptr<f32>
// CHECK:   tile.expand_dims %[[R]]
func.func @vectors(%a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                   %scale: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %index: !tile.ptr<i32> {tile.divisibility = 16 : i32},
                   %both: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %c: !tile.ptr<f32>, %M: i32 {tile.divisibility = 16 : i32},
                   %ld: i32 {tile.divisibility = 16 : i32}, %odd: i32, %N: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %pid = tile.program_id 0 : i32
  %first = arith.muli %pid, %c64 : i32
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %firsts = tile.splat %first : i32 -> tensor<64xi32>
  %m = arith.addi %firsts, %range : tensor<64xi32>
  %Ms = tile.splat %M : i32 -> tensor<64xi32>
  %Ns = tile.splat %N : i32 -> tensor<64xi32>
  %in = arith.cmpi slt, %m, %Ms : tensor<64xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %lds = tile.splat %ld : i32 -> tensor<64x1xi32>
  %row_offset = arith.muli %row, %lds : tensor<64x1xi32>
  %rows = tile.broadcast %row_offset : tensor<64x1xi32> -> tensor<64x64xi32>
  %k = tile.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ks = tile.broadcast %k : tensor<1x64xi32> -> tensor<64x64xi32>
  %in_tile = arith.addi %rows, %ks : tensor<64x64xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %scales = tile.splat %scale : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %boths = tile.splat %both : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %indices = tile.splat %index : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  tile.store %boths, %none : tensor<64x!tile.ptr<f32>>
  %acc = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x128xf32>) : i32 {
    %ptr_a = tile.addptr %as, %in_tile : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %x = tile.load %ptr_a : tensor<64x64x!tile.ptr<f16>>
    %at = arith.muli %i, %ld : i32
    %ats = tile.splat %at : i32 -> tensor<64xi32>
    %offset = arith.addi %m, %ats : tensor<64xi32>
    %ptr = tile.addptr %scales, %offset : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %s = tile.load %ptr, %in, other %none : tensor<64x!tile.ptr<f32>>
    %ptr_both = tile.addptr %boths, %offset : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %t = tile.load %ptr_both : tensor<64x!tile.ptr<f32>>
    %ptr_index = tile.addptr %indices, %offset : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
    %j = tile.load %ptr_index : tensor<64x!tile.ptr<i32>>
    %at_odd = arith.muli %i, %odd : i32
    %at_odds = tile.splat %at_odd : i32 -> tensor<64xi32>
    %offset_odd = arith.addi %m, %at_odds : tensor<64xi32>
    %ptr_odd = tile.addptr %scales, %offset_odd : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %u = tile.load %ptr_odd : tensor<64x!tile.ptr<f32>>
    %inside = arith.cmpi slt, %m, %Ns : tensor<64xi32>
    %v = tile.load %ptr, %inside, other %none : tensor<64x!tile.ptr<f32>>
    %ptr_number = tile.addptr %scale, %at : !tile.ptr<f32>, i32
    %number = tile.load %ptr_number : !tile.ptr<f32>
    %ptr_written = tile.addptr %both, %at : !tile.ptr<f32>, i32
    %may_change = tile.load %ptr_written : !tile.ptr<f32>
    %numbers = arith.addf %number, %may_change : f32
    %w = tile.splat %numbers : f32 -> tensor<64xf32>
    %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    %f = arith.sitofp %j : tensor<64xi32> to tensor<64xf32>
    %vw = arith.addf %v, %w : tensor<64xf32>
    %uv = arith.addf %u, %vw : tensor<64xf32>
    %tu = arith.addf %t, %uv : tensor<64xf32>
    %more = arith.addf %tu, %f : tensor<64xf32>
    %column = tile.expand_dims %s {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %other = tile.expand_dims %more {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %both_columns = arith.addf %column, %other : tensor<64x1xf32>
    %all = tile.broadcast %both_columns : tensor<64x1xf32> -> tensor<64x128xf32>
    %scaled = arith.mulf %d, %all : tensor<64x128xf32>
    %next = arith.addf %sum, %scaled : tensor<64x128xf32>
    scf.yield %next : tensor<64x128xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  tile.store %cs, %acc : tensor<64x128x!tile.ptr<f32>>
  return
}
}
