// Layouts: accesses anchor, the rest follows, conversions where nothing else helps.
// RUN: tile-opt %s --split-input-file --tile-assign-layouts --cse | FileCheck %s

// One 16-byte vector a thread, then lanes, then warps, then repeats; no
// conversion, and every value in the same layout.
// CHECK: #[[L:.*]] = #cta.layout<{register = {{\[\[}}1], [2], [512]], lane = {{\[\[}}4], [8], [16], [32], [64]], warp = {{\[\[}}128], [256]]} : [1024]>
// CHECK-LABEL: func.func @elementwise
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @elementwise(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  %block = arith.constant 1024 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %block : i32
  // CHECK: tile.make_range 0 to 1024 : tensor<1024xi32, #[[L]]>
  %range = tile.make_range 0 to 1024 : tensor<1024xi32>
  %starts = tile.splat %start : i32 -> tensor<1024xi32>
  %offsets = arith.addi %starts, %range : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %offsets, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %ptrs = tile.addptr %xs, %offsets : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  // CHECK: tile.load {{.*}} {vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #[[L]]>
  %v = tile.load %ptrs, %mask : tensor<1024x!tile.ptr<f32>>
  %w = arith.addf %v, %v : tensor<1024xf32>
  // CHECK: tile.store {{.*}} {vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #[[L]]>
  // CHECK-NOT: convert_layout
  tile.store %ptrs, %w, %mask : tensor<1024x!tile.ptr<f32>>
  return
}
}

// -----

// A bound of unknown divisor cuts one group: the others are moved whole, and the access says
// that its mask may change from one element to the next.
// CHECK: #[[L:.*]] = #cta.layout<{register = {{\[\[}}1], [2], [512]],
// CHECK-LABEL: func.func @unknown_bound
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @unknown_bound(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %range = tile.make_range 0 to 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %range, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %ptrs = tile.addptr %xs, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  // CHECK: tile.load {{.*}} {cta.mask_run = 1 : i32, vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #[[L]]>
  %v = tile.load %ptrs, %mask : tensor<1024x!tile.ptr<f32>>
  // CHECK: tile.store {{.*}} {cta.mask_run = 1 : i32, vector = 4 : i32}
  tile.store %ptrs, %v, %mask : tensor<1024x!tile.ptr<f32>>
  return
}
}

// -----

// A bound that is known to be even cuts a group between pairs.
// CHECK-LABEL: func.func @even_bound
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @even_bound(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 2 : i32}) {
  %range = tile.make_range 0 to 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi ugt, %ns, %range : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %ptrs = tile.addptr %xs, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  // CHECK: tile.load {{.*}} {cta.mask_run = 2 : i32, vector = 4 : i32}
  %v = tile.load %ptrs, %mask : tensor<1024x!tile.ptr<f32>>
  tile.store %ptrs, %v : tensor<1024x!tile.ptr<f32>>
  return
}
}

// -----

// Eight bytes a lane fill two lines: groups that are taken apart are no gain.
// CHECK-LABEL: func.func @long_elements
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @long_elements(%x: !tile.ptr<i64> {tile.divisibility = 16 : i32}, %n: i32) {
  %range = tile.make_range 0 to 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %range, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<i64> -> tensor<1024x!tile.ptr<i64>>
  %ptrs = tile.addptr %xs, %range : tensor<1024x!tile.ptr<i64>>, tensor<1024xi32>
  // CHECK-NOT: vector =
  // CHECK: tile.load
  %v = tile.load %ptrs, %mask : tensor<1024x!tile.ptr<i64>>
  // CHECK-NOT: vector =
  // CHECK: return
  tile.store %ptrs, %v, %mask : tensor<1024x!tile.ptr<i64>>
  return
}
}

// -----

// A mask with holes is no interval: element by element, so that the lanes of each access are
// neighbours.
// CHECK: #[[L:.*]] = #cta.layout<{register = {{\[\[}}128], [256], [512]], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}32], [64]]} : [1024]>
// CHECK-LABEL: func.func @holes
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @holes(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %range = tile.make_range 0 to 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi ne, %range, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %ptrs = tile.addptr %xs, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  // CHECK: tile.load {{%[0-9]+, %[0-9]+}} : tensor<1024x!tile.ptr<f32>, #[[L]]>
  %v = tile.load %ptrs, %mask : tensor<1024x!tile.ptr<f32>>
  tile.store %ptrs, %v, %mask : tensor<1024x!tile.ptr<f32>>
  return
}
}

// -----

