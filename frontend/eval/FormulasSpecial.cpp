//===- FormulasSpecial.cpp - rarer functions of elements --------------------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"
#include <cmath>
#include <limits>
#include <numbers>

using namespace tile;
using namespace tile::eval;
using ast::BinaryOp;

/// The slope of lgamma: from 8 on by its series, below by steps of one, left of 1/2 by reflection.
static Term digamma(Formula &f) {
  constexpr int kSteps = 8;
  constexpr double kSeries[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132};
  Term x = f[0], one = f.number(1), isLow = x < 0.5;
  Term right = where(isLow, one - x, x), steps = f.number(0);
  for (int i = 0; i < kSteps; ++i)
    steps = steps + one / (right + double(i));
  Term inverse = one / (right + double(kSteps)), squared = inverse * inverse;
  Term series = f.number(0);
  for (double factor : llvm::reverse(kSeries))
    series = (series + factor) * squared;
  Term value = negative(of("log", inverse)) - inverse * 0.5 - series - steps;
  // Where nothing is reflected the tangent is of a number that it is defined for.
  Term angle = where(isLow, x, f.number(0.25)) * std::numbers::pi;
  return where(isLow, value - f.number(std::numbers::pi) / of("tan", angle), value);
}

static Term logAddExp2(Formula &f) {
  Term rest = of("exp2", negative(apartBy(f[0], f[1])));
  return larger(f[0], f[1]) + of("log1p", rest) / std::numbers::ln2;
}
static Term scaledByPower(Formula &f) { return f[0] * of("exp2", f[1] * 1.0); }

/// A zero has a sign as well, which its reciprocal shows.
static Term hasSign(Formula &f) {
  Term one = f.number(1), x = f[0] * 1.0;
  return where(same(f[0], 0), one / x, x) < 0;
}
template <int sign> static Term isInfinite(Formula &f) {
  return same(f[0] * 1.0, f.number(sign * std::numeric_limits<double>::infinity()));
}

static Term subtractedFrom(Formula &f) { return f[1] - (f.has(2) ? f[0] * f[2] : f[0]); }
static Term itself(Formula &f) { return f[0]; }
static Term inverted(Formula &f) {
  return f.failed() ? f.none() : f.take(unary(ast::UnaryOp::Invert, f[0].value));
}
static Term divided(Formula &f) {
  return f.tuple({apply(BinaryOp::FloorDiv, f[0], f[1]), apply(BinaryOp::Mod, f[0], f[1])});
}
/// What is behind the point, and what is in front of it.
static Term apart(Formula &f) {
  Term whole = of("trunc", f[0]);
  return f.tuple({f[0] - whole, whole});
}
static Term roundedTo(Formula &f) {
  Term scale = f.number(std::pow(10.0, double(f.whole(1, 0))));
  return of("round", f[0] * scale) / scale;
}

/// polyval(p, x): the coefficient of the highest power first, numbers or a tensor of a known
/// number of them.
static Term polynomial(Formula &f) {
  Terms factors = f.list(0);
  if (f.has(0) && !f[0].value.isSequence()) {
    Terms sizes = shapeOf(f[0]);
    std::optional<int64_t> count = sizes.size() == 1 ? known(sizes[0]) : std::nullopt;
    constexpr int64_t most = 1024;
    if (!count || *count > most)
      return f.refuse(
          formatted("`polyval` needs a known number of coefficients, {} at most", most));
    factors.clear();
    for (int64_t i = 0; i < *count; ++i)
      factors.push_back(at(f[0], 0, PyValue::integer(i)));
  }
  Term sum = f[1] * 0.0;
  for (const Term &factor : factors)
    sum = sum * f[1] + factor;
  return sum;
}

llvm::ArrayRef<FormulaEntry> eval::specialFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"digamma", digamma, 1, {"x"}},
      {"logaddexp2", logAddExp2, 2, {"x", "y"}},
      {"ldexp", scaledByPower, 2, {"x", "n"}},
      {"signbit", hasSign, 1, {"x"}},
      {"isposinf", isInfinite<1>, 1, {"x"}},
      {"isneginf", isInfinite<-1>, 1, {"x"}},
      {"rsub", subtractedFrom, 2, {"x", "y", "alpha"}},
      {"positive", itself, 1, {"x"}},
      {"detach", itself, 1, {"x"}},
      {"bitwise_not", inverted, 1, {"x"}},
      {"divmod", divided, 2, {"x", "y"}},
      {"modf", apart, 1, {"x"}},
      {"round_to", roundedTo, 2, {"x", "decimals"}},
      {"polyval", polynomial, 2, {"p", "x"}},
  };
  return table;
}
