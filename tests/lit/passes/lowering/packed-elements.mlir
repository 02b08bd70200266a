// Narrow elements that lie in one register stay there.
// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s

#four = #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[0], [0]]} : [128]>
#two = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]]} : [64]>
#pairs = #cta.layout<{register = [[1], [2], [128]], lane = [[4], [8], [16], [32], [64]], warp = [[0], [0]]} : [256]>
#swapped = #cta.layout<{register = [[128], [1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[0], [0]]} : [256]>
#one = #cta.layout<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]} : [32]>

module attributes {tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 4>} {
// Two 16-bit integers are masked and shifted at once; what comes from the neighbour
// is cleared. As floats they are multiplied and subtracted at once.
// CHECK-LABEL: llvm.func @decode
// CHECK: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i32)
// CHECK: %[[S:.*]] = llvm.lshr %{{.*}}, %[[EIGHT]] : i32
// CHECK: %[[LOW:.*]] = llvm.mlir.constant(16711935 : i32)
// CHECK: llvm.and %[[S]], %[[LOW]] : i32
// CHECK: %[[FIFTEEN:.*]] = llvm.mlir.constant(983055 : i32)
// CHECK: llvm.and %{{.*}}, %[[FIFTEEN]] : i32
// CHECK: llvm.fmul %{{.*}} : vector<2xf16>
// CHECK: llvm.fsub %{{.*}} : vector<2xf16>
// CHECK-NOT: llvm.fmul
// CHECK: llvm.return
func.func @decode(%base: !tile.ptr<i16> {tile.divisibility = 16 : i32}, %to: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 64 : tensor<64xi32, #two>
  %b = tile.splat %base : !tile.ptr<i16> -> tensor<64x!tile.ptr<i16>, #two>
  %p = tile.addptr %b, %r : tensor<64x!tile.ptr<i16>, #two>, tensor<64xi32, #two>
  %x = tile.load %p {vector = 2 : i32} : tensor<64x!tile.ptr<i16>, #two>
  %eight = arith.constant dense<8> : tensor<64xi16, #two>
  %mask = arith.constant dense<15> : tensor<64xi16, #two>
  %scale = arith.constant dense<32768.0> : tensor<64xf16, #two>
  %offset = arith.constant dense<0.5> : tensor<64xf16, #two>
  %high = arith.shrui %x, %eight : tensor<64xi16, #two>
  %bits = arith.andi %high, %mask : tensor<64xi16, #two>
  %f = arith.bitcast %bits : tensor<64xi16, #two> to tensor<64xf16, #two>
  %m = arith.mulf %f, %scale : tensor<64xf16, #two>
  %d = arith.subf %m, %offset : tensor<64xf16, #two>
  %ts = tile.splat %to : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>, #two>
  %t = tile.addptr %ts, %r : tensor<64x!tile.ptr<f16>, #two>, tensor<64xi32, #two>
  tile.store %t, %d {vector = 2 : i32} : tensor<64x!tile.ptr<f16>, #two>
  return
}

// Sums and limits of two integers of 16 bits; floats that become such come in pairs, and four of
// their lower bytes leave in one register.
// CHECK-LABEL: llvm.func @encode
// CHECK-COUNT-2: llvm.fptrunc %{{.*}} : vector<2xf32> to vector<2xf16>
// CHECK-COUNT-2: llvm.intr.umin(%{{.*}}) : (vector<2xi16>, vector<2xi16>) -> vector<2xi16>
// CHECK-COUNT-2: llvm.add %{{.*}} : vector<2xi16>
// CHECK: prmt
// CHECK-NOT: prmt
// CHECK: llvm.return
func.func @encode(%base: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %to: !tile.ptr<i8> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 128 : tensor<128xi32, #four>
  %b = tile.splat %base : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>, #four>
  %p = tile.addptr %b, %r : tensor<128x!tile.ptr<f32>, #four>, tensor<128xi32, #four>
  %x = tile.load %p {vector = 4 : i32} : tensor<128x!tile.ptr<f32>, #four>
  %most = arith.constant dense<16128> : tensor<128xi16, #four>
  %half = arith.constant dense<128> : tensor<128xi16, #four>
  %h = arith.truncf %x : tensor<128xf32, #four> to tensor<128xf16, #four>
  %bits = arith.bitcast %h : tensor<128xf16, #four> to tensor<128xi16, #four>
  %least = arith.minui %bits, %most : tensor<128xi16, #four>
  %sum = arith.addi %least, %half : tensor<128xi16, #four>
  %byte = arith.trunci %sum : tensor<128xi16, #four> to tensor<128xi8, #four>
  %ts = tile.splat %to : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #four>
  %t = tile.addptr %ts, %r : tensor<128x!tile.ptr<i8>, #four>, tensor<128xi32, #four>
  tile.store %t, %byte {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  return
}

// To the left, the bits that leave an element are cleared before its neighbour.
// CHECK-LABEL: llvm.func @left
// CHECK: llvm.load
// CHECK: %[[S:.*]] = llvm.shl %{{.*}} : i32
// CHECK: %[[KEPT:.*]] = llvm.mlir.constant(-252645136 : i32)
// CHECK: llvm.and %[[S]], %[[KEPT]] : i32
func.func @left(%base: !tile.ptr<i8> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 128 : tensor<128xi32, #four>
  %b = tile.splat %base : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #four>
  %p = tile.addptr %b, %r : tensor<128x!tile.ptr<i8>, #four>, tensor<128xi32, #four>
  %x = tile.load %p {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  %four = arith.constant dense<4> : tensor<128xi8, #four>
  %y = arith.shli %x, %four : tensor<128xi8, #four>
  tile.store %p, %y {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  return
}

// A sign belongs to one element.
// CHECK-LABEL: llvm.func @signed
// CHECK-COUNT-2: llvm.ashr %{{.*}} : i16
func.func @signed(%base: !tile.ptr<i16> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 64 : tensor<64xi32, #two>
  %b = tile.splat %base : !tile.ptr<i16> -> tensor<64x!tile.ptr<i16>, #two>
  %p = tile.addptr %b, %r : tensor<64x!tile.ptr<i16>, #two>, tensor<64xi32, #two>
  %x = tile.load %p {vector = 2 : i32} : tensor<64x!tile.ptr<i16>, #two>
  %four = arith.constant dense<4> : tensor<64xi16, #two>
  %y = arith.shrsi %x, %four : tensor<64xi16, #two>
  tile.store %p, %y {vector = 2 : i32} : tensor<64x!tile.ptr<i16>, #two>
  return
}

// Of two bf16 in a register one is moved up and the other one stays. What extrema take, or one operation
// that is narrowed again, is left to LLVM, which takes the narrow numbers.
// CHECK-LABEL: llvm.func @widen
// CHECK: %[[SIXTEEN:.*]] = llvm.mlir.constant(16 : i32)
// CHECK: llvm.shl %[[WORD:.*]], %[[SIXTEEN]] : i32
// CHECK: %[[UPPER:.*]] = llvm.mlir.constant(-65536 : i32)
// CHECK: llvm.and %[[WORD]], %[[UPPER]] : i32
// CHECK-NOT: llvm.fpext
// CHECK: llvm.fadd %{{.*}} : f32
// CHECK: llvm.fadd %{{.*}} : f32
// CHECK-COUNT-2: llvm.fpext
// CHECK-COUNT-2: llvm.intr.maxnum
// CHECK-COUNT-2: llvm.fpext
// CHECK: llvm.return
func.func @widen(%base: !tile.ptr<bf16> {tile.divisibility = 16 : i32}, %to: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %one = arith.constant dense<1.0> : tensor<64xf32, #two>
  %r = tile.make_range 0 to 64 : tensor<64xi32, #two>
  %b = tile.splat %base : !tile.ptr<bf16> -> tensor<64x!tile.ptr<bf16>, #two>
  %p = tile.addptr %b, %r : tensor<64x!tile.ptr<bf16>, #two>, tensor<64xi32, #two>
  %ts = tile.splat %to : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #two>
  %t = tile.addptr %ts, %r : tensor<64x!tile.ptr<f32>, #two>, tensor<64xi32, #two>
  %x = tile.load %p {vector = 2 : i32} : tensor<64x!tile.ptr<bf16>, #two>
  %w = arith.extf %x : tensor<64xbf16, #two> to tensor<64xf32, #two>
  %y = arith.addf %w, %one : tensor<64xf32, #two>
  tile.store %t, %y {vector = 2 : i32} : tensor<64x!tile.ptr<f32>, #two>
  %w2 = arith.extf %x : tensor<64xbf16, #two> to tensor<64xf32, #two>
  %y2 = arith.maxnumf %w2, %one : tensor<64xf32, #two>
  tile.store %t, %y2 {vector = 2 : i32} : tensor<64x!tile.ptr<f32>, #two>
  %w3 = arith.extf %x : tensor<64xbf16, #two> to tensor<64xf32, #two>
  %y3 = arith.mulf %w3, %w3 : tensor<64xf32, #two>
  %n3 = arith.truncf %y3 : tensor<64xf32, #two> to tensor<64xbf16, #two>
  tile.store %p, %n3 {vector = 2 : i32} : tensor<64x!tile.ptr<bf16>, #two>
  return
}

// The signs of two floats are changed at once.
// CHECK-LABEL: llvm.func @negated
// CHECK: llvm.fneg %{{.*}} : vector<2xbf16>
// CHECK-NOT: llvm.fneg
// CHECK: llvm.return
func.func @negated(%base: !tile.ptr<bf16> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 64 : tensor<64xi32, #two>
  %b = tile.splat %base : !tile.ptr<bf16> -> tensor<64x!tile.ptr<bf16>, #two>
  %p = tile.addptr %b, %r : tensor<64x!tile.ptr<bf16>, #two>, tensor<64xi32, #two>
  %x = tile.load %p {vector = 2 : i32} : tensor<64x!tile.ptr<bf16>, #two>
  %y = arith.negf %x : tensor<64xbf16, #two>
  tile.store %p, %y {vector = 2 : i32} : tensor<64x!tile.ptr<bf16>, #two>
  return
}

// One element a thread stays one.
// CHECK-LABEL: llvm.func @single
// CHECK: llvm.and %{{.*}} : i16
func.func @single(%base: !tile.ptr<i16>) {
  %r = tile.make_range 0 to 32 : tensor<32xi32, #one>
  %b = tile.splat %base : !tile.ptr<i16> -> tensor<32x!tile.ptr<i16>, #one>
  %p = tile.addptr %b, %r : tensor<32x!tile.ptr<i16>, #one>, tensor<32xi32, #one>
  %x = tile.load %p : tensor<32x!tile.ptr<i16>, #one>
  %mask = arith.constant dense<15> : tensor<32xi16, #one>
  %y = arith.andi %x, %mask : tensor<32xi16, #one>
  tile.store %p, %y : tensor<32x!tile.ptr<i16>, #one>
  return
}

// 8-bit floats are widened and narrowed two at a time, where they lie.
// CHECK-LABEL: llvm.func @widen_and_narrow
// CHECK: %[[HALVES:.*]] = llvm.bitcast %{{.*}} to vector<2xi16>
// CHECK: %[[PAIR:.*]] = llvm.extractelement %[[HALVES]]
// CHECK: llvm.inline_asm {{.*}}"cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h" %[[PAIR]]
// CHECK: llvm.inline_asm {{.*}}"cvt.rn.f16x2.e4m3x2
// CHECK-NOT: e4m3x2
// CHECK: cvt.rn.satfinite.e5m2x2.f32
// CHECK: cvt.rn.satfinite.e5m2x2.f32
// CHECK-NOT: e5m2x2
// CHECK: llvm.return
func.func @widen_and_narrow(%base: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i32}, %to: !tile.ptr<f8E5M2> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 128 : tensor<128xi32, #four>
  %b = tile.splat %base : !tile.ptr<f8E4M3FN> -> tensor<128x!tile.ptr<f8E4M3FN>, #four>
  %p = tile.addptr %b, %r : tensor<128x!tile.ptr<f8E4M3FN>, #four>, tensor<128xi32, #four>
  %x = tile.load %p {vector = 4 : i32} : tensor<128x!tile.ptr<f8E4M3FN>, #four>
  %w = tile.fp_cast %x rtne : tensor<128xf8E4M3FN, #four> -> tensor<128xf32, #four>
  %n = tile.fp_cast %w rtne : tensor<128xf32, #four> -> tensor<128xf8E5M2, #four>
  %ts = tile.splat %to : !tile.ptr<f8E5M2> -> tensor<128x!tile.ptr<f8E5M2>, #four>
  %t = tile.addptr %ts, %r : tensor<128x!tile.ptr<f8E5M2>, #four>, tensor<128xi32, #four>
  tile.store %t, %n {vector = 4 : i32} : tensor<128x!tile.ptr<f8E5M2>, #four>
  return
}

// Pairs of two registers are put together first.
// CHECK-LABEL: llvm.func @transposed
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.prmt"
// CHECK-NOT: llvm.nvvm.prmt
// CHECK: llvm.return
func.func @transposed(%base: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i32}, %to: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 256 : tensor<256xi32, #pairs>
  %b = tile.splat %base : !tile.ptr<f8E4M3FN> -> tensor<256x!tile.ptr<f8E4M3FN>, #pairs>
  %p = tile.addptr %b, %r : tensor<256x!tile.ptr<f8E4M3FN>, #pairs>, tensor<256xi32, #pairs>
  %x = tile.load %p {vector = 4 : i32} : tensor<256x!tile.ptr<f8E4M3FN>, #pairs>
  %y = cta.convert_layout %x : tensor<256xf8E4M3FN, #pairs> -> tensor<256xf8E4M3FN, #swapped>
  %w = tile.fp_cast %y rtne : tensor<256xf8E4M3FN, #swapped> -> tensor<256xf16, #swapped>
  %rs = tile.make_range 0 to 256 : tensor<256xi32, #swapped>
  %ts = tile.splat %to : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>, #swapped>
  %t = tile.addptr %ts, %rs : tensor<256x!tile.ptr<f16>, #swapped>, tensor<256xi32, #swapped>
  tile.store %t, %w : tensor<256x!tile.ptr<f16>, #swapped>
  return
}

// One condition for the four bytes of a register chooses the register.
// CHECK-LABEL: llvm.func @choose
// CHECK: llvm.select %{{.*}} : i1, i32
// CHECK-NOT: llvm.select
// CHECK: llvm.return
func.func @choose(%base: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %flag: i1) {
  %r = tile.make_range 0 to 128 : tensor<128xi32, #four>
  %b = tile.splat %base : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #four>
  %p = tile.addptr %b, %r : tensor<128x!tile.ptr<i8>, #four>, tensor<128xi32, #four>
  %x = tile.load %p {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  %zero = arith.constant dense<0> : tensor<128xi8, #four>
  %y = arith.select %flag, %x, %zero : tensor<128xi8, #four>
  tile.store %p, %y {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  return
}

// Conditions of single bytes choose bytes.
// CHECK-LABEL: llvm.func @choose_each
// CHECK-COUNT-4: llvm.select %{{.*}} : i1, i8
func.func @choose_each(%base: !tile.ptr<i8> {tile.divisibility = 16 : i32}, %n: i32) {
  %r = tile.make_range 0 to 128 : tensor<128xi32, #four>
  %b = tile.splat %base : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #four>
  %p = tile.addptr %b, %r : tensor<128x!tile.ptr<i8>, #four>, tensor<128xi32, #four>
  %x = tile.load %p {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  %zero = arith.constant dense<0> : tensor<128xi8, #four>
  %ns = tile.splat %n : i32 -> tensor<128xi32, #four>
  %below = arith.cmpi slt, %r, %ns : tensor<128xi32, #four>
  %y = arith.select %below, %x, %zero : tensor<128xi1, #four>, tensor<128xi8, #four>
  tile.store %p, %y {vector = 4 : i32} : tensor<128x!tile.ptr<i8>, #four>
  return
}
}
