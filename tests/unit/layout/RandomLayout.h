//===- RandomLayout.h - layouts to try laws on ----------------------------===//
//
// Deterministic: a test that fails once fails always.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_UNIT_LAYOUT_RANDOMLAYOUT_H
#define TILE_TESTS_UNIT_LAYOUT_RANDOMLAYOUT_H

#include "ir/layout/GF2.h"
#include "ir/layout/LinearLayout.h"
#include <algorithm>
#include <random>

namespace tile::layout::test {

class RandomLayouts {
public:
  explicit RandomLayouts(uint64_t seed) : engine(seed) {}

  unsigned upTo(unsigned limit) { return unsigned(engine() % (limit + 1)); }
  bool coin() { return engine() & 1; }

  /// Sizes of up to `most` bits each for the given names.
  Position dims(llvm::ArrayRef<Dim> names, unsigned most) {
    Position result;
    for (Dim d : names)
      result.push_back({d, 1 << upTo(most)});
    return result;
  }

  /// Any map at all between the given spaces.
  LinearLayout any(llvm::ArrayRef<DimValue> ins, llvm::ArrayRef<DimValue> outs) {
    llvm::SmallVector<uint64_t> rows;
    for (unsigned i = 0, e = bits(ins); i < e; ++i)
      rows.push_back(engine() & lowBits(bits(outs)));
    return LinearLayout::fromRows(ins, outs, rows);
  }

  /// A surjective map: an invertible core in random rows, copies in the others.
  /// With `unitary` the core is a permutation of bits (what programs use).
  LinearLayout surjective(llvm::ArrayRef<DimValue> ins, llvm::ArrayRef<DimValue> outs,
                          bool unitary) {
    unsigned in = bits(ins), out = bits(outs);
    llvm::SmallVector<uint64_t> core;
    for (unsigned i = 0; i < out; ++i)
      core.push_back(1ull << i);
    if (!unitary)
      for (unsigned i = 0; i < out * 4 && out > 1; ++i) {
        unsigned a = upTo(out - 1), b = upTo(out - 1);
        if (a != b)
          core[a] ^= core[b];
      }
    std::shuffle(core.begin(), core.end(), engine);
    llvm::SmallVector<uint64_t> rows(core);
    while (rows.size() < in)
      rows.push_back(unitary || coin() ? 0 : engine() & lowBits(out));
    std::shuffle(rows.begin(), rows.end(), engine);
    return LinearLayout::fromRows(ins, outs, rows);
  }

  /// A layout of a block over registers, lanes and warps. Surjective.
  LinearLayout distributed(llvm::ArrayRef<DimValue> outs, unsigned laneBits, unsigned warpBits,
                           bool unitary) {
    unsigned out = bits(outs);
    unsigned reg = out > laneBits + warpBits ? out - laneBits - warpBits : 0;
    reg += upTo(2);
    return surjective(
        {{Dim::reg(), 1 << reg}, {Dim::lane(), 1 << laneBits}, {Dim::warp(), 1 << warpBits}}, outs,
        unitary);
  }

  static unsigned bits(llvm::ArrayRef<DimValue> dims) {
    unsigned total = 0;
    for (const DimValue &d : dims)
      total += log2Exact(d.second);
    return total;
  }

  std::mt19937_64 engine;
};

} // namespace tile::layout::test

#endif // TILE_TESTS_UNIT_LAYOUT_RANDOMLAYOUT_H
