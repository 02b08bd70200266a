//===- FormulasMade.cpp - tensors made of numbers, and of parts of others ----===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"
#include <cmath>
#include <numbers>

using namespace tile;
using namespace tile::eval;

//===----------------------------------------------------------------------===//
// Of numbers
//===----------------------------------------------------------------------===//

/// Along a window how far it has come, from 0 to 1: to its last element, or, if it is repeated,
/// to the next one's first. One element is the middle.
static Term along(Formula &f, bool isPeriodic) {
  if (f[0].value.toDouble() == 1.0)
    return f.call("arange", {f[0]}) + 0.5;
  Term last = isPeriodic ? f[0] : larger(f[0] + f.integer(-1), f.integer(1));
  return f.call("arange", {f[0]}) * 1.0 / last;
}
static Term cosines(Formula &f, const Term &place, std::initializer_list<double> factors) {
  Term sum = f.number(0);
  int order = 0;
  for (double factor : factors) {
    Term wave = order == 0 ? f.number(1) : of("cos", place * (2 * std::numbers::pi * order));
    sum = sum + wave * factor;
    ++order;
  }
  return sum;
}
template <bool byTorch> static bool isPeriodic(Formula &f) { return byTorch && f.flag(1, true); }
template <bool byTorch> static Term hann(Formula &f) {
  return cosines(f, along(f, isPeriodic<byTorch>(f)), {0.5, -0.5});
}
template <bool byTorch> static Term hamming(Formula &f) {
  return cosines(f, along(f, isPeriodic<byTorch>(f)), {0.54, -0.46});
}
template <bool byTorch> static Term blackman(Formula &f) {
  return cosines(f, along(f, isPeriodic<byTorch>(f)), {0.42, -0.5, 0.08});
}
template <bool byTorch> static Term bartlett(Formula &f) {
  Term place = along(f, isPeriodic<byTorch>(f)) * 2;
  return f.number(1) - of("abs", place + -1.0);
}

/// geomspace(start, end, steps): by equal factors.
static Term geometric(Formula &f) {
  std::optional<double> from = f[0].value.toDouble(), to = f[1].value.toDouble();
  if (!from || !to || *from <= 0 || *to <= 0)
    return f.refuse("`geomspace` goes from a number above 0 to another");
  Terms ends = {f.number(std::log(*from)), f.number(std::log(*to)), f[2]};
  return of("exp", f.call("linspace", ends));
}

/// tri(n, m=n, k=0): ones up to a diagonal.
static Term triangle(Formula &f) {
  Term rows = placesAlong(f[0], 0, 2), columns = placesAlong(f.has(1) ? f[1] : f[0], 0, 1);
  Term isThere = columns <= rows + f.integer(f.whole(2, 0));
  return where(isThere, f.number(1), f.number(0));
}

template <bool isOne> static Term newLike(Formula &f) {
  return f.call(isOne ? "ones" : "zeros", {f[1]}, {{"dtype", typeOf(f[0]).value}});
}
/// x.new_tensor(numbers): of the tensor's type.
static Term newTensor(Formula &f) {
  return f.call("tensor", {f[1], f.has(2) ? f[2] : typeOf(f[0])});
}
static Term newFull(Formula &f) {
  return f.call("full", {f[1], f[2]}, {{"dtype", typeOf(f[0]).value}});
}

//===----------------------------------------------------------------------===//
// Of tensors
//===----------------------------------------------------------------------===//

static Term fillDiagonal(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  if (f.failed() || sizes.size() != 2)
    return f.refuse("`fill_diagonal` needs a tensor of two dimensions");
  return where(same(placesAlong(sizes[0], 0, 2), placesAlong(sizes[1], 0, 1)), f[1], f[0]);
}

/// block_diag(x, y, ...): one behind the other, nothing beside them.
static Term blockDiagonal(Formula &f) {
  Terms parts = f.list(0), rows, all;
  Term columns = f.integer(0);
  for (const Term &part : parts) {
    Terms sizes = shapeOf(part);
    if (f.failed() || sizes.size() != 2)
      return f.refuse("`block_diag` needs tensors of two dimensions");
    rows.push_back(sizes[0]);
    columns = columns + sizes[1];
  }
  Term before = f.integer(0);
  for (size_t i = 0; i < parts.size(); ++i) {
    Term own = shapeOf(parts[i])[1], behind = columns - before - own;
    auto nothing = [&](const Term &width) {
      return f.call("zeros", {f.tuple({rows[i], width})}, {{"dtype", typeOf(parts[i]).value}});
    };
    Terms row;
    if (known(before) != 0)
      row.push_back(nothing(before));
    row.push_back(parts[i]);
    if (known(behind) != 0)
      row.push_back(nothing(behind));
    all.push_back(row.size() == 1 ? row[0] : joined(f, row, 1));
    before = before + own;
  }
  return all.size() == 1 ? all[0] : joined(f, all, 0);
}

