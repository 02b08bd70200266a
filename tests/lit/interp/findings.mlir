// RUN: not tile-interp --check --function past_the_end %s 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not tile-interp --check --function unwritten %s 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// RUN: not tile-interp --check --function race %s 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: not tile-interp --function assertion %s 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: not tile-interp --function no_value %s 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not tile-interp --function nowhere %s 2>&1 | FileCheck %s --check-prefix=NOWHERE

// BOUNDS: findings.mlir:[[#@LINE+5]]:8: error: out-of-bounds read of 4 bytes: at byte 8 of argument 0, which has 8 bytes (in program (0, 0, 0), lane 2; 2 times in all)
func.func @past_the_end(%x: !tile.ptr<f32> {tile.data = dense<1.0> : tensor<2xf32>}) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %v = tile.load %xp : tensor<4x!tile.ptr<f32>>
  return
}

// UNWRITTEN: findings.mlir:[[#@LINE+2]]:8: error: read of memory that nobody wrote: 4 bytes at byte 0 of argument 0 (in program (0, 0, 0))
func.func @unwritten(%x: !tile.ptr<f32> {tile.data = dense<1.0> : tensor<2xf32>, tile.unwritten}) {
  %v = tile.load %x : !tile.ptr<f32>
  return
}

// RACE: findings.mlir:[[#@LINE+6]]:3: error: race: this program writes byte 0 of argument 0, which program (0, 0, 0) writes with nothing to order the two (in program (1, 0, 0))
// RACE-NEXT: findings.mlir:[[#@LINE+5]]:3: note: program (0, 0, 0) writes it here
func.func @race(%x: !tile.ptr<i32> {tile.data = dense<1> : tensor<1xi32>})
    attributes {tile.grid = array<i64: 2, 1, 1>} {
  %pid = tile.program_id 0 : i32

  tile.store %x, %pid : !tile.ptr<i32>
  return
}

// ASSERT: findings.mlir:[[#@LINE+3]]:3: error: assertion failed: small (in program (0, 0, 0))
func.func @assertion() {
  %false = arith.constant false
  tile.assert %false, "small" : i1
  return
}

// VALUE: argument 0 has no value: give it `tile.data = dense<...>`
func.func @no_value(%x: !tile.ptr<i32>) {
  return
}

// NOWHERE: the module holds no function to run
