//===- FormulasPlaces.cpp - numbers along dimensions, and elements by them --===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static Term between(Formula &f) {
  Term steps = larger(f[2] + f.integer(-1), f.integer(1));
  return f[0] + f.call("arange", {f[2]}) * ((f[1] - f[0]) / steps);
}
static Term linspace(Formula &f) { return between(f); }
static Term logspace(Formula &f) { return f.call("pow", {f.or_(3, 10), between(f)}); }

static Term fullLike(Formula &f) {
  Terms args = {f.tuple(shapeOf(f[0])), f[1]};
  return f.call("full", args, {{"dtype", f.has(2) ? f[2].value : typeOf(f[0]).value}});
}

/// Along each dimension one of the tensors, which repeat along the others.
static Term meshGrid(Formula &f) {
  Terms lines = f.list(0), sizes, out;
  bool swaps = f.word(1, {"ij", "xy"}) == "xy" && lines.size() > 1;
  if (lines.size() > kMostDims)
    return f.refuse(
        formatted("`meshgrid` is of {} tensors at most, got {}", kMostDims, lines.size()));
  for (const Term &line : lines) {
    Terms own = shapeOf(line);
    if (f.failed() || own.size() != 1)
      return f.refuse("`meshgrid` needs tensors of one dimension");
    sizes.push_back(own[0]);
  }
  if (swaps)
    std::swap(sizes[0], sizes[1]);
  for (size_t i = 0; i < lines.size(); ++i) {
    Term line = lines[i];
    size_t axis = swaps && i < 2 ? 1 - i : i;
    for (size_t dim = axis + 1; dim < lines.size(); ++dim)
      line = unsqueezed(line, -1);
    for (size_t dim = 0; dim < axis; ++dim)
      line = unsqueezed(line, 0);
    out.push_back(f.call("expand", {line, f.tuple(sizes)}));
  }
  return f.tuple(out);
}

//===----------------------------------------------------------------------===//
// Diagonals
//===----------------------------------------------------------------------===//

static Term onDiagonal(const Term &rows, const Term &columns) {
  return same(placesAlong(rows, 0, 2), placesAlong(columns, 0, 1));
}

static Term eye(Formula &f) {
  return where(onDiagonal(f[0], f.has(1) ? f[1] : f[0]), f.number(1), f.number(0));
}

/// How many elements of `rows` by `columns` are on the diagonal, if that is a formula.
static Term lengthOfDiagonal(Formula &f, const Term &rows, const Term &columns) {
  std::optional<int64_t> apart = known(columns - rows);
  if (!f.failed() && apart)
    return *apart < 0 ? columns : rows;
  return f.refuse(formatted("whether `{}` or `{}` is less, and the diagonal as long, is not known "
                            "when the function is compiled",
                            repr(rows.value), repr(columns.value)));
}

/// Of the last two dimensions, `offset` columns to the right.
static Term diagonalOfLast(Term x, int64_t offset) {
  Formula &f = *x.in;
  Terms sizes = shapeOf(x);
  size_t rank = sizes.size();
  if (f.failed())
    return f.none();
  Term row = f.integer(std::max<int64_t>(-offset, 0)),
       column = f.integer(std::max<int64_t>(offset, 0));
  Term length = lengthOfDiagonal(f, sizes[rank - 2] - row, sizes[rank - 1] - column);
  x = part(part(x, rank - 2, row, row + length), rank - 1, column, column + length);
  Term only = where(onDiagonal(length, length), x, f.integer(0));
  return f.failed() ? f.none() : asType(f.reduce("sum", only, int64_t(-1)), x);
}

static Term diagonal(Formula &f) {
  size_t rank = rankOf(f[0]), first = f.axis(2, 0, rank), second = f.axis(3, 1, rank);
  if (f.failed() || first == second)
    return f.refuse("`diagonal` is of two different axes");
  std::vector<int64_t> order;
  for (size_t dim = 0; dim < rank; ++dim)
    if (dim != first && dim != second)
      order.push_back(dim);
  order.push_back(first);
  order.push_back(second);
  return diagonalOfLast(permuted(f[0], order), f.whole(1, 0));
}
static Term trace(Formula &f) {
  if (rankOf(f[0]) != 2)
    return f.refuse("`trace` needs a tensor of two dimensions");
  return of("sum", diagonalOfLast(f[0], 0));
}

/// The last dimension on the diagonal of a matrix.
static Term diagEmbed(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  if (f.failed() || sizes.empty())
    return f.refuse(formatted("`{}` needs a dimension", f.name));
  Term whole = where(onDiagonal(sizes.back(), sizes.back()), unsqueezed(f[0], -1), f.integer(0));
  int64_t offset = f.whole(1, 0);
  if (offset == 0)
    return whole;
  Term width = f.integer(std::abs(offset)), none = f.integer(0);
  Terms widths(sizes.size() - 1, f.tuple({none, none}));
  Term before = f.tuple({width, none}), behind = f.tuple({none, width});
  widths.push_back(offset > 0 ? behind : before);
  widths.push_back(offset > 0 ? before : behind);
  return f.call("pad", {whole, f.tuple(widths)});
}
static Term diag(Formula &f) {
  size_t rank = rankOf(f[0]);
  if (rank != 1 && rank != 2)
    return f.refuse("`diag` needs a tensor of one or two dimensions");
  return rank == 1 ? diagEmbed(f) : diagonalOfLast(f[0], f.whole(1, 0));
}

