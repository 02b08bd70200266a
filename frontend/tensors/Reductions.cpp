//===- Reductions.cpp - reductions, and what is made of them --------------===//
//
// softmax and the norms are formulas over sums and maxima here: what the fusion sees is
// the formula, so one that is written out by hand compiles to the same kernel.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

std::unique_ptr<EvalError> tensors::readAxes(StringRef name, const PyValue &given, size_t rank,
                                             llvm::SmallVectorImpl<int64_t> &axes) {
  std::vector<PyValue> values = {given};
  if (given.isSequence())
    values = given.elements().vec();
  if (given.isNone()) {
    for (size_t i = 0; i < rank; ++i)
      axes.push_back(i);
    return nullptr;
  }
  for (const PyValue &value : values) {
    std::optional<int64_t> axis = value.toInt64();
    if (!axis)
      return fail(formatted("`axis` of `{}` is a number or a tuple of numbers, got {}", name,
                            eval::repr(value)));
    int64_t from = *axis < 0 ? *axis + int64_t(rank) : *axis;
    if (from < 0 || from >= int64_t(rank))
      return fail(
          formatted("axis {} of `{}` is not in a tensor of {} dimensions", *axis, name, rank),
          "IndexError");
    if (llvm::is_contained(axes, from))
      return fail(formatted("axis {} of `{}` is given twice", *axis, name));
    axes.push_back(from);
  }
  llvm::sort(axes);
  return nullptr;
}

namespace {
/// A reduction's arguments, read.
struct Given {
  Operand x;
  PyValue value;
  llvm::SmallVector<int64_t> axes;
  bool keepdim = false;
  double correction = 0;
};
} // namespace

static std::unique_ptr<EvalError> read(Tracer &tracer, StringRef name, const CallArgs &args,
                                       Given &out) {
  ArgReader r(name, args, {"x", "axis", "keepdim", "correction"}, 1);
  if (!r)
    return r.error();
  if (auto error = tracer.operand(name, r[0], out.x))
    return error;
  out.value = r[0];
  Result keepdim = eval::truth(r.get(2));
  if (!keepdim)
    return keepdim.takeError();
  out.keepdim = keepdim->asBool();
  out.correction = r.has(3) ? r[3].toDouble().value_or(0) : 0;
  bool isOfNone = r.get(1).isSequence() && r.get(1).elements().empty(); // all, as in PyTorch
  return readAxes(name, isOfNone ? PyValue() : r.get(1), out.x.type().sizes().size(), out.axes);
}

static Result reduction(Tracer &tracer, StringRef name, const CallArgs &args) {
  Given given;
  if (auto error = read(tracer, name, args, given))
    return error;
  return tracer.reduce(*graph::symbolizeReduceKind(name), given.x, given.axes, given.keepdim);
}

/// Sums of f16 and bf16 are kept in f32 until the end: `to` the type that the result has.
static Result floats(Tracer &tracer, const PyValue &x) {
  auto *tensor = x.dynExtension<TensorValue>();
  if (tensor && mlir::isa<mlir::IntegerType>(tensor->type().getElement()))
    return tracer.cast(x, tracer.builder.getF32Type());
  return x;
}

/// How many elements the axes have together.
static PyValue countOf(Tracer &tracer, const Operand &x, ArrayRef<int64_t> axes) {
  Sizes sizes = x.type().sizes(), along;
  for (int64_t axis : axes)
    along.push_back(sizes[axis]);
  return tracer.sizeValue(graph::product(along));
}

static Result meanOf(Tracer &tracer, const PyValue &value, ArrayRef<int64_t> axes, bool keepdim,
                     double correction = 0) {
  Operand x;
  if (auto error = tracer.operand("mean", value, x))
    return error;
  Result sum = tracer.reduce(ReduceKind::sum, x, axes, keepdim);
  if (!sum)
    return sum;
  PyValue count = countOf(tracer, x, axes);
  Result by = correction == 0 ? Result(count)
                              : tracer.map(MapKind::sub, {count, PyValue::number(correction)});
  return by ? tracer.map(MapKind::div, {*sum, *by}) : std::move(by);
}

static Result mean(Tracer &tracer, StringRef name, const CallArgs &args) {
  Given given;
  if (auto error = read(tracer, name, args, given))
    return error;
  Result x = floats(tracer, given.value);
  return x ? meanOf(tracer, *x, given.axes, given.keepdim) : std::move(x);
}

