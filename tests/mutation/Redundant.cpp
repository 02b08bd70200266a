//===- Redundant.cpp - instructions that leave no fault when removed ------===//
//
// Some barriers and fences say what others around them say too. That is shown here
// for each by the paths that lead from it, or to it: removing the instruction takes
// no two operations out of their order, in any launch.
//
// All threads of a barrier are taken to come to the same one, as the lowering has it:
// what is on the paths from it is what the other threads do next.
//
//===----------------------------------------------------------------------===//
#include "tests/mutation/Mutations.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include <algorithm>

using namespace llvm;
using namespace tile::mutation;

StringRef tile::mutation::textOf(const Instruction &inst) {
  auto *call = dyn_cast<CallBase>(&inst);
  if (!call)
    return "";
  if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand()))
    return text->getAsmString();
  return call->getCalledFunction() ? call->getCalledFunction()->getName() : "";
}

namespace {
/// What an instruction does to what other threads see; of several things the last one here.
enum class Effect {
  None,
  Copy,    ///< `cp.async`, and its groups: not there before a wait
  Init,    ///< of an mbarrier
  Access,  ///< a plain access, or the end of `cp.async`
  Barrier, ///< of threads of the CTA
  Other,
};
enum class Judgement { GoOn, Enough, Fails };
} // namespace

/// Of one statement of inline PTX.
static Effect effectOfPtx(StringRef text) {
  if (text.starts_with("@")) // the predicate
    text = text.split(' ').second;
  auto is = [&](std::initializer_list<StringRef> names) {
    return any_of(names, [&](StringRef name) { return text.starts_with(name); });
  };
  if (is({"bar.sync", "bar.warp.sync"}))
    return Effect::Barrier;
  if (is({"cp.async.ca.", "cp.async.cg.", "cp.async.commit_group"}))
    return Effect::Copy;
  if (is({"mbarrier.init"}))
    return Effect::Init;
  if (is({"ld.", "st.shared", "st.global", "ldmatrix", "stmatrix", "cp.async.wait_"}))
    return Effect::Access;
  return text.empty() || is({"mov."}) ? Effect::None : Effect::Other;
}

static Effect effectOf(const Instruction &inst) {
  StringRef text = textOf(inst);
  if (isa<LoadInst, StoreInst>(inst))
    return Effect::Access;
  if (text.starts_with("llvm.nvvm.barrier.cta.sync"))
    return Effect::Barrier;
  // Shuffles and waiting for other grids order no threads of this one.
  if (text.starts_with("llvm.nvvm.shfl") || text.starts_with("llvm.nvvm.griddepcontrol") ||
      text.starts_with("llvm.assume") || !inst.mayReadOrWriteMemory())
    return Effect::None;
  auto *call = dyn_cast<CallBase>(&inst);
  if (!call || !call->isInlineAsm())
    return Effect::Other;
  Effect effect = Effect::None;
  for (StringRef statement : split(text, ';'))
    effect = std::max(effect, effectOfPtx(statement.trim()));
  return effect;
}

/// Whether each path from an instruction, or to it, comes to something that is enough
/// before anything fails. The kernel's start and its end are enough.
static bool allPaths(Instruction &inst, bool forward,
                     function_ref<Judgement(const Instruction &)> judge) {
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<Instruction *> open;
  auto next = [&](Instruction *at) { return forward ? at->getNextNode() : at->getPrevNode(); };
  auto leave = [&](BasicBlock *block) {
    auto enter = [&](BasicBlock *other) {
      if (seen.insert(other).second)
        open.push_back(forward ? &other->front() : &other->back());
    };
    if (forward)
      for_each(successors(block), enter);
    else
      for_each(predecessors(block), enter);
  };
  auto follow = [&](Instruction *at, BasicBlock *block) {
    for (; at; at = next(at))
      switch (judge(*at)) {
      case Judgement::Enough:
        return true;
      case Judgement::Fails:
        return false;
      case Judgement::GoOn:
        break;
      }
    leave(block);
    return true;
  };
  if (!follow(next(&inst), inst.getParent()))
    return false;
  while (!open.empty()) {
    Instruction *at = open.pop_back_val();
    if (!follow(at, at->getParent()))
      return false;
  }
  return true;
}

/// The same barrier, of the same threads.
static bool isSameBarrier(const Instruction &a, const Instruction &b) {
  auto &x = cast<CallBase>(a), &y = cast<CallBase>(b);
  return x.getCalledOperand() == y.getCalledOperand() && equal(x.args(), y.args());
}

static std::string whyNoBarrier(Instruction &barrier) {
  auto until = [&](bool copies) {
    return [&barrier, copies](const Instruction &inst) {
      Effect effect = effectOf(inst);
      if (effect == Effect::Barrier && isSameBarrier(barrier, inst))
        return Judgement::Enough;
      return effect == Effect::None || (copies && effect == Effect::Copy) ? Judgement::GoOn
                                                                          : Judgement::Fails;
    };
  };
  if (allPaths(barrier, /*forward=*/true, until(false)))
    return "nobody touches memory before the next one";
  // A barrier does not make copies arrive; what has been started may end on either side.
  if (allPaths(barrier, /*forward=*/false, until(true)))
    return "nobody has touched memory since the one before, but for starting copies";
  return "";
}

/// Whether a fence does all that another one does.
static bool covers(StringRef fence, StringRef other) {
  return fence == other || fence.starts_with("fence.proxy.async;") ||
         (other.starts_with("fence.mbarrier_init") &&
          fence.starts_with("fence.proxy.async.shared"));
}

static std::string whyNoFence(Instruction &fence) {
  StringRef text = textOf(fence);
  if (!text.starts_with("fence.mbarrier_init") && !text.starts_with("fence.proxy.async"))
    return "";
  bool covered = allPaths(fence, /*forward=*/true, [&](const Instruction &inst) {
    StringRef other = textOf(inst);
    if (other.starts_with("fence.") && covers(other, text))
      return Judgement::Enough;
    return effectOf(inst) == Effect::Other ? Judgement::Fails : Judgement::GoOn;
  });
  return covered ? "another one follows before the asynchronous proxy is used" : "";
}

std::string tile::mutation::whyRedundant(Instruction &inst) {
  return effectOf(inst) == Effect::Barrier ? whyNoBarrier(inst) : whyNoFence(inst);
}
