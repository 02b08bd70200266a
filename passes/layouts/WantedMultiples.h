//===- WantedMultiples.h - what launches had better say of arguments ------===//
//
// Rows of n elements begin at multiples of 16 bytes only if n is such a multiple. Of an integer
// that nothing is promised of, accesses to its rows have to move element by element, though n is
// 1000 in most launches, as wide a vector as any. A launcher that checks its arguments can take
// a form of the kernel that was compiled for multiples of 8.
//
// So, where the launch is checked, a parameter gets the attribute `tile.wanted_multiple`: the
// least power of two, of which its value (or address) had better be a multiple. It is worked out
// by asking how long accesses would take if all of them were multiples of 16, in the layouts that
// they would have then, and what is left of that without this one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_WANTEDMULTIPLES_H
#define TILE_PASSES_LAYOUTS_WANTEDMULTIPLES_H

#include "passes/layouts/Coalesce.h"

namespace tile {

/// `asItIs`: how the blocks of `kernel` are accessed with what is promised.
void noteWantedMultiples(mlir::func::FuncOp kernel, Coalescing &asItIs, unsigned numWarps);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_WANTEDMULTIPLES_H
