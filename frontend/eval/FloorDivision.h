//===- FloorDivision.h - // and % of doubles, as Python has them ----------===//
//
// The remainder is exact and has the divisor's sign; the quotient is the whole
// number that belongs to it, which rounding `x / y` first may miss by one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_FLOORDIVISION_H
#define TILE_FRONTEND_EVAL_FLOORDIVISION_H

#include <cmath>

namespace tile::eval {

inline double floorModulo(double x, double y) {
  double remainder = std::fmod(x, y);
  if (remainder == 0)
    return std::copysign(0.0, y);
  return (remainder < 0) != (y < 0) ? remainder + y : remainder;
}

inline double floorQuotient(double x, double y) {
  if (y == 0)
    return x / y;
  double remainder = std::fmod(x, y), quotient = (x - remainder) / y;
  if (remainder != 0 && (remainder < 0) != (y < 0))
    quotient -= 1;
  return quotient != 0 ? std::round(quotient) : std::copysign(0.0, x / y);
}

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_FLOORDIVISION_H
