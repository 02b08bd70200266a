//===- NarrowLiveRanges.cpp - keep 16-bit blocks packed across reductions -===//
//
// Needs:      a laid-out kernel.
// Guarantees: the same values; where wide values derived from a 16-bit load
//             would stay in registers across a reduction, they are computed
//             again from the packed load after it.
// Never:      recomputes memory accesses, reductions or long chains.
//
// A row kernel loads f16, computes in f32, reduces, and uses the row again. The
// f32 copy of the row occupies twice the registers of the f16 one; for long
// rows that costs a resident thread block, and with it the overlap of one
// block's loads with another's arithmetic. Converting (and even exponentiating)
// twice is cheaper than waiting.
//
//   %x = arith.extf %h                     %x = arith.extf %h
//   %m = tile.reduce %x           =>       %m = tile.reduce %x
//   use %x                                 %p = cta.pin %h
//                                          %y = arith.extf %p
//                                          use %y
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tile;
using layout::Dim;

namespace {

/// Registers a thread may keep across a reduction before recomputing pays.
constexpr unsigned kWideRegisters = 48;
/// Operations per element that recomputing may cost.
constexpr unsigned kMaxChain = 10;

unsigned registersOf(Type type) {
  if (!cta::hasLayout(type))
    return 0;
  unsigned elements = cta::getLayout(type).inSize(Dim::reg());
  unsigned bits = getElementBytes(getElementType(type)) * 8;
  return (elements * bits + 31) / 32;
}

/// A block held in 16 bits or fewer an element that came from memory.
bool isPackedRoot(Value v) {
  Operation *def = v.getDefiningOp();
  return def && isa<LoadOp, cta::PinOp>(def) && getElementBytes(getElementType(v.getType())) <= 2;
}

/// One value that could be recomputed: from which roots, by how many ops.
struct Chain {
  SmallPtrSet<Value, 4> roots;
  unsigned length = 0;
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

/// Follows elementwise ops up to packed roots. Fails at anything that is
/// neither a root, a small operand (splat, constant, scalar), nor cheap.
bool follow(Value v, Block *block, Chain &chain) {
  if (!isa<RankedTensorType>(v.getType()))
    return true;
  if (isPackedRoot(v)) {
    chain.roots.insert(v);
    return true;
  }
  if (isLeaf(v))
    return true;
  Operation *def = v.getDefiningOp();
  if (!def || def->getBlock() != block)
    return false;
  if (!OpTrait::hasElementwiseMappableTraits(def) || !isPure(def) || ++chain.length > kMaxChain)
    return false;
  return llvm::all_of(def->getOperands(), [&](Value o) { return follow(o, block, chain); });
}

struct NarrowLiveRangesPass : PassWrapper<NarrowLiveRangesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NarrowLiveRangesPass)
  StringRef getArgument() const override { return "tile-narrow-live-ranges"; }
  StringRef getDescription() const override {
    return "keep 16-bit blocks packed across reductions";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<cta::CtaDialect>();
  }

  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp op) { reductions.push_back(op); });
    for (ReduceOp op : reductions)
      narrowAcross(op);
  }

  /// 1. Find what is alive across `reduce` and can be recomputed.
  /// 2. If that is wide, and wider than its roots, recompute it behind a pin.
  void narrowAcross(ReduceOp reduce) {
    Block *block = reduce->getBlock();
    SmallVector<Value> candidates;
    SmallPtrSet<Value, 4> roots;
    unsigned wide = 0;
    for (Operation &op : *block) {
      if (&op == reduce)
        break;
      for (Value v : op.getResults()) {
        Chain chain;
        if (!cta::hasLayout(v.getType()) || isPackedRoot(v) || !usedAfter(v, reduce) ||
            !follow(v, block, chain) || chain.roots.empty())
          continue;
        candidates.push_back(v);
        wide += registersOf(v.getType());
        roots.insert(chain.roots.begin(), chain.roots.end());
      }
    }
    unsigned packed = 0;
    for (Value root : roots)
      packed += registersOf(root.getType());
    if (wide < kWideRegisters || packed * 2 > wide)
      return;
    recompute(candidates, roots, reduce);
  }

  static bool usedAfter(Value v, Operation *point) {
    return llvm::any_of(v.getUsers(), [&](Operation *user) {
      Operation *ancestor = point->getBlock()->findAncestorOpInBlock(*user);
      return ancestor && ancestor != point && point->isBeforeInBlock(ancestor);
    });
  }

  void recompute(ArrayRef<Value> candidates, const SmallPtrSet<Value, 4> &roots, ReduceOp reduce) {
    OpBuilder b(&getContext());
    b.setInsertionPointAfter(reduce);
    IRMapping map;
    for (Operation &op : *reduce->getBlock()) { // in program order, to be deterministic
      if (&op == reduce)
        break;
      for (Value v : op.getResults())
        if (roots.contains(v))
          map.map(v, cta::PinOp::create(b, v.getLoc(), v.getType(), v));
    }
    for (Value v : candidates) {
      Value again = clone(v, b, map);
      v.replaceUsesWithIf(again, [&](OpOperand &use) {
        Operation *ancestor = reduce->getBlock()->findAncestorOpInBlock(*use.getOwner());
        return ancestor && reduce->isBeforeInBlock(ancestor) && ancestor != again.getDefiningOp() &&
               !cloned.contains(use.getOwner());
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

} // namespace

std::unique_ptr<Pass> tile::createNarrowLiveRangesPass() {
  return std::make_unique<NarrowLiveRangesPass>();
}
