//===- Grad.cpp - gradients, by going back through what was traced --------===//
//
// `tile.grad(f)(x)` traces f, then goes through the operations from the last to the first,
// with the derivative of the result by each value. Derivatives are ordinary operations, so
// they are simplified and fused like all others. A derivative may have size 1 along
// dimensions in which it repeats.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/AffineIndices.h"
#include "frontend/tensors/ScanGradient.h"
#include "frontend/tensors/TakenGradient.h"
#include "text/Format.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

namespace {

/// Arithmetic on traced values that remembers the first error.
class Backward {
public:
  Backward(Tracer &tracer) : tracer(tracer) {}

  /// The derivatives of `result` by each target, from the operations behind `first`.
  Result run(Value result, ArrayRef<Value> targets, Operation *first);

private:
  using V = PyValue;
  V number(double x) { return PyValue::number(x); }
  V value(Value v) { return tracer.wrap(v); }
  V map(MapKind kind, std::vector<V> operands) {
    if (error)
      return {};
    Result made = tracer.map(kind, "grad", operands);
    return keep(std::move(made));
  }
  V keep(Result made) {
    if (made)
      return *made;
    if (!error)
      error = made.takeError();
    return {};
  }
  V add(V x, V y) { return map(MapKind::add, {x, y}); }
  V sub(V x, V y) { return map(MapKind::sub, {x, y}); }
  V mul(V x, V y) { return map(MapKind::mul, {x, y}); }
  V div(V x, V y) { return map(MapKind::div, {x, y}); }
  V where(V c, V x, V y) { return map(MapKind::select, {c, x, y}); }
  V of(MapKind kind, V x) { return map(kind, {x}); }
  Operand operand(const V &v) {
    Operand out;
    if (!error)
      error = tracer.operand("grad", v, out);
    return out;
  }
  Sizes sizesOf(const V &v) { return operand(v).type().sizes(); }

  void give(Value to, V derivative);
  V narrowed(V derivative, ArrayRef<Size> whole, ArrayRef<Size> to);
  V expanded(V derivative, ArrayRef<Size> to);
  V ofUnary(MapKind kind, V x, V r, V g);
  V slopeOfGelu(V x);
  V slopeOfGeluTanh(V x);
  void through(Operation *op, V g);
  void throughMap(graph::MapOp op, V g);
  void throughReduce(graph::ReduceOp op, V g);
  void throughRearrange(graph::RearrangeOp op, V g);
  void throughMatmul(graph::MatmulOp op, V g);
  void throughGather(graph::GatherOp op, V g);
  void unsupported(const std::string &what);

  Tracer &tracer;
  std::unique_ptr<EvalError> error;
  llvm::DenseMap<Value, V> derivatives;
  llvm::DenseSet<Value> wanted; ///< values that depend on a target
};

} // namespace

static Sizes sizesOf(Value v) { return cast<GraphTensorType>(v.getType()).sizes(); }
static bool isFloat(Value v) {
  return isa<FloatType>(cast<GraphTensorType>(v.getType()).getElement());
}

void Backward::unsupported(const std::string &what) {
  if (!error)
    error = eval::unsupported(formatted("gradients of {} are not supported", what));
}

/// Sums along what was repeated: `whole` is what the derivative's dimensions stand for.
PyValue Backward::narrowed(V derivative, ArrayRef<Size> whole, ArrayRef<Size> to) {
  if (error)
    return {};
  Operand x = operand(derivative);
  Sizes own = x.type().sizes();
  size_t rank = own.size(), missing = rank - std::min(rank, to.size());
  llvm::SmallVector<int64_t> axes, dims;
  Size times(1);
  for (size_t i = 0; i < rank; ++i) {
    bool repeats = i < missing ||
                   (to[i - missing].isConstant(1) && !whole[whole.size() - rank + i].isConstant(1));
    if (!repeats)
      continue;
    if (own[i].isConstant(1))
      times = times * whole[whole.size() - rank + i];
    else
      axes.push_back(i);
  }
  // Dimensions that the derivative does not have at all repeat as well.
  for (size_t i = 0; i + rank < whole.size(); ++i)
    if (i + to.size() < whole.size() || to[i + to.size() - whole.size()].isConstant(1))
      times = times * whole[i];
  V sum = axes.empty() ? derivative : keep(tracer.reduce(ReduceKind::sum, x, axes, true));
  if (!times.isConstant(1))
    sum = mul(sum, tracer.sizeValue(times));
  if (error || missing == 0)
    return sum;
  for (size_t i = missing; i < rank; ++i)
    dims.push_back(i);
  return keep(tracer.rearrange(operand(sum), dims));
}

