//===- Undefined.h - what nobody has written ---------------------*- C++ -*-===//
//
// A register that nobody has written holds some number. For LLVM that is a value which is
// another one at each use, and which its code generator takes from wherever it likes: from
// what an earlier thread block has left on the stack, so that what a kernel does would depend
// on who ran before. Here it is the same number each time.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_PTX_UNDEFINED_H
#define TILE_EMULATOR_PTX_UNDEFINED_H

#include "llvm/IR/Function.h"

namespace tile::emu {

/// A value of the type that nobody has written, full of kUnwritten; null for types that have none.
llvm::Constant *unwrittenValue(llvm::Type *type, const llvm::DataLayout &layout);

/// Puts it wherever the function uses an undefined value, and into its own variables: by the
/// instructions that it returns.
llvm::SmallVector<llvm::Instruction *> defineUndefined(llvm::Function &f);

} // namespace tile::emu

#endif // TILE_EMULATOR_PTX_UNDEFINED_H
