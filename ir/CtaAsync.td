//===- CtaAsync.td - shared buffers, asynchronous copies, warp roles ------===//
//
// What a Hopper thread block does besides computing in registers: tiles in
// shared memory, copied there by the tensor memory accelerator (TMA), read by
// warpgroup matrix instructions, passed from a producing warp to consuming
// warps through rings guarded by mbarriers. PTX ISA 8.0, sections on
// cp.async.bulk.tensor, mbarrier, wgmma. And what every chip since Ampere does:
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
    Arg<Cta_TensorMapType, "a kernel parameter: the array to copy from">:$map,
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

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

def Cta_RingOp : Cta_Op<"ring", [MemoryEffects<[MemWrite]>]> {
  let summary = "make a ring with all its slots empty";
  let description = [{
    `stages` is the number of slots wanted; the memory pass lowers it where
    shared memory does not suffice, and, `elastic`, where whole blocks could not be
    staged for stores beside the slots. `consumers` is the number of warps that
    release a slot. The rings of `cluster` thread blocks move together: a slot is
    empty when the warps of all of them have released it.

    Constraints:
    - `ring_c1`: only operations on rings and turns use a ring, and they use
      what `cta.ring` gave
    - `ring_c2`: a producer acquires a slot, copies to its buffers and commits
      it, in this order in one block of operations
    - `ring_c3`: each buffer of the slot gets one `cta.ring_copy` or
      `cta.ring_element_copy`, or at least one `cta.ring_bulk_copy`, each at an
      offset of its own
    - `ring_c4`: behind a wait, in the same block of operations and before the
      next wait, consumers go on to the next slot, once
    - `ring_c5`: releases have a condition and stand beside `cta.ring_advance`,
      or neither
    - `ring_c6`: what a wait gave is not used behind the release without
      condition of its slot, nor by a product that is still in flight there
    - `ring_c7`: producers stand in `cta.single` or in the producer of
      `cta.roles`, consumers do not
    - `ring_c8`: a ring that is filled is read, and one that is read is filled
    - `ring_c9`: a loop of `cta.single` acquires at most as many slots as there
      are
    ```mlir
    %r = cta.ring {stages = 3 : i32, consumers = 8 : i32} : !ring
    ```
  }];
  let arguments = (ins
    Arg<ConfinedAttr<I32Attr, [IntPositive]>, "slots in the ring">:$stages,
    Arg<ConfinedAttr<I32Attr, [IntPositive]>,
        "warps of one thread block that release each slot">:$consumers,
    Arg<DefaultValuedAttr<ConfinedAttr<I32Attr, [IntPositive, IntMaxValue<16>]>, "1">,
        "thread blocks whose rings move together; 1: only this one">:$cluster,
    Arg<UnitAttr, "present: `stages` is the most that may be of use, fewer do">:$elastic);
  let results = (outs
    Res<Cta_RingType, "the ring, for ring operations of the same kernel alone">:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class Cta_RingStepOp<string mnemonic> : Cta_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins Arg<Cta_RingType, "the ring that moves on">:$ring);
}

def Cta_RingAcquireOp : Cta_RingStepOp<"ring_acquire"> {
  let summary = "producer: wait until the next slot is empty, announce its copies";
  let description = [{
    Returns the slot's buffers. Run by one thread. The copies bring `bytes`, or
    the whole slot.

    Constraints:
    }] # slotRules # [{
    ```mlir
    %a, %b = cta.ring_acquire %r : !ring -> !tile, !tile
    %c, %d = cta.ring_acquire %s for %bytes : !ring -> !tile, !tile
    ```
  }];
  let arguments = (ins
    Arg<Cta_RingType, "the ring whose next slot to fill is taken">:$ring,
    Arg<Optional<I32>,
        "what the copies will bring, in bytes; absent: all of the slot's buffers">:$bytes);
  let results = (outs
    Res<Variadic<Cta_BufferType>,
        "the slot's buffers, the producer's until `cta.ring_commit`">:$buffers);
  let assemblyFormat = "$ring (`for` $bytes^)? attr-dict `:` type($ring) `->` type($buffers)";
  let hasVerifier = 1;
}

