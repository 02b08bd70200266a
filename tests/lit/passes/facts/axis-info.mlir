// What the axis analysis finds about addresses, offsets and masks.
// RUN: tile-opt %s --tile-test-axis-info --verify-diagnostics -o /dev/null

// The offsets of a one-dimensional kernel: one run, aligned to the block.
func.func @block_offsets(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  // expected-remark @below {{contiguity = [1], divisibility = [1024], constancy = [1]}}
  %block = arith.constant 1024 : i32
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %pid = tile.program_id 0 : i32
  // expected-remark @below {{contiguity = [1], divisibility = [1024], constancy = [1]}}
  %start = arith.muli %pid, %block : i32
  // expected-remark @below {{contiguity = [1024], divisibility = [any], constancy = [1]}}
  %range = tile.make_range 0 to 1024 : tensor<1024xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1024], constancy = [1024]}}
  %starts = tile.splat %start : i32 -> tensor<1024xi32>
  // expected-remark @below {{contiguity = [1024], divisibility = [1024], constancy = [1]}}
  %offsets = arith.addi %starts, %range : tensor<1024xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [16], constancy = [1024]}}
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  // expected-remark @below {{contiguity = [1024], divisibility = [16], constancy = [1]}}
  %ptrs = tile.addptr %xs, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  return
}

// A mask is constant over runs that the bound divides; `<=` breaks them.
func.func @masks(%n: i32 {tile.divisibility = 16 : i32}, %m: i32) {
  // expected-remark @below {{contiguity = [128]}}
  %range = tile.make_range 0 to 128 : tensor<128xi32>
  // expected-remark @below {{divisibility = [16], constancy = [128]}}
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  // expected-remark @below {{divisibility = [1], constancy = [128]}}
  %ms = tile.splat %m : i32 -> tensor<128xi32>
  // expected-remark @below {{constancy = [16]}}
  %0 = arith.cmpi slt, %range, %ns : tensor<128xi32>
  // expected-remark @below {{constancy = [16]}}
  %1 = arith.cmpi sgt, %ns, %range : tensor<128xi32>
  // expected-remark @below {{constancy = [1]}}
  %2 = arith.cmpi sle, %range, %ns : tensor<128xi32>
  // expected-remark @below {{constancy = [1]}}
  %3 = arith.cmpi slt, %range, %ms : tensor<128xi32>
  // expected-remark @below {{constancy = [1]}}
  %4 = arith.cmpi eq, %range, %ns : tensor<128xi32>
  // expected-remark @below {{constancy = [128]}}
  %5 = arith.cmpi sle, %ms, %ns : tensor<128xi32>
  // expected-remark @below {{constancy = [16]}}
  %6 = arith.andi %0, %5 : tensor<128xi1>
  return
}

// Rows and columns of a block: runs along the second axis, row starts aligned
// as the stride is.
func.func @rows_and_columns(%stride: i32 {tile.divisibility = 8 : i32}) {
  // expected-remark @below {{contiguity = [16], divisibility = [any]}}
  %r = tile.make_range 0 to 16 : tensor<16xi32>
  // expected-remark @below {{contiguity = [16, 1], divisibility = [any, 1], constancy = [1, 1]}}
  %r2 = tile.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // expected-remark @below {{divisibility = [8, 8], constancy = [16, 1]}}
  %s = tile.splat %stride : i32 -> tensor<16x1xi32>
  // expected-remark @below {{contiguity = [1, 1], divisibility = [8, 8], constancy = [1, 1]}}
  %rs = arith.muli %r2, %s : tensor<16x1xi32>
  // expected-remark @below {{contiguity = [1, 1], divisibility = [8, 8], constancy = [1, 64]}}
  %rb = tile.broadcast %rs : tensor<16x1xi32> -> tensor<16x64xi32>
  // expected-remark @below {{contiguity = [64], divisibility = [any]}}
  %c = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark @below {{contiguity = [1, 64], divisibility = [1, any]}}
  %c2 = tile.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // expected-remark @below {{contiguity = [1, 64], divisibility = [1, any], constancy = [16, 1]}}
  %cb = tile.broadcast %c2 : tensor<1x64xi32> -> tensor<16x64xi32>
  // expected-remark @below {{contiguity = [1, 64], divisibility = [1, 8], constancy = [1, 1]}}
  %offsets = arith.addi %rb, %cb : tensor<16x64xi32>
  // expected-remark @below {{contiguity = [64, 1], divisibility = [8, 1]}}
  %t = tile.trans %offsets [1, 0] : tensor<16x64xi32> -> tensor<64x16xi32>
  return
}

// `//` and `%` by a power of two and by a size known only by its divisor.
func.func @quotients(%n: i32 {tile.divisibility = 16 : i32}) {
  // expected-remark @below {{contiguity = [64]}}
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark @below {{constancy = [64]}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // expected-remark @below {{constancy = [64]}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [8]}}
  %0 = arith.divsi %r, %eight : tensor<64xi32>
  // expected-remark @below {{contiguity = [8], divisibility = [8], constancy = [1]}}
  %1 = arith.remsi %r, %eight : tensor<64xi32>
  // expected-remark @below {{contiguity = [16], divisibility = [16], constancy = [1]}}
  %2 = arith.remsi %r, %ns : tensor<64xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [16]}}
  %3 = arith.divsi %r, %ns : tensor<64xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [16]}}
  %4 = arith.divui %r, %ns : tensor<64xi32>
  return
}