// Blocks of one shape share a layout: the widest element fills 16 bytes.
// CHECK: #[[L:.*]] = #cta.layout<{register = {{\[\[}}1], [2], [512]],
// CHECK-LABEL: func.func @mixed_widths
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @mixed_widths(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %range = tile.make_range 0 to 1024 : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %px = tile.addptr %xs, %range : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  // CHECK: tile.load {{.*}} {vector = 4 : i32} : tensor<1024x!tile.ptr<f16>, #[[L]]>
  %v = tile.load %px : tensor<1024x!tile.ptr<f16>>
  %w = arith.extf %v : tensor<1024xf16> to tensor<1024xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %py = tile.addptr %ys, %range : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  // CHECK: tile.store {{.*}} {vector = 4 : i32} : tensor<1024x!tile.ptr<f32>, #[[L]]>
  // CHECK-NOT: convert_layout
  tile.store %py, %w : tensor<1024x!tile.ptr<f32>>
  return
}
}

// -----

// Rows of 512 halves in 4 warps: a warp a row, so that no reduction leaves the
// warp. What is reduced stays with its row; a weight row is loaded where it is
// needed; nothing is converted.
// CHECK-DAG: #[[T:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 256]], lane = {{\[\[}}0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = {{\[\[}}1, 0], [2, 0]]} : [4, 512]>
// CHECK-DAG: #[[R:.*]] = #cta.layout<{register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]]} : [4]>
// CHECK-DAG: #[[C:.*]] = #cta.layout<{register = {{\[\[}}1], [2], [4], [256]], lane = {{\[\[}}8], [16], [32], [64], [128]], warp = {{\[\[}}0], [0]]} : [512]>
// CHECK-LABEL: func.func @rows
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @rows(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                %s: !tile.ptr<f32>, %stride: i32 {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 4 : tensor<4xi32>
  %r2 = tile.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %strides = tile.splat %stride : i32 -> tensor<4x1xi32>
  %rs = arith.muli %r2, %strides : tensor<4x1xi32>
  %rb = tile.broadcast %rs : tensor<4x1xi32> -> tensor<4x512xi32>
  %c = tile.make_range 0 to 512 : tensor<512xi32>
  %c2 = tile.expand_dims %c {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
  %cb = tile.broadcast %c2 : tensor<1x512xi32> -> tensor<4x512xi32>
  %offsets = arith.addi %rb, %cb : tensor<4x512xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<4x512x!tile.ptr<f16>>
  %ptrs = tile.addptr %xs, %offsets : tensor<4x512x!tile.ptr<f16>>, tensor<4x512xi32>
  // CHECK: tile.load {{.*}} {vector = 8 : i32} : tensor<4x512x!tile.ptr<f16>, #[[T]]>
  %v = tile.load %ptrs : tensor<4x512x!tile.ptr<f16>>
  %ws = tile.splat %w : !tile.ptr<f16> -> tensor<512x!tile.ptr<f16>>
  %wp = tile.addptr %ws, %c : tensor<512x!tile.ptr<f16>>, tensor<512xi32>
  // CHECK: tile.load {{.*}} {vector = 8 : i32} : tensor<512x!tile.ptr<f16>, #[[C]]>
  %wv = tile.load %wp : tensor<512x!tile.ptr<f16>>
  // CHECK: tile.reduce {{.*}} -> tensor<4xf16, #[[R]]>
  %max = tile.reduce %v {axis = 1 : i32} : tensor<4x512xf16> -> tensor<4xf16> {
  ^bb0(%a: f16, %b: f16):
    %m = arith.maximumf %a, %b : f16
    tile.yield %m : f16
  }
  %max2 = tile.expand_dims %max {axis = 1 : i32} : tensor<4xf16> -> tensor<4x1xf16>
  %maxb = tile.broadcast %max2 : tensor<4x1xf16> -> tensor<4x512xf16>
  %d = arith.subf %v, %maxb : tensor<4x512xf16>
  %w2 = tile.expand_dims %wv {axis = 0 : i32} : tensor<512xf16> -> tensor<1x512xf16>
  %wb = tile.broadcast %w2 : tensor<1x512xf16> -> tensor<4x512xf16>
  %e = arith.mulf %d, %wb : tensor<4x512xf16>
  tile.store %ptrs, %e : tensor<4x512x!tile.ptr<f16>>
  %ss = tile.splat %s : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %sp = tile.addptr %ss, %r : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
  %maxf = arith.extf %max : tensor<4xf16> to tensor<4xf32>
  // Few elements are stored from where they are.
  // CHECK: tile.store {{.*}} : tensor<4x!tile.ptr<f32>, #[[R]]>
  tile.store %sp, %maxf : tensor<4x!tile.ptr<f32>>
  // CHECK-NOT: convert_layout
  return
}
}

// -----

// Short rows share a warp: 16 lanes each.
// CHECK: lane = {{\[\[}}0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = {{\[\[}}2, 0], [4, 0]]} : [8, 128]>
// CHECK-LABEL: func.func @short_rows
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @short_rows(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}) -> f16 {
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %r2 = tile.reshape %r : tensor<1024xi32> -> tensor<8x128xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<8x128x!tile.ptr<f16>>
  %ptrs = tile.addptr %xs, %r2 : tensor<8x128x!tile.ptr<f16>>, tensor<8x128xi32>
  %v = tile.load %ptrs : tensor<8x128x!tile.ptr<f16>>
  %0 = tile.reduce %v {axis = 1 : i32} : tensor<8x128xf16> -> tensor<8xf16> {
  ^bb0(%a: f16, %b: f16):
    %m = arith.maximumf %a, %b : f16
    tile.yield %m : f16
  }
  %1 = tile.reduce %0 {axis = 0 : i32} : tensor<8xf16> -> f16 {
  ^bb0(%a: f16, %b: f16):
    %m = arith.maximumf %a, %b : f16
    tile.yield %m : f16
  }
  return %1 : f16
}
}

