//===- MasksApart.h - masks of loads, and what else asks for them ---------===//
#ifndef TILE_COMPILER_MASKSAPART_H
#define TILE_COMPILER_MASKSAPART_H

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Comparisons that more loads of a block have as masks than there are predicate registers are made
/// once more for who asks for them behind the loads.
void keepMasksApart(llvm::Function &f);

} // namespace tile

#endif // TILE_COMPILER_MASKSAPART_H
