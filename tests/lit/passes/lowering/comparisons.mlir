// RUN: tile-opt %s --tile-lower-to-llvm | FileCheck %s
#rows = #cta.layout<{register = [[32], [64]], lane = [[1], [2], [4], [8], [16]], warp = []} : [128]>
module attributes {tile.kernel = #tile.kernel<warps = 1>} {

// Four positions of a thread are compared with an end by one difference.
// CHECK-LABEL: llvm.func{{.*}} @positions
// CHECK: %[[END:.*]] = llvm.intr.smax(%arg1, %{{.*}})
// CHECK: %[[LEFT:.*]] = llvm.sub %[[END]], %{{.*}} overflow<nsw> : i32
// CHECK: llvm.icmp "slt" %{{.*}}, %[[LEFT]] : i32
// CHECK: llvm.icmp "slt" %{{.*}}, %[[LEFT]] : i32
// CHECK: llvm.icmp "slt" %{{.*}}, %[[LEFT]] : i32
// CHECK: llvm.icmp "slt" %{{.*}}, %[[LEFT]] : i32
// CHECK-NOT: llvm.icmp "slt"
func.func @positions(%p: !tile.ptr<i8>, %n: i32) {
  %c128 = arith.constant 128 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %c128 : i32
  %first = tile.splat %start : i32 -> tensor<128xi32, #rows>
  %range = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %at = arith.addi %first, %range : tensor<128xi32, #rows>
  %end = tile.splat %n : i32 -> tensor<128xi32, #rows>
  %mask = arith.cmpi slt, %at, %end : tensor<128xi32, #rows>
  %x = arith.constant dense<1> : tensor<128xi8, #rows>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #rows>
  %pp = tile.addptr %ps, %range : tensor<128x!tile.ptr<i8>, #rows>, tensor<128xi32, #rows>
  tile.store %pp, %x, %mask : tensor<128x!tile.ptr<i8>, #rows>
  return
}

// In 64 bits the difference is cut to 32. The end stands on the left.
// CHECK-LABEL: llvm.func{{.*}} @wide
// CHECK: %[[WIDE:.*]] = llvm.sub %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK: llvm.intr.smax(%[[WIDE]]
// CHECK: llvm.intr.smin
// CHECK: %[[LEFT:.*]] = llvm.trunc %{{.*}} : i64 to i32
// CHECK-COUNT-4: llvm.icmp "slt" %{{.*}}, %[[LEFT]] : i32
func.func @wide(%p: !tile.ptr<i8>, %n: i64) {
  %range = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %at = arith.extsi %range : tensor<128xi32, #rows> to tensor<128xi64, #rows>
  %end = tile.splat %n : i64 -> tensor<128xi64, #rows>
  %mask = arith.cmpi sgt, %end, %at : tensor<128xi64, #rows>
  %x = arith.constant dense<1> : tensor<128xi8, #rows>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #rows>
  %pp = tile.addptr %ps, %range : tensor<128x!tile.ptr<i8>, #rows>, tensor<128xi32, #rows>
  tile.store %pp, %x, %mask : tensor<128x!tile.ptr<i8>, #rows>
  return
}

// Which element is at a place: one difference, whatever wraps around.
// CHECK-LABEL: llvm.func{{.*}} @place
// CHECK: %[[LEFT:.*]] = llvm.sub %arg1, %{{.*}} : i32
// CHECK-COUNT-4: llvm.icmp "eq" %{{.*}}, %[[LEFT]] : i32
// CHECK-NOT: llvm.icmp "eq"
func.func @place(%p: !tile.ptr<i8>, %n: i32, %start: i32) {
  %first = tile.splat %start : i32 -> tensor<128xi32, #rows>
  %range = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %at = arith.addi %first, %range : tensor<128xi32, #rows>
  %end = tile.splat %n : i32 -> tensor<128xi32, #rows>
  %mask = arith.cmpi eq, %at, %end : tensor<128xi32, #rows>
  %x = arith.constant dense<1> : tensor<128xi8, #rows>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #rows>
  %pp = tile.addptr %ps, %range : tensor<128x!tile.ptr<i8>, #rows>, tensor<128xi32, #rows>
  tile.store %pp, %x, %mask : tensor<128x!tile.ptr<i8>, #rows>
  return
}

// A place that no number of 32 bits leads to is none of theirs.
// CHECK-LABEL: llvm.func{{.*}} @far_place
// CHECK: %[[WIDE:.*]] = llvm.sub %arg1, %{{.*}} : i64
// CHECK: %[[LOW:.*]] = llvm.trunc %[[WIDE]] : i64 to i32
// CHECK: %[[BACK:.*]] = llvm.sext %[[LOW]] : i32 to i64
// CHECK: %[[FITS:.*]] = llvm.icmp "eq" %[[BACK]], %[[WIDE]] : i64
// CHECK: %[[LEFT:.*]] = llvm.select %[[FITS]], %[[LOW]], %{{.*}} : i1, i32
// CHECK-COUNT-4: llvm.icmp "ne" %{{.*}}, %[[LEFT]] : i32
func.func @far_place(%p: !tile.ptr<i8>, %n: i64) {
  %pid = tile.program_id 0 : i32
  %first = tile.splat %pid : i32 -> tensor<128xi32, #rows>
  %range = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %here = arith.addi %first, %range : tensor<128xi32, #rows>
  %at = arith.extsi %here : tensor<128xi32, #rows> to tensor<128xi64, #rows>
  %end = tile.splat %n : i64 -> tensor<128xi64, #rows>
  %mask = arith.cmpi ne, %end, %at : tensor<128xi64, #rows>
  %x = arith.constant dense<1> : tensor<128xi8, #rows>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #rows>
  %pp = tile.addptr %ps, %range : tensor<128x!tile.ptr<i8>, #rows>, tensor<128xi32, #rows>
  tile.store %pp, %x, %mask : tensor<128x!tile.ptr<i8>, #rows>
  return
}

// Who subtracts may be below zero, where a difference could wrap around.
// CHECK-LABEL: llvm.func{{.*}} @subtracted
// CHECK-NOT: overflow<nsw>
// CHECK: llvm.return
func.func @subtracted(%p: !tile.ptr<i8>, %n: i32) {
  %range = tile.make_range 0 to 128 : tensor<128xi32, #rows>
  %end = tile.splat %n : i32 -> tensor<128xi32, #rows>
  %at = arith.subi %range, %end : tensor<128xi32, #rows>
  %mask = arith.cmpi slt, %at, %end : tensor<128xi32, #rows>
  %x = arith.constant dense<1> : tensor<128xi8, #rows>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<128x!tile.ptr<i8>, #rows>
  %pp = tile.addptr %ps, %range : tensor<128x!tile.ptr<i8>, #rows>, tensor<128xi32, #rows>
  tile.store %pp, %x, %mask : tensor<128x!tile.ptr<i8>, #rows>
  return
}
}
