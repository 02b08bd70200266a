//===- BuildTuning.h - which configurations are built, and for what -------===//
#ifndef TILE_TOOLS_TILEC_BUILDTUNING_H
#define TILE_TOOLS_TILEC_BUILDTUNING_H

#include "tools/tilec/BuildSource.h"

namespace tilec {

/// What `tilec build` is told about tuned kernels.
struct BuildTuning {
  int configuration = 0; ///< from 1; 0: not given
  std::string file;      ///< of records; empty: none
  std::string how;       ///< "model": where the file says nothing the cost model does
  bool print = false;    ///< which configuration serves what
};

/// Sets configurations and choices of a kernel.
llvm::Error chooseConfigurations(tile::jit::Jit &kernel, llvm::ArrayRef<tile_argument_range> ranges,
                                 llvm::ArrayRef<std::string> targets, const BuildTuning &tuning,
                                 BuiltKernel &out);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BUILDTUNING_H
