//===- Tuning.h - numbers that were measured, by chip ---------------------===//
//
// Heuristics of passes have their numbers here: each says what it is in, and what was
// measured, and where, if it was: the others are somebody's judgement. What a chip *has* (memory,
// registers, instructions) is in Target.h and Devices.h; what it *likes* is here. A chip nobody has
// measured is given the numbers of the nearest that somebody has.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_H
#define TILE_TARGET_TUNING_H

#include <cstdint>

namespace tile {

struct Target;

struct Tuning {
  //===--------------------------------------------------------------------===//
  // Rows brought to the L2 cache for programs to come (tile-prefetch-programs)
  //===--------------------------------------------------------------------===//

  /// Bytes on their way ahead of the programs that load them, with what is stored until
  /// then; 0: no rows are asked for. Softmax and layer norm of 4 to 32 KB rows on an H200.
  int64_t prefetchAheadBytes = 0;
  /// Programs that load fewer bytes spend their time being started.
  int64_t prefetchLeastBytes = 2048;

  //===--------------------------------------------------------------------===//
  // What is loaded again (tile-keep-rows)
  //===--------------------------------------------------------------------===//

  /// Programs that are to fit a multiprocessor beside what a thread keeps: one computes while
  /// another loads. Judgement, as is what a thread needs besides.
  int64_t keepPrograms = 2;
  int64_t keepRegistersBeside = 40;

  //===--------------------------------------------------------------------===//
  // What all programs read, copied early (tile-early-copies)
  //===--------------------------------------------------------------------===//

  /// Bytes of a thread: as many programs as registers allow fit if it takes no more.
  int64_t earlyBytesOfThread = 128;
  /// One block of at most so many bytes, copied by at least so many threads, is better
  /// brought past the first cache (RMS norm of 4096 and 8192 elements on an H200: 1 to
  /// 2.5 %); two blocks, larger ones and those of fewer threads are not (up to 1.5 %). The
  /// reason is not known. No threads: never.
  int64_t earlyMostBytesPastCache = 16 << 10;
  int64_t earlyFewestThreadsPastCache = INT64_MAX;

  //===--------------------------------------------------------------------===//
  // Results of products used under other products (tile-overlap-dots)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread that blocks may take there.
  int64_t mostRegistersUnderProducts = 212;
  /// Iterations that run together. The result of the last is used while nothing is in
  /// flight, but more of them did not make a product of 8-bit floats faster.
  unsigned turnsUnderProducts = 4;
  /// Registers of a thread for the result of the loop's one product, and for those of
  /// several: smaller ones leave room for a second thread block, which fills the gaps too.
  int64_t rotateLeastRegisters = 64;
  int64_t staggerLeastRegisters = 128;
  /// Registers that a thread wants beside the sum, the left operand and the other result of
  /// chained products. Hand-written attention: with 32 and more all compiled without spills,
  /// with 24 and less none did.
  int64_t registersBesideChain = 32;
  /// The same beside all that products of one turn hold at once, half of which is used up while the
  /// rest arrives: the gradients of attention (head size 128, 64 queries by 128 keys, two
  /// warpgroups) need 232 in all, and are not spilled.
  int64_t registersBesideEarlyProducts = 24;
  /// Cycles of the tensor core for one warpgroup's share of a product from which on
  /// warpgroups that take turns gain nothing from products in flight.
  int64_t longProductCycles = 512;

  //===--------------------------------------------------------------------===//
  // Groups of warps by turns (tile-alternate-tiles)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread for the sums of one loop, at most (the rest is for everything
  /// else) and at least (with fewer a block is done before the other group's results are).
  int64_t turnsMostSums = 192;
  int64_t turnsFewestSums = 128;

  //===--------------------------------------------------------------------===//
  // Warps that only copy (tile-fit-shared-memory)
  //===--------------------------------------------------------------------===//

