//===- AxisArithmetic.cpp - integer arithmetic along the axes -------------===//
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/AxisRules.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace tile;
using namespace tile::axis;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

AxisInfo axis::sum(const AxisInfo &a, const AxisInfo &b, Log2 step) {
  return perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    Log2 c = std::max(std::min(x.contiguity, y.constancy), std::min(x.constancy, y.contiguity));
    return AxisFacts{c, std::min(divisibilityAt(x, c, step), capped(divisibilityAt(y, c) + step)),
                     std::min(x.constancy, y.constancy)};
  });
}

/// a - b: as a sum, but minus a run runs backwards.
static AxisInfo difference(const AxisInfo &a, const AxisInfo &b) {
  return perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    Log2 c = std::min(x.contiguity, y.constancy);
    return AxisFacts{c, std::min(divisibilityAt(x, c), divisibilityAt(y, c)),
                     std::min(x.constancy, y.constancy)};
  });
}

/// a * b: powers of two multiply; runs survive only a factor of one.
static AxisInfo product(const AxisInfo &a, const AxisInfo &b) {
  if (a.constant == 1)
    return b;
  if (b.constant == 1)
    return a;
  AxisInfo info = perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    return AxisFacts{0, capped(divisibilityAt(x, 0) + divisibilityAt(y, 0)),
                     std::min(x.constancy, y.constancy)};
  });
  return info;
}

/// floor(a / 2^m): aligned runs of 2^m become constant; a multiple of 2^m
/// divides exactly.
static AxisInfo dividedByPowerOfTwo(const AxisInfo &a, Log2 m) {
  AxisInfo info;
  for (const AxisFacts &x : a.axes) {
    if (m == 0) {
      info.axes.push_back(x);
      continue;
    }
    Log2 all = divisibilityAt(x, 0);
    info.axes.push_back(
        {0, Log2(all > m ? all - m : 0), std::max(x.constancy, std::min(alignedRun(x), m))});
  }
  return info;
}

/// floor(a / b) for a constant b: runs aligned within b's power of two are
/// constant.
static AxisInfo floorQuotient(const AxisInfo &a, int64_t b) {
  Log2 factor = divisibilityOf(b);
  if (b > 0 && llvm::isPowerOf2_64(uint64_t(b)))
    return dividedByPowerOfTwo(a, factor);
  AxisInfo info;
  for (const AxisFacts &x : a.axes)
    info.axes.push_back({0, 0, std::max(x.constancy, std::min(alignedRun(x), factor))});
  return info;
}

/// a / b for a divisor known at run time only: runs of a that are aligned within
/// what divides it are constant, as the remainder's are runs.
static AxisInfo quotient(const AxisInfo &a, const AxisInfo &b) {
  return perAxis(a, b, [](const AxisFacts &x, const AxisFacts &y) {
    Log2 within = std::min({alignedRun(x), y.constancy, divisibilityAt(y, 0)});
    return AxisFacts{0, 0, std::max(std::min(x.constancy, y.constancy), within)};
  });
}

/// a mod b, b >= 0: a run that is aligned within both a and b stays a run;
/// what divides both divides the remainder.
static AxisInfo remainder(const AxisInfo &a, const AxisInfo &b, bool isFloor) {
  return perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    Log2 c = 0;
    if (isFloor)
      c = std::min({alignedRun(x), y.constancy, divisibilityAt(y, 0)});
    return AxisFacts{c, std::min(divisibilityAt(x, c), divisibilityAt(y, c)),
                     std::min(x.constancy, y.constancy)};
  });
}

/// a & b: the low zero bits of either; with a mask of low bits, a remainder;
/// with a mask that clears low bits, aligned runs become constant.
static AxisInfo conjunction(const AxisInfo &a, const AxisInfo &b, Type type) {
  const AxisInfo &other = a.constant ? b : a;
  std::optional<int64_t> mask = a.constant ? a.constant : b.constant;
  if (mask && *mask >= 0 && llvm::isPowerOf2_64(uint64_t(*mask) + 1) &&
      !getElementType(type).isInteger(1)) {
    AxisInfo result =
        remainder(other, uniform(type, divisibilityOf(int64_t(uint64_t(*mask) + 1))), true);
    result.nonNegative = true;
    return result;
  }
  AxisInfo info = perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    return AxisFacts{0, std::max(divisibilityAt(x, 0), divisibilityAt(y, 0)),
                     std::min(x.constancy, y.constancy)};
  });
  if (mask && *mask != 0)
    for (auto [axis, x] : llvm::zip_equal(info.axes, other.axes)) {
      // Clears exactly the bits below its lowest set bit only if the rest is
      // all ones; otherwise higher bits are cleared too, alike over a run.
      Log2 low = divisibilityOf(*mask);
      axis.constancy = std::max(axis.constancy, std::min(alignedRun(x), low));
    }
  info.nonNegative = a.nonNegative || b.nonNegative;
  return info;
}

