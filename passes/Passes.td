//===- Passes.td - the project's passes -----------------------------------===//
//
// Each pass by its name on the command line, what it does in a sentence, and its
// contract: what it needs, what holds behind it, and what it never does. The order of
// passes, and why, is in Pipelines.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_PASSES
#define TILE_PASSES_PASSES

include "mlir/Pass/PassBase.td"

/// Something that a pass counts: `ALWAYS_ENABLED_STATISTIC` of that name in its sources,
/// printed by `tile-opt --counts`.
class Count<string theName, string whatItIs> {
  string name = theName;
  string what = whatItIs;
}

/// A pass whose choices can be overridden (options) and are counted.
class TilePass<string argument, string operation> : Pass<argument, operation> {
  list<Count> counts = [];
}

def FitSharedMemoryPass : TilePass<"tile-fit-shared-memory", "::mlir::ModuleOp"> {
  let summary = "lay a kernel out in the largest form that a thread block has the memory for";
  let description = [{
    - **Needs**: the tile level, after simplification.
    - **Guarantees**: what its steps (`buildCtaSteps`) make of the kernel, with all that was
      asked for if that fits the shared memory that a thread block of the target can have;
      else with the first of these that does, or the last: groups of warps do not take
      blocks by turns, since each stages what it stores beside the others; copies run fewer
      stages ahead, one less at a time, down to two; products are
      computed by warps, from registers, since warpgroups read their operands in shared
      memory. One stage that was asked for is as many as by default, if that fits and keeps half
      of the warpgroups that would compute at once. Remarks are those of the form that is kept.
    - **Never**: looks at how the steps work, nor keeps anything of a form that did not fit.
  }];
  let options = [
    Option<"smaller", "smaller", "bool", "/*default=*/true", "takes a smaller form where one does not fit">
  ];
  let counts = [Count<"formsTried", "forms of kernels that were laid out">];
}

def CountLoopsPass : TilePass<"tile-count-loops", "::mlir::ModuleOp"> {
  let summary = "loops that count as such, and what they leave in terms of their turns";
  let description = [{
    - **Needs**: tile operations without layouts, after simplification.
    - **Guarantees**: in kernels with products, a `scf.while` that counts by a constant up
      or down to a limit is a `scf.for`; pointers and integers that grow by the
      same in every turn of a `scf.for` are computed behind it from what they
      were before it and the number of turns, which is told in terms of the
      quotients that the program has already: K // 64, not (K - 63 + 63) // 64.
      Scalars n - n % c are n / c * c. Of an integer block to which a loop adds a number of each
      turn it carries the sum of these numbers. In kernels without products, comparisons that
      follow from the constant bounds of loops are constants, and what a loop does in its
      first turn only stands before it.
    - **Never**: changes a value, as long as index arithmetic does not overflow, nor that of a
      count down from within a step of the largest number, which is counted up.

    ```
      while left >= 64:            for t in range(0, max(K, 63) - 63, 64):
          p += 64; left -= 64  =>      p += 64
      load(p, k < left)            load(p0 + 64 * turns, k < K - 64 * turns)
    ```
    So the loads of a loop over what another has left are strided tiles like those
    of the first.
  }];
  let counts = [
    Count<"whilesCounted", "`while` loops that became `for`">,
    Count<"sumsCarried", "blocks that grow, of which a loop carries the growth">,
    Count<"valuesComputed", "values computed behind loops from their turns">
  ];
}