  /// Warpgroups that compute, of all programs on a multiprocessor, from which on more do not
  /// help: one for each of its tensor cores. Products of 13 tile sizes in 4 shapes on an H200:
  /// with roles and 2 warpgroups 0.59 to 0.91 of what 4 give without, with roles and 4
  /// warpgroups 1.0 to 1.05.
  int64_t enoughWarpgroups = 4;
  /// Where threads copy, fewer stages let more programs in, and less is on its way in each. Of what
  /// was, all of them together keep so much at least, and more where one program did not wait for
  /// its copies alone. 20 launches of public kernels on an H100: two programs with 0.67 to 1.3 of
  /// what one had are 1.1 to 1.4 times as fast; of two, three with 0.75 of it 1.3 times, with 0.67
  /// 0.8.
  double keptInFlight = 0.74, keptInFlightOfOne = 0.66;
  /// Registers of a thread of one warpgroup for blocks and what products want beside them. With
  /// more, two warpgroups hold the same blocks, even if no more programs fit so: none is left
  /// for indices and addresses. Seven eighths of all; assembled, not timed (attention with 255
  /// registers and 8 bytes of spills became 164 and none).
  int64_t mostRegistersOfWarpgroup = 223;

  //===--------------------------------------------------------------------===//
  // Threads that meet behind loops (tile-defer-reductions)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread for parts of one result that a loop carries, where the result itself
  /// takes fewer. A judgement.
  int64_t deferredLeastRegisters = 4;
  /// How far an exponent (of 2) may be above the maximum that sums are relative to before these are
  /// scaled. Attention on an H200: 6.5 % of its time is saved with 8, none with 0, at
  /// errors of 2.9e-4 in place of 2.3e-4 (docs/rationale.md).
  double mostAboveMaximum = 8;

  //===--------------------------------------------------------------------===//
  // Stages
  //===--------------------------------------------------------------------===//

  /// Of a ring of operands where the number is left to the compiler.
  int32_t mostOperandStages = 8;
  /// Of a ring of rows: slots beyond these only make the kernel's start longer.
  int32_t mostRowStages = 64;
  /// With fewer slots than this, copies do not keep up with products.
  uint32_t fewestSlots = 3;

  //===--------------------------------------------------------------------===//
  // Rows by bulk copies (tile-pipeline-loads)
  //===--------------------------------------------------------------------===//

  /// Shorter rows (bytes), and more of them in a turn, are not worth a copy each.
  int64_t bulkLeastRowBytes = 256;
  int64_t bulkMostRows = 32;

  //===--------------------------------------------------------------------===//
  // Copies by the threads (tile-pipeline-loads)
  //===--------------------------------------------------------------------===//

  /// Loops that load ahead because a multiprocessor has few programs (FewPrograms.cpp). Measured on
  /// an H100 with 147 launches of public kernels, each in four forms: grids of at most 4 programs
  /// a multiprocessor gain 1.1 to 2.5 times (gradients of norms, recurrences, running sums), larger
  /// ones as often lose. In flight are to be the bytes that a multiprocessor reads while one load
  /// is under way; a block in registers takes a part of them.
  int64_t aheadMostPrograms = 4;
  int64_t aheadBytes = 16384, aheadMostTurns = 7, aheadLeastTurns = 24;
  int64_t aheadLeastRowBytes = 64;
  int64_t aheadPartOfRegisters = 4;
  /// Multiplications of a product up to which operands that threads multiply come by copies: of
  /// more, the loop of a product that is staged again takes less room for instructions.
  int64_t copiedMostMultiplications = 4096;
  /// Operations that are computed anew for a row that is copied in another layout.
  unsigned spreadMostOperations = 16;

  //===--------------------------------------------------------------------===//
  // Results by TMA (tile-warpgroup-dots)
  //===--------------------------------------------------------------------===//

