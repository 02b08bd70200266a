//===- BuiltinsCombine.cpp - reductions and scans by functions ------------===//
//
// What `tl.reduce` and `tl.associative_scan` combine with is a function of the kernel, or one of
// those that kernels take from the reference's standard library.
//
//===----------------------------------------------------------------------===//
#include "frontend/Counted.h"
#include "frontend/specialize/builtins/Reduction.h"

using namespace mlir;

namespace tile::specialize {

/// Calls a function value on scalars; empty after an error.
static Tensors callCombiner(Specializer &s, const PyValue &function, ArrayRef<Tensor> a,
                            ArrayRef<Tensor> b) {
  std::vector<PyValue> args;
  for (ArrayRef<Tensor> side : {a, b})
    for (const Tensor &t : side)
      args.push_back(s.wrap(t));
  PyValue result = s.call(function, args);
  if (holdsPoison(result))
    return {};
  Tensors tensors;
  ArrayRef<PyValue> parts = result.is(PyValue::Kind::Tuple) ? result.elements() : ArrayRef(result);
  if (parts.size() != a.size()) {
    s.error(formatted("the combining function must return {}, got {}", counted(a.size(), "value"),
                      describe(result)));
    return {};
  }
  for (auto [part, input] : llvm::zip(parts, a)) {
    const Tensor *t = tensorIn(part);
    if (!t && part.isNumber())
      tensors.push_back(s.constant(part, input.type));
    else if (t)
      tensors.push_back(*t);
    else
      tensors.push_back(s.poison(
          formatted("the combining function must return numbers, got {}", describe(part))));
  }
  return tensors;
}

static bool combineInputs(BuiltinCall &c, SmallVectorImpl<Tensor> &inputs) {
  ArrayRef<PyValue> parts = c[0].isSequence() ? c[0].elements() : ArrayRef(c[0]);
  SmallVector<Tensor *> pointers;
  for (const PyValue &part : parts) {
    const Tensor *t = tensorIn(part);
    if (!t || !t->isBlock()) {
      c.fail(formatted("needs blocks, got {}", describe(part)));
      return false;
    }
    inputs.push_back(*t);
  }
  for (Tensor &t : inputs)
    pointers.push_back(&t);
  return !inputs.empty() && c.s.broadcast(pointers);
}

static PyValue tensorsOrTuple(BuiltinCall &c, const Tensors &results) {
  if (results.empty())
    return PoisonValue::get();
  if (!c[0].isSequence())
    return c.s.wrap(results[0]);
  std::vector<PyValue> values;
  for (const Tensor &t : results)
    values.push_back(c.s.wrap(t));
  return PyValue::tuple(std::move(values));
}

/// Argument `i` as what combines two values: anything that can be called.
static bool checkCombiner(BuiltinCall &c, unsigned i) {
  if (!c[i].isNone() && !c[i].isNumber() && !c[i].isStr() && !tensorIn(c[i]))
    return true;
  c.fail(formatted("{} must be a function of two values, got {}", c.parameter(i), describe(c[i])));
  return false;
}

static PyValue reduce(BuiltinCall &c) {
  SmallVector<Tensor> inputs;
  if (!checkCombiner(c, 2) || !combineInputs(c, inputs))
    return PoisonValue::get();
  Reduction r{c, inputs[0]};
  if (!r.prepare(1, 3))
    return PoisonValue::get();
  for (Tensor &t : inputs)
    t = r.input(t);
  Tensors results = c.s.reduce(inputs, r.along(), [&](ArrayRef<Tensor> a, ArrayRef<Tensor> b) {
    return callCombiner(c.s, c[2], a, b);
  });
  for (Tensor &t : results)
    t = r.finish(t);
  return tensorsOrTuple(c, results);
}

static PyValue associativeScan(BuiltinCall &c) {
  SmallVector<Tensor> inputs;
  if (!checkCombiner(c, 2) || !combineInputs(c, inputs))
    return PoisonValue::get();
  auto axis = c.axis(1, inputs[0].rank());
  if (!axis)
    return PoisonValue::get();
  Tensors results = c.s.scan(inputs, *axis, c.flag(3), [&](ArrayRef<Tensor> a, ArrayRef<Tensor> b) {
    return callCombiner(c.s, c[2], a, b);
  });
  return tensorsOrTuple(c, results);
}

//===----------------------------------------------------------------------===//
// Combiners that real kernels take from the reference's standard library
//===----------------------------------------------------------------------===//

template <BinaryOp op> static PyValue combine(BuiltinCall &c) { return c.s.binary(op, c[0], c[1]); }

template <MinMax which> static PyValue combineExtrema(BuiltinCall &c) {
  Tensor a = c.tensor(0), b = c.tensor(1);
  return c.s.wrap(c.s.minMax(which, a, b, /*propagateNan=*/false));
}

template <MinMax which, bool left> static PyValue combineWithIndex(BuiltinCall &c) {
  Specializer &s = c.s;
  PyValue better = s.compare(which == MinMax::Max ? CompareOp::Gt : CompareOp::Lt, c[0], c[2]);
  if (left) {
    PyValue tie = s.binary(BinaryOp::And, s.compare(CompareOp::Eq, c[0], c[2]),
                           s.compare(CompareOp::Lt, c[1], c[3]));
    better = s.binary(BinaryOp::Or, better, tie);
  }
  PyValue where = PyValue::symbol("tl.where");
  return PyValue::tuple({s.call(where, {better, c[0], c[2]}), s.call(where, {better, c[1], c[3]})});
}

void addCombinerBuiltins(BuiltinTable &t) {
  t.add("tl._sum_combine", "a, b", combine<BinaryOp::Add>);
  t.add("tl._prod_combine", "a, b", combine<BinaryOp::Mul>);
  t.add("tl._xor_combine", "a, b", combine<BinaryOp::Xor>);
  t.add("tl._or_combine", "a, b", combine<BinaryOp::Or>);
  t.add("tl._elementwise_max", "a, b", combineExtrema<MinMax::Max>);
  t.add("tl._elementwise_min", "a, b", combineExtrema<MinMax::Min>);
  constexpr const char *pairs = "value1, index1, value2, index2";
  t.add("tl._argmax_combine_tie_break_left", pairs, combineWithIndex<MinMax::Max, true>);
  t.add("tl._argmax_combine_tie_break_fast", pairs, combineWithIndex<MinMax::Max, false>);
  t.add("tl._argmin_combine_tie_break_left", pairs, combineWithIndex<MinMax::Min, true>);
  t.add("tl._argmin_combine_tie_break_fast", pairs, combineWithIndex<MinMax::Min, false>);
  t.add("tl.reduce", "input, axis, combine_fn, keep_dims=", reduce);
  t.add("tl.associative_scan", "input, axis, combine_fn, reverse=", associativeScan);
}

} // namespace tile::specialize