// -----

// Loop-carried sums and pointers live where the loads are.
// CHECK: #[[L:.*]] = #cta.layout<{register = {{\[\[}}1], [2]],
// CHECK-LABEL: func.func @loop
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @loop(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32) {
  %zeros = arith.constant dense<0.0> : tensor<512xf32>
  %zero = arith.constant 0 : i32
  %step = arith.constant 512 : i32
  %steps = arith.constant dense<512> : tensor<512xi32>
  %r = tile.make_range 0 to 512 : tensor<512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %first = tile.addptr %xs, %r : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  // CHECK: scf.for {{.*}} -> (tensor<512xf32, #[[L]]>, tensor<512x!tile.ptr<f32>, #[[L]]>)
  %sums:2 = scf.for %i = %zero to %n step %step iter_args(%acc = %zeros, %p = %first)
      -> (tensor<512xf32>, tensor<512x!tile.ptr<f32>>) : i32 {
    // CHECK-NOT: convert_layout
    // CHECK: tile.load {{.*}} {vector = 4 : i32}
    %v = tile.load %p : tensor<512x!tile.ptr<f32>>
    %sum = arith.addf %acc, %v : tensor<512xf32>
    %next = tile.addptr %p, %steps : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
    scf.yield %sum, %next : tensor<512xf32>, tensor<512x!tile.ptr<f32>>
  }
  tile.store %sums#1, %sums#0 : tensor<512x!tile.ptr<f32>>
  return
}
}

// -----

