//===- Convolutions.cpp - convolutions as products of patches -------------===//
//
// What a weight is multiplied with at one place of the result is a column of a matrix: the
// columns are gathered, with 0 around the picture, and the rest is a product. The gathered
// matrix is stored (`tilec explain` says so), for each program of a product takes blocks of its
// operands many times. Where each channel has a kernel of its own there is no product: the sum over
// the kernel's places is computed element by element.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Convolutions.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

namespace {
/// Along one of the two dimensions of a picture.
struct Along {
  Size size, kernel, result;
  int64_t stride = 1, padding = 0, dilation = 1;
};
} // namespace

static bool isPoint(const Along &along) {
  return along.kernel.isConstant(1) && along.stride == 1 && along.padding == 0;
}

/// A number, or one for each of the two dimensions.
static std::unique_ptr<EvalError> readPair(StringRef what, const PyValue &given, int64_t least,
                                           int64_t &first, int64_t &second) {
  std::vector<PyValue> parts = {given, given};
  if (given.isSequence())
    parts = given.elements().vec();
  std::optional<int64_t> a = parts.size() == 2 ? parts[0].toInt64() : std::nullopt;
  std::optional<int64_t> b = a ? parts[1].toInt64() : std::nullopt;
  if (!a || !b || *a < least || *b < least || *a > INT16_MAX || *b > INT16_MAX)
    return fail(formatted("`{}` of `conv2d` is a whole number from {} on, or two, got {}", what,
                          least, eval::repr(given)));
  first = *a;
  second = *b;
  return nullptr;
}

/// How many places the kernel has: rounded down.
static std::unique_ptr<EvalError> countPlaces(Tracer &tracer, StringRef which, Along &along) {
  Size over = along.size + Size(2 * along.padding) -
              Size(along.dilation) * (along.kernel - Size(1)) - Size(1);
  std::optional<Size> steps = (over - Size(along.stride - 1)).dividedUpBy(along.stride);
  along.result = *steps + Size(1);
  std::string small = formatted("the kernel of `conv2d`, `{}`, does not fit a {} of `{}`",
                                along.kernel, which, along.size);
  if (std::optional<int64_t> known = over.constant(); known && *known < 0)
    return fail(small, "ValueError");
  tracer.require(over, small);
  return nullptr;
}

/// Where along the picture: `result * stride + kernel * dilation - padding`, of six dimensions of
/// which the kernel's is `dim` and the result's two behind it.
static Result placesOf(Tracer &tracer, const Along &along, size_t dim) {
  auto line = [&](const Size &size, size_t at, int64_t by) -> Result {
    llvm::SmallVector<int64_t> dims(6 - at, -1);
    dims[0] = 0;
    Result index = tracer.rearrange({tracer.indices(size), "", false}, dims);
    return index && by != 1 ? tracer.map(MapKind::mul, {*index, PyValue::integer(by)})
                            : std::move(index);
  };
  Result of = line(along.result, dim + 2, along.stride);
  Result inside = line(along.kernel, dim, along.dilation);
  if (!of || !inside)
    return of ? std::move(inside) : std::move(of);
  Result at = tracer.map(MapKind::add, {*of, *inside});
  return at && along.padding ? tracer.map(MapKind::sub, {*at, PyValue::integer(along.padding)})
                             : std::move(at);
}

/// x[n, c, places, places], of shape (N, C, KH, KW, OH, OW).
static Result patches(Tracer &tracer, const Operand &x, const Along &rows, const Along &columns) {
  Sizes sizes = x.type().sizes();
  llvm::SmallVector<mlir::Value> indices;
  for (size_t dim = 0; dim < 4; ++dim) {
    llvm::SmallVector<int64_t> dims(6 - dim, -1);
    dims[0] = 0;
    Result at = dim < 2 ? tracer.rearrange({tracer.indices(sizes[dim]), "", false}, dims)
                        : placesOf(tracer, dim == 2 ? rows : columns, dim);
    Operand index;
    if (!at)
      return at;
    if (auto error = tracer.operand("conv2d", *at, index))
      return error;
    indices.push_back(index.value);
  }
  return tracer.gather(x.value, indices, /*guarded=*/true);
}

