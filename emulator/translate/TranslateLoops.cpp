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

namespace {
struct Counter {
  BinaryOperator *next; ///< what the counter is in the next turn
  /// Null, or the end of the turn where it decides by the counter of this one: what comes
  /// behind the last turn does not matter.
  BranchInst *end = nullptr;
};
} // namespace

/// The sum that a loop's counter is in the next turn, if the loop ends when that is not below
/// (or above) something that stays.
static std::optional<Counter> counterOf(const Loop &loop, PHINode &phi) {
  BasicBlock *latch = loop.getLoopLatch();
  auto *next = latch ? dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(latch)) : nullptr;
  if (!next || next->getOpcode() != Instruction::Add || next->getOperand(0) != &phi ||
      !loop.isLoopInvariant(next->getOperand(1)))
    return std::nullopt;
  SmallVector<BasicBlock *> exits;
  loop.getExitingBlocks(exits);
  for (BasicBlock *exit : exits) {
    auto *branch = dyn_cast<BranchInst>(exit->getTerminator());
    auto *test =
        branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    if (!test || !test->isSigned() || !test->isRelational())
      continue;
    for (unsigned side : {0u, 1u}) {
      Value *tested = test->getOperand(side);
      if (!is_contained({static_cast<Value *>(&phi), static_cast<Value *>(next)}, tested) ||
          !loop.isLoopInvariant(test->getOperand(1 - side)))
        continue;
      return Counter{next, exit == latch && tested == &phi ? branch : nullptr};
    }
  }
  return std::nullopt;
}

void Translator::watchCounters(Function &f, Value *thread) {
  struct Watched {
    Counter counter;
    Value *site;
    bool goesOnIfTrue;
  };
  SmallVector<Watched> watched;
  DominatorTree dominators(f);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder())
    for (PHINode &phi : loop->getHeader()->phis())
      if (auto counter = phi.getType()->isIntegerTy() ? counterOf(*loop, phi) : std::nullopt)
        watched.push_back({*counter, siteOf(placeOf(*loop->getHeader()), "loop"),
                           counter->end && loop->contains(counter->end->getSuccessor(0))});
  for (auto [counter, site, goesOnIfTrue] : watched) {
    BinaryOperator *next = counter.next;
    IRBuilder<> b(next->getParent(), std::next(next->getIterator()));
    if (counter.end)
      b.SetInsertPoint(counter.end);
    Value *before = next->getOperand(0), *step = next->getOperand(1);
    Value *bits = b.CreateAnd(b.CreateXor(next, before), b.CreateXor(next, step));
    Value *passed = b.CreateICmpSLT(bits, Constant::getNullValue(next->getType()));
    if (counter.end) {
      Value *test = counter.end->getCondition();
      passed = b.CreateAnd(passed, goesOnIfTrue ? test : b.CreateNot(test));
    }
    Instruction *then =
        SplitBlockAndInsertIfThen(passed, b.GetInsertPoint(), /*Unreachable=*/false);
    b.SetInsertPoint(then);
    callHook(b, "tileEmuCounterPassed", b.getVoidTy(), {thread, site});
  }
}
