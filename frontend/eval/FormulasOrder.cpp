//===- FormulasOrder.cpp - what is in order ---------------------------------===//
//
// The place of an element among the others is how many stand before it, which is counted: of rows
// of N elements N * N are compared, and nothing of that is stored.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;

/// How many stand before each element along an axis; of equal ones in their order, NaN behind all
/// others.
static Term placesOf(const Term &x, size_t axis, bool descending) {
  Terms sizes = shapeOf(x);
  if (x.in->failed())
    return x.in->none();
  if (x.in->computes()) { // the host sorts; positions in order are a permutation, places its
                          // inverse
    Terms args = {x, x.in->integer(int64_t(axis)), x.in->boolean(descending)};
    return x.in->call("argsort", {x.in->call("argsort", args), args[1]});
  }
  size_t rank = sizes.size() + 1;
  // Each element along `axis`, and all that it is compared with along the next dimension.
  Term one = unsqueezed(x, int64_t(axis) + 1), others = unsqueezed(x, int64_t(axis));
  Term isEarlier = placesAlong(sizes[axis], axis + 1, rank) < placesAlong(sizes[axis], axis, rank);
  Term isBefore = descending ? others > one : others < one, isEqual = same(others, one);
  if (isFloat(x)) {
    Term noneHere = of("isnan", one), noneThere = of("isnan", others);
    Term last = descending ? noneThere : noneHere, first = descending ? noneHere : noneThere;
    isBefore = isBefore | (last & of("logical_not", first));
    isEqual = isEqual | (noneHere & noneThere);
  }
  Term counts = where(isBefore | (isEqual & isEarlier), x.in->integer(1), x.in->integer(0));
  return x.in->reduce("sum", counts, axis + 1);
}

/// What lies along the dimension behind `axis`, in the order of the places there.
static Term inOrder(const Term &x, const Term &places, const Term &size, size_t axis) {
  Term wanted = placesAlong(size, axis, rankOf(places) + 1);
  Term isIt = same(unsqueezed(places, int64_t(axis)), wanted);
  return x.in->reduce("sum", where(isIt, x, x.in->integer(0)), axis + 1);
}

template <bool positions> static Term sorted(Formula &f) {
  Term x = f[0];
  Terms sizes = shapeOf(x);
  size_t rank = sizes.size(), axis = f.axis(1, -1, rank);
  if (f.failed())
    return f.none();
  Term places = placesOf(x, axis, f.flag(2, false));
  if (positions)
    return inOrder(placesAlong(sizes[axis], axis + 1, rank + 1), places, sizes[axis], axis);
  Term values = inOrder(unsqueezed(x, int64_t(axis)), places, sizes[axis], axis);
  return asType(values, x);
}

/// What argument `i` says, or all of the tensor as one dimension, which is the axis then.
static Term alongAxis(Formula &f, size_t i, size_t &axis) {
  if (!f.has(i)) {
    axis = 0;
    return reshaped(f[0], {productOf(f, shapeOf(f[0]))});
  }
  axis = f.axis(i, -1, rankOf(f[0]));
  return f[0];
}

/// Places are counted in 64 bits.
static Term asPlace(const Term &x) {
  return x.in->call("to", {x, {x.in, PyValue::dtype(DType::Kind::Int64)}});
}

/// Where an element's place answers a question, one a row.
static Term chosen(Formula &f, const Term &x, const Term &isIt, size_t axis, bool keepdim) {
  return asType(f.reduce("sum", where(isIt, x, f.integer(0)), axis, keepdim), x);
}

/// Whether an element is the middle one, of an even number the lower of the two.
static Term isMedian(const Term &x, size_t axis) {
  Terms sizes = shapeOf(x);
  if (x.in->failed())
    return x.in->none();
  Term twice = placesOf(x, axis, false) * x.in->integer(2);
  return (twice < sizes[axis]) & (twice + x.in->integer(3) > sizes[axis]);
}

/// A NaN if there is one.
static Term median(Formula &f) {
  size_t axis;
  Term x = alongAxis(f, 1, axis);
  bool keepdim = f.has(1) && f.flag(2, false);
  Term isMiddle = isMedian(x, axis);
  if (f.failed())
    return f.none();
  Term value = chosen(f, x, isMiddle, axis, keepdim);
  if (!isFloat(x))
    return value;
  Term isNone = f.reduce("any", of("isnan", x), f.integer(axis), f.boolean(keepdim));
  return where(isNone, f.number(__builtin_nan("")), value);
}

/// Of a NaN the first.
static Term placeOfMedian(Formula &f) {
  size_t axis = f.axis(1, -1, rankOf(f[0]));
  Terms sizes = shapeOf(f[0]);
  Term isIt = isMedian(f[0], axis);
  if (f.failed())
    return f.none();
  if (isFloat(f[0])) {
    Term isNone = of("isnan", f[0]);
    isIt = where(f.reduce("any", isNone, int64_t(axis), /*keepdim=*/true), isNone, isIt);
  }
  Term place = where(isIt, placesAlong(sizes[axis], axis, sizes.size()), sizes[axis]);
  return asPlace(f.reduce("min", place, int64_t(axis), f.flag(2, false)));
}