  /// Bytes of a block that is stored: smaller ones are not worth the way through shared
  /// memory; larger ones leave none for the operands.
  int64_t tmaStoreLeastBytes = 4096;
  int64_t tmaStoreMostBytes = 128 << 10;
  /// Cycles from the start of a copy by TMA until what it brings can be multiplied: three stages of
  /// 128 x 128 x 64, as many as there are by default, cover so many, and so should more of shorter
  /// turns. Judgement: with two stages of 128 x 128 x 32 by turns products took 1.5 and 1.8 times
  /// as long as the reference's (H100); with five they have not been timed.
  int64_t copyCycles = 1024;
  /// Cycles of the tensor cores for the products of a turn that stores, from which on it lasts
  /// longer than the copy out of the staging area. States of a chunkwise recurrence, 64 x 64, one a
  /// turn behind a product of 64 cycles: 1.26 us a turn with such copies on an H100, and 0.57
  /// without.
  int64_t storeCopyCycles = 1024;

  //===--------------------------------------------------------------------===//
  // Clusters that nobody asked for (tile-cluster-programs)
  //===--------------------------------------------------------------------===//

  /// Thread blocks of one; 1: none. Products whose rows start in the middle of sectors, on an
  /// H200: results of 128 x 256 and more gain 6 to 18 % (docs/rationale.md).
  int32_t clusterUnasked = 2;
  /// Elements of a result from which on there are programs enough.
  int64_t clusterLeastResult = 128 * 256;

  //===--------------------------------------------------------------------===//
  // Columns (tile-split-columns)
  //===--------------------------------------------------------------------===//

  /// Columns of a part: fewer are not worth an instruction of their own.
  int64_t splitFewestColumns = 16;
  /// The same where a product's columns are a power of two, but its result has no room beside sums.
  /// Each part reads the left operand from shared memory anew: below as many columns as an
  /// instruction has rows, that takes longer than multiplying. Products of 8-bit floats of 2048 x
  /// 2048 x 4096 whose results are added up in f32, in one, two and four parts (H100, us):
  /// 128 x 256 x 32 by 8 warps 259, 48, 53, 128 x 256 x 128 79, 26, 26, with scales of rows 93, 28,
  /// 29; 256 x 128 x 32 257, 48, 54; 64 x 256 x 128 by 4 warps and one that copies 36, 35, 29, with
  /// scales 50, 38, 32.
  int64_t splitSumsLeastColumns = 64;

  //===--------------------------------------------------------------------===//
  // Blocks part by part (tile-cut-blocks)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread that a part of a stored block takes, at most: what is loaded for it is
  /// under way at once. A first value, not compared with others.
  int64_t registersOfPart = 64;

  //===--------------------------------------------------------------------===//
  // Who holds which element (tile-assign-layouts)
  //===--------------------------------------------------------------------===//

  /// Bytes of contiguous memory that an instruction of a warp covers: with so many, no data
  /// are moved between threads for more.
  unsigned goodRunBytes = 64;
  /// Elements of a row that is reduced up to which 8, and up to which 16 of the lanes share it:
  /// fewer lanes take fewer shuffles, and 16 to 32 elements a thread keep enough in flight.
  int64_t rowOfEightLanes = 128, rowOfSixteenLanes = 512;
  /// Loads that all rows share, such as weights, from which on a thread that has fewer columns
  /// of more rows gains more, by loading and widening fewer of them.
  unsigned manySharedLoads = 2;
  /// Operations of an element: recomputing more costs more than moving the result.
  unsigned recomputeMostOperations = 48;
  /// Loads of a thread that has a row where it is needed: beyond, one exchange through shared
  /// memory is cheaper.
  unsigned repeatMostLoads = 32;
  /// The same of single numbers for runs of equal columns, beside products of a loop: eight of a
  /// block of 128 columns with scales for 16 or more took 0.73 to 0.94 of an exchange's time (4096
  /// cubed, 8 bits, H100).
  unsigned repeatMostRuns = 8;
  /// Rows and columns, at most, of what a thread computes by multiply-adds: of 4 by 4 each
  /// operand element serves four products. Lanes along the rows of such a product.
  int64_t scalarTile = 4;
  unsigned scalarLanesAcross = 8;
  /// Operand registers of such a thread, from which on they are read from shared memory, and of
  /// those that it then reads in one go; and steps in one go.
  int64_t scalarMostOperandRegisters = 96;
  int64_t stagedMostRegisters = 64;
  unsigned stagedMostSteps = 16;

