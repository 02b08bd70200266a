//===- Norms.cpp - layer_norm and rms_norm as references ------------------===//
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

llvm::ArrayRef<FunctionEntry> host::normFunctions() {
  static const FunctionEntry table[] = {
      {"layer_norm", layerNorm, true},
      {"rms_norm", rmsNorm, true},
  };
  return table;
}
