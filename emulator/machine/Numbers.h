//===- Numbers.h - the machine's number formats ---------------------------===//
#ifndef TILE_EMULATOR_MACHINE_NUMBERS_H
#define TILE_EMULATOR_MACHINE_NUMBERS_H

#include "llvm/ADT/bit.h"
#include <cstdint>

namespace tile::emu {

/// Functions that the hardware approximates.
enum class Approximation : uint32_t { Ex2, Lg2, Sin, Cos, Rcp, Sqrt, Rsqrt, Tanh };

enum class Format : uint32_t {
  F16,
  BF16,
  F32,
  F64,
  E4M3,
  E5M2,
  TF32,
  S8,
  S16,
  S32,
  S64,
  U8,
  U16,
  U32,
  U64
};
enum class Rounding : uint32_t { NearestEven, TowardZero, Down, Up, NearestAway };
/// Flags of a conversion.
enum : uint32_t { kSaturate = 1, kFlush = 2, kSaturateFinite = 4, kRelu = 8 };

constexpr bool isFloat(Format f) { return f <= Format::TF32; }
unsigned bitWidth(Format f);

/// The value of a floating-point number; exact.
double decode(Format format, uint64_t bits);
/// Rounded once. Out-of-range values become infinite, or with `finite` the
/// largest finite number (which is what fp8 conversions do).
uint64_t encode(Format format, double value, Rounding rounding = Rounding::NearestEven,
                bool finite = false);
uint64_t convert(uint64_t bits, Format from, Format to, Rounding rounding, uint32_t flags);

/// Tables of every f16 and bf16 number, for matrix multiplication.
const float *halfTable();
inline float fromBF16(uint16_t bits) { return llvm::bit_cast<float>(uint32_t(bits) << 16); }

enum class AtomicKind : uint32_t {
  Add,
  FAdd,
  MinS,
  MaxS,
  MinU,
  MaxU,
  And,
  Or,
  Xor,
  Exchange,
  CompareExchange,
  Increment,
  Decrement,
  FAddBF16,
  FAddF16x2,
  FAddBF16x2
};
bool isFloatSum(AtomicKind kind);
uint64_t applyAtomic(AtomicKind kind, uint64_t old, uint64_t operand, uint64_t compare,
                     unsigned bytes);

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_NUMBERS_H
