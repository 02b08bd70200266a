//===- Conversion.h - how a block gets from one layout to another ---------===//
//
// A conversion is a linear map from destination positions to source positions
// that hold the same element. How far it reaches decides the mechanism: moves
// between registers, shuffles within a warp, or an exchange through shared
// memory. Where the source holds copies there are several such maps; the one
// found here stays as near as possible (same thread before same warp before
// same thread block), each basis vector by itself, so the kind is the nearest
// that exists.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LAYOUT_CONVERSION_H
#define TILE_IR_LAYOUT_CONVERSION_H

#include "ir/layout/LinearLayout.h"

namespace tile::layout {

enum class ConversionKind {
  NoOp,          ///< every register stays where it is
  RegistersOnly, ///< each thread has all it needs, in the same place of every thread
  WithinWarp,    ///< by shuffles (or selects) within each warp
  WithinCta,     ///< through shared memory
  AcrossCluster, ///< from other thread blocks
};

struct Conversion {
  ConversionKind kind;
  /// Destination (register, lane, warp[, block]) -> source position with the
  /// same element: `map.compose(from) == to`.
  LinearLayout map;

  /// The source register of destination register `r` in the same thread.
  /// Requires kind NoOp or RegistersOnly.
  int32_t sourceRegister(int32_t r) const;
};

/// Requires: `from` surjective; both with the same inputs in the order
/// register, lane, warp[, block] (registers may differ in number) and the same
/// outputs.
Conversion planConversion(const LinearLayout &from, const LinearLayout &to);

/// A within-warp conversion as a sequence of `shfl.sync.idx`.
///
///   1. `before`: selects that bring to one register number what a lane sends;
///   2. each round r: every lane offers register r.source and reads the offer
///      of lane `sourceLane`, into temporary r.result. Source lane =
///      r.laneXor ^ XOR of laneBases over the set bits of the lane
///                 ^ XOR of warpBases over the set bits of the warp;
///   3. `after`: selects on the temporaries;
///   4. destination register d is temporary results[d].
///
/// A select s replaces register i, for all i at once, by
///   parity(lane & s.laneMask) ^ parity(warp & s.warpMask)
///       ? register (i ^ s.registerMask) : register i.
struct ShufflePlan {
  struct Select {
    int32_t registerMask, laneMask, warpMask;
  };
  struct Round {
    int32_t source, result, laneXor;
  };
  llvm::SmallVector<Select, 4> before, after;
  llvm::SmallVector<Round, 16> rounds;
  llvm::SmallVector<int32_t, 5> laneBases, warpBases;
  llvm::SmallVector<int32_t, 16> results;

  /// A round that every lane serves from its own registers needs no shuffle.
  bool needsShuffle(const Round &round) const;
  unsigned numShuffles() const;
};

/// The plan of a WithinWarp conversion (or a nearer one); nullopt if the
/// exchange has no plan with one shuffle a destination register: then go
/// through shared memory.
std::optional<ShufflePlan> planShuffles(const LinearLayout &from, const LinearLayout &to,
                                        const Conversion &conversion);

/// Shuffles of words of several elements each: those that some register bits tell apart, which
/// stay together on the way. Element e of a word is, at the source, in the register with the bits
/// of e in `fromBits`, and arrives in the one with them in `toBits` (lowest bit of e first).
/// `plan` is of words: registers without those bits.
struct WordShuffles {
  ShufflePlan plan;
  llvm::SmallVector<int32_t, 2> fromBits, toBits;

  unsigned wordSize() const { return 1u << fromBits.size(); }
};

/// The plan of a WithinWarp conversion whose words hold up to 2^`mostBits` elements, as many as
/// stay together; nullopt as for planShuffles.
std::optional<WordShuffles> planWordShuffles(const LinearLayout &from, const LinearLayout &to,
                                             const Conversion &conversion, unsigned mostBits);

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_CONVERSION_H
