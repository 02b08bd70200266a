//===- BuildArguments.h - values that arguments of built kernels have -----===//
//
// `--argument NAME=VALUES` of `tilec build`, or what the file says where there is none, as ranges
// that launches can reach.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_BUILDARGUMENTS_H
#define TILE_TOOLS_TILEC_BUILDARGUMENTS_H

#include "runtime/jit/Jit.h"

namespace tilec {

/// Texts that values point to.
using KeptTexts = std::vector<std::unique_ptr<std::string>>;

/// An error of the command line.
llvm::Error invalidArgument(const llvm::Twine &message);

/// The least multiple of `step` (at least 1) from `least` to `most`; nothing if there is none.
std::optional<int64_t> firstMultiple(int64_t least, int64_t most, uint64_t step);

/// The ranges of all arguments of a kernel, several of one where its values are of several kinds,
/// and what C says of each argument: "*fp32", "int", "float" or "value" (of several kinds).
llvm::Error readRanges(const tile::jit::JitFile &file, llvm::ArrayRef<std::string> arguments,
                       KeptTexts &texts, std::vector<tile_argument_range> &out,
                       std::vector<std::string> &types);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BUILDARGUMENTS_H
