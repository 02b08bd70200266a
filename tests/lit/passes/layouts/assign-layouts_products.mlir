// What is repeated to the shape of a product is loaded where the product lies.
// RUN: tile-opt %s --tile-warpgroup-dots --tile-assign-layouts | FileCheck %s

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// A scale that is loaded for the first iteration in front of the loop and for the next
// one in it; a bias that is added behind it. A conversion would hold up all warps.
// CHECK-LABEL: func.func @scale_and_bias
// CHECK-NOT: cta.convert_layout
// CHECK: tile.load %{{.*}} : tensor<64x!tile.ptr<f32>, #[[ROWS:.*]]>
// CHECK: scf.for
// CHECK: tile.load %{{.*}} : tensor<64x!tile.ptr<f32>, #[[ROWS]]>
// CHECK: cta.warpgroup_dot
// CHECK-NOT: cta.convert_layout
// CHECK: scf.yield
// CHECK: tile.load %{{.*}} : tensor<128x!tile.ptr<f32>
// CHECK-NEXT: tile.expand_dims
// CHECK-NOT: cta.convert_layout
// CHECK: tile.store
func.func @scale_and_bias(%scale: !tile.ptr<f32>, %bias: !tile.ptr<f32>, %c: !tile.ptr<f32>,
                          %n: i32) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %ss = tile.splat %scale : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %scales = tile.addptr %ss, %m : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %first = tile.load %scales : tensor<64x!tile.ptr<f32>>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %s = %first)
      -> (tensor<64x128xf32>, tensor<64xf32>) : i32 {
    %is = tile.splat %i : i32 -> tensor<64xi32>
    %p = tile.addptr %scales, %is : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    %next = tile.load %p : tensor<64x!tile.ptr<f32>>
    %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    %column = tile.expand_dims %s {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %all = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x128xf32>
    %scaled = arith.mulf %d, %all : tensor<64x128xf32>
    %more = arith.addf %acc, %scaled : tensor<64x128xf32>
    scf.yield %more, %next : tensor<64x128xf32>, tensor<64xf32>
  }
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %bs = tile.splat %bias : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %biases = tile.addptr %bs, %k : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %b = tile.load %biases : tensor<128x!tile.ptr<f32>>
  %row = tile.expand_dims %b {axis = 0 : i32} : tensor<128xf32> -> tensor<1x128xf32>
  %rows = tile.broadcast %row : tensor<1x128xf32> -> tensor<64x128xf32>
  %result = arith.addf %sum#0, %rows : tensor<64x128xf32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  tile.store %cs, %result : tensor<64x128x!tile.ptr<f32>>
  return
}

// A bias that is loaded as a block whose rows are all the same: its columns, where the product lies.
// CHECK-LABEL: func.func @bias_block
// CHECK: %[[D:.*]] = cta.warpgroup_dot {{.*}} tensor<64x128xf32, #[[ACC:.*]]>
// CHECK: tile.load %{{.*}} : tensor<64x128x!tile.ptr<f32>, #[[ACC]]>
// CHECK-NOT: cta.convert_layout %[[D]]
// CHECK: arith.addf %[[D]], %{{.*}} : tensor<64x128xf32, #[[ACC]]>
func.func @bias_block(%bias: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f32>) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %row = tile.expand_dims %k {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tile.broadcast %row : tensor<1x128xi32> -> tensor<64x128xi32>
  %bs = tile.splat %bias : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  %biases = tile.addptr %bs, %columns : tensor<64x128x!tile.ptr<f32>>, tensor<64x128xi32>
  %b = tile.load %biases : tensor<64x128x!tile.ptr<f32>>
  %result = arith.addf %d, %b : tensor<64x128xf32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  tile.store %cs, %result : tensor<64x128x!tile.ptr<f32>>
  return
}

