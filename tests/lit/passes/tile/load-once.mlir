// RUN: tile-opt %s --tile-load-once | FileCheck %s
// RUN: tile-opt %s --tile-load-once --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: 4 tile-load-once - loads of one of each run of equal elements

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Eight weights of four bits to a word: of 32 rows of words, every eighth is loaded. The loop carries
// the addresses of those alone.
// CHECK-LABEL: func.func @carried
// CHECK: tile.make_range 0 to 4 : tensor<4xi32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (tensor<16x32xf32>, tensor<4x32x!tile.ptr<i32>>)
// CHECK: %[[W:.*]] = tile.load %[[P]] evict = evict_first : tensor<4x32x!tile.ptr<i32>>
// CHECK: %[[ONE:.*]] = tile.expand_dims %[[W]] {axis = 1 : i32} : tensor<4x32xi32> -> tensor<4x1x32xi32>
// CHECK: %[[EIGHT:.*]] = tile.broadcast %[[ONE]] : tensor<4x1x32xi32> -> tensor<4x8x32xi32>
// CHECK: %[[ALL:.*]] = tile.reshape %[[EIGHT]] : tensor<4x8x32xi32> -> tensor<32x32xi32>
// CHECK: arith.shrsi %[[ALL]]
// CHECK: tile.addptr %[[P]], {{.*}} : tensor<4x32x!tile.ptr<i32>>
func.func @carried(%w: !tile.ptr<i32>, %stride: i32 {tile.divisibility = 16 : i32}, %turns: i32, %x: tensor<16x32xf16>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %eight = arith.constant dense<8> : tensor<32x1xi32>
  %four = arith.constant dense<4> : tensor<32x1xi32>
  %mask = arith.constant dense<15> : tensor<32x32xi32>
  %range = tile.make_range 0 to 32 : tensor<32xi32>
  %k = tile.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %n = tile.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %word = arith.divsi %k, %eight : tensor<32x1xi32>
  %place = arith.remsi %k, %eight : tensor<32x1xi32>
  %bits = arith.muli %place, %four : tensor<32x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<32x1xi32>
  %rows = arith.muli %word, %strides : tensor<32x1xi32>
  %a = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %b = tile.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
  %offsets = arith.addi %a, %b : tensor<32x32xi32>
  %base = tile.splat %w : !tile.ptr<i32> -> tensor<32x32x!tile.ptr<i32>>
  %first = tile.addptr %base, %offsets : tensor<32x32x!tile.ptr<i32>>, tensor<32x32xi32>
  %shift = tile.broadcast %bits : tensor<32x1xi32> -> tensor<32x32xi32>
  %step = tile.splat %stride : i32 -> tensor<32x32xi32>
  %sum:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%acc = %zero, %p = %first) -> (tensor<16x32xf32>, tensor<32x32x!tile.ptr<i32>>) : i32 {
    %v = tile.load %p evict = evict_first : tensor<32x32x!tile.ptr<i32>>
    %s = arith.shrsi %v, %shift : tensor<32x32xi32>
    %q = arith.andi %s, %mask : tensor<32x32xi32>
    %f = arith.sitofp %q : tensor<32x32xi32> to tensor<32x32xf16>
    %next = tile.dot %x, %f, %acc : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
    %p2 = tile.addptr %p, %step : tensor<32x32x!tile.ptr<i32>>, tensor<32x32xi32>
    scf.yield %next, %p2 : tensor<16x32xf32>, tensor<32x32x!tile.ptr<i32>>
  }
  return %sum#0 : tensor<16x32xf32>
}

