//===- ElementBits.h - bits of an element to numbers and back -------------===//
//
// The reference side of every check, so it is written for plainness: a format
// is its widths and bias, and rounding is division by the spacing of the
// format, rounding to even, multiplying back. It shares no code with the
// interpreter or the compiler, which it is there to check.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_ELEMENTBITS_H
#define TILE_RUNTIME_HOST_ELEMENTBITS_H

#include "frontend/eval/DType.h"
#include <cstdint>

namespace tile::host {

using eval::DType;

/// The value of a float element; exact.
double decodeFloat(DType::Kind kind, uint64_t bits);
/// Rounds to nearest even. 8-bit formats saturate; others overflow to infinity.
uint64_t encodeFloat(DType::Kind kind, double value);
/// The largest finite value of a float type.
double largestFinite(DType::Kind kind);
/// The smallest positive value of a float type.
double smallestPositive(DType::Kind kind);
bool hasInfinity(DType::Kind kind);

/// An integer element as int64: `uint64` wraps.
int64_t decodeInt(const DType &type, uint64_t bits);
/// Keeps the low bits; `int1` asks for non-zero.
uint64_t encodeInt(const DType &type, int64_t value);
/// Rounds towards zero and saturates at the type's ends; NaN gives 0.
int64_t floatToInt(const DType &type, double value);

uint64_t loadBits(const uint8_t *from, unsigned bytes);
void storeBits(uint8_t *to, uint64_t bits, unsigned bytes);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_ELEMENTBITS_H