static Term products(Formula &f) {
  Terms lines = f.list(0), out;
  Term all = f.call("meshgrid", {f.tuple(lines)});
  for (size_t i = 0; i < lines.size() && !f.failed(); ++i)
    out.push_back(unsqueezed(f.call("ravel", {{&f, all.value.elements()[i]}}), 1));
  return joined(f, out, 1);
}

static Term broadcasted(Formula &f) {
  Terms tensors = f.list(0), out;
  Term all = f.integer(0);
  for (const Term &tensor : tensors)
    all = all + tensor;
  Term sizes = f.tuple(shapeOf(all));
  for (const Term &tensor : tensors)
    out.push_back(f.call("broadcast_to", {tensor, sizes}));
  return f.tuple(out);
}

/// array_split(x, n, axis=0): n parts, the first ones longer by one where they do not come out
/// even.
static Term partsOf(Formula &f, const Term &number, size_t axis) {
  Terms sizes = shapeOf(f[0]);
  std::optional<int64_t> whole = f.failed() ? std::nullopt : known(sizes[axis]), n = known(number);
  if (!n || *n < 1 || *n > 1024)
    return f.refuse(formatted("`{}` needs a number of parts from 1 to 1024, got {}", f.name,
                              repr(number.value)));
  if (!whole)
    return f.call("chunk", {f[0], number, f.integer(int64_t(axis))});
  Terms parts;
  for (int64_t i = 0, from = 0; i < *n; ++i) {
    int64_t to = from + *whole / *n + (i < *whole % *n);
    parts.push_back(part(f[0], axis, f.integer(from), f.integer(to)));
    from = to;
  }
  return f.tuple(parts);
}
static Term split(Formula &f) {
  size_t axis = f.axis(2, 0, rankOf(f[0]));
  return f.failed() ? f.none() : partsOf(f, f[1], axis);
}
template <size_t given> static Term splitAlong(Formula &f) {
  size_t rank = rankOf(f[0]), axis = given == 1 && rank == 1 ? 0 : given;
  return axis < rank ? partsOf(f, f[1], axis)
                     : f.refuse(formatted("`{}` needs {} dimensions", f.name, given + 1));
}

template <size_t least> static Term atLeast(Formula &f) {
  Term x = f[0];
  for (size_t rank = rankOf(x); rank < least && !f.failed(); ++rank)
    x = unsqueezed(x, rank == 1 && least == 3 ? 0 : rank == 2 ? -1 : 0);
  return x;
}
static Term deep(Formula &f) {
  Terms parts = f.list(0);
  for (Term &part : parts)
    part = f.call("atleast_3d", {part});
  return joined(f, parts, 2);
}
static Term rolledAxis(Formula &f) {
  size_t rank = rankOf(f[0]), axis = f.axis(1, 0, rank);
  int64_t to = f.whole(2, 0);
  return f.call("movedim", {f[0], f.integer(int64_t(axis)), f.integer(to - (int64_t(axis) < to))});
}

/// Without the element at one place, or with others in front of it.
static Term without(Formula &f) {
  size_t axis = f.axis(2, 0, rankOf(f[0]));
  Terms sizes = shapeOf(f[0]);
  if (f.failed())
    return f.none();
  Term place = f.integer(f.whole(1, 0));
  if (*known(place) < 0)
    place = sizes[axis] + place;
  Term before = part(f[0], axis, f.integer(0), place);
  Term behind = part(f[0], axis, place + f.integer(1), sizes[axis]);
  return known(place) == 0 ? behind : joined(f, {before, behind}, int64_t(axis));
}
static Term inserted(Formula &f) {
  size_t rank = rankOf(f[0]), axis = f.axis(3, 0, rank);
  Terms sizes = shapeOf(f[0]), one = sizes;
  if (f.failed())
    return f.none();
  Term place = f.integer(f.whole(1, 0)), value = f[2];
  one[axis] = f.integer(1);
  if (value.value.isNumber())
    value = f.call("full", {f.tuple(one), value}, {{"dtype", typeOf(f[0]).value}});
  else
    value = f.call("broadcast_to",
                   {rankOf(value) < rank ? unsqueezed(value, int64_t(axis)) : value, f.tuple(one)});
  Term before = part(f[0], axis, f.integer(0), place),
       behind = part(f[0], axis, place, sizes[axis]);
  return joined(f, {before, value, behind}, int64_t(axis));
}
static Term appended(Formula &f) {
  if (f.has(2))
    return joined(f, {f[0], f[1]}, f.whole(2, 0));
  return joined(f, {f.call("ravel", {f[0]}), f.call("ravel", {f[1]})}, 0);
}

