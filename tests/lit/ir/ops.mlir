// Every operation of the tile dialect parses, prints as it was written, and
// prints the same again when what it printed is parsed.
// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @programs
func.func @programs() -> (i32, i32) {
  // CHECK: tile.program_id 0 : i32
  %p = tile.program_id 0 : i32
  // CHECK: tile.num_programs 2 : i32
  %n = tile.num_programs 2 : i32
  return %p, %n : i32, i32
}

// CHECK-LABEL: func.func @creation
func.func @creation(%x: f32, %p: !tile.ptr<f16>) -> f32 {
  // CHECK: tile.make_range 16 to 48 : tensor<32xi32>
  %r = tile.make_range 16 to 48 : tensor<32xi32>
  // CHECK: tile.make_range -8 to 8 : tensor<16xi32>
  %below = tile.make_range -8 to 8 : tensor<16xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<1x1xf32>
  %s = tile.splat %x : f32 -> tensor<1x1xf32>
  // CHECK: tile.splat %{{.*}} : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
  %q = tile.splat %p : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
  // CHECK: tile.unsplat %{{.*}} : tensor<1x1xf32> -> f32
  %u = tile.unsplat %s : tensor<1x1xf32> -> f32
  return %u : f32
}

// CHECK-LABEL: func.func @shape
func.func @shape(%a: tensor<64xf32>, %b: tensor<64xf32>) {
  // CHECK: tile.expand_dims %{{.*}} {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %e = tile.expand_dims %a {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<64x1xf32> -> tensor<64x32xf32>
  %w = tile.broadcast %e : tensor<64x1xf32> -> tensor<64x32xf32>
  // CHECK: tile.trans %{{.*}} [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %t = tile.trans %w [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<32x64xf32> -> tensor<2048xf32>
  %r = tile.reshape %t : tensor<32x64xf32> -> tensor<2048xf32>
  // CHECK: tile.reshape %{{.*}} allow_reorder : tensor<2048xf32> -> tensor<8x256xf32>
  %o = tile.reshape %r allow_reorder : tensor<2048xf32> -> tensor<8x256xf32>
  // CHECK: tile.join %{{.*}}, %{{.*}} : tensor<64xf32> -> tensor<64x2xf32>
  %j = tile.join %a, %b : tensor<64xf32> -> tensor<64x2xf32>
  // CHECK: %{{.*}}, %{{.*}} = tile.split %{{.*}} : tensor<64x2xf32> -> tensor<64xf32>
  %lhs, %rhs = tile.split %j : tensor<64x2xf32> -> tensor<64xf32>
  return
}

// CHECK-LABEL: func.func @pointers
func.func @pointers(%p: !tile.ptr<f32>, %ps: tensor<16x!tile.ptr<i8>>, %o: i64,
                    %os: tensor<16xi32>) {
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : !tile.ptr<f32>, i64
  %0 = tile.addptr %p, %o : !tile.ptr<f32>, i64
  // CHECK: tile.addptr %{{.*}}, %{{.*}} : tensor<16x!tile.ptr<i8>>, tensor<16xi32>
  %1 = tile.addptr %ps, %os : tensor<16x!tile.ptr<i8>>, tensor<16xi32>
  // CHECK: tile.ptr_to_int %{{.*}} : !tile.ptr<f32> -> i64
  %2 = tile.ptr_to_int %p : !tile.ptr<f32> -> i64
  // CHECK: tile.int_to_ptr %{{.*}} : i64 -> !tile.ptr<!tile.ptr<f16>>
  %3 = tile.int_to_ptr %2 : i64 -> !tile.ptr<!tile.ptr<f16>>
  // CHECK: tile.ptr_cast %{{.*}} : tensor<16x!tile.ptr<i8>> -> tensor<16x!tile.ptr<f8E4M3FN>>
  %4 = tile.ptr_cast %ps : tensor<16x!tile.ptr<i8>> -> tensor<16x!tile.ptr<f8E4M3FN>>
  return
}

// CHECK-LABEL: func.func @memory
func.func @memory(%p: tensor<128x!tile.ptr<f32>>, %m: tensor<128xi1>, %v: tensor<128xf32>,
                  %q: !tile.ptr<f16>, %b: i1) {
  // CHECK: tile.load %{{[^,]*}} : tensor<128x!tile.ptr<f32>>
  %0 = tile.load %p : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.load %{{.*}}, %{{.*}} : tensor<128x!tile.ptr<f32>>
  %1 = tile.load %p, %m : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.load %{{.*}}, %{{.*}}, other %{{.*}} cache = cg evict = evict_last {is_volatile = true, vector = 4 : i32} : tensor<128x!tile.ptr<f32>>
  %2 = tile.load %p, %m, other %v cache = cg evict = evict_last {is_volatile = true, vector = 4 : i32} : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.load %{{.*}} : !tile.ptr<f16>
  %3 = tile.load %q : !tile.ptr<f16>
  // CHECK: tile.store %{{.*}}, %{{[^,]*}} : tensor<128x!tile.ptr<f32>>
  tile.store %p, %v : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.store %{{.*}}, %{{.*}}, %{{.*}} cache = wt : tensor<128x!tile.ptr<f32>>
  tile.store %p, %v, %m cache = wt : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.store %{{.*}}, %{{.*}}, %{{.*}} : !tile.ptr<f16>
  tile.store %q, %3, %b : !tile.ptr<f16>
  // CHECK: tile.barrier
  tile.barrier
  return
}

