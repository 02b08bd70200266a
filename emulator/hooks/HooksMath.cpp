//===- HooksMath.cpp - conversions and approximate functions --------------===//
//
// Approximate functions give the correctly rounded result, which is within the
// documented error of the hardware's.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Numbers.h"
#include <cmath>

using namespace tile::emu;

static double flush(double x, Format f, bool ftz) {
  return ftz && f == Format::F32 && std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x;
}

static double apply(Approximation function, double x) {
  switch (function) {
  case Approximation::Ex2:
    return std::exp2(x);
  case Approximation::Lg2:
    return std::log2(x);
  case Approximation::Sin:
    return std::sin(x);
  case Approximation::Cos:
    return std::cos(x);
  case Approximation::Rcp:
    return 1.0 / x;
  case Approximation::Sqrt:
    return std::sqrt(x);
  case Approximation::Rsqrt:
    return 1.0 / std::sqrt(x);
  case Approximation::Tanh:
    return std::tanh(x);
  }
  return x;
}

/// `a op b` or `a * b + c`, rounded once in the given direction. The sum in
/// double precision has an error of its own, which the residue corrects.
static double directed(double result, double residue, Rounding rounding) {
  if (residue == 0 || std::isinf(result) || std::isnan(result))
    return result;
  bool up = rounding == Rounding::Up || (rounding == Rounding::TowardZero && result < 0);
  bool down = rounding == Rounding::Down || (rounding == Rounding::TowardZero && result > 0);
  // Keep the result on the side of the exact value that rounding again keeps.
  if (up && residue > 0)
    return std::nextafter(result, HUGE_VAL);
  if (down && residue < 0)
    return std::nextafter(result, -HUGE_VAL);
  return result;
}

extern "C" {

uint64_t tileEmuConvert(uint64_t bits, uint32_t from, uint32_t to, uint32_t rounding,
                        uint32_t flags) {
  return convert(bits, Format(from), Format(to), Rounding(rounding), flags);
}

uint64_t tileEmuApproximate(uint64_t bits, uint32_t function, uint32_t format, uint32_t ftz) {
  auto f = Format(format);
  double x = flush(decode(f, bits), f, ftz);
  double y = flush(apply(Approximation(function), x), f, ftz);
  if (f == Format::F64 && !std::isnan(y) && !std::isinf(y)) // works on the high words only
    return std::fabs(y) < 0x1p-1022 ? llvm::bit_cast<uint64_t>(std::copysign(0.0, y))
                                    : llvm::bit_cast<uint64_t>(y) & 0xffffffff00000000u;
  return encode(f, y);
}

/// What rounding has taken from `sum`, which is a + b rounded.
static double sumError(double a, double b, double sum) {
  double bb = sum - a;
  return (a - (sum - bb)) + (b - bb);
}

/// Arithmetic of f32 and f64 in any rounding: 0 add, 1 sub, 2 mul, 3 fma, 4
/// div, 5 sqrt, 6 rcp.
uint64_t tileEmuRounded(uint64_t aBits, uint64_t bBits, uint64_t cBits, uint32_t operation,
                        uint32_t format, uint32_t rounding) {
  auto f = Format(format);
  auto r = Rounding(rounding);
  double a = decode(f, aBits), b = decode(f, bBits), c = decode(f, cBits);
  double result = 0, residue = 0;
  switch (operation) {
  case 1:
    b = -b;
    [[fallthrough]];
  case 0: {
    result = a + b;
    residue = sumError(a, b, result);
    break;
  }
  case 2:
    result = a * b;
    residue = std::fma(a, b, -result);
    break;
  case 3: {
    // The error of a fused operation (Boldo and Muller): exact parts of the product,
    // added to the sum from the small ones up.
    double product = a * b, low = std::fma(a, b, -product);
    result = std::fma(a, b, c);
    double small = c + low, rest = sumError(c, low, small);
    double large = product + small;
    residue = ((large - result) + sumError(product, small, large)) + rest;
    break;
  }
  case 4:
    result = a / b;
    residue = -std::fma(result, b, -a) * (b < 0 ? -1 : 1);
    break;
  case 5:
    result = std::sqrt(a);
    residue = -std::fma(result, result, -a);
    break;
  default:
    result = 1.0 / a;
    residue = -std::fma(result, a, -1.0) * (a < 0 ? -1 : 1);
    break;
  }
  if (r == Rounding::NearestEven) {
    // Halfway cases of the first rounding must not decide the second.
    if (f == Format::F32 && residue != 0 && !std::isinf(result)) {
      uint64_t bits = llvm::bit_cast<uint64_t>(result);
      if ((bits & 0x1fffffff) == 0x10000000)
        result = std::nextafter(result, residue > 0 ? HUGE_VAL : -HUGE_VAL);
    }
    return encode(f, result);
  }
  return encode(f, directed(result, residue, r), r);
}
}

llvm::ArrayRef<Hook> tile::emu::mathHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuConvert), TILE_HOOK(tileEmuApproximate),
                               TILE_HOOK(tileEmuRounded)};
  return hooks;
}