// A transposed store: one conversion, both accesses whole lines.
// CHECK-LABEL: func.func @transpose
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @transpose(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 64 : tensor<64xi32>
  %r0 = tile.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r1 = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ns = tile.splat %n : i32 -> tensor<64x1xi32>
  %rn = arith.muli %r0, %ns : tensor<64x1xi32>
  %rb = tile.broadcast %rn : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tile.broadcast %r1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %rb, %cb : tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %ptrs = tile.addptr %xs, %offsets : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  // CHECK: tile.load {{.*}} {vector = 4 : i32}
  %v = tile.load %ptrs : tensor<64x64x!tile.ptr<f32>>
  // CHECK: tile.trans
  // CHECK-NEXT: cta.convert_layout
  // CHECK-NOT: convert_layout
  %t = tile.trans %v [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tile.store {{.*}} {vector = 4 : i32}
  tile.store %ptrs, %t : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

// A hint is used and removed.
// CHECK-LABEL: func.func @hint
module attributes {tile.kernel = #tile.kernel<warps = 1>} {
func.func @hint(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %start: i32) {
  // CHECK-NOT: tile.hint
  %s = tile.hint %start {divisibility = array<i64: 16>} : i32
  %r = tile.make_range 0 to 128 : tensor<128xi32>
  %ss = tile.splat %s : i32 -> tensor<128xi32>
  %o = arith.addi %ss, %r : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %p = tile.addptr %xs, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  // CHECK: tile.load {{.*}} {vector = 4 : i32}
  %v = tile.load %p : tensor<128x!tile.ptr<f32>>
  tile.store %p, %v : tensor<128x!tile.ptr<f32>>
  return
}
}

// -----

// A scan keeps the coalesced layout; join and split stay within threads.
// CHECK-LABEL: func.func @scan_and_split
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @scan_and_split(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 512 : tensor<512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %p = tile.addptr %xs, %r : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  // CHECK-NOT: convert_layout
  %v = tile.load %p : tensor<512x!tile.ptr<f32>>
  %s = tile.scan %v {axis = 0 : i32, reverse = false} : tensor<512xf32> -> tensor<512xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %j = tile.join %v, %s : tensor<512xf32> -> tensor<512x2xf32>
  %k, %l = tile.split %j : tensor<512x2xf32> -> tensor<512xf32>
  %m = arith.addf %k, %l : tensor<512xf32>
  tile.store %p, %m : tensor<512x!tile.ptr<f32>>
  // CHECK: return
  return
}
}

// -----

// Values of `if` and `while` have one layout on every path.
// CHECK-LABEL: func.func @control_flow
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @control_flow(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %c: i1) {
  %zeros = arith.constant dense<0.0> : tensor<512xf32>
  %r = tile.make_range 0 to 512 : tensor<512xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<512x!tile.ptr<f32>>
  %p = tile.addptr %xs, %r : tensor<512x!tile.ptr<f32>>, tensor<512xi32>
  // CHECK: scf.if {{.*}} -> (tensor<512xf32, #[[L:.*]]>)
  %v = scf.if %c -> (tensor<512xf32>) {
    %l = tile.load %p : tensor<512x!tile.ptr<f32>>
    scf.yield %l : tensor<512xf32>
  } else {
    scf.yield %zeros : tensor<512xf32>
  }
  // CHECK: scf.while {{.*}} : (tensor<512xf32, #[[L]]>) -> tensor<512xf32, #[[L]]>
  %w = scf.while (%a = %v) : (tensor<512xf32>) -> tensor<512xf32> {
    %max = tile.reduce %a {axis = 0 : i32} : tensor<512xf32> -> f32 {
    ^bb0(%s: f32, %t: f32):
      %m = arith.maximumf %s, %t : f32
      tile.yield %m : f32
    }
    %one = arith.constant 1.0 : f32
    %go = arith.cmpf ogt, %max, %one : f32
    scf.condition(%go) %a : tensor<512xf32>
  } do {
  ^bb0(%a: tensor<512xf32>):
    %half = arith.constant dense<0.5> : tensor<512xf32>
    %b = arith.mulf %a, %half : tensor<512xf32>
    scf.yield %b : tensor<512xf32>
  }
  // CHECK-NOT: convert_layout
  tile.store %p, %w : tensor<512x!tile.ptr<f32>>
  return
}
}

// -----

// The narrow block moves, and is widened where it arrives.
// CHECK-LABEL: func.func @moves_the_narrow_block
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @moves_the_narrow_block(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %o = tile.reshape %r : tensor<4096xi32> -> tensor<64x64xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
  %px = tile.addptr %xs, %o : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
  %v = tile.load %px : tensor<64x64x!tile.ptr<f16>>
  %t = tile.trans %v [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  // CHECK: cta.convert_layout {{.*}} : tensor<64x64xf16
  // CHECK: arith.extf
  // CHECK-NOT: convert_layout
  %w = arith.extf %t : tensor<64x64xf16> to tensor<64x64xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<64x64x!tile.ptr<f32>>
  %py = tile.addptr %ys, %o : tensor<64x64x!tile.ptr<f32>>, tensor<64x64xi32>
  tile.store %py, %w : tensor<64x64x!tile.ptr<f32>>
  return
}
}

// -----

// Rows of 256 halves with rows enough: 16 lanes a row, two rows a warp.
// CHECK: #[[T:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 128], [8, 0]], lane = {{\[\[}}0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = {{\[\[}}2, 0], [4, 0]]} : [16, 256]>
// CHECK-LABEL: func.func @half_warp_rows
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @half_warp_rows(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f16>) {
  %r = tile.make_range 0 to 4096 : tensor<4096xi32>
  %o = tile.reshape %r : tensor<4096xi32> -> tensor<16x256xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<16x256x!tile.ptr<f16>>
  %px = tile.addptr %xs, %o : tensor<16x256x!tile.ptr<f16>>, tensor<16x256xi32>
  // CHECK: tile.load {{.*}} #[[T]]>
  %v = tile.load %px : tensor<16x256x!tile.ptr<f16>>
  %max = tile.reduce %v {axis = 1 : i32} : tensor<16x256xf16> -> tensor<16xf16> {
  ^bb0(%a: f16, %b: f16):
    %m = arith.maximumf %a, %b : f16
    tile.yield %m : f16
  }
  %rows = tile.make_range 0 to 16 : tensor<16xi32>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<16x!tile.ptr<f16>>
  %py = tile.addptr %ys, %rows : tensor<16x!tile.ptr<f16>>, tensor<16xi32>
  tile.store %py, %max : tensor<16x!tile.ptr<f16>>
  return
}
}

