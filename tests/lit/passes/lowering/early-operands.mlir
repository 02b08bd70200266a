// A kernel that may start before the grid before it has ended begins the slots of its ring before it
// waits: with the operand that was there before (`tile.early`). Behind the wait the same thread
// fills them. Who comes next is announced behind the loop over products.
// RUN: tile-opt %s --tile-to-cta --tile-lower-to-llvm | FileCheck %s
// RUN: sed 's/, tile.early//' %s | tile-opt --tile-to-cta --tile-lower-to-llvm | FileCheck %s --check-prefix=LATE

// CHECK-LABEL: llvm.func @product(
// CHECK: nvvm.griddepcontrol wait
// CHECK-NOT: nvvm.griddepcontrol
// CHECK-NOT: try_wait
// CHECK: @$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 16384;
// CHECK: cp.async.bulk.tensor.2d.shared::cluster
// CHECK-NOT: cp.async.bulk.tensor.2d.shared::cluster
// CHECK: try_wait
// CHECK: @$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 16384;
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster
// CHECK: wgmma.mma_async
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK-NOT: nvvm.griddepcontrol

// LATE-LABEL: llvm.func @product(
// LATE: nvvm.griddepcontrol wait
// LATE: try_wait
// LATE: mbarrier.arrive.expect_tx
// LATE-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster
module attributes {tile.dependent_launch, tile.announces, tile.kernel = #tile.kernel<>, tile.target = #tile.target<sm_90a>} {
  func.func @product(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                     %arg1: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.early},
                     %arg2: !tile.ptr<f16> {tile.divisibility = 16 : i32},
                     %arg3: i32 {tile.divisibility = 16 : i32}, %arg4: i32 {tile.divisibility = 16 : i32}) {
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c0_i32 = arith.constant 0 : i32
    %0 = tile.program_id 0 : i32
    %1 = tile.make_range 0 to 64 : tensor<64xi32>
    %2 = arith.muli %0, %c64_i32 : i32
    %3 = tile.splat %2 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %1 : tensor<64xi32>
    %5 = tile.expand_dims %1 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %6 = tile.splat %arg4 : i32 -> tensor<64x1xi32>
    %7 = arith.muli %5, %6 : tensor<64x1xi32>
    %8 = tile.splat %arg0 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %9 = tile.addptr %8, %7 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %10 = tile.broadcast %9 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %11 = tile.splat %arg3 : i32 -> tensor<64x1xi32>
    %12 = tile.splat %arg1 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %13 = tile.expand_dims %4 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %14 = tile.broadcast %13 : tensor<1x64xi32> -> tensor<64x64xi32>
    %15 = scf.for %arg5 = %c0_i32 to %arg4 step %c64_i32 iter_args(%arg6 = %cst) -> (tensor<64x64xf32>)  : i32 {
      %26 = tile.splat %arg5 : i32 -> tensor<64xi32>
      %27 = arith.addi %26, %1 : tensor<64xi32>
      %28 = tile.expand_dims %27 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %29 = tile.broadcast %28 : tensor<1x64xi32> -> tensor<64x64xi32>
      %30 = tile.addptr %10, %29 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %31 = tile.load %30 : tensor<64x64x!tile.ptr<f16>>
      %32 = tile.expand_dims %27 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %33 = arith.muli %32, %11 : tensor<64x1xi32>
      %34 = tile.addptr %12, %33 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
      %35 = tile.broadcast %34 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
      %36 = tile.addptr %35, %14 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %37 = tile.load %36 : tensor<64x64x!tile.ptr<f16>>
      %38 = tile.dot %31, %37, %arg6 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %38 : tensor<64x64xf32>
    }
    %16 = tile.expand_dims %1 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %17 = tile.splat %arg3 : i32 -> tensor<64x1xi32>
    %18 = arith.muli %16, %17 : tensor<64x1xi32>
    %19 = tile.splat %arg2 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %20 = tile.addptr %19, %18 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %21 = tile.expand_dims %4 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %22 = tile.broadcast %20 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %23 = tile.broadcast %21 : tensor<1x64xi32> -> tensor<64x64xi32>
    %24 = tile.addptr %22, %23 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %25 = arith.truncf %15 : tensor<64x64xf32> to tensor<64x64xf16>
    tile.store %24, %25 : tensor<64x64x!tile.ptr<f16>>
    return
  }
}
