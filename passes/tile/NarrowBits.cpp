//===- NarrowBits.cpp - bits of bytes are combined as bytes ---------------===//
//
// Contract and example: NarrowBitsPass in passes/tile/Passes.td.
//
// A register has four bytes, or one that was widened. Programs widen codes when they load them, and
// combine them behind that: four times the registers, from load to load, and four times the
// instructions.
//
//===----------------------------------------------------------------------===//
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/Reach.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_NARROWBITSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-narrow-bits"
ALWAYS_ENABLED_STATISTIC(masksDropped, "masks that keep all that was widened");
ALWAYS_ENABLED_STATISTIC(bitsNarrowed, "operations on bits that are done before widening");
ALWAYS_ENABLED_STATISTIC(constantsMoved, "constants that are added behind a joining");

namespace {
/// A block that was widened, perhaps in another shape.
struct Widened {
  Value narrow;
  SmallVector<Operation *, 4> shapes; ///< from it on, in order
  bool isRepeated = false, isAlone = true;

  RankedTensorType type() const { return cast<RankedTensorType>(narrow.getType()); }
};
} // namespace

static std::optional<Widened> widened(Value v) {
  Widened from;
  for (unsigned step = 0; step < reach::kOperands + 1; ++step) {
    from.isAlone &= v.hasOneUse();
    Operation *op = v.getDefiningOp();
    if (auto widening = dyn_cast_or_null<arith::ExtUIOp>(op)) {
      from.narrow = widening.getIn();
      std::reverse(from.shapes.begin(), from.shapes.end());
      unsigned bits = getElementTypeOrSelf(from.narrow.getType()).getIntOrFloatBitWidth();
      bool isBlock = isa<RankedTensorType>(from.narrow.getType());
      return isBlock && (bits == 8 || bits == 16) ? std::optional(from) : std::nullopt;
    }
    if (!isa_and_nonnull<ExpandDimsOp, BroadcastOp, ReshapeOp, TransOp>(op))
      return std::nullopt;
    from.isRepeated |= isa<BroadcastOp>(op);
    from.shapes.push_back(op);
    v = op->getOperand(0);
  }
  return std::nullopt;
}

/// The narrow block in the shape that the wide one has.
static Value inShape(OpBuilder &b, const Widened &from) {
  Value v = from.narrow;
  for (Operation *shape : from.shapes) {
    Operation *op = b.clone(*shape);
    op->setOperand(0, v);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    op->getResult(0).setType(type.clone(from.type().getElementType()));
    v = op->getResult(0);
  }
  return v;
}

/// `op` with a constant that has all bits of what was widened.
static bool dropMask(arith::AndIOp op) {
  APInt mask;
  auto widening = op.getLhs().getDefiningOp<arith::ExtUIOp>();
  if (!widening || !matchPattern(op.getRhs(), m_ConstantInt(&mask)))
    return false;
  unsigned bits = getElementTypeOrSelf(widening.getIn().getType()).getIntOrFloatBitWidth();
  if (mask.countr_one() < bits)
    return false;
  op.getResult().replaceAllUsesWith(widening.getResult());
  op.erase();
  return true;
}

/// Blocks of one width: at least one of them would be widened as a whole anyway.
static bool combineNarrow(Operation *op) {
  std::optional<Widened> left = widened(op->getOperand(0)), right = widened(op->getOperand(1));
  if (!left || !right || left->type().getElementType() != right->type().getElementType())
    return false;
  bool isWhole = (left->isAlone && !left->isRepeated) || (right->isAlone && !right->isRepeated);
  if (!isWhole)
    return false;
  OpBuilder b(op);
  Value l = inShape(b, *left), r = inShape(b, *right);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands({l, r});
  state.addTypes(l.getType());
  Operation *narrow = b.create(state);
  Value wide =
      arith::ExtUIOp::create(b, op->getLoc(), op->getResult(0).getType(), narrow->getResult(0));
  LDBG() << *op << " is " << wide;
  op->getResult(0).replaceAllUsesWith(wide);
  op->erase();
  return true;
}

/// A constant that is added to both halves of what is joined, or taken from them, before it becomes
/// floats: from the whole, behind the joining, where the conversion takes it up.
static bool moveBehindJoin(arith::SIToFPOp conversion) {
  SmallVector<Operation *, 4> shapes;
  Value v = conversion.getIn();
  while (v.hasOneUse() && v.getDefiningOp() && isa<ReshapeOp, TransOp>(v.getDefiningOp())) {
    shapes.push_back(v.getDefiningOp());
    v = v.getDefiningOp()->getOperand(0);
  }
  auto join = v.getDefiningOp<JoinOp>();
  if (!join || !v.hasOneUse())
    return false;
  Operation *left = join.getLhs().getDefiningOp(), *right = join.getRhs().getDefiningOp();
  APInt moved, others;
  bool isSame = left && right && left->getName() == right->getName() &&
                isa<arith::AddIOp, arith::SubIOp>(left) &&
                matchPattern(left->getOperand(1), m_ConstantInt(&moved)) &&
                matchPattern(right->getOperand(1), m_ConstantInt(&others)) && moved == others;
  if (!isSame)
    return false;
  OpBuilder b(conversion);
  Location loc = join.getLoc();
  Value whole = JoinOp::create(b, loc, join.getType(), left->getOperand(0), right->getOperand(0));
  for (Operation *shape : llvm::reverse(shapes)) {
    Operation *op = b.clone(*shape);
    op->setOperand(0, whole);
    whole = op->getResult(0);
  }
  auto type = cast<RankedTensorType>(whole.getType());
  Value constant = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), moved)));
  OperationState state(left->getLoc(), left->getName());
  state.addOperands({whole, constant});
  state.addTypes(type);
  conversion->setOperand(0, b.create(state)->getResult(0));
  return true;
}

namespace {
struct NarrowBitsPass : tile::impl::NarrowBitsPassBase<NarrowBitsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
          isa<RankedTensorType>(op->getResult(0).getType()))
        ops.push_back(op);
    });
    getOperation().walk(
        [&](arith::SIToFPOp conversion) { constantsMoved += moveBehindJoin(conversion); });
    for (Operation *op : ops) {
      if (auto mask = dyn_cast<arith::AndIOp>(op); mask && dropMask(mask))
        ++masksDropped;
      else
        bitsNarrowed += combineNarrow(op);
    }
  }
};
} // namespace
