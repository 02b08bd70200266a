//===- CtaAsync.td - shared buffers and asynchronous copies ---------------===//
//
// What a thread block does besides computing in registers: tiles in
// shared memory, copied there by the tensor memory accelerator (TMA), read by
// warpgroup matrix instructions, passed from a producing warp to consuming
// warps through rings guarded by mbarriers. PTX ISA 8.0, sections on
// cp.async.bulk.tensor, mbarrier, wgmma. And what older chips do as well:
// copies by the threads themselves, counted in groups (cp.async).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_CTAASYNC
#define TILE_IR_CTAASYNC

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Cta_Type<string name, string mnemonicName> : TypeDef<Cta_Dialect, name> {
  let mnemonic = mnemonicName;
}

def Cta_BufferType : Cta_Type<"Buffer", "buffer"> {
  let summary = "a block in shared memory";
  let description = [{
    A block of `shape` elements whose place in shared memory is given by a
    layout from `offset` (counted in elements from the buffer's start, which is
    aligned to 1024 bytes) to coordinates. The layout must be invertible.

    Constraints:
    - `buffer_c1`: the layout is invertible, from `offset` to the shape's
      dimensions
    ```mlir
    !cta.buffer<[64, 64], f16, #image>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "the block's sizes, in elements">:$shape,
    TypeParameter<"::mlir::Type", "what it is a block of">:$elementType,
    TypeParameter<"::tile::cta::LayoutAttr",
        "which element is at which offset, in elements from the start">:$layout);
  let assemblyFormat = "`<` `[` $shape `]` `,` $elementType `,` $layout `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumElements() const;
    int64_t getBytes() const;
    const ::tile::layout::LinearLayout &getLinearLayout() const { return getLayout().getLayout(); }
  }];
}