/// With all its elements.
PyValue Backward::expanded(V derivative, ArrayRef<Size> to) {
  if (error || sizesOf(derivative) == Sizes(to.begin(), to.end()))
    return derivative;
  return keep(tracer.expand(derivative, to));
}

void Backward::give(Value to, V derivative) {
  if (error || !wanted.contains(to) || !isFloat(to))
    return;
  V &sum = derivatives[to];
  sum = sum.isNone() ? derivative : add(sum, derivative);
}

PyValue Backward::slopeOfGelu(V x) {
  V part = mul(add(of(MapKind::erf, mul(x, number(M_SQRT1_2))), number(1)), number(0.5));
  V bell = of(MapKind::exp, mul(of(MapKind::square, x), number(-0.5)));
  return add(part, mul(x, mul(bell, number(0.5 * M_2_SQRTPI * M_SQRT1_2))));
}

PyValue Backward::slopeOfGeluTanh(V x) {
  double scale = M_2_SQRTPI * M_SQRT1_2;
  V one = number(1), squared = of(MapKind::square, x);
  V t = of(MapKind::tanh, mul(mul(x, number(scale)), add(one, mul(squared, number(0.044715)))));
  V slope = mul(add(one, mul(squared, number(3 * 0.044715))), number(scale));
  V rest = mul(mul(x, number(0.5)), mul(sub(one, of(MapKind::square, t)), slope));
  return add(mul(add(one, t), number(0.5)), rest);
}

PyValue Backward::ofUnary(MapKind kind, V x, V r, V g) {
  V one = number(1);
  switch (kind) {
  case MapKind::neg:
    return of(MapKind::neg, g);
  case MapKind::abs:
    return mul(g, of(MapKind::sign, x));
  case MapKind::exp:
    return mul(g, r);
  case MapKind::exp2:
    return mul(g, mul(r, number(M_LN2)));
  case MapKind::expm1:
    return mul(g, add(r, one));
  case MapKind::log:
    return div(g, x);
  case MapKind::log2:
    return div(g, mul(x, number(M_LN2)));
  case MapKind::log10:
    return div(g, mul(x, number(M_LN10)));
  case MapKind::log1p:
    return div(g, add(x, one));
  case MapKind::sqrt:
    return div(mul(g, number(0.5)), r);
  case MapKind::rsqrt:
    return mul(mul(g, number(-0.5)), mul(r, of(MapKind::square, r)));
  case MapKind::sin:
    return mul(g, of(MapKind::cos, x));
  case MapKind::cos:
    return of(MapKind::neg, mul(g, of(MapKind::sin, x)));
  case MapKind::tan:
    return mul(g, add(of(MapKind::square, r), one));
  case MapKind::tanh:
    return mul(g, sub(one, of(MapKind::square, r)));
  case MapKind::sigmoid:
    return mul(g, mul(r, sub(one, r)));
  case MapKind::relu:
    return where(map(MapKind::gt, {x, PyValue::integer(0)}), g, number(0));
  case MapKind::silu: {
    V s = of(MapKind::sigmoid, x);
    return mul(g, mul(s, add(one, mul(x, sub(one, s)))));
  }
  case MapKind::gelu:
    return mul(g, slopeOfGelu(x));
  case MapKind::gelu_tanh:
    return mul(g, slopeOfGeluTanh(x));
  case MapKind::erf:
    return mul(g,
               mul(of(MapKind::exp, of(MapKind::neg, of(MapKind::square, x))), number(M_2_SQRTPI)));
  case MapKind::erfc:
    return of(MapKind::neg, ofUnary(MapKind::erf, x, r, g));
  case MapKind::lgamma:
    return mul(g, keep(tracer.callNamed("digamma", {{x}, {}}).value()));
  case MapKind::erfinv:
    return mul(g, mul(of(MapKind::exp, of(MapKind::square, r)), number(1 / M_2_SQRTPI)));
  case MapKind::asin:
    return mul(g, of(MapKind::rsqrt, sub(one, of(MapKind::square, x))));
  case MapKind::acos:
    return of(MapKind::neg, ofUnary(MapKind::asin, x, r, g));
  case MapKind::atan:
    return div(g, add(of(MapKind::square, x), one));
  case MapKind::reciprocal:
    return of(MapKind::neg, mul(g, of(MapKind::square, r)));
  case MapKind::square:
    return mul(mul(g, number(2)), x);
  default:
    return {}; // steps: their slope is 0
  }
}

