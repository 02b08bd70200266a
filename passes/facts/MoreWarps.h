//===- MoreWarps.h - whether twice the warps may share a product ----------===//
//
// tile-fit-shared-memory tries eight warps where four were asked for and their products are tall.
// Steps before it that count on four ask the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_MOREWARPS_H
#define TILE_PASSES_FACTS_MOREWARPS_H

#include "ir/Kernel.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tile {

/// Whether a kernel that asks for `asked` may get two warpgroups in place of one.
inline bool mayGetTwoWarpgroups(KernelAttr asked) {
  return isFree(asked.getRoles()) && asked.getCtas() <= 1 &&
         asked.getWarps() * int(kLanes) == int(kWarpgroupThreads);
}

/// Whether each of two warpgroups has the rows of an instruction then.
inline bool hasRowsForTwoWarpgroups(mlir::RankedTensorType product) {
  constexpr int64_t kRowsOfInstruction = 64;
  return product.getDimSize(0) >= 2 * kRowsOfInstruction;
}

} // namespace tile

#endif // TILE_PASSES_FACTS_MOREWARPS_H
