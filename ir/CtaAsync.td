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
    ```mlir
    !cta.buffer<[64, 32], f16, #cta.layout<{offset = ...} : [64, 32]>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::tile::cta::LayoutAttr":$layout);
  let assemblyFormat = "`<` `[` $shape `]` `,` $elementType `,` $layout `>`";
  let extraClassDeclaration = [{
    int64_t getNumElements() const;
    int64_t getBytes() const;
    const ::tile::layout::LinearLayout &getLinearLayout() const { return getLayout().getLayout(); }
  }];
}

def Cta_RingType : Cta_Type<"Ring", "ring"> {
  let summary = "slots of buffers handed from a producer to consumers";
  let description = [{
    Each slot holds one buffer of each listed type and has two mbarriers:
    *full* (the copies into it have landed) and *empty* (all consumer warps are
    done with it). Producer and consumers each keep a cursor: the slot that is
    next and the parity of its current round.
    ```mlir
    !cta.ring<!cta.buffer<...>, !cta.buffer<...>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$buffers);
  let assemblyFormat = "`<` $buffers `>`";
}

def Cta_TensorMapType : Cta_Type<"TensorMap", "tensor_map"> {
  let summary = "a TMA descriptor of a strided array in global memory";
  let description = [{
    A kernel parameter of this type is a `CUtensorMap` made by the launcher from
    the parameter's `cta.tensor_map` attribute (#cta.map).
  }];
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

def Cta_SumAttr : AttrDef<Cta_Dialect, "Sum"> {
  let mnemonic = "sum";
  let summary = "an integer polynomial in kernel parameters";
  let description = [{
    Each term is `[coefficient, parameter, parameter, ...]`: the sum over the
    terms of coefficient times the values of those parameters of the kernel.
    ```mlir
    #cta.sum<[[2, 3], [16]]>   // 2 * parameter 3 + 16
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$terms);
  let assemblyFormat = "`<` `[` $terms `]` `>`";
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
  }];
  let parameters = (ins "int64_t":$base, "::mlir::Type":$elementType,
                        ArrayRefParameter<"::tile::cta::SumAttr">:$sizes,
                        OptionalArrayRefParameter<"::tile::cta::SumAttr">:$strides,
                        ArrayRefParameter<"int64_t">:$box, "int64_t":$swizzle,
                        OptionalArrayRefParameter<"::tile::cta::SumAttr">:$notNegative);
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
    ```mlir
    %a = cta.tma_load %map[%k, %m] dims [1, 0] : !cta.buffer<[128, 64], f16, #l>
    %b = cta.tma_load %map[%k, %m] dims [1, 0] common %same : !cta.buffer<[128, 64], f16, #l>
    ```
  }];
  let arguments = (ins Cta_TensorMapType:$map, Variadic<I32>:$starts, DenseI32ArrayAttr:$dims,
                       Optional<I1>:$common);
  let results = (outs Cta_BufferType:$result);
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
    ```mlir
    cta.tma_store %x, %map[%n, %m] dims [1, 0] staged #l : tensor<128x64xf16>
    ```
  }];
  let arguments = (ins Tile_Block:$value, Cta_TensorMapType:$map, Variadic<I32>:$starts,
                       DenseI32ArrayAttr:$dims, Cta_LayoutAttr:$layout, UnitAttr:$ordered);
  let assemblyFormat = "$value `,` $map `[` $starts `]` `dims` $dims `staged` $layout (`ordered` $ordered^)? attr-dict `:` type($value)";
}

def Cta_StageOp : Cta_Op<"stage", [Pure]> {
  let summary = "a block from registers as a buffer in shared memory";
  let description = [{
    For operands of matrix instructions that must be in shared memory. The
    buffer lives until its last user in the same block of operations.
    ```mlir
    %s = cta.stage %x : tensor<64x64xf16> -> !cta.buffer<[64, 64], f16, #l>
    ```
  }];
  let arguments = (ins Tile_Block:$src);
  let results = (outs Cta_BufferType:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
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
    ```mlir
    %r = cta.ring {stages = 3 : i32, consumers = 8 : i32} : !cta.ring<...>
    ```
  }];
  let arguments = (ins I32Attr:$stages, I32Attr:$consumers,
                       DefaultValuedAttr<I32Attr, "1">:$cluster, UnitAttr:$elastic);
  let results = (outs Cta_RingType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class Cta_RingStepOp<string mnemonic> : Cta_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins Cta_RingType:$ring);
}

def Cta_RingAcquireOp : Cta_RingStepOp<"ring_acquire"> {
  let summary = "producer: wait until the next slot is empty, announce its copies";
  let description = [{
    Returns the slot's buffers. Run by one thread. The copies bring `bytes`, or
    the whole slot.
    ```mlir
    %a, %b = cta.ring_acquire %r : !cta.ring<...> -> !cta.buffer<...>, !cta.buffer<...>
    %c = cta.ring_acquire %s for %bytes : !cta.ring<...> -> !cta.buffer<...>
    ```
  }];
  let arguments = (ins Cta_RingType:$ring, Optional<I32>:$bytes);
  let results = (outs Variadic<Cta_BufferType>:$buffers);
  let assemblyFormat = "$ring (`for` $bytes^)? attr-dict `:` type($ring) `->` type($buffers)";
}

def Cta_RingCopyOp : Cta_CopyOp<"ring_copy", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: start a copy into the acquired slot";
  let description = [{
    Where `common` is true, each thread block of the ring's cluster copies a part of
    it to the slots of all.
    }] # mapDoc # [{
    ```mlir
    cta.ring_copy %map[%k, %m] dims [1, 0] to %a of %r : !cta.buffer<...>, !cta.ring<...>
    ```
  }];
  let arguments = (ins Cta_TensorMapType:$map, Variadic<I32>:$starts, DenseI32ArrayAttr:$dims,
                       Cta_BufferType:$buffer, Cta_RingType:$ring, Optional<I1>:$common);
  let assemblyFormat = [{
    $map `[` $starts `]` `dims` $dims `to` $buffer `of` $ring (`common` $common^)? attr-dict
    `:` type($buffer) `,` type($ring)
  }];
}

def Cta_RingBulkCopyOp : Cta_Op<"ring_bulk_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: start copying consecutive bytes into the acquired slot";
  let description = [{
    `bytes` (a multiple of 16; nothing happens if it is 0) from `ptr` (aligned to
    16 bytes) to the buffer, `offset` bytes behind its start. Requires sm_90.
    ```mlir
    cta.ring_bulk_copy %row, %bytes to %a at 0 of %r : !tile.ptr<f16>, !cta.buffer<...>, !cta.ring<...>
    ```
  }];
  let arguments = (ins AnyType:$ptr, I32:$bytes, Cta_BufferType:$buffer, I32Attr:$offset,
                       Cta_RingType:$ring);
  let assemblyFormat = [{
    $ptr `,` $bytes `to` $buffer `at` $offset `of` $ring attr-dict
    `:` type($ptr) `,` type($buffer) `,` type($ring)
  }];
}

def Cta_RingElementCopyOp : Cta_Op<"ring_element_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "producer: start copying one number into the acquired slot";
  let description = [{
    Of 4 or 8 bytes, from any address that is aligned to its size, to a buffer of one
    element.
    ```mlir
    cta.ring_element_copy %scale to %s of %r : !tile.ptr<f32>, !cta.buffer<...>, !cta.ring<...>
    ```
  }];
  let arguments = (ins AnyType:$ptr, Cta_BufferType:$buffer, Cta_RingType:$ring);
  let assemblyFormat = [{
    $ptr `to` $buffer `of` $ring attr-dict `:` type($ptr) `,` type($buffer) `,` type($ring)
  }];
}

def Cta_RingFillOp : Cta_Op<"ring_fill", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "write a block to one buffer of every slot of an empty ring";
  let description = [{
    What copies do not overwrite stays there. Also a barrier, before and after.
    ```mlir
    cta.ring_fill %x to 0 of %r : tensor<4096xf16>, !cta.ring<...>
    ```
  }];
  let arguments = (ins Tile_Block:$value, I32Attr:$buffer, Cta_RingType:$ring);
  let assemblyFormat = "$value `to` $buffer `of` $ring attr-dict `:` type($value) `,` type($ring)";
}

def Cta_RingCommitOp : Cta_RingStepOp<"ring_commit"> {
  let summary = "producer: on to the next slot";
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Cta_RingWaitOp : Cta_RingStepOp<"ring_wait"> {
  let summary = "consumers: wait until the next slot is full";
  let description = [{
    Returns the slot's buffers; the cursor stays until `cta.ring_release`.
    ```mlir
    %a, %b = cta.ring_wait %r : !cta.ring<...> -> !cta.buffer<...>, !cta.buffer<...>
    ```
  }];
  let results = (outs Variadic<Cta_BufferType>:$buffers);
  let assemblyFormat = "$ring attr-dict `:` type($ring) `->` type($buffers)";
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
    cta.ring_release %r : !cta.ring<...>
    cta.ring_release %r when %later : !cta.ring<...>
    ```
  }];
  let arguments = (ins Cta_RingType:$ring, Optional<I1>:$condition);
  let assemblyFormat = "$ring (`when` $condition^)? attr-dict `:` type($ring)";
}

def Cta_RingAdvanceOp : Cta_RingStepOp<"ring_advance"> {
  let summary = "consumers: on to the next slot, keeping this one";
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
    %s = cta.slots {count = 3 : i32} : !cta.buffer<[64, 32], f16, #l>
    ```
  }];
  let arguments = (ins I32Attr:$count);
  let results = (outs Cta_BufferType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Cta_SlotOp : Cta_Op<"slot", [Pure, AllTypesMatch<["slots", "result"]>]> {
  let summary = "one of the slots";
  let description = [{
    ```mlir
    %b = cta.slot %s[%i] : !cta.buffer<[64, 32], f16, #l>
    ```
  }];
  let arguments = (ins Cta_BufferType:$slots, I32:$index);
  let results = (outs Cta_BufferType:$result);
  let assemblyFormat = "$slots `[` $index `]` attr-dict `:` type($slots)";
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
    ```mlir
    cta.async_copy %ptrs, %mask to %b when %in vector 8 : tensor<64x32x!tile.ptr<f16>>, !cta.buffer<[64, 32], f16, #l>
    ```
  }];
  let arguments = (ins Tile_Block:$ptr, Optional<Tile_Block>:$mask, Cta_BufferType:$buffer,
                       Optional<I1>:$when, I32Attr:$vector);
  let assemblyFormat = [{
    $ptr (`,` $mask^)? `to` $buffer (`when` $when^)? `vector` $vector attr-dict
    `:` type($ptr) (`,` type($mask)^)? `,` type($buffer)
  }];
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
  let arguments = (ins I32Attr:$pending, UnitAttr:$for_products);
  let assemblyFormat = "$pending (`for_products` $for_products^)? attr-dict";
}

def Cta_ReadOp : Cta_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "a buffer as a block in registers";
  let description = [{
    A buffer of one element may also be read as a scalar.
    ```mlir
    %x = cta.read %b : !cta.buffer<[64, 64], f16, #l> -> tensor<64x64xf16>
    %s = cta.read %c : !cta.buffer<[1], f32, #l> -> f32
    ```
  }];
  let arguments = (ins Cta_BufferType:$buffer);
  let results = (outs AnyTypeOf<[Tile_Block, AnyFloat]>:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Cta_RolesOp : Cta_Op<"roles", [RecursiveMemoryEffects, NoRegionArguments, SingleBlock,
    NoTerminator]> {
  let summary = "some warps produce, the others consume";
  let description = [{
    The warps of the kernel's `tile.num_warps` run `consumers`; one thread of an
    additional warpgroup runs `producer`. With `registers` the register file is
    dealt out anew: first the producer's count, then the consumers'.
    ```mlir
    cta.roles consumers { ... } producer { ... }
    ```
  }];
  let regions = (region SizedRegion<1>:$consumers, SizedRegion<1>:$producer);
  let assemblyFormat = "`consumers` $consumers `producer` $producer attr-dict";
}

def Cta_GroupOp : Cta_Op<"group", [Pure]> {
  let summary = "which of the groups of consumers this is";
  let description = [{
    With the module's `cta.groups` = n, the consumers of `cta.roles` are n times the
    warps of `tile.num_warps`. Every group runs the region by itself, with its own
    scratch memory; all read the same rings.
    ```mlir
    %g = cta.group : i32
    ```
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class Cta_TurnOp<string mnemonic> : Cta_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins I32Attr:$order, Variadic<Cta_RingType>:$rings);
}

def Cta_TurnBeginOp : Cta_TurnOp<"turn_begin"> {
  let summary = "wait until the other group of consumers has ended its turn";
  let description = [{
    Two groups take turns, group 0 first, in each of several independent orders.
    What the other group did before it ended its turn is visible. The group goes on
    in `rings` where the other one stopped.
    ```mlir
    cta.turn_begin 0 of %r : !cta.ring<...>
    ```
  }];
  let assemblyFormat = "$order (`of` $rings^)? attr-dict (`:` type($rings)^)?";
}

def Cta_TurnEndOp : Cta_TurnOp<"turn_end"> {
  let summary = "the turn of the other group of consumers";
  let description = [{
    With `stores`, once the copies of the turn's `cta.tma_store` have ended.
    ```mlir
    cta.turn_end 0 of %r : !cta.ring<...>
    ```
  }];
  let arguments = (ins I32Attr:$order, Variadic<Cta_RingType>:$rings, UnitAttr:$stores);
  let assemblyFormat = "$order (`of` $rings^)? (`after_stores` $stores^)? attr-dict (`:` type($rings)^)?";
}

def Cta_SingleOp : Cta_Op<"single", [RecursiveMemoryEffects, NoRegionArguments, SingleBlock,
    NoTerminator]> {
  let summary = "run by one thread of the block";
  let description = [{
    The other threads skip the region; there is no barrier.
    ```mlir
    cta.single { ... }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}

def Cta_PrefetchOp : Cta_Op<"prefetch", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "bring consecutive bytes of global memory to the L2 cache";
  let description = [{
    A hint: nothing is read. `bytes` from `ptr` on, both rounded down to multiples of 16.
    Requires sm_90.
    ```mlir
    cta.prefetch %row, %bytes : !tile.ptr<f16>
    ```
  }];
  let arguments = (ins AnyType:$ptr, I32:$bytes);
  let assemblyFormat = "$ptr `,` $bytes attr-dict `:` type($ptr)";
}

