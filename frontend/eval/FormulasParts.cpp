//===- FormulasParts.cpp - parts of tensors, and what is joined of them -----===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"
#include <algorithm>

using namespace tile;
using namespace tile::eval;

//===----------------------------------------------------------------------===//
// Turned round
//===----------------------------------------------------------------------===//

/// What is moved out at one end comes in at the other.
static Term rolled(const Term &x, const Term &shift, size_t axis) {
  Formula &f = *x.in;
  Terms sizes = shapeOf(x);
  if (f.failed())
    return f.none();
  std::optional<int64_t> by = known(shift), whole = known(sizes[axis]);
  if ((by && *by == 0) || (whole && *whole == 0))
    return x;
  Term cut = sizes[axis] - shift;
  if (by && whole) {
    int64_t over = *by % *whole;
    cut = f.integer(over > 0 ? *whole - over : -over);
  } else if (by) {
    cut = f.integer(0) - shift;
  }
  if (by && known(cut) == 0)
    return x;
  return joined(f, {part(x, axis, cut, f.none()), part(x, axis, f.none(), cut)}, axis);
}

/// roll(x, shifts, axis=None): without an axis as one row.
static Term roll(Formula &f) {
  Terms shifts = f.list(1), sizes = shapeOf(f[0]);
  if (!f.has(2)) {
    if (shifts.size() != 1)
      return f.refuse("`roll` by several numbers needs an axis for each");
    Term row = reshaped(f[0], {productOf(f, sizes)});
    return reshaped(rolled(row, shifts[0], 0), sizes);
  }
  std::vector<int64_t> axes = f.wholes(2);
  if (axes.size() != shifts.size())
    return f.refuse(formatted("`roll` by {} numbers along {} axes", shifts.size(), axes.size()));
  Term x = f[0];
  for (size_t i = 0; i < axes.size() && !f.failed(); ++i)
    x = rolled(x, shifts[i], f.axisOf(axes[i], sizes.size()));
  return x;
}

static Term flipped(const Term &x, int64_t axis) {
  return x.in->call("flip", {x, x.in->integer(axis)});
}
static Term flipLeftRight(Formula &f) { return flipped(f[0], 1); }
static Term flipUpDown(Formula &f) { return flipped(f[0], 0); }

/// By quarters of a turn, from the first axis to the second.
static Term rot90(Formula &f) {
  std::vector<int64_t> axes = f.has(2) ? f.wholes(2) : std::vector<int64_t>{0, 1};
  int64_t turns = ((f.whole(1, 1) % 4) + 4) % 4;
  if (axes.size() != 2)
    return f.refuse("`rot90` turns in the plane of two axes");
  Term x = f[0], first = f.integer(axes[0]), second = f.integer(axes[1]);
  if (turns == 2)
    return flipped(flipped(x, axes[0]), axes[1]);
  if (turns == 1)
    return f.call("transpose", {flipped(x, axes[1]), first, second});
  return turns == 3 ? flipped(f.call("transpose", {x, first, second}), axes[1]) : x;
}

//===----------------------------------------------------------------------===//
// Taken apart
//===----------------------------------------------------------------------===//

static Term partsOf(Formula &f, const Term &x, size_t axis, const Terms &lengths) {
  Terms parts;
  Term from = f.integer(0);
  for (const Term &length : lengths) {
    Term end = from + length;
    parts.push_back(part(x, axis, from, end));
    from = end;
  }
  return f.tuple(parts);
}

/// A dimension in so many parts is no mistake only if they are few: each is a tensor.
static bool arePartsFew(Formula &f, int64_t count) {
  constexpr int64_t kMostParts = 1 << 16;
  if (count < 0 || count > kMostParts)
    f.refuse(formatted("`{}` gives {} parts, more than {}", f.name, count, kMostParts));
  return !f.failed();
}

