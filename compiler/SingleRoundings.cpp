//===- SingleRoundings.cpp - values rounded to bf16 by themselves ---------===//
//
// Two floats become a pair of bf16 by an instruction of the arithmetic units, of which a
// multiprocessor does 64 in a cycle. One float by itself is converted by the unit for functions, 16
// in a cycle, as NVIDIA's assembler has it (`F2F`; for fp16 it takes the instruction for pairs). A
// kernel that rounds its intermediate results as another library would waits for it.
//
// Contract. Needs: a kernel as the back end gets it, in which what becomes words of pairs is
// rounded as such. Guarantees: a float that is rounded to bf16 alone is rounded in a pair with +0.
// What widens it again reads the whole word, in whose upper half it is; all else takes the lower
// half. The results are the same, NaN too (which becomes 0x7fff by either). Never: changes code for
// chips before sm_80, which have no such instruction.
//
//===----------------------------------------------------------------------===//
#include "compiler/SingleRoundings.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;
using namespace tile;

static bool isSingleRounding(const Instruction &i) {
  return isa<FPTruncInst>(i) && i.getType()->isBFloatTy() &&
         i.getOperand(0)->getType()->isFloatTy();
}

static Value *pairOf(IRBuilder<> &builder, Value *upper, Value *lower) {
  return builder.CreateIntrinsic(Intrinsic::nvvm_ff2bf16x2_rn, {upper, lower});
}

static void roundAsPair(Instruction &rounding) {
  IRBuilder<> builder(&rounding);
  Value *x = rounding.getOperand(0), *zero = ConstantFP::getZero(builder.getFloatTy());
  Value *widened = nullptr;
  for (User *user : make_early_inc_range(rounding.users())) {
    auto *widening = dyn_cast<FPExtInst>(user);
    if (!widening || !widening->getType()->isFloatTy())
      continue;
    if (!widened) {
      Value *word = builder.CreateBitCast(pairOf(builder, x, zero), builder.getInt32Ty());
      widened = builder.CreateBitCast(word, builder.getFloatTy());
    }
    widening->replaceAllUsesWith(widened);
    widening->eraseFromParent();
  }
  if (!rounding.use_empty())
    rounding.replaceAllUsesWith(
        builder.CreateExtractElement(pairOf(builder, zero, x), uint64_t(0)));
  rounding.eraseFromParent();
}

void tile::roundAsPairs(Function &f, const Target &target) {
  if (!target.has(Feature::NarrowPairs))
    return;
  SmallVector<Instruction *> roundings;
  for (Instruction &i : instructions(f))
    if (isSingleRounding(i))
      roundings.push_back(&i);
  for (Instruction *i : roundings)
    roundAsPair(*i);
}
