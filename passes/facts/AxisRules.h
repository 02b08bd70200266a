//===- AxisRules.h - transfer rules of the axis analysis ------------------===//
//
// All quantities are powers of two, held as logarithms: "min" is gcd, "+" is
// product. In the comments of the rules c, d, k are contiguity, divisibility
// and constancy along the axis in question.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_AXISRULES_H
#define TILE_PASSES_FACTS_AXISRULES_H

#include "passes/facts/AxisInfo.h"
#include "llvm/ADT/STLExtras.h"

namespace tile::axis {

using Log2 = uint8_t;
using Operands = llvm::ArrayRef<const AxisInfo *>;

inline Log2 capped(unsigned log2) {
  return Log2(std::min<unsigned>(log2, AxisInfo::kZeroDivisibility));
}
/// The largest power of two that divides `value`.
Log2 divisibilityOf(int64_t value);
/// Sizes along the axes; a scalar has one axis of size one.
llvm::SmallVector<Log2, 4> sizesOf(mlir::Type type);
/// One step of a value along a run: 1 for integers, the pointee's size for
/// pointers (in bytes, as their divisibility is).
Log2 stepOf(mlir::Type type);

AxisInfo unknown(mlir::Type type);
/// Every element is the same value of this divisibility.
AxisInfo uniform(mlir::Type type, Log2 divisibility);
AxisInfo ofConstant(mlir::Type type, int64_t value);

/// Divisibility of the elements at multiples of 2^run: inside a longer run
/// they are its start plus a multiple of 2^run steps.
inline Log2 divisibilityAt(const AxisFacts &f, Log2 run, Log2 step = 0) {
  return run >= f.contiguity ? f.divisibility : std::min<Log2>(f.divisibility, run + step);
}
/// Divisibility of every element: what the best axis says.
Log2 divisibilityOfAll(const AxisInfo &info, Log2 step = 0);
/// The longest run of consecutive elements that starts aligned to its length
/// and so crosses no multiple of it.
inline Log2 alignedRun(const AxisFacts &f) { return std::min(f.contiguity, f.divisibility); }

/// Applies `rule` axis by axis.
template <typename Rule> AxisInfo perAxis(const AxisInfo &a, const AxisInfo &b, Rule rule) {
  AxisInfo info;
  for (auto [fa, fb] : llvm::zip_equal(a.axes, b.axes))
    info.axes.push_back(rule(fa, fb));
  return info;
}

/// What holds for both: runs that both have.
AxisInfo weakest(const AxisInfo &a, const AxisInfo &b, Log2 step);
/// What any elementwise operation keeps: equal operands give equal results.
AxisInfo elementwise(mlir::Operation *op, Operands operands);
/// a + b (and pointers plus offsets, whose divisibility is in bytes): a run
/// plus a constant is a run. b's steps are scaled by 2^step.
AxisInfo sum(const AxisInfo &a, const AxisInfo &b, Log2 step);

/// The rules of integer arithmetic, comparisons and selection; of blocks'
/// shapes and pointers; nullopt for other operations.
std::optional<AxisInfo> arithmeticRule(mlir::Operation *op, Operands in, bool trustIndices);
std::optional<AxisInfo> castRule(mlir::Operation *op, Operands in);
std::optional<AxisInfo> blockRule(mlir::Operation *op, Operands in);

} // namespace tile::axis

#endif // TILE_PASSES_FACTS_AXISRULES_H
