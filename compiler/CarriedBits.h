//===- CarriedBits.h - truths that loops carry ----------------*- C++ -*-===//
#ifndef TILE_COMPILER_CARRIEDBITS_H
#define TILE_COMPILER_CARRIEDBITS_H

namespace llvm {
class LoopInfo;
} // namespace llvm

namespace tile {

/// Loops that carry several truths (i1) carry them as numbers of 32 bits; behind whatever makes
/// such numbers truths again.
void widenCarriedBits(llvm::LoopInfo &loops);

} // namespace tile

#endif // TILE_COMPILER_CARRIEDBITS_H
