//===- SplitLoops.cpp - a loop for each side of a condition ---------------===//
//
// NVIDIA's assembler unrolls short loops, so that what several turns load is on its way together,
// but none with a branch inside. Where no turn changes what the branch asks, there are two loops,
// each without it:
//
//   for k in range(n):                        if first:
//     sum += load(table + k) ...                for k in range(n): ...; store(...)
//     if first:                          =>   else:
//       store(...)                              for k in range(n): ...
//
// Contract. Needs: loops in the form that LLVM's loop passes leave, invariants in front of them.
// Guarantees: an innermost loop of few instructions that loads from global memory, and all of whose
// branches but its end ask the same, which is the same for all threads and turns, is two without
// branches. Never: where threads could take both, one after the other; where threads meet in the
// loop.
//
//===----------------------------------------------------------------------===//
#include "compiler/SplitLoops.h"
#include "compiler/RegisterEstimate.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace tile;

/// Whether all threads of a program have the same `value`, as what is computed of parameters, of
/// the program's place in the grid, and of what is loaded from where such values say. (LLVM's
/// analysis takes that place for one of the thread's own numbers.) What depends on the way that a
/// thread has taken is not looked at.
static bool isUniform(const Value *value, SmallPtrSetImpl<const Value *> &seen) {
  auto *op = dyn_cast<Instruction>(value);
  if (!op || !seen.insert(op).second)
    return true;
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(op))
    switch (intrinsic->getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
      return true;
    default:
      return false;
    }
  return (isa<UnaryInstruction, BinaryOperator, CmpInst, SelectInst, GetElementPtrInst>(op) ||
          loadsGlobal(*op)) &&
         !isa<AllocaInst, VAArgInst>(op) &&
         all_of(op->operand_values(), [&](const Value *v) { return isUniform(v, seen); });
}

/// What all branches of `loop` but its end ask, if no turn changes it; null: there is no such.
static Value *conditionOf(const Loop &loop) {
  Value *condition = nullptr;
  for (const BasicBlock *block : loop.blocks()) {
    const Instruction *end = block->getTerminator();
    auto *branch = dyn_cast<BranchInst>(end);
    if (!branch)
      return nullptr;
    if (branch->isUnconditional() || block == loop.getLoopLatch())
      continue;
    Value *asked = branch->getCondition();
    if (!loop.isLoopInvariant(asked) || isa<Constant>(asked) || (condition && condition != asked) ||
        loop.isLoopExiting(block))
      return nullptr;
    condition = asked;
  }
  return condition;
}

/// Whether `loop` is short, loads, and has nothing that threads do together.
static bool isShortAndLoads(const Loop &loop) {
  size_t size = 0;
  bool loads = false;
  for (const BasicBlock *block : loop.blocks()) {
    size += block->size();
    for (const Instruction &i : *block) {
      auto *call = dyn_cast<CallBase>(&i);
      if (call && call->isConvergent())
        return false;
      loads |= loadsGlobal(i);
    }
  }
  return loads && size <= kMostUnrolled && loop.isSafeToClone();
}

static void decide(ArrayRef<BasicBlock *> blocks, Value *condition, bool truth) {
  for (BasicBlock *block : blocks)
    for (Instruction &i : *block)
      i.replaceUsesOfWith(condition, ConstantInt::getBool(condition->getContext(), truth));
}

static void split(Loop &loop, Value *condition, LoopInfo &loops, DominatorTree &dominators) {
  BasicBlock *before = loop.getLoopPreheader(), *exit = loop.getExitBlock();
  BasicBlock *own = SplitBlock(before, before->getTerminator(), &dominators, &loops);
  ValueToValueMapTy copies;
  SmallVector<BasicBlock *> blocks;
  cloneLoopWithPreheader(own, before, &loop, copies, ".without", &loops, &dominators, blocks);
  remapInstructionsInBlocks(blocks, copies);
  for (PHINode &phi : exit->phis())
    for (unsigned i = 0, e = phi.getNumIncomingValues(); i < e; ++i) {
      Value *value = phi.getIncomingValue(i), *copy = copies.lookup(value);
      phi.addIncoming(copy ? copy : value, cast<BasicBlock>(copies[phi.getIncomingBlock(i)]));
    }
  IRBuilder<> b(before->getTerminator());
  Value *asked = condition;
  if (!isGuaranteedNotToBeUndefOrPoison(asked, nullptr, before->getTerminator(), &dominators))
    asked = b.CreateFreeze(asked);
  b.CreateCondBr(asked, own, cast<BasicBlock>(copies[own]));
  before->getTerminator()->eraseFromParent();
  dominators.changeImmediateDominator(exit, before);
  decide(loop.getBlocks(), condition, true);
  decide(blocks, condition, false);
}

bool tile::splitLoops(LoopInfo &loops, DominatorTree &dominators) {
  SmallVector<std::pair<Loop *, Value *>> found;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->isLoopSimplifyForm() && loop->getExitBlock())
      if (Value *condition = conditionOf(*loop);
          condition && isShortAndLoads(*loop) && loop->isLCSSAForm(dominators)) {
        SmallPtrSet<const Value *, 16> seen;
        if (isUniform(condition, seen))
          found.push_back({loop, condition});
      }
  for (auto [loop, condition] : found)
    split(*loop, condition, loops, dominators);
  return !found.empty();
}
