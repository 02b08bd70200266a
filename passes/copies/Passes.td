//===- Passes.td - what moves between global and shared memory ------------===//
#ifndef TILE_PASSES_COPIES_PASSES
#define TILE_PASSES_COPIES_PASSES

include "passes/TilePass.td"

def WarpgroupDotsPass : TilePass<"tile-warpgroup-dots", "::mlir::ModuleOp"> {
  let summary = "matrix products by warpgroup instructions on tiles copied by TMA (sm_90a)";
  let description = [{
    - **Needs**: the tile level, after simplification.
    - **Guarantees**: on sm_90a every `tile.dot` that warpgroup matrix instructions can
      do is a `cta.warpgroup_dot`; operands that are loaded from strided
      tiles come as `cta.tma_load`, others as `cta.stage` (or stay in
      registers on the left); vectors of floating-point numbers that a
      loop loads beside copied operands come as `cta.tma_load` and
      `cta.read`, and loads of single numbers there are marked if they may
      run ahead; in kernels with such dots, stores of
      strided tiles are `cta.tma_store`, unless the kernel accesses that
      memory elsewhere too. Address arithmetic that this leaves without
      users is gone.
    - **Never**: changes a value that the program can observe.

    ```
      %a = tile.load %a_ptrs, %mask : ...          %a = cta.tma_load %map_a[%k, %m] dims [1, 0]
      %c = tile.dot %a, %b, %acc            =>     %c = cta.warpgroup_dot %a, %b, %acc
    ```
  }];
  let dependentDialects = ["::tile::cta::CtaDialect"];
  let options = [Option<"stores", "stores", "bool", "/*default=*/true", "stores by TMA, too">];
  let counts = [
    Count<"productsMade", "products by warpgroups">,
    Count<"loadsByTma", "loads of operands by TMA">,
    Count<"operandsStaged", "operands written to shared memory by threads">,
    Count<"storesByTma", "stores by TMA">
  ];
}

