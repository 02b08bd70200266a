//===- AxisInfo.cpp - how integers and pointers run along a block's axes --===//
//
// All quantities are powers of two, held as logarithms: "min" is gcd, "+" is
// product. In the comments of the rules c, d, k are contiguity, divisibility
// and constancy along the axis in question.
//
//===----------------------------------------------------------------------===//
#include "passes/AxisInfo.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace tile;

using Log2 = uint8_t;
static constexpr Log2 kZero = AxisInfo::kZeroDivisibility;

//===----------------------------------------------------------------------===//
// Small facts
//===----------------------------------------------------------------------===//

static Log2 capped(unsigned log2) { return Log2(std::min<unsigned>(log2, kZero)); }

/// The largest power of two that divides `value`.
static Log2 divisibilityOf(int64_t value) {
  return value == 0 ? kZero : capped(llvm::countr_zero(uint64_t(value)));
}

static SmallVector<Log2, 4> sizesOf(Type type) {
  SmallVector<Log2, 4> sizes;
  if (auto block = dyn_cast<RankedTensorType>(type))
    for (int64_t size : block.getShape())
      sizes.push_back(Log2(llvm::Log2_64(size)));
  if (sizes.empty())
    sizes.push_back(0);
  return sizes;
}

/// One step of a value along a run: 1 for integers, the pointee's size for
/// pointers (in bytes, as their divisibility is).
static Log2 stepOf(Type type) {
  if (auto ptr = dyn_cast<PtrType>(getElementType(type)))
    return Log2(llvm::Log2_32(getElementBytes(ptr.getPointee())));
  return 0;
}

static AxisInfo unknown(Type type) {
  AxisInfo info;
  info.axes.resize(sizesOf(type).size());
  return info;
}

/// Every element is the same value of this divisibility.
static AxisInfo uniform(Type type, Log2 divisibility) {
  AxisInfo info;
  for (Log2 size : sizesOf(type))
    info.axes.push_back({0, divisibility, size});
  return info;
}

static AxisInfo ofConstant(Type type, int64_t value) {
  AxisInfo info = uniform(type, divisibilityOf(value));
  info.constant = value;
  info.nonNegative = value >= 0;
  return info;
}

/// Divisibility of the elements at multiples of 2^run: inside a longer run
/// they are its start plus a multiple of 2^run steps.
static Log2 divisibilityAt(const AxisFacts &f, Log2 run, Log2 step = 0) {
  return run >= f.contiguity ? f.divisibility : std::min<Log2>(f.divisibility, run + step);
}

/// Divisibility of every element: what the best axis says.
static Log2 divisibilityOfAll(const AxisInfo &info, Log2 step = 0) {
  Log2 best = 0;
  for (const AxisFacts &f : info.axes)
    best = std::max(best, divisibilityAt(f, 0, step));
  return best;
}

/// The longest run of consecutive elements that starts aligned to its length
/// and so crosses no multiple of it.
static Log2 alignedRun(const AxisFacts &f) { return std::min(f.contiguity, f.divisibility); }

/// Applies `rule` axis by axis.
template <typename Rule> static AxisInfo perAxis(const AxisInfo &a, const AxisInfo &b, Rule rule) {
  AxisInfo info;
  for (auto [fa, fb] : llvm::zip_equal(a.axes, b.axes))
    info.axes.push_back(rule(fa, fb));
  return info;
}

/// What holds for both: runs that both have.
static AxisInfo weakest(const AxisInfo &a, const AxisInfo &b, Log2 step) {
  AxisInfo info = perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    Log2 c = std::min(x.contiguity, y.contiguity);
    return AxisFacts{c, std::min(divisibilityAt(x, c, step), divisibilityAt(y, c, step)),
                     std::min(x.constancy, y.constancy)};
  });
  if (a.constant == b.constant)
    info.constant = a.constant;
  info.nonNegative = a.nonNegative && b.nonNegative;
  return info;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// a + b (and pointers plus offsets, whose divisibility is in bytes): a run
