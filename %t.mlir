module attributes {tile.dependent_launch, tile.fp_fusion = true, tile.kernel = #tile.kernel<>, tile.persistent, tile.target = #tile.target<sm_90a>} {
  func.func @scaled(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.sig_index = 0 : i64, tile.source_type = "*fp16"}, %arg1: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.sig_index = 1 : i64, tile.source_type = "*fp16"}, %arg2: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.sig_index = 2 : i64, tile.source_type = "*fp16"}, %arg3: i32 {tile.divisibility = 16 : i32, tile.sig_index = 3 : i64, tile.source_type = "i32"}, %arg4: i32 {tile.divisibility = 16 : i32, tile.sig_index = 4 : i64, tile.source_type = "i32"}, %arg5: f32 {tile.sig_index = 5 : i64, tile.source_type = "fp32"}) {
    %c64_i32 = arith.constant 64 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %c0_i32 = arith.constant 0 : i32
    %0 = tile.program_id 0 : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tile.make_range 0 to 64 : tensor<64xi32>
    %3 = tile.splat %1 : i32 -> tensor<64xi32>
    %4 = arith.addi %3, %2 : tensor<64xi32>
    %5 = tile.make_range 0 to 128 : tensor<128xi32>
    %6 = tile.expand_dims %4 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %7 = tile.splat %arg3 : i32 -> tensor<64x1xi32>
    %8 = arith.muli %6, %7 : tensor<64x1xi32>
    %9 = tile.splat %arg0 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %10 = tile.addptr %9, %8 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %11 = tile.broadcast %10 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %12 = tile.splat %arg4 : i32 -> tensor<64x1xi32>
    %13 = tile.splat %arg1 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %14 = tile.expand_dims %5 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %15 = tile.broadcast %14 : tensor<1x128xi32> -> tensor<64x128xi32>
    %16 = scf.for %arg6 = %c0_i32 to %arg3 step %c64_i32 iter_args(%arg7 = %cst) -> (tensor<64x128xf32>)  : i32 {
      %33 = tile.splat %arg6 : i32 -> tensor<64xi32>
      %34 = arith.addi %33, %2 : tensor<64xi32>
      %35 = tile.expand_dims %34 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %36 = tile.broadcast %35 : tensor<1x64xi32> -> tensor<64x64xi32>
      %37 = tile.addptr %11, %36 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %38 = tile.load %37 : tensor<64x64x!tile.ptr<f16>>
      %39 = tile.expand_dims %34 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %40 = arith.muli %39, %12 : tensor<64x1xi32>
      %41 = tile.addptr %13, %40 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
      %42 = tile.broadcast %41 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x128x!tile.ptr<f16>>
      %43 = tile.addptr %42, %15 : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
      %44 = tile.load %43 : tensor<64x128x!tile.ptr<f16>>
      %45 = tile.dot %38, %44, %arg7 : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
      scf.yield %45 : tensor<64x128xf32>
    }
    %17 = tile.expand_dims %4 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %18 = tile.splat %arg4 : i32 -> tensor<64x1xi32>
    %19 = arith.muli %17, %18 : tensor<64x1xi32>
    %20 = tile.splat %arg2 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %21 = tile.addptr %20, %19 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %22 = tile.expand_dims %5 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %23 = tile.broadcast %21 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x128x!tile.ptr<f16>>
    %24 = tile.broadcast %22 : tensor<1x128xi32> -> tensor<64x128xi32>
    %25 = tile.addptr %23, %24 : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    %26 = arith.truncf %16 : tensor<64x128xf32> to tensor<64x128xf16>
    %27 = tile.load %25 : tensor<64x128x!tile.ptr<f16>>
    %28 = arith.extf %27 : tensor<64x128xf16> to tensor<64x128xf32>
    %29 = tile.splat %arg5 : f32 -> tensor<64x128xf32>
    %30 = arith.mulf %29, %28 : tensor<64x128xf32>
    %31 = arith.truncf %30 : tensor<64x128xf32> to tensor<64x128xf16>
    %32 = arith.addf %26, %31 : tensor<64x128xf16>
    tile.store %25, %32 : tensor<64x128x!tile.ptr<f16>>
    return
  }
}

