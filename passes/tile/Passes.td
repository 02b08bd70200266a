//===- Passes.td - passes over blocks, before layouts ---------------------===//
#ifndef TILE_PASSES_TILE_PASSES
#define TILE_PASSES_TILE_PASSES

include "passes/TilePass.td"

def RollProductsPass : TilePass<"tile-roll-products", "::mlir::ModuleOp"> {
  let summary = "products that are added up one after the other become a loop";
  let description = [{
    - **Needs**: tile operations without layouts, after simplification; equal values are one (CSE).
    - **Guarantees**: outside of loops, more products than stages of which each adds to what the one
      before gives, and whose operands are computed alike, of values that are the same for all and
      of constants that grow by steps, are one product in a loop. Sums are added up in the same
      order.
    - **Never**: moves a load across a store, an atomic operation or a barrier, or loads what others
      need, too.

    ```
      %d0 = tile.dot load(%p), load(%q), %c             %d = scf.for %k = 0 to 4 step 1 iter_args(%s = %c)
      %d1 = tile.dot load(%p + 32), load(%q + 32), %d0      %n = splat(%k * 32)
      %d2 = tile.dot load(%p + 64), load(%q + 64), %d1  =>   %r = tile.dot load(%p + %n), load(%q + %n), %s
      %d3 = tile.dot load(%p + 96), load(%q + 96), %d2       scf.yield %r
    ```
    Loops over constants that were unrolled (`tl.static_range`) have no turns that copies could be
    started ahead of, and slots for each load of theirs.
  }];
  let counts = [Count<"productsRolled", "sums of products that became loops">];
}

def NestLoopsPass : TilePass<"tile-nest-loops", "::mlir::ModuleOp"> {
  let summary = "a loop over tiles and their steps in one becomes a loop in a loop";
  let description = [{
    - **Needs**: tile operations without layouts, after simplification.
    - **Guarantees**: a loop that counts the steps of a tile, and begins with the next tile where a
      counter has reached the last step, is a loop over tiles around one over steps: what is done
      in the first step of a tile alone stands before the inner loop, what is done in the last one
      alone behind it.
    - **Never**: changes the order of accesses that may meet: what is done in the last step is the
      only thing that writes, and nothing is loaded behind it in its turn. Turns that are left
      behind the last whole tile are left out, as they write nothing, and nothing else needs what
      the loop computes.

    ```
      for _ in range(0, steps * tiles):         for _ in range(0, tiles):
          k = 0 if k == steps - 1 else k + 1        tile += 1
          if k == 0: tile += 1               =>     for k in range(0, steps):
          sum = dot(a(tile, k), b(tile, k), sum)        sum = dot(a(tile, k), b(tile, k), sum)
          if k == steps - 1:                        store(c(tile), sum)
              store(c(tile), sum); sum = 0          sum = 0
    ```
    In one loop neither addresses nor masks are those of a strided tile, and no copy can be started
    ahead: a step may be one of another tile.
  }];
  let counts = [Count<"loopsNested", "loops over tiles and their steps that became two">];
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
      Scalars n - n % c are n / c * c. Integers that a `scf.for` carries for its turns alone, and that grow by
      its step, are its variable plus what they were ahead of it. Of a block of integers or pointers to which a loop adds a number of
      each turn it carries the sum of these numbers. Branches that follow from the constant
      bounds of loops are decided. In kernels without products, all comparisons that
      do are constants, what a loop does in its
      first turn only stands before it, and the few turns of a `scf.while` that are known without
      a counter (a search in a constant range) stand one behind the other.
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
    Count<"whilesUnrolled", "`while` loops whose turns are known">,
    Count<"sumsCarried", "blocks that grow, of which a loop carries the growth">,
    Count<"valuesComputed", "values computed behind loops from their turns">
  ];
}

