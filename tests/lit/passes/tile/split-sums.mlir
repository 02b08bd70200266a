// RUN: tile-opt %s --tile-split-columns 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.remarks
// RUN: tile-opt %s --tile-split-columns=sums=false | FileCheck %s --check-prefix=WHOLE

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 8>} {

// 128 registers of sums leave no room for results of 128: a quarter at a time, and what is done
// with each stands behind its product. What is promised of 256 columns is promised of 64.
// CHECK-LABEL: func.func @scaled
// CHECK: tile.hint {{.*}} {contiguity = array<i64: 64>} : tensor<64xi32>
// CHECK: tile.hint {{.*}} {divisibility = array<i64: 64>} : tensor<64xi32>
// CHECK: scf.for {{.*}} -> (tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>)
// CHECK-COUNT-4: tile.load {{.*}} : tensor<64x32x!tile.ptr<f8E4M3FN>>
// CHECK: %[[D0:.*]] = tile.dot
// CHECK-NEXT: %[[S0:.*]] = arith.mulf %[[D0]]
// CHECK-NEXT: arith.addf %{{.*}}, %[[S0]]
// CHECK-NEXT: %[[D1:.*]] = tile.dot
// CHECK-NEXT: %[[S1:.*]] = arith.mulf %[[D1]]
// CHECK-NEXT: arith.addf %{{.*}}, %[[S1]]
// CHECK: scf.yield
// CHECK-COUNT-4: tile.store {{.*}} : tensor<128x64x!tile.ptr<f32>>
// WHOLE-LABEL: func.func @scaled
// WHOLE: tile.dot {{.*}} -> tensor<128x256xf32>
func.func @scaled(%a: tensor<128x32xf8E4M3FN>, %b: !tile.ptr<f8E4M3FN>, %c: !tile.ptr<f32>,
                  %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %factor = arith.constant dense<0.5> : tensor<128x256xf32>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %r = tile.make_range 0 to 256 : tensor<256xi32>
  %h1 = tile.hint %r {contiguity = array<i64: 256>} : tensor<256xi32>
  %h2 = tile.hint %h1 {divisibility = array<i64: 256>} : tensor<256xi32>
  %rows = tile.expand_dims %h2 {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %all = tile.broadcast %rows : tensor<256x1xi32> -> tensor<256x32xi32>
  %p = tile.splat %b : !tile.ptr<f8E4M3FN> -> tensor<256x32x!tile.ptr<f8E4M3FN>>
  %q = tile.addptr %p, %all : tensor<256x32x!tile.ptr<f8E4M3FN>>, tensor<256x32xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %y = tile.load %q : tensor<256x32x!tile.ptr<f8E4M3FN>>
    %t = tile.trans %y [1, 0] : tensor<256x32xf8E4M3FN> -> tensor<32x256xf8E4M3FN>
    %d = tile.dot %a, %t, %zero : tensor<128x32xf8E4M3FN> * tensor<32x256xf8E4M3FN> -> tensor<128x256xf32>
    %s = arith.mulf %d, %factor : tensor<128x256xf32>
    %next = arith.addf %acc, %s : tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  tile.store %to, %sum : tensor<128x256x!tile.ptr<f32>>
  return
}

// Parts of fewer than 64 columns would read the left operand too often: halves have room for
// one result at least.
// CHECK-LABEL: func.func @tall
// CHECK: scf.for {{.*}} -> (tensor<256x64xf32>, tensor<256x64xf32>)
func.func @tall(%a: tensor<256x32xf8E4M3FN>, %b: !tile.ptr<f8E4M3FN>, %c: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<256x128xf32>
  %q = tile.splat %b : !tile.ptr<f8E4M3FN> -> tensor<32x128x!tile.ptr<f8E4M3FN>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<256x128xf32>) : i32 {
    %y = tile.load %q : tensor<32x128x!tile.ptr<f8E4M3FN>>
    %d = tile.dot %a, %y, %zero : tensor<256x32xf8E4M3FN> * tensor<32x128xf8E4M3FN> -> tensor<256x128xf32>
    %next = arith.addf %acc, %d : tensor<256x128xf32>
    scf.yield %next : tensor<256x128xf32>
  }
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<256x128x!tile.ptr<f32>>
  tile.store %to, %sum : tensor<256x128x!tile.ptr<f32>>
  return
}

// The hardware adds these up, or will, and there is room for those.
// CHECK-LABEL: func.func @added
// CHECK: scf.for {{.*}} -> (tensor<128x256xf32>) : i32
// CHECK-LABEL: func.func @joined
// CHECK: scf.for {{.*}} -> (tensor<128x256xf32>) : i32
// CHECK-LABEL: func.func @room
// CHECK: scf.for {{.*}} -> (tensor<128x128xf32>) : i32
func.func @added(%a: tensor<128x32xf16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %q = tile.splat %b : !tile.ptr<f16> -> tensor<32x256x!tile.ptr<f16>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %y = tile.load %q : tensor<32x256x!tile.ptr<f16>>
    %d = tile.dot %a, %y, %acc : tensor<128x32xf16> * tensor<32x256xf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  tile.store %to, %sum : tensor<128x256x!tile.ptr<f32>>
  return
}
func.func @joined(%a: tensor<128x32xf16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %q = tile.splat %b : !tile.ptr<f16> -> tensor<32x256x!tile.ptr<f16>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %y = tile.load %q : tensor<32x256x!tile.ptr<f16>>
    %d = tile.dot %a, %y, %zero : tensor<128x32xf16> * tensor<32x256xf16> -> tensor<128x256xf32>
    %next = arith.addf %acc, %d : tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  tile.store %to, %sum : tensor<128x256x!tile.ptr<f32>>
  return
}
func.func @room(%a: tensor<128x32xf8E4M3FN>, %b: !tile.ptr<f8E4M3FN>, %c: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %q = tile.splat %b : !tile.ptr<f8E4M3FN> -> tensor<32x128x!tile.ptr<f8E4M3FN>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
    %y = tile.load %q : tensor<32x128x!tile.ptr<f8E4M3FN>>
    %d = tile.dot %a, %y, %zero : tensor<128x32xf8E4M3FN> * tensor<32x128xf8E4M3FN> -> tensor<128x128xf32>
    %next = arith.addf %acc, %d : tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<128x128x!tile.ptr<f32>>
  tile.store %to, %sum : tensor<128x128x!tile.ptr<f32>>
  return
}

// What comes from a sum of all columns cannot be cut into parts.
// CHECK-LABEL: func.func @reduced
// CHECK: scf.for {{.*}} -> (tensor<128x256xf32>) : i32
// WHY: remark: products wait for their results to be added up: there is room for no two: not all that they read and that comes of them can be cut into parts of columns
func.func @reduced(%a: tensor<128x32xf8E4M3FN>, %b: !tile.ptr<f8E4M3FN>, %c: !tile.ptr<f32>, %n: i32)
    -> tensor<128xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %q = tile.splat %b : !tile.ptr<f8E4M3FN> -> tensor<32x256x!tile.ptr<f8E4M3FN>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %y = tile.load %q : tensor<32x256x!tile.ptr<f8E4M3FN>>
    %d = tile.dot %a, %y, %zero : tensor<128x32xf8E4M3FN> * tensor<32x256xf8E4M3FN> -> tensor<128x256xf32>
    %next = arith.addf %acc, %d : tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  tile.store %to, %sum : tensor<128x256x!tile.ptr<f32>>
  %r = tile.reduce %sum {axis = 1 : i32} : tensor<128x256xf32> -> tensor<128xf32> {
  ^bb0(%l: f32, %o: f32):
    %s = arith.addf %l, %o : f32
    tile.yield %s : f32
  }
  return %r : tensor<128xf32>
}

