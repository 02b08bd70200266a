//===- Matrix.h - shapes and types of matrix instructions -----------------===//
#ifndef TILE_EMULATOR_MACHINE_MATRIX_H
#define TILE_EMULATOR_MACHINE_MATRIX_H

#include "emulator/machine/Numbers.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tile::emu {

/// Element types of matrix instructions.
enum class Element : uint8_t { F16, BF16, TF32, F64, F32, E4M3, E5M2, S8, U8, S4, U4, S32, B1 };
std::optional<Element> parseElement(llvm::StringRef name);
/// Bits in a fragment register.
unsigned elementBits(Element e);
bool isInteger(Element e);

/// One shape and its types, as a number that compiled code can pass.
struct MatrixShape {
  uint16_t m = 0, n = 0, k = 0;
  Element a = Element::F16, b = Element::F16, accumulator = Element::F32;
  bool saturate = false;
  bool algebraic = false; ///< floats stand for integers
  uint64_t pack() const {
    return uint64_t(m) | uint64_t(n) << 8 | uint64_t(k) << 20 | uint64_t(a) << 32 |
           uint64_t(b) << 40 | uint64_t(accumulator) << 48 | uint64_t(saturate) << 56 |
           uint64_t(algebraic) << 57;
  }
  static MatrixShape unpack(uint64_t v) {
    return {uint16_t(v & 0xff),      uint16_t(v >> 8 & 0xfff), uint16_t(v >> 20 & 0xfff),
            Element(v >> 32 & 0xff), Element(v >> 40 & 0xff),  Element(v >> 48 & 0xff),
            bool(v >> 56 & 1),       bool(v >> 57 & 1)};
  }
  unsigned aRegisters() const;
  unsigned bRegisters() const;
  unsigned accumulatorRegisters() const; ///< of 32 bits
};

/// The value of an operand element held in the low bits of `word`.
double elementValue(Element e, uint64_t word);

/// The number of a ring that it stands for, with its sign.
uint64_t ringValue(Element e, uint64_t word);
/// Either, by the type that is computed in.
template <typename T> T valueOf(Element e, uint64_t word) {
  if constexpr (std::is_same_v<T, double>)
    return elementValue(e, word);
  else
    return ringValue(e, word);
}

/// Sums of products: d[m][n] += a[m][k] * b[k][n], exact up to double rounding.
template <typename T>
void multiply(unsigned m, unsigned n, unsigned k, const T *a, const T *b, T *d) {
  for (unsigned i = 0; i < m; ++i)
    for (unsigned x = 0; x < k; ++x) {
      T v = a[i * k + x];
      for (unsigned j = 0; j < n; ++j)
        d[i * n + j] += v * b[x * n + j];
    }
}
/// Accumulators as their registers hold them.
double accumulatorValue(Element e, uint32_t low, uint32_t high);
uint64_t roundAccumulator(Element e, double value, bool saturate);
inline uint64_t roundAccumulator(Element e, uint64_t value, bool) {
  return elementBits(e) == 64 ? value : value & ((uint64_t(1) << elementBits(e)) - 1);
}

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_MATRIX_H