void Backward::throughMap(graph::MapOp op, V g) {
  Sizes whole = ::sizesOf(op.getResult());
  auto to = [&](unsigned i, auto &&derivative) {
    Value at = op.getOperand(i);
    if (wanted.contains(at) && isFloat(at) && !error)
      give(at, narrowed(derivative(), whole, ::sizesOf(at)));
  };
  V x = value(op.getOperand(0)), r = value(op.getResult());
  V y = op.getNumOperands() > 1 ? value(op.getOperand(1)) : V();
  V zero = number(0);
  switch (op.getKind()) {
  case MapKind::add:
    to(0, [&] { return g; });
    to(1, [&] { return g; });
    return;
  case MapKind::sub:
    to(0, [&] { return g; });
    to(1, [&] { return of(MapKind::neg, g); });
    return;
  case MapKind::mul:
    to(0, [&] { return mul(g, y); });
    to(1, [&] { return mul(g, x); });
    return;
  case MapKind::div:
    to(0, [&] { return div(g, y); });
    to(1, [&] { return of(MapKind::neg, div(mul(g, r), y)); });
    return;
  case MapKind::mod:
    to(0, [&] { return g; });
    to(1, [&] { return of(MapKind::neg, mul(g, map(MapKind::floordiv, {x, y}))); });
    return;
  case MapKind::pow:
    to(0, [&] { return mul(g, mul(y, map(MapKind::pow, {x, sub(y, number(1))}))); });
    to(1, [&] { return mul(g, mul(r, of(MapKind::log, x))); });
    return;
  case MapKind::atan2: {
    V length = add(of(MapKind::square, x), of(MapKind::square, y));
    to(0, [&] { return mul(g, div(y, length)); });
    to(1, [&] { return of(MapKind::neg, mul(g, div(x, length))); });
    return;
  }
  case MapKind::maximum:
  case MapKind::minimum: {
    V isFirst = map(op.getKind() == MapKind::maximum ? MapKind::ge : MapKind::le, {x, y});
    to(0, [&] { return where(isFirst, g, zero); });
    to(1, [&] { return where(isFirst, zero, g); });
    return;
  }
  case MapKind::select:
    to(1, [&] { return where(x, g, zero); });
    to(2, [&] { return where(x, zero, g); });
    return;
  default:
    if (op.getNumOperands() > 1)
      return;
    V derivative = ofUnary(op.getKind(), x, r, g);
    if (!derivative.isNone())
      to(0, [&] { return derivative; });
  }
}

