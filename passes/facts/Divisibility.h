//===- Divisibility.h - what numbers of a kernel are multiples of ----------===//
#ifndef TILE_PASSES_FACTS_DIVISIBILITY_H
#define TILE_PASSES_FACTS_DIVISIBILITY_H

#include "passes/facts/Polynomial.h"

namespace tile {

/// A power of two that divides it, as far as is promised or easily seen.
int64_t divisibility(mlir::Value number);
int64_t divisibility(const Polynomial::Term &term);

/// Whether all of it is arguments of the kernel: the launcher can work it out.
bool isLaunchInvariant(const Polynomial &polynomial);

} // namespace tile

#endif // TILE_PASSES_FACTS_DIVISIBILITY_H