static Result reshaped(Tracer &tracer, const Result &value, ArrayRef<Size> sizes) {
  Operand x;
  if (auto error = tracer.operand("conv2d", *value, x))
    return error;
  return tracer.reshape(x, sizes);
}

/// The channels of the picture and of the weights, of one of the groups each.
static std::unique_ptr<EvalError> splitChannels(const Sizes &x, const Sizes &w, int64_t groups,
                                                Size &outputs) {
  std::optional<Size> each = w[0].dividedBy(Size(groups));
  if (!each || x[1] != w[1] * Size(groups))
    return fail(
        formatted(
            "`conv2d` of a picture of shape {} and weights of shape {}{}, which are "
            "to be (N, C, H, W) and (O, C{}, KH, KW): the channels `{}` and `{}` do not agree{}",
            graph::shapeText(x), graph::shapeText(w),
            groups > 1 ? formatted(" in {} groups", groups) : "", groups > 1 ? " / groups" : "",
            x[1], w[1], each ? "" : formatted(", and `{}` is no multiple of the groups", w[0])),
        "ValueError");
  outputs = *each;
  return nullptr;
}

static std::unique_ptr<EvalError> ofBias(Tracer &tracer, const PyValue &bias, const Size &rows,
                                         Operand &x) {
  if (auto error = tracer.operand("conv2d", bias, x))
    return error;
  if (x.type().sizes() == Sizes{rows})
    return nullptr;
  return fail(formatted("the bias of `conv2d` has the shape ({},), got {}", rows,
                        graph::shapeText(x.type().sizes())),
              "ValueError");
}

/// One number for each row of the products of a group.
static Result withBias(Tracer &tracer, Result product, const PyValue &bias, const Size &rows,
                       int64_t groups, const Size &outputs) {
  Operand x;
  if (auto error = ofBias(tracer, bias, rows, x))
    return error;
  Result column = groups == 1 ? tracer.rearrange(x, {0, -1})
                              : tracer.reshape(x, {Size(groups), outputs, Size(1)});
  return column ? tracer.map(MapKind::add, "conv2d", {*product, *column}) : std::move(column);
}

//===----------------------------------------------------------------------===//
// Each channel by itself
//===----------------------------------------------------------------------===//

/// Kernels of so many places are written out.
static constexpr int64_t kMostPlaces = 64;

/// The sum over the kernel's places, written out: the picture, moved, times one weight a channel.
static Result sumOfWindows(Tracer &tracer, const Operand &x, const Operand &w, const Along &rows,
                           const Along &columns) {
  Sizes picture = x.type().sizes();
  Size channels = picture[1];
  Result sum = PyValue();
  bool isInside = rows.padding == 0 && columns.padding == 0;
  for (int64_t i = 0; i < *rows.kernel.constant(); ++i)
    for (int64_t j = 0; j < *columns.kernel.constant(); ++j) {
      Sizes starts = {Size(0), Size(0), Size(i * rows.dilation - rows.padding),
                      Size(j * columns.dilation - columns.padding)};
      Result moved = tracer.window(x, starts, {picture[0], channels, rows.result, columns.result},
                                   isInside, /*loose=*/false);
      Result one = tracer.window(w, {Size(0), Size(0), Size(i), Size(j)},
                                 {channels, Size(1), Size(1), Size(1)}, true, false);
      Operand weight;
      if (!moved || !one)
        return moved ? std::move(one) : std::move(moved);
      if (auto error = tracer.operand("conv2d", *one, weight))
        return error;
      Result column = tracer.rearrange(weight, {0, -1, -1});
      Result part =
          column ? tracer.map(MapKind::mul, "conv2d", {*moved, *column}) : std::move(column);
      sum = part && !sum->isNone() ? tracer.map(MapKind::add, "conv2d", {*sum, *part})
                                   : std::move(part);
      if (!sum)
        return sum;
    }
  return sum;
}

