//===- Speech.h - what functions of elements say ----------------*- C++ -*-===//
//
// Combiners and mapped functions may assert and print. They say it of elements that the kernel has,
// whatever else they are run on, and of each once, whichever threads run them on it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_SPEECH_H
#define TILE_PASSES_FACTS_SPEECH_H

#include "mlir/IR/Region.h"

namespace tile {

/// Whether the function asserts or prints.
bool speaks(mlir::Region &function);

/// Has it do so only where `condition` holds, a value of its first block.
void speakOnlyIf(mlir::Region &function, mlir::Value condition);

} // namespace tile

#endif // TILE_PASSES_FACTS_SPEECH_H
