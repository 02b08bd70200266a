//===- FormulasConvolutions.cpp - convolutions made of convolutions ----------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;

namespace {
/// One number for each dimension that a window goes along.
struct PerDimension {
  std::vector<int64_t> of;
  int64_t operator[](size_t i) const { return of[i]; }
};
} // namespace

static PerDimension each(Formula &f, size_t i, int64_t otherwise, size_t count, int64_t low) {
  std::vector<int64_t> given = f.has(i) ? f.wholes(i) : std::vector<int64_t>{otherwise};
  if (given.size() == 1)
    given.resize(count, given[0]);
  bool fits = given.size() == count && llvm::all_of(given, [&](int64_t number) {
                return number >= low && number <= INT16_MAX;
              });
  if (!fits && !f.failed())
    f.refuse(formatted("`{}` needs {} whole numbers from {} on, got {}", f.name, count, low,
                       repr(f[i].value)));
  return {fits ? given : std::vector<int64_t>(count, low)};
}

static Term pair(Formula &f, int64_t first, int64_t second) {
  return f.tuple({f.integer(first), f.integer(second)});
}

/// With as many zeros behind each element of an axis but the last.
static Term spread(const Term &x, size_t axis, int64_t times) {
  Formula &f = *x.in;
  Terms sizes = shapeOf(x);
  if (f.failed() || times == 1)
    return x;
  Terms widths(sizes.size() + 1, pair(f, 0, 0));
  widths[axis + 1] = pair(f, 0, times - 1);
  Term apart = f.call("pad", {unsqueezed(x, int64_t(axis) + 1), f.tuple(widths)});
  sizes[axis] = sizes[axis] * f.integer(times);
  Term all = reshaped(apart, sizes);
  return part(all, axis, f.integer(0), sizes[axis] + f.integer(1 - times));
}

/// conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups, dilation): what
/// conv2d of that stride does backwards, a convolution of what is spread out with the weights
/// turned round.
template <size_t dims> static Term transposed(Formula &f) {
  Terms sizes = shapeOf(f[1]);
  if (f.failed() || sizes.size() != dims + 2 || rankOf(f[0]) != dims + 2)
    return f.refuse(formatted("`{}` needs {}", f.name,
                              dims == 1 ? "(N, C, L) and weights (C, O, K)"
                                        : "(N, C, H, W) and weights (C, O, KH, KW)"));
  PerDimension stride = each(f, 3, 1, dims, 1), padding = each(f, 4, 0, dims, 0),
               more = each(f, 5, 0, dims, 0), dilation = each(f, 7, 1, dims, 1);
  if (f.whole(6, 1) != 1)
    return f.refuse(formatted("`{}` in groups is not supported: call it for each", f.name));
  Term x = f[0], weight = f.call("transpose", {f[1], f.integer(0), f.integer(1)});
  Terms widths(dims + 2, pair(f, 0, 0));
  for (size_t d = 0; d < dims && !f.failed(); ++d) {
    std::optional<int64_t> size = known(sizes[2 + d]);
    int64_t around = size ? dilation[d] * (*size - 1) - padding[d] : -1;
    if (around < 0)
      return f.refuse(
          formatted("`{}` needs weights of a known size, larger than what is cut off", f.name));
    x = spread(x, 2 + d, stride[d]);
    widths[2 + d] = pair(f, around, around + more[d]);
    weight = f.call("flip", {weight, f.integer(int64_t(2 + d))});
  }
  x = f.call("pad", {x, f.tuple(widths)});
  Term one = f.integer(1), zero = f.integer(0);
  if (dims == 1)
    return f.call("conv1d", {x, weight, f[2], one, zero, f.integer(dilation[0])});
  return f.call("conv2d", {x, weight, f[2], one, zero, pair(f, dilation[0], dilation[dims - 1])});
}

