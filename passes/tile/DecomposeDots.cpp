//===- DecomposeDots.cpp - products in terms of what the hardware multiplies =//
//
// Contract and example: DecomposeDotsPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/ProductForms.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_DECOMPOSEDOTSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-decompose-dots"
ALWAYS_ENABLED_STATISTIC(sumsJoined, "sums that became what a product starts from");
ALWAYS_ENABLED_STATISTIC(productsOfParts, "products of several parts");
ALWAYS_ENABLED_STATISTIC(productsWidened, "products of 8-bit floats computed in f16");

/// Bits of an f32 that tf32 keeps.
static constexpr int32_t kTf32Mask = ~0x1fff;

namespace {
class Decomposer {
public:
  Decomposer(DotOp op)
      : op(op), target(targetOf(op)), b(op), loc(op.getLoc()),
        isAlgebraic(op->getParentOfType<ModuleOp>()->hasAttr(kAlgebraicAttr)) {}

  void startFromSum();
  void run();

private:
  Type blockOf(Type element, Type shape) {
    return RankedTensorType::get(cast<RankedTensorType>(shape).getShape(), element);
  }
  Value zeros(Type block) { return arith::ConstantOp::create(b, loc, block, b.getZeroAttr(block)); }
  Value product(Value x, Value y, Value acc, InputPrecision precision) {
    return DotOp::create(b, loc, x, y, acc, precision, op.getMaxNumImpreciseAcc());
  }
  void replace(Value result) {
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }
  SmallVector<Value> parts(Value x, unsigned count, bool tf32);
  void multiplyParts(unsigned count, bool tf32);
  void widenFp8();
  void accumulateInSingle();

  DotOp op;
  const Target &target;
  OpBuilder b;
  Location loc;
  bool isAlgebraic;
};
} // namespace

static bool isZero(Value v) {
  return matchPattern(v, m_AnyZeroFloat()) || matchPattern(v, m_Zero());
}

void Decomposer::startFromSum() {
  Operation *sum = sumThatJoins(op);
  if (!sum)
    return;
  Value other = sum->getOperand(sum->getOperand(0) == op.getResult() ? 1 : 0);
  ++sumsJoined;
  LDBG() << "starts from what was added by " << *sum;
  // What is added may be computed after the product: the product moves down.
  op->moveBefore(sum);
  op.getAccMutable().assign(other);
  sum->getResult(0).replaceAllUsesWith(op.getResult());
  sum->erase();
}

/// x as a sum of `count` narrower parts, the largest first.
SmallVector<Value> Decomposer::parts(Value x, unsigned count, bool tf32) {
  Type single = x.getType(), bits = blockOf(b.getI32Type(), single);
  SmallVector<Value> result;
  for (unsigned i = 0; i < count; ++i) {
    Value part, taken; // as an operand, and as f32
    if (tf32) {
      // Numbers of a ring have no leading part: it is all, and nothing is left.
      int32_t kept = isAlgebraic ? -1 : kTf32Mask;
      auto mask = DenseElementsAttr::get(cast<ShapedType>(bits), b.getI32IntegerAttr(kept));
      Value pattern = arith::BitcastOp::create(b, loc, bits, x);
      Value leading =
          arith::AndIOp::create(b, loc, pattern, arith::ConstantOp::create(b, loc, mask));
      part = taken = arith::BitcastOp::create(b, loc, single, leading);
    } else {
      part = arith::TruncFOp::create(b, loc, blockOf(b.getBF16Type(), single), x);
      taken = arith::ExtFOp::create(b, loc, single, part);
    }
    result.push_back(part);
    if (i + 1 < count)
      x = arith::SubFOp::create(b, loc, x, taken);
  }
  return result;
}

void Decomposer::multiplyParts(unsigned count, bool tf32) {
  ++productsOfParts;
  LDBG() << "in " << count << " parts: " << op;
  InputPrecision precision = tf32 ? InputPrecision::tf32 : InputPrecision::ieee;
  SmallVector<Value> x = parts(op.getA(), count, tf32), y = parts(op.getB(), count, tf32);
  Value zero = zeros(op.getType()), small = zero;
  for (unsigned order = count - 1; order > 0; --order)
    for (unsigned i = 0; i <= order; ++i)
      small = product(x[i], y[order - i], small, precision);
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, small, small);
  small = arith::SelectOp::create(b, loc, isNan, zero, small);
  Value start =
      isZero(op.getAcc()) ? small : arith::AddFOp::create(b, loc, small, op.getAcc()).getResult();
  replace(product(x[0], y[0], start, precision));
}

void Decomposer::widenFp8() {
  ++productsWidened;
  LDBG() << "operands in f16: " << op;
  auto widened = [&](Value v) -> Value {
    return FpCastOp::create(b, loc, blockOf(b.getF16Type(), v.getType()), v, Rounding::rtne);
  };
  Value x = widened(op.getA()), y = widened(op.getB());
  replace(DotOp::create(b, loc, x, y, op.getAcc()));
}

/// Matrix instructions on 8-bit floats sum in f32.
void Decomposer::accumulateInSingle() {
  Type single = blockOf(b.getF32Type(), op.getType());
  Value acc = arith::ExtFOp::create(b, loc, single, op.getAcc());
  Value sum = product(op.getA(), op.getB(), acc, InputPrecision::ieee);
  replace(arith::TruncFOp::create(b, loc, op.getType(), sum));
}

void Decomposer::run() {
  Type type = op.getA().getType().getElementType();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8) {
    if (warpgroupForm(op) != WarpgroupForm::None)
      return; // warpgroups read them as they are
    if (!target.has(Feature::MmaFp8))
      return widenFp8();
    if (op.getType().getElementType().isF16())
      return accumulateInSingle();
    return;
  }
  InputPrecision precision = op.getInputPrecision();
  if (precision == InputPrecision::ieee || precision == InputPrecision::tf32)
    return;
  if (!target.has(Feature::Mma16x8x16)) // no instruction reads the parts; the whole is more exact
    return op.setInputPrecision(InputPrecision::ieee);
  multiplyParts(precision == InputPrecision::bf16x6 ? 3 : 2, precision == InputPrecision::tf32x3);
}

namespace {
struct DecomposeDotsPass : tile::impl::DecomposeDotsPassBase<DecomposeDotsPass> {
  void runOnOperation() override {
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp op) { dots.push_back(op); });
    for (DotOp op : dots) {
      Decomposer decomposer(op);
      decomposer.startFromSum();
      decomposer.run();
    }
  }
};
} // namespace
