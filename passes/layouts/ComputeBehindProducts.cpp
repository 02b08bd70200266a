//===- ComputeBehindProducts.cpp - what is needed behind a loop is made there ===//
//
// Contract and example: ComputeBehindProductsPass in passes/layouts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/Passes.h"
#include "passes/facts/Registers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_COMPUTEBEHINDPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-compute-behind-products"
ALWAYS_ENABLED_STATISTIC(valuesMoved, "values computed behind loops that multiply");

/// Whether it is, or has in it, a loop that multiplies.
static bool hasLoopOfProducts(Operation &op) {
  auto isOfLoop = [&](Operation *product) {
    if (!isa<DotOp, cta::WarpgroupDotOp>(product))
      return WalkResult::advance();
    for (Operation *in = product; in != &op;)
      if (isa<LoopLikeOpInterface>(in = in->getParentOp()))
        return WalkResult::interrupt();
    return WalkResult::advance();
  };
  return op.getNumRegions() > 0 && op.walk(isOfLoop).wasInterrupted();
}

/// Computes blocks from blocks, where it stands or elsewhere.
static bool isMovable(Operation *op) {
  return op->getNumResults() == 1 && cta::hasLayout(op->getResult(0).getType()) && isPure(op) &&
         (OpTrait::hasElementwiseMappableTraits(op) ||
          isa<cta::ConvertLayoutOp, BroadcastOp, ExpandDimsOp, MakeRangeOp, SplatOp>(op));
}

/// Registers that `v` takes while a loop runs. What can be made again from nothing takes none, and
/// a truth one.
static int64_t registersOfKept(Value v) {
  if (!cta::hasLayout(v.getType()) ||
      isa_and_nonnull<arith::ConstantOp, MakeRangeOp, SplatOp>(v.getDefiningOp()))
    return 0;
  auto type = dyn_cast<IntegerType>(getElementType(v.getType()));
  return type && type.getWidth() == 1 ? cta::getLayout(v.getType()).inSize(layout::Dim::reg())
                                      : packedRegistersOf(v.getType());
}

static bool isBehind(Operation *user, Operation *loop) {
  Operation *here = loop->getBlock()->findAncestorOpInBlock(*user);
  return here && loop->isBeforeInBlock(here);
}

namespace {

/// Operations in front of a loop whose results nothing needs before its end.
class Cone {
public:
  Cone(Operation *root, Operation *loop) : loop(loop) {
    add(root);
    int64_t most = saved();
    size_t best = 1;
    while (Operation *next = latest()) {
      add(next);
      if (int64_t now = saved(); now > most) {
        most = now;
        best = ops.size();
      }
    }
    while (ops.size() > best)
      ops.pop_back();
    gain = most;
  }

  /// Whether all that needs `op` stands behind the loop, or is of the cone.
  bool isNeededBehind(Operation *op) const {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return ops.contains(user) || isBehind(user, loop);
    });
  }

  /// Registers that are free in the loop if all this is computed behind it.
  int64_t gain = 0;

  /// In front of what needs any of it first.
  void move() const {
    Operation *first = nullptr;
    for (Operation *op : ops)
      for (Operation *user : op->getUsers())
        if (Operation *use = op->getBlock()->findAncestorOpInBlock(*user);
            !ops.contains(user) && (!first || use->isBeforeInBlock(first)))
          first = use;
    for (Operation *op : llvm::reverse(ops)) {
      LDBG() << "behind a loop: " << *op;
      op->moveBefore(first);
    }
    valuesMoved += ops.size();
  }

private:
  void add(Operation *op) {
    ops.insert(op);
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == op->getBlock() && isMovable(def))
        candidates.insert(def);
  }

  /// The candidate that stands nearest to the loop; null if there is none left.
  Operation *latest() {
    Operation *found = nullptr;
    for (Operation *op : candidates)
      if (!ops.contains(op) && isNeededBehind(op) && (!found || found->isBeforeInBlock(op)))
        found = op;
    return found;
  }

  /// Whether the loop, or something behind it that is not of the cone, needs `v`.
  bool isKeptAnyway(Value v) const {
    return llvm::any_of(v.getUsers(), [&](Operation *user) {
      return !ops.contains(user) && (isBehind(user, loop) || loop->isAncestor(user));
    });
  }

  int64_t saved() const {
    llvm::SmallSetVector<Value, 8> operands;
    int64_t registers = 0;
    for (Operation *op : ops) {
      if (isKeptAnyway(op->getResult(0)))
        registers += registersOfKept(op->getResult(0));
      operands.insert_range(op->getOperands());
    }
    for (Value v : operands)
      if (!ops.contains(v.getDefiningOp()) && !isKeptAnyway(v))
        registers -= registersOfKept(v);
    return registers;
  }

  Operation *loop;
  llvm::SmallSetVector<Operation *, 16> ops; ///< users before what they use
  llvm::SmallSetVector<Operation *, 16> candidates;
};

/// Blocks of floats that a thread would have to keep while `loop` runs.
void moveBehind(Operation *loop) {
  SmallVector<Operation *> before;
  for (Operation *op = loop->getPrevNode(); op; op = op->getPrevNode())
    before.push_back(op);
  for (Operation *op : before) {
    if (!isMovable(op) || !isa<FloatType>(getElementType(op->getResult(0).getType())) ||
        op->use_empty() || loop->isBeforeInBlock(op))
      continue;
    if (!llvm::all_of(op->getUsers(), [&](Operation *user) { return isBehind(user, loop); }))
      continue;
    if (Cone cone(op, loop); cone.gain > 0)
      cone.move();
  }
}

struct ComputeBehindProductsPass
    : tile::impl::ComputeBehindProductsPassBase<ComputeBehindProductsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> loops;
    getOperation().walk([&](Block *block) {
      for (Operation &op : llvm::reverse(*block))
        if (!isa<func::FuncOp>(op) && hasLoopOfProducts(op))
          loops.push_back(&op);
    });
    for (Operation *loop : loops)
      moveBehind(loop);
  }
};
} // namespace