/// x less its mean along the axes, which stay as 1.
static Result centred(Tracer &tracer, const PyValue &x, ArrayRef<int64_t> axes) {
  Result middle = meanOf(tracer, x, axes, /*keepdim=*/true);
  return middle ? tracer.map(MapKind::sub, {x, *middle}) : std::move(middle);
}

static Result varianceOf(Tracer &tracer, const PyValue &x, ArrayRef<int64_t> axes, bool keepdim,
                         double correction) {
  Result apart = centred(tracer, x, axes);
  if (apart)
    apart = tracer.map(MapKind::square, {*apart});
  return apart ? meanOf(tracer, *apart, axes, keepdim, correction) : std::move(apart);
}

/// The slope of what has none where it is 0 is 0 there, as PyTorch has it.
static Result rootOfSpread(Tracer &tracer, const PyValue &spread) {
  if (tracer.evaluator.gradients == 0)
    return tracer.map(MapKind::sqrt, {spread});
  Result isNone = tracer.map(MapKind::eq, {spread, PyValue::number(0)});
  Result safe = isNone ? tracer.map(MapKind::select, {*isNone, PyValue::number(1), spread})
                       : Result(isNone.takeError());
  Result root = safe ? tracer.map(MapKind::sqrt, {*safe}) : std::move(safe);
  return root ? tracer.map(MapKind::select, {*isNone, PyValue::number(0), *root}) : std::move(root);
}

template <bool squareRoot>
static Result variance(Tracer &tracer, StringRef name, const CallArgs &args) {
  Given given;
  if (auto error = read(tracer, name, args, given))
    return error;
  Result x = floats(tracer, given.value);
  if (x)
    x = varianceOf(tracer, *x, given.axes, given.keepdim, given.correction);
  return x && squareRoot ? rootOfSpread(tracer, *x) : std::move(x);
}

Result Tracer::scan(ReduceKind kind, const Operand &x, int64_t axis, bool reverse) {
  mlir::Type element = x.type().getElement();
  mlir::Value src = x.value;
  bool grows = kind == ReduceKind::sum || kind == ReduceKind::prod || element.isInteger(1);
  mlir::Type wide;
  if (mlir::isa<mlir::IntegerType>(element)) {
    if (kind == ReduceKind::logaddexp)
      wide = builder.getF32Type();
    else if (grows && element.getIntOrFloatBitWidth() < 64)
      wide = builder.getI64Type();
  }
  if (wide) {
    auto type = GraphTensorType::of(builder.getContext(), x.type().sizes(), wide);
    src = graph::CastOp::create(builder, here(), type, src);
  }
  return wrap(graph::ScanOp::create(builder, here(), src.getType(), kind, src, axis, reverse));
}

/// cumsum(x, axis) and its like: sums and products of integers are int64, as of `sum`.
template <ReduceKind kind>
static Result cumulative(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "axis"}, 2);
  int64_t axis;
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  if (auto error = readAxis(name, r[1], x.type().sizes().size(), axis))
    return error;
  return tracer.scan(kind, x, axis, /*reverse=*/false);
}

//===----------------------------------------------------------------------===//
// softmax and its relatives
//===----------------------------------------------------------------------===//

/// x less its maximum, and the sum of what that is to the power of e.
static Result shifted(Tracer &tracer, const Given &given, Result &powers, Result &total,
                      Result &top) {
  Result x = floats(tracer, given.value);
  if (!x)
    return x;
  Operand operand;
  if (auto error = tracer.operand("softmax", *x, operand))
    return error;
  top = tracer.reduce(ReduceKind::max, operand, given.axes, /*keepdim=*/true);
  // Whatever is subtracted, the result is the same.
  if (auto *value = top ? top->dynExtension<TensorValue>() : nullptr)
    if (auto view = value->value.getDefiningOp<graph::RearrangeOp>())
      view.getSrc().getDefiningOp()->setAttr(graph::kNoGradientAttr, tracer.builder.getUnitAttr());
  Result apart = top ? tracer.map(MapKind::sub, {*x, *top}) : Result(top.takeError());
  if (!apart)
    return apart;
  powers = tracer.map(MapKind::exp, {*apart});
  if (!powers)
    return PyValue(*apart);
  if (auto error = tracer.operand("softmax", *powers, operand))
    return error;
  total = tracer.reduce(ReduceKind::sum, operand, given.axes, /*keepdim=*/true);
  return apart;
}

