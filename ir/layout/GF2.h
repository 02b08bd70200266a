//===- GF2.h - linear algebra on bit vectors packed into 64-bit words -----===//
//
// A vector over GF(2) is a word, addition is XOR. `XorSpan` is the one
// elimination routine of the layout algebra: rank, membership, solving and
// completion to a basis are all questions to it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LAYOUT_GF2_H
#define TILE_IR_LAYOUT_GF2_H

#include "llvm/ADT/bit.h"
#include <array>
#include <cstdint>
#include <optional>

namespace tile::layout {

inline uint32_t log2Exact(uint64_t powerOfTwo) { return llvm::countr_zero(powerOfTwo); }
inline uint64_t lowBits(unsigned count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }
inline bool parity(uint64_t bits) { return llvm::popcount(bits) & 1; }

/// The span of a growing set of vectors, in echelon form. Each stored vector
/// remembers which inserted vectors it is the sum of (its *combination*, a
/// word chosen by the caller, usually one bit an inserted vector).
class XorSpan {
public:
  /// Adds `vector`; returns false if it was in the span already (then nothing
  /// changes).
  bool insert(uint64_t vector, uint64_t combination = 0) {
    reduce(vector, combination);
    if (!vector)
      return false;
    unsigned pivot = 63 - llvm::countl_zero(vector);
    pivots |= 1ull << pivot;
    vectors[pivot] = vector;
    combinations[pivot] = combination;
    return true;
  }

  /// Subtracts the part of `vector` that lies in the span, and the combination
  /// that makes up that part.
  void reduce(uint64_t &vector, uint64_t &combination) const {
    uint64_t below = ~0ull;
    while (uint64_t live = vector & pivots & below) {
      unsigned pivot = 63 - llvm::countl_zero(live);
      vector ^= vectors[pivot];
      combination ^= combinations[pivot];
      below = lowBits(pivot);
    }
  }

  bool contains(uint64_t vector) const {
    uint64_t ignored = 0;
    reduce(vector, ignored);
    return vector == 0;
  }

  /// The combination of inserted vectors that sums to `vector`, if any does.
  std::optional<uint64_t> solve(uint64_t vector) const {
    uint64_t combination = 0;
    reduce(vector, combination);
    if (vector)
      return std::nullopt;
    return combination;
  }

  unsigned dimension() const { return llvm::popcount(pivots); }

private:
  uint64_t pivots = 0;
  std::array<uint64_t, 64> vectors;
  std::array<uint64_t, 64> combinations;
};

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_GF2_H
