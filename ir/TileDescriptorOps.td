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
  let hasVerifier = 1;
  /// Constraints that several operations have in common.
  code descriptorRules = [{
    - `descriptor_c1`: there is an offset, a size and a stride for each
      dimension of the block
    - `descriptor_c2`: the block's elements are of the pointee type
    - `descriptor_c3`: the pointee is not i1
  }];
  code rowsRules = [{
    - `descriptor_rows_c1`: the block has two dimensions and a row for each
      index
  }];
}

def Tile_DescriptorLoadOp : Tile_DescriptorOp<"descriptor_load", [MemoryEffects<[MemRead]>]> {
  let summary = "read a block of a tensor in memory";
  let description = [{
    `result[i, j] = inside ? base[(offsets[0] + i) * strides[0] + (offsets[1] + j) * strides[1]] : pad`
    where `inside` means `0 <= offsets[d] + i_d < shape[d]` in every dimension.
    `padding` says what elements outside are. The base is 16-byte aligned, the
    last stride is 1 and the others are multiples of 16 bytes.

    Constraints:
    }] # descriptorRules # [{
    - `descriptor_load_c1`: only floats are padded with NaN
    ```mlir
    %v = tile.descriptor_load %p[%i, %j] of [%m, %n] by [%s, %one] : !tile.ptr<f16> -> tensor<64x32xf16>
    ```
  }];
  let arguments = (ins
    Arg<Tile_PtrType, "the tensor's element 0, aligned to 16 bytes">:$base,
    Arg<Variadic<I32>,
        "for each dimension the block's first coordinate, in elements; signed">:$offsets,
    Arg<Variadic<I32>, "for each dimension the tensor's size, in elements">:$shape,
    Arg<Variadic<I64>, "for each dimension the distance of neighbours, in elements">:$strides,
    Arg<DefaultValuedAttr<Tile_Padding, "::tile::Padding::zero">,
        "what elements outside of the tensor read as">:$padding);
  let results = (outs
    Res<Tile_Block, "a block of the pointee type with the tensor's rank">:$result);
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

    Constraints:
    }] # descriptorRules # [{
    ```mlir
    tile.descriptor_store %p[%i, %j] of [%m, %n] by [%s, %one], %v : !tile.ptr<f16>, tensor<64x32xf16>
    ```
  }];
  let arguments = (ins
    Arg<Tile_PtrType, "the tensor's element 0, aligned to 16 bytes">:$base,
    Arg<Variadic<I32>,
        "for each dimension the block's first coordinate, in elements; signed">:$offsets,
    Arg<Variadic<I32>, "for each dimension the tensor's size, in elements">:$shape,
    Arg<Variadic<I64>, "for each dimension the distance of neighbours, in elements">:$strides,
    Arg<Tile_Block, "a block of the pointee type with the tensor's rank">:$value);
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

    Constraints:
    }] # descriptorRules # [{
    ```mlir
    tile.descriptor_reduce fadd %p[%i, %j] of [%m, %n] by [%s, %one], %v : !tile.ptr<f16>, tensor<64x32xf16>
    ```
  }];
  let arguments = (ins
    Arg<Tile_AtomicKind, "how memory's value and the block's are combined">:$kind,
    Arg<Tile_PtrType, "the tensor's element 0, aligned to 16 bytes">:$base,
    Arg<Variadic<I32>,
        "for each dimension the block's first coordinate, in elements; signed">:$offsets,
    Arg<Variadic<I32>, "for each dimension the tensor's size, in elements">:$shape,
    Arg<Variadic<I64>, "for each dimension the distance of neighbours, in elements">:$strides,
    Arg<Tile_Block, "a block of the pointee type with the tensor's rank">:$value);
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

    Constraints:
    }] # descriptorRules # rowsRules # [{
    ```mlir
    %v = tile.descriptor_gather %p[%rows, %j] of [%m, %n] by [%s, %one] : !tile.ptr<f16>, tensor<32xi32> -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins
    Arg<Tile_PtrType, "the tensor's element 0, aligned to 16 bytes">:$base,
    Arg<RankedTensorOf<[I32]>,
        "for each row of the result its coordinate in dimension 0; signed">:$rows,
    Arg<I32, "the first coordinate in dimension 1, in elements">:$column,
    Arg<Variadic<I32>, "the tensor's two sizes, in elements">:$shape,
    Arg<Variadic<I64>, "the distances of neighbours along both dimensions, in elements">:$strides);
  let results = (outs
    Res<Tile_Block, "a block of the pointee type: as many rows as `rows` has elements">:$result);
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

    Constraints:
    }] # descriptorRules # rowsRules # [{
    ```mlir
    tile.descriptor_scatter %p[%rows, %j] of [%m, %n] by [%s, %one], %v : !tile.ptr<f16>, tensor<32xi32>, tensor<32x64xf16>
    ```
  }];
  let arguments = (ins
    Arg<Tile_PtrType, "the tensor's element 0, aligned to 16 bytes">:$base,
    Arg<RankedTensorOf<[I32]>,
        "for each row of the block its coordinate in dimension 0; signed">:$rows,
    Arg<I32, "the first coordinate in dimension 1, in elements">:$column,
    Arg<Variadic<I32>, "the tensor's two sizes, in elements">:$shape,
    Arg<Variadic<I64>, "the distances of neighbours along both dimensions, in elements">:$strides,
    Arg<Tile_Block, "a block of the pointee type: as many rows as `rows` has elements">:$value);
  let assemblyFormat = [{
    $base `[` $rows `,` $column `]` `of` `[` $shape `]` `by` `[` $strides `]` `,` $value
    attr-dict `:` type($base) `,` type($rows) `,` type($value)
  }];
}

#endif // TILE_IR_TILEDESCRIPTOROPS