//===----------------------------------------------------------------------===//
// Elements that go to an index
//===----------------------------------------------------------------------===//

static Term indexSelect(Formula &f) {
  size_t axis = f.axis(1, 0, rankOf(f[0]));
  return f.failed() ? f.none() : at(f[0], axis, f[2].value);
}

/// take_along_dim(x, index, axis=None): the others of their dimensions are the same, or 1; without
/// an axis of all elements in order.
static Term takeAlong(Formula &f) {
  if (!f.has(2))
    return f.call("gather", {of("ravel", f[0]), of("ravel", f[1]), f.integer(0)});
  Terms sizes = shapeOf(f[0]), own = shapeOf(f[1]), of = sizes, at = own;
  size_t axis = f.axis(2, 0, sizes.size());
  if (f.failed() || own.size() != sizes.size())
    return f.refuse(formatted("`{}` needs an index of as many dimensions as the tensor", f.name));
  bool repeats = false;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (dim == axis || known(sizes[dim] - own[dim]) == 0)
      continue;
    bool isOne = known(sizes[dim]) == 1;
    if (isOne || known(own[dim]) == 1)
      (isOne ? of : at)[dim] = isOne ? own[dim] : sizes[dim];
    repeats = true;
  }
  Term x = f[0], index = f[1];
  if (repeats) {
    x = f.call("expand", {x, f.tuple(of)});
    index = f.call("expand", {index, f.tuple(at)});
  }
  return f.call("gather", {x, index, f.integer(int64_t(axis))});
}

namespace {
/// What is sent to the elements of `x` along an axis: the dimension behind it is that of the
/// senders.
struct Sent {
  size_t axis = 0;
  Term count, isHit, values;
};
} // namespace

static bool isSame(const Term &x, const Term &y) { return known(x - y) == 0; }

/// As many elements of `values` as the index has, which are its first.
static Term firstOf(Term values, const Terms &wanted) {
  Terms own = shapeOf(values);
  for (size_t dim = 0; dim < own.size() && own.size() == wanted.size(); ++dim)
    if (known(own[dim]) != 1 && !isSame(own[dim], wanted[dim]))
      values = part(values, dim, values.in->integer(0), wanted[dim]);
  return values;
}

/// With `filler` behind what there is, so that it has the sizes of a tensor but along `axis`.
static Term grown(const Term &x, const Term &like, size_t axis, int64_t filler) {
  Formula &f = *x.in;
  Terms own = shapeOf(x), sizes = shapeOf(like), widths;
  bool grows = false;
  for (size_t dim = 0; dim < own.size(); ++dim) {
    bool isLess = dim != axis && !isSame(own[dim], sizes[dim]);
    grows |= isLess;
    if (isLess) // of which there are not more: that is looked at
      (void)part(like, dim, f.integer(0), own[dim]);
    widths.push_back(f.tuple({f.integer(0), isLess ? sizes[dim] - own[dim] : f.integer(0)}));
  }
  return grows ? f.call("pad", {x, f.tuple(widths), f.integer(filler)}) : x;
}

static Sent sentTo(Formula &f, const Term &x, Term index, Term values) {
  Terms sizes = shapeOf(x), own = shapeOf(index);
  Sent sent{f.axis(1, 0, sizes.size()), f.none(), f.none(), f.none()};
  if (f.failed() || own.size() != sizes.size()) {
    f.refuse(formatted("`{}` needs an index of as many dimensions as the tensor", f.name));
    return sent;
  }
  sent.count = own[sent.axis];
  values = firstOf(values, own);
  if (rankOf(values) == own.size())
    values = grown(values, x, sent.axis, 0);
  index = grown(index, x, sent.axis, -1); // which is no place
  Term place = placesAlong(sizes[sent.axis], sent.axis, sizes.size() + 1);
  sent.isHit = same(unsqueezed(index, int64_t(sent.axis)), place);
  sent.values = rankOf(values) ? unsqueezed(values, int64_t(sent.axis)) : values;
  return sent;
}

static Term scatterAdd(Formula &f) {
  Sent sent = sentTo(f, f[0], f[2], f[3]);
  Term only = where(sent.isHit, sent.values, f.integer(0));
  return asType(f[0] + f.reduce("sum", only, sent.axis + 1), f[0]);
}

