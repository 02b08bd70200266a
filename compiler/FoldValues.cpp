//===- FoldValues.cpp - values are folded where they stand ----------------===//
//
// LLVM's InstCombine also moves what only a block that returns uses to there: it is executed no
// more often. Of a kernel whose loop is written out, and that branches once before it ends, all
// sums over the turns then stand behind the last turn, and a thread holds what every turn adds to
// them until then. Addresses of what is stored at the end are better there.
//
// Contract. Needs: any function. Guarantees: what InstCombine does; but without loops, what moves
// to a block that returns, and is reached in several ways, is held in no fewer registers than what
// it is computed from. Behind loops everything may move: of that, kernels gain and lose. The blocks
// are as before. Never: moves what reads memory or has an effect.
//
//===----------------------------------------------------------------------===//
#include "compiler/FoldValues.h"
#include "compiler/RegisterEstimate.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace tile;

/// Registers of `value`; a truth is one here, since few predicates outlive a loop.
static int widthOf(const Value &value, const DataLayout &layout) {
  return value.getType()->isIntegerTy(1) ? isa<Instruction>(value) : registersOf(value, layout);
}

/// The first of `value`'s users, if all of them are in `block`, and none joins values there.
static Instruction *firstUserIn(const BasicBlock &block, const Instruction &value) {
  Instruction *first = nullptr;
  for (const User *user : value.users()) {
    auto *use = cast<Instruction>(user);
    if (use->getParent() != &block || isa<PHINode>(use))
      return nullptr;
    if (!first || use->comesBefore(first))
      first = const_cast<Instruction *>(use);
  }
  return first;
}

static bool canMove(const Instruction &i) {
  auto *call = dyn_cast<CallBase>(&i);
  return !isa<PHINode, AllocaInst>(i) && !i.isTerminator() && !i.mayHaveSideEffects() &&
         !i.mayReadFromMemory() && !(call && call->isConvergent());
}

/// Whether no more registers are held until `end` if `value` is computed there.
static bool holdsNoMore(const Instruction &value, const BasicBlock &end) {
  const DataLayout &layout = end.getDataLayout();
  int held = 0;
  SmallPtrSet<const Value *, 4> seen;
  for (const Value *operand : value.operand_values()) {
    if (!isa<Instruction>(operand) || !seen.insert(operand).second)
      continue;
    bool isThere = any_of(operand->users(), [&](const User *user) {
      auto *use = cast<Instruction>(user);
      return use != &value && use->getParent() == &end;
    });
    if (!isThere)
      held += widthOf(*operand, layout);
  }
  return held <= widthOf(value, layout);
}

/// Moves what only `end` uses to there, users first, as long as nothing else is held for it.
static void moveTo(BasicBlock &end) {
  for (BasicBlock &block : reverse(*end.getParent()))
    if (&block != &end)
      for (Instruction &i : make_early_inc_range(reverse(block)))
        if (canMove(i))
          if (Instruction *user = firstUserIn(end, i); user && holdsNoMore(i, end))
            i.moveBefore(user->getIterator());
}

PreservedAnalyses FoldValues::run(Function &f, FunctionAnalysisManager &fam) {
  SmallVector<BasicBlock *> returns;
  if (f.size() > 1 && fam.getResult<LoopAnalysis>(f).empty())
    for (BasicBlock &block : f)
      if (isa<ReturnInst>(block.getTerminator()))
        returns.push_back(&block);
  if (returns.empty())
    return InstCombinePass().run(f, fam);
  // InstCombine moves nothing to a block that has another behind it.
  SmallVector<BasicBlock *> ends;
  for (BasicBlock *block : returns)
    ends.push_back(block->splitBasicBlock(block->getTerminator()));
  fam.invalidate(f, PreservedAnalyses::none());
  InstCombinePass().run(f, fam);
  for (BasicBlock *end : ends)
    MergeBlockIntoPredecessor(end);
  for (BasicBlock *block : returns)
    moveTo(*block);
  return PreservedAnalyses::none();
}
