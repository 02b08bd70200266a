//===- Intrinsics.h - NVVM intrinsics spelled as PTX ----------------------===//
#ifndef TILE_EMULATOR_TRANSLATE_INTRINSICS_H
#define TILE_EMULATOR_TRANSLATE_INTRINSICS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace tile::emu {

/// The PTX of a call of `llvm.nvvm.*`, with LLVM's placeholders: results first,
/// then arguments. Empty if it is not known.
std::string ptxOfIntrinsic(llvm::StringRef name, unsigned numResults, unsigned numArguments);

} // namespace tile::emu

#endif // TILE_EMULATOR_TRANSLATE_INTRINSICS_H
