//===- Products.h - random loops of products that share operands -----------===//
//
// Kernels of one or two loops with up to five products each, for the algebraic mode
// (docs/algebraic-mode.md): what loads bring, what is computed and what is carried is
// multiplied from the left and from the right, plain and transposed, and what comes
// out is multiplied again, summed, scanned, added to memory or stored.
//
// A kernel is made by a sequence of choices, 0 the simplest of each, and made small by
// choosing 0 or leaving choices out: whatever sequence is left makes a kernel again.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_FUZZ_PRODUCTS_H
#define TILE_TESTS_FUZZ_PRODUCTS_H

#include "tests/fuzz/Kernel.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <random>

namespace tile::fuzz {

/// Numbers that decide something, drawn at random or given. Those given end in zeros.
class Choices {
public:
  explicit Choices(uint64_t seed) : random(seed), isDrawn(true) {}
  explicit Choices(std::vector<uint32_t> given) : made(std::move(given)) {}

  uint32_t below(uint32_t n);
  /// True as often as that in a hundred times; false if the choice is 0.
  bool chance(uint32_t percent) { return below(100) >= 100 - percent; }
  const std::vector<uint32_t> &all() const { return made; }

private:
  std::vector<uint32_t> made;
  size_t at = 0;
  std::mt19937_64 random;
  bool isDrawn = false;
};

/// The kernel of these choices; `seed` is of its data.
Kernel generateProducts(Choices &choices, uint64_t seed);

/// Fewer and smaller choices whose kernel still `fails`, after at most `tries`.
std::vector<uint32_t> reduceChoices(std::vector<uint32_t> choices, unsigned tries,
                                    llvm::function_ref<bool(const std::vector<uint32_t> &)> fails);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_PRODUCTS_H
