//===- Convolution.cpp - the reference of convolutions --------------------===//
#include "runtime/host/Functions.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using eval::ArgReader;

/// A number, or one for each of two dimensions.
static bool readPair(const PyValue &given, int64_t otherwise, int64_t least, int64_t (&out)[2]) {
  for (size_t i = 0; i < 2; ++i) {
    bool isPair = given.isSequence();
    if (isPair && given.elements().size() != 2)
      return false;
    const PyValue &of = isPair ? given.elements()[i] : given;
    std::optional<int64_t> number = of.isNone() ? otherwise : of.toInt64();
    if (!number || *number < least)
      return false;
    out[i] = *number;
  }
  return true;
}

namespace {
/// A convolution, read.
struct Convolution {
  Array x, w, bias;
  bool hasBias = false;
  int64_t stride[2], padding[2], dilation[2], groups = 1, size[2];
};
} // namespace

static std::unique_ptr<eval::EvalError> readConvolution(const CallArgs &args, Convolution &out) {
  ArgReader r("conv2d", args, {"x", "weight", "bias", "stride", "padding", "dilation", "groups"},
              2);
  if (!r)
    return r.error();
  if (auto error = toArray(r[0], out.x))
    return error;
  if (auto error = toArray(r[1], out.w))
    return error;
  out.hasBias = !r.get(2).isNone();
  if (out.hasBias)
    if (auto error = toArray(r[2], out.bias))
      return error;
  out.x = out.x.toFloat();
  out.w = out.w.toFloat();
  out.groups = r.has(6) ? r[6].toInt64().value_or(0) : 1;
  bool isRead = readPair(r.get(3), 1, 1, out.stride) && readPair(r.get(4), 0, 0, out.padding) &&
                readPair(r.get(5), 1, 1, out.dilation) && out.groups > 0;
  const Shape &x = out.x.shape, &w = out.w.shape;
  if (!isRead || x.size() != 4 || w.size() != 4 || x[1] != w[1] * out.groups || w[0] % out.groups ||
      (out.hasBias && out.bias.shape != Shape{w[0]}))
    return eval::fail(formatted("`conv2d` needs a picture (N, C, H, W), weights (O, C / groups, "
                                "KH, KW), a bias (O,), and whole numbers; got {} and {}",
                                toString(x), toString(w)),
                      "ValueError");
  for (size_t i = 0; i < 2; ++i) {
    int64_t over = x[2 + i] + 2 * out.padding[i] - out.dilation[i] * (w[2 + i] - 1) - 1;
    if (over < 0)
      return eval::fail("the kernel of `conv2d` does not fit its picture", "ValueError");
    out.size[i] = over / out.stride[i] + 1;
  }
  return nullptr;
}

/// One element of the result.
static double convolve(const Convolution &c, int64_t n, int64_t o, const int64_t (&at)[2]) {
  const Shape &x = c.x.shape, &w = c.w.shape;
  int64_t first = o / (w[0] / c.groups) * w[1];
  double sum = c.hasBias ? c.bias.real(o) : 0;
  for (int64_t k = 0; k < w[1]; ++k)
    for (int64_t i = 0; i < w[2]; ++i)
      for (int64_t j = 0; j < w[3]; ++j) {
        int64_t row = at[0] * c.stride[0] + i * c.dilation[0] - c.padding[0];
        int64_t column = at[1] * c.stride[1] + j * c.dilation[1] - c.padding[1];
        if (row < 0 || row >= x[2] || column < 0 || column >= x[3])
          continue;
        sum += c.x.reals[((n * x[1] + first + k) * x[2] + row) * x[3] + column] *
               c.w.reals[((o * w[1] + k) * w[2] + i) * w[3] + j];
      }
  return sum;
}

/// conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)
static Result conv2d(const ContextPtr &context, const CallArgs &args) {
  Convolution c;
  if (auto error = readConvolution(args, c))
    return error;
  Array out;
  Shape shape = {c.x.shape[0], c.w.shape[0], c.size[0], c.size[1]};
  if (auto error = Array::make(context->memory, Array::Kind::Float, shape, out))
    return error;
  llvm::ArrayRef<int64_t> ofOne = llvm::ArrayRef(c.w.shape).drop_front();
  if (auto error = spendSteps(countElements(shape) * countElements(ofOne)))
    return error;
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t plane = i / (c.size[0] * c.size[1]);
    int64_t at[2] = {i / c.size[1] % c.size[0], i % c.size[1]};
    out.reals[i] = convolve(c, plane / shape[1], plane % shape[1], at);
  }
  return Tensor::value(context, out);
}

llvm::ArrayRef<FunctionEntry> host::convolutionFunctions() {
  static const FunctionEntry table[] = {
      {"conv2d", conv2d, false},
  };
  return table;
}