/// select: each side's facts where the condition does not change inside a run.
static AxisInfo choice(const AxisInfo *condition, const AxisInfo &a, const AxisInfo &b, Log2 step) {
  AxisInfo info = weakest(a, b, step);
  if (!condition || condition->axes.size() != info.axes.size())
    return info;
  for (auto [i, axis] : llvm::enumerate(info.axes)) {
    Log2 limit = condition->axes[i].constancy;
    Log2 c = std::min(axis.contiguity, limit);
    axis.divisibility =
        std::min(divisibilityAt(a.axes[i], c, step), divisibilityAt(b.axes[i], c, step));
    axis.contiguity = c;
    axis.constancy = std::min(axis.constancy, limit);
  }
  return info;
}

/// Comparisons: equal operands give equal results. And `run < bound`, `run >=
/// bound` do not change inside a run aligned within the bound: run and bound
/// are then both multiples of its length. (`<=` and `==` do change.)
static AxisInfo comparison(arith::CmpIPredicate predicate, const AxisInfo &a, const AxisInfo &b) {
  using P = arith::CmpIPredicate;
  bool runLeft =
      predicate == P::slt || predicate == P::ult || predicate == P::sge || predicate == P::uge;
  bool runRight =
      predicate == P::sgt || predicate == P::ugt || predicate == P::sle || predicate == P::ule;
  return perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    Log2 k = std::min(x.constancy, y.constancy);
    if (runLeft)
      k = std::max(k, std::min({alignedRun(x), y.constancy, divisibilityAt(y, 0)}));
    if (runRight)
      k = std::max(k, std::min({alignedRun(y), x.constancy, divisibilityAt(x, 0)}));
    return AxisFacts{0, 0, k};
  });
}

/// The same with runs of one and the divisibility all elements of both share: min and max.
static AxisInfo anyOfBoth(const AxisInfo &a, const AxisInfo &b) {
  return perAxis(a, b, [](const AxisFacts &x, const AxisFacts &y) {
    return AxisFacts{0, std::min(divisibilityAt(x, 0), divisibilityAt(y, 0)),
                     std::min(x.constancy, y.constancy)};
  });
}

/// Or, and xor: where one has aligned runs, and the other is one number that has none of the bits
/// in which their elements differ, the runs stay runs.
static AxisInfo bitsOfEither(const AxisInfo &a, const AxisInfo &b) {
  auto runOf = [](const AxisFacts &x, const AxisFacts &y) {
    return std::min({alignedRun(x), y.constancy, divisibilityAt(y, 0)});
  };
  return perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    Log2 ofLeft = runOf(x, y), ofRight = runOf(y, x), run = std::max(ofLeft, ofRight);
    Log2 divisibility = std::min(divisibilityAt(x, ofLeft >= ofRight ? run : 0),
                                 divisibilityAt(y, ofLeft >= ofRight ? 0 : run));
    return AxisFacts{run, divisibility, std::min(x.constancy, y.constancy)};
  });
}

/// Signed division rounds towards zero, so runs below zero are not constant
/// where those above are; exact division does not care.
static AxisInfo signedQuotient(Operation *op, const AxisInfo &a, const AxisInfo &b,
                               bool isNatural) {
  if (b.constant && *b.constant > 0 && (isNatural || *b.constant == 1)) {
    AxisInfo info = floorQuotient(a, *b.constant);
    info.nonNegative = a.nonNegative;
    return info;
  }
  AxisInfo info = isNatural ? quotient(a, b) : elementwise(op, {&a, &b});
  if (b.constant && *b.constant > 0 && llvm::isPowerOf2_64(uint64_t(*b.constant)))
    for (auto [axis, x] : llvm::zip_equal(info.axes, a.axes)) {
      Log2 all = divisibilityAt(x, 0), m = divisibilityOf(*b.constant);
      axis.divisibility = all > m ? all - m : 0;
    }
  info.nonNegative = a.nonNegative && b.nonNegative;
  return info;
}

static AxisInfo leftShift(Operation *op, const AxisInfo &a, const AxisInfo &b) {
  if (b.constant && *b.constant >= 0 && *b.constant < 64)
    return product(a, ofConstant(op->getResult(0).getType(), int64_t(uint64_t(1) << *b.constant)));
  AxisInfo info = elementwise(op, {&a, &b});
  for (auto [axis, x] : llvm::zip_equal(info.axes, a.axes))
    axis.divisibility = divisibilityAt(x, 0);
  return info;
}

static AxisInfo rightShift(Operation *op, const AxisInfo &a, const AxisInfo &b) {
  if (b.constant && *b.constant >= 0 && *b.constant < 64)
    return dividedByPowerOfTwo(a, Log2(*b.constant));
  return elementwise(op, {&a, &b});
}

