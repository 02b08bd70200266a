//===- NarrowLiveRanges.cpp - keep 16-bit blocks packed across reductions -===//
//
// Contract and example: NarrowLiveRangesPass in passes/layouts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_NARROWLIVERANGESPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-narrow-live-ranges"
ALWAYS_ENABLED_STATISTIC(valuesRecomputed, "values computed again from packed blocks");
using layout::Dim;

namespace {

/// A block held in 16 bits or fewer an element that came from memory.
bool isPackedRoot(Value v) {
  Operation *def = v.getDefiningOp();
  return def && isa<LoadOp, cta::ReadOp, cta::PinOp>(def) &&
         getElementBytes(getElementType(v.getType())) <= 2;
}

using Values = llvm::SmallSetVector<Value, 4>;

/// One value that could be recomputed: from which roots, with which other blocks
/// that then stay in registers, by how many ops.
struct Chain {
  Values roots, held;
  int64_t left;    ///< what it may still cost
  unsigned budget; ///< operations that an index may take
};

/// Values that are used again as they are: scalars spread over a block,
/// constants, masks (a predicate a register), index arithmetic.
bool isLeaf(Value v) {
  Operation *def = v.getDefiningOp();
  if (def && (isa<SplatOp>(def) || def->hasTrait<OpTrait::ConstantLike>()))
    return true;
  return isa<IntegerType>(getElementType(v.getType())) &&
         getElementBytes(getElementType(v.getType())) != 2;
}

/// Whether few operations on ranges and scalars make `v` (`index < n`, say): it need
/// not stay in registers to be there again.
bool isIndexArithmetic(Value v, unsigned &budget) {
  Operation *def = v.getDefiningOp();
  if (!isa<RankedTensorType>(v.getType()))
    return true;
  if (!def || budget == 0)
    return false;
  --budget;
  if (isa<SplatOp, MakeRangeOp>(def) || def->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (!isa<IntegerType>(getElementType(v.getType())) || !isPure(def) ||
      !(OpTrait::hasElementwiseMappableTraits(def) || isa<ExpandDimsOp, BroadcastOp>(def)))
    return false;
  return llvm::all_of(def->getOperands(), [&](Value o) { return isIndexArithmetic(o, budget); });
}

/// Whether `op` is a function that is no instruction of the hardware, or two.
bool isLibraryFunction(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) &&
         !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::TruncOp,
              math::RoundEvenOp, math::CopySignOp, math::FmaOp, math::CtPopOp,
              math::CountLeadingZerosOp, math::Exp2Op, math::ExpOp, math::SqrtOp, math::RsqrtOp>(
             op);
}

/// What an op counts for in a chain: a division is several instructions.
int64_t costOf(Operation *op) {
  if (isLibraryFunction(op))
    return tuningOf(op).libraryFunctionOperations;
  return isa<arith::DivFOp, arith::RemFOp>(op) ? 4 : 1;
}

/// Follows elementwise ops up to packed roots. Fails at anything that is
/// neither a root, a small operand (splat, constant, scalar), nor cheap.
bool follow(Value v, Block *block, Chain &chain) {
  if (!isa<RankedTensorType>(v.getType()))
    return true;
  if (isPackedRoot(v)) {
    chain.roots.insert(v);
    return true;
  }
  if (isLeaf(v)) {
    unsigned budget = chain.budget;
    if (cta::hasLayout(v.getType()) && !isIndexArithmetic(v, budget))
      chain.held.insert(v);
    return true;
  }
  Operation *def = v.getDefiningOp();
  if (!def || def->getBlock() != block)
    return false;
  if (!OpTrait::hasElementwiseMappableTraits(def) || !isPure(def) ||
      (chain.left -= costOf(def)) < 0)
    return false;
  return llvm::all_of(def->getOperands(), [&](Value o) { return follow(o, block, chain); });
}

/// One run over a module. Its state dies with it: a pass is kept from one kernel
/// to the next, whose operations may lie where those of the last one were.
class Narrowing {
public:
  Narrowing(const Tuning &tuning, int64_t fromRegisters)
      : tuning(tuning), fromRegisters(fromRegisters) {}
  void run(ModuleOp module) {
    SmallVector<scf::ForOp> loops;
    module.walk([&](scf::ForOp op) {
      if (!op.getBody()->getOps<ReduceOp>().empty())
        loops.push_back(op);
    });
    for (scf::ForOp op : loops)
      narrowInto(op);
    SmallVector<ReduceOp> reductions;
    module.walk([&](ReduceOp op) { reductions.push_back(op); });
    for (ReduceOp op : reductions)
      narrowAcross(op);
  }

private:
  const Tuning &tuning;
  int64_t fromRegisters; ///< that are kept, it is worth it

