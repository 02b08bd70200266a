//===- TileDescriptorOps.td - blocks of a tensor in memory, by coordinates -===//
//
// A tensor descriptor is a base pointer, a shape and strides. It is no value of
// its own: each op names the parts. Ops that name the same parts (the same SSA
// values, typically kernel arguments) address the same tensor, so a later pass
// may give them one hardware descriptor; elsewhere they become accesses through
// pointers and masks (`--tile-expand-descriptors`).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_TILEDESCRIPTOROPS
#define TILE_IR_TILEDESCRIPTOROPS

class Tile_DescriptorOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([AttrSizedOperandSegments], traits)> {
  /// What every op checks: as many sizes, strides and offsets as dimensions.
  let hasVerifier = 1;
}

def Tile_DescriptorLoadOp : Tile_DescriptorOp<"descriptor_load", [MemoryEffects<[MemRead]>]> {
  let summary = "read a block of a tensor in memory";
  let description = [{
    `result[i, j] = inside ? base[(offsets[0] + i) * strides[0] + (offsets[1] + j) * strides[1]] : pad`
    where `inside` means `0 <= offsets[d] + i_d < shape[d]` in every dimension.
    `padding` says what elements outside are. The base is 16-byte aligned, the
    last stride is 1 and the others are multiples of 16 bytes.
    ```mlir
    %v = tile.descriptor_load %p[%i, %j] of [%m, %n] by [%s, %one] : !tile.ptr<f16> -> tensor<64x32xf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I32>:$offsets, Variadic<I32>:$shape,
    Variadic<I64>:$strides, DefaultValuedAttr<Tile_Padding, "::tile::Padding::zero">:$padding);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = [{
    $base `[` $offsets `]` `of` `[` $shape `]` `by` `[` $strides `]` (`padding` `=` $padding^)?
    attr-dict `:` type($base) `->` type($result)
  }];
}

def Tile_DescriptorStoreOp : Tile_DescriptorOp<"descriptor_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a block of a tensor in memory";
  let description = [{
    The elements of `value` that lie inside of the tensor are written, as
    `tile.descriptor_load` reads them; the others are dropped.
    ```mlir
    tile.descriptor_store %p[%i, %j] of [%m, %n] by [%s, %one], %v : !tile.ptr<f16>, tensor<64x32xf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I32>:$offsets, Variadic<I32>:$shape,
    Variadic<I64>:$strides, Tile_Block:$value);
  let assemblyFormat = [{
    $base `[` $offsets `]` `of` `[` $shape `]` `by` `[` $strides `]` `,` $value
    attr-dict `:` type($base) `,` type($value)
  }];
}

def Tile_DescriptorReduceOp : Tile_DescriptorOp<"descriptor_reduce",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "combine a block into a tensor in memory";
  let description = [{
    As `tile.descriptor_store`, but each element is combined atomically with
    what memory holds; relaxed, in the scope of the GPU.
    ```mlir
    tile.descriptor_reduce fadd %p[%i, %j] of [%m, %n] by [%s, %one], %v : !tile.ptr<f16>, tensor<64x32xf16>
    ```
  }];
  let arguments = (ins Tile_AtomicKind:$kind, Tile_PtrType:$base, Variadic<I32>:$offsets,
    Variadic<I32>:$shape, Variadic<I64>:$strides, Tile_Block:$value);
  let assemblyFormat = [{
    $kind $base `[` $offsets `]` `of` `[` $shape `]` `by` `[` $strides `]` `,` $value
    attr-dict `:` type($base) `,` type($value)
  }];
}

def Tile_DescriptorGatherOp : Tile_DescriptorOp<"descriptor_gather", [MemoryEffects<[MemRead]>]> {
  let summary = "read parts of chosen rows of a tensor in memory";
  let description = [{
    `result[i, j] = base[rows[i] * strides[0] + (column + j) * strides[1]]`,
    zero outside of the tensor. Two dimensions only.
    ```mlir
    %v = tile.descriptor_gather %p[%rows, %j] of [%m, %n] by [%s, %one] : !tile.ptr<f16>, tensor<32xi32> -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, RankedTensorOf<[I32]>:$rows, I32:$column,
    Variadic<I32>:$shape, Variadic<I64>:$strides);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = [{
    $base `[` $rows `,` $column `]` `of` `[` $shape `]` `by` `[` $strides `]`
    attr-dict `:` type($base) `,` type($rows) `->` type($result)
  }];
}

def Tile_DescriptorScatterOp : Tile_DescriptorOp<"descriptor_scatter",
    [MemoryEffects<[MemWrite]>]> {
  let summary = "write parts of chosen rows of a tensor in memory";
  let description = [{
    The inverse of `tile.descriptor_gather`; elements outside are dropped.
    ```mlir
    tile.descriptor_scatter %p[%rows, %j] of [%m, %n] by [%s, %one], %v : !tile.ptr<f16>, tensor<32xi32>, tensor<32x64xf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, RankedTensorOf<[I32]>:$rows, I32:$column,
    Variadic<I32>:$shape, Variadic<I64>:$strides, Tile_Block:$value);
  let assemblyFormat = [{
    $base `[` $rows `,` $column `]` `of` `[` $shape `]` `by` `[` $strides `]` `,` $value
    attr-dict `:` type($base) `,` type($rows) `,` type($value)
  }];
}

#endif // TILE_IR_TILEDESCRIPTOROPS