void Backward::throughReduce(graph::ReduceOp op, V g) {
  if (op->hasAttr(kNoGradientAttr))
    return;
  Sizes sizes = ::sizesOf(op.getSrc());
  auto kept = [&](const V &v) { // with 1 where it was reduced
    llvm::SmallVector<int64_t> dims;
    int64_t next = 0;
    for (size_t i = 0; i < sizes.size(); ++i)
      dims.push_back(llvm::is_contained(op.getAxes(), int64_t(i)) ? -1 : next++);
    return error ? V() : keep(tracer.rearrange(operand(v), dims));
  };
  // A derivative with fewer dimensions than the result repeats along them.
  V whole = g;
  if (!error && sizesOf(g).size() < ::sizesOf(op.getResult()).size())
    whole = expanded(g, ::sizesOf(op.getResult()));
  if (op.getKind() == ReduceKind::sum) {
    give(op.getSrc(), kept(whole));
    return;
  }
  if (op.getKind() == ReduceKind::prod) {
    // Where one factor is 0, it alone has a slope: the product of the others.
    V x = value(op.getSrc()), isZero = map(MapKind::eq, {x, number(0)});
    V zeros = where(isZero, number(1), number(0)), factors = where(isZero, number(1), x);
    if (error)
      return;
    V others = keep(tracer.reduce(ReduceKind::prod, operand(factors), op.getAxes(), true));
    V count = keep(tracer.reduce(ReduceKind::sum, operand(zeros), op.getAxes(), true));
    V ofZero = where(map(MapKind::eq, {count, number(1)}), others, number(0));
    V ofRest = where(map(MapKind::eq, {count, number(0)}), div(others, x), number(0));
    return give(op.getSrc(), mul(kept(whole), where(isZero, ofZero, ofRest)));
  }
  // Of several that are equal each has its share.
  V isIt = map(MapKind::eq, {value(op.getSrc()), kept(value(op.getResult()))});
  V ones = where(isIt, number(1), number(0));
  if (error)
    return;
  V count = keep(tracer.reduce(ReduceKind::sum, operand(ones), op.getAxes(), true));
  give(op.getSrc(), where(isIt, div(kept(whole), count), number(0)));
}

void Backward::throughRearrange(graph::RearrangeOp op, V g) {
  Sizes source = ::sizesOf(op.getSrc());
  V whole = g;
  if (!error && sizesOf(g).size() < ::sizesOf(op.getResult()).size())
    whole = expanded(g, ::sizesOf(op.getResult()));
  llvm::SmallVector<int64_t> dims(source.size(), -1);
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    if (dim >= 0)
      dims[dim] = i;
  if (!error)
    give(op.getSrc(), keep(tracer.rearrange(operand(whole), dims)));
}

void Backward::throughMatmul(graph::MatmulOp op, V g) {
  Sizes whole = ::sizesOf(op.getResult());
  g = expanded(g, whole);
  // Of short numbers it is multiplied as such, though it was computed with float32: products of
  // those are slow.
  Type element = op.getType().getElement();
  if (!error && graph::bytesOf(operand(g).type().getElement()) > graph::bytesOf(element))
    g = keep(tracer.cast(g, element));
  auto turned = [&](const V &v) {
    return keep(tracer.callNamed("transpose", {{v, PyValue::integer(-1), PyValue::integer(-2)}, {}})
                    .value());
  };
  auto to = [&](Value at, const V &left, const V &right) {
    if (error)
      return;
    V product = keep(tracer.matmul(left, right));
    if (error)
      return;
    // Dimensions in front may have been repeated.
    Sizes made = sizesOf(product), own = ::sizesOf(at);
    give(at, narrowed(product, made, own));
  };
  if (wanted.contains(op.getLhs()))
    to(op.getLhs(), g, turned(value(op.getRhs())));
  if (wanted.contains(op.getRhs()))
    to(op.getRhs(), turned(value(op.getLhs())), g);
}