def LoadBeforeBranchesPass : TilePass<"tile-load-before-branches", "::mlir::ModuleOp"> {
  let summary = "what branches of a loop load, in front of them";
  let description = [{
    - **Needs**: tile operations without layouts; what TMA copies is copied by it already.
    - **Guarantees**: where a branch in a loop that multiplies is taken in all turns or in none,
      loads that nothing is written before in it stand in front of it, with what their addresses
      and masks are computed from, and their masks hold only where the branch is taken. So do those
      of branches in it, the outer ones first, as far as shared memory has room for copies of all
      stages beside those of as many programs as registers have room for.
    - **Never**: touches memory that was not touched; moves a load past what may write or is
      volatile, one that nothing multiplies, one that could not run ahead, or one whose address is
      reduced or multiplied in the branch.

    ```
      for k in range(K):                   for k in range(K):
          x = load(p + k)                      x = load(p + k)
          a = dot(x, x, a)             =>      y = load(q + k, mask=t < T)
          if t < T:                            a = dot(x, x, a)
              y = load(q + k)                  if t < T:
              b = dot(x, y, b)                     b = dot(x, y, b)
    ```
    So what branches multiply is copied turns ahead, like the rest.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let counts = [Count<"loadsMoved", "loads in front of a branch that they stood in">];
}

def PipelineLoadsPass : TilePass<"tile-pipeline-loads", "::mlir::ModuleOp"> {
  let summary = "copy what loops load to shared memory, iterations ahead";
  let description = [{
    - **Needs**: a laid-out kernel, warp roles made; sm_80 or later.
    - **Guarantees**: in a loop over products, blocks that are loaded in every iteration
      are copied to shared memory by the threads themselves (cp.async),
      `num_stages - 1` iterations before they are used. So are all blocks
      of a loop that asks for stages itself; on sm_90 its rows are copied
      in bulk instead (BulkRings.cpp), but for short ones of programs of one
      warp (RowCopies.cpp). Where the module says `tile.load_ahead`, loops whose
      turns threads end by waiting or storing load ahead without being asked, into shared
      memory or registers (FewPrograms.cpp). `tile.gains_ahead` says up to how many programs a
      multiprocessor that pays, whether it is done or not.
    - **Never**: reads memory that the program does not read, or moves a load
      across a store through the same pointer, an atomic or a barrier.

    ```
                                           %s = cta.slots
                                           for the first stages - 1 iterations:
      for k:                                 copy into %s[k]; commit
        %a = tile.load %p, %m       =>     for k:
        %c = tile.dot %a, ...                wait until copies of k have landed
        %p += ...                            copy for k + stages - 1; commit
                                             %a = cta.read %s[k]
                                             %c = tile.dot %a, ...
    ```
    The copies of a later iteration are made by a second instance of what their
    addresses depend on, with its own loop-carried values; it runs ahead of the
    first one. Where that includes other loads (indices), the copies are started
    after the products, which hide the wait for the indices. The slot that is
    filled in an iteration is the one that was read in the iteration before; the
    barrier of the wait lies between. Where warpgroups' products may be in flight that
    long (OverlapDots.cpp), there is one slot more, and it is the one before that. Where the module says
    `tile.tight_slots` there is one slot less for what threads only read into registers: they do
    so at the top of the turn, and fill it again behind that (TightSlots.cpp). Where it says
    `tile.refilled_slots` each copy has one slot, and a group of its own: the copy for the next
    turn starts behind the last product that reads this one's, and is waited for where the next
    turn reads it first (RefilledSlots.cpp). A loop of
    so many iterations or fewer has a slot for each: all its copies start in front of it.

    A block that warpgroup instructions read along the other dimension than memory has it
    (elements of 8 or 32 bits) is copied as it lies where that takes less than copies of
    4 bytes; the threads read it from its slot in squares, and stage those. Single numbers
    that the loop loads for itself are loaded in the turn before, and carried; so are blocks of a
    loop that asks for stages which are too narrow to be copied, of few registers a thread.
  }];
  let options = [
    Option<"bulk", "bulk", "bool", "/*default=*/true", "rows of loops that ask for stages by bulk copies">,
    Option<"spare", "spare", "bool", "/*default=*/true", "a slot more where products can be in flight">
  ];
  let counts = [
    Count<"loopsPipelined", "loops whose loads are copied ahead by threads">,
    Count<"loadsCopied", "loads of those loops">,
    Count<"rowRingsMade", "loops whose rows are copied in bulk">,
    Count<"loopsForFew", "loops that load ahead because programs are few">,
    Count<"spareSlots", "loops with a slot for products in flight">,
    Count<"tightLoops", "loops that fill slots in the turn that reads them">
  ];
}

def EarlyCopiesPass : TilePass<"tile-early-copies", "::mlir::ModuleOp"> {
  let summary = "copy what all programs read to shared memory before it is needed";
  let description = [{
    - **Needs**: a laid-out kernel, warp roles made; sm_80 or later.
    - **Guarantees**: a block that every program loads from the same place (weights) and
      uses only behind a reduction of something else that it loads is copied
      to shared memory (cp.async) before the first load of the kernel, and
      read from there where it is used.
    - **Never**: moves a load across what writes, or takes so much shared memory that
      fewer programs fit on a multiprocessor of sm_90.

    ```
      %x = tile.load %row                   cta.async_copy %p to %s; commit
      %m = tile.reduce %x                   %x = tile.load %row
      %r = tile.reduce f(%x, %m)     =>     %m = tile.reduce %x
      %w = tile.load %p                     cta.async_wait
      ... %w, %r                            %r = tile.reduce f(%x, %m)
                                            ... cta.read %s, %r
    ```
    A load into registers has no good place: late, the program waits for it once
    more; early, it takes registers while the row is reduced (and the assembler moves
    it back behind the first reduction, to save them). A copy takes none, and each
    element is brought once for all warps.

    One wait stands before the last reduction in front of the uses. Where warps
    exchange partial results in that, their barrier is also that of the copies.
  }];
  let options = [
    Option<"mostBytes", "most-bytes", "int64_t", "/*default=*/-1",
           "bytes that are copied; -1: what was chosen for the target">
  ];
  let counts = [Count<"blocksCopied", "blocks copied before the first load">];
}

def PrefetchProgramsPass : TilePass<"tile-prefetch-programs", "::mlir::ModuleOp"> {
  let summary = "ask the L2 cache for the rows of programs that start later";
  let description = [{
    - **Needs**: a laid-out kernel, warp roles and rings made; sm_90 to sm_119, whose L2
      caches have 50 MB and more.
    - **Guarantees**: in a kernel that reduces rows, each program asks the L2 cache for the
      row that a later program begins with: the one that starts about when
      6 MB more have been loaded, and no more than that been stored.
    - **Never**: asks for what that program would not load itself, or touches kernels
      whose programs wait for each other (atomics), multiply matrices, or
      have roles.

    ```
                                      %x = tile.load %row, %m
                                      one thread, if program_id + n < num_programs:
      %x = tile.load %row, %m    =>     cta.prefetch (%row of program_id + n)
      ... tile.reduce %x              ... tile.reduce %x
    ```
    While a program reduces its row and stores, it loads nothing, and the few programs
    that a multiprocessor holds leave the memory idle at times. Rows that are already
    in the L2 cache when their program starts are not waited for as long. Programs
    start in the order of their ids, about as many at a time as have 64 KB of rows on
    each multiprocessor. Two thirds as far ahead gain less on an H200; a third further costs 3 % on an H100,
    twice as far 5 % and more: rows are gone again before they are needed, pushed out by
    what is stored meanwhile.
    Rows that a loop reads are left alone: passes that come back to a row find less of
    it in the cache (an RMS norm in two passes of 8192 elements takes a tenth longer).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tile::cta::CtaDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"aheadBytes", "ahead-bytes", "int64_t", "/*default=*/-1",
           "bytes on their way ahead of the programs that load them; -1: what was measured on the target">
  ];
  let counts = [Count<"rowsAskedFor", "rows of later programs that are asked for">];
}

#endif // TILE_PASSES_COPIES_PASSES
