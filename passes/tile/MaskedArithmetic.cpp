//===- MaskedArithmetic.cpp - masks applied once for a run, not per element ===//
//
// Contract and example: MaskedArithmeticPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_MASKEDARITHMETICPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-masked-arithmetic"
ALWAYS_ENABLED_STATISTIC(masksMoved, "masks applied to what is the same for many elements");

/// A constant of zero bits: +0.0, but not -0.0.
static bool isPositiveZero(Value v) {
  APFloat f(0.0);
  return v && matchPattern(v, m_ConstantFloat(&f)) && f.isPosZero();
}

/// Whether `mask` is false wherever `other` is: it is that value, or a
/// conjunction with it.
static bool implies(Value mask, Value other) {
  if (mask == other)
    return true;
  auto both = mask.getDefiningOp<arith::AndIOp>();
  return both && (implies(both.getLhs(), other) || implies(both.getRhs(), other));
}

/// Whether `v` is +0.0 wherever `mask` is false.
static bool isZeroOutside(Value v, Value mask) {
  while (auto widened = v.getDefiningOp<arith::ExtFOp>())
    v = widened.getIn();
  auto load = v.getDefiningOp<LoadOp>();
  return load && load.getMask() && isPositiveZero(load.getOther()) && implies(load.getMask(), mask);
}

/// Whether many elements of `v` are one value that a thread holds once.
static bool isRepeated(Value v) {
  Operation *def = v.getDefiningOp();
  return isa_and_nonnull<SplatOp, BroadcastOp>(def);
}

static void moveInside(arith::SelectOp select) {
  auto difference = select.getTrueValue().getDefiningOp<arith::SubFOp>();
  if (!difference || !difference->hasOneUse() || !isPositiveZero(select.getFalseValue()) ||
      !isa<RankedTensorType>(select.getCondition().getType()) ||
      !isZeroOutside(difference.getLhs(), select.getCondition()) ||
      !isRepeated(difference.getRhs()))
    return;
  OpBuilder b(select);
  Value subtracted = arith::SelectOp::create(b, select.getLoc(), select.getCondition(),
                                             difference.getRhs(), select.getFalseValue());
  Value cleared = arith::SubFOp::create(b, difference.getLoc(), difference.getLhs(), subtracted);
  select.getResult().replaceAllUsesWith(cleared);
  select.erase();
  difference.erase();
  ++masksMoved;
  LDBG() << "a mask on " << subtracted;
}

namespace {
struct MaskedArithmeticPass : tile::impl::MaskedArithmeticPassBase<MaskedArithmeticPass> {
  void runOnOperation() override {
    SmallVector<arith::SelectOp> selects;
    getOperation().walk([&](arith::SelectOp op) { selects.push_back(op); });
    llvm::for_each(selects, moveInside);
  }
};
} // namespace
