// A product may choose at run time which array it multiplies: each has a tensor map, and the choice
// is made between these.
// RUN: tile-opt %s --tile-warpgroup-dots --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @three
// CHECK-SAME: %[[A:[a-z0-9]+]]: !cta.tensor_map {cta.tensor_map = #cta.map<base = 1, f16, sizes = [<{{\[\[}}1, 4]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}1, 4]]>], box = [64, 64], swizzle = 128>}
// CHECK-SAME: %[[C:[a-z0-9]+]]: !cta.tensor_map {cta.tensor_map = #cta.map<base = 3, f16, sizes = [<{{\[\[}}1, 6]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}1, 6]]>], box = [64, 64], swizzle = 128>}
// CHECK-SAME: %[[B:[a-z0-9]+]]: !cta.tensor_map {cta.tensor_map = #cta.map<base = 2, f16, sizes = [<{{\[\[}}1, 5]]>, <{{\[\[}}2147483632]]>], strides = [<{{\[\[}}1, 5]]>], box = [64, 64], swizzle = 128>}
// CHECK-DAG: %[[SECOND:.*]] = arith.select %[[IS_C:.*]], %[[C]], %[[B]] : !cta.tensor_map
// CHECK-DAG: %[[MAP:.*]] = arith.select %{{.*}}, %[[A]], %[[SECOND]] : !cta.tensor_map
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: cta.tma_load %[[MAP]][%{{.*}}, %[[K]]] dims [1, 0] : <[64, 64], f16
// CHECK-NOT: tile.load
// CHECK: return
module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @three(%x: tensor<64x64xf16>,
                 %a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                 %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                 %c: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                 %na: i32 {tile.divisibility = 16 : i32}, %nb: i32 {tile.divisibility = 16 : i32},
                 %nc: i32 {tile.divisibility = 16 : i32}) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %pid = tile.program_id 0 : i32
  %which = tile.program_id 1 : i32
  %is_a = arith.cmpi eq, %which, %c0 : i32
  %is_c = arith.cmpi sgt, %which, %c1 : i32
  %bc = arith.select %is_c, %c, %b : !tile.ptr<f16>
  %abc = arith.select %is_a, %a, %bc : !tile.ptr<f16>
  %nbc = arith.select %is_c, %nc, %nb : i32
  %n = arith.select %is_a, %na, %nbc : i32
  %line = tile.make_range 0 to 64 : tensor<64xi32>
  %first = arith.muli %pid, %c64 : i32
  %firsts = tile.splat %first : i32 -> tensor<64xi32>
  %column = arith.addi %firsts, %line : tensor<64xi32>
  %columns = tile.expand_dims %column {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ns = tile.splat %n : i32 -> tensor<1x64xi32>
  %in = arith.cmpi slt, %columns, %ns : tensor<1x64xi32>
  %mask = tile.broadcast %in : tensor<1x64xi1> -> tensor<64x64xi1>
  %across = tile.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %base = tile.splat %abc : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
  %strides = tile.splat %n : i32 -> tensor<64x1xi32>
  %sum = scf.for %k0 = %c0 to %c1024 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %k0s = tile.splat %k0 : i32 -> tensor<64xi32>
    %k = arith.addi %k0s, %line : tensor<64xi32>
    %row = tile.expand_dims %k {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %down = arith.muli %row, %strides : tensor<64x1xi32>
    %rows = tile.addptr %base, %down : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %all = tile.broadcast %rows : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %ptr = tile.addptr %all, %across : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %y = tile.load %ptr, %mask, other %none : tensor<64x64x!tile.ptr<f16>>
    %next = tile.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  return %sum : tensor<64x64xf32>
}

// One array has the other order of dimensions: no copy is of both.
// CHECK-LABEL: func.func @turned
// CHECK-NOT: cta.tma_load
// CHECK: tile.load
func.func @turned(%x: tensor<64x64xf16>,
                  %a: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                  %b: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                  %n: i32 {tile.divisibility = 16 : i32}) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %which = tile.program_id 0 : i32
  %is_a = arith.cmpi eq, %which, %c0 : i32
  %base = arith.select %is_a, %a, %b : !tile.ptr<f16>
  %along = arith.select %is_a, %n, %c1 : i32
  %beside = arith.select %is_a, %c1, %n : i32
  %line = tile.make_range 0 to 64 : tensor<64xi32>
  %rows = tile.expand_dims %line {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tile.expand_dims %line {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %row_steps = tile.splat %along : i32 -> tensor<64x1xi32>
  %column_steps = tile.splat %beside : i32 -> tensor<1x64xi32>
  %down = arith.muli %rows, %row_steps : tensor<64x1xi32>
  %across = arith.muli %columns, %column_steps : tensor<1x64xi32>
  %start = tile.splat %base : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
  %lines = tile.addptr %start, %down : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
  %all = tile.broadcast %lines : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
  %steps = tile.broadcast %across : tensor<1x64xi32> -> tensor<64x64xi32>
  %ptr = tile.addptr %all, %steps : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  // expected-remark@+1 {{the arrays of which it is one do not lie alike}}
  %y = tile.load %ptr : tensor<64x64x!tile.ptr<f16>>
  %dot = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  return %dot : tensor<64x64xf32>
}
}