/// conv3d: a sum of two-dimensional ones over the depth of the weights.
static Term conv3d(Formula &f) {
  Terms sizes = shapeOf(f[1]);
  std::optional<int64_t> depth = sizes.size() == 5 ? known(sizes[2]) : std::nullopt;
  if (f.failed() || rankOf(f[0]) != 5 || !depth || *depth > 64)
    return f.refuse("`conv3d` needs (N, C, D, H, W) and weights (O, C, KD, KH, KW), KD known");
  PerDimension stride = each(f, 3, 1, 3, 1), padding = each(f, 4, 0, 3, 0),
               dilation = each(f, 5, 1, 3, 1);
  if (f.failed())
    return f.none();
  Term x = f[0], sum = f.none();
  if (padding[0]) {
    Terms widths(5, pair(f, 0, 0));
    widths[2] = pair(f, padding[0], padding[0]);
    x = f.call("pad", {x, f.tuple(widths)});
  }
  Terms own = shapeOf(x);
  Term by = pair(f, stride[1], stride[2]), around = pair(f, padding[1], padding[2]),
       step = pair(f, dilation[1], dilation[2]), groups = f.has(6) ? f[6] : f.integer(1);
  for (int64_t z = 0; z < *depth && !f.failed(); ++z) {
    int64_t left = (*depth - 1 - z) * dilation[0];
    Term slices = part(x, 2, f.integer(z * dilation[0]), own[2] + f.integer(-left), stride[0]);
    slices = permuted(slices, {0, 2, 1, 3, 4});
    Terms shape = shapeOf(slices);
    if (f.failed())
      return f.none();
    Term flat = reshaped(slices, {shape[0] * shape[1], shape[2], shape[3], shape[4]});
    Term plane = at(f[1], 2, PyValue::integer(z));
    Term made = f.call("conv2d", {flat, plane, f.none(), by, around, step, groups});
    Terms last = shapeOf(made);
    if (f.failed())
      return f.none();
    made = reshaped(made, {shape[0], shape[1], last[1], last[2], last[3]});
    sum = z == 0 ? made : sum + made;
  }
  Term whole = permuted(sum, {0, 2, 1, 3, 4});
  if (!f.has(2))
    return whole;
  return whole + unsqueezed(unsqueezed(unsqueezed(f[2], -1), -1), -1);
}

/// convolve(x, y, mode="full") of two rows, the one turned round and moved along the other.
static Term convolve(Formula &f) {
  std::string mode = f.word(2, {"full", "same", "valid"});
  Terms left = shapeOf(f[0]), right = shapeOf(f[1]);
  if (f.failed() || left.size() != 1 || right.size() != 1)
    return f.refuse("`convolve` needs two tensors of one dimension");
  Term x = f[0], y = f.call("flip", {f[1], f.integer(0)}), none = f.integer(0);
  Term around = right[0] + f.integer(-1);
  std::optional<int64_t> size = known(around);
  if (mode == "same" && !size)
    return f.refuse("`convolve` with the mode \"same\" needs a second row of a known length");
  if (mode != "valid") {
    Term before = mode == "full" ? around : f.integer(*size - *size / 2);
    Term behind = mode == "full" ? around : f.integer(*size / 2);
    auto zeros = [&](const Term &count) {
      return f.call("zeros", {f.tuple({count})}, {{"dtype", typeOf(x).value}});
    };
    PyValue parts = PyValue::list({zeros(before).value, x.value, zeros(behind).value});
    x = f.call("cat", {{&f, parts}, none});
  }
  auto row = [&](const Term &values) { return unsqueezed(unsqueezed(values, 0), 0); };
  return at(at(f.call("conv1d", {row(x), row(y)}), 0, PyValue::integer(0)), 0, PyValue::integer(0));
}

//===----------------------------------------------------------------------===//
// Products of several
//===----------------------------------------------------------------------===//

static Term chained(Formula &f) {
  Terms factors = f.list(0);
  if (factors.empty())
    return f.refuse(formatted("`{}` needs a matrix at least", f.name));
  Term product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i)
    product = matmul(product, factors[i]);
  return product;
}

/// By squares, as many as the exponent has digits.
static Term matrixPower(Formula &f) {
  int64_t left = f.whole(1, 1);
  Terms sizes = shapeOf(f[0]);
  if (f.failed() || left < 0 || sizes.size() < 2)
    return f.refuse("`matrix_power` needs square matrices and a whole number from 0 on");
  if (left == 0)
    return f.call("broadcast_to",
                  {f.call("to", {f.call("eye", {sizes.back()}), typeOf(f[0])}), f.tuple(sizes)});
  Term square = f[0], product = f.none();
  for (; left > 0 && !f.failed(); left /= 2) {
    if (left % 2)
      product = product.value.isNone() ? square : matmul(product, square);
    if (left > 1)
      square = matmul(square, square);
  }
  return product;
}

/// bilinear(x, y, weight, bias): x W y for each output.
static Term bilinear(Formula &f) {
  Term formula{&f, PyValue::string("...i,oij,...j->...o")};
  Term product = f.call("einsum", {formula, f[0], f[2], f[1]});
  return f.has(3) ? product + f[3] : product;
}

llvm::ArrayRef<FormulaEntry> eval::convolutionFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"conv_transpose1d",
       transposed<1>,
       2,
       {"x", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"}},
      {"conv_transpose2d",
       transposed<2>,
       2,
       {"x", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"}},
      {"conv3d", conv3d, 2, {"x", "weight", "bias", "stride", "padding", "dilation", "groups"}},
      {"convolve", convolve, 2, {"x", "v", "mode"}},
      {"chain_matmul", chained, 1, {"matrices"}, 0},
      {"multi_dot", chained, 1, {"matrices"}, 0},
      {"matrix_power", matrixPower, 2, {"x", "n"}},
      {"bilinear", bilinear, 3, {"x1", "x2", "weight", "bias"}},
  };
  return table;
}