// A block that is added to a product and stored with it by TMA is loaded where the product lies: an
// exchange would take shared memory from the operands. Single bytes are not.
// CHECK-LABEL: func.func @residual
// CHECK: %[[D:.*]] = cta.warpgroup_dot {{.*}} tensor<64x128xf32, #[[ACC:.*]]>
// CHECK-NOT: cta.convert_layout
// CHECK: tile.load %{{.*}} {vector = 2 : i32} : tensor<64x128x!tile.ptr<f16>, #[[ACC]]>
// CHECK-NOT: cta.convert_layout
// CHECK: arith.addf %[[D]], %{{.*}} : tensor<64x128xf32, #[[ACC]]>
// CHECK: cta.tma_store
// CHECK-LABEL: func.func @residual_bytes
// CHECK: cta.convert_layout
// CHECK: cta.tma_store
func.func @residual(%residual: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                    %c: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %width = arith.constant dense<1024> : tensor<64x1xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %start = arith.muli %row, %width : tensor<64x1xi32>
  %starts = tile.broadcast %start : tensor<64x1xi32> -> tensor<64x128xi32>
  %column = tile.expand_dims %k {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tile.broadcast %column : tensor<1x128xi32> -> tensor<64x128xi32>
  %at = arith.addi %starts, %columns : tensor<64x128xi32>
  %rs = tile.splat %residual : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %ps = tile.addptr %rs, %at : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  %r = tile.load %ps : tensor<64x128x!tile.ptr<f16>>
  %wide = arith.extf %r : tensor<64x128xf16> to tensor<64x128xf32>
  %sum = arith.addf %d, %wide : tensor<64x128xf32>
  %result = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %to = tile.addptr %cs, %at : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  tile.store %to, %result : tensor<64x128x!tile.ptr<f16>>
  return
}
func.func @residual_bytes(%residual: !tile.ptr<i8> {tile.divisibility = 16 : i32},
                    %c: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %width = arith.constant dense<1024> : tensor<64x1xi32>
  %row = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %start = arith.muli %row, %width : tensor<64x1xi32>
  %starts = tile.broadcast %start : tensor<64x1xi32> -> tensor<64x128xi32>
  %column = tile.expand_dims %k {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %columns = tile.broadcast %column : tensor<1x128xi32> -> tensor<64x128xi32>
  %at = arith.addi %starts, %columns : tensor<64x128xi32>
  %rs = tile.splat %residual : !tile.ptr<i8> -> tensor<64x128x!tile.ptr<i8>>
  %ps = tile.addptr %rs, %at : tensor<64x128x!tile.ptr<i8>>, tensor<64x128xi32>
  %r = tile.load %ps : tensor<64x128x!tile.ptr<i8>>
  %wide = arith.sitofp %r : tensor<64x128xi8> to tensor<64x128xf32>
  %sum = arith.addf %d, %wide : tensor<64x128xf32>
  %result = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %to = tile.addptr %cs, %at : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  tile.store %to, %result : tensor<64x128x!tile.ptr<f16>>
  return
}

// Scales of groups of columns: in a loop, an address for each column of a thread would take more
// than to load each scale once and hand them round.
// CHECK-LABEL: func.func @scales_of_groups
// CHECK: scf.for
// CHECK: %[[S:.*]] = tile.load %{{.*}} : tensor<128x!tile.ptr<f32>, #[[OWN:.*]]>
// CHECK: cta.convert_layout %[[S]] : tensor<128xf32, #[[OWN]]>
// CHECK: scf.yield
func.func @scales_of_groups(%scale: !tile.ptr<f32>, %c: !tile.ptr<f32>, %n: i32, %group: i32) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %groups = tile.splat %group : i32 -> tensor<128xi32>
  %of = arith.divsi %k, %groups : tensor<128xi32>
  %ss = tile.splat %scale : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %scales = tile.addptr %ss, %of : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x128xf32>) : i32 {
    %is = tile.splat %i : i32 -> tensor<128xi32>
    %p = tile.addptr %scales, %is : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    %s = tile.load %p : tensor<128x!tile.ptr<f32>>
    %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    %row = tile.expand_dims %s {axis = 0 : i32} : tensor<128xf32> -> tensor<1x128xf32>
    %all = tile.broadcast %row : tensor<1x128xf32> -> tensor<64x128xf32>
    %scaled = arith.mulf %d, %all : tensor<64x128xf32>
    %more = arith.addf %acc, %scaled : tensor<64x128xf32>
    scf.yield %more : tensor<64x128xf32>
  }
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  tile.store %cs, %sum : tensor<64x128x!tile.ptr<f32>>
  return
}

