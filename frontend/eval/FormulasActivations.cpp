//===- FormulasActivations.cpp - what layers of networks end in ------------===//
#include "frontend/eval/FormulaTerms.h"

using namespace tile;
using namespace tile::eval;

static Term softplusOf(Formula &f) {
  Term x = f.has(1) ? f[0] * f[1] : f[0];
  Term value = f.has(1) ? softplus(x) / f[1] : softplus(x);
  return f.has(2) ? where(x > f[2], f[0], value) : value;
}
static Term logSigmoid(Formula &f) { return negative(softplus(negative(f[0]))); }
/// Of what is negative: scale * (e^(x / width) - 1).
static Term below(const Term &x, const Term &scale) {
  return scale * of("expm1", smaller(x, x.in->number(0)));
}
static Term elu(Formula &f) { return where(f[0] > 0, f[0], below(f[0], f.or_(1, 1))); }
static Term selu(Formula &f) {
  constexpr double alpha = 1.6732632423543772, scale = 1.0507009873554805;
  return where(f[0] > 0, f[0], below(f[0], f.number(alpha))) * scale;
}
static Term celu(Formula &f) {
  Term alpha = f.or_(1, 1);
  return where(f[0] > 0, f[0], below(f[0] / alpha, alpha));
}
static Term leakyRelu(Formula &f) { return where(f[0] > 0, f[0], f[0] * f.or_(1, 0.01)); }
static Term relu6(Formula &f) { return clamped(f[0], 0, 6); }
static Term hardTanh(Formula &f) { return f.call("clamp", {f[0], f.or_(1, -1), f.or_(2, 1)}); }
static Term hardSigmoid(Formula &f) { return clamped(f[0] + 3, 0, 6) / 6; }
static Term hardSwish(Formula &f) { return f[0] * clamped(f[0] + 3, 0, 6) / 6; }
static Term mish(Formula &f) { return f[0] * of("tanh", softplus(f[0])); }
static Term softsign(Formula &f) { return f[0] / (of("abs", f[0]) + 1); }
static Term threshold(Formula &f) { return where(f[0] <= f[1], f[2], f[0]); }
static Term softShrink(Formula &f) {
  Term by = f.or_(1, 0.5), x = f[0];
  return where(x > by, x - by, where(x < negative(by), x + by, x * 0.0)); // a NaN stays
}
static Term hardShrink(Formula &f) {
  return where(of("abs", f[0]) <= f.or_(1, 0.5), f.number(0), f[0]);
}
static Term tanhShrink(Formula &f) { return f[0] - of("tanh", f[0]); }
static Term softMin(Formula &f) {
  return f.call("softmax", {negative(f[0]), f.has(1) ? f[1] : f.integer(-1)});
}

/// One number for all, or one for each of the channels, dimension 1.
static Term prelu(Formula &f) {
  Term x = f[0], weight = f[1];
  size_t rank = rankOf(x);
  if (rankOf(weight) == 1)
    for (size_t dim = 2; dim < rank; ++dim)
      weight = unsqueezed(weight, -1);
  return where(x > 0, x, weight * x);
}

/// The first half of a dimension, as far as the second half lets it through.
static Term glu(Formula &f) {
  Term halves = f.call("chunk", {f[0], f.integer(2), f.has(1) ? f[1] : f.integer(-1)});
  if (f.failed())
    return f.none();
  Term x{&f, halves.value.elements()[0]}, gate{&f, halves.value.elements()[1]};
  return x * of("sigmoid", gate);
}

/// As after training: the mean of the slopes that it draws before.
static Term rrelu(Formula &f) {
  if (f.flag(3, false))
    return f.refuse("`rrelu` draws no slopes: it is what it is after training");
  Term slope = (f.or_(1, 1.0 / 8) + f.or_(2, 1.0 / 3)) * 0.5;
  return where(f[0] > 0, f[0], f[0] * slope);
}

llvm::ArrayRef<FormulaEntry> eval::activationFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"rrelu", rrelu, 1, {"x", "lower", "upper", "training"}},
      {"softplus", softplusOf, 1, {"x", "beta", "threshold"}},
      {"logsigmoid", logSigmoid, 1, {"x"}},
      {"elu", elu, 1, {"x", "alpha"}},
      {"selu", selu, 1, {"x"}},
      {"celu", celu, 1, {"x", "alpha"}},
      {"leaky_relu", leakyRelu, 1, {"x", "negative_slope"}},
      {"prelu", prelu, 2, {"x", "weight"}},
      {"relu6", relu6, 1, {"x"}},
      {"hardtanh", hardTanh, 1, {"x", "min_val", "max_val"}},
      {"hardsigmoid", hardSigmoid, 1, {"x"}},
      {"hardswish", hardSwish, 1, {"x"}},
      {"mish", mish, 1, {"x"}},
      {"softsign", softsign, 1, {"x"}},
      {"threshold", threshold, 3, {"x", "threshold", "value"}},
      {"softshrink", softShrink, 1, {"x", "lambd"}},
      {"hardshrink", hardShrink, 1, {"x", "lambd"}},
      {"tanhshrink", tanhShrink, 1, {"x"}},
      {"softmin", softMin, 1, {"x", "axis"}},
      {"glu", glu, 1, {"x", "axis"}},
  };
  return table;
}
