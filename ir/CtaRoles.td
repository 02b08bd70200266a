//===- CtaRoles.td - who does what, and products of warpgroups ------------===//
#ifndef TILE_IR_CTAROLES
#define TILE_IR_CTAROLES

include "ir/CtaAsync.td"

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Cta_RolesOp : Cta_Op<"roles", [RecursiveMemoryEffects, NoRegionArguments, SingleBlock,
    NoTerminator]> {
  let summary = "some warps produce, the others consume";
  let description = [{
    The warps of the kernel run `consumers`; one thread of an
    additional warp runs `producer`. Where several warpgroups consume, it is a warpgroup, and the
    register file is dealt out anew: the producer gives what it does not need to them.

    Constraints:
    - `roles_c1`: it stands in the kernel's body, in no loop and no branch
    }] # oneThreadRules # [{
    ```mlir
    cta.roles consumers {
      %a, %b = cta.ring_wait %r : !ring -> !tile, !tile
      cta.ring_release %r : !ring
    } producer {
      %c, %d = cta.ring_acquire %r : !ring -> !tile, !tile
      cta.ring_copy %left[%k, %m] dims [1, 0] to %c of %r : !tile, !ring
      cta.ring_copy %right[%n, %k] dims [1, 0] to %d of %r : !tile, !ring
      cta.ring_commit %r : !ring
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$consumers, SizedRegion<1>:$producer);
  let assemblyFormat = "`consumers` $consumers `producer` $producer attr-dict";
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
}

def Cta_GroupOp : Cta_Op<"group", [Pure]> {
  let summary = "which of the groups of consumers this is";
  let description = [{
    With `groups` = n in the module's `#cta.kernel`, the warps of `tile.kernel` are n
    groups. Every group runs the region by itself, with its own
    scratch memory; all read the same rings.

    Constraints:
    - `group_c1`: it stands in the consumers of `cta.roles`
    ```mlir
    cta.roles consumers {
      %g = cta.group : i32
    } producer {
    }
    ```
  }];
  let results = (outs
    Res<I32, "0 or above, below `groups` of `#cta.kernel`; the same for all threads of a group">:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

class Cta_TurnOp<string mnemonic> : Cta_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  code turnRules = [{
    - `turn_c1`: it stands in the consumers of `cta.roles`
    - `turn_c2`: a turn begins and ends in one block of operations, before the
      next one of its order begins
  }];
  let arguments = (ins
    Arg<ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<5>]>,
        "which of the independent orders of turns">:$order,
    Arg<Variadic<Cta_RingType>, "rings whose slots the groups take from one sequence">:$rings);
}

def Cta_TurnBeginOp : Cta_TurnOp<"turn_begin"> {
  let summary = "wait until the other group of consumers has ended its turn";
  let description = [{
    Two groups take turns, group 0 first, in each of several independent orders.
    What the other group did before it ended its turn is visible. The group goes on
    in `rings` where the other one stopped.

    Constraints:
    }] # turnRules # [{
    ```mlir
    cta.roles consumers {
      cta.turn_begin 0 of %r : !ring
      cta.turn_end 0 of %r : !ring
    } producer {
    }
    ```
  }];
  let assemblyFormat = "$order (`of` $rings^)? attr-dict (`:` type($rings)^)?";
  let hasVerifier = 1;
}

def Cta_TurnEndOp : Cta_TurnOp<"turn_end"> {
  let summary = "the turn of the other group of consumers";
  let description = [{
    With `stores`, once the copies of the turn's `cta.tma_store` have ended.

    Constraints:
    }] # turnRules # [{
    ```mlir
    cta.roles consumers {
      cta.turn_begin 1
      cta.turn_end 1 after_stores
    } producer {
    }
    ```
  }];
  let arguments = (ins
    Arg<ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<5>]>,
        "which of the independent orders of turns">:$order,
    Arg<Variadic<Cta_RingType>, "the rings of the turn's `cta.turn_begin`">:$rings,
    Arg<UnitAttr, "present: the turn's copies to global memory have ended first">:$stores);
  let assemblyFormat = "$order (`of` $rings^)? (`after_stores` $stores^)? attr-dict (`:` type($rings)^)?";
  let hasVerifier = 1;
}