/// Products of one place, at most, that are written out for all channels: of so few sums patches
/// would be stored, many times the picture, for a product that fills no blocks.
static constexpr int64_t kMostProducts = 128;

/// How many channels of the result and of the picture there are, if all sums are written out.
static std::optional<std::pair<int64_t, int64_t>>
fewChannels(const Sizes &weight, const Along &rows, const Along &columns) {
  int64_t products = 1;
  for (const Size &size : weight) {
    std::optional<int64_t> count = size.constant();
    if (!count || *count < 1 || *count > kMostProducts)
      return std::nullopt;
    products *= *count;
  }
  int64_t places = *weight[2].constant() * *weight[3].constant();
  bool isStep = rows.stride == 1 && columns.stride == 1;
  if (!isStep || products > kMostProducts || places == 1)
    return std::nullopt;
  return std::pair(*weight[0].constant(), *weight[1].constant());
}

/// Sums of windows for each channel of the result, behind each other.
static Result ofFewChannels(Tracer &tracer, const Operand &x, const Operand &w, const Along &rows,
                            const Along &columns, std::pair<int64_t, int64_t> channels) {
  Sizes picture = x.type().sizes(), weight = w.type().sizes();
  std::vector<Operand> results;
  for (int64_t o = 0; o < channels.first; ++o) {
    Result sum = PyValue();
    for (int64_t c = 0; c < channels.second; ++c) {
      Result part = tracer.window(x, {Size(0), Size(c), Size(0), Size(0)},
                                  {picture[0], Size(1), picture[2], picture[3]}, true, false);
      Result by = tracer.window(w, {Size(o), Size(c), Size(0), Size(0)},
                                {Size(1), Size(1), weight[2], weight[3]}, true, false);
      Operand channel, own;
      if (!part || !by)
        return part ? std::move(by) : std::move(part);
      if (auto error = tracer.operand("conv2d", *part, channel))
        return error;
      if (auto error = tracer.operand("conv2d", *by, own))
        return error;
      Result one = sumOfWindows(tracer, channel, own, rows, columns);
      sum =
          one && !sum->isNone() ? tracer.map(MapKind::add, "conv2d", {*sum, *one}) : std::move(one);
      if (!sum)
        return sum;
    }
    Operand result;
    if (auto error = tracer.operand("conv2d", *sum, result))
      return error;
    results.push_back(result);
  }
  return tracer.join(results, 1);
}

/// The same of any kernel and stride: a reduction of patches.
static Result sumOfPatches(Tracer &tracer, const Operand &x, const Operand &w, const Along &rows,
                           const Along &columns) {
  Result taken = patches(tracer, x, rows, columns);
  Result weights = tracer.rearrange(w, {0, 2, 3, -1, -1});
  if (!taken || !weights)
    return taken ? std::move(weights) : std::move(taken);
  Result parts = tracer.map(MapKind::mul, "conv2d", {*taken, *weights});
  Operand each;
  if (!parts)
    return parts;
  if (auto error = tracer.operand("conv2d", *parts, each))
    return error;
  return tracer.reduce(ReduceKind::sum, each, {2, 3}, /*keepdim=*/false);
}

static Result plusBias(Tracer &tracer, Result sum, const PyValue &bias, const Size &channels) {
  if (!sum || bias.isNone())
    return sum;
  Operand line;
  if (auto error = ofBias(tracer, bias, channels, line))
    return error;
  Result column = tracer.rearrange(line, {0, -1, -1});
  return column ? tracer.map(MapKind::add, "conv2d", {*sum, *column}) : std::move(column);
}