/// (x, axis=-1)
static std::unique_ptr<EvalError> readAlong(Tracer &tracer, StringRef name, const CallArgs &args,
                                            Given &out) {
  CallArgs all = args;
  if (all.positional.size() < 2 && !all.keyword("axis"))
    all.keywords.emplace_back("axis", PyValue::integer(-1));
  return read(tracer, name, all, out);
}

template <bool logarithm>
static Result softmax(Tracer &tracer, StringRef name, const CallArgs &args) {
  Given given;
  if (auto error = readAlong(tracer, name, args, given))
    return error;
  Result powers = PyValue(), total = PyValue(), top = PyValue();
  Result apart = shifted(tracer, given, powers, total, top);
  if (!apart || !powers || !total)
    return !apart ? std::move(apart) : !powers ? std::move(powers) : std::move(total);
  if (!logarithm)
    return tracer.map(MapKind::div, {*powers, *total});
  Result log = tracer.map(MapKind::log, {*total});
  return log ? tracer.map(MapKind::sub, {*apart, *log}) : std::move(log);
}

/// logsumexp(x, axis=None, keepdim=False)
static Result logSumExp(Tracer &tracer, StringRef name, const CallArgs &args) {
  Given given;
  if (auto error = read(tracer, name, args, given))
    return error;
  Result powers = PyValue(), total = PyValue(), top = PyValue();
  Result apart = shifted(tracer, given, powers, total, top);
  if (!apart || !powers || !total)
    return !apart ? std::move(apart) : !powers ? std::move(powers) : std::move(total);
  Result log = tracer.map(MapKind::log, {*total});
  Result sum = log ? tracer.map(MapKind::add, {*top, *log}) : std::move(log);
  // What has no finite maximum is that: of such the powers are no numbers.
  Result none = sum ? tracer.map(MapKind::sub, {*top, *top}) : Result(sum.takeError());
  Result isFinite = none ? tracer.map(MapKind::eq, {*none, PyValue::number(0)}) : std::move(none);
  sum = isFinite ? tracer.map(MapKind::select, {*isFinite, *sum, *top}) : std::move(isFinite);
  Operand whole;
  if (!sum || given.keepdim)
    return sum;
  if (auto error = tracer.operand(name, *sum, whole))
    return error;
  llvm::SmallVector<int64_t> dims;
  for (size_t i = 0; i < whole.type().sizes().size(); ++i)
    if (!llvm::is_contained(given.axes, int64_t(i)))
      dims.push_back(i);
  return tracer.rearrange(whole, dims);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// What is multiplied and added must fit what was normalised: said before the formula says it of
/// values that nobody wrote.
static std::unique_ptr<EvalError> checkFits(Tracer &tracer, StringRef name, StringRef what,
                                            const PyValue &value, const Sizes &sizes) {
  Operand x;
  if (value.isNone())
    return nullptr;
  if (auto error = tracer.operand(name, value, x))
    return error;
  unsigned dim;
  if (graph::broadcast(sizes, x.type().sizes(), dim))
    return nullptr;
  return fail(formatted("`{}` of `{}` has the shape {}, and what is normalised {}: its dimensions "
                        "must be the last of those, or 1",
                        what, name, graph::shapeText(x.type().sizes()), graph::shapeText(sizes)),
              "ValueError");
}

static Result scaled(Tracer &tracer, Result x, const PyValue &weight, const PyValue &bias) {
  if (x && !weight.isNone())
    x = tracer.map(MapKind::mul, {*x, weight});
  if (x && !bias.isNone())
    x = tracer.map(MapKind::add, {*x, bias});
  return x;
}

/// x / sqrt(spread + eps)
static Result dividedByRoot(Tracer &tracer, const PyValue &x, Result spread, const PyValue &eps) {
  if (spread)
    spread = tracer.map(MapKind::add, {*spread, eps});
  if (spread)
    spread = tracer.map(MapKind::rsqrt, {*spread});
  return spread ? tracer.map(MapKind::mul, {x, *spread}) : std::move(spread);
}

/// As PyTorch has it the shape that is normalised comes second: the end of the tensor's, whose
/// dimensions are the axes then.
static std::unique_ptr<EvalError> shapeAsAxes(Tracer &tracer, StringRef name, CallArgs &args) {
  auto &given = args.positional;
  if (given.size() < 2 || !(given[1].isSequence() || sizeOf(given[1])))
    return nullptr;
  Operand x;
  if (auto error = tracer.operand(name, given[0], x))
    return error;
  std::vector<PyValue> last = {given[1]}, axes;
  if (given[1].isSequence())
    last = given[1].elements().vec();
  Sizes sizes = x.type().sizes();
  bool fits = !last.empty() && last.size() <= sizes.size();
  for (size_t i = 0; i < last.size() && fits; ++i) {
    std::optional<Size> size = sizeOf(last[i]);
    fits = size && *size == sizes[sizes.size() - last.size() + i];
    axes.push_back(PyValue::integer(int64_t(i) - int64_t(last.size())));
  }
  if (!fits)
    return fail(formatted("`normalized_shape` {} of `{}` is not the end of {}",
                          eval::repr(given[1]), name, graph::shapeText(sizes)),
                "ValueError");
  given.erase(given.begin() + 1);
  args.positionalRanges.clear();
  args.keywords.emplace_back("axis", PyValue::tuple(std::move(axes)));
  return nullptr;
}

/// layer_norm(x, weight=None, bias=None, eps=1e-5, axis=-1)
static Result layerNorm(Tracer &tracer, StringRef name, const CallArgs &call) {
  CallArgs args = call;
  if (auto error = shapeAsAxes(tracer, name, args))
    return error;
  ArgReader r(name, args, {"x", "weight", "bias", "eps", "axis"}, 1);
  if (!r)
    return r.error();
  Given given;
  if (auto error = read(tracer, name, {{r[0], r.has(4) ? r[4] : PyValue::integer(-1)}, {}}, given))
    return error;
  for (auto [what, value] : {std::pair("weight", r.get(1)), std::pair("bias", r.get(2))})
    if (auto error = checkFits(tracer, name, what, value, given.x.type().sizes()))
      return error;
  PyValue eps = r.has(3) ? r[3] : PyValue::number(1e-5);
  Result apart = centred(tracer, r[0], given.axes);
  if (!apart)
    return apart;
  Result squares = tracer.map(MapKind::square, {*apart});
  if (squares)
    squares = meanOf(tracer, *squares, given.axes, /*keepdim=*/true);
  return scaled(tracer, dividedByRoot(tracer, *apart, std::move(squares), eps), r.get(1), r.get(2));
}

/// rms_norm(x, weight=None, eps=1e-6, axis=-1)
static Result rmsNorm(Tracer &tracer, StringRef name, const CallArgs &call) {
  CallArgs args = call;
  if (auto error = shapeAsAxes(tracer, name, args))
    return error;
  ArgReader r(name, args, {"x", "weight", "eps", "axis"}, 1);
  if (!r)
    return r.error();
  Given given;
  if (auto error = read(tracer, name, {{r[0], r.has(3) ? r[3] : PyValue::integer(-1)}, {}}, given))
    return error;
  if (auto error = checkFits(tracer, name, "weight", r.get(1), given.x.type().sizes()))
    return error;
  PyValue eps = r.has(2) ? r[2] : PyValue::number(1e-6);
  Result squares = tracer.map(MapKind::square, {r[0]});
  if (squares)
    squares = meanOf(tracer, *squares, given.axes, /*keepdim=*/true);
  return scaled(tracer, dividedByRoot(tracer, r[0], std::move(squares), eps), r.get(1), PyValue());
}

ArrayRef<TracedEntry> tensors::tracedReductions() {
  static const TracedEntry table[] = {
      {"sum", reduction},
      {"prod", reduction},
      {"max", reduction},
      {"min", reduction},
      {"mean", mean},
      {"var", variance<false>},
      {"std", variance<true>},
      {"cumsum", cumulative<ReduceKind::sum>},
      {"cumprod", cumulative<ReduceKind::prod>},
      {"cummax", cumulative<ReduceKind::max>},
      {"cummin", cumulative<ReduceKind::min>},
      {"logcumsumexp", cumulative<ReduceKind::logaddexp>},
      {"softmax", softmax<false>},
      {"log_softmax", softmax<true>},
      {"logsumexp", logSumExp},
      {"layer_norm", layerNorm},
      {"rms_norm", rmsNorm},
  };
  return table;
}
