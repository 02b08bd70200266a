//===- RegisterEstimate.h - registers that a kernel would take -*- C++ -*-===//
//
// Of kernels as the back end gets them: SSA liveness over an order in which accesses stand as
// written and all else just before its first use, as the assembler would sink it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_REGISTERESTIMATE_H
#define TILE_COMPILER_REGISTERESTIMATE_H

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class BasicBlock;
class DataLayout;
class Function;
class Instruction;
class LoopInfo;
class Value;
} // namespace llvm

namespace tile {

bool loadsGlobal(const llvm::Instruction &i);
/// The mask of an access, without which `i` leaves memory alone; null: there is none.
llvm::Value *maskOf(const llvm::Instruction &i);
/// A product by a matrix instruction of one warp.
bool multipliesByWarps(const llvm::Instruction &i);
/// Whether warps or warpgroups multiply matrices.
bool multiplies(const llvm::Instruction &i);
/// For what the thread itself copies to shared memory.
bool waitsForCopies(const llvm::Instruction &i);

/// Whether the registers are dealt out by other rules: matrix instructions want theirs
/// in place, a call has a frame.
bool hasOwnRules(const llvm::Instruction &i);

/// Registers that `value` takes. Predicates have their own; parameters of the kernel
/// lie in constant memory.
int registersOf(const llvm::Value &value, const llvm::DataLayout &layout);

enum class Loads { AsWritten, Late, InPlace, Consumed };

/// The instructions of `block` without its phis: what touches memory stands as written
/// (loads from global memory if `loads` says so), all else just before the first that
/// needs it. `InPlace`: all as it is written. `Consumed`: late, and behind each load all that can
/// be computed of it.
llvm::SmallVector<const llvm::Instruction *> sunk(const llvm::BasicBlock &block, Loads loads);

/// Registers (of 32 bits) that a thread needs at the widest point of `kernel`.
int estimateRegisters(const llvm::Function &kernel, Loads loads);
/// The same without what the assembler need not hold for each thread: places in shared memory,
/// which it folds into accesses or computes anew, descriptors of operands there, and what is the
/// same for all threads of a block, which has registers of its own.
int estimateKept(const llvm::Function &kernel, Loads loads);

/// At the widest point of `block`, if its instructions come in this order.
int widestInOrder(const llvm::BasicBlock &block, llvm::ArrayRef<const llvm::Instruction *> order);

/// Of these, what it needs in loops without others in them, and elsewhere.
struct PartsEstimate {
  int inLoops = 0, besides = 0;
};
PartsEstimate estimateParts(const llvm::Function &kernel, const llvm::LoopInfo &loops, Loads loads);

/// With all that a block loads at once, and each result of arithmetic used where it is computed,
/// which counts parts of what was loaded less often than the order of the accesses does.
int estimateLoaded(const llvm::Function &kernel);

/// What lives before each instruction of `order`, all instructions of the one block of a kernel.
llvm::SmallVector<int> liveBefore(llvm::ArrayRef<const llvm::Instruction *> order,
                                  const llvm::DataLayout &layout);

} // namespace tile

#endif // TILE_COMPILER_REGISTERESTIMATE_H
