// Codes that were widened when they were loaded are combined as bytes.
// RUN: tile-opt %s --tile-narrow-bits | FileCheck %s
// RUN: tile-opt %s --tile-narrow-bits --counts -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTS
// COUNTS-DAG: 2 tile-narrow-bits - masks that keep all that was widened
// COUNTS-DAG: 2 tile-narrow-bits - operations on bits that are done before widening

// A row against all rows of a block.
// CHECK-LABEL: func.func @differing
// CHECK: tile.expand_dims %arg0 {axis = 0 : i32} : tensor<32xi8> -> tensor<1x32xi8>
// CHECK: %[[ROWS:.*]] = tile.broadcast %{{.*}} : tensor<1x32xi8> -> tensor<64x32xi8>
// CHECK: %[[BITS:.*]] = arith.xori %[[ROWS]], %arg1 : tensor<64x32xi8>
// CHECK: arith.extui %[[BITS]] : tensor<64x32xi8> to tensor<64x32xi32>
// CHECK-NOT: arith.andi
func.func @differing(%row: tensor<32xi8>, %block: tensor<64x32xi8>) -> tensor<64x32xi32> {
  %all = arith.constant dense<255> : tensor<32xi32>
  %alls = arith.constant dense<255> : tensor<64x32xi32>
  %r0 = arith.extui %row : tensor<32xi8> to tensor<32xi32>
  %r1 = arith.andi %r0, %all : tensor<32xi32>
  %r2 = tile.expand_dims %r1 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %r3 = tile.broadcast %r2 : tensor<1x32xi32> -> tensor<64x32xi32>
  %b0 = arith.extui %block : tensor<64x32xi8> to tensor<64x32xi32>
  %b1 = arith.andi %b0, %alls : tensor<64x32xi32>
  %d = arith.xori %r3, %b1 : tensor<64x32xi32>
  return %d : tensor<64x32xi32>
}

// CHECK-LABEL: func.func @both
// CHECK: arith.ori %arg0, %arg1 : tensor<64xi16>
func.func @both(%x: tensor<64xi16>, %y: tensor<64xi16>) -> tensor<64xi32> {
  %a = arith.extui %x : tensor<64xi16> to tensor<64xi32>
  %b = arith.extui %y : tensor<64xi16> to tensor<64xi32>
  %c = arith.ori %a, %b : tensor<64xi32>
  return %c : tensor<64xi32>
}

// Left alone: rows and columns that would be widened for each pair, what is needed wide besides, other widths, signs,
// and masks that drop something.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-5: arith.{{xori|andi}} %{{.*}}, %{{.*}} : tensor<{{[0-9x]*}}xi32>
// CHECK: return
func.func @others(%row: tensor<32xi8>, %column: tensor<64xi8>, %x: tensor<64xi8>, %y: tensor<64xi16>)
    -> (tensor<64x32xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) {
  %r0 = arith.extui %row : tensor<32xi8> to tensor<32xi32>
  %r1 = tile.expand_dims %r0 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %r2 = tile.broadcast %r1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %c0 = arith.extui %column : tensor<64xi8> to tensor<64xi32>
  %c1 = tile.expand_dims %c0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c2 = tile.broadcast %c1 : tensor<64x1xi32> -> tensor<64x32xi32>
  %pairs = arith.xori %r2, %c2 : tensor<64x32xi32>
  %a = arith.extui %x : tensor<64xi8> to tensor<64xi32>
  %b = arith.extui %y : tensor<64xi16> to tensor<64xi32>
  %widths = arith.xori %a, %b : tensor<64xi32>
  %s = arith.extsi %x : tensor<64xi8> to tensor<64xi32>
  %t = arith.extsi %column : tensor<64xi8> to tensor<64xi32>
  %signs = arith.xori %s, %t : tensor<64xi32>
  %low = arith.constant dense<127> : tensor<64xi32>
  %u = arith.extui %x : tensor<64xi8> to tensor<64xi32>
  %masked = arith.andi %u, %low : tensor<64xi32>
  %v = arith.extui %x : tensor<64xi8> to tensor<64xi32>
  %w = arith.extui %column : tensor<64xi8> to tensor<64xi32>
  %wide = arith.xori %v, %w : tensor<64xi32>
  return %pairs, %widths, %signs, %masked, %wide, %v, %w : tensor<64x32xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>
}