def Cta_ClusterBarrierOp : Cta_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of all thread blocks of the cluster wait for each other";
  let description = [{
    ```mlir
    cta.cluster_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

def Cta_WarpgroupDotOp : Cta_Op<"warpgroup_dot", [MemoryEffects<[MemRead]>,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a * b by warpgroup matrix instructions";
  let description = [{
    `a` (M x K) is a buffer or a block in registers, `b` (K x N) a buffer. Every
    warp takes part. Complete when it returns, or, `in_flight`, when the next one
    is issued and the one after that begins; the last one of a loop is waited for
    by `cta.warpgroup_wait`. Requires sm_90a.
    Buffers are swizzled tiles; those of elements that do not have 16 bits are contiguous along
    the dimension that is summed over, since the hardware transposes no others.
    ```mlir
    %d = cta.warpgroup_dot %a, %b, %c : !cta.buffer<...>, !cta.buffer<...>, tensor<128x256xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cta_BufferType, Tile_Block]>:$a, Cta_BufferType:$b,
                       Tile_Block:$acc, DefaultValuedAttr<I32Attr, "0">:$promote,
                       UnitAttr:$in_flight);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$a `,` $b `,` $acc (`in_flight` $in_flight^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)";
  let hasVerifier = 1;
}

def Cta_WarpgroupWaitOp : Cta_Op<"warpgroup_wait", [MemoryEffects<[MemRead, MemWrite]>,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "wait for the products in flight";
  let description = [{
    Returns the accumulator once it is complete.
    ```mlir
    %d = cta.warpgroup_wait %c : tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$acc);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$acc attr-dict `:` type($acc)";
}

#endif // TILE_IR_CTAASYNC
