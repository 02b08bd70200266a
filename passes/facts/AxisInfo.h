//===- AxisInfo.h - how integers and pointers run along a block's axes ----===//
//
// For every integer, pointer and mask this finds, per axis of the block (a
// scalar has one axis of size one), three powers of two:
//
//   contiguity   aligned runs of this many elements are consecutive: each is
//                one more than the one before (for pointers: one element on)
//   divisibility the first element of every such run is a multiple of this
//                (for pointers: the address in bytes)
//   constancy    aligned runs of this many elements are all equal
//
// so that `base + pid * 1024 + range(0, 1024)` is known to be one run of 1024
// elements that starts at a multiple of 16 bytes, and `offsets < n` to be
// constant over runs of 16 if n is a multiple of 16.
//
// What is promised, exactly. Arithmetic wraps, so a run may jump by a multiple
// of two to the width of its type somewhere inside. Within an aligned run of
// min(contiguity, divisibility in elements) there is no jump, for no multiple
// of two to the width lies inside such a run. Users must take that minimum, as
// alignment makes them do anyway; beyond it contiguity is a preference (which
// axis is fastest in memory). Divisibility and constancy hold without reserve.
//
// One assumption is taken over from the language as it is used: an index with
// runs (`base + range`) that is the dividend of a signed `//` or `%` is not
// negative, unless the block itself is moved down (`offsets - 128`) or cut off at
// fewer bits. Without it no `offsets % M` would ever be contiguous, for a product
// of program ids and sizes can in principle overflow.
//
// The transfer rules stand in AxisArithmetic.cpp and AxisBlocks.cpp, one function each. The
// analysis is one forward walk over structured IR; loops are walked until they settle.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_AXISINFO_H
#define TILE_PASSES_FACTS_AXISINFO_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace tile {

/// Facts about one axis, as base-two logarithms.
struct AxisFacts {
  uint8_t contiguity = 0, divisibility = 0, constancy = 0;
  friend bool operator==(const AxisFacts &a, const AxisFacts &b) = default;
};

struct AxisInfo {
  /// Divisibility of zero: more than any type holds.
  static constexpr uint8_t kZeroDivisibility = 62;

  llvm::SmallVector<AxisFacts, 4> axes;
  /// The value of every element, if known.
  std::optional<int64_t> constant;
  /// Known to be >= 0 when read as signed.
  bool nonNegative = false;

  int64_t contiguity(unsigned axis) const { return int64_t(1) << axes[axis].contiguity; }
  int64_t divisibility(unsigned axis) const { return int64_t(1) << axes[axis].divisibility; }
  int64_t constancy(unsigned axis) const { return int64_t(1) << axes[axis].constancy; }
  friend bool operator==(const AxisInfo &a, const AxisInfo &b) = default;
};

class AxisInfoAnalysis {
public:
  /// `trustIndices`: make the assumption about dividends (see above).
  explicit AxisInfoAnalysis(mlir::func::FuncOp func, bool trustIndices = true);

  /// The facts about `value`; for one never seen, that nothing is known.
  const AxisInfo &get(mlir::Value value);

private:
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitFor(mlir::Operation *op);
  void visitIf(mlir::Operation *op);
  void visitWhile(mlir::Operation *op);
  AxisInfo transfer(mlir::Operation *op);
  /// Weakens the facts of `value` to what also holds for `other`; true if that
  /// changed them.
  bool join(mlir::Value value, const AxisInfo &other);

  llvm::DenseMap<mlir::Value, AxisInfo> infos;
  bool trustIndices;
};

} // namespace tile

#endif // TILE_PASSES_FACTS_AXISINFO_H