static Result ofEachChannel(Tracer &tracer, const Operand &x, const Operand &w, const PyValue &bias,
                            const Along &rows, const Along &columns) {
  std::optional<int64_t> height = rows.kernel.constant(), width = columns.kernel.constant();
  bool isShort = height && width && *height * *width <= kMostPlaces;
  Result sum = isShort && rows.stride == 1 && columns.stride == 1
                   ? sumOfWindows(tracer, x, w, rows, columns)
                   : sumOfPatches(tracer, x, w, rows, columns);
  return plusBias(tracer, std::move(sum), bias, x.type().sizes()[1]);
}

Result tensors::conv2d(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "weight", "bias", "stride", "padding", "dilation", "groups"}, 2);
  Operand x, w;
  if (!r)
    return r.error();
  if (auto error = tracer.operand(name, r[0], x))
    return error;
  if (auto error = tracer.operand(name, r[1], w))
    return error;
  Sizes picture = x.type().sizes(), weight = w.type().sizes();
  if (picture.size() != 4 || weight.size() != 4)
    return fail(
        formatted("`conv2d` needs a picture (N, C, H, W) and weights (O, C, KH, KW), got {} and {}",
                  graph::shapeText(picture), graph::shapeText(weight)),
        "ValueError");
  Along rows{picture[2], weight[2], Size()}, columns{picture[3], weight[3], Size()};
  auto number = [&](size_t i, int64_t otherwise) {
    return r.has(i) ? r[i] : PyValue::integer(otherwise);
  };
  if (auto error = readPair("stride", number(3, 1), 1, rows.stride, columns.stride))
    return error;
  if (auto error = readPair("padding", number(4, 0), 0, rows.padding, columns.padding))
    return error;
  if (auto error = readPair("dilation", number(5, 1), 1, rows.dilation, columns.dilation))
    return error;
  // As many groups as channels may be a size.
  std::optional<Size> parts = sizeOf(number(6, 1));
  bool isEach = parts && !parts->isConstant(1) && *parts == picture[1] && *parts == weight[0] &&
                weight[1].isConstant(1);
  std::optional<int64_t> groups = isEach ? 1 : number(6, 1).toInt64();
  if (!groups || *groups < 1)
    return fail(
        formatted("`groups` of `conv2d` is a whole number from 1 on, or the channels of both "
                  "the picture and the result, got {}",
                  eval::repr(r[6])));
  Size outputs;
  if (auto error = isEach ? nullptr : splitChannels(picture, weight, *groups, outputs))
    return error;
  if (auto error = countPlaces(tracer, "height", rows))
    return error;
  if (auto error = countPlaces(tracer, "width", columns))
    return error;
  if (isEach)
    return ofEachChannel(tracer, x, w, r.get(2), rows, columns);
  if (auto channels = *groups == 1 ? fewChannels(weight, rows, columns) : std::nullopt)
    return plusBias(tracer, ofFewChannels(tracer, x, w, rows, columns, *channels), r.get(2),
                    weight[0]);
  // (N, groups, C * KH * KW, OH * OW) and (groups, O, C * KH * KW)
  Size depth = weight[1] * weight[2] * weight[3], places = rows.result * columns.result;
  bool isPlain = isPoint(rows) && isPoint(columns); // each patch is the element itself
  Result columnsOf = isPlain ? Result(tracer.wrap(x.value)) : patches(tracer, x, rows, columns);
  if (columnsOf)
    columnsOf = reshaped(tracer, columnsOf, {picture[0], Size(*groups), depth, places});
  Result by = tracer.reshape(w, {Size(*groups), outputs, depth});
  if (!columnsOf || !by)
    return columnsOf ? std::move(by) : std::move(columnsOf);
  Result product = tracer.matmul(*by, *columnsOf);
  if (product && !r.get(2).isNone()) // before the last shape: in the product's kernel
    product = withBias(tracer, std::move(product), r[2], weight[0], *groups, outputs);
  return product ? reshaped(tracer, product, {picture[0], weight[0], rows.result, columns.result})
                 : std::move(product);
}