  /// Cycles of an exchange between threads and of writing operands from squares, as a part of
  /// those of writing them from where they lie, from which on operands stay. An exchange takes
  /// shared memory and registers besides. On an H100 kernels with an eighth fewer cycles lost 1 to
  /// 2 %, some with a fifth fewer won 5.
  double worthExchange = 0.85;

  //===--------------------------------------------------------------------===//
  // Blocks kept packed (tile-narrow-live-ranges)
  //===--------------------------------------------------------------------===//

  /// Registers of a thread that are kept across a reduction, from which on recomputing them
  /// pays, and operations of an element that it may cost.
  int64_t narrowFromRegisters = 48;
  unsigned narrowMostOperations = 10;

  //===--------------------------------------------------------------------===//
  // Ways between threads (cta.convert_layout, tile.reduce, tile.scan)
  //===--------------------------------------------------------------------===//

  /// Cycles that a barrier, and the way through shared memory behind it, take at least; until
  /// the result of a shuffle, and of another instruction, is there. Estimates, to compare ways.
  double exchangeCycles = 60, shuffleCycles = 24, resultCycles = 4;
  /// Shuffles of a thread: with more, shared memory is cheaper: 16 bytes an instruction.
  unsigned mostShuffles = 16;
  /// Bytes of an exchange at a time, if it can be cut: more would cost other thread blocks
  /// their place.
  int64_t exchangeMostBytes = 32 << 10;
  /// Buffers of so many bytes at most go round a ring of so many; large buffers of one loop
  /// body lie side by side in so many.
  int64_t smallBufferBytes = 1024, smallBuffersBytes = 4096, loopBuffersBytes = 40 << 10;
  /// Independent sums of a thread that adds up its elements.
  unsigned sumsOfThread = 8;
  /// Bytes of partial results that a thread reads, if other lanes can read the rest.
  unsigned partialsOfLane = 16;
  /// Additions that take as long as a warp's load or shuffle, and as a division or a function.
  unsigned shuffleSlots = 4, longOpSlots = 8;
  /// Additions that warps must be spared for a branch around them to pay.
  unsigned branchSlots = 24;

  //===--------------------------------------------------------------------===//
  // Registers
  //===--------------------------------------------------------------------===//

  /// Turns of a loop that NVIDIA's assembler (12.8 to 13.0) makes one of, and registers of a thread
  /// that they want beside what is carried, what is loaded and what is computed of it.
  int64_t turnsOfAssembler = 4, registersBesideTurns = 24;

  /// Of a thread that copies for itself beside products: addresses.
  int64_t registersOfAddresses = 24;
  /// Of a thread that only copies, beside two warpgroups that compute, and beside more of them;
  /// and the most that one of those is given. Judgement.
  unsigned registersOfCopier = 40, registersOfCopierBesideMany = 32, mostRegistersDealt = 240;
  /// Of a thread that has many loads under way, beyond the values that are alive: groups of
  /// four that are not aligned as they come, addresses of its own. And programs on a
  /// multiprocessor: fewer wait for memory, then compute, in step, and get no launch bound.
  int registersOfLoads = 8;
  int boundFewestPrograms = 3;
  /// A bound of several programs, of what multiplies, leaves at least one in so many of the
  /// registers that single values take. They count addresses, which the assembler computes anew:
  /// of fifteen public kernels with products those that would take 224 and less were assembled for
  /// 128 without spills, one of 233 with 160 bytes of them, one of 338 with 600.
  double boundFewestRegisters = 1.75;
  /// Of the registers that two programs leave, what straight code takes by the count at most where
  /// it does with those. Convolutions over time by 1024 threads: counted 45 of 32, 34 to 38 without
  /// a bound, with it 32 and none spilled; 27 us in place of 33 on an H100.
  double boundStraightRegisters = 1.45;
  /// Instructions of the shortest kernels that were seen to get 32 registers, and to spill all
  /// else, where the assembler's first attempt failed.
  unsigned boundLongInstructions = 2000;

