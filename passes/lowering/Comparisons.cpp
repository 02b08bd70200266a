//===- Comparisons.cpp - masks of positions from one difference -----------===//
//
// The registers of a thread hold positions that differ by constants. A mask
// `base + c < end` of each would keep every position alive, as long as the mask
// is needed: two registers a row where positions have 64 bits. One difference
// `end - base` does for all of them, and each element compares it with its
// constant, in 32 bits.
//
// Neither side may wrap around. A position is what is computed from program
// ids, counters and ranges without subtracting; an end that is below zero is
// raised to -1, which no position is below or at, either.
//
// Which element is at a place that is the same for all, `base + c == place`, is
// told by `place - base` in the same way, whatever wraps around.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Comparisons.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Promises.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// `budget`: how many values may still be looked at.
static bool isPosition(Value v, unsigned &budget) {
  if (budget == 0)
    return false;
  --budget;
  if (isPromisedNonNegative(v))
    return true;
  APInt c;
  if (matchPattern(v, m_ConstantInt(&c)))
    return !c.isNegative();
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && arg == loop.getInductionVar() && isPosition(loop.getLowerBound(), budget);
  }
  Operation *op = v.getDefiningOp();
  if (auto range = dyn_cast_or_null<MakeRangeOp>(op))
    return int32_t(range.getStart()) >= 0;
  if (isa_and_nonnull<ProgramIdOp, NumProgramsOp>(op))
    return true;
  // Numbers are multiplied before they become blocks: a block's products may be random numbers.
  bool block = isa<RankedTensorType>(v.getType());
  if (!block && isa_and_nonnull<arith::DivSIOp, arith::RemSIOp>(op))
    return isPosition(op->getOperand(0), budget);
  return (isa_and_nonnull<SplatOp, BroadcastOp, ExpandDimsOp, cta::ConvertLayoutOp, arith::ExtSIOp,
                          arith::MinSIOp, arith::AddIOp, HintOp>(op) ||
          (!block && isa_and_nonnull<arith::MulIOp>(op))) &&
         llvm::all_of(op->getOperands(), [&](Value o) { return isPosition(o, budget); });
}

bool tile::lowering::isPosition(Value v) {
  unsigned budget = 32;
  return ::isPosition(v, budget);
}

/// Whether all elements of `v` are known to be one number.
static bool isOneNumber(Value v) {
  while (isa_and_nonnull<BroadcastOp, ExpandDimsOp, cta::ConvertLayoutOp, arith::ExtSIOp>(
      v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  return v.getDefiningOp<SplatOp>() != nullptr;
}

Comparisons::Comparisons(Core &core, arith::CmpIOp op) : core(core) {
  using P = arith::CmpIPredicate;
  using L = LLVM::ICmpPredicate;
  if (!isa<RankedTensorType>(op.getType()))
    return;
  if (op.getPredicate() == P::eq || op.getPredicate() == P::ne) {
    isOfPlace = true;
    swapped = !isOneNumber(op.getRhs());
    if (!swapped || isOneNumber(op.getLhs()))
      predicate = op.getPredicate() == P::eq ? L::eq : L::ne;
    return;
  }
  swapped = !isPosition(op.getLhs());
  Value left = swapped ? op.getRhs() : op.getLhs(), right = swapped ? op.getLhs() : op.getRhs();
  if (swapped && !isPosition(left))
    return;
  both = isPosition(right);
  // Of two positions in 32 bits, rows and columns of a causal mask, the assembler does as well by
  // itself, and better where it has them in registers anyway.
  if (both && getElementTypeOrSelf(left.getType()).isInteger(32))
    return;
  switch (op.getPredicate()) {
  case P::slt:
    predicate = swapped ? L::sgt : L::slt;
    break;
  case P::sle:
    predicate = swapped ? L::sge : L::sle;
    break;
  case P::sgt:
    predicate = swapped ? L::slt : L::sgt;
    break;
  case P::sge:
    predicate = swapped ? L::sle : L::sge;
    break;
  default:
    break;
  }
}

Comparisons::Pair Comparisons::pairOf(Value l, Value r) const {
  if (swapped)
    std::swap(l, r);
  // An end is the same for all that share a difference.
  return {core.affine(l), both ? core.affine(r) : Affine{r, 0}};
}

void Comparisons::add(Value l, Value r) {
  if (!predicate)
    return;
  auto [x, y] = pairOf(l, r);
  if (!x.base || !y.base)
    return;
  auto [it, isNew] = shared.try_emplace({x.base, y.base});
  Shared &s = it->second;
  s.left = isNew ? x.offset : std::min(s.left, x.offset);
  s.right = isNew ? y.offset : std::min(s.right, y.offset);
  if (s.seen.insert({x.offset, y.offset}).second)
    ++s.count;
}

/// `d` in 32 bits; what does not fit becomes a number that no constant is.
Value Comparisons::placeIn32Bits(Value d) {
  OpBuilder &b = core.b;
  Location loc = core.in.getLoc();
  Value low = LLVM::TruncOp::create(b, loc, b.getI32Type(), d);
  Value fits = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq,
                                    LLVM::SExtOp::create(b, loc, d.getType(), low), d);
  return LLVM::SelectOp::create(b, loc, fits, low,
                                core.in.constant(b.getI32Type(), b.getI32IntegerAttr(INT32_MIN)));
}

/// The least value of the right side without the least one of the left.
Value Comparisons::difference(const Shared &s, Affine x, Affine y, Type type) {
  OpBuilder &b = core.b;
  Location loc = core.in.getLoc();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto constant = [&](int64_t v) -> Value {
    return core.in.constant(type, b.getIntegerAttr(type, APInt(bits, v, true)));
  };
  Value from = core.materialize({x.base, s.left}, type);
  if (isOfPlace) {
    Value d = LLVM::SubOp::create(b, loc, y.base, from);
    return bits <= 32 ? d : placeIn32Bits(d);
  }
  Value to = both ? core.materialize({y.base, s.right}, type)
                  : Value(LLVM::SMaxOp::create(b, loc, y.base, constant(-1)));
  Value d = LLVM::SubOp::create(b, loc, to, from, LLVM::IntegerOverflowFlags::nsw);
  if (bits <= 32)
    return d;
  // The constants are small: what lies beyond 32 bits may as well be the last number in them.
  d = LLVM::SMaxOp::create(b, loc, d, constant(INT32_MIN));
  d = LLVM::SMinOp::create(b, loc, d, constant(INT32_MAX));
  return LLVM::TruncOp::create(b, loc, b.getI32Type(), d);
}

Value Comparisons::lower(Value l, Value r) {
  if (!predicate)
    return {};
  auto [x, y] = pairOf(l, r);
  auto it = x.base && y.base ? shared.find({x.base, y.base}) : shared.end();
  if (it == shared.end())
    return {};
  Shared &s = it->second;
  unsigned bits = l.getType().getIntOrFloatBitWidth();
  // A comparison of 64 bits takes two instructions, a difference that is cut to 32 six.
  if ((bits != 32 || s.count < 3) && (bits != 64 || s.count < 4))
    return {};
  int64_t c = (x.offset - s.left) - (y.offset - s.right);
  if (c <= INT32_MIN || c >= INT32_MAX)
    return {};
  if (!s.difference)
    s.difference = difference(s, x, y, l.getType());
  OpBuilder &b = core.b;
  Value constant = core.in.constant(b.getI32Type(), b.getI32IntegerAttr(int32_t(c)));
  return LLVM::ICmpOp::create(b, core.in.getLoc(), *predicate, constant, s.difference);
}
