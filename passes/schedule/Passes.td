//===- Passes.td - which warps and thread blocks do what, in which order --===//
#ifndef TILE_PASSES_SCHEDULE_PASSES
#define TILE_PASSES_SCHEDULE_PASSES

include "passes/TilePass.td"

def PersistProgramsPass : TilePass<"tile-persist-programs", "::mlir::ModuleOp"> {
  let summary = "several programs of the grid in one thread block, one after the other";
  let description = [{
    - **Needs**: module attribute `tile.persistent`; warpgroup products made.
    - **Guarantees**: a kernel that copies tiles by TMA runs the programs
      block, block + blocks, block + 2 * blocks, ... of its grid, so that
      one program's loads run under the stores of the one before. The
      true grid comes in three more parameters (`tile.num_programs`).
    - **Never**: touches other kernels: they gain nothing. Nor kernels whose loops that copy run
      longer in some programs than in others (below a diagonal): who takes them by turns waits for
      the block that got the longest; a grid started block by block shares itself out. Nor those
      whose warps that compute copy, or whose neighbouring programs share a thread block.
  }];
  let counts = [Count<"kernelsPersistent", "kernels with several programs in a block">];
}

def ClusterProgramsPass : TilePass<"tile-cluster-programs", "::mlir::ModuleOp"> {
  let summary = "thread blocks with neighbouring programs share what they load";
  let description = [{
    - **Needs**: programs in a loop (`cta.programs`); `ctas` of `#tile.kernel`
      above 1, or 0: then two blocks are a cluster where it
      is known to pay. That is in products of large blocks that read rows
      which may start in the middle of a sector: such a copy of 128 bytes
      takes five sectors from the L2 cache, whose speed is then what counts.
    - **Guarantees**: where thread blocks that take neighbouring programs may load the same
      tile in the same iteration, such blocks are a cluster (`cluster` of
      `#cta.kernel`), and the loads say when the tile is the same
      (`common`): one copy brings it to all of them. All blocks of a cluster
      go through equally many programs: one that has none left repeats
      the last one, and stores nothing.
    - **Never**: clusters a kernel whose programs affect more than what they store, nor
      programs whose loops with such loads may be of unequal length.

    Whether tiles are the same is decided when a program begins: the scalars that a load's
    coordinates are made of are computed for the neighbours' programs too.

    ```
      for p:                            for p below the next multiple of the cluster's size:
        n = f(p)                          n = f(min(p, last)); n' = f(min(p ^ 1, last))
        for k: load [k, n]      =>        for k: load [k, n] common n == n'
        store                             if p < programs: store
    ```
  }];
  let options = [
    Option<"always", "always", "bool", "/*default=*/false",
           "also where nobody asks for it and it is not known to pay">
  ];
  let counts = [Count<"loadsShared", "loads that the blocks of a cluster share">];
}

def ShareRingsPass : TilePass<"tile-share-rings", "::mlir::ModuleOp"> {
  let summary = "neighbouring programs in one thread block, which share what their loops copy";
  let description = [{
    - **Needs**: warpgroup products made, no layouts yet; module attribute `cta.wanted_programs`, or
      the option: how many programs a thread block shall run.
    - **Guarantees**: where what loops copy by TMA is the same for all programs along one axis of
      the grid, and a program is one warpgroup, the module says that a thread block runs so many
      neighbours (`cta.block_programs`). tile-specialize-warps makes of them groups of warps which
      read the same rings: a producer fills each slot once. What is copied outside of loops each
      program may have for itself. How often loops turn may depend on the program, if all start at
      the same number or whole steps apart. An axis that the kernel takes apart by division, into
      blocks and heads say, is two to launches, and to this pass (SplitGrid.h: `cta.grid_splits`),
      where that helps.
    - **Never**: chooses a kernel whose programs affect more than what they store: a thread block
      past the end of the grid has programs that do as the last one, and store nothing.

    ```
      thread block i:                      thread block i:
        program i:                           group g, program 3 * i + g:
          load q[i]                            wait q[g]
          for k: load k; dot; release  =>      for k: wait; dot; release
          store [i]                            store [3 * i + g]
                                             producer:
                                               load q[3 * i], q[3 * i + 1], q[3 * i + 2]
                                               for k: load k
    ```
  }];
  let options = [
    Option<"programs", "programs", "int32_t", "/*default=*/0",
           "how many programs a thread block shall run; 0: as the module says">
  ];
  let counts = [Count<"kernelsShared", "kernels of which a thread block runs several programs">];
}

