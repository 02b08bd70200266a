//===- Overwrites.cpp - whether later turns load what a loop stores --------===//
#include "passes/facts/Overwrites.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/StridedAccess.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

namespace {
/// Elements that an access may touch, all of them and more: from `first` to `last`, beside `start`.
struct Span {
  Value base;
  Polynomial start;
  int64_t first = 0, last = 0;
};
} // namespace

static std::optional<Span> spanOf(Value pointers, StridedAnalysis &strided) {
  std::optional<StridedPointers> where = strided.pointers(pointers);
  if (!where || !where->offset.wraps.empty())
    return std::nullopt;
  Span span{where->base, where->offset.start};
  auto block = dyn_cast<RankedTensorType>(pointers.getType());
  for (auto [dim, stride] : llvm::enumerate(where->offset.strides)) {
    std::optional<int64_t> step = stride.asConstant();
    int64_t reach;
    if (!step || llvm::MulOverflow(*step, block.getDimSize(dim) - 1, reach))
      return std::nullopt;
    (reach < 0 ? span.first : span.last) += reach;
  }
  return span;
}

/// What `start` gains from one turn of `loop` to the next, if that is a constant.
static std::optional<int64_t> gainOf(const Polynomial &start, scf::ForOp loop,
                                     StridedAnalysis &strided) {
  std::optional<int64_t> step = strided.scalar(loop.getStep()).asConstant();
  int64_t gain = 0;
  for (const Polynomial::Term &t : start.terms()) {
    if (llvm::all_of(t.factors, [&](Value v) { return loop.isDefinedOutsideOfLoop(v); }))
      continue;
    bool isTurn = t.factors.size() == 1 && t.factors.front() == loop.getInductionVar();
    if (!isTurn || !step || llvm::MulOverflow(t.coefficient, *step, gain))
      return std::nullopt;
  }
  return gain;
}

/// Whether `load` reads in no turn what `store` has written in an earlier one or, if it stands
/// before the load, in the same.
static bool isBehind(const Span &load, const Span &store, bool storesFirst, scf::ForOp loop,
                     StridedAnalysis &strided) {
  std::optional<int64_t> gain = gainOf(load.start, loop, strided);
  // The same in every turn, or neither is known.
  std::optional<int64_t> apart = (load.start - store.start).asConstant();
  if (load.base != store.base || !gain || !apart)
    return false;
  // A turn later the load is further on by `gain`, and more so by later ones.
  int64_t nearest;
  if (llvm::AddOverflow(*apart, storesFirst ? 0 : *gain, nearest))
    return false;
  return (*gain >= 0 && nearest + load.first > store.last) ||
         (*gain <= 0 && nearest + load.last < store.first);
}

bool tile::maySeeStores(LoadOp load, scf::ForOp loop, const DenseSet<Value> &written) {
  if (!comesFrom(load.getPtr(), written))
    return false;
  StridedAnalysis strided;
  std::optional<Span> own = spanOf(load.getPtr(), strided);
  if (!own || load->getBlock() != loop.getBody())
    return true;
  DenseSet<Value> roots;
  collectRoots(load.getPtr(), roots);
  auto sees = [&](Operation *op) {
    DenseSet<Value> stored;
    if (!collectChanged(op, stored) ||
        llvm::none_of(stored, [&](Value root) { return roots.contains(root); }))
      return false;
    auto store = dyn_cast<StoreOp>(op);
    std::optional<Span> span = store ? spanOf(store.getPtr(), strided) : std::nullopt;
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*op);
    return !span || !isBehind(*own, *span, inBody->isBeforeInBlock(load), loop, strided);
  };
  return loop
      .walk(
          [&](Operation *op) { return sees(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}