/// split(x, size, axis=0): parts of that size, the last one what is left; or of the sizes of a
/// list.
static Term split(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t axis = f.axis(2, 0, sizes.size());
  if (f.failed())
    return f.none();
  const Term &whole = sizes[axis];
  Term each = f[1];
  if (each.value.isSequence()) {
    Terms lengths = f.list(1);
    Term total = f.integer(0);
    for (const Term &length : lengths)
      total = total + length;
    std::optional<int64_t> apart = known(total - whole);
    if (f.failed() || apart != 0)
      return f.refuse(formatted("`split` into parts of `{}` elements together, of a dimension `{}`",
                                repr(total.value), repr(whole.value)));
    return partsOf(f, f[0], axis, lengths);
  }
  std::optional<int64_t> size = known(each), all = known(whole);
  if (size && *size < 1)
    return f.refuse(formatted("`split` needs parts of one element at least, got {}", *size));
  if (size && all) {
    int64_t rest = *all % *size;
    if (!arePartsFew(f, *all / *size))
      return f.none();
    Terms lengths(*all / *size, each);
    if (rest)
      lengths.push_back(f.integer(rest));
    return partsOf(f, f[0], axis, lengths);
  }
  Term count = apply(ast::BinaryOp::FloorDiv, whole, each);
  std::optional<int64_t> number = f.failed() ? std::nullopt : known(count);
  if (!number)
    return f.refuse(formatted("how many parts of `{}` elements a dimension `{}` has is not known "
                              "when the function is compiled; `chunk` makes a number of parts",
                              repr(each.value), repr(whole.value)));
  return arePartsFew(f, *number) ? partsOf(f, f[0], axis, Terms(*number, each)) : f.none();
}

static Term unbind(Formula &f) {
  Terms sizes = shapeOf(f[0]), parts;
  size_t axis = f.axis(1, 0, sizes.size());
  if (f.failed())
    return f.none();
  std::optional<int64_t> count = known(sizes[axis]);
  if (!count)
    return f.refuse(formatted("`unbind` of a dimension `{}`: how many that are is not known when "
                              "the function is compiled",
                              repr(sizes[axis].value)));
  if (!arePartsFew(f, *count))
    return f.none();
  for (int64_t i = 0; i < *count && !f.failed(); ++i)
    parts.push_back(at(f[0], axis, PyValue::integer(i)));
  return f.tuple(parts);
}

static Term narrow(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t axis = f.axis(1, 0, sizes.size());
  if (f.failed())
    return f.none();
  Term from = f[2];
  if (known(from).value_or(0) < 0)
    from = sizes[axis] + from;
  return part(f[0], axis, from, from + f[3]);
}

static Term select(Formula &f) {
  size_t axis = f.axis(1, 0, rankOf(f[0]));
  return f.failed() ? f.none() : at(f[0], axis, f[2].value);
}

/// What is put beside `x` along an axis: of a number one of each.
static Term besides(const Term &value, const Term &x, size_t axis) {
  Formula &f = *x.in;
  Terms sizes = shapeOf(x);
  if (!value.value.isNumber() || f.failed())
    return value;
  sizes[axis] = f.integer(1);
  return f.call("full", {f.tuple(sizes), value, typeOf(x)});
}

/// diff(x, n=1, axis=-1, prepend=None, append=None): each element less the one before it, n times.
static Term diff(Formula &f) {
  Term x = f[0], one = f.integer(1), last = f.integer(-1), none = f.none();
  size_t axis = f.axis(2, -1, rankOf(x));
  int64_t n = f.whole(1, 1);
  if (f.failed() || n < 0)
    return f.refuse(formatted("`diff` is taken 0 times or more, not {}", n));
  if (f.has(3) || f.has(4)) {
    Terms parts = {x};
    if (f.has(3))
      parts.insert(parts.begin(), besides(f[3], x, axis));
    if (f.has(4))
      parts.push_back(besides(f[4], x, axis));
    x = joined(f, parts, int64_t(axis));
  }
  Terms sizes = shapeOf(x);
  if (f.failed())
    return f.none();
  n = std::min(n, known(sizes[axis]).value_or(n)); // nothing is left then
  for (int64_t i = 0; i < n && !f.failed(); ++i)
    x = part(x, axis, one, none) - part(x, axis, none, last);
  return x;
}

Term eval::trapezoidAreas(Formula &f, size_t axis) {
  Term one = f.integer(1), last = f.integer(-1), none = f.none(), width = f.or_(2, 1);
  if (f.has(1)) {
    size_t own = rankOf(f[1]) == 1 ? 0 : axis;
    width = part(f[1], own, one, none) - part(f[1], own, none, last);
    // A row of places lies along the axis, whichever that is.
    for (size_t behind = axis + 1; rankOf(f[1]) == 1 && behind < rankOf(f[0]); ++behind)
      width = unsqueezed(width, int64_t(rankOf(width)));
  }
  Term sums = part(f[0], axis, one, none) + part(f[0], axis, none, last);
  return sums * width * 0.5;
}