def Cta_SingleOp : Cta_Op<"single", [RecursiveMemoryEffects, NoRegionArguments, SingleBlock,
    NoTerminator]> {
  let summary = "run by one thread of the block";
  let description = [{
    The other threads skip the region; there is no barrier.

    Constraints:
    }] # oneThreadRules # [{
    ```mlir
    cta.single {
      cta.prefetch %row, %bytes : !tile.ptr<f16>
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasRegionVerifier = 1;
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
  let arguments = (ins
    Arg<Cta_Pointer, "the first element in global memory; any alignment">:$ptr,
    Arg<I32, "how much, in bytes; below 16: nothing">:$bytes);
  let assemblyFormat = "$ptr `,` $bytes attr-dict `:` type($ptr)";
}

def Cta_ClusterBarrierOp : Cta_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of all thread blocks of the cluster wait for each other";
  let description = [{
    Constraints:
    - `cluster_barrier_c1`: it stands in no `cta.roles` and no `cta.single`
    ```mlir
    cta.cluster_barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

def Cta_WarpgroupDotOp : Cta_Op<"warpgroup_dot", [MemoryEffects<[MemRead]>,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a * b by warpgroup matrix instructions";
  let description = [{
    `a` (M x K) is a buffer or a block in registers, `b` (K x N) a buffer. A buffer that is
    `turned` holds the operand transposed (K x M, N x K): two products can read one copy in two
    orders. Every warp takes part. Complete when it returns, or, `in_flight`, when the next one
    is issued and the one after that begins; the last one of a loop is waited for
    by `cta.warpgroup_wait`. Requires sm_90a.

    | operands | accumulator |
    |---|---|
    | i8 and i8 (signed) | i32 |
    | f16 and f16 | f16, f32 |
    | bf16 and bf16 | f32 |
    | f32 and f32, read as tf32 | f32 |
    | f8E4M3FN or f8E5M2, any two | f16, f32 |

    Constraints:
    - `warpgroup_dot_c1`: `a` is M x K, `b` K x N, the accumulator M x N
    - `warpgroup_dot_c2`: the element types are a row of the table
    - `warpgroup_dot_c3`: M is a multiple of 64, N of 8, and K elements are a
      multiple of 32 bytes
    - `warpgroup_dot_c4`: `promote` is 0 unless the operands are 8-bit floats,
      and where the product stays in flight
    - `warpgroup_dot_c6`: only buffers are turned
    - `warpgroup_dot_c5`: a buffer is a swizzled tile; if its elements do not have 16 bits, it is
      contiguous along the dimension that is summed over, since the hardware transposes no others
    ```mlir
    %d = cta.warpgroup_dot %a, %b, %c : !tile, !tile, tensor<64x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[Cta_BufferType, Tile_Block]>,
        "the left operand, M x K: in shared memory, or in registers">:$a,
    Arg<Cta_BufferType, "the right operand, K x N, in shared memory">:$b,
    Arg<Tile_Block, "what the product is added to, M x N, in registers">:$acc,
    Arg<DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">,
        "most products of 8-bit floats summed before an addition in f32; 0: any number">:$promote,
    Arg<UnitAttr, "present: the result is complete only behind `cta.warpgroup_wait`">:$in_flight,
    Arg<UnitAttr, "present: `a` is K x M in shared memory">:$a_turned,
    Arg<UnitAttr, "present: `b` is N x K in shared memory">:$b_turned);
  let results = (outs
    Res<Tile_Block, "the sum, in the accumulator's registers">:$result);
  let extraClassDeclaration = [{
    /// K, over which is summed.
    int64_t getDepth() { return getB().getType().getShape()[getBTurned() ? 1 : 0]; }
  }];
  let assemblyFormat = "$a (`turned` $a_turned^)? `,` $b (`turned` $b_turned^)? `,` $acc (`in_flight` $in_flight^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)";
  let hasVerifier = 1;
}

def Cta_WarpgroupWaitOp : Cta_Op<"warpgroup_wait", [MemoryEffects<[MemRead, MemWrite]>,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "wait for the products in flight";
  let description = [{
    Returns the accumulator once it is complete.
    ```mlir
    %d = cta.warpgroup_wait %c : tensor<64x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "what a product in flight gave">:$acc);
  let results = (outs
    Res<Tile_Block, "the same registers, complete">:$result);
  let assemblyFormat = "$acc attr-dict `:` type($acc)";
}

#endif // TILE_IR_CTAROLES
