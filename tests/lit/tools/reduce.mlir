// What fails is made small: all but what the test asks for goes.
// RUN: tile-reduce %s --test %S/Inputs/exp-and-reduce.sh -o %t 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: FileCheck %s --input-file %t --implicit-check-not=scf. --implicit-check-not=tile.load --implicit-check-not=tile.store
// SAID: tile-reduce: 13 operations became 4, by {{[0-9]+}} trials
// CHECK: func.func @kernel(
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: math.exp
// CHECK-NEXT: tile.reduce
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tile.yield
// CHECK: return

// A module that does not fail is no work.
// RUN: not tile-reduce %s --test %S/Inputs/none.sh 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: tile-reduce: error: cannot run `{{.*}}none.sh`
// RUN: not tile-reduce %s --test false 2>&1 | FileCheck %s --check-prefix=FINE
// FINE: tile-reduce: error: `false` exits with 0 where a module fails, and does not for `{{.*}}reduce.mlir`

func.func @kernel(%p: !tile.ptr<f32>, %n: i32, %wide: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ptr = tile.addptr %base, %range : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %x = tile.load %ptr : tensor<64x!tile.ptr<f32>>
    %e = math.exp %x : tensor<64xf32>
    %next = arith.addf %acc, %e : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %most = tile.reduce %sum {axis = 0 : i32} : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maxnumf %a, %b : f32
    tile.yield %m : f32
  }
  tile.store %p, %most : !tile.ptr<f32>
  return
}