// A divisor of which nothing is known, and one that differs within a run, leave no runs.
func.func @quotients_of_anything(%m: i32, %n: i32 {tile.divisibility = 16 : i32}) {
  // expected-remark @below {{contiguity = [64]}}
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark @below {{constancy = [64]}}
  %ms = tile.splat %m : i32 -> tensor<64xi32>
  // expected-remark @below {{constancy = [64]}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [16], constancy = [1]}}
  %differ = arith.muli %r, %ns : tensor<64xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %0 = arith.divsi %r, %ms : tensor<64xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %1 = arith.divsi %r, %differ : tensor<64xi32>
  return
}

// A block that is moved down may be negative, and so may one that is cut off at eight bits:
// the remainder of -16 is 0, that of -15 is -7.
func.func @below_zero(%n: i32 {tile.divisibility = 16 : i32}) {
  // expected-remark @below {{contiguity = [64]}}
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark @below {{constancy = [64]}}
  %eight = arith.constant dense<8> : tensor<64xi32>
  // expected-remark @below {{contiguity = [64]}}
  %down = arith.subi %r, %eight : tensor<64xi32>
  // expected-remark @below {{contiguity = [1]}}
  %0 = arith.remsi %down, %eight : tensor<64xi32>
  // expected-remark @below {{constancy = [1]}}
  %1 = arith.divsi %down, %eight : tensor<64xi32>
  // expected-remark @below {{contiguity = [64]}}
  %narrow = arith.trunci %r : tensor<64xi32> to tensor<64xi8>
  // expected-remark @below {{contiguity = [64]}}
  %wide = arith.extsi %narrow : tensor<64xi8> to tensor<64xi32>
  // expected-remark @below {{contiguity = [1]}}
  %2 = arith.remsi %wide, %eight : tensor<64xi32>
  // expected-remark @below {{constancy = [64]}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{constancy = [1]}}
  %3 = arith.divsi %down, %ns : tensor<64xi32>
  return
}

// A pointer that advances keeps what its first value and every step allow.
func.func @advancing(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  // expected-remark @below {{contiguity = [64]}}
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark @below {{divisibility = [16], constancy = [64]}}
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
  // expected-remark @below {{contiguity = [64], divisibility = [16], constancy = [1]}}
  %first = tile.addptr %xs, %r : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
  // expected-remark @below {{divisibility = [4], constancy = [64]}}
  %step = arith.constant dense<4> : tensor<64xi32>
  // expected-remark @below {{divisibility = [any]}}
  %zero = arith.constant 0 : i32
  // expected-remark @below {{divisibility = [1]}}
  %one = arith.constant 1 : i32
  // expected-remark @below {{contiguity = [64], divisibility = [8], constancy = [1]}}
  %last = scf.for %i = %zero to %n step %one iter_args(%p = %first) -> (tensor<64x!tile.ptr<f16>>) : i32 {
    // expected-remark @below {{contiguity = [64], divisibility = [8], constancy = [1]}}
    %next = tile.addptr %p, %step : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tile.ptr<f16>>
  }
  return
}

// A hint says more than can be derived.
func.func @hints(%n: i32) {
  // expected-remark @below {{divisibility = [32]}}
  %0 = tile.hint %n {divisibility = array<i64: 32>} : i32
  // expected-remark @below {{divisibility = [32], constancy = [64]}}
  %1 = tile.splat %0 : i32 -> tensor<64xi32>
  // expected-remark @below {{contiguity = [16], divisibility = [32]}}
  %2 = tile.hint %1 {contiguity = array<i64: 16>} : tensor<64xi32>
  return
}

// Branches agree on the weaker of both.
func.func @branches(%c: i1, %a: i32 {tile.divisibility = 16 : i32}, %b: i32 {tile.divisibility = 4 : i32}) {
  // expected-remark @below {{divisibility = [4]}}
  %0 = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  return
}

// A constant that lists its elements promises nothing.
func.func @listed() {
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %0 = arith.constant dense<[0, 1, 5, 3]> : tensor<4xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [4], constancy = [4]}}
  %1 = arith.constant dense<12> : tensor<4xi32>
  return
}

// Equal addresses hold equal numbers, under masks that are equal too; not where each
// read is to happen by itself.
func.func @loads(%x: !tile.ptr<i32>, %n: i32) {
  // expected-remark @below {{contiguity = [64]}}
  %range = tile.make_range 0 to 64 : tensor<64xi32>
  // expected-remark @below {{divisibility = [16], constancy = [64]}}
  %sixteen = arith.constant dense<16> : tensor<64xi32>
  // expected-remark @below {{constancy = [16]}}
  %rows = arith.divsi %range, %sixteen : tensor<64xi32>
  // expected-remark @below {{constancy = [64]}}
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  // expected-remark @below {{constancy = [16]}}
  %ptrs = tile.addptr %xs, %rows : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [16]}}
  %0 = tile.load %ptrs : tensor<64x!tile.ptr<i32>>
  // expected-remark @below {{constancy = [1]}}
  %1 = tile.load %ptrs {is_volatile = true} : tensor<64x!tile.ptr<i32>>
  // expected-remark @below {{divisibility = [1], constancy = [64]}}
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  // expected-remark @below {{constancy = [1]}}
  %mask = arith.cmpi slt, %range, %ns : tensor<64xi32>
  // expected-remark @below {{constancy = [1]}}
  %2 = tile.load %ptrs, %mask : tensor<64x!tile.ptr<i32>>
  return
}
