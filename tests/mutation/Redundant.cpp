//===- Redundant.cpp - instructions that leave no fault when removed ------===//
//
// Some barriers, fences and waits say what others around them say too. That is shown here
// for each by the paths that lead from it, or to it: removing the instruction takes
// no two operations out of their order, in any launch.
//
// All threads of a barrier are taken to come to the same one, as the lowering has it:
// what is on the paths from it is what the other threads do next.
//
//===----------------------------------------------------------------------===//
#include "tests/mutation/Mutations.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include <algorithm>
#include <optional>

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
  Product, ///< of a warpgroup, and what it waits for them by: all its threads know alike
  Signal,  ///< at an mbarrier, or a wait there: nothing is touched
  Copy,    ///< `cp.async`, and its groups: not there before a wait
  Init,    ///< of an mbarrier
  Access,  ///< a plain access, or the end of `cp.async`
  Barrier, ///< of threads of the CTA
  Other,
};
enum class Judgement { GoOn, Enough, Fails };
} // namespace

/// The statements of inline PTX, without labels and predicates.
static SmallVector<StringRef> statementsOf(StringRef text) {
  SmallVector<StringRef> statements;
  for (StringRef statement : split(text, ';')) {
    statement = statement.trim();
    if (auto [label, rest] = statement.split(":\n"); !label.contains(' ') && !rest.empty())
      statement = rest.ltrim();
    if (statement.starts_with("@"))
      statement = statement.split(' ').second;
    statements.push_back(statement);
  }
  return statements;
}

static Effect effectOfPtx(StringRef text) {
  auto is = [&](std::initializer_list<StringRef> names) {
    return any_of(names, [&](StringRef name) { return text.starts_with(name); });
  };
  if (is({"bar.sync", "bar.warp.sync"}))
    return Effect::Barrier;
  if (is({"cp.async.ca.", "cp.async.cg.", "cp.async.commit_group"}))
    return Effect::Copy;
  if (is({"mbarrier.init"}))
    return Effect::Init;
  if (is({"wgmma."}))
    return Effect::Product;
  if (is({"mbarrier.arrive.shared", "mbarrier.try_wait", "fence.proxy.async"}))
    return Effect::Signal;
  if (is({"ld.", "st.shared", "st.global", "ldmatrix", "stmatrix", "cp.async.wait_"}))
    return Effect::Access;
  bool isQuiet = text.empty() || is({"mov.", "{", "}", ".reg", "bra "});
  return isQuiet ? Effect::None : Effect::Other;
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
  for (StringRef statement : statementsOf(text))
    effect = std::max(effect, effectOfPtx(statement));
  return effect;
}

/// Conditions that hold, or do not, wherever a block is come to, and stay what they are: no path
/// from there computes them again.
static DenseMap<const Value *, bool> conditionsAt(const BasicBlock *block) {
  DenseMap<const Value *, bool> known;
  const BasicBlock *start = block;
  while (const BasicBlock *before = block->getSinglePredecessor()) {
    auto *branch = dyn_cast<BranchInst>(before->getTerminator());
    if (branch && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1)) {
      auto *inst = dyn_cast<Instruction>(branch->getCondition());
      if (!inst || !isPotentiallyReachable(start, inst->getParent()))
        known[branch->getCondition()] = branch->getSuccessor(0) == block;
    }
    block = before;
  }
  return known;
}

