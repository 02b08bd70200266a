//===- FormulasPictures.cpp - windows, borders and sizes of pictures ---------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;

/// One or two whole numbers, of `low` on, for rows and columns.
static std::array<int64_t, 2> pairOf(Formula &f, size_t i, int64_t otherwise, int64_t low) {
  std::vector<int64_t> given = f.has(i) ? f.wholes(i) : std::vector<int64_t>{otherwise};
  if (given.size() == 1)
    given.push_back(given[0]);
  bool fits = given.size() == 2 && given[0] >= low && given[1] >= low &&
              std::max(given[0], given[1]) <= INT16_MAX;
  if (!fits && !f.failed())
    f.refuse(formatted("`{}` needs one or two whole numbers from {} on, got {}", f.name, low,
                       repr(f[i].value)));
  return fits ? std::array<int64_t, 2>{given[0], given[1]} : std::array<int64_t, 2>{low, low};
}

static size_t rankOfPicture(Formula &f, size_t least) {
  size_t rank = rankOf(f[0]);
  if (!f.failed() && rank < least)
    f.refuse(formatted("`{}` needs a tensor of {} dimensions at least, got {}", f.name, least,
                       repr(f[0].value)));
  return rank;
}

//===----------------------------------------------------------------------===//
// Borders
//===----------------------------------------------------------------------===//

/// What stands in front of a dimension's elements, and behind them.
static Term bordered(const Term &x, size_t axis, int64_t before, int64_t behind,
                     const std::string &mode) {
  Formula &f = *x.in;
  Terms sizes = shapeOf(x);
  if (f.failed() || (before == 0 && behind == 0))
    return x;
  auto number = [&](int64_t i) { return f.integer(i); };
  auto fromEnd = [&](int64_t i) { return sizes[axis] + f.integer(-i); };
  auto turned = [&](const Term &from, const Term &to) {
    return f.call("flip", {part(x, axis, from, to), number(int64_t(axis))});
  };
  auto often = [&](const Term &from, const Term &to, int64_t times) {
    Term one = part(x, axis, from, to);
    if (times == 1)
      return one;
    Terms all = {one};
    for (size_t i = 0; i < sizes.size(); ++i)
      all.push_back(i == axis ? number(times) : sizes[i]);
    return f.call("expand", all);
  };
  Terms parts;
  bool skips = mode == "reflect"; // the last element, which stands there already
  if (before > 0)
    parts.push_back(mode == "circular"    ? part(x, axis, fromEnd(before), sizes[axis])
                    : mode == "replicate" ? often(number(0), number(1), before)
                                          : turned(number(skips), number(before + skips)));
  parts.push_back(x);
  if (behind > 0)
    parts.push_back(mode == "circular"    ? part(x, axis, number(0), number(behind))
                    : mode == "replicate" ? often(fromEnd(1), sizes[axis], behind)
                                          : turned(fromEnd(behind + skips), fromEnd(skips)));
  return joined(f, parts, int64_t(axis));
}

