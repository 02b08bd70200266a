//===- Passes.td - who holds which element --------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_PASSES
#define TILE_PASSES_LAYOUTS_PASSES

include "passes/TilePass.td"

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
      lane, warp; `vector` is set on loads and stores; no `tile.hint`. Where the launch is checked,
      parameters whose multiples would make accesses faster say so (`tile.wanted_multiple`).
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

def ShareInnerPass : TilePass<"tile-share-inner", "::mlir::ModuleOp"> {
  let summary = "warps share the inner dimension of products";
  let description = [{
    - **Needs**: blocks of powers of two without layouts; products of warpgroups are made.
    - **Guarantees**: where the result of a product by matrix instructions of warps has fewer tiles
      than there are warps, or a thread has no registers for what it would hold, the product is
      one of batches: parts of the inner dimension, each of which some warps multiply, and a
      sum over them, if that takes fewer cycles. Where a loop only adds up products, so do the
      parts, and the sum stands behind the loop.
    - **Never**: multiplies anything else than before; adds up numbers of fewer than 32 bits anew;
      touches products of what other products gave, of which warps have whole rows.

    ```
      for k: %s = tile.dot %a, %b, %s0     =>   for k: %x = trans (reshape %a); %y = reshape %b
        : tensor<16x256xf16> *                    %p = tile.dot %x, %y, %p0
          tensor<256x16xf16>                        : tensor<4x16x64xf16> * tensor<4x64x16xf16>
                                                %s = tile.reduce %p {axis = 0}
    ```
    A turn costs the matrix instructions of all warps, at the peak of the chip; a wavefront for
    each word of the operands that a warp reads, and for each that a thread has no register for;
    and adding up the parts through shared memory, as often as results are needed.
  }];
  let counts = [Count<"productsShared", "products whose inner dimension warps share">];
}

def OrderOperandsPass : TilePass<"tile-order-operands", "::mlir::ModuleOp"> {
  let summary = "count widened operands of products in the order in which they lie in memory";
  let description = [{
    - **Needs**: warpgroup products made, blocks not laid out yet.
    - **Guarantees**: where the left operand of a product is made in registers, element by
      element, of a load of narrower elements, a thread holds elements side by side that lie
      side by side in memory: along the inner dimension, where the right operand, which threads
      write to shared memory, is counted alike, or along its rows, where sums are renamed in
      front of the product and their results behind it.
    - **Never**: adds an operation that moves data by itself: renaming is a reshape, a
      transposition and a reshape.

    ```
      %a = tile.load %p : f8                    %a = tile.load %p
                                          %n = rename %a
      %w = tile.fp_cast %a : f16        =>      %w = tile.fp_cast %n
      %s = cta.stage %q                         %s = cta.stage (rename %q)
      %d = cta.warpgroup_dot %w, %s, %c         %d = cta.warpgroup_dot %w, %s, %c
    ```
    A thread has two neighbours of a row of a left operand, and then the ones eight further on: of
    8-bit elements it would read two bytes at a time. In the other order it reads sixteen.
  }];
  let counts = [
    Count<"sumsReordered", "products that sum in the order of memory">,
    Count<"rowsReordered", "products with rows in the order of memory">
  ];
}

def SinkConversionsPass : TilePass<"tile-sink-conversions", "::mlir::ModuleOp"> {
  let summary = "move data between threads when all loads are under way";
  let description = [{
    - **Needs**: a laid-out kernel whose copies to shared memory are made.
    - **Guarantees**: a `cta.convert_layout` with a load behind it stands right before its
      result is needed first in its block; so does one whose result takes more registers than what
      it moves, if threads combine or exchange anything else before that. But it stands in front of
      the loads before it if only so a thread has the registers for them beside what it moves.
    - **Never**: moves anything into another block, or anything but conversions.

    ```
      %a = tile.load %p                 %a = tile.load %p
      %x = cta.convert_layout %a   =>   %b = tile.load %q
      %b = tile.load %q                 %x = cta.convert_layout %a
      ... %x, %b                        ... %x, %b
    ```
    A conversion waits for what it moves, and most often all warps for each other: what is
    loaded behind it would start that much later. What is loaded in front of it is held until it is
    done; behind it, threads take that up one by one.
  }];
  let counts = [Count<"conversionsSunk", "conversions behind loads">,
                Count<"conversionsRaised", "conversions in front of loads">];
}