/// index_copy(x, axis, index, source): the rows of the source at places of the tensor.
static Term indexCopy(Formula &f) {
  size_t rank = rankOf(f[0]), axis = f.axis(1, 0, rank);
  Term index = f[2];
  for (size_t dim = axis + 1; dim < rank; ++dim)
    index = unsqueezed(index, -1);
  for (size_t dim = 0; dim < axis; ++dim)
    index = unsqueezed(index, 0);
  Terms sizes = shapeOf(f[3]), own = shapeOf(f[2]);
  if (f.failed() || own.size() != 1 || sizes.size() != rank)
    return f.refuse("`index_copy` needs an index of one dimension, and a source of as many "
                    "dimensions as the tensor");
  sizes[axis] = own[0];
  Term places = f.call("broadcast_to", {index, f.tuple(sizes)});
  return f.call("scatter", {f[0], f.integer(int64_t(axis)), places, f[3]});
}

/// embedding_bag(index, weight, mode="mean"): rows of a table, combined along the last dimension
/// of the index.
static Term embeddingBag(Formula &f) {
  std::string how = f.word(2, {"mean", "sum", "max"});
  return f.reduce(how, f.call("embedding", {f[0], f[1]}), int64_t(-2));
}

/// sum_to_size(x, sizes): what was repeated is added up.
static Term sumToSize(Formula &f) {
  Terms wanted = f.list(1), sizes = shapeOf(f[0]);
  Term x = f[0];
  if (wanted.size() > sizes.size())
    return f.refuse(formatted("`sum_to_size` of {} dimensions to {}", sizes.size(), wanted.size()));
  while (!f.failed() && sizes.size() > wanted.size()) {
    x = f.reduce("sum", x, int64_t(0));
    sizes.erase(sizes.begin());
  }
  for (size_t dim = 0; dim < sizes.size() && !f.failed(); ++dim)
    if (known(wanted[dim]) == 1 && known(sizes[dim]) != 1)
      x = f.reduce("sum", x, int64_t(dim), /*keepdim=*/true);
  return x;
}

llvm::ArrayRef<FormulaEntry> eval::madeFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"hann_window", hann<true>, 1, {"n", "periodic"}},
      {"hamming_window", hamming<true>, 1, {"n", "periodic"}},
      {"blackman_window", blackman<true>, 1, {"n", "periodic"}},
      {"bartlett_window", bartlett<true>, 1, {"n", "periodic"}},
      {"hanning", hann<false>, 1, {"n"}},
      {"hamming", hamming<false>, 1, {"n"}},
      {"blackman", blackman<false>, 1, {"n"}},
      {"bartlett", bartlett<false>, 1, {"n"}},
      {"geomspace", geometric, 3, {"start", "end", "steps"}},
      {"tri", triangle, 1, {"n", "m", "k"}},
      {"new_zeros", newLike<false>, 2, {"x", "shape"}, 1},
      {"new_ones", newLike<true>, 2, {"x", "shape"}, 1},
      {"new_tensor", newTensor, 2, {"x", "data", "dtype"}},
      {"new_full", newFull, 3, {"x", "shape", "value"}},
      {"fill_diagonal", fillDiagonal, 2, {"x", "value"}},
      {"block_diag", blockDiagonal, 1, {"tensors"}, 0},
      {"cartesian_prod", products, 1, {"tensors"}, 0},
      {"broadcast_tensors", broadcasted, 1, {"tensors"}, 0},
      {"array_split", split, 2, {"x", "sections", "axis"}},
      {"hsplit", splitAlong<1>, 2, {"x", "sections"}},
      {"vsplit", splitAlong<0>, 2, {"x", "sections"}},
      {"dsplit", splitAlong<2>, 2, {"x", "sections"}},
      {"atleast_1d", atLeast<1>, 1, {"x"}},
      {"atleast_2d", atLeast<2>, 1, {"x"}},
      {"atleast_3d", atLeast<3>, 1, {"x"}},
      {"dstack", deep, 1, {"tensors"}},
      {"rollaxis", rolledAxis, 2, {"x", "axis", "start"}},
      {"delete", without, 2, {"x", "index", "axis"}},
      {"insert", inserted, 3, {"x", "index", "value", "axis"}},
      {"append", appended, 2, {"x", "y", "axis"}},
      {"index_copy", indexCopy, 4, {"x", "axis", "index", "source"}},
      {"embedding_bag", embeddingBag, 2, {"x", "weight", "mode"}},
      {"sum_to_size", sumToSize, 2, {"x", "shape"}, 1},
  };
  return table;
}
