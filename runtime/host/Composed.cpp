//===- Composed.cpp - references that are formulas over others ------------===//
#include "frontend/eval/Methods.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using ast::BinaryOp;
using eval::ArgReader;

/// `name` of x along the axis, which stays as 1.
static Result along(const ContextPtr &context, llvm::StringRef name, const PyValue &x,
                    const PyValue &axis) {
  CallArgs args{{x}, {{"axis", axis}, {"keepdim", PyValue::boolean(true)}}};
  return callFunction(*findFunction(name), context, args);
}

/// x / sqrt(spread + eps) * weight + bias
static Result normalized(const ContextPtr &context, const PyValue &x, Result spread,
                         const PyValue &eps, const PyValue &weight, const PyValue &bias) {
  if (spread)
    spread = eval::binary(BinaryOp::Add, *spread, eps);
  if (spread)
    spread = callFunction(*findFunction("sqrt"), context, {{*spread}, {}});
  if (spread)
    spread = eval::binary(BinaryOp::Div, x, *spread);
  if (spread && !weight.isNone())
    spread = eval::binary(BinaryOp::Mul, *spread, weight);
  if (spread && !bias.isNone())
    spread = eval::binary(BinaryOp::Add, *spread, bias);
  return spread;
}

static Result layerNorm(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("layer_norm", args, {"x", "weight", "bias", "eps", "axis"}, 1);
  if (!r)
    return r.error();
  PyValue axis = r.has(4) ? r[4] : PyValue::integer(-1);
  Result middle = along(context, "mean", r[0], axis);
  if (middle)
    middle = eval::binary(BinaryOp::Sub, r[0], *middle);
  if (!middle)
    return middle;
  Result squares = eval::binary(BinaryOp::Mul, *middle, *middle);
  if (squares)
    squares = along(context, "mean", *squares, axis);
  return normalized(context, *middle, std::move(squares), r.has(3) ? r[3] : PyValue::number(1e-5),
                    r.get(1), r.get(2));
}

static Result rmsNorm(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("rms_norm", args, {"x", "weight", "eps", "axis"}, 1);
  if (!r)
    return r.error();
  Result squares = eval::binary(BinaryOp::Mul, r[0], r[0]);
  if (squares)
    squares = along(context, "mean", *squares, r.has(3) ? r[3] : PyValue::integer(-1));
  return normalized(context, r[0], std::move(squares), r.has(2) ? r[2] : PyValue::number(1e-6),
                    r.get(1), PyValue());
}

static Result call(const ContextPtr &context, llvm::StringRef name, std::vector<PyValue> args) {
  return callFunction(*findFunction(name), context, {std::move(args), {}});
}

/// dropout(x, p=0.5, seed=0): which elements stay depends on their positions only.
static Result dropout(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("dropout", args, {"x", "p", "seed"}, 1);
  if (!r)
    return r.error();
  auto *x = r[0].dynExtension<Tensor>();
  if (!x)
    return eval::fail(formatted("`dropout` needs a tensor, got {}", eval::repr(r[0])));
  PyValue p = r.has(1) ? r[1] : PyValue::number(0.5);
  std::optional<double> chance = p.toDouble();
  if (!chance || !(*chance >= 0 && *chance <= 1))
    return eval::fail(
        formatted("`dropout` needs a probability from 0 to 1, got {}", eval::repr(p)));
  PyValue seed = r.has(2) ? r[2] : PyValue::integer(0);
  std::vector<PyValue> shape;
  for (int64_t size : x->shape())
    shape.push_back(PyValue::integer(size));
  Result random = call(context, "arange", {PyValue::integer(x->size())});
  if (random)
    random = call(context, "philox_rand", {seed, *random});
  if (random)
    random = call(context, "reshape", {*random, PyValue::tuple(shape)});
  Result stays = random ? eval::compare(ast::CompareOp::Ge, *random, p) : std::move(random);
  if (!stays)
    return stays;
  Result share = eval::binary(BinaryOp::Sub, PyValue::number(1), p);
  Result scaled = share ? eval::binary(BinaryOp::Div, r[0], *share) : std::move(share);
  return scaled ? call(context, "where", {*stays, *scaled, PyValue::number(0)}) : std::move(scaled);
}

