//===- Blocks.h - how a kernel is cut into blocks -------------------------===//
//
// One model for all kernels: a program should move several kilobytes, a thread hold what
// fits its registers, and a row be read once if that is possible.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_FUNCTIONS_BLOCKS_H
#define TILE_COMPILER_FUNCTIONS_BLOCKS_H

#include "passes/graph/KernelShape.h"
#include "target/Target.h"

namespace tile {

/// For so many rows and columns.
graph::Cut chooseCut(const graph::KernelShape &shape, int64_t rows, int64_t columns,
                     const Target &target);

/// Programs along x that the cut needs.
int64_t countPrograms(const graph::KernelShape &shape, const graph::Cut &cut, int64_t rows,
                      int64_t columns);

} // namespace tile

#endif // TILE_COMPILER_FUNCTIONS_BLOCKS_H
