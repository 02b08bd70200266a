//===- RepeatedAgain.cpp - what all pairs give, computed for each who adds it up //
//
// Forces between all pairs of points are added up along one dimension for the points that feel
// them, along the other for those that exert them, and along both for the energy. What is computed
// of each pair is as large as all arrays that it is computed of are small: one kernel for each
// direction that computes it again moves next to nothing, where one that stores it and others that
// read it move all pairs.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "passes/graph/Chain.h"
#include "passes/graph/Fusion.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Sources.h"
#include "passes/graph/StoredOperands.h"
#include "target/tuning/ComputedOperands.h"
#include <map>

using namespace mlir;
using namespace tile::graph;

namespace {
/// Reductions that one kernel can do, as far as the order of dimensions says.
struct Direction {
  SmallVector<Operation *> reductions;
  llvm::SetVector<Operation *> pairs; ///< what they are computed by for each pair
};
} // namespace

static bool isElementwise(Operation *op) { return isa_and_nonnull<MapOp, CastOp, RearrangeOp>(op); }

/// Adds what computes a value for each pair: operations with as many elements as the value.
static void addPairs(Value value, llvm::SetVector<Operation *> &pairs) {
  size_t all = dimensionsOf(value);
  visitSources(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    if (!isElementwise(op) || dimensionsOf(source) < all)
      return false;
    pairs.insert(op);
    return true;
  });
}

/// Whether nobody needs what is computed of pairs but such reductions.
static bool areOnlyReduced(ArrayRef<Operation *> pairs,
                           const llvm::SmallPtrSetImpl<Operation *> &known) {
  return llvm::all_of(pairs, [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) { return known.contains(user); });
  });
}

/// Whether it takes less to compute the operands of the reductions again than to store and read
/// them.
static bool isSoonerAgain(const Direction &direction) {
  const tile::ComputedOperandTuning &tuning = tile::kComputedOperands;
  double slots = 0, bytes = 0;
  for (Operation *op : direction.pairs)
    slots += isa<MapOp>(op) ? slotsOf(cast<MapOp>(op)) : isa<CastOp>(op) ? tuning.slotsOfSimple : 0;
  llvm::SmallDenseSet<Value> stored;
  for (Operation *op : direction.reductions)
    if (stored.insert(op->getOperand(0)).second)
      bytes += 2.0 * bytesOf(typeOf(op->getOperand(0)).getElement());
  return slots <= bytes * tuning.slotsPerByte;
}

void Fusion::separateRepeated() {
  // By the shape, the dimensions along which, and how.
  std::map<std::string, Direction> directions;
  std::vector<std::string> order;
  llvm::SmallPtrSet<Operation *, 32> known;
  for (Operation &op : body.without_terminator()) {
    if (!isa<ReduceOp, PartialOp>(op) || !isElementwise(op.getOperand(0).getDefiningOp()) ||
        dimensionsOf(op.getOperand(0)) < 2 || !isOfRepeatedArrays(op.getOperand(0)))
      continue;
    std::string key = op.getName().getStringRef().str();
    for (const Size &size : sizesOf(op.getOperand(0)))
      key += "," + size.str();
    auto axes = isa<ReduceOp>(op) ? cast<ReduceOp>(op).getAxes() : cast<PartialOp>(op).getAxes();
    for (int64_t axis : axes)
      key += ":" + std::to_string(axis);
    auto [entry, isNew] = directions.try_emplace(key);
    if (isNew)
      order.push_back(key);
    entry->second.reductions.push_back(&op);
    addPairs(op.getOperand(0), entry->second.pairs);
    known.insert(&op);
    known.insert(entry->second.pairs.begin(), entry->second.pairs.end());
  }
  llvm::SmallPtrSet<Operation *, 32> taken;
  for (const std::string &key : order) {
    Direction &direction = directions[key];
    bool isShared =
        llvm::any_of(direction.pairs, [&](Operation *op) { return taken.contains(op); });
    taken.insert(direction.pairs.begin(), direction.pairs.end());
    if (!isShared || !areOnlyReduced(direction.pairs.getArrayRef(), known) ||
        !isSoonerAgain(direction))
      continue;
    Ops pairs(direction.pairs.begin(), direction.pairs.end());
    sortInBlock(pairs);
    IRMapping mapping;
    for (Operation *op : pairs) {
      OpBuilder b(op);
      b.clone(*op, mapping);
    }
    for (Operation *op : direction.reductions)
      op->setOperand(0, mapping.lookup(op->getOperand(0)));
  }
  separateViews(body); // and numbers, of what was copied
}
