// Long 16-bit rows stay packed across a reduction; short ones are left alone.
// RUN: tile-opt %s --tile-narrow-live-ranges | FileCheck %s

#long = #cta.layout<{register = [[1], [2], [4], [1024], [2048], [4096]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]} : [8192]>
#short = #cta.layout<{register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = [[256], [512]]} : [1024]>

// CHECK-LABEL: func.func @long_row
// CHECK: %[[H:.*]] = tile.load
// CHECK: %[[X:.*]] = arith.extf %[[H]]
// CHECK: %[[M:.*]] = tile.reduce %[[X]]
// CHECK: %[[P:.*]] = cta.pin %[[H]]
// CHECK: %[[Y:.*]] = arith.extf %[[P]]
// CHECK: arith.subf %[[Y]]
func.func @long_row(%p: tensor<8192x!tile.ptr<f16>, #long>, %o: tensor<8192x!tile.ptr<f32>, #long>) {
  %h = tile.load %p : tensor<8192x!tile.ptr<f16>, #long>
  %x = arith.extf %h : tensor<8192xf16, #long> to tensor<8192xf32, #long>
  %m = tile.reduce %x {axis = 0 : i32} : tensor<8192xf32, #long> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  %ms = tile.splat %m : f32 -> tensor<8192xf32, #long>
  %d = arith.subf %x, %ms : tensor<8192xf32, #long>
  tile.store %o, %d : tensor<8192x!tile.ptr<f32>, #long>
  return
}

// Nor is what the device library computes, by a dozen instructions and more: it stays as it is.
// CHECK-LABEL: func.func @capped_row
// CHECK-NOT: cta.pin
// CHECK: math.tanh
// CHECK-NOT: math.tanh
// CHECK: return
func.func @capped_row(%p: tensor<8192x!tile.ptr<f16>, #long>, %o: tensor<8192x!tile.ptr<f32>, #long>) {
  %h = tile.load %p : tensor<8192x!tile.ptr<f16>, #long>
  %x = arith.extf %h : tensor<8192xf16, #long> to tensor<8192xf32, #long>
  %t = math.tanh %x : tensor<8192xf32, #long>
  %m = tile.reduce %t {axis = 0 : i32} : tensor<8192xf32, #long> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  %ms = tile.splat %m : f32 -> tensor<8192xf32, #long>
  %d = arith.subf %t, %ms : tensor<8192xf32, #long>
  tile.store %o, %d : tensor<8192x!tile.ptr<f32>, #long>
  return
}

// CHECK-LABEL: func.func @short_row
// CHECK-NOT: cta.pin
// CHECK: return
func.func @short_row(%p: tensor<1024x!tile.ptr<f16>, #short>, %o: tensor<1024x!tile.ptr<f32>, #short>) {
  %h = tile.load %p : tensor<1024x!tile.ptr<f16>, #short>
  %x = arith.extf %h : tensor<1024xf16, #short> to tensor<1024xf32, #short>
  %m = tile.reduce %x {axis = 0 : i32} : tensor<1024xf32, #short> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  %ms = tile.splat %m : f32 -> tensor<1024xf32, #short>
  %d = arith.subf %x, %ms : tensor<1024xf32, #short>
  tile.store %o, %d : tensor<1024x!tile.ptr<f32>, #short>
  return
}

// Weights that a loop over rows multiplies by are widened in it, behind the
// reduction; those that no loop of reductions reads, where they are loaded.
// CHECK-LABEL: func.func @weights
// CHECK: %[[W:.*]] = tile.load
// CHECK: scf.for
// CHECK:   tile.reduce
// CHECK:   %[[P:.*]] = cta.pin %[[W]]
// CHECK:   %[[X:.*]] = arith.extf %[[P]]
// CHECK:   arith.mulf %{{.*}}, %[[X]]
// CHECK: scf.for
// CHECK-NOT: cta.pin
// CHECK: return
func.func @weights(%p: tensor<8192x!tile.ptr<f16>, #long>, %q: tensor<8192x!tile.ptr<f32>, #long>,
                   %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %w = tile.load %p : tensor<8192x!tile.ptr<f16>, #long>
  %x = arith.extf %w : tensor<8192xf16, #long> to tensor<8192xf32, #long>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = tile.load %q : tensor<8192x!tile.ptr<f32>, #long>
    %m = tile.reduce %v {axis = 0 : i32} : tensor<8192xf32, #long> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tile.yield %c : f32
    }
    %ms = tile.splat %m : f32 -> tensor<8192xf32, #long>
    %d = arith.mulf %ms, %x : tensor<8192xf32, #long>
    tile.store %q, %d : tensor<8192x!tile.ptr<f32>, #long>
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.store %q, %x : tensor<8192x!tile.ptr<f32>, #long>
  }
  return
}

// A row of which a computed mask leaves out numbers is kept: to compute it again, the
// mask would have to stay, a register for each of its bits.
// CHECK-LABEL: func.func @computed_mask
// CHECK-NOT: cta.pin
// CHECK: return
func.func @computed_mask(%p: tensor<8192x!tile.ptr<f16>, #long>, %q: tensor<8192x!tile.ptr<i8>, #long>,
                         %o: tensor<8192x!tile.ptr<f32>, #long>) {
  %zero = arith.constant dense<0> : tensor<8192xi8, #long>
  %none = arith.constant dense<0.0> : tensor<8192xf32, #long>
  %k = tile.load %q : tensor<8192x!tile.ptr<i8>, #long>
  %keep = arith.cmpi ne, %k, %zero : tensor<8192xi8, #long>
  %h = tile.load %p : tensor<8192x!tile.ptr<f16>, #long>
  %w = arith.extf %h : tensor<8192xf16, #long> to tensor<8192xf32, #long>
  %x = arith.select %keep, %w, %none : tensor<8192xi1, #long>, tensor<8192xf32, #long>
  %m = tile.reduce %x {axis = 0 : i32} : tensor<8192xf32, #long> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  %ms = tile.splat %m : f32 -> tensor<8192xf32, #long>
  %d = arith.subf %x, %ms : tensor<8192xf32, #long>
  tile.store %o, %d : tensor<8192x!tile.ptr<f32>, #long>
  return
}

// A mask that compares positions costs nothing to have again.
// CHECK-LABEL: func.func @mask_of_positions
// CHECK: tile.reduce
// CHECK: %[[P:.*]] = cta.pin
// CHECK: arith.extf %[[P]]
// CHECK: arith.select
func.func @mask_of_positions(%p: tensor<8192x!tile.ptr<f16>, #long>, %n: i32,
                             %o: tensor<8192x!tile.ptr<f32>, #long>) {
  %none = arith.constant dense<0.0> : tensor<8192xf32, #long>
  %i = tile.make_range 0 to 8192 : tensor<8192xi32, #long>
  %ns = tile.splat %n : i32 -> tensor<8192xi32, #long>
  %keep = arith.cmpi slt, %i, %ns : tensor<8192xi32, #long>
  %h = tile.load %p : tensor<8192x!tile.ptr<f16>, #long>
  %w = arith.extf %h : tensor<8192xf16, #long> to tensor<8192xf32, #long>
  %x = arith.select %keep, %w, %none : tensor<8192xi1, #long>, tensor<8192xf32, #long>
  %m = tile.reduce %x {axis = 0 : i32} : tensor<8192xf32, #long> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tile.yield %c : f32
  }
  %ms = tile.splat %m : f32 -> tensor<8192xf32, #long>
  %d = arith.subf %x, %ms : tensor<8192xf32, #long>
  tile.store %o, %d : tensor<8192x!tile.ptr<f32>, #long>
  return
}