def AdjacentAccessesPass : TilePass<"tile-adjacent-accesses", "::mlir::ModuleOp"> {
  let summary = "loads and stores of elements that lie beside each other are one";
  let description = [{
    - **Needs**: tile operations without layouts, dimensions that are powers of two.
    - **Guarantees**: of loads between which nothing is written, and of stores that follow each other, those
      under one mask, or each under one that asks for its own place (`i < n`, `i + 1 < n`), whose places differ by
      1, 2, ... elements, and have gaps of as many themselves, are one access of a block with one more dimension,
      taken apart behind the load or put together before the store: as many as an aligned vector has; of stores also
      all that fill memory without gaps, up to sixteen. Other stores a few elements apart follow each other (`tile.in_step`).
    - **Never**: changes a volatile load, or joins what lies along the block anyway (`x[i]` and `x[i + 1]`).

    ```
      %a = tile.load x + 2 * i : 128                 %v = tile.load x + 2 * i + (0, 1) : 128x2
      %b = tile.load x + 2 * i + 1 : 128       =>     %a, %b = tile.split %v
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let counts = [
    Count<"accessesJoined", "loads and stores that are one with their neighbours">
  ];
}
def WindowAccessesPass : TilePass<"tile-window-accesses", "::mlir::ModuleOp"> {
  let summary = "loads between vectors are made of vectors";
  let description = [{
    - **Needs**: tile operations without layouts, dimensions that are powers of two.
    - **Guarantees**: a load of neighbours along the last dimension that a number takes off the start of vectors
      (`x[i - 1]`) is two loads of vectors, of which each thread takes what it needs. Their addresses and masks are the
      formulas of the load's, some elements on: loads of a window have equal ones, which are one behind CSE.
    - **Needs of each**: that no vector reaches past the array. What else a vector has than the load asks for is what
      neighbours ask for: the mask says that the place loaded is not behind the array, nor before it where a number is
      subtracted. In kernels of functions (`tile.whole_rows`) it may say so of another place, or places wrap around:
      other programs load what these do not.
    - **Never**: changes a volatile load, one in a loop of products, or the only such load of wide elements.

    ```
      %a = tile.load x + (i - 1) : 128              %v = tile.load x + (i - 4) : 128     // by vectors of 4
      %b = tile.load x + i : 128             =>     %b = tile.load x + i : 128
                                                    %a = (%v[3], %b[0], %b[1], %b[2]) of each vector
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let counts = [
    Count<"loadsShifted", "loads of what lies beside vectors, made of vectors">
  ];
}
def LoadOncePass : TilePass<"tile-load-once", "::mlir::ModuleOp"> {
  let summary = "of what a block has several times, one is loaded";
  let description = [{
    - **Needs**: tile operations without layouts, dimensions that are powers of two.
    - **Guarantees**: what a loop loads for its products alone,
      and has the same address under the same mask in runs along a dimension, is loaded once for
      each run and repeated behind the load, where the addresses are made of ranges, numbers and what the loop carries. Weights of
      few bits, several to a word, are named so: a row of words for each row of weights. Where the runs themselves follow one
      another (`k / 2` along a row of bytes), so do what is loaded and its addresses. Behind a
      look-up in a table (`tile.gather`) that is the condition: words of them, at least, can be copied ahead.
    - **Never**: changes a volatile load, or one that is needed for anything but products.

    ```
      %p = base + (k / 8) * stride + n                %p = base + (8 * k' / 8) * stride + n
      %w = tile.load %p : 64x128               =>     %v = tile.load %p : 8x128
      %q = (%w >> (k % 8 * 4)) & 15                   %w = reshape (broadcast %v : 8x8x128) : 64x128
    ```
    Copied ahead, each word took the room and the time of eight.
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let counts = [
    Count<"loadsThinned", "loads of one of each run of equal elements">
  ];
}
def CutBlocksPass : TilePass<"tile-cut-blocks", "::mlir::ModuleOp"> {
  let summary = "blocks that no thread can hold, loaded, changed and stored part by part";
  let description = [{
    - **Needs**: tile operations without layouts, dimensions that are powers of two.
    - **Guarantees**: where a thread's share of a stored block is more than it has registers, and
      all that is stored beside it is made of what is loaded, ranges and constants, by operations
      whose parts are made of parts (element by element, shapes in which the parts stay together,
      reductions along other dimensions), a loop makes and stores one part after the other, each
      block along its slowest dimension that has enough elements. What is the same in all parts is
      computed in front of it.
    - **Never**: lets a part be stored before what another is made of is loaded, where they may be
      the same memory; moves other effects; cuts what is needed as a whole, too.

    ```
      %v = tile.load %p : 512x512            scf.for %i = 0 to 32:
      tile.store %q, %v               =>       %v = tile.load %p.. : 16x512
                                               tile.store %q.., %v
    ```
    Each thread would spill most of what it loads: an assembler for such text takes a minute.
  }];
  let counts = [
    Count<"blocksCut", "blocks that are loaded, changed and stored part by part">
  ];
}

def SplitColumnsPass : TilePass<"tile-split-columns", "::mlir::ModuleOp"> {
  let summary = "products whose columns are no power of two, or have no room, in parts";
  let description = [{
    - **Needs**: tile operations without layouts, blocks of any size.
    - **Guarantees**: where a block of a product's results is stored whose number of columns
      is no power of two (320), there are several products whose numbers are
      (256 and 64), each stored by itself. All that the columns come from is
      computed in the same parts. The same in two or four equal parts where a loop adds up
      what products of warpgroups give, and a thread has no room for the sums beside
      a whole result (SumsBeside.h).
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
           "columns of the smallest part; 0: what was chosen for the target">,
    Option<"sums", "sums", "bool", "/*default=*/true", "parts where sums leave no room beside">
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
  let summary = "unroll loops by the factor they ask for, and sides of windows";
  let description = [{
    - **Needs**: tile operations without layouts.
    - **Guarantees**: no loop carries `tile.loop_unroll_factor`; the same iterations in
      the same order. A loop of two to four turns, whose number is known, that loads behind masks which
      ask for its counter, as stencils and pooling have for a side of their window, is written out:
      of one turn most of such a mask is known.
    - **Never**: unrolls other loops where nobody asked; makes a kernel of more operations than
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

def KeepRowsPass : TilePass<"tile-keep-rows", "::mlir::ModuleOp"> {
  let summary = "keep in registers what is loaded again";
  let description = [{
    - **Needs**: tile operations without layouts, after common subexpressions are one.
    - **Guarantees**: in kernels without products, a load through the same pointers under the same
      mask as an earlier one of its block is that one, if nothing was written to what it reads
      since, and a thread has registers for it; a single number that was stored to a place is what
      is loaded from there, also in the next turn of a loop, which carries it, and what is written
      over before anybody can see it is not stored (ForwardStores.cpp). Loops with a constant number of turns are
      unrolled where a later one loads what an earlier one has. In kernels with products, what each
      turn of a loop that multiplies would load again stands in front of it, with what is computed
      from it alone, where the loop writes nothing to what it reads and few registers keep it:
      scales of scales, say, of weights of few bits, or a bias. If the loop may not turn at all, it
      is loaded under a mask that says whether it does.
    - **Never**: shares loads that are volatile or name a cache; keeps more than leaves room for
      the programs that `keepPrograms` of the target's numbers counts; loads what only some turns
      would.

    ```
      for c in range(0, 4096, 1024):             x0, x1, x2, x3 = loads
          total += load(row + c + i)        =>   total = x0 + x1 + x2 + x3
      for c in range(0, 4096, 1024):             store(x0 / total); ...
          store(load(row + c + i) / total)
    ```
    So a row that is gone over twice comes from memory once, and all of it is on its way
    together.
  }];
  let options = [
    Option<"mostTurns", "most-turns", "int64_t", "/*default=*/32", "turns of a loop to unroll">,
    Option<"mostOperations", "most-operations", "int64_t", "/*default=*/1 << 11",
           "operations that such a loop may become">
  ];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let counts = [
    Count<"loopsUnrolled", "loops unrolled because a later one loads the same">,
    Count<"loadsShared", "loads that an earlier load has made">,
    Count<"loadsHoisted", "loads in front of a loop that loads the same in each turn">
  ];
}

def JoinLoopsPass : TilePass<"tile-join-loops", "::mlir::ModuleOp"> {
  let summary = "loops side by side that do not wait for each other run as one";
  let description = [{
    - **Needs**: tile operations without layouts, common subexpressions merged.
    - **Guarantees**: where each turn of a loop reduces what the turn before has reduced, and a
      later loop of the same block is of that kind and needs nothing of the first one's, the turns
      that both have are those of one loop. What is left of each follows, if it is not known that
      nothing is. Both start at a constant and count in steps of one.
    - **Never**: changes a value; joins loops that write, assert or multiply, stand on both sides of
      what does, were given hints, or compute in a turn with more than a quarter of a thread's
      registers.

    ```
      for i in range(2, min(16, n)):           for i in range(2, min(16, n, m)):
          a = f(a, i)                      =>      a = f(a, i); b = g(b, i)
      for i in range(2, min(16, m)):           for i in range(.., min(16, n)): a = f(a, i)
          b = g(b, i)                          for i in range(.., min(16, m)): b = g(b, i)
    ```
    A turn waits for shuffles, or for barriers, that the other one's run under.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let counts = [Count<"loopsJoined", "loops whose turns run with those of an earlier one">];
}

def NarrowDotsPass : TilePass<"tile-narrow-dots", "::mlir::ModuleOp"> {
  let summary = "products of widened operands are products of the narrow ones";
  let description = [{
    - **Needs**: the tile dialect, before layouts; the module's target.
    - **Guarantees**: a product of f32 blocks, read with less than all of their bits or as sums of
      parts, all elements of which were floats of 16 bits of one kind, or of 8, or are constants
      that such floats hold, is the product of these: through selects, changes of shape and of
      sign in between. Each product of two of them is exact in f32, as it is of the wide ones.
    - **Never**: narrows what was computed in f32, nor products that are asked for as `ieee`, which
      matrix instructions do not add up.

    ```
      %x = arith.extf %a : f16 to f32                       %d = tile.dot %a, %b, %c
      %y = arith.extf %b : f16 to f32                   =>
      %d = tile.dot %x, %y, %c precision = tf32
    ```
    Half of the registers and of the shared memory, twice the rate; and what is loaded for the
    product can be copied to where it is multiplied.
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let counts = [Count<"productsNarrowed", "products of what their operands were widened from">];
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
       Not of 8-bit floats that warpgroups multiply: they add with fewer bits than f32 has.
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

def ExtremaPass : TilePass<"tile-extrema", "::mlir::ModuleOp"> {
  let summary = "find maxima and minima that hand on NaN";
  let description = [{
    - **Needs**: inlined calls; merged comparisons (run common-subexpression elimination
      first).
    - **Guarantees**: the same numbers; a NaN is a NaN, with any bits.
    - **Never**: touches choices whose result may be a zero of another sign.

    ```
      %m = arith.cmpf ogt, %a, %b
      %n = arith.cmpf une, %a, %a
      %c = arith.ori %m, %n           =>     %x = arith.maximumf %a, %b
      %x = arith.select %c, %a, %b
    ```

    Numbers that are limited to the range of an 8-bit float and converted to it are limited by the
    conversion; that NaN becomes a number, by the inner limit:

    ```
      %y = tile.clamp %x, %low, 448           =>     %y = arith.maxnumf %x, %low
      %z = tile.fp_cast %y rtne                      %z = tile.fp_cast %y rtne
    ```
  }];
  let counts = [Count<"extremaFound", "choices that are one instruction">,
                Count<"limitsDropped", "limits that conversions have themselves">];
}

def PartnersPass : TilePass<"tile-partners", "::mlir::ModuleOp"> {
  let summary = "let the elements of pairs see each other once";
  let description = [{
    - **Needs**: inlined calls.
    - **Guarantees**: the same bits; a NaN is a NaN, with any bits.
    - **Never**: touches a sum of which only one place is asked for.

    Networks that sort, as they were written before blocks could be combined by `xor`, find out both
    elements of each pair by sums of what masks leave, and change places by the bits in which they
    differ. Each sum is an exchange between lanes or warps; one is enough for both:

    ```
      %l = sum of %y * (1 - place)           %p = partner of %y
      %r = sum of %y * place          =>     %l = arith.select %isRight, %p, %y
      %d = arith.xori %l, %r                 %r = arith.select %isRight, %y, %p
      %s = arith.select %c, %d, 0
      %n = arith.xori %y, %s                 %n = arith.select %c, %p, %y
    ```

    Sums of floats keep the zero, or NaN, that the element which is left out gives.

    A gather along an axis whose indices are constants that differ from the places of their elements in
    the same bits, or not at all, picks partners, as rotations of positions do:

    ```
      %i = places < 64 ? places + 64 : places - 64
      %y = tile.gather %x[%i]                        =>     %y = partner of %x : [1, 2, 64]
    ```

    Partners of partners, as reversed dimensions are, become a partner for each bit of an element's place
    that is turned over in the end. Two dimensions reversed, one within the other, leave one:

    ```
      %h = partner of %x : [8, 2, 1]
      %q = partner of %h : [4, 2, 2]         =>     %s = partner of %x : [1, 2, 8]
      ...
    ```
  }];
  let counts = [Count<"sumsOfPairs", "sums over pairs that partners say">,
                Count<"pairsExchanged", "differences of pairs that are the partner's element">,
                Count<"partnersGathered", "gathers that pick partners">,
                Count<"partnersJoined", "partners of partners that another one says, or none">];
}

def RemaindersPass : TilePass<"tile-remainders", "::mlir::ModuleOp"> {
  let summary = "what is left over of a division is a remainder";
  let description = [{
    - **Needs**: inlined calls; equal values are one (CSE).
    - **Guarantees**: the same values, for every divisor that a division has a result for.
    - **Never**: divides where the author did not: the quotient is there, and the back end makes the
      remainder of it.

    ```
      %q = arith.divsi %x, %n
      %p = arith.muli %q, %n      =>     %r = arith.remsi %x, %n
      %r = arith.subi %x, %p
    ```
  }];
  let counts = [Count<"remainders", "differences that are remainders">];
}

def NarrowBitsPass : TilePass<"tile-narrow-bits", "::mlir::ModuleOp"> {
  let summary = "combine bits of narrow numbers before they are widened";
  let description = [{
    - **Needs**: inlined calls.
    - **Guarantees**: the same values. A mask of all bits of what was widened is gone; bits of two
      blocks that were widened from one type, without a sign, are combined in that type, if one of
      them would be widened as a whole for nothing else. A constant that both halves of a joined
      block have added is added to the whole, if that becomes floats.
    - **Never**: widens for every copy what was widened once for all of them.

    ```
      %a = arith.extui %x : i8 to i32            %r = broadcast(%y)
      %m = arith.andi %a, 255                    %b = arith.xori %x, %r : i8
      %r = broadcast(arith.extui %y)      =>     %d = arith.extui %b : i8 to i32
      %d = arith.xori %m, %r
    ```
  }];
  let counts = [Count<"masksDropped", "masks that keep all that was widened">,
                Count<"bitsNarrowed", "operations on bits that are done before widening">,
                Count<"constantsMoved", "constants that are added behind a joining">];
}

def NarrowFloatsPass : TilePass<"tile-narrow-floats", "::mlir::ModuleOp"> {
  let summary = "add and multiply halves as such, not widened";
  let description = [{
    - **Needs**: inlined calls.
    - **Guarantees**: the same values. What is widened from f16 or bf16, or a constant that is one,
      perhaps in another shape, added, subtracted or multiplied in f32, and rounded to that type for
      all who ask, is computed in it.
    - **Never**: touches bf16 where the target has no arithmetic on it.

    ```
      %a = arith.extf %x : f16 to f32
      %b = broadcast(arith.extf %y)       =>     %b = broadcast(%y)
      %c = arith.mulf %a, %b : f32               %d = arith.mulf %x, %b : f16
      %d = arith.truncf %c : f32 to f16
    ```
  }];
  let counts = [Count<"floatsNarrowed", "sums and products of halves that are not widened">];
}

def TruthsPass : TilePass<"tile-truths", "::mlir::ModuleOp"> {
  let summary = "combine truths as such, not as numbers";
  let description = [{
    - **Needs**: inlined calls.
    - **Guarantees**: the same values.
    - **Never**: touches a comparison of numbers of which none is a truth.

    ```
      %n = arith.extui %c : i1 to i32
      %d = arith.xori %n, %place      =>     %p = arith.cmpi ne, %place, 0
      %s = arith.cmpi ne, %d, 0              %s = arith.xori %c, %p
    ```
  }];
  let counts = [Count<"truthsKept", "comparisons that combine truths as such">];
}

#endif // TILE_PASSES_TILE_PASSES
