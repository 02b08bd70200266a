//===- FormulasStatistics.cpp - what is said of many numbers by one ---------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"
#include <limits>

using namespace tile;
using namespace tile::eval;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Without what is no number
//===----------------------------------------------------------------------===//

static Term reducedAs(Formula &f, llvm::StringRef how, const Term &x) {
  return f.reduce(how, x, f[1], f.boolean(f.flag(2, false)));
}
/// A NaN is as if it were `otherwise`, which changes nothing.
static Term without(Formula &f, double otherwise) {
  return isFloat(f[0]) ? where(of("isnan", f[0]), f.number(otherwise), f[0]) : f[0];
}
/// Of nothing but NaN the extremum is one.
template <bool wantMax> static Term nanExtremum(Formula &f) {
  if (!isFloat(f[0]))
    return reducedAs(f, wantMax ? "max" : "min", f[0]);
  Term best = reducedAs(f, wantMax ? "max" : "min", without(f, wantMax ? -kInfinity : kInfinity));
  Term isNone = reducedAs(f, "all", of("isnan", f[0]));
  return where(isNone, f.number(std::numeric_limits<double>::quiet_NaN()), best);
}
template <bool wantMax> static Term nanPlace(Formula &f) {
  return reducedAs(f, wantMax ? "argmax" : "argmin", without(f, wantMax ? -kInfinity : kInfinity));
}
static Term nanProduct(Formula &f) { return reducedAs(f, "prod", without(f, 1)); }
static Term nanSums(Formula &f) { return f.call("cumsum", {without(f, 0), f[1]}); }

template <bool squareRoot> static Term nanSpread(Formula &f) {
  Term isThere = of("logical_not", of("isnan", f[0]));
  Term keeps = f.boolean(true), ones = where(isThere, f.number(1), f.number(0));
  Term mean = f.reduce("sum", without(f, 0), f[1], keeps) / f.reduce("sum", ones, f[1], keeps);
  Term off = where(isThere, f[0] - mean, f.number(0));
  Term spread = reducedAs(f, "sum", off * off) / (reducedAs(f, "sum", ones) - f.or_(3, 0));
  return squareRoot ? lengthOfPowers(spread, 0.5) : spread;
}

//===----------------------------------------------------------------------===//
// How two tensors differ
//===----------------------------------------------------------------------===//

