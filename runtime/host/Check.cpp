//===- Check.cpp - a tensor against its reference -------------------------===//
#include "runtime/host/Check.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using eval::fail;

Tolerance host::defaultTolerance(const DType &type) {
  switch (type.kind()) {
  case DType::Kind::Float64:
    return {1e-12, 1e-14};
  case DType::Kind::Float32:
    return {1e-5, 1e-6};
  case DType::Kind::Float16:
    return {2e-3, 1e-4};
  case DType::Kind::BFloat16:
    return {1.6e-2, 1e-3};
  case DType::Kind::Float8E5:
  case DType::Kind::Float8E5B16:
    return {2.6e-1, 1e-2};
  default:
    return type.isFloating() ? Tolerance{1.3e-1, 1e-2} : Tolerance{0, 0};
  }
}

namespace {
/// Decides pair by pair whether a float result is good enough.
class FloatComparer {
public:
  FloatComparer(const DType &type, Tolerance tolerance)
      : kind(type.kind()), tolerance(tolerance), largest(largestFinite(kind)) {}

  bool agree(double got, double expected, Comparison &out) const {
    if (std::isnan(got) || std::isnan(expected))
      return std::isnan(got) && std::isnan(expected);
    double allowed = tolerance.absolute + tolerance.relative * std::fabs(expected);
    if (std::isfinite(expected) && std::fabs(expected) > largest) {
      // What the type cannot hold becomes what rounding makes of it; within the
      // tolerance of the edge, either side will do.
      double rounded = decodeFloat(kind, encodeFloat(kind, expected));
      bool nearEdge = std::fabs(expected) - largest <= allowed;
      return got == rounded ||
             (nearEdge && std::fabs(got) >= largest && std::signbit(got) == std::signbit(expected));
    }
    if (std::isinf(got) && std::isfinite(expected))
      return std::fabs(expected) + allowed > largest && std::signbit(got) == std::signbit(expected);
    if (std::isinf(expected)) {
      // Types without an infinity, and conversions that saturate.
      bool saturates = DType(kind).isFp8();
      return got == expected || (saturates && got == std::copysign(largest, expected));
    }
    double error = std::fabs(got - expected);
    out.largestError = std::max(out.largestError, error);
    if (allowed > 0)
      out.toleranceUsed = std::max(out.toleranceUsed, error / allowed);
    return error <= allowed;
  }

private:
  DType::Kind kind;
  Tolerance tolerance;
  double largest;
};
} // namespace

static std::string describe(const Array &values, int64_t i, DType type) {
  return eval::repr(elementValue(values, i, type));
}

/// "[3, 5]", or nothing for a scalar.
static std::string place(int64_t position, llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "";
  std::string text;
  for (int64_t i : unravel(position, shape))
    text += (text.empty() ? " at [" : ", ") + std::to_string(i);
  return text + "]";
}

static std::unique_ptr<eval::EvalError>
compareOne(const PyValue &gotValue, const PyValue &expectedValue, std::optional<double> relative,
           std::optional<double> absolute, Comparison &out) {
  auto *tensor = gotValue.dynExtension<Tensor>();
  if (!tensor)
    return fail(
        formatted("a result to check must be a tensor, got `{}`", eval::typeName(gotValue)));
  Array expected;
  if (auto error = toArray(expectedValue, expected))
    return error;
  if (llvm::ArrayRef<int64_t>(expected.shape) != tensor->shape())
    return fail(formatted("the result has shape {}, its reference {}", toString(tensor->shape()),
                          toString(expected.shape)),
                "ValueError");
  Array got;
  if (auto error = tensor->values(got))
    return error;
  Tolerance tolerance = defaultTolerance(tensor->type());
  tolerance.relative = relative.value_or(tolerance.relative);
  tolerance.absolute = absolute.value_or(tolerance.absolute);
  FloatComparer floats(tensor->type(), tolerance);

  int64_t first = -1, differing = 0;
  for (int64_t i = 0, n = got.size(); i < n; ++i) {
    bool same;
    if (got.isFloat()) {
      same = floats.agree(got.reals[i], expected.real(i), out);
    } else {
      double error = std::fabs(double(got.ints[i]) - expected.real(i));
      double allowed = tolerance.absolute + tolerance.relative * std::fabs(expected.real(i));
      same = expected.isFloat() || allowed > 0 ? error <= allowed : got.ints[i] == expected.ints[i];
      out.largestError = std::max(out.largestError, error);
    }
    if (same)
      continue;
    ++differing;
    if (first < 0)
      first = i;
  }
  if (first < 0)
    return nullptr;
  out.difference =
      formatted("the result is wrong{}: got {}, expected {}", place(first, tensor->shape()),
                describe(got, first, tensor->type()), describe(expected, first, tensor->type()));
  if (got.isFloat())
    out.difference += formatted(" (rtol {}, atol {})", eval::reprFloat(tolerance.relative),
                                eval::reprFloat(tolerance.absolute));
  if (got.size() > 1)
    out.difference += formatted("; {} of {} elements differ", differing, got.size());
  return nullptr;
}

/// Several results are compared one by one, up to the first that is wrong.
std::unique_ptr<eval::EvalError> host::compareTensors(const PyValue &gotValue,
                                                      const PyValue &expectedValue,
                                                      std::optional<double> relative,
                                                      std::optional<double> absolute,
                                                      Comparison &out) {
  if (!gotValue.isSequence() || !expectedValue.isSequence())
    return compareOne(gotValue, expectedValue, relative, absolute, out);
  llvm::ArrayRef<PyValue> got = gotValue.elements(), expected = expectedValue.elements();
  if (got.size() != expected.size())
    return fail(formatted("there are {} results, and {} references", uint64_t(got.size()),
                          uint64_t(expected.size())),
                "ValueError");
  for (size_t i = 0; i < got.size() && out.difference.empty(); ++i) {
    if (auto error = compareTensors(got[i], expected[i], relative, absolute, out))
      return error;
    if (!out.difference.empty())
      out.difference = formatted("result {}: {}", uint64_t(i), out.difference);
  }
  return nullptr;
}