  //===--------------------------------------------------------------------===//
  // How long a launch takes, to compare configurations (compiler/Estimate)
  //===--------------------------------------------------------------------===//

  /// Seconds until a kernel runs, and after it; until a program's first loads are there, and its
  /// stores are gone; until a load of a later turn is there; what starting a program takes of a
  /// multiprocessor. Of an H100, about; the loads by the times below.
  double launchSeconds = 2e-6, programSeconds = 1.2e-6, loadSeconds = 1e-6, startSeconds = 0.05e-6;
  /// The share of its data sheet that memory reaches.
  double memoryShare = 0.92;
  /// Turns of a loop whose number nothing is known of.
  double unknownTurns = 8;
  /// Registers of a thread beside those of its blocks; warps that keep the tensor cores busy.
  int registersBesideBlocks = 32, enoughWarps = 8;
  /// Warps of a multiprocessor, fewer than which cannot keep memory busy by themselves. Judgement.
  int warpsForMemory = 16;
  /// Columns that an instruction of warpgroups takes as long for as for all else of it. 352 times
  /// on an H100: products of 16-bit floats of eleven shapes in two orders, sixteen configurations
  /// each.
  int columnsBesideProduct = 80;
  /// The share of useful bytes below which requests are what is wrong. Judgement.
  double poorUseOfSectors = 0.6;
  /// A thread whose blocks do not fit its registers keeps them in memory: times as long.
  double spillFactor = 3;

  //===--------------------------------------------------------------------===//
  // Functions of whole tensors (compiler/functions, passes/graph)
  //===--------------------------------------------------------------------===//

