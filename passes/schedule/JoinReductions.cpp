//===- JoinReductions.cpp - reductions whose results only meet are one ----===//
//
// Contract and example: JoinReductionsPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/facts/PickedElement.h"
#include "passes/schedule/ReductionTerms.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_JOINREDUCTIONSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-join-reductions"
ALWAYS_ENABLED_STATISTIC(reductionsJoined, "reductions that are finished with another one");

/// Whether `op` combines two values, and gives one of their type.
static bool combines(Operation *op) {
  return op->getNumOperands() == 2 && op->getNumResults() == 1 && !op->getNumRegions() &&
         op->getOperand(0).getType() == op->getResult(0).getType() &&
         op->getOperand(1).getType() == op->getResult(0).getType();
}

/// The only one to need the result of `op`, in its block; null if there is none.
static Operation *onlyUserOf(Operation *op) {
  Operation *user = op->hasOneUse() ? *op->user_begin() : nullptr;
  return user && user->getBlock() == op->getBlock() ? user : nullptr;
}

namespace {

/// What one operation gives, and all of its kind below it whose results nothing else needs.
class Combination {
public:
  explicit Combination(Operation *root) : root(root) { collect(root); }
  void join();

private:
  struct Group {
    SmallVector<Value> leaves;
    SmallVector<ReductionTerm> terms;
  };
  bool isInner(Operation *op) const {
    return op && isSameKind(op, root) && combines(op) && op->hasOneUse() &&
           op->getBlock() == root->getBlock();
  }
  void collect(Operation *op);
  SmallVector<Group> groupsAlike() const;
  void joinGroup(const Group &group, const PartialReduction &partial);
  Value rebuilt(OpBuilder &b, Value value) const;

  Operation *root;
  SmallVector<Operation *> inner; ///< and the root, each before what it combines
  SmallVector<Value> leaves;
  DenseMap<Value, Value> joined; ///< leaves; what stands in their place, or nothing
};

} // namespace

void Combination::collect(Operation *op) {
  inner.push_back(op);
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (isInner(def))
      collect(def);
    else
      leaves.push_back(operand);
  }
}

/// The leaves that are results of reductions, those together that can be finished as one.
SmallVector<Combination::Group> Combination::groupsAlike() const {
  SmallVector<Group> groups;
  for (Value leaf : leaves) {
    std::optional<ReductionTerm> term = ReductionTerm::of(leaf, root);
    // What lanes ask one of them for is less than what they combine.
    if (!term || pickedIndex(term->reduce))
      continue;
    auto *group =
        llvm::find_if(groups, [&](const Group &g) { return g.terms.front().isLike(*term); });
    if (group == groups.end())
      group = &groups.emplace_back();
    group->leaves.push_back(leaf);
    group->terms.push_back(std::move(*term));
  }
  llvm::erase_if(groups, [](const Group &group) { return group.terms.size() < 2; });
  return groups;
}

/// Each thread combines what it holds as soon as it is there, in the order of the reductions.
void Combination::joinGroup(const Group &group, const PartialReduction &partial) {
  SmallVector<ReduceOp> reductions =
      llvm::map_to_vector(group.terms, [](const ReductionTerm &term) { return term.reduce; });
  llvm::sort(reductions, [](ReduceOp a, ReduceOp b) { return a->isBeforeInBlock(b); });
  OpBuilder b(root);
  Value parts;
  for (ReduceOp reduce : reductions) {
    b.setInsertionPoint(reduce);
    Value own = partial.begin(b, reduce.getSrcs().front());
    parts = parts ? b.create(root->getLoc(), root->getName().getIdentifier(), {parts, own},
                             {own.getType()}, root->getAttrs())
                        ->getResult(0)
                  : own;
  }
  Value whole = group.terms.front().makeBehind(b, partial.finish(b, parts));
  for (Value leaf : group.leaves)
    joined[leaf] = leaf == group.leaves.front() ? whole : Value();
  reductionsJoined += reductions.size() - 1;
}

/// `value` of the joined leaves; null if nothing is left of it.
Value Combination::rebuilt(OpBuilder &b, Value value) const {
  if (auto leaf = joined.find(value); leaf != joined.end())
    return leaf->second;
  Operation *op = value.getDefiningOp();
  if (!llvm::is_contained(inner, op))
    return value;
  Value left = rebuilt(b, op->getOperand(0)), right = rebuilt(b, op->getOperand(1));
  if (!left || !right)
    return left ? left : right;
  IRMapping map;
  map.map(op->getOperand(0), left);
  map.map(op->getOperand(1), right);
  return b.clone(*op, map)->getResult(0);
}

void Combination::join() {
  SmallVector<ReductionTerm> gone;
  for (Group &group : groupsAlike())
    if (auto partial = group.terms.front().parts(root->getResult(0).getType())) {
      LDBG() << group.terms.size() << " reductions are one at " << root->getLoc();
      joinGroup(group, *partial);
      llvm::append_range(gone, group.terms);
    }
  if (gone.empty())
    return;
  OpBuilder b(root);
  root->getResult(0).replaceAllUsesWith(rebuilt(b, root->getResult(0)));
  for (Operation *op : inner)
    op->erase();
  for (ReductionTerm &term : gone)
    term.erase();
}

/// The last of the operations of one kind through which the result of `reduce` goes; null if it is
/// not combined.
static Operation *rootAbove(ReduceOp reduce) {
  Operation *op = reduce;
  while (op && !combines(op))
    op = onlyUserOf(op);
  if (!op ||
      (!ReductionTerm::of(op->getOperand(0), op) && !ReductionTerm::of(op->getOperand(1), op)))
    return nullptr;
  for (Operation *next = op; next && isSameKind(next, op) && combines(next);
       next = onlyUserOf(next))
    op = next;
  return op;
}

namespace {
struct JoinReductionsPass : tile::impl::JoinReductionsPassBase<JoinReductionsPass> {
  using JoinReductionsPassBase::JoinReductionsPassBase;
  void runOnOperation() override {
    llvm::SetVector<Operation *> roots;
    getOperation().walk([&](ReduceOp reduce) {
      if (reduce.getNumResults() == 1)
        if (Operation *root = rootAbove(reduce))
          roots.insert(root);
    });
    for (Operation *root : roots)
      Combination(root).join();
  }
};
} // namespace
