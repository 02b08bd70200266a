//===- FormulasOrder.cpp - what is in order ---------------------------------===//
//
// Rows are put in order by a kernel of the library, which says where their elements are; what
// stands at some place is taken from there. Of few elements, whose number is known, the place of
// each among the others is how many stand before it, which is counted: N * N are compared, and
// nothing of that is stored or is a kernel of its own.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;

/// Elements of a row that are compared with each other, at most.
static constexpr int64_t kFewOrdered = 16;

static bool isDouble(const Term &x) {
  PyValue type = typeOf(x).value;
  return type.is(PyValue::Kind::DType) && type.asDType().kind() == DType::Kind::Float64;
}

/// Whether a kernel orders rows: it does not know elements of 64 bits that are no whole numbers.
static bool isOrderedByKernel(const Term &x, size_t axis) {
  if (x.in->failed() || x.in->computes())
    return false;
  Terms sizes = shapeOf(x);
  std::optional<int64_t> count = sizes[axis].value.toInt64();
  return !(count && *count <= kFewOrdered) && !isDouble(x);
}

/// Where the elements along an axis are, in order; stable.
static Term orderOf(const Term &x, size_t axis, bool descending) {
  return x.in->call("ordered_places", {x, x.in->integer(int64_t(axis)), x.in->boolean(descending)});
}

/// The elements of `x` at such places.
static Term takenAlong(const Term &x, const Term &places, size_t axis) {
  return x.in->call("take_along_dim", {x, places, x.in->integer(int64_t(axis))});
}

/// Where the element at a place of the order is, one a row; the axis stays, of size 1.
static Term placeInOrder(const Term &order, const Term &place, size_t axis) {
  if (place.value.isNumber())
    return part(order, axis, place, place + place.in->integer(1));
  Term index = place; // a number that is computed of a size
  for (size_t i = 0, rank = rankOf(order); i < rank; ++i)
    index = unsqueezed(index, 0);
  return takenAlong(order, index, axis);
}

/// Without the axis, of size 1, unless it is kept.
static Term squeezed(const Term &x, size_t axis, bool keepdim) {
  return keepdim ? x : x.in->call("squeeze", {x, x.in->integer(int64_t(axis))});
}

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
  if (isOrderedByKernel(x, axis)) // where each place of the order lies in the order
    return orderOf(orderOf(x, axis, descending), axis, false);
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

/// Places are counted in 64 bits.
static Term asPlace(const Term &x) {
  return x.in->call("to", {x, {x.in, PyValue::dtype(DType::Kind::Int64)}});
}

template <bool positions> static Term sorted(Formula &f) {
  Term x = f[0];
  Terms sizes = shapeOf(x);
  size_t rank = sizes.size(), axis = f.axis(1, -1, rank);
  if (f.failed())
    return f.none();
  if (isOrderedByKernel(x, axis)) {
    Term at = orderOf(x, axis, f.flag(2, false));
    return positions ? asPlace(at) : takenAlong(x, at, axis);
  }
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

/// Of an even number the lower of the two in the middle.
static Term placeOfMiddle(const Term &x, size_t axis) {
  return apply(ast::BinaryOp::FloorDiv, shapeOf(x)[axis] + x.in->integer(1), x.in->integer(2)) +
         x.in->integer(-1);
}

/// The element at a place of the order of each row, if a kernel orders them.
static Term elementInOrder(const Term &x, const Term &place, size_t axis, bool keepdim) {
  Term at = placeInOrder(orderOf(x, axis, false), place, axis);
  return squeezed(takenAlong(x, at, axis), axis, keepdim);
}

/// A NaN if there is one.
static Term median(Formula &f) {
  size_t axis;
  Term x = alongAxis(f, 1, axis);
  bool keepdim = f.has(1) && f.flag(2, false);
  if (f.failed())
    return f.none();
  Term value = isOrderedByKernel(x, axis) ? elementInOrder(x, placeOfMiddle(x, axis), axis, keepdim)
                                          : chosen(f, x, isMedian(x, axis), axis, keepdim);
  if (!isFloat(x))
    return value;
  Term isNone = f.reduce("any", of("isnan", x), f.integer(axis), f.boolean(keepdim));
  return where(isNone, f.number(__builtin_nan("")), value);
}

/// Of a NaN the first.
static Term placeOfMedian(Formula &f) {
  size_t axis = f.axis(1, -1, rankOf(f[0]));
  Terms sizes = shapeOf(f[0]);
  if (isOrderedByKernel(f[0], axis)) {
    bool keepdim = f.flag(2, false);
    Term at = placeInOrder(orderOf(f[0], axis, false), placeOfMiddle(f[0], axis), axis);
    at = squeezed(at, axis, keepdim);
    if (isFloat(f[0])) {
      Term isNone = of("isnan", f[0]);
      Term first = where(isNone, placesAlong(sizes[axis], axis, sizes.size()), sizes[axis]);
      at = where(f.reduce("any", isNone, int64_t(axis), keepdim),
                 f.reduce("min", first, int64_t(axis), keepdim), at);
    }
    return asPlace(at);
  }
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
/// Where the k-th is, if a kernel orders the rows: the axis stays.
static std::optional<Term> orderedKth(Formula &f, size_t axis) {
  int64_t k = f.whole(1, 1);
  if (k < 1 || !isOrderedByKernel(f[0], axis))
    return std::nullopt;
  return placeInOrder(orderOf(f[0], axis, false), f.integer(k - 1), axis);
}
static Term kthValue(Formula &f) {
  size_t axis = f.axis(2, -1, rankOf(f[0]));
  if (std::optional<Term> at = orderedKth(f, axis))
    return squeezed(takenAlong(f[0], *at, axis), axis, f.flag(3, false));
  Term isIt = isKth(f, axis);
  return f.failed() ? f.none() : chosen(f, f[0], isIt, axis, f.flag(3, false));
}
static Term placeOfKth(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t axis = f.axis(2, -1, sizes.size());
  if (std::optional<Term> at = orderedKth(f, axis))
    return asPlace(squeezed(*at, axis, f.flag(3, false)));
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
  bool byKernel = isOrderedByKernel(x, axis);
  Term wanted = (sizes[axis] + f.integer(-1)) * f.number(*q);
  Term place = byKernel ? orderOf(x, axis, false) : placesOf(x, axis, false);
  auto at = [&](llvm::StringRef round) {
    if (!byKernel)
      return chosen(f, x, same(place, of(round, wanted)), axis, keepdim);
    Term there = placeInOrder(place, asPlace(of(round, wanted)), axis);
    return squeezed(takenAlong(x, there, axis), axis, keepdim);
  };
  if (how == "nearest" || how == "lower" || how == "higher")
    return at(how == "nearest" ? "round" : how == "lower" ? "floor" : "ceil");
  Term lower = at("floor"), upper = at("ceil");
  Term share = how == "midpoint" ? f.number(0.5) : wanted - of("floor", wanted);
  return lower + (upper - lower) * share;
}

/// How many of the sorted are less than each value, or with `right` not greater.
static Term searched(Formula &f, const Term &sorted, const Term &values, bool right) {
  Terms sizes = shapeOf(sorted);
  if (f.failed())
    return f.none();
  std::optional<int64_t> count = sizes.back().value.toInt64();
  if (!f.computes() && !(count && *count <= kFewOrdered) && rankOf(values) > 0)
    return asPlace(f.call("searched_places", {sorted, values, f.boolean(right)}));
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
