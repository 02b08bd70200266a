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
