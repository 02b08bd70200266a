//===- NarrowFloats.cpp - sums and products of halves are of halves -------===//
//
// Contract and example: NarrowFloatsPass in passes/tile/Passes.td.
//
// Two halves share a register, and an instruction takes both: what is widened, added or multiplied,
// and rounded again takes five times as many. LLVM knows that, but not through blocks that were
// moved between threads in the meantime, which are moved wide then.
//
// That the wide type rounds in between makes no difference where it has twice the digits of the
// narrow one and two more (Figueroa, "When is double rounding innocuous?", 1995): f32 has 24, and
// the halves 11 and 8.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/facts/Reach.h"
#include "target/Target.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_NARROWFLOATSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-narrow-floats"
ALWAYS_ENABLED_STATISTIC(floatsNarrowed, "sums and products of halves that are not widened");

namespace {
/// An operand of f32 that is a half.
struct Half {
  Value narrow;                       ///< null: a constant
  std::optional<APFloat> number;      ///< that constant
  SmallVector<Operation *, 4> shapes; ///< between it and the operand, in order
};
} // namespace

static std::optional<Half> halfOf(Value v, FloatType half) {
  Half from;
  for (unsigned step = 0; step < reach::kJoined; ++step) {
    APFloat number(0.0f);
    if (matchPattern(v, m_ConstantFloat(&number))) {
      bool losesInfo = false;
      number.convert(half.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      from.number = number;
      std::reverse(from.shapes.begin(), from.shapes.end());
      return losesInfo ? std::nullopt : std::optional(from);
    }
    Operation *op = v.getDefiningOp();
    if (auto widening = dyn_cast_or_null<arith::ExtFOp>(op)) {
      from.narrow = widening.getIn();
      std::reverse(from.shapes.begin(), from.shapes.end());
      bool isHalf = getElementTypeOrSelf(from.narrow.getType()) == half;
      return isHalf ? std::optional(from) : std::nullopt;
    }
    if (!isa_and_nonnull<ExpandDimsOp, BroadcastOp, SplatOp, ReshapeOp, TransOp>(op))
      return std::nullopt;
    from.shapes.push_back(op);
    v = op->getOperand(0);
  }
  return std::nullopt;
}

static Type asHalf(Type type, FloatType half) {
  auto block = dyn_cast<RankedTensorType>(type);
  return block ? Type(block.clone(half)) : Type(half);
}

/// The operand as a half, of the type of what it stands for.
static Value narrowed(OpBuilder &b, Location loc, const Half &from, Type wide, FloatType half) {
  if (from.number) {
    Type type = asHalf(wide, half);
    TypedAttr value = FloatAttr::get(half, *from.number);
    if (auto block = dyn_cast<RankedTensorType>(type))
      value = DenseElementsAttr::get(block, ArrayRef(*from.number));
    return arith::ConstantOp::create(b, loc, value);
  }
  Value v = from.narrow;
  for (Operation *shape : from.shapes) {
    Operation *op = b.clone(*shape);
    op->setOperand(0, v);
    op->getResult(0).setType(asHalf(op->getResult(0).getType(), half));
    v = op->getResult(0);
  }
  return v;
}

/// Two operands of `op`, which is of halves, and what it is of them.
static std::optional<std::pair<Half, Half>> operandsOf(Operation *op, FloatType half) {
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) || !op->hasOneUse() ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return std::nullopt;
  std::optional<Half> left = halfOf(op->getOperand(0), half);
  std::optional<Half> right = halfOf(op->getOperand(1), half);
  if (!left || !right || (left->number && right->number))
    return std::nullopt;
  return std::pair(*left, *right);
}

/// `op` of these in their own type.
static Value ofHalves(OpBuilder &b, Operation *op, const std::pair<Half, Half> &of,
                      FloatType half) {
  Type type = op->getResult(0).getType();
  OperationState state(op->getLoc(), op->getName());
  state.addOperands({narrowed(b, op->getLoc(), of.first, type, half),
                     narrowed(b, op->getLoc(), of.second, type, half)});
  state.addTypes(asHalf(type, half));
  state.addAttributes(op->getAttrs());
  Operation *made = b.create(state);
  LDBG() << *op << " is " << *made;
  return made->getResult(0);
}

/// A choice between what is of halves and something that is one, as of what a mask leaves out.
static Value chosenHalf(OpBuilder &b, arith::SelectOp choice, FloatType half) {
  Value sides[] = {choice.getTrueValue(), choice.getFalseValue()}, made[2];
  std::optional<std::pair<Half, Half>> computed[2];
  std::optional<Half> known[2];
  for (unsigned i : {0, 1}) {
    computed[i] = operandsOf(sides[i].getDefiningOp(), half);
    known[i] = computed[i] ? std::nullopt : halfOf(sides[i], half);
  }
  if (!choice->hasOneUse() || (!computed[0] && !known[0]) || (!computed[1] && !known[1]) ||
      (!computed[0] && !computed[1]))
    return {};
  for (unsigned i : {0, 1})
    made[i] = computed[i] ? ofHalves(b, sides[i].getDefiningOp(), *computed[i], half)
                          : narrowed(b, choice.getLoc(), *known[i], sides[i].getType(), half);
  return arith::SelectOp::create(b, choice.getLoc(), choice.getCondition(), made[0], made[1]);
}

/// What is rounded by `op`, if it is of halves and nobody needs it wide.
static bool narrow(arith::TruncFOp op, const Target &target) {
  auto half = cast<FloatType>(getElementTypeOrSelf(op.getType()));
  if (!half.isF16() && !(half.isBF16() && target.has(Feature::Bf16Arithmetic)))
    return false;
  OpBuilder b(op);
  Operation *wide = op.getIn().getDefiningOp();
  Value made;
  if (auto choice = dyn_cast_or_null<arith::SelectOp>(wide))
    made = chosenHalf(b, choice, half);
  else if (std::optional<std::pair<Half, Half>> of = operandsOf(wide, half))
    made = ofHalves(b, wide, *of, half);
  if (!made)
    return false;
  op.getResult().replaceAllUsesWith(made);
  op.erase();
  llvm::SmallSetVector<Operation *, 3> sources; // a square has one
  for (Value operand : wide->getOperands())
    if (Operation *source = operand.getDefiningOp())
      sources.insert(source);
  wide->erase();
  for (Operation *source : sources)
    if (isOpTriviallyDead(source))
      source->erase();
  return true;
}

namespace {
struct NarrowFloatsPass : tile::impl::NarrowFloatsPassBase<NarrowFloatsPass> {
  void runOnOperation() override {
    // There are no halves in it.
    if (getOperation()->hasAttr(kAlgebraicAttr))
      return;
    const Target &target = targetOf(getOperation());
    SmallVector<arith::TruncFOp> ops;
    getOperation().walk([&](arith::TruncFOp op) { ops.push_back(op); });
    for (arith::TruncFOp op : ops) // an operation of these follows what it is of
      floatsNarrowed += narrow(op, target);
  }
};
} // namespace