/// Without overflow, sums and products of values >= 0 are >= 0.
template <typename Op> static bool staysNonNegative(Op op, const AxisInfo &a, const AxisInfo &b) {
  return a.nonNegative && b.nonNegative &&
         bitEnumContainsAll(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
}

/// Whether a block is moved down on some way to `v`, or cut off at fewer bits.
static bool isMovedDown(Value v, llvm::SmallDenseSet<Value> &seen) {
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return constant.isNegative();
  if (!isa<RankedTensorType>(v.getType()) || !seen.insert(v).second)
    return false;
  auto anyIs = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value each) { return isMovedDown(each, seen); });
  };
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return !loop ||
           anyIs({loop.getTiedLoopInit(arg)->get(), loop.getTiedLoopYieldedValue(arg)->get()});
  }
  Operation *op = v.getDefiningOp();
  unsigned result = cast<OpResult>(v).getResultNumber();
  if (isa<arith::SubIOp, scf::WhileOp>(op) ||
      (isa<arith::TruncIOp>(op) && getElementType(v.getType()).getIntOrFloatBitWidth() < 32))
    return true;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return isMovedDown(loop.getRegionIterArg(result), seen);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return anyIs({branch.thenYield().getOperand(result), branch.elseYield().getOperand(result)});
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return anyIs({select.getTrueValue(), select.getFalseValue()});
  bool passesOn = isa<arith::AddIOp, arith::MulIOp, arith::ExtSIOp, arith::TruncIOp, HintOp,
                      BroadcastOp, ExpandDimsOp, TransOp, ReshapeOp>(op);
  return passesOn && anyIs(op->getOperands());
}

static bool isMovedDown(Value v) {
  llvm::SmallDenseSet<Value> seen;
  return isMovedDown(v, seen);
}

/// May this be divided as if rounding went down? (See AxisInfo.h.)
static bool isNaturalDividend(Value v, const AxisInfo &info, bool trustIndices) {
  auto runs = [](const AxisFacts &f) { return f.contiguity > 0; };
  return info.nonNegative || (trustIndices && llvm::any_of(info.axes, runs) && !isMovedDown(v));
}

std::optional<AxisInfo> axis::arithmeticRule(Operation *op, Operands in, bool trustIndices) {
  Type type = op->getResult(0).getType();
  Log2 step = stepOf(type);
  bool natural = !in.empty() && isNaturalDividend(op->getOperand(0), *in[0], trustIndices);
  using Result = std::optional<AxisInfo>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp add) {
        AxisInfo info = sum(*in[0], *in[1], 0);
        info.nonNegative = staysNonNegative(add, *in[0], *in[1]);
        return info;
      })
      .Case([&](arith::SubIOp) { return difference(*in[0], *in[1]); })
      .Case([&](arith::MulIOp mul) {
        AxisInfo info = product(*in[0], *in[1]);
        info.nonNegative = staysNonNegative(mul, *in[0], *in[1]);
        return info;
      })
      .Case([&](arith::DivSIOp) { return signedQuotient(op, *in[0], *in[1], natural); })
      .Case([&](arith::DivUIOp) {
        bool known = in[1]->constant && *in[1]->constant > 0;
        return known ? floorQuotient(*in[0], *in[1]->constant) : quotient(*in[0], *in[1]);
      })
      .Case([&](arith::RemSIOp) {
        AxisInfo info = remainder(*in[0], *in[1], natural);
        info.nonNegative = in[0]->nonNegative;
        return info;
      })
      .Case([&](arith::RemUIOp) {
        AxisInfo info = remainder(*in[0], *in[1], true);
        info.nonNegative = in[0]->nonNegative || in[1]->nonNegative;
        return info;
      })
      .Case([&](arith::ShLIOp) { return leftShift(op, *in[0], *in[1]); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) {
        AxisInfo info = rightShift(op, *in[0], *in[1]);
        info.nonNegative = in[0]->nonNegative;
        return info;
      })
      .Case([&](arith::AndIOp) { return conjunction(*in[0], *in[1], type); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](auto) {
        AxisInfo info = bitsOfEither(*in[0], *in[1]);
        info.nonNegative = in[0]->nonNegative && in[1]->nonNegative;
        return info;
      })
      .Case<arith::MaxUIOp, arith::MinUIOp, arith::MinSIOp>([&](auto) {
        AxisInfo info = anyOfBoth(*in[0], *in[1]);
        info.nonNegative = in[0]->nonNegative && in[1]->nonNegative;
        return info;
      })
      .Case([&](arith::MaxSIOp) {
        AxisInfo info = anyOfBoth(*in[0], *in[1]);
        info.nonNegative = in[0]->nonNegative || in[1]->nonNegative;
        return info;
      })
      .Case([&](arith::CmpIOp cmp) { return comparison(cmp.getPredicate(), *in[0], *in[1]); })
      .Case([&](arith::SelectOp select) {
        bool isBlock = isa<RankedTensorType>(select.getCondition().getType());
        return choice(isBlock ? in[0] : nullptr, *in[1], *in[2], step);
      })
      .Default([](Operation *) { return Result(); });
}
