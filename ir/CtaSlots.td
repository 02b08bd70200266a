//===- CtaSlots.td - copies by the threads themselves (cp.async) ----------===//
//
// Part of CtaAsync.td, which includes it.
//
#ifndef TILE_IR_CTASLOTS
#define TILE_IR_CTASLOTS

def Cta_SlotsOp : Cta_Op<"slots", [MemoryEffects<[MemWrite]>]> {
  let summary = "buffers of one type, one after the other in shared memory";
  let description = [{
    Returns the first of `count` buffers, each of which starts at a multiple of
    its size, of 16 bytes at least and 1024 at most. They live until the last user in the same block of operations.
    ```mlir
    %s = cta.slots {count = 3 : i32} : !tile
    ```
  }];
  let arguments = (ins
    Arg<ConfinedAttr<I32Attr, [IntPositive]>, "how many buffers there are">:$count);
  let results = (outs
    Res<Cta_BufferType, "the first of them; the others follow, each at such a multiple">:$result);
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

#endif // TILE_IR_CTASLOTS