// COUNTS-DAG: 3 tile-narrow-bits - constants that are added behind a joining

// A constant that both halves have added goes behind the joining, and what turns and reshapes it.
// CHECK-LABEL: func.func @joined
// CHECK: %[[JOIN:.*]] = tile.join %arg0, %arg1 : tensor<32xi8> -> tensor<32x2xi8>
// CHECK: %[[TURNED:.*]] = tile.trans %[[JOIN]] [1, 0] : tensor<32x2xi8> -> tensor<2x32xi8>
// CHECK: %[[WHOLE:.*]] = tile.reshape %[[TURNED]] : tensor<2x32xi8> -> tensor<64xi8>
// CHECK: %[[EIGHT:.*]] = arith.constant dense<-8> : tensor<64xi8>
// CHECK: %[[SUM:.*]] = arith.addi %[[WHOLE]], %[[EIGHT]] : tensor<64xi8>
// CHECK: arith.sitofp %[[SUM]] : tensor<64xi8> to tensor<64xf16>
func.func @joined(%x: tensor<32xi8>, %y: tensor<32xi8>) -> tensor<64xf16> {
  %c = arith.constant dense<-8> : tensor<32xi8>
  %low = arith.addi %x, %c : tensor<32xi8>
  %high = arith.addi %y, %c : tensor<32xi8>
  %join = tile.join %low, %high : tensor<32xi8> -> tensor<32x2xi8>
  %turned = tile.trans %join [1, 0] : tensor<32x2xi8> -> tensor<2x32xi8>
  %whole = tile.reshape %turned : tensor<2x32xi8> -> tensor<64xi8>
  %f = arith.sitofp %whole : tensor<64xi8> to tensor<64xf16>
  return %f : tensor<64xf16>
}

// What is taken from both, likewise; a half that is needed besides is still there.
// CHECK-LABEL: func.func @taken
// CHECK: arith.subi %arg0, %{{.*}} : tensor<32xi8>
// CHECK: %[[JOIN:.*]] = tile.join %arg0, %arg1 : tensor<32xi8> -> tensor<32x2xi8>
// CHECK: %[[LESS:.*]] = arith.subi %[[JOIN]], %{{.*}} : tensor<32x2xi8>
// CHECK: arith.sitofp %[[LESS]] : tensor<32x2xi8> to tensor<32x2xbf16>
func.func @taken(%x: tensor<32xi8>, %y: tensor<32xi8>) -> (tensor<32xi8>, tensor<32x2xbf16>) {
  %c = arith.constant dense<3> : tensor<32xi8>
  %low = arith.subi %x, %c : tensor<32xi8>
  %high = arith.subi %y, %c : tensor<32xi8>
  %join = tile.join %low, %high : tensor<32xi8> -> tensor<32x2xi8>
  %f = arith.sitofp %join : tensor<32x2xi8> to tensor<32x2xbf16>
  return %low, %f : tensor<32xi8>, tensor<32x2xbf16>
}

// Halves of halves: one joining at a time, from the outer one on.
// CHECK-LABEL: func.func @once
// CHECK: %[[SUM:.*]] = arith.addi %arg0, %{{.*}} : tensor<32xi8>
// CHECK: %[[INNER:.*]] = tile.join %[[SUM]], %[[SUM]] : tensor<32xi8> -> tensor<32x2xi8>
// CHECK: %[[OUTER:.*]] = tile.join %[[INNER]], %[[INNER]] : tensor<32x2xi8> -> tensor<32x2x2xi8>
// CHECK: %[[MORE:.*]] = arith.addi %[[OUTER]], %{{.*}} : tensor<32x2x2xi8>
// CHECK: arith.sitofp %[[MORE]]
func.func @once(%x: tensor<32xi8>) -> tensor<32x2x2xf16> {
  %c = arith.constant dense<1> : tensor<32xi8>
  %cs = arith.constant dense<2> : tensor<32x2xi8>
  %sum = arith.addi %x, %c : tensor<32xi8>
  %inner = tile.join %sum, %sum : tensor<32xi8> -> tensor<32x2xi8>
  %more = arith.addi %inner, %cs : tensor<32x2xi8>
  %outer = tile.join %more, %more : tensor<32x2xi8> -> tensor<32x2x2xi8>
  %f = arith.sitofp %outer : tensor<32x2x2xi8> to tensor<32x2x2xf16>
  return %f : tensor<32x2x2xf16>
}

