//===- Estimate.h - about how long a launch takes -------------------------===//
//
// The cost model that ranks configurations: from what a laid-out kernel moves and computes
// (Explain.h) and the data sheet of the chip, the time of a whole launch. What it is for is order:
// the number itself may be a third off.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_ESTIMATE_H
#define TILE_COMPILER_ESTIMATE_H

#include "compiler/Explain.h"

namespace tile {

struct LaunchEstimate {
  double seconds = 0;
  llvm::StringRef limit; ///< "memory", "tensor cores", "latency", ...
  int programsAtOnce = 0;
};

/// Of a launch over `grid`. Loops whose turns are not known count as a few. Nothing if nothing is
/// known of the chip, or no program fits it.
std::optional<LaunchEstimate> estimateLaunch(const Explanation &explanation,
                                             llvm::ArrayRef<uint32_t> grid);

/// The same of a kernel that is compiled as far as it takes, for a launch that checks what it is
/// given (`checkedLaunch`). Nothing if it does not compile, either.
std::optional<LaunchEstimate> estimateLaunch(Compiler &compiler, const frontend::SourceFile &file,
                                             ExplainOptions options, llvm::ArrayRef<uint32_t> grid);

} // namespace tile

#endif // TILE_COMPILER_ESTIMATE_H
