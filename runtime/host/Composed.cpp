//===- Composed.cpp - references that are formulas over others ------------===//
#include "frontend/eval/Methods.h"
#include "runtime/host/Functions.h"

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
    return eval::fail("`dropout` needs a tensor, got " + eval::repr(r[0]));
  PyValue p = r.has(1) ? r[1] : PyValue::number(0.5);
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

/// cross_entropy(logits, labels, reduction="mean")
static Result crossEntropy(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("cross_entropy", args, {"logits", "labels", "reduction"}, 2);
  if (!r)
    return r.error();
  auto *logits = r[0].dynExtension<Tensor>();
  if (!logits || logits->rank() == 0)
    return eval::fail("`cross_entropy` needs a tensor of logits, got " + eval::repr(r[0]));
  Result isLabel = call(context, "one_hot", {r[1], PyValue::integer(logits->shape().back())});
  Result shifted = call(context, "log_softmax", {r[0], PyValue::integer(-1)});
  if (!isLabel || !shifted)
    return !isLabel ? std::move(isLabel) : std::move(shifted);
  Result picked = call(context, "where", {*isLabel, *shifted, PyValue::number(0)});
  if (picked)
    picked = call(context, "sum", {*picked, PyValue::integer(-1)});
  Result loss = picked ? call(context, "neg", {*picked}) : std::move(picked);
  std::string how = r.has(2) && r[2].isStr() ? r[2].asStr() : "mean";
  return !loss || how == "none" ? std::move(loss) : call(context, how, {*loss});
}

static Result matmul(const ContextPtr &, const CallArgs &args) {
  ArgReader r("matmul", args, {"x", "y"}, 2);
  return r ? eval::binary(BinaryOp::MatMul, r[0], r[1]) : Result(r.error());
}

llvm::ArrayRef<FunctionEntry> host::composedFunctions() {
  static const FunctionEntry table[] = {
      {"layer_norm", layerNorm, true},
      {"rms_norm", rmsNorm, true},
      {"matmul", matmul, true},
      {"dropout", dropout, true},
      {"cross_entropy", crossEntropy, true},
  };
  return table;
}
