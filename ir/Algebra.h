//===- Algebra.h - numbers of a ring for floating-point ones ---------------===//
//
// In the algebraic mode a float of N bits is an integer modulo 2^N. Sums, products and
// negations are those of the ring, so that terms in any order give the same bits, and
// a difference between two machines is a fault of one of them. docs/algebraic-mode.md
// says what becomes of everything else. The interpreter and the lowered kernel carry it
// out each by itself; what both must agree on that no law prescribes is here: the
// numbers that constants become, and the hashes that stand for functions.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_ALGEBRA_H
#define TILE_IR_ALGEBRA_H

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tile::algebra {

/// The number in the place of `value`: itself if it is whole; the ends of the order for
/// the infinities; else a hash. Nothing for a NaN, which no order has a place for.
std::optional<llvm::APInt> image(const llvm::APFloat &value);

/// A function that stands for itself: each of its arguments, sign-extended to 64 bits, is mixed
/// into a number that begins as `seedOf` its name, by `x = (x ^ argument) * kFactor` and
/// `x ^= x >> 32`. The result is cut to its width.
uint64_t seedOf(llvm::StringRef function);
inline constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ull;
inline uint64_t mix(uint64_t x, int64_t argument) {
  x = (x ^ uint64_t(argument)) * kFactor;
  return x ^ x >> 32;
}

/// Of the device library: "erf" for `__tile_erff`, `__tile_erf` and what computes the same less
/// exactly.
llvm::StringRef functionOf(llvm::StringRef symbol, unsigned width);

} // namespace tile::algebra

#endif // TILE_IR_ALGEBRA_H