def LongestFirstPass : TilePass<"tile-longest-first", "::mlir::ModuleOp"> {
  let summary = "programs that run longest start first";
  let description = [{
    - **Needs**: nothing; behind the passes that give a thread block several programs in turn.
    - **Guarantees**: where loops that load or multiply get longer along an axis of the grid, and
      none gets shorter (queries below a diagonal), `cta.from_end` says so: what `tile.program_id`
      is along that axis is counted from the end of the grid. The hardware starts thread blocks in
      the order of their numbers; those that start last, while multiprocessors run out of work, are
      then the shortest.
    - **Never**: kernels whose programs might wait for those before them: by the results of atomics,
      volatile loads, loads in loops with a condition, or assembly of the kernel's own. Nor blocks
      that take programs in turn, which have an order of their own.

    ```
      for k in 0 .. 64 * (program + 1)     =>     the same, with cta.from_end = [0]
    ```
  }];
  let counts = [Count<"kernelsTurned", "kernels whose longest programs start first">];
}

def AlternateTilesPass : TilePass<"tile-alternate-tiles", "::mlir::ModuleOp"> {
  let summary = "two groups of warps compute whole tiles by turns (ping-pong)";
  let description = [{
    - **Needs**: warpgroup products and persistent programs made, no layouts yet;
      module attribute `tile.kernel` (roles), if the choice is not free.
    - **Guarantees**: where it pays (or is asked for) and changes nothing that the program
      can observe, the kernel is compiled for half its warps and marked to
      be run by two groups of them (`groups` of `#cta.kernel`), which take the
      iterations of the marked loop (`cta.by_turns`) alternately. One
      group's results are worked on and stored under the products of the
      other ("ping-pong"). tile-specialize-warps makes the groups.
    - **Never**: chooses a loop whose iterations depend on each other other than
      through memory, nor one that could not be copied for by one thread.

    ```
      consumers {                           consumers {
        for tile:                             for every second tile:
          for k: wait; dot; release   =>        begin turn 0
          store                                 for k: wait; dot; release
      }                                         end turn 0
                                                store
                                            }
    ```
    Programs of the grid may store in any order. The iterations of a loop that the
    author wrote are in order: what they store, and what they read of that, is a
    second sequence of turns.
  }];
  let options = [
    Option<"always", "always", "bool", "/*default=*/false",
           "also where nobody asks for it and it is not known to pay">
  ];
  let counts = [Count<"loopsByTurns", "loops that two groups take by turns">];
}

def SpecializeWarpsPass : TilePass<"tile-specialize-warps", "::mlir::ModuleOp"> {
  let summary = "copies by a producer warp, everything else by consumer warps";
  let description = [{
    - **Needs**: a laid-out kernel.
    - **Guarantees**: no `cta.tma_load` is left. Loads that are used together share a
      ring of buffers in shared memory; so do the vectors and numbers that
      a loop loads beside them. Where the control flow around
      the loads can be followed by one thread alone, the kernel is
      split in two roles: a producer that runs ahead and fills the
      rings, and consumers that do everything else. Otherwise one
      thread copies where the load stood. Where no roles are wanted, one of the threads that
      compute starts the copies of a loop: of the first iterations before it, of later ones
      where a slot has been released; rings are made in the branch that all copies are in, if there
      is one, as programs that leave early need none. Loops side by side whose slots are of one kind share a
      ring. So do loops whose slots are of different kinds, each as large as the largest, and blocks
      that loops read, the later ones loaded behind the loop that reads the earlier, where that lets
      more warpgroups in or there would be fewer stages than by default. Beside a lone warpgroup rings have as many stages as let most programs in, three at
      least. Rings of loads that the thread
      blocks of a cluster may have in common move together. Where
      tile-alternate-tiles has said so, there are two groups of consumers, which
      take the iterations of a loop by turns.
    - **Never**: changes what the consumers compute, or the order of their stores.

    ```
      for k:                                cta.roles
        %a = cta.tma_load ...       =>        consumers { for k: wait; dot; release }
        %c = cta.warpgroup_dot %a             producer  { for k: acquire; copy; commit }
    ```
    The producer is a copy of the whole kernel, less everything that the copies
    do not depend on: so any nest of loops and branches works, persistent loops
    over tiles included.
  }];
  let counts = [
    Count<"ringsMade", "rings of buffers">,
    Count<"kernelsWithRoles", "kernels in which some warps only copy">
  ];
}

