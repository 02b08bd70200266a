//===- Configurations.h - what a file's decorators say of a compilation ---===//
#ifndef TILE_TOOLS_TILEC_CONFIGURATIONS_H
#define TILE_TOOLS_TILEC_CONFIGURATIONS_H

#include "frontend/Source.h"
#include "target/CompileOptions.h"

namespace tilec {

/// Of a kernel with `@triton.autotune`, fills in what the first configuration says and the
/// caller leaves open: constexprs that are not given, and warps, stages, clusters and
/// registers that are the defaults. Leaves everything as it is for other kernels, and for
/// files that do not parse: the compiler will say why.
void applyConfiguration(const tile::frontend::SourceFile &source, tile::CompileOptions &compile);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_CONFIGURATIONS_H
