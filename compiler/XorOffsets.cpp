//===- XorOffsets.cpp - what xor changes by a constant -------------------===//
//
// A thread that has the elements 2i and 2i + 1 loads their partners at 2i ^ 5 and (2i + 1) ^ 5.
// LLVM knows that 2i is even and makes 2i ^ 4 of the latter, a number of its own: each element has
// its address in two registers, which live as long as the loop around it. Both differ by one.
//
// Contract. Needs: a kernel that nothing combines any more. Guarantees: of two numbers that are the
// same value `xor` constants, which differ in bits that the value never has, one is the other with
// those bits added (`or disjoint`), which the back end takes for a constant in the address. Never:
// where the other is not there anyway, so that no instruction is added.
//
//===----------------------------------------------------------------------===//
#include "compiler/XorOffsets.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {
/// `instruction` is its value `xor` this.
struct Changed {
  BinaryOperator *instruction;
  APInt bits;
};
} // namespace

/// The numbers of a block that are `xor` of one value, by that value.
static MapVector<Value *, SmallVector<Changed>> changedIn(BasicBlock &block) {
  MapVector<Value *, SmallVector<Changed>> changed;
  for (Instruction &i : block) {
    Value *value;
    const APInt *bits;
    if (match(&i, m_Xor(m_Value(value), m_APInt(bits))) && i.getType()->isIntegerTy())
      changed[value].push_back({cast<BinaryOperator>(&i), *bits});
  }
  return changed;
}

/// Makes those of `all`, numbers that are `xor` of `value`, of others; they are `left` behind.
static void shareBits(Value &value, ArrayRef<Changed> all, const DataLayout &layout,
                      SmallVectorImpl<Instruction *> &left) {
  APInt never = computeKnownBits(&value, layout).Zero;
  for (const Changed &one : all) {
    APInt rest = one.bits & ~never;
    const Changed *other = find_if(all, [&](const Changed &c) { return c.bits == rest; });
    if (rest == one.bits || other == all.end())
      continue;
    if (one.instruction->comesBefore(other->instruction))
      other->instruction->moveBefore(one.instruction->getIterator());
    IRBuilder<> builder(one.instruction);
    Value *added = builder.CreateOr(other->instruction,
                                    ConstantInt::get(value.getType(), one.bits & never), "",
                                    /*IsDisjoint=*/true);
    one.instruction->replaceAllUsesWith(added);
    left.push_back(one.instruction);
  }
}

void tile::splitXorOffsets(Function &f) {
  SmallVector<Instruction *> left;
  for (BasicBlock &block : f)
    for (auto &[value, all] : changedIn(block))
      if (all.size() > 1)
        shareBits(*value, all, f.getDataLayout(), left);
  for (Instruction *i : left)
    i->eraseFromParent();
}