def Cta_RingCopyOp : Cta_CopyOp<"ring_copy", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: start a copy into the acquired slot";
  let description = [{
    Where `common` is true, each thread block of the ring's cluster copies a part of
    it to the slots of all.
    }] # mapDoc # [{

    Constraints:
    }] # tmaRules # ringCopyRules # [{
    ```mlir
    cta.ring_copy %map[%k, %m] dims [1, 0] to %a of %r : !tile, !ring
    ```
  }];
  let arguments = (ins
    Arg<Cta_TensorMapType, "a kernel parameter: the array to copy from">:$map,
    Arg<Variadic<I32>,
        "for each dimension of the map the block's first coordinate, in elements">:$starts,
    Arg<DenseI32ArrayAttr,
        "for each dimension of the map the buffer's dimension along it, or -1">:$dims,
    Arg<Cta_BufferType, "a buffer of the acquired slot">:$buffer,
    Arg<Cta_RingType, "the ring of the slot">:$ring,
    Arg<Optional<I1>,
        "whether the whole cluster copies this block; the same in all its blocks; "
        "absent: false">:$common);
  let assemblyFormat = [{
    $map `[` $starts `]` `dims` $dims `to` $buffer `of` $ring (`common` $common^)? attr-dict
    `:` type($buffer) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def Cta_RingBulkCopyOp : Cta_Op<"ring_bulk_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: start copying consecutive bytes into the acquired slot";
  let description = [{
    `bytes` (a multiple of 16; nothing happens if it is 0) from `ptr` (aligned to
    16 bytes) to the buffer, `offset` bytes behind its start. Requires sm_90.

    Constraints:
    }] # ringCopyRules # [{
    - `ring_bulk_copy_c1`: the pointee is the buffer's element type
    - `ring_bulk_copy_c2`: `offset` is a multiple of 16 bytes inside of the
      buffer
    - `ring_bulk_copy_c3`: `bytes`, where it is a constant, is a multiple of 16,
      not negative, and ends inside of the buffer
    ```mlir
    cta.ring_bulk_copy %row, %bytes to %a at 128 of %r : !tile.ptr<f16>, !tile, !ring
    ```
  }];
  let arguments = (ins
    Arg<Cta_Pointer, "the first element in global memory, aligned to 16 bytes">:$ptr,
    Arg<I32, "how much to copy, in bytes: a multiple of 16, or 0 for nothing">:$bytes,
    Arg<Cta_BufferType, "a buffer of the acquired slot">:$buffer,
    Arg<ConfinedAttr<I32Attr, [IntNonNegative]>,
        "where in the buffer, in bytes from its start: a multiple of 16">:$offset,
    Arg<Cta_RingType, "the ring of the slot">:$ring);
  let assemblyFormat = [{
    $ptr `,` $bytes `to` $buffer `at` $offset `of` $ring attr-dict
    `:` type($ptr) `,` type($buffer) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def Cta_RingElementCopyOp : Cta_Op<"ring_element_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: start copying one number into the acquired slot";
  let description = [{
    Of 4 or 8 bytes, from any address that is aligned to its size, to a buffer of one
    element.

    Constraints:
    }] # ringCopyRules # [{
    - `ring_element_copy_c1`: the pointee is the buffer's element type
    - `ring_element_copy_c2`: the buffer has one element, of 4 or 8 bytes
    ```mlir
    cta.ring_element_copy %scale to %s of %r : !tile.ptr<f32>, !number, !cta.ring<!tile, !number>
    ```
  }];
  let arguments = (ins
    Arg<Cta_Pointer, "the number in global memory, aligned to its size">:$ptr,
    Arg<Cta_BufferType, "a buffer of one element in the acquired slot">:$buffer,
    Arg<Cta_RingType, "the ring of the slot">:$ring);
  let assemblyFormat = [{
    $ptr `to` $buffer `of` $ring attr-dict `:` type($ptr) `,` type($buffer) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def Cta_RingFillOp : Cta_Op<"ring_fill", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "write a block to one buffer of every slot of an empty ring";
  let description = [{
    What copies do not overwrite stays there. Also a barrier, before and after.

    Constraints:
    - `ring_fill_c1`: the ring has that buffer
    - `ring_fill_c2`: the block has the buffer's shape and element type
    ```mlir
    cta.ring_fill %x to 0 of %r : tensor<64x64xf16>, !ring
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "what every slot's buffer holds afterwards">:$value,
    Arg<ConfinedAttr<I32Attr, [IntNonNegative]>,
        "which of the ring's buffers, counted from 0">:$buffer,
    Arg<Cta_RingType, "a ring all of whose slots are empty">:$ring);
  let assemblyFormat = "$value `to` $buffer `of` $ring attr-dict `:` type($value) `,` type($ring)";
  let hasVerifier = 1;
}

def Cta_RingCommitOp : Cta_RingStepOp<"ring_commit"> {
  let summary = "producer: on to the next slot";
  let description = [{
    The slot is full once the copies that were started since `cta.ring_acquire` have
    landed.
    ```mlir
    cta.ring_commit %r : !ring
    ```
  }];
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Cta_RingWaitOp : Cta_RingStepOp<"ring_wait"> {
  let summary = "consumers: wait until the next slot is full";
  let description = [{
    Returns the slot's buffers; the cursor stays until `cta.ring_release`.

    Constraints:
    }] # slotRules # [{
    ```mlir
    %a, %b = cta.ring_wait %r : !ring -> !tile, !tile
    ```
  }];
  let results = (outs
    Res<Variadic<Cta_BufferType>,
        "the slot's buffers, the consumers' until it is given back">:$buffers);
  let assemblyFormat = "$ring attr-dict `:` type($ring) `->` type($buffers)";
  let hasVerifier = 1;
}

def Cta_RingReleaseOp : Cta_RingStepOp<"ring_release"> {
  let summary = "consumers: the oldest slot not yet given back may be filled again";
  let description = [{
    Without a condition, on to the next slot as well. One thread of each warp
    gives back what the warp has read. With one (the same for all
    threads) only the release happens, and only if it is true: for consumers that
    give slots back later than they go on with `cta.ring_advance`. A ring has
    releases of one kind only.
    ```mlir
    cta.ring_release %r : !ring
    cta.ring_release %s when %later : !ring
    ```
  }];
  let arguments = (ins
    Arg<Cta_RingType, "the ring whose oldest slot not yet given back is given back">:$ring,
    Arg<Optional<I1>, "whether it is; the same for all threads; absent: always">:$condition);
  let assemblyFormat = "$ring (`when` $condition^)? attr-dict `:` type($ring)";
}

def Cta_RingAdvanceOp : Cta_RingStepOp<"ring_advance"> {
  let summary = "consumers: on to the next slot, keeping this one";
  let description = [{
    What `cta.ring_wait` gave may be used until a `cta.ring_release` has given it back.
    ```mlir
    cta.ring_advance %r : !ring
    ```
  }];
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

//===----------------------------------------------------------------------===//
// Slots: copies by the threads themselves (cp.async)
//===----------------------------------------------------------------------===//

def Cta_SlotsOp : Cta_Op<"slots", [MemoryEffects<[MemWrite]>]> {
  let summary = "buffers of one type, one after the other in shared memory";
  let description = [{
    Returns the first of `count` buffers, each of which starts at a multiple of
    1024 bytes. They live until the last user in the same block of operations.
    ```mlir
    %s = cta.slots {count = 3 : i32} : !tile
    ```
  }];
  let arguments = (ins
    Arg<ConfinedAttr<I32Attr, [IntPositive]>, "how many buffers there are">:$count);
  let results = (outs
    Res<Cta_BufferType, "the first of them; the others follow at multiples of 1024 bytes">:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Cta_SlotOp : Cta_Op<"slot", [Pure, AllTypesMatch<["slots", "result"]>]> {
  let summary = "one of the slots";
  let description = [{
    Constraints:
    - `slot_c1`: `index`, where it is a constant, is below the count of
      `cta.slots`, and not negative
    ```mlir
    %b = cta.slot %s[%i] : !tile
    ```
  }];
  let arguments = (ins
    Arg<Cta_BufferType, "what `cta.slots` gave">:$slots,
    Arg<I32, "which of its buffers, counted from 0; the same for all threads">:$index);
  let results = (outs
    Res<Cta_BufferType, "that buffer">:$result);
  let assemblyFormat = "$slots `[` $index `]` attr-dict `:` type($slots)";
  let hasVerifier = 1;
}

def Cta_FillOp : Cta_Op<"fill", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a block from registers to a slot";
  let description = [{
    Also a barrier, behind which matrix instructions and all threads may read the slot: as
    `cta.stage`, with a place that is not the operation's own.

    Constraints:
    - `fill_c1`: the buffer has the block's shape and element type
    - `fill_c2`: the buffer is one of `cta.slots`
    ```mlir
    %s = cta.slots {count = 2 : i32} : !tile
    %b = cta.slot %s[%i] : !tile
    cta.fill %x to %b : tensor<64x64xf16>, !tile
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "the block in registers">:$src,
    Arg<Cta_BufferType, "where it goes in shared memory">:$buffer);
  let assemblyFormat = "$src `to` $buffer attr-dict `:` type($src) `,` type($buffer)";
  let hasVerifier = 1;
}

def Cta_AsyncCopyOp : Cta_Op<"async_copy", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "start copying a block from global memory to a buffer";
  let description = [{
    Every thread copies the elements whose pointers it holds, `vector` at once,
    and zeros where `mask` is false. Nothing happens where `when` (the same for
    all threads) is false. The copies belong to the thread's next group. Requires
    sm_80 and `vector` elements of 4, 8 or 16 bytes that lie side by side in the
    buffer.

    Constraints:
    - `async_copy_c1`: the pointers have the buffer's shape, and its element
      type as pointee
    - `async_copy_c2`: the mask is of i1 and of the buffer's shape
    - `async_copy_c3`: `vector` elements are 4, 8 or 16 bytes
    - `async_copy_c4`: a `cta.async_commit` follows before the next
      `cta.async_wait`
    ```mlir
    cta.async_copy %ptrs to %b vector 8 : tensor<64x64x!tile.ptr<f16>>, !tile
    cta.async_copy %ptrs, %mask to %b when %in vector 8
      : tensor<64x64x!tile.ptr<f16>>, !tile, tensor<64x64xi1>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block,
        "for each element where it is in global memory; each thread copies those it "
        "holds">:$ptr,
    Arg<Optional<Tile_Block>,
        "which elements are read, the others become zero; absent: all">:$mask,
    Arg<Cta_BufferType, "where the block goes in shared memory">:$buffer,
    Arg<Optional<I1>, "whether anything is copied; the same for all threads; absent: true">:$when,
    Arg<ConfinedAttr<I32Attr, [IntPositive]>,
        "elements that a thread copies at once: 4, 8 or 16 bytes">:$vector);
  let assemblyFormat = [{
    $ptr (`,` $mask^)? `to` $buffer (`when` $when^)? `vector` $vector attr-dict
    `:` type($ptr) `,` type($buffer) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
}

def Cta_AsyncCommitOp : Cta_Op<"async_commit", [MemoryEffects<[MemWrite]>]> {
  let summary = "the copies started so far are a group";
  let description = [{
    ```mlir
    cta.async_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Cta_AsyncWaitOp : Cta_Op<"async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until all groups of all threads but the last `pending` have landed";
  let description = [{
    Also a barrier. With `for_products` what has landed may be read by warpgroup
    matrix instructions.
    ```mlir
    cta.async_wait 1 for_products
    ```
  }];
  let arguments = (ins
    Arg<ConfinedAttr<I32Attr, [IntNonNegative]>,
        "groups of each thread, the last ones, that may still be under way">:$pending,
    Arg<UnitAttr, "present: warpgroup matrix instructions may read what has landed">:$for_products);
  let assemblyFormat = "$pending (`for_products` $for_products^)? attr-dict";
}

def Cta_ReadOp : Cta_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "a buffer as a block in registers";
  let description = [{
    A buffer of one element may also be read as a scalar.

    Constraints:
    - `read_c1`: a block has the buffer's shape and element type
    - `read_c2`: a scalar is of the element type of a buffer of one element
    ```mlir
    %x = cta.read %b : !tile -> tensor<64x64xf16>
    %s = cta.read %c : !number -> f32
    ```
  }];
  let arguments = (ins
    Arg<Cta_BufferType, "a buffer that nobody writes meanwhile">:$buffer);
  let results = (outs
    Res<AnyTypeOf<[Tile_Block, AnyFloat]>,
        "its elements in registers, or its only element as a scalar">:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TILE_IR_CTAASYNC
