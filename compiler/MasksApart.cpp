//===- MasksApart.cpp - masks of loads, and what else asks for them -------===//
//
// A thread has seven predicate registers. Where it loads many elements behind masks, and selects by
// the same masks afterwards, as `where(mask, load(p, mask) * s, -inf)` does, NVIDIA's assembler
// keeps each mask from its load to its select, and for want of predicates puts them side by side:
// each load then waits for the one before. (Tokens sampled from 64 elements a thread, two loads
// each: 64 us on an H200; with all loads on their way together 36.)
//
// Contract. Needs: a kernel as the back end gets it. Guarantees: if the loads of a basic block have
// more comparisons of 32-bit integers as masks than there are predicates, which selects behind them
// in that block ask for as well, those get comparisons of their own, of a number that is the same,
// which the assembler cannot know. Never: changes which elements are accessed.
//
//===----------------------------------------------------------------------===//
#include "compiler/MasksApart.h"
#include "compiler/RegisterEstimate.h"
#include "passes/lowering/instructions/PtxText.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace tile;

static constexpr unsigned kPredicates = 7;

namespace {
/// The masks of loads of a block, and the last of these.
struct Masks {
  SmallSetVector<ICmpInst *, 16> all;
  Instruction *lastLoad = nullptr;
};
} // namespace

static Masks masksOf(BasicBlock &block) {
  Masks masks;
  for (Instruction &i : block) {
    if (!loadsGlobal(i))
      continue;
    auto *mask = dyn_cast_or_null<ICmpInst>(maskOf(i));
    if (!mask || !mask->getOperand(0)->getType()->isIntegerTy(32))
      continue;
    masks.all.insert(mask);
    masks.lastLoad = &i;
  }
  return masks;
}

/// The selects behind `load`, in its block, that ask for `mask`.
static SmallVector<SelectInst *> askingBehind(const Instruction &load, ICmpInst &mask) {
  SmallVector<SelectInst *> asking;
  for (User *user : mask.users())
    if (auto *select = dyn_cast<SelectInst>(user); select && select->getCondition() == &mask &&
                                                   select->getParent() == load.getParent() &&
                                                   load.comesBefore(select))
      asking.push_back(select);
  return asking;
}

static Value *unknownZero(Function &f) {
  IRBuilder<> builder(&*f.getEntryBlock().getFirstInsertionPt());
  auto *type = FunctionType::get(builder.getInt32Ty(), /*isVarArg=*/false);
  return builder.CreateCall(InlineAsm::get(type, ptx::kUnknownZero, "=r", /*hasSideEffects=*/true));
}

void tile::keepMasksApart(Function &f) {
  Value *zero = nullptr;
  for (BasicBlock &block : f) {
    Masks masks = masksOf(block);
    auto isAskedFor = [&](ICmpInst *mask) { return !askingBehind(*masks.lastLoad, *mask).empty(); };
    if (count_if(masks.all, isAskedFor) <= kPredicates)
      continue;
    if (!zero)
      zero = unknownZero(f);
    DenseMap<Value *, Value *> same;
    for (ICmpInst *mask : masks.all) {
      for (SelectInst *select : askingBehind(*masks.lastLoad, *mask)) {
        Value *&number = same[mask->getOperand(0)];
        if (!number)
          number = IRBuilder<>(masks.lastLoad->getNextNode()).CreateOr(mask->getOperand(0), zero);
        select->setCondition(
            IRBuilder<>(select).CreateICmp(mask->getPredicate(), number, mask->getOperand(1)));
      }
    }
  }
}
