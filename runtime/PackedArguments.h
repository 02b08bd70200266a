//===- PackedArguments.h - a launch's arguments as the C interface has them ===//
#ifndef TILE_RUNTIME_PACKEDARGUMENTS_H
#define TILE_RUNTIME_PACKEDARGUMENTS_H

#include "runtime/Device.h"
#include "tile/tile.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>

namespace tile::runtime {

/// The pointers that LaunchPlan::resolve wants, and the values they point to.
class PackedArguments {
public:
  PackedArguments(const KernelMetadata &metadata, llvm::ArrayRef<LaunchArg> args);
  llvm::ArrayRef<const void *> pointers() const { return top; }

private:
  const void *pack(const LaunchArg &arg, int index, llvm::SmallVectorImpl<int> &path);
  llvm::StringRef typeOf(int index, llvm::ArrayRef<int> path) const;

  const KernelMetadata &metadata;
  std::deque<uint64_t> scalars; // deques: addresses stay
  std::deque<std::vector<const void *>> tuples;
  std::deque<tile_descriptor> descriptors;
  llvm::SmallVector<const void *, 16> top;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_PACKEDARGUMENTS_H