/// cross_entropy(logits, labels, reduction="mean", label_smoothing=0, ignore_index=-100)
static Result crossEntropy(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("cross_entropy", args,
              {"logits", "labels", "reduction", "label_smoothing", "ignore_index"}, 2);
  if (!r)
    return r.error();
  auto *logits = r[0].dynExtension<Tensor>();
  if (!logits || logits->rank() == 0)
    return eval::fail(
        formatted("`cross_entropy` needs a tensor of logits, got {}", eval::repr(r[0])));
  PyValue ignored = r.has(4) ? r[4] : PyValue::integer(-100);
  return call(context, "cross_entropy_weighted",
              {r[0], r[1], PyValue(), ignored, r.get(2), r.get(3)});
}

static Result matmul(const ContextPtr &, const CallArgs &args) {
  ArgReader r("matmul", args, {"x", "y"}, 2);
  return r ? eval::binary(BinaryOp::MatMul, r[0], r[1]) : Result(r.error());
}

/// rope(x, cos, sin): the halves of the last dimension are the coordinates that are turned.
static Result rope(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("rope", args, {"x", "cos", "sin"}, 3);
  if (!r)
    return r.error();
  auto *x = r[0].dynExtension<Tensor>();
  if (!x || x->rank() == 0 || x->shape().back() % 2)
    return eval::fail(
        formatted("`rope` needs a tensor whose last dimension is even, got {}", eval::repr(r[0])));
  PyValue half = PyValue::integer(x->shape().back() / 2);
  Result parts[2] = {PyValue(), PyValue()};
  for (int i = 0; i < 2; ++i) {
    PyValue slice = i == 0 ? PyValue::slice({}, half, {}) : PyValue::slice(half, {}, {});
    parts[i] = eval::subscript(r[0], PyValue::tuple({PyValue::ellipsis(), slice}));
    if (!parts[i])
      return std::move(parts[i]);
  }
  Result negative = call(context, "neg", {*parts[1]});
  Result turned =
      negative ? call(context, "cat", {PyValue::list({*negative, *parts[0]}), PyValue::integer(-1)})
               : std::move(negative);
  Result along = eval::binary(BinaryOp::Mul, r[0], r[1]);
  Result across = turned ? eval::binary(BinaryOp::Mul, *turned, r[2]) : std::move(turned);
  return along && across ? eval::binary(BinaryOp::Add, *along, *across)
                         : std::move(along ? across : along);
}

/// Keys or values with a head for each of the queries: `enable_gqa` lets several share one.
static Result headOfEach(const ContextPtr &context, const Tensor &q, const PyValue &value) {
  auto *x = value.dynExtension<Tensor>();
  if (!x || x->rank() < 3 || q.rank() < 3)
    return value;
  int64_t wanted = q.shape()[q.rank() - 3], heads = x->shape()[x->rank() - 3];
  if (heads == 0 || wanted % heads)
    return eval::fail(formatted("`enable_gqa` of {} heads of queries and {} of keys or values: "
                                "these must divide those",
                                wanted, heads),
                      "ValueError");
  return call(context, "repeat_interleave",
              {value, PyValue::integer(wanted / heads), PyValue::integer(-3)});
}

/// scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=False, scale=None, dropout_p=0,
/// seed=0, enable_gqa=False)
static Result attention(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("scaled_dot_product_attention", args,
              {"q", "k", "v", "attn_mask", "is_causal", "scale", "dropout_p", "seed", "enable_gqa"},
              3);
  if (!r)
    return r.error();
  auto *q = r[0].dynExtension<Tensor>();
  auto *k = r[1].dynExtension<Tensor>();
  if (!q || !k || q->rank() < 2 || k->rank() < 2)
    return eval::fail("`scaled_dot_product_attention` needs matrices: (..., T, D)");
  Result isGrouped = eval::truth(r.get(8));
  if (!isGrouped)
    return isGrouped;
  bool repeats = isGrouped->asBool();
  Result of = repeats ? headOfEach(context, *q, r[1]) : Result(r[1]);
  Result values = repeats ? headOfEach(context, *q, r[2]) : Result(r[2]);
  if (!of || !values)
    return !of ? std::move(of) : std::move(values);
  Result keys = call(context, "transpose", {*of, PyValue::integer(-2), PyValue::integer(-1)});
  Result scores = keys ? eval::binary(BinaryOp::MatMul, r[0], *keys) : std::move(keys);
  PyValue scale =
      r.get(5).isNone() ? PyValue::number(1 / std::sqrt(double(q->shape().back()))) : r[5];
  if (scores)
    scores = eval::binary(BinaryOp::Mul, *scores, scale);
  Result isCausal = eval::truth(r.get(4));
  if (!isCausal)
    return isCausal;
  PyValue nothing = PyValue::number(-INFINITY), mask = r.get(3);
  if (scores && isCausal->asBool()) {
    std::vector<PyValue> shape = {PyValue::integer(q->shape()[q->rank() - 2]),
                                  PyValue::integer(k->shape()[k->rank() - 2])};
    Result sees = call(context, "ones", {PyValue::tuple(shape)});
    sees = sees ? call(context, "tril", {*sees}) : std::move(sees);
    sees = sees ? eval::compare(ast::CompareOp::Ne, *sees, PyValue::integer(0)) : std::move(sees);
    scores = sees ? call(context, "where", {*sees, *scores, nothing}) : std::move(sees);
  }
  auto *given = mask.dynExtension<Tensor>();
  if (scores && given && given->type().isBool())
    scores = call(context, "where", {mask, *scores, nothing});
  else if (scores && !mask.isNone())
    scores = eval::binary(BinaryOp::Add, *scores, mask);
  if (scores)
    scores = call(context, "softmax", {*scores, PyValue::integer(-1)});
  if (scores && r.has(6) && r[6].toDouble() != 0.0)
    scores = call(context, "dropout", {*scores, r[6], r.has(7) ? r[7] : PyValue::integer(0)});
  return scores ? eval::binary(BinaryOp::MatMul, *scores, *values) : std::move(scores);
}

/// embedding(index, weight): rows of the weight.
static Result embedding(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("embedding", args, {"index", "weight", "padding_idx"}, 2);
  return r ? eval::subscript(r[1], r[0]) : Result(r.error());
}

/// topk(x, k, axis=-1): the greatest in order, and where they are.
static Result topk(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("topk", args, {"x", "k", "axis", "largest", "sorted"}, 2);
  if (!r)
    return r.error();
  Result largest = r.get(3).isNone() ? Result(PyValue::boolean(true)) : eval::truth(r[3]);
  if (!largest)
    return largest;
  PyValue axis = r.has(2) ? r[2] : PyValue::integer(-1);
  auto *x = r[0].dynExtension<Tensor>();
  std::optional<int64_t> k = r[1].toInt64(), place = axis.toInt64();
  if (!x || !k || !place || *place < -int64_t(x->rank()) || *place >= int64_t(x->rank()))
    return eval::fail("`topk` needs a tensor, a number, and one of the tensor's axes");
  int64_t size = x->shape()[*place < 0 ? *place + x->rank() : *place];
  if (*k < 0 || *k > size)
    return eval::fail(formatted("`topk` of {} elements cannot give {}", size, *k));
  std::vector<PyValue> both;
  for (llvm::StringRef name : {"sort", "argsort"}) {
    Result order = call(context, name, {r[0], axis, *largest});
    // The first along the axis: that is a slice of it in the last place.
    Result last =
        order ? call(context, "transpose", {*order, axis, PyValue::integer(-1)}) : std::move(order);
    if (last)
      last = eval::subscript(*last,
                             PyValue::tuple({PyValue::ellipsis(), PyValue::slice({}, r[1], {})}));
    Result back =
        last ? call(context, "transpose", {*last, axis, PyValue::integer(-1)}) : std::move(last);
    if (!back)
      return back;
    both.push_back(*back);
  }
  return eval::namedPair("topk", {"values", "indices"}, both[0], both[1]);
}

