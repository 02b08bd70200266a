//===- Functions.h - numbers: how functions of whole tensors are cut ------===//
//
// Functions of whole tensors (compiler/functions, passes/graph). Part of Tuning.h, which says what
// these numbers are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_FUNCTIONS_H
#define TILE_TARGET_TUNING_FUNCTIONS_H

#include <cstdint>

namespace tile {

struct FunctionTuning {
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
  /// Programs of such rows on a multiprocessor that bring more from memory than fewer do.
  /// Judgement.
  double programsOfRowsBeside = 4;
  /// Instructions of a thread that a cache holds for all warps: 128 KiB of 16 bytes each on Hopper,
  /// of which half is left to what is around them. Log-likelihoods of 9000 took 1.6 ms where their
  /// instructions account for 0.6.
  int64_t codeOfThread = 4096;
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
  /// Products of elements that take as long as to load one byte; of that time, the part that is not
  /// hidden behind multiplying. Judgement.
  int64_t productsPerByte = 256;
  double loadedBesideProducts = 0.25;
  /// Fifths of shared memory that turns of a product on their way take: two programs beside each
  /// other, and more. Judgement.
  int64_t fifthsForTurns = 2;
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

} // namespace tile

#endif // TILE_TARGET_TUNING_FUNCTIONS_H