  /// Values that could be recomputed, and from what.
  struct Candidates {
    const Tuning &tuning;
    Values values, roots, held;

    /// Takes `v` if elementwise operations of its block make it from packed roots.
    void consider(Value v) {
      Chain chain{{}, {}, tuning.narrowMostOperations, tuning.narrowMostOperations};
      if (!cta::hasLayout(v.getType()) || isPackedRoot(v) || !v.getDefiningOp() ||
          !follow(v, v.getParentBlock(), chain) || chain.roots.empty())
        return;
      values.insert(v);
      roots.insert(chain.roots.begin(), chain.roots.end());
      held.insert(chain.held.begin(), chain.held.end());
    }
    /// Whether they are wide, and wider than what must stay for them. Bits of a mask
    /// that was computed take a register each.
    bool areWorthIt(int64_t fromRegisters) const {
      int64_t wide = 0, packed = 0;
      for (Value v : values)
        wide += packedRegistersOf(v.getType());
      for (Value root : roots)
        packed += packedRegistersOf(root.getType());
      for (Value v : held)
        packed += cta::getLayout(v.getType()).inSize(Dim::reg());
      if (!values.empty())
        LDBG() << values.size() << " values in " << wide << " registers, or " << packed
               << " packed";
      return wide >= fromRegisters && packed * 2 <= wide;
    }
  };

  void narrowAcross(ReduceOp reduce) {
    Candidates found{tuning, {}, {}, {}};
    for (Operation &op : *reduce->getBlock()) {
      if (&op == reduce)
        break;
      for (Value v : op.getResults())
        if (usedAfter(v, reduce))
          found.consider(v);
    }
    if (!found.areWorthIt(fromRegisters))
      return;
    OpBuilder b(reduce.getContext());
    b.setInsertionPointAfter(reduce);
    recompute(found, b, [&](Operation *user) {
      Operation *ancestor = reduce->getBlock()->findAncestorOpInBlock(*user);
      return ancestor && reduce->isBeforeInBlock(ancestor);
    });
  }

  /// What is read in `loop` and made before it.
  void narrowInto(scf::ForOp loop) {
    Candidates found{tuning, {}, {}, {}};
    Operation *first = nullptr;
    for (Operation &op : *loop.getBody()) {
      size_t before = found.values.size();
      op.walk([&](Operation *inner) {
        for (Value v : inner->getOperands())
          if (loop.isDefinedOutsideOfLoop(v))
            found.consider(v);
      });
      if (!first && found.values.size() > before)
        first = &op;
    }
    if (!found.areWorthIt(fromRegisters))
      return;
    OpBuilder b(first);
    recompute(found, b, [&](Operation *user) { return loop->isProperAncestor(user); });
  }

  static bool usedAfter(Value v, Operation *point) {
    return llvm::any_of(v.getUsers(), [&](Operation *user) {
      Operation *ancestor = point->getBlock()->findAncestorOpInBlock(*user);
      return ancestor && ancestor != point && point->isBeforeInBlock(ancestor);
    });
  }

  /// Computes the values at `b` for those users that `isAfter` selects.
  void recompute(const Candidates &found, OpBuilder &b,
                 llvm::function_ref<bool(Operation *)> isAfter) {
    IRMapping map;
    for (Value root : found.roots)
      map.map(root, cta::PinOp::create(b, root.getLoc(), root.getType(), root));
    valuesRecomputed += found.values.size();
    for (Value v : found.values) {
      Value again = clone(v, b, map);
      v.replaceUsesWithIf(again, [&](OpOperand &use) {
        Operation *user = use.getOwner();
        return isAfter(user) && user != again.getDefiningOp() && !cloned.contains(user);
      });
    }
  }

  Value clone(Value v, OpBuilder &b, IRMapping &map) {
    if (Value known = map.lookupOrNull(v))
      return known;
    Operation *def = v.getDefiningOp();
    if (isLeaf(v))
      return v;
    for (Value operand : def->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        map.map(operand, clone(operand, b, map));
    Operation *copy = b.clone(*def, map);
    cloned.insert(copy);
    map.map(v, copy->getResult(0));
    return copy->getResult(0);
  }

  SmallPtrSet<Operation *, 16> cloned;
};

struct NarrowLiveRangesPass : tile::impl::NarrowLiveRangesPassBase<NarrowLiveRangesPass> {
  using NarrowLiveRangesPassBase::NarrowLiveRangesPassBase;
  void runOnOperation() override {
    const Tuning &tuning = tuningOf(getOperation());
    Narrowing(tuning, fromRegisters < 0 ? tuning.narrowFromRegisters : int64_t(fromRegisters))
        .run(getOperation());
  }
};

} // namespace
