//===- FormulasSamples.cpp - pictures at places that tensors say -------------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;

namespace {
/// Where samples of a picture (N, C, H, W) are taken: rows and columns (N, 1, OH, OW), in elements.
struct Samples {
  Term picture, batch, channel, rows, columns;
  bool isBordered = false; ///< outside is what is at the border, not 0
};
} // namespace

/// From -1 and 1, the ends of the first and the last element, or their middles, to elements.
static Term inElements(const Term &place, const Term &size, bool byMiddles) {
  Term whole = size * 1.0;
  return byMiddles ? (place + 1) * 0.5 * (whole + -1) : ((place + 1) * whole + -1) * 0.5;
}

static Term insideOf(const Term &place, const Term &size) {
  return larger(smaller(place, size + place.in->integer(-1)), place.in->integer(0));
}

/// The elements at whole numbers, and 0 for those that are not there.
static Term samplesAt(const Samples &from, const Term &row, const Term &column) {
  Formula &f = *row.in;
  Terms sizes = shapeOf(from.picture);
  if (f.failed())
    return f.none();
  Term integers{&f, PyValue::dtype(DType::Kind::Int32)};
  Term y = f.call("to", {insideOf(row, sizes[2]), integers});
  Term x = f.call("to", {insideOf(column, sizes[3]), integers});
  Term taken = f.failed() ? f.none()
                          : f.take(subscript(from.picture.value,
                                             PyValue::tuple({from.batch.value, from.channel.value,
                                                             y.value, x.value})));
  if (from.isBordered)
    return taken;
  Term isThere =
      of("logical_not", (row < 0) | (column < 0)) & (row < sizes[2]) & (column < sizes[3]);
  return where(isThere, taken, f.number(0));
}

/// Of the four around each place as much as it is near them.
static Term between(const Samples &from, const Term &rows, const Term &columns) {
  Formula &f = *rows.in;
  Term top = of("floor", rows), left = of("floor", columns);
  Term down = rows - top, right = columns - left, sum = f.none();
  for (int i = 0; i < 4 && !f.failed(); ++i) {
    bool isLower = i / 2, isRight = i % 2;
    Term share = (isLower ? down : f.number(1) - down) * (isRight ? right : f.number(1) - right);
    Term one = samplesAt(from, isLower ? top + 1 : top, isRight ? left + 1 : left) * share;
    sum = i == 0 ? one : sum + one;
  }
  return sum;
}

/// grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False): of (N, C, H,
/// W) at places (N, OH, OW, 2), columns first.
static Term gridSample(Formula &f) {
  std::string mode = f.word(2, {"bilinear", "nearest"});
  bool isBordered = f.word(3, {"zeros", "border"}) == "border", byMiddles = f.flag(4, false);
  Terms sizes = shapeOf(f[0]);
  if (f.failed() || sizes.size() != 4 || rankOf(f[1]) != 4)
    return f.refuse("`grid_sample` needs a picture (N, C, H, W) and places (N, OH, OW, 2)");
  auto placesOf = [&](int64_t i, const Term &size) {
    Term place = at(f[1], 3, PyValue::integer(i));
    place = unsqueezed(inElements(place, size, byMiddles), 1);
    return isBordered ? insideOf(place, size) : place;
  };
  Samples samples{f[0],
                  placesAlong(sizes[0], 0, 4),
                  placesAlong(sizes[1], 1, 4),
                  placesOf(1, sizes[2]),
                  placesOf(0, sizes[3]),
                  isBordered};
  if (mode == "bilinear")
    return between(samples, samples.rows, samples.columns);
  return samplesAt(samples, of("round", samples.rows), of("round", samples.columns));
}

llvm::ArrayRef<FormulaEntry> eval::sampleFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"grid_sample", gridSample, 2, {"x", "grid", "mode", "padding_mode", "align_corners"}},
  };
  return table;
}