/// trapezoid(y, x=None, dx=1, axis=-1)
static Term trapezoid(Formula &f) {
  size_t axis = f.axis(3, -1, rankOf(f[0]));
  return f.failed() ? f.none() : f.reduce("sum", trapezoidAreas(f, axis), axis);
}

//===----------------------------------------------------------------------===//
// Joined
//===----------------------------------------------------------------------===//

static Term horizontal(Formula &f) {
  Terms parts = f.list(0);
  bool areRows = !parts.empty() && rankOf(parts[0]) == 1;
  return f.failed() ? f.none() : joined(f, parts, areRows ? 0 : 1);
}
static Term vertical(Formula &f) {
  Terms parts = f.list(0);
  for (Term &part : parts)
    part = rankOf(part) == 1 ? unsqueezed(part, 0) : part;
  return joined(f, parts, 0);
}
static Term columns(Formula &f) {
  Terms parts = f.list(0);
  for (Term &part : parts)
    part = rankOf(part) == 1 ? unsqueezed(part, 1) : part;
  return joined(f, parts, 1);
}

/// As many as `n` times along each dimension, one after the other.
static Term repeated(Formula &f, const Term &x, Terms counts) {
  Terms own = shapeOf(x), apart, spread, whole;
  if (counts.size() > kMostDims)
    return f.refuse(
        formatted("`{}` along {} dimensions, more than {}", f.name, counts.size(), kMostDims));
  while (counts.size() < own.size())
    counts.insert(counts.begin(), f.integer(1));
  while (own.size() < counts.size())
    own.insert(own.begin(), f.integer(1));
  if (f.failed())
    return f.none();
  for (size_t i = 0; i < own.size(); ++i) {
    if (known(counts[i]) != 1) {
      apart.push_back(f.integer(1));
      spread.push_back(counts[i]);
    }
    apart.push_back(own[i]);
    spread.push_back(own[i]);
    whole.push_back(own[i] * counts[i]);
  }
  return reshaped(f.call("expand", {reshaped(x, apart), f.tuple(spread)}), whole);
}
static Term repeat(Formula &f) {
  Terms counts = f.list(1);
  if (counts.size() < rankOf(f[0]))
    return f.refuse(formatted("`repeat` needs a number for each of the {} dimensions, got {}; "
                              "`repeat_interleave` repeats elements",
                              rankOf(f[0]), repr(f[1].value)));
  return repeated(f, f[0], counts);
}
static Term tiled(Formula &f) { return repeated(f, f[0], f.list(1)); }

/// repeat_interleave(x, n, axis=None): each element as often, side by side.
static Term repeatInterleave(Formula &f) {
  Term x = f[0];
  if (!f.has(2))
    x = reshaped(x, {productOf(f, shapeOf(x))});
  Terms sizes = shapeOf(x);
  size_t axis = f.has(2) ? f.axis(2, 0, sizes.size()) : 0;
  if (f.failed())
    return f.none();
  Terms spread = sizes;
  spread.insert(spread.begin() + axis + 1, f[1]);
  sizes[axis] = sizes[axis] * f[1];
  return reshaped(f.call("expand", {unsqueezed(x, int64_t(axis) + 1), f.tuple(spread)}), sizes);
}

llvm::ArrayRef<FormulaEntry> eval::partFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"roll", roll, 2, {"x", "shifts", "axis"}},
      {"fliplr", flipLeftRight, 1, {"x"}},
      {"flipud", flipUpDown, 1, {"x"}},
      {"rot90", rot90, 1, {"x", "k", "axis"}},
      {"split", split, 2, {"x", "size", "axis"}},
      {"unbind", unbind, 1, {"x", "axis"}},
      {"narrow", narrow, 4, {"x", "axis", "start", "length"}},
      {"select", select, 3, {"x", "axis", "index"}},
      {"diff", diff, 1, {"x", "n", "axis", "prepend", "append"}},
      {"trapezoid", trapezoid, 1, {"y", "x", "dx", "axis"}},
      {"hstack", horizontal, 1, {"tensors"}},
      {"vstack", vertical, 1, {"tensors"}},
      {"column_stack", columns, 1, {"tensors"}},
      {"repeat", repeat, 2, {"x", "repeats"}, 1},
      {"tile", tiled, 2, {"x", "repeats"}, 1},
      {"repeat_interleave", repeatInterleave, 2, {"x", "repeats", "axis"}},
  };
  return table;
}