/// pad(x, [(before, behind), ...], value=0), one pair for each dimension.
static Result pad(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("pad", args, {"x", "widths", "value"}, 2);
  if (!r)
    return r.error();
  auto *x = r[0].dynExtension<Tensor>();
  if (!x || !r[1].isSequence() || int64_t(r[1].elements().size()) != int64_t(x->rank()))
    return eval::fail("`pad` needs a tensor, and a pair of widths for each of its dimensions");
  Result whole = r[0];
  PyValue value = r.has(2) ? r[2] : PyValue::integer(0);
  for (auto [dim, pair] : llvm::enumerate(r[1].elements())) {
    std::vector<PyValue> parts = {*whole};
    for (size_t end = 0; end < 2; ++end) {
      if (!pair.isSequence() || pair.elements().size() != 2)
        return eval::fail(formatted("`pad` needs pairs of widths, got {}", eval::repr(pair)));
      std::vector<PyValue> shape;
      for (int64_t size : whole->dynExtension<Tensor>()->shape())
        shape.push_back(PyValue::integer(size));
      shape[dim] = pair.elements()[end];
      Result border =
          call(context, "full", {PyValue::tuple(shape), value, PyValue::dtype(x->type())});
      if (!border)
        return border;
      parts.insert(end == 0 ? parts.begin() : parts.end(), *border);
    }
    whole = call(context, "cat", {PyValue::list(parts), PyValue::integer(dim)});
    if (!whole)
      return whole;
  }
  return whole;
}

/// chunk(x, chunks, axis=0): as many parts of one size.
static Result chunk(const ContextPtr &, const CallArgs &args) {
  ArgReader r("chunk", args, {"x", "chunks", "axis"}, 2);
  if (!r)
    return r.error();
  auto *x = r[0].dynExtension<Tensor>();
  int64_t axis = r.has(2) ? r[2].toInt64().value_or(INT64_MAX) : 0;
  if (!x)
    return eval::fail(formatted("`chunk` needs a tensor, got {}", eval::repr(r[0])));
  if (auto error = normalizeAxis(axis, x->rank()))
    return error;
  int64_t count = r[1].toInt64().value_or(0), whole = x->shape()[axis];
  if (count < 1 || whole % count)
    return eval::fail(
        formatted("`chunk` of {} elements needs a number of parts that divides them, got {}", whole,
                  eval::repr(r[1])),
        "ValueError");
  std::vector<PyValue> parts, index(axis + 1, PyValue::slice({}, {}, {}));
  for (int64_t i = 0; i < count; ++i) {
    index[axis] = PyValue::slice(PyValue::integer(whole / count * i),
                                 PyValue::integer(whole / count * (i + 1)), {});
    Result part = eval::subscript(r[0], PyValue::tuple(index));
    if (!part)
      return part;
    parts.push_back(*part);
  }
  return PyValue::tuple(std::move(parts));
}

/// linear(x, weight, bias=None): x @ weight.T + bias
static Result linear(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("linear", args, {"x", "weight", "bias"}, 2);
  if (!r)
    return r.error();
  Result turned = call(context, "transpose", {r[1], PyValue::integer(0), PyValue::integer(1)});
  Result product = turned ? eval::binary(BinaryOp::MatMul, r[0], *turned) : std::move(turned);
  return product && !r.get(2).isNone() ? eval::binary(BinaryOp::Add, *product, r[2])
                                       : std::move(product);
}

/// logical_and(x, y) and others: of what is not 0
template <BinaryOp op> static Result logical(const ContextPtr &context, const CallArgs &args) {
  ArgReader r(context->function, args, {"x", "y"}, 2);
  if (!r)
    return r.error();
  Result x = eval::compare(ast::CompareOp::Ne, r[0], PyValue::integer(0));
  Result y = eval::compare(ast::CompareOp::Ne, r[1], PyValue::integer(0));
  return x && y ? eval::binary(op, *x, *y) : std::move(x ? y : x);
}

llvm::ArrayRef<FunctionEntry> host::composedFunctions() {
  static const FunctionEntry table[] = {
      {"rope", rope, true},
      {"scaled_dot_product_attention", attention, false},
      {"embedding", embedding, false},
      {"topk", topk, true},
      {"pad", pad, true},
      {"layer_norm", layerNorm, true},
      {"rms_norm", rmsNorm, true},
      {"matmul", matmul, true},
      {"chunk", chunk, true},
      {"linear", linear, false},
      {"logical_and", logical<BinaryOp::And>, true},
      {"logical_or", logical<BinaryOp::Or>, true},
      {"logical_xor", logical<BinaryOp::Xor>, true},
      {"dropout", dropout, true},
      {"cross_entropy", crossEntropy, true},
  };
  return table;
}