def SplitColumnsPass : TilePass<"tile-split-columns", "::mlir::ModuleOp"> {
  let summary = "products whose columns are no power of two in parts that are";
  let description = [{
    - **Needs**: tile operations without layouts, blocks of any size.
    - **Guarantees**: where a block of a product's results is stored whose number of columns
      is no power of two (320), there are several products whose numbers are
      (256 and 64), each stored by itself. All that the columns come from is
      computed in the same parts.
    - **Never**: computes a product twice: a block that is also used in another way than
      element by element, by loops, sums and stores, stays whole (and grows
      in tile-pad-shapes). Parts of less than 16 columns are not made.

    ```
      %c = tile.dot %a, %b, ... : 128x320     %c0 = tile.dot %a, %b0, ... : 128x256
      tile.store %p, %c                   =>  %c1 = tile.dot %a, %b1, ... : 128x64
                                              tile.store %p0, %c0
                                              tile.store %p1, %c1
    ```
    A part of a value is made from the same part of what it is computed from, back to
    ranges, constants, and what is the same in all columns. Loops carry the parts beside
    the whole; whatever is not needed any more is erased in the end.
  }];
  let options = [
    Option<"fewestColumns", "fewest-columns", "int64_t", "/*default=*/0",
           "columns of the smallest part; 0: what was chosen for the target">
  ];
  let counts = [Count<"storesSplit", "stores of products in parts">];
}

def PadShapesPass : TilePass<"tile-pad-shapes", "::mlir::ModuleOp"> {
  let summary = "grow blocks until their dimensions are powers of two";
  let description = [{
    - **Needs**: tile operations without layouts.
    - **Guarantees**: every dimension of every block is a power of two; what memory,
      scalars and other programs see is unchanged.
    - **Never**: assumes anything about the elements it adds, or lets one of them
      be loaded, stored, counted or combined with an element that was
      there.

    Layouts map bits of positions, so the rest of the compiler wants powers of
    two; kernels need not. Each dimension grows to the next one. The elements
    added have no defined value: most operations work on them as on any other,
    and those that could mix them with elements of the kernel are told which are
    which:

    ```
      %v = tile.load %p : tensor<48x!tile.ptr<f32>>
      %s = tile.reduce %v {axis = 0} : tensor<48xf32> -> f32   (addition)
    =>
      %in = arith.cmpi slt, (tile.make_range 0 to 64), 48
      %v  = tile.load %p, %in : tensor<64x!tile.ptr<f32>>
      %w  = arith.select %in, %v, -0.0
      %s  = tile.reduce %w {axis = 0} : tensor<64xf32> -> f32

      loads, stores, atomics, histograms   a mask
      reductions, backward scans           the neutral element; where the
                                           combiner has none that is known, a
                                           flag is combined along
      products                             zeros along the inner dimension
      gather                               index 0
      compare-and-swap, scalar functions   the last element of the kernel again
      assertions, prints                   left out
      reshapes                             as they are where only the outermost
                                           dimension grows, else by `tile.gather`
    ```
  }];
  let counts = [Count<"blocksGrown", "values whose blocks grew">];
}

def UnrollLoopsPass : TilePass<"tile-unroll-loops", "::mlir::ModuleOp"> {
  let summary = "unroll loops by the factor they ask for";
  let description = [{
    - **Needs**: tile operations without layouts.
    - **Guarantees**: no loop carries `tile.loop_unroll_factor`; the same iterations in
      the same order.
    - **Never**: unrolls where nobody asked; makes a kernel of more operations than
      can be compiled, which is an error.

    ```
      for i in tl.range(0, n, loop_unroll_factor=4):     body
    =>
      for i in range(0, n - n % 4, 4):                   body; body; body; body
      for i in range(n - n % 4, n):                      body
    ```
    The second loop is short and is not pipelined.
  }];
  let options = [
    Option<"mostOperations", "most-operations", "int64_t", "/*default=*/1 << 15",
           "operations that the body of a loop may grow to">
  ];
  let counts = [Count<"loopsUnrolled", "loops that were unrolled">];
}