/// Whether each path from an instruction, or to it, comes to something that is enough
/// before anything fails. The kernel's start and its end are enough.
static bool allPaths(Instruction &inst, bool forward,
                     function_ref<Judgement(const Instruction &)> judge) {
  DenseMap<const Value *, bool> known = conditionsAt(inst.getParent());
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<Instruction *> open;
  auto next = [&](Instruction *at) { return forward ? at->getNextNode() : at->getPrevNode(); };
  auto leave = [&](BasicBlock *block) {
    auto enter = [&](BasicBlock *other) {
      if (seen.insert(other).second)
        open.push_back(forward ? &other->front() : &other->back());
    };
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    auto condition =
        branch && branch->isConditional() ? known.find(branch->getCondition()) : known.end();
    if (forward && condition != known.end())
      enter(branch->getSuccessor(condition->second ? 0 : 1));
    else if (forward)
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

/// Whether the barrier is of one warpgroup.
static bool isOfWarpgroup(const Instruction &barrier) {
  StringRef text = textOf(barrier);
  if (text.starts_with("bar.sync"))
    return text.starts_with("bar.sync $0, 128;");
  unsigned threads = 0;
  StringRef most = barrier.getFunction()->getFnAttribute("nvvm.reqntid").getValueAsString();
  return text.starts_with("llvm.nvvm.barrier.cta.sync") && !most.getAsInteger(10, threads) &&
         threads <= 128;
}

/// What its products have read all threads of a warpgroup may write once they have waited for them
/// themselves; and where they have done nothing else a barrier tells them nothing.
static bool followsProductsAlone(Instruction &barrier) {
  bool ofWarp = textOf(barrier).starts_with("bar.warp.sync");
  if (!ofWarp && !isOfWarpgroup(barrier))
    return false;
  // Lanes that still wait for a phase could miss it; at a product they meet.
  auto meet = [](const Instruction &inst) {
    Effect effect = effectOf(inst);
    if (effect == Effect::Barrier || effect == Effect::Product)
      return Judgement::Enough;
    return textOf(inst).contains("try_wait") ? Judgement::Fails : Judgement::GoOn;
  };
  if (ofWarp && !allPaths(barrier, /*forward=*/false, meet))
    return false;
  return allPaths(barrier, /*forward=*/false, [&](const Instruction &inst) {
    Effect effect = effectOf(inst);
    if (effect == Effect::Barrier && (ofWarp || isSameBarrier(barrier, inst)))
      return Judgement::Enough;
    bool quiet = effect == Effect::None || effect == Effect::Product ||
                 effect == (ofWarp ? Effect::Signal : Effect::Copy);
    return quiet ? Judgement::GoOn : Judgement::Fails;
  });
}

/// Whether shared memory stays what it is: loads, and plain stores elsewhere.
static bool leavesSharedMemory(const Instruction &inst) {
  if (auto *store = dyn_cast<StoreInst>(&inst))
    return store->getPointerAddressSpace() == 1;
  auto *call = dyn_cast<CallBase>(&inst);
  if (!call || !call->isInlineAsm())
    return isa<LoadInst>(inst) || effectOf(inst) == Effect::None;
  return all_of(statementsOf(textOf(inst)), [](StringRef statement) {
    return statement.starts_with("ld.") || statement.starts_with("st.global.") ||
           effectOfPtx(statement) == Effect::None;
  });
}

bool tile::mutation::leavesSharedMemoryBehind(Instruction &barrier) {
  return allPaths(barrier, /*forward=*/true, [&](const Instruction &inst) {
    if (effectOf(inst) == Effect::Barrier && isSameBarrier(barrier, inst))
      return Judgement::Enough;
    return leavesSharedMemory(inst) ? Judgement::GoOn : Judgement::Fails;
  });
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
  if (followsProductsAlone(barrier))
    return "since the one before there are products alone, for which all threads wait themselves";
  return "";
}

/// Whether programs share global memory by sums and the like alone, of which nobody uses what was
/// there before: there is nothing to put in order.
static bool sharesUnusedAtomicsAlone(const Function &kernel) {
  for (const Instruction &inst : instructions(kernel)) {
    StringRef text = textOf(inst);
    if (auto *store = dyn_cast<StoreInst>(&inst)) {
      if (store->getPointerAddressSpace() != 3)
        return false;
    } else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(inst) && !inst.use_empty()) {
      return false;
    }
    for (StringRef statement : statementsOf(text))
      if ((statement.starts_with("atom.") && !inst.use_empty()) ||
          (statement.starts_with("st.") && !statement.starts_with("st.shared")) ||
          statement.contains(".global.shared"))
        return false;
  }
  return true;
}

/// Whether a fence does all that another one does.
static bool covers(StringRef fence, StringRef other) {
  return fence == other || fence.starts_with("fence.proxy.async;") ||
         (other.starts_with("fence.mbarrier_init") &&
          fence.starts_with("fence.proxy.async.shared"));
}

static std::string whyNoFence(Instruction &fence) {
  StringRef text = textOf(fence);
  if (text.starts_with("fence.acq_rel.gpu") && sharesUnusedAtomicsAlone(*fence.getFunction()))
    return "programs share what atomic operations leave, whose results nobody uses";
  if (!text.starts_with("fence.mbarrier_init") && !text.starts_with("fence.proxy.async"))
    return "";
  bool covered = allPaths(fence, /*forward=*/true, [&](const Instruction &inst) {
    StringRef other = textOf(inst);
    if (other.starts_with("fence.") && covers(other, text))
      return Judgement::Enough;
    Effect effect = effectOf(inst);
    bool isUse = effect == Effect::Other || effect == Effect::Product || effect == Effect::Signal;
    return isUse ? Judgement::Fails : Judgement::GoOn;
  });
  return covered ? "another one follows before the asynchronous proxy is used" : "";
}

/// How many groups of products a wait leaves; none if it is no such wait.
static std::optional<unsigned> groupsLeft(const Instruction &inst) {
  StringRef text = textOf(inst);
  unsigned left = 0;
  if (!text.consume_front("wgmma.wait_group.sync.aligned ") || text.consumeInteger(10, left))
    return std::nullopt;
  return left;
}

/// A wait for products. One that gives results is what makes them known, whatever follows: only
/// what came before it can stand in for it.
static std::string whyNoWait(Instruction &wait) {
  unsigned left = *groupsLeft(wait);
  auto until = [left](bool mayAccess) {
    return [left, mayAccess](const Instruction &inst) {
      if (auto other = groupsLeft(inst); other && *other <= left)
        return Judgement::Enough;
      Effect effect = effectOf(inst);
      bool isQuiet = mayAccess ? effect != Effect::Product : effect == Effect::None;
      return isQuiet ? Judgement::GoOn : Judgement::Fails;
    };
  };
  if (allPaths(wait, /*forward=*/false, until(true)))
    return "no products have started since the threads waited for these";
  if (wait.getType()->isVoidTy() && allPaths(wait, /*forward=*/true, until(false)))
    return "a wait for as many follows before memory is touched";
  return "";
}

/// What is committed with the next group is waited for with it, if every wait is for all groups.
static std::string whyNoCommit(Instruction &commit) {
  StringRef text = textOf(commit), kind = text.take_front(text.find("commit_group"));
  auto isWait = [&](const Instruction &inst) {
    return textOf(inst).starts_with((kind + "wait_").str());
  };
  for (const Instruction &inst : instructions(*commit.getFunction()))
    if (isWait(inst) && !textOf(inst).contains("wait_all") &&
        !textOf(inst).split("wait_group").second.split(' ').second.starts_with("0;"))
      return "";
  bool isCovered = allPaths(commit, /*forward=*/true, [&](const Instruction &inst) {
    if (textOf(inst) == text)
      return Judgement::Enough;
    bool isEnd = isWait(inst) || isa<ReturnInst>(inst);
    return isEnd ? Judgement::Fails : Judgement::GoOn;
  });
  return isCovered ? "the next group is waited for where this one is, and has its copies, too" : "";
}

std::string tile::mutation::whyRedundant(Instruction &inst) {
  if (textOf(inst).starts_with("cp.async.") && textOf(inst).contains("commit_group"))
    return whyNoCommit(inst);
  if (groupsLeft(inst))
    return whyNoWait(inst);
  return effectOf(inst) == Effect::Barrier ? whyNoBarrier(inst) : whyNoFence(inst);
}
