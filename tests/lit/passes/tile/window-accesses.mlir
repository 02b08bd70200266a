// RUN: tile-opt %s --tile-window-accesses --cse --canonicalize | FileCheck %s
// RUN: tile-opt %s --tile-window-accesses --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: 4 tile-window-accesses - loads of what lies beside vectors, made of vectors

module attributes {tile.whole_rows, tile.target = #tile.target<sm_90a>, tile.kernel = #tile.kernel<warps = 1>} {
// A window that is padded: three places, of which each vector is loaded once.
// CHECK-LABEL: func.func @padded
// CHECK: %[[FROM:.*]] = tile.make_range
// CHECK-COUNT-3: tile.load %{{.*}}, %{{.*}} {{.*}}: tensor<128x!tile.ptr<f32>>
// CHECK-NOT: tile.load
func.func @padded(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  %one = arith.constant dense<1> : tensor<128xi32>
  %less = arith.constant dense<-1> : tensor<128xi32>
  %i = tile.make_range 0 to 128 : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %inside = arith.cmpi ult, %i, %ns : tensor<128xi32>
  %p1 = tile.addptr %xs, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %b = tile.load %p1, %inside : tensor<128x!tile.ptr<f32>>
  %before = arith.addi %i, %less : tensor<128xi32>
  %isBefore = arith.cmpi ult, %before, %ns : tensor<128xi32>
  %p0 = tile.addptr %xs, %before : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %p0, %isBefore : tensor<128x!tile.ptr<f32>>
  %behind = arith.addi %i, %one : tensor<128xi32>
  %isBehind = arith.cmpi ult, %behind, %ns : tensor<128xi32>
  %p2 = tile.addptr %xs, %behind : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %c = tile.load %p2, %isBehind : tensor<128x!tile.ptr<f32>>
  %ab = arith.addf %a, %b : tensor<128xf32>
  %abc = arith.addf %ab, %c : tensor<128xf32>
  %q = tile.addptr %ys, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %q, %abc, %inside : tensor<128x!tile.ptr<f32>>
  return
}

// A row that is rolled: the place is chosen where it wraps, for a whole vector.
// CHECK-LABEL: func.func @rolled
// CHECK-COUNT-2: tile.load {{.*}}tile.whole_vectors = 8 : i32
// CHECK-NOT: tile.load
func.func @rolled(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  %one = arith.constant dense<1> : tensor<256xi32>
  %less = arith.constant dense<-1> : tensor<256xi32>
  %lessOne = arith.constant -1 : i32
  %i = tile.make_range 0 to 256 : tensor<256xi32>
  %ns = tile.splat %n : i32 -> tensor<256xi32>
  %last = arith.addi %n, %lessOne : i32
  %lasts = tile.splat %last : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<256xi32>
  %isFirst = arith.cmpi slt, %i, %one : tensor<256xi32>
  %wrapped = arith.addi %i, %lasts : tensor<256xi32>
  %before = arith.addi %i, %less : tensor<256xi32>
  %at = arith.select %isFirst, %wrapped, %before : tensor<256xi1>, tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %p = tile.addptr %xs, %at : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %v = tile.load %p, %mask : tensor<256x!tile.ptr<f16>>
  %q = tile.addptr %ys, %i : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  tile.store %q, %v, %mask : tensor<256x!tile.ptr<f16>>
  return
}

// Differences: the end of the row moves to the other side of the comparison, a number less.
// CHECK-LABEL: func.func @differences
// CHECK: arith.maxsi
// CHECK: arith.subi %{{.*}}, %c7_i32
// CHECK-COUNT-3: tile.load
// CHECK-NOT: tile.load
func.func @differences(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32) {
  %one = arith.constant dense<1> : tensor<256xi32>
  %i = tile.make_range 0 to 256 : tensor<256xi32>
  %ns = tile.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<256xi32>
  %next = arith.addi %i, %one : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %p = tile.addptr %xs, %next : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %b = tile.load %p, %mask : tensor<256x!tile.ptr<f16>>
  %p0 = tile.addptr %xs, %i : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %a = tile.load %p0, %mask : tensor<256x!tile.ptr<f16>>
  %d = arith.subf %b, %a : tensor<256xf16>
  %q = tile.addptr %ys, %i : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  tile.store %q, %d, %mask : tensor<256x!tile.ptr<f16>>
  return
}

// Without a mask nobody says that the array goes on to the end of a vector.
// CHECK-LABEL: func.func @unknown_end
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// CHECK: return
func.func @unknown_end(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}) {
  %one = arith.constant dense<1> : tensor<256xi32>
  %i = tile.make_range 0 to 256 : tensor<256xi32>
  %next = arith.addi %i, %one : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %p = tile.addptr %xs, %next : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %v = tile.load %p : tensor<256x!tile.ptr<f16>>
  %q = tile.addptr %ys, %i : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  tile.store %q, %v : tensor<256x!tile.ptr<f16>>
  return
}

// A number is subtracted, and only the upper end is asked for: there may be nothing in front.
// CHECK-LABEL: func.func @unknown_begin
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// CHECK: return
func.func @unknown_begin(%x: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f16> {tile.divisibility = 16 : i32}, %n: i32 {tile.divisibility = 16 : i32}) {
  %less = arith.constant dense<-3> : tensor<256xi32>
  %i = tile.make_range 0 to 256 : tensor<256xi32>
  %ns = tile.splat %n : i32 -> tensor<256xi32>
  %before = arith.addi %i, %less : tensor<256xi32>
  %mask = arith.cmpi slt, %before, %ns : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %ys = tile.splat %y : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %p = tile.addptr %xs, %before : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  %v = tile.load %p, %mask : tensor<256x!tile.ptr<f16>>
  %q = tile.addptr %ys, %i : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
  tile.store %q, %v, %mask : tensor<256x!tile.ptr<f16>>
  return
}
}