// Masks and what they leave are thinned with the addresses; what is the same in all rows is a row.
// CHECK-LABEL: func.func @masked
// CHECK: scf.for
// CHECK-DAG: %[[V:.*]] = tile.load %{{.*}}, %{{.*}}, other %{{.*}} : tensor<4x32x!tile.ptr<i32>>
// CHECK-DAG: %[[S:.*]] = tile.load %{{.*}} : tensor<1x32x!tile.ptr<f16>>
// CHECK-DAG: tile.broadcast %[[S]] : tensor<1x32xf16> -> tensor<32x32xf16>
func.func @masked(%w: !tile.ptr<i32>, %s: !tile.ptr<f16>, %stride: i32 {tile.divisibility = 16 : i32}, %rows: i32 {tile.divisibility = 16 : i32}, %x: tensor<16x32xf16>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %none = arith.constant dense<0> : tensor<32x32xi32>
  %eight = arith.constant dense<8> : tensor<32xi32>
  %group = arith.constant dense<64> : tensor<32xi32>
  %range = tile.make_range 0 to 32 : tensor<32xi32>
  %n = tile.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %b = tile.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
  %base = tile.splat %w : !tile.ptr<i32> -> tensor<32x32x!tile.ptr<i32>>
  %scales = tile.splat %s : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %strides = tile.splat %stride : i32 -> tensor<32xi32>
  %limit = tile.splat %rows : i32 -> tensor<32xi32>
  %c32 = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) : i32 {
    %start = arith.muli %i, %c32 : i32
    %starts = tile.splat %start : i32 -> tensor<32xi32>
    %k = arith.addi %starts, %range : tensor<32xi32>
    %in = arith.cmpi slt, %k, %limit : tensor<32xi32>
    %word = arith.divsi %k, %eight : tensor<32xi32>
    %at = arith.muli %word, %strides : tensor<32xi32>
    %at2 = tile.expand_dims %at {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %in2 = tile.expand_dims %in {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
    %a = tile.broadcast %at2 : tensor<32x1xi32> -> tensor<32x32xi32>
    %m = tile.broadcast %in2 : tensor<32x1xi1> -> tensor<32x32xi1>
    %offsets = arith.addi %a, %b : tensor<32x32xi32>
    %p = tile.addptr %base, %offsets : tensor<32x32x!tile.ptr<i32>>, tensor<32x32xi32>
    %v = tile.load %p, %m, other %none : tensor<32x32x!tile.ptr<i32>>
    %g = arith.divsi %k, %group : tensor<32xi32>
    %gat = arith.muli %g, %strides : tensor<32xi32>
    %gat2 = tile.expand_dims %gat {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %ga = tile.broadcast %gat2 : tensor<32x1xi32> -> tensor<32x32xi32>
    %goffsets = arith.addi %ga, %b : tensor<32x32xi32>
    %gp = tile.addptr %scales, %goffsets : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
    %sv = tile.load %gp : tensor<32x32x!tile.ptr<f16>>
    %f = arith.sitofp %v : tensor<32x32xi32> to tensor<32x32xf16>
    %fs = arith.mulf %f, %sv : tensor<32x32xf16>
    %next = tile.dot %x, %fs, %acc : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
    scf.yield %next : tensor<16x32xf32>
  }
  return %sum : tensor<16x32xf32>
}

// Two weights to a byte say which number of a table is multiplied. What a row of weights has twice is a
// row of bytes that follow one another, and is copied ahead; so divided is the number of the turn, too.
// CHECK-LABEL: func.func @numbers_of_a_table
// CHECK: %[[BYTES:.*]] = tile.make_range 0 to 16 : tensor<16xi32>
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = arith.divsi %{{.*}}, %{{.*}} : tensor<16xi32>
// CHECK: arith.addi %[[FIRST]], %[[BYTES]] : tensor<16xi32>
// CHECK: %[[V:.*]] = tile.load %{{.*}} : tensor<32x16x!tile.ptr<i8>>
// CHECK: tile.expand_dims %[[V]] {axis = 2 : i32}
// CHECK: tile.gather
// Not where words of it are behind conditions of their own.
// CHECK: tile.load %{{.*}}, %{{.*}}, other %{{.*}} : tensor<32x32x!tile.ptr<i8>>
// CHECK: tile.gather
func.func @numbers_of_a_table(%w: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %stride: i32 {tile.divisibility = 16 : i32}, %columns: i32 {tile.divisibility = 2 : i32}, %table: tensor<16xf16>, %x: tensor<16x32xf16>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c320 = arith.constant 320 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %none = arith.constant dense<0> : tensor<32x32xi8>
  %two = arith.constant dense<2> : tensor<1x32xi32>
  %four = arith.constant dense<4> : tensor<1x32xi32>
  %low = arith.constant dense<15> : tensor<32x32xi32>
  %range = tile.make_range 0 to 32 : tensor<32xi32>
  %n = tile.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<32x1xi32>
  %rows = arith.muli %n, %strides : tensor<32x1xi32>
  %a = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %base = tile.splat %w : !tile.ptr<i8> -> tensor<32x32x!tile.ptr<i8>>
  %first = tile.addptr %base, %a : tensor<32x32x!tile.ptr<i8>>, tensor<32x32xi32>
  %limit = tile.splat %columns : i32 -> tensor<1x32xi32>
  %sum = scf.for %start = %c0 to %c320 step %c32 iter_args(%acc = %zero) -> (tensor<16x32xf32>) : i32 {
    %starts = tile.splat %start : i32 -> tensor<32xi32>
    %k = arith.addi %starts, %range : tensor<32xi32>
    %k2 = tile.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %byte = arith.divsi %k2, %two : tensor<1x32xi32>
    %half = arith.remsi %k2, %two : tensor<1x32xi32>
    %bits = arith.muli %half, %four : tensor<1x32xi32>
    %shift = tile.broadcast %bits : tensor<1x32xi32> -> tensor<32x32xi32>
    %b = tile.broadcast %byte : tensor<1x32xi32> -> tensor<32x32xi32>
    %p = tile.addptr %first, %b : tensor<32x32x!tile.ptr<i8>>, tensor<32x32xi32>
    %v = tile.load %p : tensor<32x32x!tile.ptr<i8>>
    %e = arith.extui %v : tensor<32x32xi8> to tensor<32x32xi32>
    %s = arith.shrsi %e, %shift : tensor<32x32xi32>
    %q = arith.andi %s, %low : tensor<32x32xi32>
    %flat = tile.reshape %q : tensor<32x32xi32> -> tensor<1024xi32>
    %found = tile.gather %table[%flat] {axis = 0 : i32} : tensor<16xf16>, tensor<1024xi32> -> tensor<1024xf16>
    %f = tile.reshape %found : tensor<1024xf16> -> tensor<32x32xf16>
    %t = tile.trans %f [1, 0] : tensor<32x32xf16> -> tensor<32x32xf16>
    %next = tile.dot %x, %t, %acc : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
    scf.yield %next : tensor<16x32xf32>
  }
  %sum2 = scf.for %start = %c0 to %c320 step %c32 iter_args(%acc = %sum) -> (tensor<16x32xf32>) : i32 {
    %starts = tile.splat %start : i32 -> tensor<32xi32>
    %k = arith.addi %starts, %range : tensor<32xi32>
    %k2 = tile.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %in = arith.cmpi slt, %k2, %limit : tensor<1x32xi32>
    %m = tile.broadcast %in : tensor<1x32xi1> -> tensor<32x32xi1>
    %byte = arith.divsi %k2, %two : tensor<1x32xi32>
    %b = tile.broadcast %byte : tensor<1x32xi32> -> tensor<32x32xi32>
    %p = tile.addptr %first, %b : tensor<32x32x!tile.ptr<i8>>, tensor<32x32xi32>
    %v = tile.load %p, %m, other %none : tensor<32x32x!tile.ptr<i8>>
    %e = arith.extui %v : tensor<32x32xi8> to tensor<32x32xi32>
    %q = arith.andi %e, %low : tensor<32x32xi32>
    %flat = tile.reshape %q : tensor<32x32xi32> -> tensor<1024xi32>
    %found = tile.gather %table[%flat] {axis = 0 : i32} : tensor<16xf16>, tensor<1024xi32> -> tensor<1024xf16>
    %f = tile.reshape %found : tensor<1024xf16> -> tensor<32x32xf16>
    %next = tile.dot %x, %f, %acc : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
    scf.yield %next : tensor<16x32xf32>
  }
  return %sum2 : tensor<16x32xf32>
}

// Numbers of the upper half count down for who divides with signs: what divides without stays as it is.
// CHECK-LABEL: func.func @quotients_without_sign
// CHECK: tile.load %{{.*}} : tensor<32x32x!tile.ptr<i8>>
func.func @quotients_without_sign(%w: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %stride: i32 {tile.divisibility = 16 : i32}, %table: tensor<16xf16>, %x: tensor<16x32xf16>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c320 = arith.constant 320 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %two = arith.constant dense<2> : tensor<1x32xi32>
  %four = arith.constant dense<4> : tensor<1x32xi32>
  %low = arith.constant dense<15> : tensor<32x32xi32>
  %range = tile.make_range 0 to 32 : tensor<32xi32>
  %n = tile.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<32x1xi32>
  %rows = arith.muli %n, %strides : tensor<32x1xi32>
  %a = tile.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %base = tile.splat %w : !tile.ptr<i8> -> tensor<32x32x!tile.ptr<i8>>
  %first = tile.addptr %base, %a : tensor<32x32x!tile.ptr<i8>>, tensor<32x32xi32>
  %sum = scf.for %start = %c0 to %c320 step %c32 iter_args(%acc = %zero) -> (tensor<16x32xf32>) : i32 {
    %starts = tile.splat %start : i32 -> tensor<32xi32>
    %k = arith.addi %starts, %range : tensor<32xi32>
    %k2 = tile.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %byte = arith.divui %k2, %two : tensor<1x32xi32>
    %half = arith.remsi %k2, %two : tensor<1x32xi32>
    %bits = arith.muli %half, %four : tensor<1x32xi32>
    %shift = tile.broadcast %bits : tensor<1x32xi32> -> tensor<32x32xi32>
    %b = tile.broadcast %byte : tensor<1x32xi32> -> tensor<32x32xi32>
    %p = tile.addptr %first, %b : tensor<32x32x!tile.ptr<i8>>, tensor<32x32xi32>
    %v = tile.load %p : tensor<32x32x!tile.ptr<i8>>
    %e = arith.extui %v : tensor<32x32xi8> to tensor<32x32xi32>
    %s = arith.shrsi %e, %shift : tensor<32x32xi32>
    %q = arith.andi %s, %low : tensor<32x32xi32>
    %flat = tile.reshape %q : tensor<32x32xi32> -> tensor<1024xi32>
    %found = tile.gather %table[%flat] {axis = 0 : i32} : tensor<16xf16>, tensor<1024xi32> -> tensor<1024xf16>
    %f = tile.reshape %found : tensor<1024xf16> -> tensor<32x32xf16>
    %t = tile.trans %f [1, 0] : tensor<32x32xf16> -> tensor<32x32xf16>
    %next = tile.dot %x, %t, %acc : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
    scf.yield %next : tensor<16x32xf32>
  }
  return %sum : tensor<16x32xf32>
}

// Not what says where another is loaded, or is read just so, or needed for more than products.
// CHECK-LABEL: func.func @whole
// CHECK-COUNT-3: tile.load {{.*}} : tensor<32x32x!tile.ptr<f16>>
func.func @whole(%w: !tile.ptr<f16>, %t: !tile.ptr<i32>, %out: tensor<32x32x!tile.ptr<f16>>, %x: tensor<16x32xf16>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %eight = arith.constant dense<8> : tensor<32x1xi32>
  %range = tile.make_range 0 to 32 : tensor<32xi32>
  %k = tile.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %n = tile.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %word = arith.divsi %k, %eight : tensor<32x1xi32>
  %table = tile.splat %t : !tile.ptr<i32> -> tensor<32x1x!tile.ptr<i32>>
  %places = tile.addptr %table, %word : tensor<32x1x!tile.ptr<i32>>, tensor<32x1xi32>
  %found = tile.load %places : tensor<32x1x!tile.ptr<i32>>
  %a = tile.broadcast %word : tensor<32x1xi32> -> tensor<32x32xi32>
  %f = tile.broadcast %found : tensor<32x1xi32> -> tensor<32x32xi32>
  %b = tile.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
  %o1 = arith.addi %a, %b : tensor<32x32xi32>
  %o2 = arith.addi %f, %b : tensor<32x32xi32>
  %base = tile.splat %w : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %p1 = tile.addptr %base, %o1 : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %p2 = tile.addptr %base, %o2 : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<16x32xf32>) : i32 {
    %v = tile.load %p1 {is_volatile = true} : tensor<32x32x!tile.ptr<f16>>
    %s = tile.load %p1 : tensor<32x32x!tile.ptr<f16>>
    %u = tile.load %p2 : tensor<32x32x!tile.ptr<f16>>
    tile.store %out, %s : tensor<32x32x!tile.ptr<f16>>
    %1 = tile.dot %x, %v, %acc : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
    %2 = tile.dot %x, %s, %1 : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
    %3 = tile.dot %x, %u, %2 : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
    scf.yield %3 : tensor<16x32xf32>
  }
  return %sum : tensor<16x32xf32>
}
}
