//===- ReductionTerms.cpp - results of reductions that are combined -------===//
#include "passes/schedule/ReductionTerms.h"
#include "ir/Combiners.h"
#include "ir/Kernel.h"
#include "mlir/IR/IRMapping.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

bool tile::isSameKind(Operation *one, Operation *other) {
  return one->getName() == other->getName() &&
         one->getName().compareOpProperties(one->getPropertiesStorage(),
                                            other->getPropertiesStorage());
}

std::optional<ReductionTerm> ReductionTerm::of(Value value, Operation *taker) {
  ReductionTerm term;
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != taker->getBlock() || !value.hasOneUse())
      return std::nullopt;
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      Operation *combiner = soleCombiner(reduce.getCombineBlock());
      term.reduce = reduce;
      return combiner && isSameKind(combiner, taker) ? std::optional(term) : std::nullopt;
    }
    if (!isa<cta::ConvertLayoutOp, ExpandDimsOp, ReshapeOp, SplatOp, BroadcastOp>(op))
      return std::nullopt;
    term.behind.insert(term.behind.begin(), op);
    value = op->getOperand(0);
  }
}

bool ReductionTerm::isLike(ReductionTerm other) const {
  auto isSame = [](Operation *x, Operation *y) {
    return x->getName() == y->getName() && x->getAttrs() == y->getAttrs() &&
           x->getResultTypes() == y->getResultTypes();
  };
  ReduceOp one = reduce;
  return one.getInputType() == other.reduce.getInputType() &&
         one.getAxis() == other.reduce.getAxis() && llvm::equal(behind, other.behind, isSame);
}

std::optional<PartialReduction> ReductionTerm::parts(Type taken) const {
  ReduceOp op = reduce;
  std::optional<PartialReduction> partial = PartialReduction::of(op);
  int64_t now = isa<RankedTensorType>(taken) ? registersOf(taken) : 1;
  int64_t most = std::max(now, tuningOf(op).deferredLeastRegisters);
  return partial && registersOf(partial->type()) <= most ? partial : std::nullopt;
}

Value ReductionTerm::makeBehind(OpBuilder &b, Value whole) const {
  IRMapping map;
  ReduceOp op = reduce;
  map.map(op.getResult(0), whole);
  for (Operation *next : behind)
    whole = b.clone(*next, map)->getResult(0);
  return whole;
}

void ReductionTerm::erase() {
  for (Operation *op : llvm::reverse(behind))
    op->erase();
  reduce->erase();
}
