//===- Copies.h - numbers: what is copied, when, and by whom --------------===//
//
// Part of Tuning.h, which says what these numbers are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TUNING_COPIES_H
#define TILE_TARGET_TUNING_COPIES_H

#include <cstdint>

namespace tile {

struct CopyTuning {
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
  /// Registers of a thread that may keep what is loaded in front of a loop over products, which
  /// loads it in each turn. Judgement.
  int64_t hoistedMostRegisters = 16;

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
  /// Where threads fill a slot in the turn that reads it, and need one less: the programs that a
  /// multiprocessor must have room for then, of those that it has otherwise. Judgement.
  double tightLeastPrograms = 1.3;
  /// The same where each copy has one slot, filled again behind what reads it. Attention by
  /// gathered pages, on an H200: one program and two, 1396 and 1065 us. Less than twice as many:
  /// judgement.
  double refilledLeastPrograms = 2;
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
};

} // namespace tile

#endif // TILE_TARGET_TUNING_COPIES_H