def HoistStoreStartsPass : TilePass<"tile-hoist-store-starts", "::mlir::ModuleOp"> {
  let summary = "compute the coordinates of stores before the products that they store";
  let description = [{
    - **Needs**: warp roles made.
    - **Guarantees**: the coordinates of a `cta.tma_store` are computed before the loop that
      computes what is stored, as far as they do not depend on it: there
      the warps wait for their operands anyway, behind it everybody waits
      for the store.
    - **Never**: moves anything but scalar arithmetic.

    The optimiser would put that arithmetic back into the branch of the one thread that
    stores; so its results are marked to be computed where they stand.
  }];
  let counts = [Count<"startsHoisted", "coordinates of stores computed before products">];
}

def ReverseLoopsPass : TilePass<"tile-reverse-loops", "::mlir::ModuleOp"> {
  let summary = "a second sweep over rows starts where the first one ended";
  let description = [{
    - **Needs**: a laid-out kernel whose copies to shared memory are made.
    - **Guarantees**: a loop that loads, from places that move with its counter, through an argument
      that a loop in front of it with the same counters goes over forward, goes from the last turn
      to the first, if turns have nothing to do with each other: nothing is carried, and what is
      written to one place is written and read there in one turn only, also where another argument
      is the same array, worked on in place. A third sweep goes forward again.
    - **Never**: changes a value; touches loops with atomic operations, assertions or output, or
      through pointers that were loaded.

    ```
      for c in range(0, n, 1024):                for c in range(0, n, 1024):
          s += load(row + c + i)            =>       s += load(row + c + i)
      for c in range(0, n, 1024):                for k in range(0, n, 1024): c = last - k
          store(out + c + i, load(..) / s)           store(out + c + i, load(..) / s)
    ```
    What was read last is still in the caches. Forward, rows that are longer than a program's
    share of a cache would have gone before they are read again.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let counts = [Count<"loopsReversed", "loops that go over rows backward">];
}

def DeferReductionsPass : TilePass<"tile-defer-reductions", "::mlir::ModuleOp"> {
  let summary = "threads meet behind loops, not in them";
  let description = [{
    - **Needs**: a laid-out kernel.
    - **Guarantees**: where a loop only combines a variable with results of reductions, each
      thread combines what it holds, and what threads hold is reduced behind the loop; also
      where the variable, a sum, is scaled row by row besides. Of a block that a loop only adds
      blocks to, and of which a sum along an axis is wanted behind it, each thread carries its
      part of that sum (CarriedSums.h). Where a loop adds up products with exponentials of what is
      below a running maximum (or that and a constant), the maximum and the sums stay as they are
      until a warp holds an element far above it (RareRescaling.cpp). Sums of floats
      are added in another order, and are relative to another maximum on the way; behind the
      loop everything is as without the pass.
    - **Never**: changes combiners that need their order; carries more registers than one for
      each that the results took, or four; decides for warps that share a row.

    ```
      for k: s += sum(x)     =>     for k: part += what a thread holds of x
                                    s += sum(part)
    ```
  }];
  let dependentDialects = ["::tile::cta::CtaDialect"];
  let options = [
    Option<"results", "results", "bool", "/*default=*/true", "reductions that a loop takes up">,
    Option<"maxima", "maxima", "bool", "/*default=*/true", "sums that are relative to a running maximum">
  ];
  let counts = [
    Count<"reductionsDeferred", "reductions that are finished behind a loop">,
    Count<"sumsNarrowed", "blocks of sums that a loop carries reduced by thread">,
    Count<"loopsRescaledRarely", "loops that scale their sums only when a maximum grows">
  ];
}

def JoinReductionsPass : TilePass<"tile-join-reductions", "::mlir::ModuleOp"> {
  let summary = "reductions whose results only meet are finished as one";
  let description = [{
    - **Needs**: a laid-out kernel, behind `tile-defer-reductions`, which sees to what loops take up.
    - **Guarantees**: where the results of several reductions are only combined with each other, and
      with other values, by what their combiner is, each thread combines what it holds of all of
      them, as soon as it is there, and what threads hold is reduced once. Sums of floats are added
      in another order.
    - **Never**: joins reductions of blocks of different layouts or in different blocks of code, or
      of which one result is needed besides; takes more registers for the parts than for the
      results, or four; joins sums that pick one element, which lanes ask for.

    ```
      s = s + sum(x) + sum(y)    =>    part = what a thread holds of x
                                       part += what it holds of y
                                       s = s + sum(part)
    ```
  }];
  let dependentDialects = ["::tile::cta::CtaDialect"];
  let counts = [
    Count<"reductionsJoined", "reductions that are finished with another one">
  ];
}

def OverlapDotsPass : TilePass<"tile-overlap-dots", "::mlir::ModuleOp"> {
  let summary = "keep warpgroup products in flight from one iteration to the next";
  let description = [{
    - **Needs**: warp roles made.
    - **Guarantees**: in a loop that does nothing with its accumulators but add one
      product to each, the last product of an iteration is still being
      computed when the next one starts; the slots that an iteration
      reads are given back in the next one, behind its first product.
      A loop that uses the result of its one product element by element
      does so under the next product (RotateDots.cpp; with several products
      StaggerDots.cpp). A loop whose last product multiplies, from registers, what
      became of another's result issues it in the next iteration, behind the
      product there, and under the arithmetic between the two (ChainDots.cpp), from
      a ring's slot or from one that the warps fill themselves and spare for a turn. Of
      several products that do not all depend on each other, the second is issued
      right behind the first, and each waited for where its result is used
      (EarlyDots.cpp). A loop whose threads fill its slots, none of which can be spared,
      starts these copies under its product (CopiesUnderDots.cpp).
      What the threads write to shared memory in each turn, weights that are widened say, has
      two places by turns, where shared memory has room for them: so it is computed under the
      product before (OperandsAhead.cpp).
      Slots that the warps fill themselves have a spare one among them.
    - **Never**: touches a loop that looks at an accumulator otherwise, nor one whose
      warpgroups keep the tensor core busy by turns.

    ```
      wait; dot; release     =>     wait; dot in flight; release the slot before
    ```
  }];
  let options = [
    Option<"flight", "flight", "bool", "/*default=*/true", "loops that only add up">,
    Option<"rotate", "rotate", "bool", "/*default=*/true",
           "loops that use the result of their product under the next">,
    Option<"stagger", "stagger", "bool", "/*default=*/true", "the same with several products">,
    Option<"chain", "chain", "bool", "/*default=*/true",
           "loops whose last product can run in the next turn">,
    Option<"early", "early", "bool", "/*default=*/true", "loops that can issue products early">,
    Option<"copies", "copies", "bool", "/*default=*/true", "copies started under a product">
  ];
  let counts = [
    Count<"loopsInFlight", "loops that only add up">,
    Count<"loopsAhead", "of them, loops that compute operands under the product before">,
    Count<"loopsRotated", "loops that use the result of their product under the next">,
    Count<"loopsStaggered", "the same with several products">,
    Count<"loopsChained", "loops whose last product runs in the next turn">,
    Count<"loopsEarly", "loops that issue products early">,
    Count<"loopsCopying", "loops that start copies under a product">
  ];
}

#endif // TILE_PASSES_SCHEDULE_PASSES
