//===- HardwareArithmetic.h - results that LLVM leaves open ------*- C++ -*-===//
//
// Where LLVM's operations have no defined result, or one of several, the hardware has one:
// PTX says which, or (division by zero) it is what chips have been seen to give.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_PTX_HARDWAREARITHMETIC_H
#define TILE_EMULATOR_PTX_HARDWAREARITHMETIC_H

#include "llvm/IR/IRBuilder.h"

namespace tile::emu {

/// A quotient or a remainder: all ones where `y` is zero.
llvm::Value *createDivision(llvm::IRBuilder<> &b, llvm::Instruction::BinaryOps op, llvm::Value *x,
                            llvm::Value *y);

/// Puts what the hardware computes in the place of `inst`, if that says more than LLVM does.
/// True if `inst` is gone.
bool replaceByHardware(llvm::Instruction &inst);

} // namespace tile::emu

#endif // TILE_EMULATOR_PTX_HARDWAREARITHMETIC_H
