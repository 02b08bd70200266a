//===- CtaRings.td - rings of buffers, from a producer to consumers -------===//
//
// Part of CtaAsync.td, which includes it.
//
#ifndef TILE_IR_CTARINGS
#define TILE_IR_CTARINGS

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
    - `ring_c10`: a loop with a `cta.ring_advance` has a `cta.ring_release`, too
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
    Arg<Cta_TensorMapType, "a kernel parameter, or one that is chosen of several: the array to copy from">:$map,
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

#endif // TILE_IR_CTARINGS
