//===- FormulasNorms.cpp - lengths, norms of layers, and pools --------------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::eval;

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// (sum |x|^p)^(1/p), and what that comes to at its ends.
static Term lengthOf(Formula &f, const Term &x, const Term &p, const Term &axis,
                     const Term &keepdim) {
  std::optional<double> power = p.value.toDouble();
  if (p.value.isNone() || (p.value.isStr() && p.value.asStr() == "fro"))
    power = 2;
  if (!power)
    return f.refuse(formatted("the power of `{}` is a number, got {}", f.name, repr(p.value)));
  if (*power == 2)
    return lengthOfPowers(f.reduce("sum", x * x, axis, keepdim), 0.5);
  Term size = of("abs", x);
  if (std::isinf(*power))
    return f.reduce(*power > 0 ? "max" : "min", size, axis, keepdim);
  if (*power == 1)
    return f.reduce("sum", size, axis, keepdim);
  if (*power == 0)
    return f.reduce("sum", where(size > 0, f.number(1), f.number(0)), axis, keepdim);
  Term powers = f.call("pow", {size, f.number(*power)});
  return lengthOfPowers(f.reduce("sum", powers, axis, keepdim), 1 / *power);
}

static Term norm(Formula &f) { return lengthOf(f, f[0], f[1], f[2], f[3]); }
static Term distance(Formula &f) {
  Term apart = f[0] - f[1] + f.or_(3, 1e-6);
  return lengthOf(f, apart, f[2], f.integer(-1), f.boolean(f.flag(4, false)));
}

/// What a length is divided by: never 0.
static Term least(Formula &f, const Term &x, const Term &p, const Term &axis, double epsilon) {
  return larger(lengthOf(f, x, p, axis, f.boolean(true)), f.number(epsilon));
}
static Term normalize(Formula &f) {
  return f[0] / least(f, f[0], f[1], f.has(2) ? f[2] : f.integer(1), 1e-12);
}
static Term cosineSimilarity(Formula &f) {
  Term along = f.has(2) ? f[2] : f.integer(1);
  Term two = f.integer(2);
  Term x = f[0] / least(f, f[0], two, along, 1e-8), y = f[1] / least(f, f[1], two, along, 1e-8);
  return f.reduce("sum", x * y, along, f.boolean(false));
}