// -----

// Sums of columns that warps share: each thread gets the one that it stores, not the eight of which
// it had parts. What goes back to the block stays there.
// CHECK-DAG: #[[BLOCK:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [0, 2], {{.*}} : [128, 32]>
// CHECK-DAG: #[[LINE:.*]] = #cta.layout<{register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}0], [0]]} : [32]>
// CHECK-DAG: #[[SLICE:.*]] = #cta.layout<{register = {{\[\[}}1], [2]], {{.*}} : [32]>
// CHECK-LABEL: func.func @stored_sums
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @stored_sums(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %z: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %row = tile.make_range 0 to 128 : tensor<128xi32>
  %column = tile.make_range 0 to 32 : tensor<32xi32>
  %width = arith.constant dense<32> : tensor<128x32xi32>
  %r = tile.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %c = tile.expand_dims %column {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %rs = tile.broadcast %r : tensor<128x1xi32> -> tensor<128x32xi32>
  %cs = tile.broadcast %c : tensor<1x32xi32> -> tensor<128x32xi32>
  %ro = arith.muli %rs, %width : tensor<128x32xi32>
  %offsets = arith.addi %ro, %cs : tensor<128x32xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x32x!tile.ptr<f32>>
  %ptrs = tile.addptr %xs, %offsets : tensor<128x32x!tile.ptr<f32>>, tensor<128x32xi32>
  %v = tile.load %ptrs : tensor<128x32x!tile.ptr<f32>>
  // CHECK: tile.reduce {{.*}} tensor<128x32xf32, #[[BLOCK]]> -> tensor<32xf32, #[[LINE]]>
  %s = tile.reduce %v {axis = 0 : i32} : tensor<128x32xf32> -> tensor<32xf32> {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    tile.yield %d : f32
  }
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %column : tensor<32x!tile.ptr<f32>>, tensor<32xi32>
  // CHECK-NOT: convert_layout
  tile.store %yp, %s : tensor<32x!tile.ptr<f32>>
  // CHECK: tile.reduce {{.*}} tensor<128x32xf32, #[[BLOCK]]> -> tensor<32xf32, #[[SLICE]]>
  %m = tile.reduce %v {axis = 0 : i32} : tensor<128x32xf32> -> tensor<32xf32> {
  ^bb0(%a: f32, %b: f32):
    %d = arith.maxnumf %a, %b : f32
    tile.yield %d : f32
  }
  %mr = tile.expand_dims %m {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
  %ms = tile.broadcast %mr : tensor<1x32xf32> -> tensor<128x32xf32>
  %w = arith.subf %v, %ms : tensor<128x32xf32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<128x32x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %offsets : tensor<128x32x!tile.ptr<f32>>, tensor<128x32xi32>
  tile.store %zp, %w : tensor<128x32x!tile.ptr<f32>>
  return
}
}

// -----

// The same of sums that are stored with a dimension more, as those that keep their dimensions are.
// CHECK-DAG: #[[LINE:.*]] = #cta.layout<{register = [], lane = {{\[\[}}1], [2], [4], [8], [16]], warp = {{\[\[}}0], [0]]} : [32]>
// CHECK-LABEL: func.func @stored_with_a_dimension_more
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @stored_with_a_dimension_more(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}) {
  %row = tile.make_range 0 to 128 : tensor<128xi32>
  %column = tile.make_range 0 to 32 : tensor<32xi32>
  %width = arith.constant dense<32> : tensor<32x128xi32>
  %half = arith.constant dense<0.5> : tensor<32x1xf32>
  %c = tile.expand_dims %column {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %r = tile.expand_dims %row {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %cs = tile.broadcast %c : tensor<32x1xi32> -> tensor<32x128xi32>
  %rs = tile.broadcast %r : tensor<1x128xi32> -> tensor<32x128xi32>
  %ro = arith.muli %rs, %width : tensor<32x128xi32>
  %offsets = arith.addi %ro, %cs : tensor<32x128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<32x128x!tile.ptr<f32>>
  %ptrs = tile.addptr %xs, %offsets : tensor<32x128x!tile.ptr<f32>>, tensor<32x128xi32>
  %v = tile.load %ptrs : tensor<32x128x!tile.ptr<f32>>
  // CHECK: tile.reduce {{.*}} -> tensor<32xf32, #[[LINE]]>
  %s = tile.reduce %v {axis = 1 : i32} : tensor<32x128xf32> -> tensor<32xf32> {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    tile.yield %d : f32
  }
  // CHECK-NOT: convert_layout
  %e = tile.expand_dims %s {axis = 1 : i32} : tensor<32xf32> -> tensor<32x1xf32>
  %h = arith.mulf %e, %half : tensor<32x1xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<32x1x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %c : tensor<32x1x!tile.ptr<f32>>, tensor<32x1xi32>
  tile.store %yp, %h : tensor<32x1x!tile.ptr<f32>>
  return
}
}

// -----

// A function of what is cheap to compute anywhere is computed where it is needed, beside a block
// that is somewhere: no conversion.
// CHECK: #[[ACC:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [32, 0]]} : [64, 32]>
// CHECK-LABEL: func.func @beside_a_product
module attributes {tile.target = #tile.target<sm_80>, tile.kernel = #tile.kernel<warps = 4>} {
func.func @beside_a_product(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %z: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %scale: f32) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %a = arith.constant dense<1.0> : tensor<64x16xf16>
  %b = arith.constant dense<1.0> : tensor<16x32xf16>
  %p = tile.dot %a, %b, %zero : tensor<64x16xf16> * tensor<16x32xf16> -> tensor<64x32xf32>
  %n = tile.make_range 0 to 32 : tensor<32xi32>
  %m = tile.make_range 0 to 64 : tensor<64xi32>
  %nf = arith.sitofp %n : tensor<32xi32> to tensor<32xf32>
  %nr = tile.expand_dims %nf {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
  %ns = tile.broadcast %nr : tensor<1x32xf32> -> tensor<64x32xf32>
  %mf = arith.sitofp %m : tensor<64xi32> to tensor<64xf32>
  %mr = tile.expand_dims %mf {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %ms = tile.broadcast %mr : tensor<64x1xf32> -> tensor<64x32xf32>
  %d = arith.subf %ms, %ns : tensor<64x32xf32>
  // CHECK: math.exp {{.*}} tensor<64x32xf32, #[[ACC]]>
  %e = math.exp %d : tensor<64x32xf32>
  // CHECK-NOT: convert_layout
  // CHECK: arith.mulf {{.*}} tensor<64x32xf32, #[[ACC]]>
  %w = arith.mulf %p, %e : tensor<64x32xf32>
  %s = tile.reduce %w {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  }
  return
}
}

// -----

// What is unpacked is loaded where its parts are stored, a word a thread: from 16 bytes of
// words each thread would make 32 elements, and hand most of them to others.
// CHECK-LABEL: func.func @unpacked
// CHECK: tile.load %{{[0-9a-z]+}} : tensor<32x32x!tile.ptr<i32>
// CHECK-NOT: cta.convert_layout
// CHECK: tile.store {{.*}} {vector = 8 : i32} : tensor<32x256x!tile.ptr<f16>
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @unpacked(%x: !tile.ptr<i32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %r = tile.make_range 0 to 1024 : tensor<1024xi32>
  %from = tile.reshape %r : tensor<1024xi32> -> tensor<32x32xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<32x32x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %from : tensor<32x32x!tile.ptr<i32>>, tensor<32x32xi32>
  %v = tile.load %xp : tensor<32x32x!tile.ptr<i32>>
  %v2 = tile.join %v, %v : tensor<32x32xi32> -> tensor<32x32x2xi32>
  %w2 = tile.reshape %v2 : tensor<32x32x2xi32> -> tensor<32x64xi32>
  %v4 = tile.join %w2, %w2 : tensor<32x64xi32> -> tensor<32x64x2xi32>
  %w4 = tile.reshape %v4 : tensor<32x64x2xi32> -> tensor<32x128xi32>
  %v8 = tile.join %w4, %w4 : tensor<32x128xi32> -> tensor<32x128x2xi32>
  %w8 = tile.reshape %v8 : tensor<32x128x2xi32> -> tensor<32x256xi32>
  %f = arith.sitofp %w8 : tensor<32x256xi32> to tensor<32x256xf16>
  %q = tile.make_range 0 to 8192 : tensor<8192xi32>
  %to = tile.reshape %q : tensor<8192xi32> -> tensor<32x256xi32>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<32x256x!tile.ptr<f16>>
  %yp = tile.addptr %ys, %to : tensor<32x256x!tile.ptr<f16>>, tensor<32x256xi32>
  tile.store %yp, %f : tensor<32x256x!tile.ptr<f16>>
  return
}
}

// -----

// Pointers that a loop carries live where what they point at is repeated to a block, though far
// behind where they come from: as many as a thread loads there, none of which is moved.
// CHECK-DAG: #[[BLOCK:.*]] = #cta.layout<{{.*}} : [16, 64]>
// CHECK-DAG: #[[COLUMN:.*]] = #cta.layout<{register = {{\[\[}}8]], {{.*}} : [16]>
// CHECK-LABEL: func.func @carried_pointers_of_a_column
module attributes {tile.kernel = #tile.kernel<warps = 4>} {
func.func @carried_pointers_of_a_column(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %z: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32, %at: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<64> : tensor<16xi32>
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %i = tile.make_range 0 to 16 : tensor<16xi32>
  %wide = arith.extsi %i : tensor<16xi32> to tensor<16xi64>
  %from = tile.splat %at : i64 -> tensor<16xi64>
  %index = arith.addi %from, %wide : tensor<16xi64>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %first = tile.addptr %xs, %index : tensor<16x!tile.ptr<f32>>, tensor<16xi64>
  // CHECK: scf.for
  // CHECK-NOT: convert_layout
  // CHECK: tile.load %{{.*}} : tensor<16x!tile.ptr<f32>, #[[COLUMN]]>
  // CHECK-NOT: convert_layout
  // CHECK: scf.yield
  %sum, %last = scf.for %t = %zero to %n step %one iter_args(%acc = %none, %ptrs = %first) -> (tensor<16x64xf32>, tensor<16x!tile.ptr<f32>>) : i32 {
    %v = tile.load %ptrs : tensor<16x!tile.ptr<f32>>
    %e = math.exp %v : tensor<16xf32>
    %c = tile.expand_dims %e {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %b = tile.broadcast %c : tensor<16x1xf32> -> tensor<16x64xf32>
    %a = arith.addf %acc, %b : tensor<16x64xf32>
    %next = tile.addptr %ptrs, %step : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    scf.yield %a, %next : tensor<16x64xf32>, tensor<16x!tile.ptr<f32>>
  }
  %j = tile.make_range 0 to 64 : tensor<64xi32>
  %rows = arith.constant dense<64> : tensor<16x1xi32>
  %r = tile.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %ro = arith.muli %r, %rows : tensor<16x1xi32>
  %rs = tile.broadcast %ro : tensor<16x1xi32> -> tensor<16x64xi32>
  %cj = tile.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cs = tile.broadcast %cj : tensor<1x64xi32> -> tensor<16x64xi32>
  %o = arith.addi %rs, %cs : tensor<16x64xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<16x64x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %o : tensor<16x64x!tile.ptr<f32>>, tensor<16x64xi32>
  tile.store %zp, %sum : tensor<16x64x!tile.ptr<f32>>
  return
}
}

// -----

// Rows that wrap are not contiguous, but neighbours mostly lie side by side: lanes run along them,
// and not along columns that are a long stride apart.
// CHECK: #[[L:.*]] = #cta.layout<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[\[}}32, 0]]} : [64, 32]>
// CHECK-LABEL: func.func @rows_that_wrap
module attributes {tile.kernel = #tile.kernel<warps = 2>} {
func.func @rows_that_wrap(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %width: i32, %stride: i32 {tile.divisibility = 16 : i32}) {
  %rows = tile.make_range 0 to 64 : tensor<64xi32>
  %columns = tile.make_range 0 to 32 : tensor<32xi32>
  %widths = tile.splat %width : i32 -> tensor<64xi32>
  %wrapped = arith.remsi %rows, %widths : tensor<64xi32>
  %strides = tile.splat %stride : i32 -> tensor<32xi32>
  %apart = arith.muli %columns, %strides : tensor<32xi32>
  %left = tile.expand_dims %wrapped {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %top = tile.expand_dims %apart {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %lefts = tile.broadcast %left : tensor<64x1xi32> -> tensor<64x32xi32>
  %tops = tile.broadcast %top : tensor<1x32xi32> -> tensor<64x32xi32>
  %offsets = arith.addi %lefts, %tops : tensor<64x32xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %ptrs = tile.addptr %xs, %offsets : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  // CHECK: tile.load {{.*}} : tensor<64x32x!tile.ptr<f16>, #[[L]]>
  %v = tile.load %ptrs : tensor<64x32x!tile.ptr<f16>>
  tile.store %ptrs, %v : tensor<64x32x!tile.ptr<f16>>
  return
}
}

// -----

// A stride that nothing is known of is likely smaller than one that is a multiple of 16.
// CHECK: #[[L:.*]] = #cta.layout<{register = {{\[\[}}0, 1], {{.*}} lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]],
// CHECK-LABEL: func.func @smaller_stride
module attributes {tile.kernel = #tile.kernel<warps = 2>} {
func.func @smaller_stride(%x: !tile.ptr<f16>, %small: i32, %stride: i32 {tile.divisibility = 16 : i32}) {
  %rows = tile.make_range 0 to 64 : tensor<64xi32>
  %columns = tile.make_range 0 to 32 : tensor<32xi32>
  %smalls = tile.splat %small : i32 -> tensor<64xi32>
  %near = arith.muli %rows, %smalls : tensor<64xi32>
  %strides = tile.splat %stride : i32 -> tensor<32xi32>
  %apart = arith.muli %columns, %strides : tensor<32xi32>
  %left = tile.expand_dims %near {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %top = tile.expand_dims %apart {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %lefts = tile.broadcast %left : tensor<64x1xi32> -> tensor<64x32xi32>
  %tops = tile.broadcast %top : tensor<1x32xi32> -> tensor<64x32xi32>
  %offsets = arith.addi %lefts, %tops : tensor<64x32xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %ptrs = tile.addptr %xs, %offsets : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  // CHECK: tile.load {{.*}} : tensor<64x32x!tile.ptr<f16>, #[[L]]>
  %v = tile.load %ptrs : tensor<64x32x!tile.ptr<f16>>
  tile.store %ptrs, %v : tensor<64x32x!tile.ptr<f16>>
  return
}
}

// -----

// Of two strides that nothing is known of, the last dimension's is taken for the smaller, and rows
// that come from a table may lie anywhere.
// CHECK: #[[L:.*]] = #cta.layout<{register = {{.*}} lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], {{.*}} : [64, 32]>
// CHECK-LABEL: func.func @no_better_guess
module attributes {tile.kernel = #tile.kernel<warps = 2>} {
func.func @no_better_guess(%x: !tile.ptr<f16>, %table: !tile.ptr<i32>, %small: i32, %other: i32) {
  %rows = tile.make_range 0 to 64 : tensor<64xi32>
  %columns = tile.make_range 0 to 32 : tensor<32xi32>
  %smalls = tile.splat %small : i32 -> tensor<64xi32>
  %near = arith.muli %rows, %smalls : tensor<64xi32>
  %others = tile.splat %other : i32 -> tensor<32xi32>
  %apart = arith.muli %columns, %others : tensor<32xi32>
  %left = tile.expand_dims %near {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %top = tile.expand_dims %apart {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %lefts = tile.broadcast %left : tensor<64x1xi32> -> tensor<64x32xi32>
  %tops = tile.broadcast %top : tensor<1x32xi32> -> tensor<64x32xi32>
  %offsets = arith.addi %lefts, %tops : tensor<64x32xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<64x32x!tile.ptr<f16>>
  %ptrs = tile.addptr %xs, %offsets : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  // CHECK: tile.load {{.*}} : tensor<64x32x!tile.ptr<f16>, #[[L]]>
  %v = tile.load %ptrs : tensor<64x32x!tile.ptr<f16>>
  %tables = tile.splat %table : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %entries = tile.addptr %tables, %rows : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %found = tile.load %entries : tensor<64x!tile.ptr<i32>>
  %gathered = tile.expand_dims %found {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %places = tile.broadcast %gathered : tensor<64x1xi32> -> tensor<64x32xi32>
  %there = arith.addi %places, %tops : tensor<64x32xi32>
  %theirs = tile.addptr %xs, %there : tensor<64x32x!tile.ptr<f16>>, tensor<64x32xi32>
  // CHECK: tile.load {{.*}} : tensor<64x32x!tile.ptr<f16>, #[[L]]>
  %w = tile.load %theirs : tensor<64x32x!tile.ptr<f16>>
  tile.store %ptrs, %v : tensor<64x32x!tile.ptr<f16>>
  tile.store %theirs, %w : tensor<64x32x!tile.ptr<f16>>
  return
}
}
