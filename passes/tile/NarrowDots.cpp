//===- NarrowDots.cpp - products of numbers that were narrower -------------===//
//
// Contract and example: NarrowDotsPass in passes/tile/Passes.td.
//
// A product of two 16-bit floats is exact in f32, and a 16-bit float in tf32. So a product of
// operands that were widened in front of it is the one of what was widened: at twice the rate, of
// half the registers and shared memory, and copied there by hardware.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/Reach.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_NARROWDOTSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-narrow-dots"
ALWAYS_ENABLED_STATISTIC(productsNarrowed, "products of what their operands were widened from");

namespace {
/// What two operands of f32 were widened from.
class NarrowOperands {
public:
  /// Whether every element of `v` was a narrower float, or is a constant; collects which.
  bool add(Value v);
  /// The type that holds all of them exactly; null if none of 16 bits does.
  FloatType type() const;
  /// `v`, which was added, of `element`.
  Value make(Value v, FloatType element);

private:
  SmallVector<FloatType, 4> types;
  SmallVector<APFloat, 2> constants;
  unsigned steps = 0;
  IRMapping made;
};
} // namespace

/// Whether each element of the result is one of an operand's, or that with another sign.
static bool keepsNarrow(Operation *op) {
  return isa<TransOp, ReshapeOp, BroadcastOp, ExpandDimsOp, SplatOp, arith::SelectOp, arith::NegFOp,
             math::AbsFOp>(op);
}

/// The operands of such an operation that elements come from.
static OperandRange elementsOf(Operation *op) {
  return op->getOperands().drop_front(isa<arith::SelectOp>(op) ? 1 : 0);
}

bool NarrowOperands::add(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || ++steps > reach::kWidened)
    return false;
  APFloat constant(0.0f);
  if (matchPattern(v, m_ConstantFloat(&constant))) {
    constants.push_back(constant);
    return true;
  }
  if (auto widened = dyn_cast<arith::ExtFOp>(op)) {
    types.push_back(cast<FloatType>(getElementTypeOrSelf(widened.getIn().getType())));
    return true;
  }
  return keepsNarrow(op) && llvm::all_of(elementsOf(op), [&](Value o) { return add(o); });
}

/// Whether `type` holds every value of `narrow`.
static bool holds(FloatType type, FloatType narrow) {
  return narrow == type || isa<Float8E4M3FNType, Float8E5M2Type>(narrow);
}

FloatType NarrowOperands::type() const {
  if (types.empty())
    return {};
  MLIRContext *context = types.front().getContext();
  for (FloatType type :
       {FloatType(Float16Type::get(context)), FloatType(BFloat16Type::get(context))}) {
    auto isExact = [&](APFloat value) {
      bool loses = false;
      value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
      return !loses;
    };
    if (llvm::all_of(types, [&](FloatType narrow) { return holds(type, narrow); }) &&
        llvm::all_of(constants, isExact))
      return type;
  }
  return {};
}

Value NarrowOperands::make(Value v, FloatType element) {
  if (Value known = made.lookupOrNull(v))
    return known;
  Operation *op = v.getDefiningOp();
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  Type type = element;
  if (auto block = dyn_cast<RankedTensorType>(v.getType()))
    type = block.clone(element);
  APFloat constant(0.0f);
  Value narrow;
  if (matchPattern(v, m_ConstantFloat(&constant))) {
    bool ignored = false;
    constant.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &ignored);
    TypedAttr value = FloatAttr::get(element, constant);
    if (auto block = dyn_cast<RankedTensorType>(type))
      value = DenseElementsAttr::get(block, constant);
    narrow = arith::ConstantOp::create(b, loc, value);
  } else if (auto widened = dyn_cast<arith::ExtFOp>(op)) {
    narrow = widened.getIn();
    if (narrow.getType() != type)
      narrow = arith::ExtFOp::create(b, loc, type, narrow);
  } else {
    for (Value o : elementsOf(op))
      make(o, element);
    Operation *copy = b.clone(*op, made);
    copy->getResult(0).setType(type);
    narrow = copy->getResult(0);
  }
  made.map(v, narrow);
  return narrow;
}

static bool narrow(DotOp dot) {
  if (!dot.getA().getType().getElementType().isF32() ||
      dot.getInputPrecision() == InputPrecision::ieee)
    return false;
  NarrowOperands operands;
  if (!operands.add(dot.getA()) || !operands.add(dot.getB()))
    return false;
  FloatType type = operands.type();
  if (!type)
    return false;
  OpBuilder b(dot);
  Value x = dot.getA(), y = dot.getB();
  Value product = DotOp::create(b, dot.getLoc(), operands.make(x, type), operands.make(y, type),
                                dot.getAcc(), InputPrecision::ieee, /*maxNumImpreciseAcc=*/0);
  LDBG() << "of " << type << ": " << dot;
  dot.getResult().replaceAllUsesWith(product);
  dot.erase();
  return true;
}

namespace {
struct NarrowDotsPass : tile::impl::NarrowDotsPassBase<NarrowDotsPass> {
  using NarrowDotsPassBase::NarrowDotsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // What stands for f32 there is no wider than what stands for others.
    if (!targetOf(module).has(Feature::Mma16x8x16) || module->hasAttr(kAlgebraicAttr))
      return;
    SmallVector<DotOp> dots;
    module.walk([&](DotOp dot) { dots.push_back(dot); });
    bool isChanged = false;
    for (DotOp dot : dots)
      if (narrow(dot)) {
        isChanged = true;
        ++productsNarrowed;
      }
    if (!isChanged)
      return;
    // What was widened for products alone.
    for (func::FuncOp kernel : module.getOps<func::FuncOp>())
      if (!kernel.isExternal())
        eraseDeadValues(kernel.getBody().front());
  }
};
} // namespace
