//===- TranslateLoops.cpp - loops that may have no end --------------------===//
//
// A loop that waits for nobody never comes back to the machine. So each turn of a loop
// counts down a word of the thread, and every so many turns the machine is asked
// (tileEmuTurns), which lets others run or says that it goes on for ever.
//
// A loop whose counter steps past the end of its type does so as well, and might first touch
// memory that is none of its own: it is told at once.
//
//===----------------------------------------------------------------------===//
#include "emulator/translate/Translator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace tile::emu;

SmallSetVector<BasicBlock *, 8> tile::emu::loopHeaders(Function &f) {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(f, edges);
  SmallSetVector<BasicBlock *, 8> headers;
  for (auto [from, to] : edges)
    headers.insert(const_cast<BasicBlock *>(to));
  return headers;
}

/// An instruction that stands for the loop: the first that has a place in the source.
static const Instruction &placeOf(const BasicBlock &header) {
  for (const Instruction &inst : header)
    if (const DILocation *loc = inst.getDebugLoc(); loc && loc->getLine())
      return inst;
  return header.front();
}

void Translator::countTurns(Function &f, Value *thread, Value *site) {
  for (BasicBlock *header : loopHeaders(f)) {
    Value *where = site ? site : siteOf(placeOf(*header), "loop");
    IRBuilder<> b(header, header->getFirstInsertionPt());
    Value *slot = b.CreateConstInBoundsGEP1_32(b.getInt32Ty(), thread, kTurnsLeft);
    Value *left = b.CreateSub(b.CreateLoad(b.getInt32Ty(), slot), b.getInt32(1));
    b.CreateStore(left, slot);
    Instruction *then =
        SplitBlockAndInsertIfThen(b.CreateIsNull(left), b.GetInsertPoint(), /*Unreachable=*/false);
    b.SetInsertPoint(then);
    callHook(b, "tileEmuTurns", b.getVoidTy(), {thread, where});
  }
}

/// The sum that a loop's counter is in the next turn, if the loop ends when that is not below
/// (or above) something that stays.
static BinaryOperator *nextOfCounter(const Loop &loop, PHINode &phi) {
  BasicBlock *latch = loop.getLoopLatch();
  auto *next = latch ? dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(latch)) : nullptr;
  if (!next || next->getOpcode() != Instruction::Add || next->getOperand(0) != &phi ||
      !loop.isLoopInvariant(next->getOperand(1)))
    return nullptr;
  SmallVector<BasicBlock *> exits;
  loop.getExitingBlocks(exits);
  for (BasicBlock *exit : exits) {
    auto *branch = dyn_cast<BranchInst>(exit->getTerminator());
    auto *test =
        branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    if (!test || !test->isSigned() || !test->isRelational())
      continue;
    for (unsigned side : {0u, 1u})
      if (is_contained({static_cast<Value *>(&phi), static_cast<Value *>(next)},
                       test->getOperand(side)) &&
          loop.isLoopInvariant(test->getOperand(1 - side)))
        return next;
  }
  return nullptr;
}

void Translator::watchCounters(Function &f, Value *thread) {
  SmallVector<std::pair<BinaryOperator *, Value *>> counters;
  DominatorTree dominators(f);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder())
    for (PHINode &phi : loop->getHeader()->phis())
      if (BinaryOperator *next = phi.getType()->isIntegerTy() ? nextOfCounter(*loop, phi) : nullptr)
        counters.push_back({next, siteOf(placeOf(*loop->getHeader()), "loop")});
  for (auto [next, site] : counters) {
    IRBuilder<> b(next->getParent(), std::next(next->getIterator()));
    Value *before = next->getOperand(0), *step = next->getOperand(1);
    Value *bits = b.CreateAnd(b.CreateXor(next, before), b.CreateXor(next, step));
    Value *passed = b.CreateICmpSLT(bits, Constant::getNullValue(next->getType()));
    Instruction *then =
        SplitBlockAndInsertIfThen(passed, b.GetInsertPoint(), /*Unreachable=*/false);
    b.SetInsertPoint(then);
    callHook(b, "tileEmuCounterPassed", b.getVoidTy(), {thread, site});
  }
}
