//===- Costs.h - what moving and combining elements takes ------------------===//
//
// Layouts are chosen by comparing what their alternatives take. The numbers come from the
// plans that the lowering follows, and stand beside it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_MEMORY_COSTS_H
#define TILE_PASSES_MEMORY_COSTS_H

#include "ir/CtaDialect.h"
#include "ir/layout/LinearLayout.h"

namespace tile::lowering {

/// Warps of which a multiprocessor starts an instruction each cycle.
inline constexpr double kWarpsAtOnce = 4;

struct Cost {
  double instructions = 0; ///< of a thread
  double wavefronts = 0;   ///< of a warp: shuffles, and of shared memory
  double cycles = 0;       ///< in which nothing else of the thread block can run

  Cost &operator+=(const Cost &other) {
    instructions += other.instructions;
    wavefronts += other.wavefronts;
    cycles += other.cycles;
    return *this;
  }
  /// Cycles of a multiprocessor that does nothing else, for a block of `warps`.
  double total(unsigned warps) const {
    return warps * (instructions / kWarpsAtOnce + wavefronts) + cycles;
  }
};

/// Of a scan in `layout`, which must be scannable.
Cost scanCost(ScanOp op, const layout::LinearLayout &layout);
/// Of moving a block of elements of `type` from one layout to another.
Cost convertCost(const layout::LinearLayout &from, const layout::LinearLayout &to, mlir::Type type,
                 const Target &target);

/// Of writing a block in `holders` to shared memory, where `image` says.
Cost stageCost(const layout::LinearLayout &holders, const layout::LinearLayout &image,
               mlir::Type type, const Target &target);

} // namespace tile::lowering

#endif // TILE_PASSES_MEMORY_COSTS_H