// Runs that are no power of two say nothing of parts.
// CHECK-LABEL: func.func @odd
// CHECK-NOT: tile.hint
// CHECK: scf.for {{.*}} -> (tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>, tensor<128x64xf32>)
func.func @odd(%a: tensor<128x32xf8E4M3FN>, %b: !tile.ptr<f8E4M3FN>, %c: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %r = tile.make_range 0 to 256 : tensor<256xi32>
  %h = tile.hint %r {contiguity = array<i64: 48>} : tensor<256xi32>
  %row = tile.expand_dims %h {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %all = tile.broadcast %row : tensor<1x256xi32> -> tensor<32x256xi32>
  %p = tile.splat %b : !tile.ptr<f8E4M3FN> -> tensor<32x256x!tile.ptr<f8E4M3FN>>
  %q = tile.addptr %p, %all : tensor<32x256x!tile.ptr<f8E4M3FN>>, tensor<32x256xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %y = tile.load %q : tensor<32x256x!tile.ptr<f8E4M3FN>>
    %d = tile.dot %a, %y, %zero : tensor<128x32xf8E4M3FN> * tensor<32x256xf8E4M3FN> -> tensor<128x256xf32>
    %next = arith.addf %acc, %d : tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %to = tile.splat %c : !tile.ptr<f32> -> tensor<128x256x!tile.ptr<f32>>
  tile.store %to, %sum : tensor<128x256x!tile.ptr<f32>>
  return
}
}