static Term distance(Formula &f) { return f.call("norm", {f[0] - f[1], f.or_(2, 2)}); }
static Term allClose(Formula &f) {
  return of("all", f.call("isclose", {f[0], f[1], f.or_(2, 1e-5), f.or_(3, 1e-8)}));
}
static Term allEqual(Formula &f) { return of("all", same(f[0], f[1])); }
/// Of matrices: the root of all squares.
static Term matrixNorm(Formula &f) {
  (void)f.word(1, {"fro"});
  Term last = f.tuple({f.integer(-2), f.integer(-1)});
  return lengthOfPowers(f.reduce("sum", f[0] * f[0], last, f.boolean(f.flag(2, false))), 0.5);
}
/// renorm(x, p, axis, maxnorm): what lies at one place of the axis is that long at most.
static Term renorm(Formula &f) {
  size_t rank = rankOf(f[0]), axis = f.axis(2, 0, rank);
  Terms others;
  for (size_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      others.push_back(f.integer(int64_t(dim)));
  Term length = f.call("norm", {f[0], f[1], f.tuple(others), f.boolean(true)});
  return where(length > f[3], f[0] * (f[3] / (length + 1e-7)), f[0]);
}

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

static Term percentile(Formula &f) {
  return f.call("quantile", {f[0], f[1] / 100, f[2], f.boolean(f.flag(3, false))});
}
static Term sortedRows(Formula &f) { return f.call("sort", {f[0], f.integer(0)}); }
/// All in order is in order around one place, too.
template <bool places> static Term partitioned(Formula &f) {
  return f.call(places ? "argsort" : "sort", {f[0], f.has(2) ? f[2] : f.integer(-1)});
}
static Term firstDifferences(Formula &f) {
  Term row = f.call("ravel", {f[0]});
  return f.call("diff", {row});
}
/// Sums of trapezoids so far.
static Term trapezoids(Formula &f) {
  size_t axis = f.axis(3, -1, rankOf(f[0]));
  if (f.failed())
    return f.none();
  return f.call("cumsum", {trapezoidAreas(f, axis), f.integer(int64_t(axis))});
}
/// gradient(x, spacing=1, axis=-1): halves of what the neighbours differ by, at the ends the whole
/// to the one that there is.
static Term gradient(Formula &f) {
  size_t axis = f.axis(2, -1, rankOf(f[0]));
  if (f.failed())
    return f.none();
  Terms sizes = shapeOf(f[0]);
  auto slice = [&](const Term &from, const Term &to) { return part(f[0], axis, from, to); };
  auto number = [&](int64_t i) { return f.integer(i); };
  auto fromEnd = [&](int64_t i) { return sizes[axis] + f.integer(-i); };
  Term first = slice(number(1), number(2)) - slice(number(0), number(1));
  Term middle = (slice(number(2), sizes[axis]) - slice(number(0), fromEnd(2))) * 0.5;
  Term last = slice(fromEnd(1), sizes[axis]) - slice(fromEnd(2), fromEnd(1));
  Term parts{&f, PyValue::list({first.value, middle.value, last.value})};
  return f.call("cat", {parts, number(int64_t(axis))}) / f.or_(1, 1);
}

//===----------------------------------------------------------------------===//
// Counts and tables
//===----------------------------------------------------------------------===//

/// histc(x, bins, min, max): how many are in each of so many parts of one width, the last one's
/// end among them.
static Term histogram(Formula &f) {
  Term count = f.integer(f.whole(1, 100)), bins = count * 1.0, low = f[2], high = f[3];
  Term row = f.call("ravel", {f[0]});
  Term place = of("floor", (row - low) * (bins / (high - low)));
  place = where(same(row, high), bins + -1.0, place);
  Term isThere = of("logical_not", (row < low) | (row > high));
  Term hits = same(place, placesAlong(count, 0, 2) * 1.0) & isThere;
  return f.reduce("sum", where(hits, f.number(1), f.number(0)), int64_t(1));
}
/// digitize(x, bins, right=False): the number of the part that each is in, as NumPy counts.
static Term digitize(Formula &f) {
  return f.call("bucketize", {f[0], f[1], f.boolean(!f.flag(2, false))});
}
/// interp(x, xp, fp): on straight lines between the points.
static Term interpolated(Formula &f) {
  Terms sizes = shapeOf(f[1]);
  if (f.failed() || sizes.size() != 1)
    return f.refuse("`interp` needs points along one dimension");
  Term place = f.call("searchsorted", {f[1], f[0], f.boolean(true)});
  Term upper = f.call("clamp", {place, f.integer(1), sizes[0] + f.integer(-1)});
  Term lower = upper - f.integer(1);
  auto taken = [&](size_t i, const Term &index) { return f.call("take", {f[i], index}); };
  Term left = taken(1, lower), right = taken(1, upper);
  Term part = f.call("clamp", {(f[0] - left) / (right - left), f.number(0), f.number(1)});
  return taken(2, lower) + (taken(2, upper) - taken(2, lower)) * part;
}

llvm::ArrayRef<FormulaEntry> eval::statisticFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"nanmax", nanExtremum<true>, 1, {"x", "axis", "keepdim"}},
      {"nanmin", nanExtremum<false>, 1, {"x", "axis", "keepdim"}},
      {"nanargmax", nanPlace<true>, 1, {"x", "axis", "keepdim"}},
      {"nanargmin", nanPlace<false>, 1, {"x", "axis", "keepdim"}},
      {"nanprod", nanProduct, 1, {"x", "axis", "keepdim"}},
      {"nancumsum", nanSums, 2, {"x", "axis"}},
      {"nanvar", nanSpread<false>, 1, {"x", "axis", "keepdim", "correction"}},
      {"nanstd", nanSpread<true>, 1, {"x", "axis", "keepdim", "correction"}},
      {"dist", distance, 2, {"x", "y", "p"}},
      {"allclose", allClose, 2, {"x", "y", "rtol", "atol"}},
      {"array_equal", allEqual, 2, {"x", "y"}},
      {"matrix_norm", matrixNorm, 1, {"x", "p", "keepdim"}},
      {"renorm", renorm, 4, {"x", "p", "axis", "maxnorm"}},
      {"percentile", percentile, 2, {"x", "q", "axis", "keepdim"}},
      {"msort", sortedRows, 1, {"x"}},
      {"partition", partitioned<false>, 2, {"x", "kth", "axis"}},
      {"argpartition", partitioned<true>, 2, {"x", "kth", "axis"}},
      {"ediff1d", firstDifferences, 1, {"x"}},
      {"cumulative_trapezoid", trapezoids, 1, {"y", "x", "dx", "axis"}},
      {"gradient", gradient, 1, {"x", "spacing", "axis"}},
      {"histc", histogram, 4, {"x", "bins", "lo", "hi"}},
      {"digitize", digitize, 2, {"x", "bins", "right"}},
      {"interp", interpolated, 3, {"x", "xp", "fp"}},
  };
  return table;
}