def Cta_RingType : Cta_Type<"Ring", "ring"> {
  let summary = "slots of buffers handed from a producer to consumers";
  let description = [{
    Each slot has room for one buffer of each listed type, and holds these or others that
    take no more of it. It has two mbarriers:
    *full* (the copies into it have landed) and *empty* (all consumer warps are
    done with it). Producer and consumers each keep a cursor: the slot that is
    next and the parity of its current round.

    Constraints:
    - `ring_type_c1`: a slot has one buffer at least, and nothing but buffers
    ```mlir
    !cta.ring<!tile, !number>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::Type",
        "the types of a slot's buffers, in their order in shared memory">:$buffers);
  let assemblyFormat = "`<` $buffers `>`";
  let genVerifyDecl = 1;
}

def Cta_TensorMapType : Cta_Type<"TensorMap", "tensor_map"> {
  let summary = "a TMA descriptor of a strided array in global memory";
  let description = [{
    A kernel parameter of this type is a `CUtensorMap` made by the launcher from
    the parameter's `cta.tensor_map` attribute (#cta.map).
    ```mlir
    !cta.tensor_map
    ```
  }];
}

/// Not by its own name: it prints whole.
def Cta_Pointer : AnyTypeOf<[Tile_PtrType], "pointer", "::mlir::Type">;

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

def Cta_SumAttr : AttrDef<Cta_Dialect, "Sum"> {
  let mnemonic = "sum";
  let summary = "an integer polynomial in kernel parameters";
  let description = [{
    Each term is `[coefficient, parameter, parameter, ...]`: the sum over the
    terms of coefficient times the values of those parameters of the kernel.

    Constraints:
    - `sum_c1`: a term has a coefficient, and no parameter below 0
    ```mlir
    #cta.sum<[[2, 3], [16]]>   // 2 * parameter 3 + 16
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::DenseI64ArrayAttr",
        "of each term the coefficient, then the numbers of parameters, counted from 0">:$terms);
  let assemblyFormat = "`<` `[` $terms `]` `>`";
  let genVerifyDecl = 1;
}

def Cta_SplitAttr : AttrDef<Cta_Dialect, "Split"> {
  let mnemonic = "split";
  let summary = "an axis of the grid that launches make two of";
  let description = [{
    A launch of g programs along `axis` starts n along it and g / n along `to`, where one was asked
    for; n is `size` divided by `divisor`, rounded down. The kernel is good only for launches where n
    is positive and divides g.
    ```mlir
    #cta.split<axis = 0, to = 1, size = #cta.sum<[[1, 2], [63]]>, divisor = 64>
    ```
  }];
  let parameters = (ins
    TypeParameter<"int32_t", "the axis of the grid, from 0">:$axis,
    TypeParameter<"int32_t", "the other one">:$to,
    TypeParameter<"::tile::cta::SumAttr", "what is divided to give the programs along `axis`">:$size,
    TypeParameter<"int64_t", "and by what; positive">:$divisor);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cta_MapAttr : AttrDef<Cta_Dialect, "Map"> {
  let mnemonic = "map";
  let summary = "how to make a tensor map from the arguments of a launch";
  let description = [{
    `base` is the pointer parameter that the array starts at. Dimension 0 is the
    contiguous one. `sizes` has an entry for each dimension, `strides` (in
    elements) one for each but the first, `box` the elements that one copy
    moves. `swizzle` is the span in bytes of the XOR pattern in shared memory:
    128, 64, 32, or 0 for none. Elements outside read as zero. The map is good only
    for launches where no sum of `notNegative` is below zero.

    Constraints:
    - `map_c1`: there are one to five sizes, as many entries of `box`, and one
      stride less
    - `map_c2`: an entry of `box` is from 1 to 256
    - `map_c3`: `swizzle` is 0, 32, 64 or 128, and the box is not wider
    - `map_c4`: `base` is not below 0
    ```mlir
    #cta.map<base = 0, f16, sizes = [#cta.sum<[[1, 2]]>, #cta.sum<[[1, 1]]>],
             strides = [#cta.sum<[[1, 3]]>], box = [64, 64], swizzle = 128>
    ```
  }];
  let parameters = (ins
    TypeParameter<"int64_t", "the number of the kernel's pointer parameter, from 0">:$base,
    TypeParameter<"::mlir::Type", "what the array's elements are">:$elementType,
    ArrayRefParameter<"::tile::cta::SumAttr",
        "for each dimension the array's size, in elements">:$sizes,
    OptionalArrayRefParameter<"::tile::cta::SumAttr",
        "for each dimension but the first the distance of neighbours, in elements">:$strides,
    ArrayRefParameter<"int64_t", "for each dimension what one copy moves, in elements">:$box,
    TypeParameter<"int64_t",
        "the span of the XOR pattern in shared memory, in bytes; 0: none">:$swizzle,
    OptionalArrayRefParameter<"::tile::cta::SumAttr",
        "what must not be negative for the map to be of use">:$notNegative);
  let genVerifyDecl = 1;
  let assemblyFormat = [{
    `<` `base` `=` $base `,` $elementType `,` `sizes` `=` `[` $sizes `]` `,`
    `strides` `=` `[` (`]`) : ($strides^ `]`)? `,` `box` `=` `[` $box `]` `,`
    `swizzle` `=` $swizzle (`,` `not_negative` `=` `[` $notNegative^ `]`)? `>`
  }];
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

class Cta_CopyOp<string mnemonic, list<Trait> traits = []> : Cta_Op<mnemonic, traits> {
  code mapDoc = [{
    The block's element 0 is at coordinates `starts` (dimension 0 of the map
    first); dimension `i` of the map runs along dimension `dims[i]` of the
    block, or is a single coordinate where `dims[i]` is -1.
  }];
}

def Cta_TmaLoadOp : Cta_CopyOp<"tma_load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "a block of global memory as a buffer in shared memory";
  let description = [{
    The value of a tile of the array that `map` describes, zero outside it. The
    role pass turns it into a copy by a producer and a wait by its consumers.
    Where `common` is true, all thread blocks of the cluster load this block in the
    same iteration of the same loops.
    }] # mapDoc # [{

    Constraints:
    }] # tmaRules # [{
    ```mlir
    %a = cta.tma_load %map[%k, %m] dims [1, 0] : !tile
    %b = cta.tma_load %map[%k, %m] dims [1, 0] common %same : !tile
    ```
  }];
  let arguments = (ins
    Arg<Cta_TensorMapType, "a kernel parameter, or one that is chosen of several: the array to copy from">:$map,
    Arg<Variadic<I32>,
        "for each dimension of the map the block's first coordinate, in elements">:$starts,
    Arg<DenseI32ArrayAttr,
        "for each dimension of the map the block's dimension along it, or -1">:$dims,
    Arg<Optional<I1>,
        "whether the whole cluster loads this block; the same for all threads; absent: "
        "false">:$common);
  let results = (outs
    Res<Cta_BufferType,
        "the block in shared memory, readable by all threads of the thread block">:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$map,
    "::mlir::ValueRange":$starts, "::llvm::ArrayRef<int32_t>":$dims), [{
    build($_builder, $_state, result, map, starts, dims, ::mlir::Value());
  }]>];
  let assemblyFormat = "$map `[` $starts `]` `dims` $dims (`common` $common^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Cta_TmaStoreOp : Cta_CopyOp<"tma_store", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "write a block to global memory by way of shared memory";
  let description = [{
    Stages the block in shared memory in `layout` and has one thread of each
    group of warps that share rows copy it to the array; elements outside the
    array are dropped. The copy ends by the end of the kernel, or, `ordered`, before
    the next ordered one begins.
    }] # mapDoc # [{

    Constraints:
    }] # tmaRules # [{
    - `tma_store_c1`: `layout` is invertible, from `offset` to the block's
      dimensions
    ```mlir
    cta.tma_store %x, %map[%n, %m] dims [1, 0] staged #image : tensor<64x64xf16>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "the block to write">:$value,
    Arg<Cta_TensorMapType, "a kernel parameter: the array to copy to">:$map,
    Arg<Variadic<I32>,
        "for each dimension of the map the block's first coordinate, in elements">:$starts,
    Arg<DenseI32ArrayAttr,
        "for each dimension of the map the block's dimension along it, or -1">:$dims,
    Arg<Cta_LayoutAttr,
        "how the block lies in shared memory on its way: from `offset`, in elements">:$layout,
    Arg<UnitAttr, "present: the copy has ended before the next ordered one begins">:$ordered);
  let assemblyFormat = "$value `,` $map `[` $starts `]` `dims` $dims `staged` $layout (`ordered` $ordered^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Cta_StageOp : Cta_Op<"stage", [Pure]> {
  let summary = "a block from registers as a buffer in shared memory";
  let description = [{
    For operands of matrix instructions that must be in shared memory. The
    buffer lives until its last user in the same block of operations.

    Constraints:
    - `stage_c1`: the buffer has the block's shape and element type
    ```mlir
    %s = cta.stage %x : tensor<64x64xf16> -> !tile
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "the block in registers">:$src);
  let results = (outs
    Res<Cta_BufferType,
        "the block in shared memory, readable by all threads of the thread block">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

include "ir/CtaRings.td"
include "ir/CtaSlots.td"

#endif // TILE_IR_CTAASYNC
