//===- XorOffsets.h - what xor changes by a constant ----------*- C++ -*-===//
#ifndef TILE_COMPILER_XOROFFSETS_H
#define TILE_COMPILER_XOROFFSETS_H

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Partners of neighbours, as butterflies and networks that sort load them, get addresses that
/// differ by a constant; behind whatever would undo it.
void splitXorOffsets(llvm::Function &f);

} // namespace tile

#endif // TILE_COMPILER_XOROFFSETS_H
