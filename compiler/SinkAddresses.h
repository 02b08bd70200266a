//===- SinkAddresses.h - where stores find their addresses ----------------===//
#ifndef TILE_COMPILER_SINKADDRESSES_H
#define TILE_COMPILER_SINKADDRESSES_H

#include "target/Target.h"

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// In a kernel that holds more than `target` has registers for its threads: addresses that one
/// store or atomic takes are computed just before it, if that keeps no more registers.
void sinkAddresses(llvm::Function &f, const Target &target);

} // namespace tile

#endif // TILE_COMPILER_SINKADDRESSES_H