// Left alone: constants that differ, a half that has none, different operations, and what is no constant.
// CHECK-LABEL: func.func @halves_that_differ
// CHECK-COUNT-4: arith.{{addi|subi}} %{{.*}} : tensor<32xi8>
// CHECK-NOT: arith.{{addi|subi}}
// CHECK: return
func.func @halves_that_differ(%x: tensor<32xi8>, %y: tensor<32xi8>)
    -> (tensor<32x2xf16>, tensor<32x2xf16>, tensor<32x2xf16>, tensor<32x2xf16>) {
  %c = arith.constant dense<8> : tensor<32xi8>
  %d = arith.constant dense<7> : tensor<32xi8>
  %xc = arith.addi %x, %c : tensor<32xi8>
  %yd = arith.addi %y, %d : tensor<32xi8>
  %yc = arith.subi %y, %c : tensor<32xi8>
  %xy = arith.addi %x, %y : tensor<32xi8>
  %j0 = tile.join %xc, %yd : tensor<32xi8> -> tensor<32x2xi8>
  %f0 = arith.sitofp %j0 : tensor<32x2xi8> to tensor<32x2xf16>
  %j1 = tile.join %xc, %y : tensor<32xi8> -> tensor<32x2xi8>
  %f1 = arith.sitofp %j1 : tensor<32x2xi8> to tensor<32x2xf16>
  %j2 = tile.join %xc, %yc : tensor<32xi8> -> tensor<32x2xi8>
  %f2 = arith.sitofp %j2 : tensor<32x2xi8> to tensor<32x2xf16>
  %j3 = tile.join %xy, %xy : tensor<32xi8> -> tensor<32x2xi8>
  %f3 = arith.sitofp %j3 : tensor<32x2xi8> to tensor<32x2xf16>
  return %f0, %f1, %f2, %f3 : tensor<32x2xf16>, tensor<32x2xf16>, tensor<32x2xf16>, tensor<32x2xf16>
}

// Nor what is needed as integers besides, before it is reshaped or behind that, nor what has no sign.
// CHECK-LABEL: func.func @uses_that_differ
// CHECK: %[[X:.*]] = arith.addi %arg0, %{{.*}} : tensor<32xi8>
// CHECK: %[[Y:.*]] = arith.addi %arg1, %{{.*}} : tensor<32xi8>
// CHECK-COUNT-3: tile.join %[[X]], %[[Y]] : tensor<32xi8> -> tensor<32x2xi8>
// CHECK-NOT: arith.addi
// CHECK: return
func.func @uses_that_differ(%x: tensor<32xi8>, %y: tensor<32xi8>)
    -> (tensor<32x2xi8>, tensor<64xi8>, tensor<64xf16>, tensor<64xf16>, tensor<32x2xf16>) {
  %c = arith.constant dense<8> : tensor<32xi8>
  %xc = arith.addi %x, %c : tensor<32xi8>
  %yc = arith.addi %y, %c : tensor<32xi8>
  %j0 = tile.join %xc, %yc : tensor<32xi8> -> tensor<32x2xi8>
  %r0 = tile.reshape %j0 : tensor<32x2xi8> -> tensor<64xi8>
  %f0 = arith.sitofp %r0 : tensor<64xi8> to tensor<64xf16>
  %j1 = tile.join %xc, %yc : tensor<32xi8> -> tensor<32x2xi8>
  %r1 = tile.reshape %j1 : tensor<32x2xi8> -> tensor<64xi8>
  %f1 = arith.sitofp %r1 : tensor<64xi8> to tensor<64xf16>
  %j2 = tile.join %xc, %yc : tensor<32xi8> -> tensor<32x2xi8>
  %f2 = arith.uitofp %j2 : tensor<32x2xi8> to tensor<32x2xf16>
  return %j0, %r1, %f0, %f1, %f2 : tensor<32x2xi8>, tensor<64xi8>, tensor<64xf16>, tensor<64xf16>, tensor<32x2xf16>
}