/// pad(x, widths, mode): two widths for each dimension, or, as numbers, from the last one on.
static Term padAround(Formula &f) {
  std::string mode = f.word(2, {"reflect", "replicate", "circular", "symmetric", "edge", "wrap"});
  mode = mode == "edge" ? "replicate" : mode == "wrap" ? "circular" : mode;
  Terms widths = f.list(1);
  size_t rank = rankOf(f[0]);
  Term x = f[0];
  bool arePairs = !widths.empty() && widths[0].value.isSequence();
  std::vector<std::pair<int64_t, int64_t>> pairs(rank);
  std::vector<int64_t> flat;
  for (const Term &term : widths) {
    Terms two = {term};
    if (arePairs && term.value.isSequence()) {
      two.clear();
      for (const PyValue &value : term.value.elements())
        two.push_back({&f, value});
    }
    for (const Term &width : two)
      flat.push_back(known(width).value_or(-1));
  }
  if (f.failed() || flat.size() % 2 || flat.size() > 2 * rank || llvm::is_contained(flat, -1) ||
      (arePairs && flat.size() != 2 * rank))
    return f.refuse(formatted("`pad` needs two widths for a dimension, which are known, got {}",
                              repr(f[1].value)));
  for (size_t i = 0; i < flat.size() / 2; ++i) {
    size_t axis = arePairs ? i : rank - 1 - i;
    x = bordered(x, axis, flat[2 * i], flat[2 * i + 1], mode);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// unfold(x, size, dilation=1, padding=0, stride=1): of (N, C, H, W) the windows, (N, C * KH * KW,
/// L).
static Term windows(Formula &f) {
  auto kernel = pairOf(f, 1, 1, 1), dilation = pairOf(f, 2, 1, 1), padding = pairOf(f, 3, 0, 0),
       stride = pairOf(f, 4, 1, 1);
  constexpr int64_t most = 256; // elements of a window: each is a part of its own
  if (rankOfPicture(f, 4) != 4 || f.failed() || kernel[0] * kernel[1] > most)
    return f.refuse(
        formatted("`unfold` needs a tensor (N, C, H, W) and windows of {} elements at most", most));
  Term zero = f.tuple({f.integer(0), f.integer(0)}), x = f[0];
  auto width = [&](int i) { return f.tuple({f.integer(padding[i]), f.integer(padding[i])}); };
  if (padding[0] || padding[1])
    x = f.call("pad", {x, f.tuple({zero, zero, width(0), width(1)})});
  Terms sizes = shapeOf(x), all;
  for (int64_t row = 0; row < kernel[0]; ++row)
    for (int64_t column = 0; column < kernel[1]; ++column) {
      Term one = x;
      int64_t at[] = {row, column};
      for (int d = 0; d < 2 && !f.failed(); ++d) {
        int64_t from = at[d] * dilation[d], left = (kernel[d] - 1 - at[d]) * dilation[d];
        one = part(one, 2 + d, f.integer(from), sizes[2 + d] + f.integer(-left), stride[d]);
      }
      all.push_back(unsqueezed(one, 2));
    }
  Terms whole = shapeOf(all[0]);
  if (f.failed())
    return f.none();
  Term places = f.integer(kernel[0] * kernel[1]);
  return reshaped(joined(f, all, 2), {whole[0], whole[1] * places, whole[3] * whole[4]});
}

/// lp_pool2d(x, p, size, stride): the p-th root of a window's powers' sum.
static Term powerPool(Formula &f) {
  auto kernel = pairOf(f, 2, 1, 1);
  Terms args = {f.call("pow", {of("abs", f[0]) * 1.0, f[1] * 1.0}), f[2]};
  if (f.has(3))
    args.push_back(f[3]);
  Term sum = f.call("avg_pool2d", args) * double(kernel[0] * kernel[1]);
  return f.call("pow", {sum, f.number(1) / f[1]});
}

/// local_response_norm(x, size, alpha, beta, k): divided by what the channels around it have.
static Term localResponse(Formula &f) {
  int64_t size = f.whole(1, 1);
  size_t rank = rankOfPicture(f, 3);
  Terms sizes = shapeOf(f[0]), widths(rank, f.tuple({f.integer(0), f.integer(0)}));
  if (f.failed() || size < 1 || size > 64)
    return f.refuse("`local_response_norm` needs a size from 1 to 64");
  widths[1] = f.tuple({f.integer(size / 2), f.integer((size - 1) / 2)});
  Term squares = f.call("pad", {f[0] * f[0], f.tuple(widths)}), sum = f.none();
  for (int64_t i = 0; i < size; ++i) {
    Term one = part(squares, 1, f.integer(i), sizes[1] + f.integer(i));
    sum = i == 0 ? one : sum + one;
  }
  Term by = sum * (f.or_(2, 1e-4) / double(size)) + f.or_(4, 1);
  return f[0] / f.call("pow", {by, f.or_(3, 0.75)});
}

//===----------------------------------------------------------------------===//
// Other sizes
//===----------------------------------------------------------------------===//

/// pixel_unshuffle(x, r): of (..., C, H * r, W * r) comes (..., C * r * r, H, W)
static Term pixelUnshuffle(Formula &f) {
  size_t rank = rankOfPicture(f, 3);
  Terms sizes = shapeOf(f[0]);
  if (f.failed())
    return f.none();
  Term by = f[1];
  auto less = [&](const Term &size) { return apply(ast::BinaryOp::FloorDiv, size, by); };
  Term rows = less(sizes[rank - 2]), columns = less(sizes[rank - 1]);
  Terms apart(sizes.begin(), sizes.end() - 2), whole(sizes.begin(), sizes.end() - 3);
  for (const Term &size : {rows, by, columns, by})
    apart.push_back(size);
  for (const Term &size : {sizes[rank - 3] * by * by, rows, columns})
    whole.push_back(size);
  std::vector<int64_t> order;
  for (size_t dim = 0; dim < rank - 2; ++dim)
    order.push_back(int64_t(dim));
  for (int64_t dim : {1, 3, 0, 2})
    order.push_back(int64_t(rank) - 2 + dim);
  return reshaped(permuted(reshaped(f[0], apart), order), whole);
}

/// channel_shuffle(x, groups): the first channel of each group, then the second of each.
static Term channelShuffle(Formula &f) {
  size_t rank = rankOfPicture(f, 3);
  Terms sizes = shapeOf(f[0]);
  if (f.failed())
    return f.none();
  Terms apart = sizes;
  apart[1] = f[1];
  apart.insert(apart.begin() + 2, apply(ast::BinaryOp::FloorDiv, sizes[1], f[1]));
  std::vector<int64_t> order = {0, 2, 1};
  for (size_t dim = 3; dim <= rank; ++dim)
    order.push_back(int64_t(dim));
  return reshaped(permuted(reshaped(f[0], apart), order), sizes);
}

/// So many elements along an axis, on straight lines between those that there are; their middles
/// keep their places, or, by `corners`, those of the first and the last. Where it is known how many
/// times as many, that is exact.
static Term stretched(const Term &x, size_t axis, const Term &count, int64_t times, bool corners) {
  Formula &f = *x.in;
  Terms sizes = shapeOf(x);
  if (f.failed() || times == 1)
    return x;
  Term place = f.call("arange", {count});
  Term middle = times ? (place + 0.5) / double(times) : (place + 0.5) * (sizes[axis] * 1.0 / count);
  middle = larger(middle + -0.5, f.number(0));
  if (corners) {
    Term steps = larger((count + f.integer(-1)) * 1.0, f.number(1));
    middle = place * ((sizes[axis] + f.integer(-1)) * 1.0 / steps);
  }
  Term below = of("floor", middle), share = middle - below;
  Term low = f.call("to", {below, typeOf(place)});
  Term high = smaller(low + f.integer(1), sizes[axis] + f.integer(-1));
  for (size_t dim = axis + 1; dim < sizes.size(); ++dim)
    share = unsqueezed(share, -1);
  Term first = at(x, axis, low.value), second = at(x, axis, high.value);
  return first + (second - first) * share;
}

/// The elements that so many others along an axis lie in.
static Term nearest(const Term &x, size_t axis, const Term &count, int64_t times) {
  Formula &f = *x.in;
  if (times)
    return f.call("repeat_interleave", {x, f.integer(times), f.integer(int64_t(axis))});
  Terms sizes = shapeOf(x);
  if (f.failed())
    return x;
  Term place = f.call("arange", {count});
  return at(x, axis, apply(ast::BinaryOp::FloorDiv, place * sizes[axis], count).value);
}

/// The last dimensions that `interpolate` changes: as many as its mode says, or is told of, and
/// else all behind the first two, as PyTorch has it.
static size_t dimsToScale(Formula &f, const std::string &mode) {
  size_t rank = rankOfPicture(f, 3), given = std::max(f.list(1).size(), f.list(4).size());
  if (mode != "nearest")
    return mode == "linear" ? 1 : 2;
  size_t dims = given > 1 ? given : rank - 2;
  if (!f.failed() && dims + 1 > rank)
    f.refuse(formatted("`{}` of {} has {} dimensions to change at most, and is given {}", f.name,
                       repr(f[0].value), rank - 1, given));
  return dims;
}

/// One for each dimension, of one for all or a list of them.
static Terms eachOf(Formula &f, size_t i, size_t dims) {
  Terms given = f.list(i);
  if (given.size() == 1)
    given.resize(dims, given[0]);
  if (!f.failed() && given.size() != dims)
    f.refuse(formatted("`{}` changes {} dimensions here, got {}", f.name, dims, repr(f[i].value)));
  return given;
}

static bool isCount(const Term &size) {
  bool isFormula =
      size.value.is(PyValue::Kind::Extension) && size.value.asExtension()->typeName() == "size";
  return isFormula || (size.value.is(PyValue::Kind::Int) && known(size).value_or(0) > 0);
}

/// interpolate(x, scale_factor, mode="nearest"), or with `size=`: of (N, C, L), (N, C, H, W) and so
/// on what is behind the first two dimensions.
static Term interpolate(Formula &f) {
  std::string mode = f.word(2, {"nearest", "bilinear", "linear"});
  if (f.has(1) == f.has(4))
    return f.refuse(formatted("`{}` needs `scale_factor` or `size`", f.name));
  bool bySize = f.has(4), corners = f.flag(3, false);
  if (corners && mode == "nearest")
    return f.refuse(
        "`align_corners` of `interpolate` is for the modes \"linear\" and \"bilinear\"");
  size_t dims = dimsToScale(f, mode), rank = rankOf(f[0]);
  Terms wanted = f.failed() ? Terms() : eachOf(f, bySize ? 4 : 1, dims);
  Term x = f[0];
  for (size_t d = 0; d < dims && !f.failed(); ++d) {
    if (!isCount(wanted[d]) || (!bySize && known(wanted[d]).value_or(INT64_MAX) > INT16_MAX))
      return f.refuse(formatted("{} of `{}` is a whole number above 0, got {}",
                                bySize ? "a size" : "`scale_factor`", f.name,
                                repr(wanted[d].value)));
    size_t axis = rank - dims + d;
    Term own = shapeOf(f[0])[axis], count = bySize ? wanted[d] : own * wanted[d];
    std::optional<int64_t> from = known(own), to = known(count);
    int64_t times = from && to && *from && *to % *from == 0 ? *to / *from : 0;
    if (!bySize)
      times = known(wanted[d]).value_or(0);
    x = mode == "nearest" ? nearest(x, axis, count, times)
                          : stretched(x, axis, count, times, corners);
  }
  return f.failed() ? f.none() : x;
}

/// dropout1d and others: whole channels of (N, C, ...) stay or go.
static Term dropChannels(Formula &f) {
  size_t rank = rankOfPicture(f, 2);
  Term one = f[0];
  for (size_t dim = 2; dim < rank; ++dim)
    one = part(one, dim, f.integer(0), f.integer(1));
  if (f.has(2) && !f.flag(2, true))
    return f[0];
  Terms args = {of("ones_like", one), f.or_(1, 0.5)};
  if (f.has(3))
    args.push_back(f[3]);
  return f[0] * f.call("dropout", args);
}

llvm::ArrayRef<FormulaEntry> eval::pictureFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"pad_around", padAround, 2, {"x", "pad", "mode"}},
      {"unfold", windows, 2, {"x", "kernel_size", "dilation", "padding", "stride"}},
      {"lp_pool2d", powerPool, 3, {"x", "norm_type", "kernel_size", "stride"}},
      {"local_response_norm", localResponse, 2, {"x", "shape", "alpha", "beta", "k"}},
      {"pixel_unshuffle", pixelUnshuffle, 2, {"x", "factor"}},
      {"channel_shuffle", channelShuffle, 2, {"x", "groups"}},
      {"interpolate", interpolate, 1, {"x", "scale_factor", "mode", "align_corners", "shape"}},
      {"upsample_nearest2d",
       interpolate,
       1,
       {"x", "scale_factor", "mode", "align_corners", "shape"}},
      {"dropout1d", dropChannels, 1, {"x", "p", "training", "seed"}},
      {"dropout2d", dropChannels, 1, {"x", "p", "training", "seed"}},
      {"dropout3d", dropChannels, 1, {"x", "p", "training", "seed"}},
  };
  return table;
}