def ComputeBehindProductsPass : TilePass<"tile-compute-behind-products", "::mlir::ModuleOp"> {
  let summary = "what is needed behind a loop that multiplies is computed there";
  let description = [{
    - **Needs**: a laid-out kernel, no scratch placed yet.
    - **Guarantees**: blocks of floats that are computed in front of a loop over products, element
      by element, by repetition or by a change of layout, and needed only behind it, are computed
      behind it, if a thread then keeps fewer registers of blocks while the loop runs.
    - **Never**: moves what accesses memory, or anything into a loop.

    ```
      %x = cta.convert_layout %row            %sum = for k: ... tile.dot
      %y = tile.broadcast %x             =>   %x = cta.convert_layout %row
      %sum = for k: ... tile.dot              %y = tile.broadcast %x
      ... %sum, %y                            ... %sum, %y
    ```
    Of a row that was loaded with an element a lane, a thread has sixteen or more beside its sums.
  }];
  let counts = [Count<"valuesMoved", "values computed behind loops that multiply">];
}

def GroupLoadsPass : TilePass<"tile-group-loads", "::mlir::ModuleOp"> {
  let summary = "loads start before what waits for other loads";
  let description = [{
    - **Needs**: a laid-out kernel, loops scheduled.
    - **Guarantees**: in a kernel without products of warpgroups, a block that threads load into registers
      is loaded, with its addresses, before
      the first operation behind the loads in front of it that waits for one of those, or for other
      threads, as long as no thread holds more registers so than the kernel's blocks take where they
      take most, products by matrix instructions of warps included. So several loads wait at once.
      In one with products of warpgroups, what threads load behind a loop of them (a bias, a block that
      the result is added to) is loaded before that loop, which waits for copies there anyway, as long as
      threads have registers left for it that are no other program's.
    - **Never**: moves a load across what writes memory, a branch or another loop; nor one that is volatile
      or whose address is itself loaded there.

    ```
      %a = tile.load %p                 %a = tile.load %p
      %m = arith.select %c, %a, %z  =>  %b = tile.load %q
      %b = tile.load %q                 %m = arith.select %c, %a, %z
    ```
    The assembler would do the same where registers abound. Where they do not it stays with
    the order of the text, and moves nothing across barriers.
  }];
  let counts = [
    Count<"loadsMoved", "loads that start before what waits for others">
  ];
}

def KeepOperandsSharedPass : TilePass<"tile-keep-operands-shared", "::mlir::ModuleOp"> {
  let summary = "operands of products stay in shared memory until they are needed";
  let description = [{
    - **Needs**: a laid-out kernel, loops scheduled, no scratch placed yet.
    - **Guarantees**: in a kernel whose products leave a thread too few registers, a 16-bit block
      that moves through shared memory only to be the operand of products by matrix instructions
      of warps, turned, repeated or as it is, is written there once, where it is computed, or
      behind the loads that follow, and each product reads from it what it needs, when it needs
      it. With registers for all, so is what moves for several operands, as it is and
      turned say (`dot(x, trans(x))`). Blocks of batches lie there one behind the other. Blocks that results of warpgroup
      products are combined with, of which a thread has more behind the exchange, scales of
      columns say, are written in front of the product and read behind it, where that lets
      another program in; `cta.programs_together` tells the assembler. In every kernel, a block
      that warpgroups multiply as it is and transposed is written once, where the hardware reads
      one copy in both orders.
    - **Never**: touches operands that threads already hold; nor, but for that, what moves once in
      kernels that have the registers.

    ```
      %b = cta.convert_layout %x         %s = cta.stage %x
      for k:                        =>   for k:
        tile.dot %a, %b, %c                %b = cta.read %s
                                           tile.dot %a, %b, %c
    ```
    Of two warps, each holds all columns of a right operand: 64 x 64 take 64 registers of each
    thread. Spilled and loaded again, they would cost two accesses each; read by matrices, a
    quarter of one.
  }];
  let counts = [
    Count<"operandsKept", "operands that wait in shared memory for their products">,
    Count<"blocksReadLate", "blocks that wait in shared memory behind products">,
    Count<"copiesSaved", "blocks that products read in two orders from one copy">
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

#endif // TILE_PASSES_LAYOUTS_PASSES
