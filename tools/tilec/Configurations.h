//===- Configurations.h - what a file's decorators say of a compilation ---===//
#ifndef TILE_TOOLS_TILEC_CONFIGURATIONS_H
#define TILE_TOOLS_TILEC_CONFIGURATIONS_H

#include "frontend/Source.h"
#include "runtime/Tuner.h"
#include "target/CompileOptions.h"
#include "tools/tilec/KernelList.h"

namespace tilec {

/// Of a kernel with `@triton.autotune`, fills in what the first configuration says and the
/// caller leaves open: constexprs that are not given, and warps, stages, clusters and
/// registers that are the defaults. Leaves everything as it is for other kernels, and for
/// files that do not parse: the compiler will say why. False after printing what of the
/// configuration nothing can be compiled with.
bool applyConfiguration(const tile::frontend::SourceFile &source, tile::CompileOptions &compile);

/// What of a configuration is not within what the options of `tilec compile` take; empty if all
/// of it is.
std::string checkConfiguration(const tile::runtime::TuneConfig &configuration);

/// Takes out of what kernels miss the constexprs that `@triton.autotune` and `@triton.heuristics`
/// set: nobody has to give them.
void forgetDecided(const tile::frontend::SourceFile &source, const tile::ast::Module &module,
                   const std::vector<std::string> &includePaths, std::vector<KernelEntry> &kernels);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_CONFIGURATIONS_H
