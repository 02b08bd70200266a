// Descriptor and element operations parse, print as they were written, and
// print the same again when what was printed is parsed.
// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @descriptors
func.func @descriptors(%p: !tile.ptr<f16>, %i: i32, %n: i32, %s: i64, %r: tensor<32xi32>) {
  // CHECK: tile.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] of[%{{.*}}, %{{.*}}] by[%{{.*}}, %{{.*}}] : <f16> -> tensor<64x32xf16>
  %a = tile.descriptor_load %p[%i, %i] of [%n, %n] by [%s, %s] : !tile.ptr<f16> -> tensor<64x32xf16>
  // CHECK: tile.descriptor_load %{{.*}}[%{{.*}}] of[%{{.*}}] by[%{{.*}}] padding = nan : <f16> -> tensor<16xf16>
  %b = tile.descriptor_load %p[%i] of [%n] by [%s] padding = nan : !tile.ptr<f16> -> tensor<16xf16>
  // CHECK: tile.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}] of[%{{.*}}, %{{.*}}] by[%{{.*}}, %{{.*}}], %{{.*}} : <f16>, tensor<64x32xf16>
  tile.descriptor_store %p[%i, %i] of [%n, %n] by [%s, %s], %a : !tile.ptr<f16>, tensor<64x32xf16>
  // CHECK: tile.descriptor_reduce fmax %{{.*}}[%{{.*}}] of[%{{.*}}] by[%{{.*}}], %{{.*}} : <f16>, tensor<16xf16>
  tile.descriptor_reduce fmax %p[%i] of [%n] by [%s], %b : !tile.ptr<f16>, tensor<16xf16>
  // CHECK: tile.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] of[%{{.*}}, %{{.*}}] by[%{{.*}}, %{{.*}}] : <f16>, tensor<32xi32> -> tensor<32x64xf16>
  %g = tile.descriptor_gather %p[%r, %i] of [%n, %n] by [%s, %s] : !tile.ptr<f16>, tensor<32xi32> -> tensor<32x64xf16>
  // CHECK: tile.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}] of[%{{.*}}, %{{.*}}] by[%{{.*}}, %{{.*}}], %{{.*}} : <f16>, tensor<32xi32>, tensor<32x64xf16>
  tile.descriptor_scatter %p[%r, %i] of [%n, %n] by [%s, %s], %g : !tile.ptr<f16>, tensor<32xi32>, tensor<32x64xf16>
  return
}

// CHECK-LABEL: func.func @elements
func.func @elements(%x: tensor<64xf32>, %i: tensor<128xi16>, %v: tensor<64xi32>, %m: tensor<64xi1>,
                    %c: i1) {
  // CHECK: tile.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : tensor<64xf32>, tensor<128xi16> -> tensor<128xf32>
  %g = tile.gather %x[%i] {axis = 0 : i32} : tensor<64xf32>, tensor<128xi16> -> tensor<128xf32>
  // CHECK: tile.histogram %{{.*}} : tensor<64xi32> -> tensor<16xi32>
  %h = tile.histogram %v : tensor<64xi32> -> tensor<16xi32>
  // CHECK: tile.histogram %{{.*}}, %{{.*}} : tensor<64xi32> -> tensor<16xi32>
  %k = tile.histogram %v, %m : tensor<64xi32> -> tensor<16xi32>
  // CHECK: tile.map_elementwise %{{.*}}, %{{.*}} {pack = 1 : i32} : tensor<64xf32>, tensor<64xi32> -> tensor<64xi32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[B:.*]]: i32):
  // CHECK-NEXT: tile.yield %[[B]] : i32
  %e = tile.map_elementwise %x, %v {pack = 1 : i32} : tensor<64xf32>, tensor<64xi32> -> tensor<64xi32> {
  ^bb0(%a: f32, %b: i32):
    tile.yield %b : i32
  }
  // CHECK: tile.inline_asm "mov.b32 $0, $1;", "=r,r"(%{{.*}}) {pack = 1 : i32, pure} : (tensor<64xi32>) -> tensor<64xi32>
  %y = tile.inline_asm "mov.b32 $0, $1;", "=r,r" (%v) {pack = 1 : i32, pure} : (tensor<64xi32>) -> tensor<64xi32>
  // CHECK: tile.inline_asm "mov.u32 $0, %smid;", "=r"() {pack = 1 : i32} : () -> i32
  %z = tile.inline_asm "mov.u32 $0, %smid;", "=r" () {pack = 1 : i32} : () -> i32
  // CHECK: tile.extern_elementwise "f" from "lib.bc"(%{{.*}}, %{{.*}}) {pure} : (tensor<64xf32>, i1) -> tensor<64xf32>
  %w = tile.extern_elementwise "f" from "lib.bc" (%x, %c) {pure} : (tensor<64xf32>, i1) -> tensor<64xf32>
  // CHECK: tile.assume %{{.*}}
  tile.assume %c
  return
}
