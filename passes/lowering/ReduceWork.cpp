//===- ReduceWork.cpp - what reductions across warps cost -----------------===//
//
// How the threads of a block share out what is left to do once warps have left their partial
// results in shared memory. See ReduceWork.h.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/ReduceWork.h"
#include "ir/Combiners.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/facts/Combiners.h"
#include "passes/facts/Reach.h"
#include "passes/memory/Costs.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

ReduceWork::ReduceWork(ReduceOp op)
    : op(op), layout(cta::getLayout(op.getSrcs()[0].getType())), axis(op.getAxis()),
      isOrdered(needsOrder(op)), repeats(isOrdered ? repeatsOf(layout, axis) : 1),
      numThreads(kLanes * cta::warpsOfGroup(op->getParentOfType<ModuleOp>())) {}

unsigned ReduceWork::partsOfResult() {
  return repeats << llvm::popcount(axisBits(layout, Dim::warp(), axis));
}

int64_t ReduceWork::results() {
  return op.getInputType().getNumElements() / op.getInputType().getDimSize(axis);
}

/// The bits of the warps that hold no more than copies of what others store of `v`, perhaps
/// changed element by element or with a dimension more; none if it is needed for anything else.
static unsigned warpsThatDoNotStore(Value v, unsigned depth = 0) {
  unsigned warps = ~0u;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    bool isAtomic = isa<AtomicRmwOp>(user) && user->use_empty();
    if ((isa<StoreOp>(user) || isAtomic) && use.getOperandNumber() > 0) {
      auto block = dyn_cast<RankedTensorType>(user->getOperand(0).getType());
      if (block)
        for (auto [dim, copies] : cta::getLayout(block).freeVariableMasks())
          warps &= dim == Dim::warp() ? unsigned(copies) : ~0u;
      continue;
    }
    bool isChange = isa<ExpandDimsOp>(user) ||
                    (isa<arith::ArithDialect, math::MathDialect, TileDialect>(user->getDialect()) &&
                     user->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(user));
    if (!isChange || user->getNumResults() != 1 || depth == reach::kChanges)
      return 0;
    warps &= warpsThatDoNotStore(user->getResult(0), depth + 1);
  }
  return warps;
}

unsigned ReduceWork::warpsWithoutUse() {
  unsigned warps = numThreads / kLanes - 1;
  for (Value result : op.getResults())
    warps &= warpsThatDoNotStore(result);
  return warps;
}

unsigned ReduceWork::costOfTakingUp() {
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  unsigned results = type ? cta::getLayout(type).inSize(Dim::reg()) : 1;
  unsigned own = partsOfResult() >> llvm::popcount(lanesToShare(partsOfResult()));
  return results * costOfSharing(partsOfResult(), own);
}

bool ReduceWork::isOneCommutativeOperation() {
  Operation *combiner = soleCombiner(op.getCombineBlock());
  return combiner && combiner->hasTrait<OpTrait::IsCommutative>();
}

unsigned lowering::costOfCombining(ReduceOp op) {
  unsigned slots = 0;
  for (Operation &o : op.getCombineBlock().without_terminator()) {
    bool isLong = isa<math::MathDialect>(o.getDialect())
                      ? !isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(o)
                      : isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
                            arith::RemSIOp, arith::RemUIOp>(o);
    slots += isLong ? tuningOf(op).longOpSlots : 1;
  }
  return slots;
}

unsigned ReduceWork::costOfSharing(unsigned warps, unsigned own) {
  unsigned reads = 0, values = op.getSrcs().size(), combining = costOfCombining(op);
  for (Value src : op.getSrcs()) {
    unsigned bytes = std::max(getElementBytes(getElementType(src.getType())), 1u);
    reads += own / partsAtOnce(own, bytes);
  }
  // Lanes in order choose which of two values is the left one.
  unsigned shuffle = tuningOf(op).shuffleSlots, step = combining + values * (shuffle + 2);
  return reads * shuffle + (own - 1) * combining + llvm::Log2_32(warps / own) * step;
}

unsigned ReduceWork::lanesOfOneResult() {
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!type)
    return axisBits(layout, Dim::lane(), axis);
  const LinearLayout &to = cta::getLayout(type);
  unsigned mask = 0;
  for (int32_t bit = 0; bit < to.inSizeLog2(Dim::lane()); ++bit)
    if (llvm::all_of(to.basis(Dim::lane(), bit), [](int32_t step) { return step == 0; }))
      mask |= 1u << bit;
  return mask;
}

unsigned ReduceWork::lanesToShare(unsigned warps) {
  unsigned same = lanesOfOneResult(), own = warps;
  if (isOneCommutativeOperation()) {
    unsigned bytes = getElementBytes(getElementType(op.getSrcs()[0].getType()));
    while (own > 1 && own * bytes > tuningOf(op).partialsOfLane)
      own /= 2;
  } else {
    for (unsigned fewer = warps / 2; fewer; fewer /= 2)
      if (costOfSharing(warps, fewer) < costOfSharing(warps, own))
        own = fewer;
  }
  unsigned mask = 0;
  for (unsigned bit = 1; bit <= same && own < warps; bit <<= 1)
    if (same & bit)
      mask |= bit, warps /= 2;
  return mask;
}

unsigned lowering::threadsOfResult(ReduceOp op) { return ReduceWork(op).threadsOfResult(); }

unsigned ReduceWork::threadsOfResult() {
  if (!op->hasAttr(cta::kScratchOffsetAttr))
    return chooseThreadsOfResult();
  auto chosen = op->getAttrOfType<IntegerAttr>(cta::kThreadsOfResultAttr);
  return chosen ? unsigned(chosen.getInt()) : 0;
}

unsigned ReduceWork::chooseThreadsOfResult() {
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  unsigned parts = partsOfResult();
  if (!type || parts == 1)
    return 0;
  const Tuning &tuning = tuningOf(op);
  unsigned most = std::min(parts, kLanes), values = op.getSrcs().size();
  unsigned threads = std::clamp<int64_t>(numThreads / results(), 1, most);
  double rounds = std::max<double>(1, double(results()) * threads / numThreads);
  double held = double(cta::getLayout(type).inSize(Dim::reg())) * values;
  unsigned warps = numThreads / kLanes;
  Cost together{rounds * (costOfSharing(parts, parts / threads) + tuning.shuffleSlots * values) +
                    tuning.shuffleSlots * held,
                conflictsTogether(), tuning.exchangeCycles};
  unsigned idle = warpsWithoutUse();
  Cost alone{double(costOfTakingUp()), conflictsAlone(), 0};
  return together.total(warps) < alone.total(warps >> llvm::popcount(idle)) ? threads : 0;
}