def DecomposeDotsPass : TilePass<"tile-decompose-dots", "::mlir::ModuleOp"> {
  let summary = "products in terms of what the hardware multiplies";
  let description = [{
    - **Needs**: the tile dialect, before layouts; the module's target.
    - **Guarantees**: every product that matrix instructions could compute has operand
      types they read; `input_precision` is ieee or tf32.
    - **Never**: lowers a product, or changes one that the hardware has.

    1. A sum of a product and something else is a product that starts from it:

    ```
         %d = tile.dot %a, %b, 0;  %s = %d + %c    =>   %s = tile.dot %a, %b, %c
    ```
    2. f32 operands read as sums of narrower parts become products of the parts,

    ```
       the small ones first:
         tf32x3, bf16x3:  hi*hi + (hi*lo + lo*hi)
         bf16x6:          the six products of three parts above the last order
       An infinity minus itself is NaN, so parts of infinities make NaN out of
       products that are infinite; sums of small products that are NaN count as 0.
    ```
    3. 8-bit floats are widened to f16 where matrix instructions do not read them,

    ```
       and accumulated in f32 where they do.
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let counts = [
    Count<"sumsJoined", "sums that became what a product starts from">,
    Count<"productsOfParts", "products of several parts">,
    Count<"productsWidened", "products of 8-bit floats computed in f16">
  ];
}

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

def ExpandDescriptorsPass : TilePass<"tile-expand-descriptors", "::mlir::ModuleOp"> {
  let summary = "access tensors behind descriptors by pointers and masks";
  let description = [{
    - **Needs**: tile operations without layouts.
    - **Guarantees**: no `tile.descriptor_*` operation is left.
    - **Never**: changes what is read or written.

    ```
      %v = tile.descriptor_load %p[%i, %j] of [%m, %n] by [%s, %one]
    =>
      rows = %i + range, columns = %j + range        i32: one unsigned comparison
      mask = rows <u %m & columns <u %n              covers both ends
      %v = tile.load %p + rows * %s + columns, mask
    ```
    A position that wraps past 2^31 is negative, so it lies outside either way.
    The rules for strides (multiples of 16 bytes) are passed on as hints.
  }];
  let counts = [Count<"accessesExpanded", "accesses by descriptors that became pointers">];
}

def PersistProgramsPass : TilePass<"tile-persist-programs", "::mlir::ModuleOp"> {
  let summary = "several programs of the grid in one thread block, one after the other";
  let description = [{
    - **Needs**: module attribute `tile.persistent`; warpgroup products made.
    - **Guarantees**: a kernel that copies tiles by TMA runs the programs
      block, block + blocks, block + 2 * blocks, ... of its grid, so that
      one program's loads run under the stores of the one before. The
      true grid comes in three more parameters (`tile.num_programs`).
    - **Never**: touches other kernels: they gain nothing.
  }];
  let counts = [Count<"kernelsPersistent", "kernels with several programs in a block">];
}

def ClusterProgramsPass : TilePass<"tile-cluster-programs", "::mlir::ModuleOp"> {
  let summary = "thread blocks with neighbouring programs share what they load";
  let description = [{
    - **Needs**: programs in a loop (`cta.programs`); module attribute `tile.num_ctas`
      above 1, or no such attribute: then two blocks are a cluster where it
      is known to pay. That is in products of large blocks that read rows
      which may start in the middle of a sector: such a copy of 128 bytes
      takes five sectors from the L2 cache, whose speed is then what counts.
    - **Guarantees**: where thread blocks that take neighbouring programs may load the same
      tile in the same iteration, such blocks are a cluster (module attribute
      `cta.cluster`), and the loads say when the tile is the same
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

def MaskedArithmeticPass : TilePass<"tile-masked-arithmetic", "::mlir::ModuleOp"> {
  let summary = "apply masks to what is the same for many elements";
  let description = [{
    - **Needs**: inlined calls; merged masks (run common-subexpression elimination
      first).
    - **Guarantees**: the same values, bit for bit.
    - **Never**: touches what is not selected against zero.

    A row kernel clears what lies behind the end of the row again after it has
    subtracted the mean. But a load that gives 0 there makes the difference 0 as
    soon as what is subtracted is 0 there. The mean is the same for all
    elements and the mask for whole runs of them, so one select serves a run:

    ```
      %x = tile.load %p, %m, 0               %x = tile.load %p, %m, 0
      %d = arith.subf %x, %mean       =>     %s = arith.select %m, %mean, 0
      %c = arith.select %m, %d, 0            %c = arith.subf %x, %s
    ```
  }];
  let counts = [Count<"masksMoved", "masks applied to what is the same for many elements">];
}

def AssignLayoutsPass : TilePass<"tile-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "give every block a layout";
  let description = [{
    Decides which register of which lane of which warp holds each element, so
    that memory is accessed in whole lines and data moves between threads only
    where that is cheaper than computing again.

    ```
      tile.load  tensor<1024xf32>   =>   tile.load {vector = 4}
                                           tensor<1024xf32, #cta.layout<...>>
    ```
    - **Needs**: structured control flow, inlined calls, module attribute
      `tile.kernel`.
    - **Guarantees**: every tensor type carries a `#cta.layout` with inputs register,
      lane, warp; `vector` is set on loads and stores; no `tile.hint`.
    - **Never**: changes what is computed.

    1. Analyse how addresses and masks run along the axes (AxisInfo).
    2. Choose layouts: accesses first (Coalesce), then everything else forward

    ```
       (LayoutInference).
    ```
    3. Rewrite in one walk: operations take their layout; each operand is asked

    ```
       for in the layout its user works in. Deferred operations are computed
       there again, others are converted, once for each layout, right after
       their definition. A repetition is asked for its smaller operand, so what
       is converted is the smaller block. A `cta.stage` of 16-bit elements gets
       the arrangement that its source is written to at least cost.
    ```
  }];
  let dependentDialects = ["::tile::cta::CtaDialect"];
  let counts = [
    Count<"conversionsMade", "conversions between layouts">,
    Count<"valuesRecomputed", "values computed again in another layout">
  ];
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
      where a slot has been released. Loops side by side whose slots are of one kind share a
      ring. Rings of loads that the thread
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

def PipelineLoadsPass : TilePass<"tile-pipeline-loads", "::mlir::ModuleOp"> {
  let summary = "copy what loops load to shared memory, iterations ahead";
  let description = [{
    - **Needs**: a laid-out kernel, warp roles made; sm_80 or later.
    - **Guarantees**: in a loop over products, blocks that are loaded in every iteration
      are copied to shared memory by the threads themselves (cp.async),
      `num_stages - 1` iterations before they are used. So are all blocks
      of a loop that asks for stages itself; on sm_90 its rows are copied
      in bulk instead (BulkRings.cpp).
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
    long (OverlapDots.cpp), there is one slot more, and it is the one before that.

    A block that warpgroup instructions read along the other dimension than memory has it
    (elements of 8 or 32 bits) is copied as it lies where that takes less than copies of
    4 bytes; the threads read it from its slot in squares, and stage those. Single numbers
    that the loop loads for itself are loaded in the turn before, and carried.
  }];
  let options = [
    Option<"bulk", "bulk", "bool", "/*default=*/true", "rows of loops that ask for stages by bulk copies">,
    Option<"spare", "spare", "bool", "/*default=*/true", "a slot more where products can be in flight">
  ];
  let counts = [
    Count<"loopsPipelined", "loops whose loads are copied ahead by threads">,
    Count<"loadsCopied", "loads of those loops">,
    Count<"rowRingsMade", "loops whose rows are copied in bulk">,
    Count<"spareSlots", "loops with a slot for products in flight">
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

def SinkConversionsPass : TilePass<"tile-sink-conversions", "::mlir::ModuleOp"> {
  let summary = "move data between threads when all loads are under way";
  let description = [{
    - **Needs**: a laid-out kernel whose copies to shared memory are made.
    - **Guarantees**: a `cta.convert_layout` with a load behind it stands right before its
      result is needed first in its block.
    - **Never**: moves anything into another block, or anything but conversions.

    ```
      %a = tile.load %p                 %a = tile.load %p
      %x = cta.convert_layout %a   =>   %b = tile.load %q
      %b = tile.load %q                 %x = cta.convert_layout %a
      ... %x, %b                        ... %x, %b
    ```
    A conversion waits for what it moves, and most often all warps for each other: what is
    loaded behind it would start that much later.
  }];
  let counts = [Count<"conversionsSunk", "conversions behind loads">];
}

def PrefetchProgramsPass : TilePass<"tile-prefetch-programs", "::mlir::ModuleOp"> {
  let summary = "ask the L2 cache for the rows of programs that start later";
  let description = [{
    - **Needs**: a laid-out kernel, warp roles and rings made; sm_90 to sm_119, whose L2
      caches have 50 MB and more.
    - **Guarantees**: in a kernel that reduces rows, each program asks the L2 cache for the
      row that a later program begins with: the one that starts about when
      8 MB more have been loaded, and no more than that been stored.
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
    each multiprocessor. Half as far ahead gains half as much; one and a half times as
    far loses 5 %, and three times as far a third: rows are gone again before they are
    needed, pushed out by what is stored meanwhile.
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

def DeferReductionsPass : TilePass<"tile-defer-reductions", "::mlir::ModuleOp"> {
  let summary = "threads meet behind loops, not in them";
  let description = [{
    - **Needs**: a laid-out kernel.
    - **Guarantees**: where a loop only combines a variable with results of reductions, each
      thread combines what it holds, and what threads hold is reduced behind the loop; also
      where the variable, a sum, is scaled row by row besides. Where a loop adds up products
      with exponentials of what is below a running maximum, the maximum and the sums stay as
      they are until a warp holds an element far above it (RareRescaling.cpp). Sums of floats
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
    Count<"loopsRescaledRarely", "loops that scale their sums only when a maximum grows">
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
      product there, and under the arithmetic between the two (ChainDots.cpp). Of
      several products that do not all depend on each other, the second is issued
      right behind the first, and each waited for where its result is used
      (EarlyDots.cpp). A loop whose threads fill its slots, none of which can be spared,
      starts these copies under its product (CopiesUnderDots.cpp).
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
    Count<"loopsRotated", "loops that use the result of their product under the next">,
    Count<"loopsStaggered", "the same with several products">,
    Count<"loopsChained", "loops whose last product runs in the next turn">,
    Count<"loopsEarly", "loops that issue products early">,
    Count<"loopsCopying", "loops that start copies under a product">
  ];
}

def NarrowLiveRangesPass : TilePass<"tile-narrow-live-ranges", "::mlir::ModuleOp"> {
  let summary = "keep 16-bit blocks packed across reductions";
  let description = [{
    - **Needs**: a laid-out kernel.
    - **Guarantees**: the same values; where wide values derived from a 16-bit load
      would stay in registers across a reduction, or across a loop of
      reductions that only reads them, they are computed again from the
      packed load after it, or in each iteration.
    - **Never**: recomputes memory accesses, reductions or long chains; nor where a
      computed mask would have to stay in registers for it.

    A row kernel loads f16, computes in f32, reduces, and uses the row again. The
    f32 copy of the row occupies twice the registers of the f16 one; for long
    rows that costs a resident thread block, and with it the overlap of one
    block's loads with another's arithmetic. Converting (and even exponentiating)
    twice is cheaper than waiting.

    ```
      %x = arith.extf %h                     %x = arith.extf %h
      %m = tile.reduce %x           =>       %m = tile.reduce %x
      use %x                                 %p = cta.pin %h
                                             %y = arith.extf %p
                                             use %y
    ```
    So with the weights that a loop over rows multiplies by: loaded before the
    loop, and widened in it rather than before.
  }];
  let dependentDialects = ["::tile::cta::CtaDialect"];
  let options = [
    Option<"fromRegisters", "from-registers", "int64_t", "/*default=*/-1",
           "registers that are kept, from which on it is done; -1: what was chosen for the target">
  ];
  let counts = [Count<"valuesRecomputed", "values computed again from packed blocks">];
}

def AllocateScratchPass : TilePass<"tile-allocate-scratch", "::mlir::ModuleOp"> {
  let summary = "place exchange buffers in shared memory";
  let description = [{
    - **Needs**: a laid-out kernel.
    - **Guarantees**: every op that exchanges data between warps carries
      `cta.scratch_offset`; the module carries `cta.shared_bytes`.
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
    else ever is. Rings get as many slots as were asked for and fit; the
    area of the stores is as large as a whole block where that leaves room for them, and else what is
    staged in parts. Stores that always run together have an area each if all have room and no
    program on a multiprocessor is lost by it. Elastic rings have as many as fit beside whole blocks,
    if these are three.

    Groups of consumers that run the same code (`groups` of `#cta.kernel`) have everything but the rings to
    themselves: offsets are those of the first group, and the module carries `cta.group_bytes`, the
    distance to the next one.
  }];
  let counts = [Count<"slotsGivenUp", "slots of rings that did not fit">];
}

def InsertBarriersPass : TilePass<"tile-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "separate uses of overlapping shared memory by barriers";
  let description = [{
    - **Needs**: scratch offsets assigned.
    - **Guarantees**: between the last read of a shared-memory byte by one op and its
      next write by another there is a barrier on every path.
    - **Never**: adds a barrier that no hazard asks for.

    Each exchanging op writes its buffer, passes its own barrier and reads it
    back. So after the op only its reads are pending, and everything before its
    barrier is settled. A `cta.barrier` is needed before an op exactly if its
    buffer overlaps a pending one. Loops are walked until the set of pending
    buffers at the head settles (it only grows, over finitely many buffers).
    A `cta.tma_store` has memory of its own, and a barrier before its copies; that is
    one of all threads if these are one warpgroup (else each may store its own rows).
  }];
  let counts = [Count<"barriersInserted", "barriers">];
}

def LowerToLLVMPass : TilePass<"tile-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower a laid-out kernel to the LLVM dialect, one value per register";
  let description = [{
    - **Needs**: a module with one kernel (`func.func`), every block with a
      `#cta.layout`, scratch offsets assigned, barriers placed.
    - **Guarantees**: one `llvm.func` with the same name and parameters, marked as a
      kernel; nothing of the tile, cta, arith, math, scf, func dialects.
    - **Never**: changes layouts, moves memory accesses or adds barriers between
      ops (an op's own exchange through scratch has its own barrier).

    A hand-written walk rather than dialect conversion: every value maps to a
    list of registers (1:N), structure maps to blocks, and nothing is ever
    rolled back, which makes it several times faster to run.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def AlgebraicImagePass : TilePass<"tile-algebraic-image", "::mlir::ModuleOp"> {
  let summary = "compute with numbers of a ring in the place of floats";
  let description = [{
    - **Needs**: a lowered kernel, not optimised yet; `tile.algebraic` on the module.
    - **Guarantees**: nothing computes with floats but inline PTX and matrix instructions. A
      float's bits are a number modulo 2 to their count; values, memory and everything
      that only moves them stay as they are.
    - **Never**: touches a module without the attribute.

    ```
      %c = llvm.fadd %a, %b : f32   =>   %x = llvm.bitcast %a : f32 to i32; ...
                                         %z = llvm.add %x, %y : i32
                                         %c = llvm.bitcast %z : i32 to f32
    ```
    Before the scalar optimiser: what it folds are then integers.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def TestAxisInfoPass : TilePass<"tile-test-axis-info", "::mlir::func::FuncOp"> {
  let summary = "remark what the axis analysis finds about each value (testing only)";
}

def VerifyProtocolPass : TilePass<"tile-verify-protocol", "::mlir::ModuleOp"> {
  let summary = "check the order of ring operations and asynchronous copies";
  let description = [{
    - **Guarantees**: fails where rings or asynchronous copies are not used as the
      constraints of `cta.ring` and `cta.async_copy` say.
    - **Never**: changes anything.

    For tests, and between the passes of a compiler with assertions: what one operation
    can check by itself, MLIR's own verifier does.
  }];
}

#endif // TILE_PASSES_PASSES
