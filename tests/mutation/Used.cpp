//===- Used.cpp - the values that anything a kernel does depends on --------===//
//
// Shuffles stay where they are, though nobody may use what they give, nor what is made of
// it: another lane's value that goes into nothing is no fault.
//
//===----------------------------------------------------------------------===//
#include "tests/mutation/Mutations.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace tile::mutation;

/// Does something beside giving a value to who uses it.
static bool acts(const Instruction &inst) {
  StringRef text = textOf(inst);
  return (inst.isTerminator() || inst.mayHaveSideEffects()) &&
         !text.starts_with("llvm.nvvm.shfl.") && !text.starts_with("llvm.assume");
}

SmallPtrSet<const Value *, 32> tile::mutation::usedValues(const Function &kernel) {
  SmallPtrSet<const Value *, 32> used;
  SmallVector<const Instruction *> open;
  for (const Instruction &inst : instructions(kernel))
    if (acts(inst))
      open.push_back(&inst);
  while (!open.empty())
    for (const Value *operand : open.pop_back_val()->operands())
      if (used.insert(operand).second)
        if (auto *inst = dyn_cast<Instruction>(operand); inst && !acts(*inst))
          open.push_back(inst);
  return used;
}