/// Where every dimension of the result is one of the source, in order, and the others are
/// found by their index: what was not taken has no part in it.
void Backward::throughGather(graph::GatherOp op, V g) {
  Sizes source = ::sizesOf(op.getSrc()), whole = ::sizesOf(op.getResult());
  llvm::SmallVector<int64_t> dims(source.size(), -1); // the result's dimension of each
  size_t found = 0;
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    auto view = index.getDefiningOp<graph::RearrangeOp>();
    Value line = view ? view.getSrc() : index;
    size_t fromEnd = ::sizesOf(index).size();
    bool isOwn = line.getDefiningOp<graph::IndexOp>() && found < whole.size() &&
                 whole.size() - fromEnd == found && whole[found] == source[i] &&
                 (!view || view.getDims()[0] == 0);
    if (isOwn)
      dims[i] = found++;
  }
  g = expanded(g, whole);
  if (found != whole.size()) {
    std::optional<Result> derivative = error ? std::nullopt : affineGradient(tracer, op, g);
    if (!derivative && !error)
      derivative = takenGradient(tracer, op, g);
    return derivative ? give(op.getSrc(), keep(std::move(*derivative))) : void();
  }
  auto spread = [&](const V &v) { // as the source's dimensions
    Sizes own = error ? Sizes() : sizesOf(v);
    llvm::SmallVector<int64_t> order;
    for (int64_t dim : dims) {
      int64_t from = dim < 0 ? -1 : dim - int64_t(whole.size() - own.size());
      order.push_back(from < 0 ? -1 : from);
    }
    return error ? V() : keep(tracer.rearrange(operand(v), order));
  };
  V derivative = spread(g);
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    if (dims[i] >= 0)
      continue;
    llvm::SmallVector<int64_t> along(source.size() - i, -1);
    along[0] = 0;
    V place = keep(tracer.rearrange({tracer.indices(source[i]), "", false}, along));
    derivative = where(map(MapKind::eq, {place, spread(value(index))}), derivative, number(0));
  }
  give(op.getSrc(), derivative);
}

void Backward::through(Operation *op, V g) {
  if (auto map = dyn_cast<graph::MapOp>(op))
    return throughMap(map, g);
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return throughReduce(reduce, g);
  if (auto view = dyn_cast<graph::RearrangeOp>(op))
    return throughRearrange(view, g);
  if (auto product = dyn_cast<graph::MatmulOp>(op))
    return throughMatmul(product, g);
  if (auto gather = dyn_cast<graph::GatherOp>(op))
    return throughGather(gather, g);
  if (auto scan = dyn_cast<graph::ScanOp>(op)) {
    V whole = expanded(g, ::sizesOf(scan.getResult()));
    if (!error && wanted.contains(scan.getSrc()) && isFloat(scan.getSrc()))
      give(scan.getSrc(), keep(scanGradient(tracer, scan, whole)));
    return;
  }
  if (isa<graph::LaunchOp>(op))
    return unsupported("kernels that are launched");
  if (auto cast = dyn_cast<graph::CastOp>(op)) {
    if (isFloat(cast.getSrc()) && !error)
      give(cast.getSrc(), keep(tracer.cast(g, cast.getSrc().getType().getElement())));
    return;
  }
  if (auto window = dyn_cast<graph::WindowOp>(op)) {
    Sizes starts;
    std::string message;
    for (Attribute start : window.getStarts())
      starts.push_back(Size(0) - *Size::parse(mlir::cast<StringAttr>(start).getValue(), message));
    V whole = expanded(g, ::sizesOf(op->getResult(0)));
    if (!error)
      give(window.getSrc(), keep(tracer.window(operand(whole), starts, ::sizesOf(window.getSrc()),
                                               /*inside=*/false, /*loose=*/false)));
    return;
  }
  if (auto shape = dyn_cast<graph::ReshapeOp>(op)) {
    V whole = expanded(g, ::sizesOf(op->getResult(0)));
    if (!error)
      give(shape.getSrc(), keep(tracer.reshape(operand(whole), ::sizesOf(shape.getSrc()))));
  }
}