template <bool squareRoot> static Term spreadAndMean(Formula &f) {
  Term spread = f.call(squareRoot ? "std" : "var", {f[0]},
                       {{"axis", f[1].value},
                        {"keepdim", f.boolean(f.flag(2, false)).value},
                        {"correction", f.or_(3, 0).value}});
  return f.tuple({spread, f.reduce("mean", f[0], f[1], f.boolean(f.flag(2, false)))});
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static Term scaled(Term x, const Term &weight, const Term &bias) {
  if (!weight.value.isNone())
    x = x * weight;
  return bias.value.isNone() ? x : x + bias;
}

/// One number a channel, dimension 1 of `rank`; None stays.
static Term ofChannels(Term x, size_t rank) {
  for (size_t dim = 2; dim < rank && !x.value.isNone(); ++dim)
    x = unsqueezed(x, -1);
  return x;
}

static Term normalizedFrom(Formula &f, const Term &x, size_t first, const Term &eps) {
  Terms axes;
  for (size_t dim = first, rank = rankOf(x); dim < rank; ++dim)
    axes.push_back(f.integer(dim));
  return f.call("layer_norm", {x}, {{"eps", eps.value}, {"axis", f.tuple(axes).value}});
}

/// group_norm(x, num_groups, weight=None, bias=None, eps=1e-5): of x (N, C, ...)
static Term groupNorm(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  if (sizes.size() < 2)
    return f.refuse("`group_norm` needs a tensor (N, C, ...)");
  Term groups = f[1], each = apply(ast::BinaryOp::FloorDiv, sizes[1], groups);
  Terms split = {sizes[0], groups, each};
  split.insert(split.end(), sizes.begin() + 2, sizes.end());
  auto ofGroups = [&](const Term &x) {
    Terms shape(split.size(), f.integer(1));
    shape.erase(shape.begin());
    shape[0] = groups;
    shape[1] = each;
    return x.value.isNone() ? x : reshaped(x, shape);
  };
  Term x = normalizedFrom(f, reshaped(f[0], split), 2, f.or_(4, 1e-5));
  return reshaped(scaled(x, ofGroups(f[2]), ofGroups(f[3])), sizes);
}

static Term instanceNorm(Formula &f) {
  size_t rank = rankOf(f[0]);
  if (rank < 3)
    return f.refuse("`instance_norm` needs a tensor (N, C, ...)");
  return scaled(normalizedFrom(f, f[0], 2, f.or_(3, 1e-5)), ofChannels(f[1], rank),
                ofChannels(f[2], rank));
}

/// By means and variances that are known, as after training; while training by those of the batch.
static Term batchNorm(Formula &f) {
  size_t rank = rankOf(f[0]);
  bool trains = f.flag(5, false);
  if (trains && (f.has(1) || f.has(2)))
    return f.refuse(
        "`batch_norm` with `training=True` takes the mean and the variance of the batch, "
        "and changes none that run: give None for them, and write what becomes of those, "
        "such as `mean.lerp_(x.mean((0, 2, 3)), 0.1)`");
  if (!f.failed() && !trains && !(f.has(1) && f.has(2)))
    return f.refuse(
        "`batch_norm` needs means and variances, or `training=True`, which takes those of "
        "the batch");
  Term mean = ofChannels(f[1], rank), spread = ofChannels(f[2], rank);
  if (trains) {
    Terms axes = {f.integer(0)};
    for (size_t dim = 2; dim < rank; ++dim)
      axes.push_back(f.integer(int64_t(dim)));
    mean = f.reduce("mean", f[0], f.tuple(axes), f.boolean(true));
    spread = f.reduce("var", f[0], f.tuple(axes), f.boolean(true));
  }
  Term x = (f[0] - mean) * of("rsqrt", spread + f.or_(7, 1e-5));
  return scaled(x, ofChannels(f[3], rank), ofChannels(f[4], rank));
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// Windows of more elements are not written out.
static constexpr int64_t kMostPlaces = 64;

namespace {
/// The windows of a pool along the last dimensions.
struct Windows {
  std::vector<int64_t> kernel, stride, padding;
};
} // namespace

static std::vector<int64_t> ofEach(Formula &f, size_t i, std::vector<int64_t> otherwise, size_t n,
                                   int64_t low) {
  std::vector<int64_t> given = f.has(i) ? f.wholes(i) : std::move(otherwise);
  if (given.size() == 1)
    given.resize(n, given[0]);
  bool fits = given.size() == n;
  for (int64_t number : given)
    fits = fits && number >= low && number <= INT16_MAX;
  if (!fits)
    f.refuse(formatted("`{}` needs {} of {} on for its windows, got {}", f.name,
                       n == 1 ? "a whole number" : "one or two whole numbers", low,
                       repr(f[i].value)));
  return given;
}

/// How many elements of each window are none of the padding.
static Term placesThere(const Term &pooled, const Terms &sizes, const Windows &w) {
  Formula &f = *pooled.in;
  Terms own = shapeOf(pooled);
  Term count = f.number(1);
  size_t rank = own.size(), dims = w.kernel.size();
  for (size_t d = 0; d < dims && !f.failed(); ++d) {
    size_t axis = rank - dims + d;
    Term from =
        placesAlong(own[axis], axis, rank) * f.integer(w.stride[d]) + f.integer(-w.padding[d]);
    Term to = smaller(from + f.integer(w.kernel[d]), sizes[axis]);
    count = count * (to - larger(from, f.integer(0)));
  }
  return count;
}

/// What is not supported of `max_pool2d(..., dilation, ceil_mode, return_indices)`, or of
/// `avg_pool2d(..., ceil_mode, count_include_pad)`.
static bool isPlainPool(Formula &f, bool isMaximum) {
  if (isMaximum && f.whole(4, 1) != 1)
    f.refuse(formatted("`{}` has windows without gaps: `dilation` is 1", f.name));
  if (f.flag(isMaximum ? 5 : 4, false))
    f.refuse(formatted("`{}` rounds the number of windows down: `ceil_mode` is False; pad behind "
                       "the ends for more",
                       f.name));
  if (isMaximum && f.flag(6, false))
    f.refuse(formatted("`{}` gives values only: `return_indices` is False", f.name));
  return !f.failed();
}

/// Each element of a window, all windows side by side, combined with the next.
template <size_t dims, bool isMaximum> static Term pool(Formula &f) {
  Term x = f[0];
  Terms sizes = shapeOf(x);
  Windows w;
  w.kernel = ofEach(f, 1, {}, dims, 1);
  if (f.failed() || sizes.size() < dims)
    return f.refuse(formatted("`{}` needs a tensor of {} dimensions at least", f.name, dims));
  w.stride = ofEach(f, 2, w.kernel, dims, 1);
  w.padding = ofEach(f, 3, {0}, dims, 0);
  if (!isPlainPool(f, isMaximum))
    return f.none();
  size_t first = sizes.size() - dims;
  int64_t places = 1;
  Terms widths;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    Term width = f.integer(dim < first ? 0 : w.padding[dim - first]);
    widths.push_back(f.tuple({width, width}));
  }
  for (int64_t size : w.kernel)
    places *= size;
  if (places > kMostPlaces)
    return f.refuse(
        formatted("a window of `{}` has {} elements at most, got {}", f.name, kMostPlaces, places));
  if (llvm::any_of(w.padding, [](int64_t width) { return width > 0; }))
    x = f.call("pad", {x, f.tuple(widths), f.number(isMaximum ? -HUGE_VAL : 0)});
  Term all = f.none();
  for (int64_t place = 0; place < places; ++place) {
    Term one = x;
    int64_t rest = place;
    for (size_t d = dims; d-- > 0; rest /= w.kernel[d]) {
      int64_t from = rest % w.kernel[d];
      Term last = sizes[first + d] + f.integer(2 * w.padding[d] - w.kernel[d] + 1 + from);
      one = part(one, first + d, f.integer(from), last, w.stride[d]);
    }
    all = all.value.isNone() ? one : isMaximum ? larger(all, one) : all + one;
  }
  if (isMaximum)
    return all;
  return f.flag(5, true) ? all / double(places) : all / placesThere(all, sizes, w);
}

/// adaptive_avg_pool2d(x, output_size): as many windows of one size.
template <bool isMaximum> static Term adaptivePool(Formula &f) {
  llvm::StringRef how = isMaximum ? "max" : "mean";
  Terms sizes = shapeOf(f[0]);
  std::vector<int64_t> counts = ofEach(f, 1, {1}, 2, 1);
  if (f.failed() || sizes.size() < 2)
    return f.refuse(formatted("`{}` needs a tensor (..., H, W)", f.name));
  size_t rank = sizes.size();
  if (counts[0] == 1 && counts[1] == 1)
    return f.reduce(how, f[0], f.tuple({f.integer(-2), f.integer(-1)}), f.boolean(true));
  Terms split(sizes.begin(), sizes.end() - 2);
  for (size_t d = 0; d < 2; ++d) {
    split.push_back(f.integer(counts[d]));
    split.push_back(apply(ast::BinaryOp::FloorDiv, sizes[rank - 2 + d], f.integer(counts[d])));
  }
  return f.reduce(how, reshaped(f[0], split), f.tuple({f.integer(-3), f.integer(-1)}),
                  f.boolean(false));
}

/// adaptive_avg_pool1d(x, output_size): of a picture of one row.
template <bool isMaximum> static Term adaptivePoolOfRows(Formula &f) {
  Term size = f.tuple({f.integer(1), f.list(1).empty() ? f.integer(1) : f.list(1)[0]});
  Term row = f.call(isMaximum ? "adaptive_max_pool2d" : "adaptive_avg_pool2d",
                    {unsqueezed(f[0], -2), size});
  return f.call("squeeze", {row, f.integer(-2)});
}

/// conv1d: a picture of one row.
static Term conv1d(Formula &f) {
  auto along = [&](size_t i, int64_t otherwise, int64_t row) {
    std::vector<int64_t> given = ofEach(f, i, {otherwise}, 1, i == 4 ? 0 : 1);
    return f.tuple({f.integer(row), f.integer(f.failed() ? row : given[0])});
  };
  bool isWord = f.has(4) && f[4].value.isStr(); // "same"
  Term stride = along(3, 1, 1), dilation = along(5, 1, 1);
  Term padding = isWord ? f[4] : along(4, 0, 0);
  Term groups = f.has(6) ? f[6] : f.integer(1);
  Terms args = {
      unsqueezed(f[0], -2), unsqueezed(f[1], -2), f[2], stride, padding, dilation, groups};
  return f.call("squeeze", {f.call("conv2d", args), f.integer(-2)});
}

llvm::ArrayRef<FormulaEntry> eval::normFormulas() {
  const std::vector<llvm::StringRef> maximumPool = {
      "x", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices"};
  const std::vector<llvm::StringRef> meanPool = {"x",       "kernel_size", "stride",
                                                 "padding", "ceil_mode",   "count_include_pad"};
  static const std::vector<FormulaEntry> table = {
      {"norm", norm, 1, {"x", "p", "axis", "keepdim"}},
      {"vector_norm", norm, 1, {"x", "p", "axis", "keepdim"}},
      {"pairwise_distance", distance, 2, {"x", "y", "p", "eps", "keepdim"}},
      {"normalize", normalize, 1, {"x", "p", "axis"}},
      {"cosine_similarity", cosineSimilarity, 2, {"x", "y", "axis"}},
      {"var_mean", spreadAndMean<false>, 1, {"x", "axis", "keepdim", "correction"}},
      {"std_mean", spreadAndMean<true>, 1, {"x", "axis", "keepdim", "correction"}},
      {"group_norm", groupNorm, 2, {"x", "num_groups", "weight", "bias", "eps"}},
      {"instance_norm", instanceNorm, 1, {"x", "weight", "bias", "eps"}},
      {"batch_norm",
       batchNorm,
       1,
       {"x", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"}},
      {"max_pool1d", pool<1, true>, 2, maximumPool},
      {"max_pool2d", pool<2, true>, 2, maximumPool},
      {"avg_pool1d", pool<1, false>, 2, meanPool},
      {"avg_pool2d", pool<2, false>, 2, meanPool},
      {"conv1d", conv1d, 2, {"x", "weight", "bias", "stride", "padding", "dilation", "groups"}},
      {"adaptive_avg_pool1d", adaptivePoolOfRows<false>, 2, {"x", "output_size"}},
      {"adaptive_max_pool1d", adaptivePoolOfRows<true>, 2, {"x", "output_size"}},
      {"adaptive_avg_pool2d", adaptivePool<false>, 2, {"x", "output_size"}},
      {"adaptive_max_pool2d", adaptivePool<true>, 2, {"x", "output_size"}},
  };
  return table;
}