/// plus a constant is a run. b's steps are scaled by 2^step.
static AxisInfo sum(const AxisInfo &a, const AxisInfo &b, Log2 step) {
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
    AxisInfo result = remainder(other, uniform(type, divisibilityOf(*mask + 1)), true);
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

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// The new axis has one element a run, so its divisibility is that of all.
static AxisInfo expanded(const AxisInfo &a, unsigned axis, Log2 step) {
  AxisInfo info = a;
  info.constant = a.constant;
  info.axes.insert(info.axes.begin() + axis, AxisFacts{0, divisibilityOfAll(a, step), 0});
  return info;
}

static AxisInfo broadcasted(const AxisInfo &a, Type from, Type to) {
  AxisInfo info = a;
  for (auto [axis, was, is] : llvm::zip_equal(info.axes, sizesOf(from), sizesOf(to)))
    if (was != is)
      axis = {0, axis.divisibility, is}; // of size one before: its run is one element
  return info;
}

/// Row-major reinterpretation. Dimensions are matched from the last in groups
/// of equal size; in each group the last dimension keeps its runs as far as
/// they fit, the others know only what holds for all elements.
static AxisInfo reshaped(const AxisInfo &a, Type from, Type to, Log2 step) {
  SmallVector<Log2, 4> sizesA = sizesOf(from), sizesB = sizesOf(to);
  AxisInfo info = unknown(to);
  info.constant = a.constant;
  info.nonNegative = a.nonNegative;
  for (AxisFacts &axis : info.axes)
    axis.divisibility = divisibilityOfAll(a, step);
  int i = int(sizesA.size()) - 1, j = int(sizesB.size()) - 1;
  while (true) {
    while (i >= 0 && sizesA[i] == 0)
      --i;
    while (j >= 0 && sizesB[j] == 0)
      --j;
    if (i < 0 || j < 0)
      break;
    const AxisFacts &x = a.axes[i];
    Log2 c = std::min(x.contiguity, sizesB[j]);
    info.axes[j] = {c, std::max(divisibilityAt(x, c, step), info.axes[j].divisibility),
                    std::min(x.constancy, sizesB[j])};
    if (c > 0) // the better fact about all elements was about runs of one
      info.axes[j].divisibility = divisibilityAt(x, c, step);
    unsigned left = sizesA[i--], right = sizesB[j--];
    while (left != right) {
      if (left < right)
        left += sizesA[i--];
      else
        right += sizesB[j--];
    }
  }
  return info;
}

static AxisInfo transposed(const AxisInfo &a, ArrayRef<int32_t> order) {
  AxisInfo info = a;
  for (auto [axis, from] : llvm::zip_equal(info.axes, order))
    axis = a.axes[from];
  return info;
}

/// The author's promise replaces what is known where it says more.
static AxisInfo hinted(const AxisInfo &a, HintOp op) {
  AxisInfo info = a;
  auto apply = [&](std::optional<ArrayRef<int64_t>> values, uint8_t AxisFacts::*field) {
    if (!values)
      return;
    for (auto [axis, value] : llvm::zip(info.axes, *values))
      if (value > 0)
        axis.*field = std::max(axis.*field, divisibilityOf(value));
  };
  apply(op.getContiguity(), &AxisFacts::contiguity);
  apply(op.getConstancy(), &AxisFacts::constancy);
  apply(op.getDivisibility(), &AxisFacts::divisibility);
  for (auto [axis, size] : llvm::zip_equal(info.axes, sizesOf(op.getType()))) {
    axis.contiguity = std::min(axis.contiguity, size);
    axis.constancy = std::min(axis.constancy, size);
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Operation by operation
//===----------------------------------------------------------------------===//

/// Integer constants up to 64 bits, scalar or splat, sign-extended.
static std::optional<int64_t> integerConstant(Attribute value) {
  if (auto splat = dyn_cast<SplatElementsAttr>(value)) {
    if (!splat.getElementType().isIntOrIndex())
      return std::nullopt;
    value = splat.getSplatValue<Attribute>();
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || integer.getValue().getBitWidth() > 64)
    return std::nullopt;
  // A mask is 0 or 1.
  return integer.getType().isInteger(1) ? int64_t(integer.getValue().getZExtValue())
                                        : integer.getValue().getSExtValue();
}

/// What any elementwise operation keeps: equal operands give equal results.
static AxisInfo elementwise(Operation *op, ArrayRef<const AxisInfo *> operands) {
  AxisInfo info = unknown(op->getResult(0).getType());
  SmallVector<Log2, 4> sizes = sizesOf(op->getResult(0).getType());
  for (auto [i, axis] : llvm::enumerate(info.axes)) {
    axis.constancy = sizes[i];
    for (auto [operand, facts] : llvm::zip_equal(op->getOperands(), operands))
      if (isa<RankedTensorType>(operand.getType()))
        axis.constancy = std::min(axis.constancy, facts->axes[i].constancy);
  }
  return info;
}

/// The same with runs of one and the divisibility all elements of both share:
/// or, xor, min and max.
static AxisInfo anyOfBoth(const AxisInfo &a, const AxisInfo &b) {
  return perAxis(a, b, [](const AxisFacts &x, const AxisFacts &y) {
    return AxisFacts{0, std::min(divisibilityAt(x, 0), divisibilityAt(y, 0)),
                     std::min(x.constancy, y.constancy)};
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
  AxisInfo info = elementwise(op, {&a, &b});
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

/// Conversions of width keep runs (see the header on jumps), divisors and
/// equality.
static AxisInfo resized(Operation *op, const AxisInfo &a) {
  Type from = getElementType(op->getOperand(0).getType());
  AxisInfo info = a;
  info.nonNegative = false;
  if (isa<arith::TruncIOp>(op) || from.isInteger(1) ||
      (isa<arith::IndexCastOp>(op) && from.isIndex())) {
    info.constant.reset();
    if (from.isInteger(1)) // 0 or 1, or 0 or -1
      for (AxisFacts &axis : info.axes)
        axis.contiguity = axis.divisibility = 0;
  }
  if (isa<arith::ExtUIOp>(op)) {
    info.nonNegative = true;
    if (!a.nonNegative)
      info.constant.reset();
  } else if (isa<arith::ExtSIOp>(op) || (isa<arith::IndexCastOp>(op) && !from.isIndex())) {
    info.nonNegative = a.nonNegative;
  }
  return info;
}

/// Changes of what a pointer's divisibility is counted along: runs end unless
/// the steps agree.
static AxisInfo recast(Operation *op, const AxisInfo &a) {
  Log2 from = stepOf(op->getOperand(0).getType()), to = stepOf(op->getResult(0).getType());
  AxisInfo info = a;
  info.constant.reset();
  info.nonNegative = false;
  if (from != to)
    for (AxisFacts &axis : info.axes)
      axis = {0, divisibilityAt(axis, 0, from), axis.constancy};
  return info;
}

/// Without overflow, sums and products of values >= 0 are >= 0.
template <typename Op> static bool staysNonNegative(Op op, const AxisInfo &a, const AxisInfo &b) {
  return a.nonNegative && b.nonNegative &&
         bitEnumContainsAll(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
}

bool AxisInfoAnalysis::isNaturalDividend(const AxisInfo &info) const {
  return info.nonNegative || (trustIndices && llvm::any_of(info.axes, [](const AxisFacts &f) {
                                return f.contiguity > 0;
                              }));
}

AxisInfo AxisInfoAnalysis::transfer(Operation *op) {
  SmallVector<const AxisInfo *, 3> in;
  for (Value operand : op->getOperands())
    get(operand); // first all, for the table may move
  for (Value operand : op->getOperands())
    in.push_back(&infos.find(operand)->second);
  Type type = op->getResult(0).getType();
  Log2 step = stepOf(type);

  return llvm::TypeSwitch<Operation *, AxisInfo>(op)
      .Case([&](arith::ConstantOp c) {
        auto value = integerConstant(c.getValue());
        return value ? ofConstant(type, *value) : elementwise(op, in);
      })
      .Case([&](MakeRangeOp range) {
        AxisInfo info = uniform(type, divisibilityOf(int32_t(range.getStart())));
        info.axes[0].contiguity = sizesOf(type)[0];
        info.axes[0].constancy = 0;
        info.nonNegative = int32_t(range.getStart()) >= 0;
        return info;
      })
      .Case<ProgramIdOp, NumProgramsOp>([&](auto) {
        AxisInfo info = unknown(type);
        info.nonNegative = true;
        return info;
      })
      .Case([&](SplatOp) {
        AxisInfo info = uniform(type, divisibilityOfAll(*in[0]));
        info.constant = in[0]->constant;
        info.nonNegative = in[0]->nonNegative;
        return info;
      })
      .Case([&](UnsplatOp splat) {
        AxisInfo info = uniform(type, divisibilityOfAll(*in[0], stepOf(splat.getSrc().getType())));
        info.constant = in[0]->constant;
        info.nonNegative = in[0]->nonNegative;
        return info;
      })
      .Case([&](BroadcastOp b) { return broadcasted(*in[0], b.getSrc().getType(), type); })
      .Case([&](ExpandDimsOp e) { return expanded(*in[0], e.getAxis(), step); })
      .Case([&](ReshapeOp r) {
        return r.getAllowReorder() ? uniform(type, 0)
                                   : reshaped(*in[0], r.getSrc().getType(), type, step);
      })
      .Case([&](TransOp t) { return transposed(*in[0], t.getOrder()); })
      .Case([&](HintOp hint) { return hinted(*in[0], hint); })
      .Case([&](AddPtrOp) { return sum(*in[0], *in[1], step); })
      .Case<PtrCastOp, PtrToIntOp, IntToPtrOp>([&](auto) { return recast(op, *in[0]); })
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
      .Case([&](arith::DivSIOp) {
        return signedQuotient(op, *in[0], *in[1], isNaturalDividend(*in[0]));
      })
      .Case([&](arith::DivUIOp) {
        bool known = in[1]->constant && *in[1]->constant > 0;
        return known ? floorQuotient(*in[0], *in[1]->constant) : elementwise(op, in);
      })
      .Case([&](arith::RemSIOp) {
        AxisInfo info = remainder(*in[0], *in[1], isNaturalDividend(*in[0]));
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
      .Case<arith::OrIOp, arith::XOrIOp, arith::MaxUIOp, arith::MinUIOp, arith::MinSIOp>([&](auto) {
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
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return resized(op, *in[0]); })
      .Default([&](Operation *) {
        return op->hasTrait<OpTrait::Elementwise>() ? elementwise(op, in) : unknown(type);
      });
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

AxisInfoAnalysis::AxisInfoAnalysis(func::FuncOp func, bool trustIndices)
    : trustIndices(trustIndices) {
  if (func.isExternal())
    return;
  for (BlockArgument arg : func.getArguments()) {
    AxisInfo info = unknown(arg.getType());
    if (auto attr = func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kDivisibilityAttr))
      for (AxisFacts &axis : info.axes)
        axis.divisibility = divisibilityOf(attr.getInt());
    infos[arg] = info;
  }
  for (Block &block : func.getBody())
    visitBlock(block);
}

const AxisInfo &AxisInfoAnalysis::get(Value value) {
  auto [it, isNew] = infos.try_emplace(value);
  if (isNew)
    it->second = unknown(value.getType());
  return it->second;
}

bool AxisInfoAnalysis::join(Value value, const AxisInfo &other) {
  const AxisInfo &old = get(value);
  AxisInfo joined = weakest(old, other, stepOf(value.getType()));
  if (joined == old)
    return false;
  infos[value] = std::move(joined);
  return true;
}

void AxisInfoAnalysis::visitBlock(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void AxisInfoAnalysis::visit(Operation *op) {
  if (isa<scf::ForOp>(op))
    return visitFor(op);
  if (isa<scf::IfOp>(op))
    return visitIf(op);
  if (isa<scf::WhileOp>(op))
    return visitWhile(op);
  if (op->getNumResults() == 1)
    infos[op->getResult(0)] = transfer(op);
}

/// The facts of loop-carried values start as those of the initial values and
/// weaken until the body keeps them. They can weaken only so often.
void AxisInfoAnalysis::visitFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  AxisInfo lower = get(loop.getLowerBound());
  AxisInfo iv = unknown(loop.getInductionVar().getType());
  iv.axes[0].divisibility =
      std::min(divisibilityOfAll(lower), divisibilityOfAll(get(loop.getStep())));
  iv.nonNegative = lower.nonNegative; // it starts there and only grows
  infos[loop.getInductionVar()] = iv;
  for (auto [arg, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    infos[arg] = AxisInfo(get(init));
  bool changed = true;
  while (changed) {
    visitBlock(*loop.getBody());
    changed = false;
    for (auto [arg, yielded] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
      changed |= join(arg, AxisInfo(get(yielded)));
  }
  for (auto [result, arg] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
    infos[result] = AxisInfo(get(arg));
}

void AxisInfoAnalysis::visitIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  visitBlock(*branch.thenBlock());
  if (branch.elseBlock())
    visitBlock(*branch.elseBlock());
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    infos[result] = AxisInfo(get(branch.thenYield().getOperand(i)));
    join(result, AxisInfo(get(branch.elseYield().getOperand(i))));
  }
}

void AxisInfoAnalysis::visitWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  for (auto [arg, init] : llvm::zip_equal(loop.getBeforeArguments(), loop.getInits()))
    infos[arg] = AxisInfo(get(init));
  bool changed = true;
  while (changed) {
    visitBlock(*loop.getBeforeBody());
    for (auto [arg, passed] :
         llvm::zip_equal(loop.getAfterArguments(), loop.getConditionOp().getArgs()))
      infos[arg] = AxisInfo(get(passed));
    visitBlock(*loop.getAfterBody());
    changed = false;
    for (auto [arg, yielded] :
         llvm::zip_equal(loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
      changed |= join(arg, AxisInfo(get(yielded)));
  }
  for (auto [result, passed] : llvm::zip_equal(loop.getResults(), loop.getConditionOp().getArgs()))
    infos[result] = AxisInfo(get(passed));
}
