//===- PipelinePlan.cpp - which loads of a loop run ahead ------------------===//
//
// A part of tile-pipeline-loads: what a loop loads and can be copied earlier, with what
// its addresses need. Changes nothing. Where copies go is in CopyPlaces.cpp.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/copies/CopyHints.h"
#include "passes/copies/CopyPlaces.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/ChainedProducts.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/Overwrites.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Registers.h"
#include "passes/layouts/DotLayouts.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using layout::Dim;

//===----------------------------------------------------------------------===//
// What can be started early
//===----------------------------------------------------------------------===//

bool tile::hasProducts(scf::ForOp loop) {
  return loop
      .walk([&](Operation *op) {
        bool isProduct = isa<DotOp, cta::WarpgroupDotOp>(op);
        return isProduct && op->getParentOfType<LoopLikeOpInterface>() == loop
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool feedsProduct(Value v, DenseSet<Value> &seen) {
  if (!seen.insert(v).second)
    return false;
  return llvm::any_of(v.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    bool isProduct = isa<DotOp, cta::WarpgroupDotOp>(user);
    if (isProduct && use.getOperandNumber() != kDotAcc)
      return true;
    if (auto branch = dyn_cast<scf::IfOp>(user->getParentOp()); branch && isa<scf::YieldOp>(user))
      return feedsProduct(branch.getResult(use.getOperandNumber()), seen);
    // What scores start from becomes an operand as they do.
    return (isProduct || isMemoryEffectFree(user)) && user->getNumRegions() == 0 &&
           !user->hasTrait<OpTrait::IsTerminator>() &&
           llvm::any_of(user->getResults(), [&](Value r) { return feedsProduct(r, seen); });
  });
}

bool tile::feedsProduct(Value v) {
  DenseSet<Value> seen;
  return ::feedsProduct(v, seen);
}

/// The one load that gives `v`, maybe transposed, whole: nobody else uses it.
static LoadOp onlyLoadOf(Value v) {
  while (auto trans = v.getDefiningOp<TransOp>()) {
    if (!trans->hasOneUse())
      return {};
    v = trans.getSrc();
  }
  auto load = v.getDefiningOp<LoadOp>();
  return load && load->hasOneUse() && readsZerosOutside(load) ? load : LoadOp();
}

bool tile::readsCopies(DotOp dot) {
  int64_t depth = dot.getA().getType().getShape().back();
  auto isCopied = [&](Value v) {
    LoadOp load = onlyLoadOf(v);
    return load && v.hasOneUse() && load->getBlock() == dot->getBlock();
  };
  return dotMethod(dot) == DotMethod::Staged && isCopied(dot.getA()) && isCopied(dot.getB()) &&
         cta::getLayout(dot.getType()).inSize(Dim::reg()) * depth <=
             tuningOf(dot).copiedMostMultiplications;
}

/// Whether the threads that load elements are those that use them: no copy would bring them there.
static bool isUsedWhereLoaded(LoadOp load) {
  auto block = cast<RankedTensorType>(load.getType());
  bool isRow = llvm::count_if(block.getShape(), [](int64_t size) { return size > 1; }) < 2;
  return !isRow && llvm::none_of(load->getUsers(),
                                 llvm::IsaPred<cta::ConvertLayoutOp, cta::StageOp, TransOp>);
}

/// Whether no two elements are known to lie side by side: copies go lane by lane then, where a load
/// fetches once what many lanes want.
static bool isGathered(LoadOp load) {
  AxisInfoAnalysis axes(load->getParentOfType<func::FuncOp>());
  return llvm::all_of(axes.get(load.getPtr()).axes,
                      [](const AxisFacts &axis) { return axis.contiguity == 0; });
}

/// `load` of `loop` as a copy; on failure the remark says why.
static std::optional<Copy> copyOf(LoadOp load, scf::ForOp loop, const DenseSet<Value> &written) {
  auto fail = [&](Reason why) {
    refuse(load, why);
    return std::nullopt;
  };
  if (load.getIsVolatile())
    return fail(Reason::CopyVolatile);
  if (maySeeStores(load, loop, written))
    return fail(Reason::CopyWritten);
  Copy copy;
  copy.load = load;
  copy.value = load.getResult();
  while (copy.value.hasOneUse()) {
    auto trans = dyn_cast<TransOp>(*copy.value.user_begin());
    if (!trans)
      break;
    copy.transpositions.push_back(trans);
    copy.value = trans.getResult();
  }
  if (!readsZerosOutside(load) && (copy.isReadInPlace() || !copy.transpositions.empty()))
    return fail(Reason::CopyOtherNotZero);
  if (!placeCopy(copy)) {
    // What lies side by side in memory may not do so where matrix instructions read it.
    auto type = cast<RankedTensorType>(copy.value.getType());
    unsigned bytes = std::min(load.getVector(), unsigned(cta::getLayout(type).inSize(Dim::reg()))) *
                     getElementBytes(type.getElementType());
    return fail(bytes >= kLeastCopyBytes && copy.isReadInPlace() ? Reason::CopyOtherMajor
                                                                 : Reason::CopyNarrow);
  }
  if (!loop->hasAttr(kNumStagesAttr) && !copy.isReadInPlace() && copy.vector == 1 &&
      isUsedWhereLoaded(load) && isGathered(load))
    return fail(Reason::CopyGathered);
  if (!canKeepHints(load, copy.vector * getElementBytes(getElementType(load.getType()))))
    return fail(Reason::CopyHints);
  return copy;
}

/// Whether products of the loop's slots are to be in flight from one iteration to the next.
static bool wantsSpare(Pipeline &p) {
  bool any = false;
  auto isCopied = [&](Value operand) {
    auto stage = operand.getDefiningOp<cta::StageOp>();
    bool own = stage && llvm::any_of(p.copies, [&](const Copy &c) {
                 return c.value == stage.getSrc() && c.isReadInPlace(stage);
               });
    any |= own;
    return own;
  };
  Flight flight;
  if (!obstacleToFlight(p.loop, isCopied, flight) && any)
    return true;
  std::optional<ChainedProducts> chain = chainedProducts(p.loop);
  unsigned threads = cta::threadsOf(p.loop->getParentOfType<ModuleOp>());
  return chain && chain->last.getB().hasOneUse() && isCopied(chain->last.getB()) &&
         chain->registers(p.loop, /*chained=*/true) <=
             mostRegistersOfThread(targetOf(p.loop), threads);
}

/// Says of loads in branches of the loop why they are not copied.
static void refuseLoadsInBranches(scf::ForOp loop, bool onlyForProducts) {
  loop->walk([&](LoadOp load) {
    if (isa<scf::IfOp>(load->getParentOp()) && isa<RankedTensorType>(load.getType()) &&
        load->getParentOfType<LoopLikeOpInterface>() == loop &&
        (!onlyForProducts || tile::feedsProduct(load.getResult())))
      refuse(load, Reason::CopyInBranch);
  });
}

std::optional<Pipeline> tile::planPipeline(scf::ForOp loop, int32_t stages, bool onlyForProducts) {
  Pipeline p;
  p.loop = loop;
  p.stages = stages;
  std::optional<DenseSet<Value>> all = writtenIn(loop);
  DenseSet<Value> written = all.value_or(DenseSet<Value>());
  Slice slice(loop, written);
  for (LoadOp load : loop.getBody()->getOps<LoadOp>()) {
    if (!isa<RankedTensorType>(load.getType()) ||
        (onlyForProducts && !tile::feedsProduct(load.getResult())))
      continue;
    if (!all) {
      refuse(load, Reason::CopyOrdered);
      continue;
    }
    std::optional<Copy> copy = copyOf(load, loop, written);
    if (!copy)
      continue;
    if (slice.add({load.getPtr(), load.getMask()}))
      p.copies.push_back(std::move(*copy));
    else
      refuse(load, Reason::CopyNotAhead);
  }
  refuseLoadsInBranches(loop, onlyForProducts);
  p.ahead = std::move(slice.ops);
  p.carried = std::move(slice.carried);
  // What addresses depend on is loaded into registers.
  llvm::erase_if(p.copies, [&](Copy &copy) { return p.ahead.contains(copy.load); });
  for (DotOp dot : loop.getBody()->getOps<DotOp>()) {
    auto isCopied = [&](Value v) {
      return llvm::any_of(p.copies, [&](const Copy &copy) { return copy.value == v; });
    };
    if (readsCopies(dot) && isCopied(dot.getA()) && isCopied(dot.getB()))
      p.multiplied.insert(dot);
  }
  if (p.copies.empty())
    return std::nullopt;
  for (Operation &op : *loop.getBody()) {
    if (!p.ahead.contains(&op))
      continue;
    bool isLate = isa<LoadOp>(op) || llvm::any_of(op.getOperands(), [&](Value v) {
                    return p.late.contains(v.getDefiningOp());
                  });
    if (isLate)
      p.late.insert(&op);
  }
  p.hasSpare = wantsSpare(p);
  return p;
}