// CHECK-LABEL: func.func @atomics
func.func @atomics(%p: tensor<128x!tile.ptr<f32>>, %v: tensor<128xf32>, %m: tensor<128xi1>,
                   %q: !tile.ptr<i32>, %c: i32) {
  // CHECK: tile.atomic_rmw fadd acq_rel gpu %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x!tile.ptr<f32>>
  %0 = tile.atomic_rmw fadd acq_rel gpu %p, %v, %m : tensor<128x!tile.ptr<f32>>
  // CHECK: tile.atomic_rmw xor relaxed sys %{{.*}}, %{{.*}} : !tile.ptr<i32>
  %1 = tile.atomic_rmw xor relaxed sys %q, %c : !tile.ptr<i32>
  // CHECK: tile.atomic_cas acquire cta %{{.*}}, %{{.*}}, %{{.*}} : !tile.ptr<i32>
  %2 = tile.atomic_cas acquire cta %q, %c, %1 : !tile.ptr<i32>
  return
}

// CHECK-LABEL: func.func @combine
func.func @combine(%x: tensor<4x64xf32>, %i: tensor<4x64xi32>) {
  // CHECK: tile.reduce %{{.*}} {axis = 1 : i32} : tensor<4x64xf32> -> tensor<4xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: tile.yield %{{.*}} : f32
  %s = tile.reduce %x {axis = 1 : i32} : tensor<4x64xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  // CHECK: tile.reduce %{{.*}} {axis = 0 : i32} : tensor<4xf32> -> f32 {
  %t = tile.reduce %s {axis = 0 : i32} : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  // CHECK: tile.scan %{{.*}}, %{{.*}} {axis = 1 : i32, reverse = true} : tensor<4x64xf32>, tensor<4x64xi32> -> tensor<4x64xf32>, tensor<4x64xi32> {
  // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
  %u:2 = tile.scan %x, %i {axis = 1 : i32, reverse = true} : tensor<4x64xf32>, tensor<4x64xi32> -> tensor<4x64xf32>, tensor<4x64xi32> {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %c = arith.addf %a, %b : f32
    %d = arith.minsi %ai, %bi : i32
    tile.yield %c, %d : f32, i32
  }
  return
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<64xf32>, %i: tensor<64xi32>, %s: f64) {
  // CHECK: tile.fp_cast %{{.*}} rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %0 = tile.fp_cast %x rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
  // CHECK: tile.fp_cast %{{.*}} rtz : tensor<64xf32> -> tensor<64xbf16>
  %1 = tile.fp_cast %x rtz : tensor<64xf32> -> tensor<64xbf16>
  // CHECK: tile.umulhi %{{.*}}, %{{.*}} : tensor<64xi32>
  %2 = tile.umulhi %i, %i : tensor<64xi32>
  // CHECK: tile.div_rn %{{.*}}, %{{.*}} : tensor<64xf32>
  %3 = tile.div_rn %x, %x : tensor<64xf32>
  // CHECK: tile.sqrt_rn %{{.*}} : f64
  %4 = tile.sqrt_rn %s : f64
  // CHECK: tile.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<64xf32>
  %5 = tile.clamp %x, %3, %3 : tensor<64xf32>
  // CHECK: tile.clamp %{{.*}}, %{{.*}}, %{{.*}} propagate_nan : tensor<64xf32>
  %6 = tile.clamp %x, %3, %3 propagate_nan : tensor<64xf32>
  return
}

// CHECK-LABEL: func.func @debugging
func.func @debugging(%x: tensor<64xi32>, %c: tensor<64xi1>, %s: f32) {
  // CHECK: tile.hint %{{.*}} {contiguity = array<i64: 4>, divisibility = array<i64: 16>} : tensor<64xi32>
  %0 = tile.hint %x {contiguity = array<i64: 4>, divisibility = array<i64: 16>} : tensor<64xi32>
  // CHECK: tile.assert %{{.*}}, "n must be positive" : tensor<64xi1>
  tile.assert %c, "n must be positive" : tensor<64xi1>
  // CHECK: tile.print "x, s" %{{.*}}, %{{.*}} {hex = true, is_signed = array<i1: true, false>} : tensor<64xi32>, f32
  tile.print "x, s" %0, %s {hex = true, is_signed = array<i1: true, false>} : tensor<64xi32>, f32
  // CHECK: tile.print "here" {is_signed = array<i1>}
  tile.print "here" {is_signed = array<i1>}
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>, %c: tensor<4x2xf32>,
                    %x: tensor<2x4x8xf32>, %y: tensor<2x8x2xf32>, %z: tensor<2x4x2xf32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf16> * tensor<8x2xf16> -> tensor<4x2xf32>
  %0 = tile.dot %a, %b, %c : tensor<4x8xf16> * tensor<8x2xf16> -> tensor<4x2xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision = tf32x3 {max_num_imprecise_acc = 32 : i32} : tensor<2x4x8xf32>
  %1 = tile.dot %x, %y, %z precision = tf32x3 {max_num_imprecise_acc = 32 : i32}
       : tensor<2x4x8xf32> * tensor<2x8x2xf32> -> tensor<2x4x2xf32>
  return
}