Result Backward::run(Value result, ArrayRef<Value> targets, Operation *first) {
  Block *block = tracer.builder.getInsertionBlock();
  llvm::SmallVector<Operation *> ops;
  wanted.insert(targets.begin(), targets.end());
  for (auto it = first ? std::next(first->getIterator()) : block->begin(); it != block->end();
       ++it) {
    ops.push_back(&*it);
    if (llvm::any_of(it->getOperands(), [&](Value v) { return wanted.contains(v); }))
      wanted.insert(it->result_begin(), it->result_end());
  }
  derivatives[result] = number(1);
  for (Operation *op : llvm::reverse(ops)) {
    if (isa<graph::LaunchOp>(op)) {
      for (Value made : op->getResults())
        if (derivatives.count(made))
          through(op, {});
      if (error)
        return std::move(error);
      continue;
    }
    auto found = derivatives.find(op->getResult(0));
    if (found == derivatives.end() || llvm::is_contained(targets, op->getResult(0)))
      continue;
    V g = found->second;
    through(op, g);
    if (error)
      return std::move(error);
  }
  std::vector<PyValue> out;
  for (Value target : targets) {
    V derivative = derivatives.count(target) ? derivatives[target] : number(0);
    derivative = expanded(derivative, ::sizesOf(target));
    Type element = cast<GraphTensorType>(target.getType()).getElement();
    out.push_back(error ? V() : keep(tracer.cast(derivative, element)));
  }
  if (error)
    return std::move(error);
  return PyValue::tuple(std::move(out));
}

//===----------------------------------------------------------------------===//
// tile.grad
//===----------------------------------------------------------------------===//

namespace {
/// What `tile.grad(f)` gives: a function that can be called.
class GradValue : public eval::Extension {
public:
  GradValue(Tracer &tracer, PyValue function, std::vector<int64_t> which, bool isOne,
            bool withValue)
      : Extension(&id), tracer(tracer), function(std::move(function)), which(std::move(which)),
        isOne(isOne), withValue(withValue) {}
  static bool classof(const Extension *e) { return e->classId() == &id; }
  std::string typeName() const override { return "gradient"; }
  std::string repr() const override {
    return formatted("the gradient of {}", eval::repr(function));
  }
  Result call(eval::Evaluator &evaluator, const CallArgs &args) override;

private:
  static char id;
  Tracer &tracer;
  PyValue function;
  std::vector<int64_t> which; ///< arguments, by position
  bool isOne, withValue;
};
} // namespace

char GradValue::id = 0;

Result GradValue::call(eval::Evaluator &evaluator, const CallArgs &args) {
  llvm::SmallVector<Value> targets;
  for (int64_t i : which) {
    auto *x = i < int64_t(args.positional.size()) ? args.positional[i].dynExtension<TensorValue>()
                                                  : nullptr;
    if (!x || !isFloat(x->value))
      return fail(
          formatted("argument {} of {} must be a tensor of floats, given by position", i, repr()));
    targets.push_back(x->value);
  }
  Block *block = tracer.builder.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  Result value = evaluator.call(function, args);
  if (!value)
    return value;
  auto *loss = value->dynExtension<TensorValue>();
  if (!loss || !loss->sizes().empty() || !isFloat(loss->value))
    return fail(formatted("a gradient is of a function that gives one number, such as "
                          "`(...).sum()`; this one gives {}",
                          eval::repr(*value)));
  Result gradients = Backward(tracer).run(loss->value, targets, before);
  if (!gradients)
    return gradients;
  PyValue out = isOne ? gradients->elements()[0] : *gradients;
  return withValue ? Result(PyValue::tuple({*value, out})) : Result(out);
}

/// grad(f, argnums=0): by one argument, or by several of a tuple.
template <bool withValue> static Result grad(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"f", "argnums"}, 1);
  if (!r)
    return r.error();
  PyValue given = r.has(1) ? r[1] : PyValue::integer(0);
  std::vector<PyValue> parts = {given};
  if (given.isSequence())
    parts = given.elements().vec();
  std::vector<int64_t> which;
  for (const PyValue &part : parts) {
    std::optional<int64_t> number = part.toInt64();
    if (!number || *number < 0)
      return fail(
          formatted("`argnums` of `{}` is the position of an argument, or a tuple of them, got {}",
                    name, eval::repr(given)));
    which.push_back(*number);
  }
  return PyValue::extension(
      std::make_shared<GradValue>(tracer, r[0], std::move(which), !given.isSequence(), withValue));
}

ArrayRef<TracedEntry> tensors::tracedGradients() {
  static const TracedEntry table[] = {{"grad", grad<false>}, {"value_and_grad", grad<true>}};
  return table;
}
