//===- Passes.td - scratch memory and barriers ----------------------------===//
#ifndef TILE_PASSES_MEMORY_PASSES
#define TILE_PASSES_MEMORY_PASSES

include "passes/TilePass.td"

def AllocateScratchPass : TilePass<"tile-allocate-scratch", "::mlir::ModuleOp"> {
  let summary = "place exchange buffers in shared memory";
  let description = [{
    - **Needs**: a laid-out kernel.
    - **Guarantees**: every op that exchanges data between warps carries
      `cta.scratch_offset`; `#cta.kernel` of the module has the bytes. Reductions whose results all
      threads combine together say so (`cta.threads_of_result`), and have room for it.
    - **Never**: moves or changes ops.

    A buffer lives only while its op runs, so all could share offset 0. But
    neighbours that share need a barrier between them. Small buffers therefore
    take turns in a ring: by the time an offset comes round again, the barriers
    inside the ops in between have already separated the two uses. Large ones
    share one area behind the ring; those that follow each other in a loop lie
    side by side there as far as that stays small, so that each iteration needs
    only the barriers inside the ops.

    `cta.stage` and `cta.slots` are placed by liveness, in between the large ones where
    these are not in use. Behind them, aligned to the period of the swizzles: one area
    for all `cta.tma_store`, and the slots of the rings; last the barriers of these, where nothing
    else ever is. Rings of the two branches of a condition, of which a program takes one, have
    their slots in one place. Rings get as many slots as were asked for and fit; the
    area of the stores is as large as a whole block where that leaves room for them, and else what is
    staged in parts. Stores that always run together have an area each if all have room and no
    program on a multiprocessor is lost by it. Elastic rings have as many as fit beside whole blocks,
    if these are three.

    Groups of consumers that run the same code (`groups` of `#cta.kernel`) have everything but the rings to
    themselves: offsets are those of the first group, and `groupBytes` there is the distance to the
    next one.
  }];
  let counts = [Count<"slotsGivenUp", "slots of rings that did not fit">];
}

def InsertBarriersPass : TilePass<"tile-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "separate uses of overlapping shared memory by barriers";
  let description = [{
    - **Needs**: scratch offsets assigned.
    - **Guarantees**: between the last read of a shared-memory byte by one op and its
      next write by another there is a barrier on every path. So there is between a load and a
      store of global memory of the same argument, in either order, where another thread
      may hold an element of these blocks of one shape in the one than in the other, or where they load
      from anywhere; between two stores of blocks of different shapes to such memory that are not known
      to be side by side; between such
      a store and a copy that threads start (what is stored behind a copy comes behind the wait for it,
      where all threads meet); between a
      load of what several threads hold and a later store of as many elements through another
      argument, which may be the same memory, worked on in place; between an
      atomic operation and a load or store of memory of the same argument; and, before an atomic
      operation on a single number that releases, behind stores of several threads and loads of what
      the kernel stores to (AccessOrder.h).
      A kernel of single numbers alone that has one warp gets none: one thread runs it
      (`cta.one_thread`), which sees what it stores.
    - **Never**: adds a barrier that no hazard asks for.

    Each exchanging op writes its buffer, passes its own barrier and reads it
    back. So after the op only its reads are pending, and everything before its
    barrier is settled. Operands that are written one behind the other have one barrier, behind the
    last (JoinedStores.h): what is pending stays so up to there, and the places of all of them count
    in front of the first. A `cta.barrier` is needed before an op exactly if its
    buffer overlaps a pending one. Loops are walked until the set of pending
    buffers at the head settles (it only grows, over finitely many buffers).
    A `cta.tma_store` has memory of its own, and a barrier before its copies; that is
    one of all threads if these are one warpgroup (else each may store its own rows).
  }];
  let counts = [Count<"barriersInserted", "barriers">];
}

#endif // TILE_PASSES_MEMORY_PASSES
