//===- FormulasShapes.cpp - other shapes of the same elements, and counts ---===//
#include "frontend/eval/Extrema.h"
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;

static Term turned(Formula &f) { return f.call("transpose", {f[0], f.integer(0), f.integer(1)}); }
static Term ravel(Formula &f) { return reshaped(f[0], {productOf(f, shapeOf(f[0]))}); }
static Term expandAs(Formula &f) { return f.call("expand", {f[0], f.tuple(shapeOf(f[1]))}); }
static Term viewAs(Formula &f) { return reshaped(f[0], shapeOf(f[1])); }

/// movedim(x, source, destination): what stays keeps its order.
static Term moveDims(Formula &f) {
  size_t rank = rankOf(f[0]);
  std::vector<int64_t> from = f.wholes(1), to = f.wholes(2), order(rank, -1);
  if (f.failed() || from.size() != to.size())
    return f.refuse("`movedim` needs as many dimensions to move as places for them");
  std::vector<bool> moves(rank, false);
  for (size_t i = 0; i < from.size() && !f.failed(); ++i) {
    size_t source = f.axisOf(from[i], rank), place = f.axisOf(to[i], rank);
    if (f.failed())
      return f.none();
    if (moves[source] || order[place] >= 0)
      return f.refuse("`movedim` moves a dimension once, and one to a place");
    moves[source] = true;
    order[place] = source;
  }
  size_t next = 0;
  for (int64_t &dim : order) {
    while (next < rank && moves[next])
      ++next;
    if (dim < 0)
      dim = next++;
  }
  return f.failed() ? f.none() : permuted(f[0], order);
}

/// unflatten(x, axis, sizes): one of them may be -1.
static Term unflatten(Formula &f) {
  Terms sizes = shapeOf(f[0]), parts = f.list(2);
  size_t axis = f.axis(1, 0, sizes.size());
  if (f.failed())
    return f.none();
  Term rest = f.integer(1);
  for (const Term &part : parts)
    if (known(part) != -1)
      rest = rest * part;
  for (Term &part : parts)
    if (known(part) == -1)
      part = apply(ast::BinaryOp::FloorDiv, sizes[axis], rest);
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, parts.begin(), parts.end());
  return reshaped(f[0], sizes);
}

/// x.unfold(axis, size, step): windows along a dimension, whose elements are the last dimension.
static Term unfoldAlong(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t rank = sizes.size(), axis = f.axis(1, 0, rank);
  int64_t size = f.whole(2, 1), step = f.whole(3, 1);
  if (!f.failed() && (size < 1 || step < 1))
    return f.refuse(formatted("`x.unfold(axis, size, step)` needs a size and a step from 1 on, got "
                              "{} and {}",
                              size, step));
  if (f.failed())
    return f.none();
  Term count =
      apply(ast::BinaryOp::FloorDiv, sizes[axis] + f.integer(step - size), f.integer(step));
  Term place = placesAlong(count, 0, 2) * f.integer(step) + placesAlong(f.integer(size), 0, 1);
  std::vector<int64_t> order;
  for (size_t dim = 0; dim <= rank; ++dim)
    if (dim != axis + 1)
      order.push_back(int64_t(dim));
  order.push_back(int64_t(axis) + 1);
  return f.failed() ? f.none() : permuted(at(f[0], axis, place.value), order);
}

/// pixel_shuffle(x, r): of (..., C * r * r, H, W) comes (..., C, H * r, W * r)
static Term pixelShuffle(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t rank = sizes.size();
  if (rank < 3)
    return f.refuse("`pixel_shuffle` needs a tensor (..., C, H, W)");
  Term by = f[1], rows = sizes[rank - 2], columns = sizes[rank - 1];
  Term channels = apply(ast::BinaryOp::FloorDiv, sizes[rank - 3], by * by);
  Terms front(sizes.begin(), sizes.end() - 3), apart = front, whole = front;
  for (const Term &size : {channels, by, by, rows, columns})
    apart.push_back(size);
  for (const Term &size : {channels, rows * by, columns * by})
    whole.push_back(size);
  std::vector<int64_t> order;
  for (size_t dim = 0; dim < front.size(); ++dim)
    order.push_back(dim);
  for (int64_t dim : {0, 3, 1, 4, 2})
    order.push_back(int64_t(front.size()) + dim);
  return reshaped(permuted(reshaped(f[0], apart), order), whole);
}

//===----------------------------------------------------------------------===//
// What is counted and added up
//===----------------------------------------------------------------------===//

static Term reducedAs(Formula &f, llvm::StringRef how, const Term &x) {
  return f.reduce(how, x, f[1], f.boolean(f.flag(2, false)));
}
static Term number01(const Term &is) { return where(is, is.in->integer(1), is.in->integer(0)); }

static Term countNonZero(Formula &f) {
  return reducedAs(f, "sum", where(same(f[0], 0), f.integer(0), f.integer(1)));
}
static Term withoutNan(const Term &x) { return where(of("isnan", x), x.in->number(0), x); }
static Term nanSum(Formula &f) { return reducedAs(f, "sum", withoutNan(f[0])); }
static Term nanMean(Formula &f) {
  Term isThere = of("logical_not", of("isnan", f[0]));
  return reducedAs(f, "sum", withoutNan(f[0])) / reducedAs(f, "sum", number01(isThere));
}
static Term extrema(Formula &f) {
  Term least = reducedAs(f, "min", f[0]), most = reducedAs(f, "max", f[0]);
  return {&f, namedPair("aminmax", {"min", "max"}, least.value, most.value)};
}
static Term range(Formula &f) { return reducedAs(f, "max", f[0]) - reducedAs(f, "min", f[0]); }

llvm::ArrayRef<FormulaEntry> eval::shapeFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"t", turned, 1, {"x"}},
      {"ravel", ravel, 1, {"x"}},
      {"expand_as", expandAs, 2, {"x", "y"}},
      {"view_as", viewAs, 2, {"x", "y"}},
      {"reshape_as", viewAs, 2, {"x", "y"}},
      {"movedim", moveDims, 3, {"x", "source", "destination"}},
      {"unflatten", unflatten, 3, {"x", "axis", "sizes"}},
      {"unfold_along", unfoldAlong, 4, {"x", "dimension", "shape", "step"}},
      {"pixel_shuffle", pixelShuffle, 2, {"x", "factor"}},
      {"count_nonzero", countNonZero, 1, {"x", "axis", "keepdim"}},
      {"nansum", nanSum, 1, {"x", "axis", "keepdim"}},
      {"nanmean", nanMean, 1, {"x", "axis", "keepdim"}},
      {"aminmax", extrema, 1, {"x", "axis", "keepdim"}},
      {"ptp", range, 1, {"x", "axis", "keepdim"}},
  };
  return table;
}
