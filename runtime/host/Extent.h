//===- Extent.h - sizes of tensors, in arithmetic that notices overflow ---===//
//
// Shapes, strides and offsets come from programs, and nothing keeps their
// products below 2^64. What is computed from them is computed here: a number
// that does not fit 64 bits stays "too large" in all that is computed from it,
// and the checks refuse it. Nothing else multiplies dimensions that have not
// passed one of the checks.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_EXTENT_H
#define TILE_RUNTIME_HOST_EXTENT_H

#include "frontend/eval/Operators.h"
#include <algorithm>
#include <atomic>
#include <string>

namespace tile::host {

/// A size or a position, or the knowledge that it is beyond 64 bits.
class Extent {
public:
  Extent(int64_t value) : number(value) {}
  bool fits() const { return isExact; }
  /// `fits()` must hold.
  int64_t operator*() const { return number; }
  /// Also false for what is beyond 64 bits.
  bool isAtMost(int64_t limit) const { return isExact && number <= limit; }

  friend Extent operator+(Extent a, Extent b);
  friend Extent operator*(Extent a, Extent b);

private:
  bool isExact = true;
  int64_t number;
};

/// The number of elements of a shape. Dimensions of 0 do not hide others that
/// overflow: such a shape has strides and prefixes that do.
Extent countElements(llvm::ArrayRef<int64_t> shape);

/// "(3, 4)"
std::string toString(llvm::ArrayRef<int64_t> shape);

/// How much memory values of host functions may take.
struct Memory {
  uint64_t limit;    ///< of all that is held at a time
  uint64_t held = 0; ///< by the host's copies of tensors
  /// By arrays that are being computed with, of all sessions.
  static std::atomic<uint64_t> computing;

  uint64_t left() const {
    uint64_t taken = held + computing.load(std::memory_order_relaxed);
    return limit - std::min(limit, taken);
  }

  /// Half of what the machine has.
  static Memory ofThisMachine();
};

/// The most dimensions that a tensor has.
constexpr size_t maxRank = 64;

/// Dimensions that are not negative, not too many, and whose bytes can be counted in 64 bits.
std::unique_ptr<eval::EvalError> checkShape(llvm::ArrayRef<int64_t> shape, unsigned elementBytes);

/// So many multiplications, or what takes their time, are about to be done in loops without code of
/// the user's: some microseconds' worth are a step of the case. An error past its limit.
std::unique_ptr<eval::EvalError> spendSteps(Extent multiplications);

/// That there is room for all elements of a shape, and steps are left to work on them.
std::unique_ptr<eval::EvalError> checkRoom(const Memory &memory, llvm::ArrayRef<int64_t> shape,
                                           unsigned elementBytes);

/// That a view of memory of `elements` elements stays inside it. A view without
/// elements touches nothing, and yet starts inside.
std::unique_ptr<eval::EvalError> checkView(llvm::ArrayRef<int64_t> shape,
                                           llvm::ArrayRef<int64_t> strides, int64_t offset,
                                           int64_t elements);

/// One behind the last element of a view that starts at 0; at least `1` with an element.
Extent reachOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_EXTENT_H