/// Of several that go to one element the last one stays.
static Term scatter(Formula &f) {
  Sent sent = sentTo(f, f[0], f[2], f[3]);
  if (f.failed())
    return f.none();
  size_t behind = sent.axis + 1;
  Term which = placesAlong(sent.count, behind, rankOf(f[0]) + 1);
  Term last = f.reduce("max", where(sent.isHit, which, f.integer(-1)), behind, /*keepdim=*/true);
  Term isLast = sent.isHit & same(which, last);
  Term value = f.reduce("sum", where(isLast, sent.values, f.integer(0)), behind);
  Term isThere = f.reduce("any", sent.isHit, behind);
  return where(isThere, asType(value, f[0]), f[0]);
}

/// The rows' indices among the places of the tensor: (N, K).
static Term hitsOf(const Term &size, const Term &index) {
  return same(index, placesAlong(size, 0, 2));
}

/// index_add(x, axis, index, source, alpha=1): rows of floats are added up by a product.
static Term indexAdd(Formula &f) {
  Term x = f[0], source = f[3];
  Terms sizes = shapeOf(x), own = shapeOf(source);
  size_t rank = sizes.size(), axis = f.axis(1, 0, rank);
  if (f.failed() || own.size() != rank || rankOf(f[2]) != 1)
    return f.refuse(
        formatted("`index_add` needs an index of one dimension, and a source of as many "
                  "dimensions as the tensor {}, got {} and {}",
                  repr(x.value), repr(f[2].value), repr(source.value)));
  Term hits = hitsOf(sizes[axis], f[2]), sums = f.none();
  if (rank > 1 && isFloat(source)) {
    Term from = f.integer(axis), first = f.integer(0);
    Term rows = f.call("movedim", {source, from, first});
    Terms shape = shapeOf(rows);
    if (f.failed())
      return f.none();
    Term rest = productOf(f, llvm::ArrayRef(shape).drop_front());
    Term ones = f.call("to", {hits, typeOf(source)});
    shape[0] = sizes[axis];
    sums = reshaped(f.call("matmul", {ones, reshaped(rows, {own[axis], rest})}), shape);
    sums = f.call("movedim", {sums, first, from});
  } else {
    for (size_t dim = axis + 1; dim < rank; ++dim)
      hits = unsqueezed(hits, -1);
    Term only = where(hits, unsqueezed(source, int64_t(axis)), f.integer(0));
    sums = f.reduce("sum", only, axis + 1);
  }
  return asType(x + (f.has(4) ? sums * f[4] : sums), x);
}

static Term indexFill(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t axis = f.axis(1, 0, sizes.size());
  if (f.failed())
    return f.none();
  Term isHit = f.reduce("any", hitsOf(sizes[axis], f[2]), int64_t(1));
  for (size_t dim = axis + 1; dim < sizes.size(); ++dim)
    isHit = unsqueezed(isHit, -1);
  return where(isHit, f[3], f[0]);
}

/// bincount(x, bins, weights=None): how many are in each, or what they weigh together.
static Term binCount(Formula &f) {
  bool isSize =
      f.has(1) &&
      (f[1].value.is(PyValue::Kind::Int) ||
       (f[1].value.is(PyValue::Kind::Extension) && f[1].value.asExtension()->typeName() == "size"));
  if (!isSize)
    return f.refuse(
        "`bincount` needs the number of bins, `bincount(x, bins)` or `bincount(x, bins, "
        "weights=w)`: sizes of results do not depend on what tensors hold, and "
        "`minlength` is the least of them only");
  Term hits = hitsOf(f[1], f[0]), each = f.has(2) ? f[2] : f.integer(1);
  return f.reduce("sum", where(hits, each, f.integer(0)), int64_t(1));
}

llvm::ArrayRef<FormulaEntry> eval::placeFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"linspace", linspace, 3, {"start", "end", "steps"}},
      {"logspace", logspace, 3, {"start", "end", "steps", "base"}},
      {"full_like", fullLike, 2, {"x", "value", "dtype"}},
      {"meshgrid", meshGrid, 1, {"tensors", "indexing"}, 0},
      {"eye", eye, 1, {"n", "m"}},
      {"diagonal", diagonal, 1, {"x", "offset", "axis1", "axis2"}},
      {"trace", trace, 1, {"x"}},
      {"diag", diag, 1, {"x", "diagonal"}},
      {"diag_embed", diagEmbed, 1, {"x", "offset"}},
      {"index_select", indexSelect, 3, {"x", "axis", "index"}},
      {"scatter", scatter, 4, {"x", "axis", "index", "src"}},
      {"scatter_add", scatterAdd, 4, {"x", "axis", "index", "src"}},
      {"index_add", indexAdd, 4, {"x", "axis", "index", "source", "alpha"}},
      {"index_fill", indexFill, 4, {"x", "axis", "index", "value"}},
      {"take_along_dim", takeAlong, 2, {"x", "index", "axis"}},
      {"bincount", binCount, 1, {"x", "bins", "weights", "minlength"}},
  };
  return table;
}
