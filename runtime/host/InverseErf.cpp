//===- InverseErf.cpp - the x whose erf is known ---------------------------===//
#include "runtime/host/InverseErf.h"
#include <algorithm>
#include <cmath>

/// Newton's method, from a formula that is good to 2e-3.
double tile::host::inverseErf(double y) {
  double a = std::fabs(y);
  if (!(a < 1))
    return a == 1 ? std::copysign(HUGE_VAL, y) : NAN;
  double below = std::log1p(-y * y), half = 2 / (M_PI * 0.147) + below / 2;
  double x = std::sqrt(std::max(std::sqrt(half * half - below / 0.147) - half, 0.0));
  for (int i = 0; i < 4; ++i) {
    double missing = a < 0.5 ? a - std::erf(x) : std::erfc(x) - (1 - a);
    x += missing / M_2_SQRTPI * std::exp(x * x);
  }
  return std::copysign(x, y);
}