  /// Threads of a program that goes element by element, each of which moves one vector.
  int64_t pointwiseThreads = 256;
  /// Columns of its block where rows share something, such as a bias, which is then loaded for
  /// twice as many elements; elements of a block that is transposed, and its columns, if both
  /// sides are to go in whole sectors and if the rows alone.
  int64_t sharedColumns = 512, transposedElements = 2048, transposedColumns = 64,
          transposedFewColumns = 16;
  /// What a program of rows that share it moves at least.
  int64_t sharedRowsBytes = 2048;
  /// A chunk of a row that is gone through in a loop, of all arrays together, and how many are
  /// on their way or worked on: of two programs of a multiprocessor 96 KB are on their way, twice
  /// what keeps memory busy, since nothing is at the end of a row.
  int64_t chunkBytes = 16 << 10;
  int chunkStages = 4;
  /// Elements of a chunk at least, where narrow types and many arrays would leave fewer.
  int64_t chunkLeastElements = 1024;
  /// The same of rows that are gone through once: of as many small programs as these some always
  /// load while others are at the end of a row. Each thread has two vectors of a chunk.
  int64_t smallChunkBytes = 4096, smallChunkLeastElements = 512;
  int programsOfChunks = 8;
  /// Rows that a program has in hand or on their way, in a loop over them.
  int rowsAhead = 4;
  /// Columns of a row that 4 warps hold, and that 16 do.
  int64_t fewWarpsColumns = 4096, manyWarpsColumns = 16384;
  /// Elements of a program that has several rows in registers, if rows are as short as this, and
  /// if they are longer.
  int64_t shortRow = 128, elementsOfShortRows = 2048, elementsOfRows = 4096;
  /// Rows that lie beside each other in memory: so many, in blocks of so many elements.
  int64_t rowsBesideEachOther = 64, elementsBesideEachOther = 4096;
  /// Of a thread's registers, those that may hold elements of a row.
  int64_t registersForRows = 40;
  /// Programs of a multiprocessor that keep memory busy, each with a row in registers or a block
  /// of several kilobytes.
  int64_t programsOfRows = 2, programsOfBlocks = 4;
  /// Bytes that all programs of a multiprocessor have on their way where they combine rows: of
  /// short rows it takes more of them, up to so many.
  int64_t combinedRowsBytes = 32768, mostProgramsOfRows = 16;
  /// Of a thread's registers, those that may hold the sums, scores and powers of a chain: three
  /// quarters. And those of a score while random numbers are drawn for it.
  int64_t registersForChain = 191, registersToDraw = 3;
  /// Blocks of both right operands of a chain that are in shared memory at least, so that some are
  /// on their way while others are multiplied.
  int64_t chainStages = 2;
  /// Rows that are combined to one, up to which the whole is done at once.
  int64_t fewRows = 256;
  /// Blocks of a product are numbered down bands of so many, so that programs that run at the same
  /// time share rows and columns.
  int64_t productBand = 8;
  /// Warps of a program that adds up the parts of a product, and elements of each thread.
  int64_t sumWarps = 4, sumElements = 4;
  /// Microseconds that what memory moves must be on its way for memory to be busy: a load
  /// takes some 0.7, nearly twice that if many do. Gated networks of 1 and 16 rows on an
  /// H200: 130 us with three turns on their way, 100 with eight.
  double onTheWayMicroseconds = 1.31;
  /// Products of elements that take as long as to load one byte.
  int64_t productsPerByte = 256;
  /// The model of products whose inner dimension programs share was compared with times of one
  /// launch on an H200 (64 x 4096 x 4096: 17 us, and 18 behind the launch; 64 x 4096 x 14336: 60
  /// and 63; 256 x 4096 x 14336: 90 and 94). Microseconds from the load of a block to its use while
  /// the chip is busy; of a launch more, in a graph or behind the last one; that every launch
  /// takes besides, so that gains are seen against the whole.
  double sharedLoadMicroseconds = 0.8, sharedLaunchMicroseconds = 2.5, sharedRestMicroseconds = 3;
  /// What blocks load from the L2 cache, against what memory gives: an H200's 8 TB/s and 4.8. And
  /// the part of their peaks that memory and arithmetic reach.
  double cacheToMemory = 1.67, reachedOfPeaks = 0.9;
  /// Sharing is worth it if this part of the time remains: the model is no closer.
  double sharingWorthIt = 0.85;
  /// Registers of a thread besides the sums.
  int64_t registersBesideSums = 80;
  /// Programs from which on a kernel does not announce the one behind it: by that many, one after
  /// the other, they would be started at half the rate. A kernel of rows announces it if it
  /// takes less than one in so many of the chip's threads (docs/rationale.md).
  int64_t announceMostPrograms = 1024, announcePartOfChip = 2;
  /// Arrays of one in so many of the L2 cache are gone from it before they could be of use again.
  int64_t streamedPartOfCache = 4;
  /// Multiply-adds of a loop's products for each score, from which on products take longer than the
  /// arithmetic between them. With heads of 64 (128) and 128 queries, two programs of four warps
  /// and nothing in flight ran at 1.02 to 1.28 of the speed of one program of eight with products
  /// in flight (keys in blocks of 128), three of four at 1.07 to 1.15 of two of eight (of 32);
  /// with heads of 128 (256) at 0.83 to 0.94 of it.
  int64_t productsOfScore = 192;
};

/// The row for a target.
const Tuning &tuningOf(const Target &target);

} // namespace tile

#endif // TILE_TARGET_TUNING_H
