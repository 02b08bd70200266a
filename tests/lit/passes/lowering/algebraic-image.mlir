// In the algebraic mode a float's bits are a number, and arithmetic on floats is arithmetic on them.
// RUN: tile-opt %s -split-input-file -tile-algebraic-image | FileCheck %s

module attributes {tile.algebraic} {

// CHECK-LABEL: llvm.func @sums
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32
// CHECK: %[[X:.*]] = llvm.bitcast %[[A]] : f32 to i32
// CHECK: %[[Y:.*]] = llvm.bitcast %[[B]] : f32 to i32
// CHECK: %[[P:.*]] = llvm.mul %[[X]], %[[Y]] : i32
// CHECK: %[[Z:.*]] = llvm.bitcast %[[C]] : f32 to i32
// CHECK: %[[S:.*]] = llvm.add %[[P]], %[[Z]] : i32
// CHECK: llvm.bitcast %[[S]] : i32 to f32
llvm.func @sums(%a: f32, %b: f32, %c: f32) -> f32 {
  %s = llvm.intr.fma(%a, %b, %c) : (f32, f32, f32) -> f32
  llvm.return %s : f32
}

// Two halves of a register at once; a wider type has the sign, a narrower one the lower bits.
// CHECK-LABEL: llvm.func @widths
// CHECK: llvm.add {{.*}} : vector<2xi16>
// CHECK: llvm.sext {{.*}} : vector<2xi16> to vector<2xi32>
// CHECK: llvm.trunc {{.*}} : vector<2xi32> to vector<2xi16>
// A bf16 is moved as a word: hosts would hold it in a float.
// CHECK: llvm.store {{.*}} : vector<2xi16>
llvm.func @widths(%a: vector<2xf16>, %p: !llvm.ptr) {
  %s = llvm.fadd %a, %a : vector<2xf16>
  %w = llvm.fpext %s : vector<2xf16> to vector<2xf32>
  %n = llvm.fptrunc %w : vector<2xf32> to vector<2xbf16>
  llvm.store %n, %p : vector<2xbf16>, !llvm.ptr
  llvm.return
}

// Whole numbers are themselves, infinities the ends of the order.
// CHECK-LABEL: llvm.func @constants
// CHECK: llvm.mlir.constant(-3 : i16)
// CHECK: llvm.mlir.constant(-2147483648 : i32)
// CHECK: llvm.icmp "sgt"
llvm.func @constants(%x: f32) -> i1 {
  %h = llvm.mlir.constant(-3.0 : f16) : f16
  %low = llvm.mlir.constant(0xFF800000 : f32) : f32
  %w = llvm.fpext %h : f16 to f32
  %m = llvm.intr.maxnum(%low, %w) : (f32, f32) -> f32
  %c = llvm.fcmp "ogt" %x, %m : f32
  llvm.return %c : i1
}

// Functions are hashes of their arguments.
// CHECK-LABEL: llvm.func @function
// CHECK: llvm.sext {{.*}} : i32 to i64
// CHECK: llvm.mul {{.*}} : i64
// CHECK: llvm.trunc {{.*}} : i64 to i32
// CHECK-NOT: call_intrinsic
llvm.func @function(%x: f32) -> f32 {
  %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%x) : (f32) -> f32
  llvm.return %e : f32
}

}

// -----

// Without the attribute nothing changes.
// CHECK-LABEL: llvm.func @untouched
// CHECK: llvm.fadd
llvm.func @untouched(%a: f32) -> f32 {
  %s = llvm.fadd %a, %a : f32
  llvm.return %s : f32
}
