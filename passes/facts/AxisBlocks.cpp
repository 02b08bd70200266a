//===- AxisBlocks.cpp - shapes, pointers and casts along the axes ---------===//
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/facts/AxisRules.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;
using namespace tile;
using namespace tile::axis;

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
    // Where all along a dimension are equal, those of the one in front of it are as well.
    AxisFacts &last = info.axes[j];
    unsigned equal = x.constancy;
    bool isWhole = x.constancy >= sizesA[i];
    unsigned left = sizesA[i--], right = sizesB[j--], most = right;
    while (left != right) {
      if (left < right) {
        equal += isWhole ? a.axes[i].constancy : 0;
        isWhole &= a.axes[i].constancy >= sizesA[i];
        left += sizesA[i--];
      } else {
        right += sizesB[j--];
      }
    }
    last.constancy = Log2(std::min(equal, most));
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

std::optional<AxisInfo> axis::blockRule(Operation *op, Operands in) {
  Type type = op->getResult(0).getType();
  Log2 step = stepOf(type);
  using Result = std::optional<AxisInfo>;
  return llvm::TypeSwitch<Operation *, Result>(op)
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
      .Default([](Operation *) { return Result(); });
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

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

std::optional<AxisInfo> axis::castRule(Operation *op, Operands in) {
  using Result = std::optional<AxisInfo>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<PtrCastOp, PtrToIntOp, IntToPtrOp>([&](auto) { return recast(op, *in[0]); })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return resized(op, *in[0]); })
      .Default([](Operation *) { return Result(); });
}
