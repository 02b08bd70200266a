// Stores of a loop by TMA: the next may begin before the last one has ended, where each turn writes
// elsewhere.
// RUN: tile-opt %s --tile-warpgroup-dots | FileCheck %s
// RUN: tile-opt %s --tile-warpgroup-dots 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// 64 rows further each turn: apart. 32 rows further: half of what is stored is written again.
// CHECK-LABEL: func.func @turns
// CHECK: scf.for
// CHECK: cta.tma_store
// CHECK-NOT: ordered
// CHECK: scf.for
// CHECK: cta.tma_store {{.*}} ordered
func.func @turns(%c: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %e: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %far = arith.constant 8192 : i32
  %near = arith.constant 4096 : i32
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %stride = arith.constant dense<128> : tensor<64xi32>
  %down = arith.muli %m, %stride : tensor<64xi32>
  %left = tile.expand_dims %down {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %top = tile.expand_dims %k {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %lefts = tile.broadcast %left : tensor<64x1xi32> -> tensor<64x128xi32>
  %tops = tile.broadcast %top : tensor<1x128xi32> -> tensor<64x128xi32>
  %offsets = arith.addi %lefts, %tops : tensor<64x128xi32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x128xf32>) : i32 {
    %d = scf.for %j = %c0 to %n step %c1 iter_args(%part = %sum) -> (tensor<64x128xf32>) : i32 {
      %more = tile.dot %x, %y, %part : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
      scf.yield %more : tensor<64x128xf32>
    }
    %h = arith.truncf %d : tensor<64x128xf32> to tensor<64x128xf16>
    %start = arith.muli %i, %far : i32
    %p = tile.addptr %c, %start : !tile.ptr<f16>, i32
    %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
    %to = tile.addptr %ps, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    tile.store %to, %h : tensor<64x128x!tile.ptr<f16>>
    scf.yield %d : tensor<64x128xf32>
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %a) -> (tensor<64x128xf32>) : i32 {
    %d = scf.for %j = %c0 to %n step %c1 iter_args(%part = %sum) -> (tensor<64x128xf32>) : i32 {
      %more = tile.dot %x, %y, %part : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
      scf.yield %more : tensor<64x128xf32>
    }
    %h = arith.truncf %d : tensor<64x128xf32> to tensor<64x128xf16>
    %start = arith.muli %i, %near : i32
    %p = tile.addptr %e, %start : !tile.ptr<f16>, i32
    %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
    %to = tile.addptr %ps, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    tile.store %to, %h : tensor<64x128x!tile.ptr<f16>>
    scf.yield %d : tensor<64x128xf32>
  }
  return
}

// A turn of one product is over before the copy out of the staging area is: the threads store.
// CHECK-LABEL: func.func @short_turns
// CHECK: tile.store
// WHY: remark: each turn of a loop stores, and is done before such a copy is
func.func @short_turns(%c: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %far = arith.constant 8192 : i32
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %stride = arith.constant dense<128> : tensor<64xi32>
  %down = arith.muli %m, %stride : tensor<64xi32>
  %left = tile.expand_dims %down {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %top = tile.expand_dims %k {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %lefts = tile.broadcast %left : tensor<64x1xi32> -> tensor<64x128xi32>
  %tops = tile.broadcast %top : tensor<1x128xi32> -> tensor<64x128xi32>
  %offsets = arith.addi %lefts, %tops : tensor<64x128xi32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64x128xf32>) : i32 {
    %d = tile.dot %x, %y, %sum : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    %h = arith.truncf %d : tensor<64x128xf32> to tensor<64x128xf16>
    %start = arith.muli %i, %far : i32
    %p = tile.addptr %c, %start : !tile.ptr<f16>, i32
    %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
    %to = tile.addptr %ps, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    tile.store %to, %h : tensor<64x128x!tile.ptr<f16>>
    scf.yield %d : tensor<64x128xf32>
  }
  return
}

// Rows that are clamped where the mask ends: nobody sees what they would be. Clamped elsewhere they
// are seen.
// CHECK-LABEL: func.func @clamped
// CHECK: cta.tma_store
// CHECK: tile.store
// WHY: remark: its indices wrap around
func.func @clamped(%c: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %e: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %rows: i32) {
  %x = arith.constant dense<1.0> : tensor<64x64xf16>
  %y = arith.constant dense<1.0> : tensor<64x128xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %none = arith.constant dense<0> : tensor<64xi32>
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %k = tile.make_range 0 to 128 : tensor<128xi32>
  %ends = tile.splat %rows : i32 -> tensor<64xi32>
  %in = arith.cmpi slt, %m, %ends : tensor<64xi32>
  %kept = arith.select %in, %m, %none : tensor<64xi1>, tensor<64xi32>
  %stride = arith.constant dense<128> : tensor<64xi32>
  %down = arith.muli %kept, %stride : tensor<64xi32>
  %left = tile.expand_dims %down {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %top = tile.expand_dims %k {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %lefts = tile.broadcast %left : tensor<64x1xi32> -> tensor<64x128xi32>
  %tops = tile.broadcast %top : tensor<1x128xi32> -> tensor<64x128xi32>
  %offsets = arith.addi %lefts, %tops : tensor<64x128xi32>
  %inside = tile.expand_dims %in {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
  %mask = tile.broadcast %inside : tensor<64x1xi1> -> tensor<64x128xi1>
  %d = tile.dot %x, %y, %zero : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
  %h = arith.truncf %d : tensor<64x128xf32> to tensor<64x128xf16>
  %cs = tile.splat %c : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %to = tile.addptr %cs, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  tile.store %to, %h, %mask : tensor<64x128x!tile.ptr<f16>>
  %es = tile.splat %e : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %too = tile.addptr %es, %offsets : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  tile.store %too, %h : tensor<64x128x!tile.ptr<f16>>
  return
}
}
