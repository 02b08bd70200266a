//===- Indices.cpp - numbers along dimensions, and what is made of them ---===//
#include "frontend/tensors/Tracer.h"

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

/// A size, or a number that is one.
static std::unique_ptr<EvalError> readSize(StringRef name, const PyValue &value, Size &out) {
  if (auto *size = value.dynExtension<SizeValue>()) {
    out = size->size;
    return nullptr;
  }
  std::optional<int64_t> number = value.toInt64();
  if (!number || *number < 0)
    return fail("`" + name.str() + "` needs a size, got " + eval::repr(value));
  out = Size(*number);
  return nullptr;
}

/// arange(n)
static Result arange(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"n"}, 1);
  Size size;
  if (!r)
    return r.error();
  if (auto error = readSize(name, r[0], size))
    return error;
  return tracer.wrap(tracer.indices(size));
}

static Result philoxRand(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"seed", "offsets"}, 2);
  if (!r)
    return r.error();
  for (size_t i = 0; i < 2; ++i) {
    Operand x;
    if (auto error = tracer.operand(name, r[i], x))
      return error;
    if (!mlir::isa<mlir::IntegerType>(x.type().getElement()))
      return fail("`" + name.str() + "` needs an integer seed and integer offsets");
  }
  return tracer.map(MapKind::philox, name, {r[0], r[1]});
}

/// The position of each element in an array without gaps, as int64.
static Result positions(Tracer &tracer, ArrayRef<Size> sizes) {
  Result sum = PyValue::integer(0);
  for (size_t i = 0; i < sizes.size() && sum; ++i) {
    llvm::SmallVector<int64_t> dims(sizes.size() - i, -1);
    dims[0] = 0;
    Result along = tracer.rearrange({tracer.indices(sizes[i]), "", false}, dims);
    if (along)
      along = tracer.cast(*along, tracer.builder.getI64Type());
    if (along)
      along = tracer.map(MapKind::mul,
                         {*along, tracer.sizeValue(graph::product(sizes.drop_front(i + 1)))});
    sum = along ? tracer.map(MapKind::add, {*sum, *along}) : std::move(along);
  }
  return sum;
}

/// dropout(x, p=0.5, seed=0): the same elements for the same seed, whatever the kernels are.
static Result dropout(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "p", "seed"}, 1);
  Operand x;
  if (!r)
    return r.error();
  if (auto error = tracer.operand(name, r[0], x))
    return error;
  PyValue p = r.has(1) ? r[1] : PyValue::number(0.5);
  PyValue seed = r.has(2) ? r[2] : PyValue::integer(0);
  Result random = positions(tracer, x.type().sizes());
  if (random)
    random = tracer.map(MapKind::philox, name, {seed, *random});
  Result stays = random ? tracer.map(MapKind::ge, name, {*random, p}) : std::move(random);
  if (!stays)
    return stays;
  Result share = eval::binary(ast::BinaryOp::Sub, PyValue::number(1), p);
  Result scaled = share ? tracer.map(MapKind::div, name, {r[0], *share}) : std::move(share);
  return scaled ? tracer.map(MapKind::select, name, {*stays, *scaled, PyValue::number(0)})
                : std::move(scaled);
}

/// cross_entropy(logits, labels, reduction="mean"): of logits (..., N) and labels (...).
static Result crossEntropy(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"logits", "labels", "reduction"}, 2);
  Operand logits, labels;
  if (!r)
    return r.error();
  if (auto error = tracer.operand(name, r[0], logits))
    return error;
  if (auto error = tracer.operand(name, r[1], labels))
    return error;
  Sizes sizes = logits.type().sizes(), rows = labels.type().sizes();
  if (sizes.empty() || ArrayRef(sizes).drop_back() != ArrayRef(rows) ||
      !mlir::isa<mlir::IntegerType>(labels.type().getElement()))
    return fail("`cross_entropy` needs logits of shape (..., N) and integer labels of shape (...), "
                "got " +
                    graph::shapeText(sizes) + " and " + graph::shapeText(rows),
                "ValueError");
  std::string how = r.has(2) && r[2].isStr() ? r[2].asStr() : "mean";
  if (how != "mean" && how != "none" && how != "sum")
    return fail("`reduction` of `cross_entropy` is \"mean\", \"sum\" or \"none\"");
  llvm::SmallVector<int64_t> dims;
  for (size_t i = 0; i < rows.size(); ++i)
    dims.push_back(i);
  dims.push_back(-1);
  Result column = tracer.rearrange(labels, dims);
  Result isLabel =
      column ? tracer.map(MapKind::eq, name, {tracer.wrap(tracer.indices(sizes.back())), *column})
             : std::move(column);
  Result shifted = tracer.callNamed("log_softmax", {{r[0]}, {}}).value();
  if (!isLabel || !shifted)
    return !isLabel ? std::move(isLabel) : std::move(shifted);
  Result picked = tracer.map(MapKind::select, name, {*isLabel, *shifted, PyValue::number(0)});
  if (picked)
    picked = tracer.callNamed("sum", {{*picked}, {{"axis", PyValue::integer(-1)}}}).value();
  Result loss = picked ? tracer.map(MapKind::neg, name, {*picked}) : std::move(picked);
  if (!loss || how == "none")
    return loss;
  return tracer.callNamed(how, {{*loss}, {}}).value();
}

ArrayRef<TracedEntry> tensors::tracedIndices() {
  static const TracedEntry table[] = {
      {"arange", arange},
      {"philox_rand", philoxRand},
      {"dropout", dropout},
      {"cross_entropy", crossEntropy},
  };
  return table;
}
