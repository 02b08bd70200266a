//===- SkipLoops.cpp - loops that do nothing for a false mask -------------===//
//
// Two loops of which each has its own limit, written with masks, load where both hold:
//
//   for i in range(128):                       for i in range(128):
//     for j in range(128):                       if i < n:
//       mask = (i < n) & (j < m)          =>       for j in range(128): ...
//       best = where(mask, max(best, load(p, mask)), best)
//
// Where the part of the mask that the inner loop does not change is false, that loop takes its
// turns and changes nothing.
//
// Contract. Needs: loops in the form that LLVM's loop passes leave, invariants in front of them.
// Guarantees: an innermost loop, all of whose accesses have masks that some value is part of, which
// no turn of it changes but the turns of the loop around it do, is left out where that value is
// false, if it would then give what it began with. Never: where the value is the same in all turns
// of the loop around it (programs beyond a limit are few, and end soon); where threads meet in the
// loop; more instructions than a branch.
//
//===----------------------------------------------------------------------===//
#include "compiler/SkipLoops.h"
#include "compiler/RegisterEstimate.h"
#include "passes/lowering/instructions/PtxText.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace tile;

namespace {
/// A loop where `condition` is false.
class LoopWithout {
public:
  LoopWithout(const Loop &loop, Value &condition) : loop(loop) {
    known[&condition] = ConstantInt::getFalse(condition.getContext());
  }

  bool hasEffects() {
    return any_of(loop.blocks(), [&](BasicBlock *block) {
      return any_of(*block, [&](const Instruction &i) {
        if (!i.mayHaveSideEffects())
          return false;
        Value *mask = maskOf(i);
        return !mask || !match(valueOf(mask), m_Zero());
      });
    });
  }

  /// What `value` is behind the loop, as a value in front of it; null: not known.
  Value *behind(Value *value) {
    Value *is = valueOf(value);
    auto *carried = dyn_cast<PHINode>(is);
    if (loop.isLoopInvariant(is))
      return is;
    return carried && isKept(*carried) ? carried->getIncomingValueForBlock(loop.getLoopPreheader())
                                       : nullptr;
  }

private:
  /// Whether each turn leaves `carried` as it is.
  bool isKept(PHINode &carried) {
    return carried.getParent() == loop.getHeader() &&
           valueOf(carried.getIncomingValueForBlock(loop.getLoopLatch())) == &carried;
  }

  /// The value of the same turn that `value` is; itself if nothing else is known.
  Value *valueOf(Value *value) {
    auto *op = dyn_cast<Instruction>(value);
    if (Value *is = known.lookup(value))
      return is;
    if (!op || !loop.contains(op))
      return value;
    known[value] = value;
    return known[value] = computed(*op);
  }

  Value *computed(Instruction &op) {
    Value *left, *right;
    if (match(&op, m_LogicalAnd(m_Value(left), m_Value(right)))) {
      for (Value *part : {left, right})
        if (Value *is = valueOf(part); match(is, m_Zero()))
          return is;
    } else if (auto *choice = dyn_cast<SelectInst>(&op)) {
      if (match(valueOf(choice->getCondition()), m_Zero()))
        return valueOf(choice->getFalseValue());
    }
    return &op;
  }

  const Loop &loop;
  DenseMap<Value *, Value *> known;
};
} // namespace

/// The parts of `mask` that `loop` leaves as they are and the loop around it does not.
static void addParts(Value *mask, const Loop &loop, SetVector<Value *> &parts) {
  SmallVector<Value *> left = {mask};
  SmallPtrSet<Value *, 8> seen;
  while (!left.empty()) {
    Value *part = left.pop_back_val(), *one, *other;
    if (!seen.insert(part).second)
      continue;
    if (loop.isLoopInvariant(part)) {
      if (!loop.getParentLoop()->isLoopInvariant(part))
        parts.insert(part);
    } else if (match(part, m_LogicalAnd(m_Value(one), m_Value(other)))) {
      left.append({other, one});
    }
  }
}

/// The parts that the mask of the first access of `loop` has and that may be those of all.
static SetVector<Value *> partsOfMasks(const Loop &loop) {
  SetVector<Value *> parts;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &i : *block)
      if (i.mayHaveSideEffects()) {
        if (Value *mask = maskOf(i))
          addParts(mask, loop, parts);
        return parts;
      }
  return parts;
}

/// Leaves `loop` out where `condition` is false, if it has no effect then.
static bool skip(Loop &loop, Value &condition, LoopInfo &loops, DominatorTree &dominators) {
  LoopWithout without(loop, condition);
  if (without.hasEffects())
    return false;
  BasicBlock *exit = loop.getExitBlock();
  SmallVector<Value *> results;
  for (PHINode &phi : exit->phis()) {
    results.push_back(without.behind(phi.getIncomingValue(0)));
    if (!results.back() || phi.getNumIncomingValues() != 1)
      return false;
  }
  BasicBlock *before = loop.getLoopPreheader();
  BasicBlock *own = SplitBlock(before, before->getTerminator(), &dominators, &loops);
  IRBuilder<> b(before->getTerminator());
  Value *asked = &condition;
  if (!isGuaranteedNotToBeUndefOrPoison(asked, nullptr, before->getTerminator(), &dominators))
    asked = b.CreateFreeze(asked);
  b.CreateCondBr(asked, own, exit);
  before->getTerminator()->eraseFromParent();
  for (auto [phi, result] : zip(exit->phis(), results))
    phi.addIncoming(result, before);
  dominators.changeImmediateDominator(exit, before);
  return true;
}

bool tile::skipLoops(LoopInfo &loops, DominatorTree &dominators) {
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || !loop->getParentLoop())
      continue;
    SetVector<Value *> parts = partsOfMasks(*loop);
    if (parts.empty() || !loop->isLoopSimplifyForm() || !loop->getExitBlock() ||
        !loop->isLCSSAForm(dominators))
      continue;
    changed |= any_of(parts, [&](Value *part) { return skip(*loop, *part, loops, dominators); });
  }
  return changed;
}