/// Whether an element is the k-th from below.
static Term isKth(Formula &f, size_t axis) {
  int64_t k = f.whole(1, 1);
  if (k < 1)
    return f.refuse(formatted("`kthvalue` counts from 1, got {}", k));
  return f.failed() ? f.none() : same(placesOf(f[0], axis, false), k - 1);
}
static Term kthValue(Formula &f) {
  size_t axis = f.axis(2, -1, rankOf(f[0]));
  Term isIt = isKth(f, axis);
  return f.failed() ? f.none() : chosen(f, f[0], isIt, axis, f.flag(3, false));
}
static Term placeOfKth(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t axis = f.axis(2, -1, sizes.size());
  Term isIt = isKth(f, axis);
  if (f.failed())
    return f.none();
  Term place = where(isIt, placesAlong(sizes[axis], axis, sizes.size()), f.integer(0));
  return asPlace(f.reduce("sum", place, int64_t(axis), f.flag(3, false)));
}

/// Where the greatest, or the least, so far is: of equal ones the last, as PyTorch has it.
template <bool wantMax> static Term placesSoFar(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t axis = f.axis(1, -1, sizes.size());
  if (f.failed())
    return f.none();
  Term along = f.integer(int64_t(axis));
  Term isIt = same(f[0], f.call(wantMax ? "cummax" : "cummin", {f[0], along}));
  if (isFloat(f[0]))
    isIt = isIt | of("isnan", f[0]);
  Term place = where(isIt, placesAlong(sizes[axis], axis, sizes.size()), f.integer(0));
  return asPlace(f.call("cummax", {place, along}));
}

/// Between the two elements around q * (N - 1), by how near it is to each.
static Term quantile(Formula &f) {
  size_t axis;
  Term x = alongAxis(f, 2, axis);
  Terms sizes = shapeOf(x);
  std::optional<double> q = f.failed() ? std::nullopt : f[1].value.toDouble();
  if (!q || *q < 0 || *q > 1)
    return f.refuse(formatted("`quantile` needs a number from 0 to 1, got {}", repr(f[1].value)));
  bool keepdim = f.has(2) && f.flag(3, false);
  std::string how = f.word(4, {"linear", "lower", "higher", "nearest", "midpoint"});
  Term place = placesOf(x, axis, false), wanted = (sizes[axis] + f.integer(-1)) * f.number(*q);
  auto at = [&](llvm::StringRef round) {
    return chosen(f, x, same(place, of(round, wanted)), axis, keepdim);
  };
  if (how == "nearest" || how == "lower" || how == "higher")
    return at(how == "nearest" ? "round" : how == "lower" ? "floor" : "ceil");
  Term lower = at("floor"), upper = at("ceil");
  Term share = how == "midpoint" ? f.number(0.5) : wanted - of("floor", wanted);
  return lower + (upper - lower) * share;
}

/// How many of the sorted are less than each value, or with `right` not greater.
static Term searched(Formula &f, const Term &sorted, const Term &values, bool right) {
  Term row = unsqueezed(sorted, -2), column = unsqueezed(values, -1);
  if (rankOf(sorted) == 1)
    row = sorted;
  Term isBefore = right ? row <= column : row < column;
  return f.reduce("sum", where(isBefore, f.integer(1), f.integer(0)), int64_t(-1));
}
static Term searchSorted(Formula &f) {
  bool right = f.word(3, {"left", "right"}) == "right" || f.flag(2, false);
  return searched(f, f[0], f[1], right);
}
static Term bucketize(Formula &f) { return searched(f, f[1], f[0], f.flag(2, false)); }

llvm::ArrayRef<FormulaEntry> eval::orderFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"sort", sorted<false>, 1, {"x", "axis", "descending", "stable"}}, // it always is
      {"argsort", sorted<true>, 1, {"x", "axis", "descending", "stable"}},
      {"median", median, 1, {"x", "axis", "keepdim"}},
      {"place_of_median", placeOfMedian, 1, {"x", "axis", "keepdim"}},
      {"kthvalue", kthValue, 2, {"x", "k", "axis", "keepdim"}},
      {"place_of_kthvalue", placeOfKth, 2, {"x", "k", "axis", "keepdim"}},
      {"places_of_cummax", placesSoFar<true>, 2, {"x", "axis"}},
      {"places_of_cummin", placesSoFar<false>, 2, {"x", "axis"}},
      {"quantile", quantile, 2, {"x", "q", "axis", "keepdim", "interpolation"}},
      {"searchsorted", searchSorted, 2, {"x", "values", "right", "side"}},
      {"bucketize", bucketize, 2, {"x", "boundaries", "right"}},
  };
  return table;
}