// What lies in shared memory is read where the product lies.
// CHECK-LABEL: func.func @read
// CHECK: cta.read %{{.*}} -> tensor<64xf32, #[[ROWS]]>
// CHECK-NOT: cta.convert_layout
// CHECK: tile.store
func.func @read(%b: !cta.buffer<[64], f32, #cta.layout<{offset = [[1], [2], [4], [8], [16], [32]]} : [64]>>, %c: !tile.ptr<f32>) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %s = cta.read %b : !cta.buffer<[64], f32, #cta.layout<{offset = [[1], [2], [4], [8], [16], [32]]} : [64]>> -> tensor<64xf32>
  %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
  %column = tile.expand_dims %s {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %all = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x128xf32>
  %scaled = arith.mulf %d, %all : tensor<64x128xf32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x128x!tile.ptr<f32>>
  tile.store %cs, %scaled : tensor<64x128x!tile.ptr<f32>>
  return
}

// What has no home yet comes to the sums that it scales, and these are moved once, to be stored.
// CHECK-LABEL: func.func @decayed_sums
// CHECK: tile.dot {{.*}} -> tensor<32x32xf32, #[[SUMS:.*]]>
// CHECK-NOT: cta.convert_layout {{.*}}32x32
// CHECK: math.exp %{{.*}} : tensor<32x32xf32, #[[SUMS]]>
// CHECK-NOT: cta.convert_layout {{.*}}32x32
// CHECK: arith.truncf {{.*}} to tensor<32x32xf16, #[[SUMS]]>
// CHECK: cta.convert_layout {{.*}} tensor<32x32xf16, #[[SUMS]]>
// CHECK: tile.store
func.func @decayed_sums(%g: !tile.ptr<f32>, %c: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %x = arith.constant dense<1.0> : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = tile.make_range 0 to 32 : tensor<32xi32>
  %gs = tile.splat %g : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %gp = tile.addptr %gs, %r : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  %d = tile.dot %x, %x, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
  %v = tile.load %gp : tensor<32x!tile.ptr<f32>>
  %column = tile.expand_dims %v {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %row = tile.expand_dims %v {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
  %down = tile.broadcast %column : tensor<32x1xf32> -> tensor<32x32xf32>
  %across = tile.broadcast %row : tensor<1x32xf32> -> tensor<32x32xf32>
  %apart = arith.subf %down, %across : tensor<32x32xf32>
  %decay = math.exp %apart : tensor<32x32xf32>
  %scaled = arith.mulf %d, %decay : tensor<32x32xf32>
  %result = arith.truncf %scaled : tensor<32x32xf32> to tensor<32x32xf16>
  %at = tile.make_range 0 to 1024 : tensor<1024xi32>
  %square = tile.reshape %at : tensor<1024xi32> -> tensor<32x32xi32>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<32x32x!tile.ptr<f16>>
  %cp = tile.addptr %cs, %square : tensor<32x32x!tile.ptr<f16>>, tensor<32x32xi32>
  tile.store %cp, %result : tensor<32x32x!tile.ptr<f16>>
  return
}

// What was 16 bits wide moves to the sums that it is multiplied with, for a row's total, and is
// widened there; where the result is stored, sums come to it as before.
// CHECK-LABEL: func.func @beside_narrow
// CHECK: %[[V:.*]] = tile.load %{{.*}} : tensor<64x128x!tile.ptr<f16>, #[[ROWS:.*]]>
// CHECK: %[[N:.*]] = cta.convert_layout %[[V]] : tensor<64x128xf16, #[[ROWS]]> -> tensor<64x128xf16, #[[ACC:.*]]>
// CHECK: %[[D:.*]] = cta.warpgroup_dot {{.*}} tensor<64x128xf32, #[[ACC]]>
// CHECK: %[[MOVED:.*]] = cta.convert_layout %[[D]] : tensor<64x128xf32, #[[ACC]]> -> tensor<64x128xf32, #[[ROWS]]>
// CHECK: %[[W:.*]] = arith.extf %[[N]]
// CHECK: arith.mulf %[[D]], %[[W]] : tensor<64x128xf32, #[[ACC]]>
// CHECK: arith.addf %[[MOVED]], %{{.*}} : tensor<64x128xf32, #[[ROWS]]>
func.func @beside_narrow(%v: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %c: !tile.ptr<f16> {tile.divisibility = 8 : i32}, %t: !tile.ptr<f32>) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %stride = arith.constant dense<128> : tensor<64xi32>
  %down = arith.muli %m, %stride : tensor<64xi32>
  %left = tile.expand_dims %down {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %top = tile.expand_dims %k {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %lefts = tile.broadcast %left : tensor<64x1xi32> -> tensor<64x128xi32>
  %tops = tile.broadcast %top : tensor<1x128xi32> -> tensor<64x128xi32>
  %offsets = arith.addi %lefts, %tops : tensor<64x128xi32>
  %vs = tile.splat %v : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %from = tile.addptr %vs, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  %b = tile.load %from : tensor<64x128x!tile.ptr<f16>>
  %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
  %w = arith.extf %b : tensor<64x128xf16> to tensor<64x128xf32>
  %p = arith.mulf %d, %w : tensor<64x128xf32>
  %total = tile.reduce %p {axis = 1 : i32} : tensor<64x128xf32> -> tensor<64xf32> {
  ^bb0(%a0: f32, %a1: f32):
    %a2 = arith.addf %a0, %a1 : f32
    tile.yield %a2 : f32
  }
  %ts = tile.splat %t : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %to = tile.addptr %ts, %m : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %to, %total : tensor<64x!tile.ptr<f32>>
  %q = arith.addf %d, %w : tensor<64x128xf32>
  %n = arith.truncf %q : tensor<64x128xf32> to tensor<64x128xf16>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %out = tile.addptr %cs, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  tile.store %out, %n : tensor<64x128x!tile.ptr<f16>>
  return
}
}
