// Of pairs whose elements sums find out, each element sees the other one once.
// RUN: tile-opt %s --tile-partners | FileCheck %s
// RUN: tile-opt %s --tile-partners --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS-DAG: 6 tile-partners - sums over pairs that partners say
// COUNTS-DAG: 2 tile-partners - differences of pairs that are the partner's element
// COUNTS-DAG: 4 tile-partners - gathers that pick partners
// COUNTS-DAG: 4 tile-partners - partners of partners that another one says, or none

// A step of a network that sorts: what the mask leaves out of a float's sum is still added.
// CHECK-LABEL: func.func @keys
// CHECK: %[[BITS:.*]] = arith.bitcast %arg0 : tensor<4x2x8xf32> to tensor<4x2x8xi32>
// CHECK: %[[BOTH:.*]] = tile.reduce %[[BITS]] {axis = 1 : i32}
// CHECK: arith.xori
// CHECK: %[[OTHER:.*]] = arith.xori %[[BITS]], %{{.*}} : tensor<4x2x8xi32>
// CHECK: %[[PARTNER:.*]] = arith.bitcast %[[OTHER]] : tensor<4x2x8xi32> to tensor<4x2x8xf32>
// CHECK: %[[RIGHT:.*]] = tile.broadcast %{{.*}} : tensor<1x2x1xi1> -> tensor<4x2x8xi1>
// CHECK-NOT: tile.reduce
// CHECK-DAG: arith.select %[[RIGHT]], %[[PARTNER]], %arg0
// CHECK-DAG: arith.select %[[RIGHT]], %arg0, %[[PARTNER]]
// CHECK-COUNT-2: arith.addf
// CHECK: arith.cmpf ogt
func.func @keys(%y: tensor<4x2x8xf32>) -> tensor<64xi1> {
  %one = arith.constant dense<1> : tensor<1x2x1xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %r1 = tile.expand_dims %r {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %right = tile.expand_dims %r1 {axis = 2 : i32} : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %left = arith.subi %one, %right : tensor<1x2x1xi32>
  %rf = arith.sitofp %right : tensor<1x2x1xi32> to tensor<1x2x1xf32>
  %lf = arith.sitofp %left : tensor<1x2x1xi32> to tensor<1x2x1xf32>
  %rm = tile.broadcast %rf : tensor<1x2x1xf32> -> tensor<4x2x8xf32>
  %lm = tile.broadcast %lf : tensor<1x2x1xf32> -> tensor<4x2x8xf32>
  %lp = arith.mulf %y, %lm : tensor<4x2x8xf32>
  %ls = tile.reduce %lp {axis = 1 : i32} : tensor<4x2x8xf32> -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %rp = arith.mulf %rm, %y : tensor<4x2x8xf32>
  %rs = tile.reduce %rp {axis = 1 : i32} : tensor<4x2x8xf32> -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  }
  %le = tile.expand_dims %ls {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4x1x8xf32>
  %re = tile.expand_dims %rs {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4x1x8xf32>
  %l = tile.broadcast %le : tensor<4x1x8xf32> -> tensor<4x2x8xf32>
  %h = tile.broadcast %re : tensor<4x1x8xf32> -> tensor<4x2x8xf32>
  %l1 = tile.reshape %l : tensor<4x2x8xf32> -> tensor<64xf32>
  %h1 = tile.reshape %h : tensor<4x2x8xf32> -> tensor<64xf32>
  %c = arith.cmpf ogt, %l1, %h1 : tensor<64xf32>
  return %c : tensor<64xi1>
}

// Numbers that change places where `%c` holds: no sums are left.
// CHECK-LABEL: func.func @places
// CHECK: %[[Y:.*]] = tile.reshape %arg0
// CHECK: tile.reduce %[[Y]]
// CHECK: arith.xori
// CHECK: %[[OTHER:.*]] = arith.xori %[[Y]],
// CHECK-NOT: tile.reduce
// CHECK: %[[PARTNER:.*]] = tile.reshape %[[OTHER]] : tensor<4x2x8xi32> -> tensor<64xi32>
// CHECK: %[[NEW:.*]] = arith.select %arg1, %[[PARTNER]], %arg0
// CHECK: return %[[NEW]]
func.func @places(%x: tensor<64xi32>, %c: tensor<64xi1>) -> tensor<64xi32> {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %y = tile.reshape %x : tensor<64xi32> -> tensor<4x2x8xi32>
  %one = arith.constant dense<1> : tensor<1x2x1xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %r1 = tile.expand_dims %r {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %right = tile.expand_dims %r1 {axis = 2 : i32} : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %left = arith.subi %one, %right : tensor<1x2x1xi32>
  %rm = tile.broadcast %right : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lm = tile.broadcast %left : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lp = arith.muli %y, %lm : tensor<4x2x8xi32>
  %ls = tile.reduce %lp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %le = tile.expand_dims %ls {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %l = tile.broadcast %le : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  %hp = arith.muli %y, %rm : tensor<4x2x8xi32>
  %hs = tile.reduce %hp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %he = tile.expand_dims %hs {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %h = tile.broadcast %he : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  %l1 = tile.reshape %l : tensor<4x2x8xi32> -> tensor<64xi32>
  %h1 = tile.reshape %h : tensor<4x2x8xi32> -> tensor<64xi32>
  %d = arith.xori %l1, %h1 : tensor<64xi32>
  %w = arith.select %c, %d, %zero : tensor<64xi1>, tensor<64xi32>
  %n = arith.xori %x, %w : tensor<64xi32>
  return %n : tensor<64xi32>
}

// What differs in the bits of other numbers is not the partner.
// CHECK-LABEL: func.func @places_of_others
// CHECK: arith.select %{{.*}}, %{{.*}}, %arg0
// CHECK: %[[NEW:.*]] = arith.xori %arg1, %{{.*}} : tensor<64xi32>
// CHECK: return %[[NEW]]
func.func @places_of_others(%y: tensor<4x2x8xi32>, %x: tensor<64xi32>, %c: tensor<64xi1>) -> tensor<64xi32> {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %one = arith.constant dense<1> : tensor<1x2x1xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %r1 = tile.expand_dims %r {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %right = tile.expand_dims %r1 {axis = 2 : i32} : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %left = arith.subi %one, %right : tensor<1x2x1xi32>
  %rm = tile.broadcast %right : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lm = tile.broadcast %left : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lp = arith.muli %y, %lm : tensor<4x2x8xi32>
  %ls = tile.reduce %lp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %le = tile.expand_dims %ls {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %l = tile.broadcast %le : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  %hp = arith.muli %y, %rm : tensor<4x2x8xi32>
  %hs = tile.reduce %hp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %he = tile.expand_dims %hs {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %h = tile.broadcast %he : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  %l1 = tile.reshape %l : tensor<4x2x8xi32> -> tensor<64xi32>
  %h1 = tile.reshape %h : tensor<4x2x8xi32> -> tensor<64xi32>
  %d = arith.xori %l1, %h1 : tensor<64xi32>
  %w = arith.select %c, %d, %zero : tensor<64xi1>, tensor<64xi32>
  %n = arith.xori %x, %w : tensor<64xi32>
  return %n : tensor<64xi32>
}

// One exchange is all that one place takes.
// CHECK-LABEL: func.func @one_place
// CHECK: arith.muli
// CHECK-NEXT: tile.reduce
// CHECK-NOT: arith.select
func.func @one_place(%y: tensor<4x2x8xi32>) -> tensor<4x2x8xi32> {
  %one = arith.constant dense<1> : tensor<1x2x1xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %r1 = tile.expand_dims %r {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %right = tile.expand_dims %r1 {axis = 2 : i32} : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %left = arith.subi %one, %right : tensor<1x2x1xi32>
  %rm = tile.broadcast %right : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lm = tile.broadcast %left : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %hp = arith.muli %y, %rm : tensor<4x2x8xi32>
  %hs = tile.reduce %hp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %he = tile.expand_dims %hs {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %h = tile.broadcast %he : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  return %h : tensor<4x2x8xi32>
}

// A mask of another dimension leaves both elements.
// CHECK-LABEL: func.func @another_dimension
// CHECK-COUNT-2: tile.reduce
// CHECK-NOT: arith.select
func.func @another_dimension(%y: tensor<2x2x8xi32>) -> tensor<2x2x8xi32> {
  %one = arith.constant dense<1> : tensor<2x1x1xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %r1 = tile.expand_dims %r {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
  %right = tile.expand_dims %r1 {axis = 2 : i32} : tensor<2x1xi32> -> tensor<2x1x1xi32>
  %left = arith.subi %one, %right : tensor<2x1x1xi32>
  %rm = tile.broadcast %right : tensor<2x1x1xi32> -> tensor<2x2x8xi32>
  %lm = tile.broadcast %left : tensor<2x1x1xi32> -> tensor<2x2x8xi32>
  %lp = arith.muli %y, %lm : tensor<2x2x8xi32>
  %ls = tile.reduce %lp {axis = 1 : i32} : tensor<2x2x8xi32> -> tensor<2x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %le = tile.expand_dims %ls {axis = 1 : i32} : tensor<2x8xi32> -> tensor<2x1x8xi32>
  %l = tile.broadcast %le : tensor<2x1x8xi32> -> tensor<2x2x8xi32>
  %hp = arith.muli %y, %rm : tensor<2x2x8xi32>
  %hs = tile.reduce %hp {axis = 1 : i32} : tensor<2x2x8xi32> -> tensor<2x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %he = tile.expand_dims %hs {axis = 1 : i32} : tensor<2x8xi32> -> tensor<2x1x8xi32>
  %h = tile.broadcast %he : tensor<2x1x8xi32> -> tensor<2x2x8xi32>
  %d = arith.cmpi sgt, %l, %h : tensor<2x2x8xi32>
  %n = arith.extui %d : tensor<2x2x8xi1> to tensor<2x2x8xi32>
  return %n : tensor<2x2x8xi32>
}

// Nor does a mask that counts on.
// CHECK-LABEL: func.func @no_mask
// CHECK-COUNT-2: tile.reduce
func.func @no_mask(%y: tensor<4x2x8xi32>) -> tensor<4x2x8xi32> {
  %one = arith.constant dense<2> : tensor<1x2x1xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %r1 = tile.expand_dims %r {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %right = tile.expand_dims %r1 {axis = 2 : i32} : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %left = arith.subi %one, %right : tensor<1x2x1xi32>
  %rm = tile.broadcast %right : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lm = tile.broadcast %left : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lp = arith.muli %y, %lm : tensor<4x2x8xi32>
  %ls = tile.reduce %lp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %le = tile.expand_dims %ls {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %l = tile.broadcast %le : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  %hp = arith.muli %y, %rm : tensor<4x2x8xi32>
  %hs = tile.reduce %hp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  }
  %he = tile.expand_dims %hs {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %h = tile.broadcast %he : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  %d = arith.subi %l, %h : tensor<4x2x8xi32>
  return %d : tensor<4x2x8xi32>
}

// What nobody needs of an exchange goes, and the sums of the same pairs see each other all the same.
// CHECK-LABEL: func.func @left_alone
// CHECK-COUNT-1: tile.reduce
// CHECK-NOT: tile.reduce
// CHECK: tile.store
func.func @left_alone(%y: tensor<4x2x8xi32>, %c: tensor<4x2x8xi1>, %p: tensor<4x2x8x!tile.ptr<i32>>) {
  %one = arith.constant dense<1> : tensor<1x2x1xi32>
  %zero = arith.constant dense<0> : tensor<4x2x8xi32>
  %r = tile.make_range 0 to 2 : tensor<2xi32>
  %r1 = tile.expand_dims %r {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  %right = tile.expand_dims %r1 {axis = 2 : i32} : tensor<1x2xi32> -> tensor<1x2x1xi32>
  %left = arith.subi %one, %right : tensor<1x2x1xi32>
  %rm = tile.broadcast %right : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lm = tile.broadcast %left : tensor<1x2x1xi32> -> tensor<4x2x8xi32>
  %lp = arith.muli %y, %lm : tensor<4x2x8xi32>
  %ls = tile.reduce %lp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %d = arith.addi %a, %b : i32
    tile.yield %d : i32
  }
  %rp = arith.muli %rm, %y : tensor<4x2x8xi32>
  %rs = tile.reduce %rp {axis = 1 : i32} : tensor<4x2x8xi32> -> tensor<4x8xi32> {
  ^bb0(%a: i32, %b: i32):
    %d = arith.addi %a, %b : i32
    tile.yield %d : i32
  }
  %le = tile.expand_dims %ls {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %re = tile.expand_dims %rs {axis = 1 : i32} : tensor<4x8xi32> -> tensor<4x1x8xi32>
  %l = tile.broadcast %le : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  %h = tile.broadcast %re : tensor<4x1x8xi32> -> tensor<4x2x8xi32>
  %x = arith.xori %l, %h : tensor<4x2x8xi32>
  %s = arith.select %c, %x, %zero : tensor<4x2x8xi1>, tensor<4x2x8xi32>
  %n = arith.xori %y, %s : tensor<4x2x8xi32>
  tile.store %p, %l : tensor<4x2x8x!tile.ptr<i32>>
  tile.store %p, %h : tensor<4x2x8x!tile.ptr<i32>>
  return
}

// Two bits turned over, then the lower one again: one partner, at the distance of the other.
// CHECK-LABEL: func.func @reversed_twice
// CHECK: %[[PAIRS:.*]] = tile.reshape %{{.*}} : tensor<4x2x1xi16> -> tensor<2x2x2xi16>
// CHECK: tile.reduce %[[PAIRS]] {axis = 1 : i32}
// CHECK: %[[OTHER:.*]] = arith.xori %[[PAIRS]], %{{.*}}
// CHECK-NOT: tile.reduce
// CHECK: %[[SAME:.*]] = tile.reshape %[[OTHER]] : tensor<2x2x2xi16> -> tensor<4x2x1xi16>
// CHECK: arith.bitcast %[[SAME]]
func.func @reversed_twice(%x: tensor<8xi16>) -> tensor<4x2x1xbf16> {
  %a = tile.reshape %x : tensor<8xi16> -> tensor<4x2x1xi16>
  %a1 = tile.reduce %a {axis = 1 : i32} : tensor<4x2x1xi16> -> tensor<4x1xi16> {
  ^bb0(%l: i16, %r: i16):
    %c = arith.xori %l, %r : i16
    tile.yield %c : i16
  }
  %a2 = tile.expand_dims %a1 {axis = 1 : i32} : tensor<4x1xi16> -> tensor<4x1x1xi16>
  %a3 = tile.broadcast %a2 : tensor<4x1x1xi16> -> tensor<4x2x1xi16>
  %a4 = arith.xori %a, %a3 : tensor<4x2x1xi16>
  %af = arith.bitcast %a4 : tensor<4x2x1xi16> to tensor<4x2x1xbf16>
  %bf = tile.reshape %af : tensor<4x2x1xbf16> -> tensor<2x2x2xbf16>
  %b = arith.bitcast %bf : tensor<2x2x2xbf16> to tensor<2x2x2xi16>
  %b1 = tile.reduce %b {axis = 1 : i32} : tensor<2x2x2xi16> -> tensor<2x2xi16> {
  ^bb0(%l: i16, %r: i16):
    %c = arith.xori %l, %r : i16
    tile.yield %c : i16
  }
  %b2 = tile.expand_dims %b1 {axis = 1 : i32} : tensor<2x2xi16> -> tensor<2x1x2xi16>
  %b3 = tile.broadcast %b2 : tensor<2x1x2xi16> -> tensor<2x2x2xi16>
  %b4 = arith.xori %b3, %b : tensor<2x2x2xi16>
  %c0 = tile.reshape %b4 : tensor<2x2x2xi16> -> tensor<4x2x1xi16>
  %c1 = tile.reduce %c0 {axis = 1 : i32} : tensor<4x2x1xi16> -> tensor<4x1xi16> {
  ^bb0(%l: i16, %r: i16):
    %c = arith.xori %l, %r : i16
    tile.yield %c : i16
  }
  %c2 = tile.expand_dims %c1 {axis = 1 : i32} : tensor<4x1xi16> -> tensor<4x1x1xi16>
  %c3 = tile.broadcast %c2 : tensor<4x1x1xi16> -> tensor<4x2x1xi16>
  %c4 = arith.xori %c0, %c3 : tensor<4x2x1xi16>
  %cf = arith.bitcast %c4 : tensor<4x2x1xi16> to tensor<4x2x1xbf16>
  return %cf : tensor<4x2x1xbf16>
}

// A bit turned over twice is as it was.
// CHECK-LABEL: func.func @nothing_left
// CHECK-NOT: tile.reduce
// CHECK: return %arg0
func.func @nothing_left(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %a1 = tile.reduce %x {axis = 1 : i32} : tensor<4x2xi32> -> tensor<4xi32> {
  ^bb0(%l: i32, %r: i32):
    %c = arith.xori %l, %r : i32
    tile.yield %c : i32
  }
  %a2 = tile.expand_dims %a1 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %a3 = tile.broadcast %a2 : tensor<4x1xi32> -> tensor<4x2xi32>
  %a4 = arith.xori %x, %a3 : tensor<4x2xi32>
  %b1 = tile.reduce %a4 {axis = 1 : i32} : tensor<4x2xi32> -> tensor<4xi32> {
  ^bb0(%l: i32, %r: i32):
    %c = arith.xori %l, %r : i32
    tile.yield %c : i32
  }
  %b2 = tile.expand_dims %b1 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %b3 = tile.broadcast %b2 : tensor<4x1xi32> -> tensor<4x2xi32>
  %b4 = arith.xori %a4, %b3 : tensor<4x2xi32>
  return %b4 : tensor<4x2xi32>
}

// What lies between is needed by itself: as many partners are asked for either way.
// CHECK-LABEL: func.func @kept_between
// CHECK-COUNT-2: tile.reduce
func.func @kept_between(%x: tensor<4x2xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>) {
  %a1 = tile.reduce %x {axis = 1 : i32} : tensor<4x2xi32> -> tensor<4xi32> {
  ^bb0(%l: i32, %r: i32):
    %c = arith.xori %l, %r : i32
    tile.yield %c : i32
  }
  %a2 = tile.expand_dims %a1 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %a3 = tile.broadcast %a2 : tensor<4x1xi32> -> tensor<4x2xi32>
  %a4 = arith.xori %x, %a3 : tensor<4x2xi32>
  %b1 = tile.reduce %a4 {axis = 1 : i32} : tensor<4x2xi32> -> tensor<4xi32> {
  ^bb0(%l: i32, %r: i32):
    %c = arith.xori %l, %r : i32
    tile.yield %c : i32
  }
  %b2 = tile.expand_dims %b1 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
  %b3 = tile.broadcast %b2 : tensor<4x1xi32> -> tensor<4x2xi32>
  %b4 = arith.xori %a4, %b3 : tensor<4x2xi32>
  return %a4, %b4 : tensor<4x2xi32>, tensor<4x2xi32>
}

// Of dimensions that are no powers of two places have no bits.
// CHECK-LABEL: func.func @odd
// CHECK-COUNT-2: tile.reduce
func.func @odd(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %a1 = tile.reduce %x {axis = 0 : i32} : tensor<2x3xi32> -> tensor<3xi32> {
  ^bb0(%l: i32, %r: i32):
    %c = arith.xori %l, %r : i32
    tile.yield %c : i32
  }
  %a2 = tile.expand_dims %a1 {axis = 0 : i32} : tensor<3xi32> -> tensor<1x3xi32>
  %a3 = tile.broadcast %a2 : tensor<1x3xi32> -> tensor<2x3xi32>
  %a4 = arith.xori %x, %a3 : tensor<2x3xi32>
  %b1 = tile.reduce %a4 {axis = 0 : i32} : tensor<2x3xi32> -> tensor<3xi32> {
  ^bb0(%l: i32, %r: i32):
    %c = arith.xori %l, %r : i32
    tile.yield %c : i32
  }
  %b2 = tile.expand_dims %b1 {axis = 0 : i32} : tensor<3xi32> -> tensor<1x3xi32>
  %b3 = tile.broadcast %b2 : tensor<1x3xi32> -> tensor<2x3xi32>
  %b4 = arith.xori %a4, %b3 : tensor<2x3xi32>
  return %b4 : tensor<2x3xi32>
}

// A gather that turns the halves of rows, by indices as programs compute them.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: tile.gather
// CHECK: %[[PAIRS:.*]] = tile.reshape %{{.*}} : tensor<4x8xi32> -> tensor<4x2x4xi32>
// CHECK: tile.reduce %[[PAIRS]] {axis = 1 : i32}
// CHECK: arith.bitcast %{{.*}} : tensor<4x8xi32> to tensor<4x8xf32>
// CHECK-NOT: arith.select
// CHECK: return
func.func @halves(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %half = arith.constant dense<4> : tensor<8xi32>
  %at = tile.make_range 0 to 8 : tensor<8xi32>
  %isLeft = arith.cmpi slt, %at, %half : tensor<8xi32>
  %on = arith.addi %at, %half : tensor<8xi32>
  %back = arith.subi %at, %half : tensor<8xi32>
  %other = arith.select %isLeft, %on, %back : tensor<8xi1>, tensor<8xi32>
  %row = tile.expand_dims %other {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %rows = tile.broadcast %row : tensor<1x8xi32> -> tensor<4x8xi32>
  %y = tile.gather %x[%rows] {axis = 1 : i32} : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Of which the second half of rows stays where it is.
// CHECK-LABEL: func.func @quarters
// CHECK-NOT: tile.gather
// CHECK: tile.reshape %{{.*}} : tensor<4x8xi16> -> tensor<8x2x2xi16>
// CHECK: tile.reduce
// CHECK: %[[OWN:.*]] = arith.cmpi eq
// CHECK: arith.select %[[OWN]], %arg0, %{{.*}} : tensor<4x8xi1>, tensor<4x8xi16>
func.func @quarters(%x: tensor<4x8xi16>) -> tensor<4x8xi16> {
  %quarter = arith.constant dense<2> : tensor<8xi64>
  %half = arith.constant dense<4> : tensor<8xi64>
  %at = tile.make_range 0 to 8 : tensor<8xi32>
  %far = arith.extsi %at : tensor<8xi32> to tensor<8xi64>
  %isFirst = arith.cmpi slt, %far, %quarter : tensor<8xi64>
  %isTurned = arith.cmpi slt, %far, %half : tensor<8xi64>
  %on = arith.addi %far, %quarter : tensor<8xi64>
  %back = arith.subi %far, %quarter : tensor<8xi64>
  %behind = arith.select %isTurned, %back, %far : tensor<8xi1>, tensor<8xi64>
  %other = arith.select %isFirst, %on, %behind : tensor<8xi1>, tensor<8xi64>
  %row = tile.expand_dims %other {axis = 0 : i32} : tensor<8xi64> -> tensor<1x8xi64>
  %rows = tile.broadcast %row : tensor<1x8xi64> -> tensor<4x8xi64>
  %y = tile.gather %x[%rows] {axis = 1 : i32} : tensor<4x8xi16>, tensor<4x8xi64> -> tensor<4x8xi16>
  return %y : tensor<4x8xi16>
}

// Places that differ in two bits are partners of partners; along the first dimension they are rows apart.
// CHECK-LABEL: func.func @two_bits
// CHECK-NOT: tile.gather
// CHECK: tile.reshape %{{.*}} -> tensor<4x2x2xi8>
// CHECK: tile.reshape %{{.*}} -> tensor<1x2x8xi8>
// CHECK: return
func.func @two_bits(%x: tensor<8x2xi8>) -> tensor<8x2xi8> {
  %bits = arith.constant dense<5> : tensor<8xi32>
  %at = tile.make_range 0 to 8 : tensor<8xi32>
  %other = arith.xori %at, %bits : tensor<8xi32>
  %column = tile.expand_dims %other {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tile.broadcast %column : tensor<8x1xi32> -> tensor<8x2xi32>
  %y = tile.gather %x[%columns] {axis = 0 : i32} : tensor<8x2xi8>, tensor<8x2xi32> -> tensor<8x2xi8>
  return %y : tensor<8x2xi8>
}

// Each element's own place.
// CHECK-LABEL: func.func @own
// CHECK-NEXT: return %arg0
func.func @own(%x: tensor<8xf16>) -> tensor<8xf16> {
  %at = tile.make_range 0 to 8 : tensor<8xi32>
  %y = tile.gather %x[%at] {axis = 0 : i32} : tensor<8xf16>, tensor<8xi32> -> tensor<8xf16>
  return %y : tensor<8xf16>
}

// Left alone: the next place, what every row takes from elsewhere, fewer indices than places, and what lies outside.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: tile.gather
func.func @others(%x: tensor<8x8xf32>, %v: tensor<16xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<16xf32>) {
  %one = arith.constant dense<1> : tensor<8xi32>
  %last = arith.constant dense<7> : tensor<8xi32>
  %at = tile.make_range 0 to 8 : tensor<8xi32>
  %next = arith.addi %at, %one : tensor<8xi32>
  %in = arith.andi %next, %last : tensor<8xi32>
  %row = tile.expand_dims %in {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %rows = tile.broadcast %row : tensor<1x8xi32> -> tensor<8x8xi32>
  %a = tile.gather %x[%rows] {axis = 1 : i32} : tensor<8x8xf32>, tensor<8x8xi32> -> tensor<8x8xf32>
  %own = tile.expand_dims %at {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %ownRows = tile.broadcast %own : tensor<1x8xi32> -> tensor<8x8xi32>
  %column = tile.expand_dims %at {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tile.broadcast %column : tensor<8x1xi32> -> tensor<8x8xi32>
  %differing = arith.xori %ownRows, %columns : tensor<8x8xi32>
  %b = tile.gather %x[%differing] {axis = 1 : i32} : tensor<8x8xf32>, tensor<8x8xi32> -> tensor<8x8xf32>
  %few = arith.xori %at, %one : tensor<8xi32>
  %c = tile.gather %v[%few] {axis = 0 : i32} : tensor<16xf32>, tensor<8xi32> -> tensor<8xf32>
  %all = tile.make_range 0 to 16 : tensor<16xi32>
  %sixteen = arith.constant dense<16> : tensor<16xi32>
  %outside = arith.xori %all, %sixteen : tensor<16xi32>
  %d = tile.gather %v[%outside] {axis = 0 : i32} : tensor<16xf32>, tensor<16xi32> -> tensor<16xf32>
  return %a, %b, %c, %d : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<16xf32>
}
