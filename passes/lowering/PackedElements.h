//===- PackedElements.h - several elements of a register -----------------===//
#ifndef TILE_PASSES_LOWERING_PACKEDELEMENTS_H
#define TILE_PASSES_LOWERING_PACKEDELEMENTS_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

inline constexpr unsigned kWordBits = 32;

/// Bits of an element of `v`; 0 of what is no number.
unsigned elementBits(mlir::Value v);

/// The registers that a block lies in; none if its elements came one by one.
llvm::SmallVector<mlir::Value> wordsOf(llvm::ArrayRef<mlir::Value> elements, unsigned perWord);

/// How many of `elements`, of one type, share a register: as many of 8 or 16 bits as fit and as
/// divide their number; one of all others.
unsigned elementsOfWord(llvm::ArrayRef<mlir::Value> elements);

/// `elements` side by side, as an integer.
mlir::Value inWord(Instructions &in, llvm::ArrayRef<mlir::Value> elements);

/// `count` elements that lie side by side in an integer.
Registers ofWord(Instructions &in, mlir::Value word, mlir::Type element, unsigned count);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_PACKEDELEMENTS_H
