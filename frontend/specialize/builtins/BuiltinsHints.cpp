//===- BuiltinsHints.cpp - promises, compile-time checks, debugging -------===//
#include "frontend/Counted.h"
#include "frontend/specialize/Builtins.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

enum class Promise { Divisibility, Contiguity, Constancy };

template <Promise promise> static PyValue hint(BuiltinCall &c) {
  const Tensor *x = tensorIn(c[0]);
  auto values = c.integers(1);
  if (!values)
    return PoisonValue::get();
  if (!x)
    return c[0]; // all is known about a compile-time value
  size_t expected = std::max<size_t>(1, x->rank());
  if (values->size() != expected)
    return c.fail(
        formatted("{} has {}, but {} given", describe(x->type, x->shape()),
                  counted(uint64_t(x->rank()), "dimension"),
                  counted(values->size(), "value") + (values->size() == 1 ? " is" : " are")));
  for (int64_t value : *values)
    if (value <= 0)
      return c.fail(formatted("the values must be positive, got {}", value));
  DenseI64ArrayAttr attr = c.s.builder.getDenseI64ArrayAttr(*values), none;
  Value result = c.s.create<HintOp>(x->value, promise == Promise::Divisibility ? attr : none,
                                    promise == Promise::Contiguity ? attr : none,
                                    promise == Promise::Constancy ? attr : none);
  return c.s.wrap({result, x->type});
}

static PyValue assume(BuiltinCall &c) {
  Tensor condition = c.tensor(0);
  if (condition && condition.type.isFloating())
    return c.fail(formatted("needs a condition, got {}", describe(c[0])));
  condition = c.s.isTrue(condition);
  if (condition && !condition.isBlock() && !c.s.constantValue(condition))
    AssumeOp::create(c.s.builder, c.s.loc(), condition.value);
  return PyValue::none();
}

static PyValue debugBarrier(BuiltinCall &c) {
  BarrierOp::create(c.s.builder, c.s.loc());
  return PyValue::none();
}

//===----------------------------------------------------------------------===//
// At compile time
//===----------------------------------------------------------------------===//

static PyValue staticAssert(BuiltinCall &c) {
  PyValue condition = c[0];
  if (const Tensor *t = tensorIn(condition))
    condition = c.s.constantValue(*t).value_or(condition);
  if (tensorIn(condition))
    return c.fail("the condition is only known at run time: use `tl.device_assert`");
  std::optional<bool> holds = c.s.truth(condition);
  if (!holds.value_or(false)) {
    std::string message = c.has(1) ? formatted(": {}", eval::str(c[1])) : "";
    c.s.set(kReturnValue, PoisonValue::get()); // what ends here gives nothing to complain about
    return c.s.fail(formatted("static assertion failed{}", message));
  }
  return PyValue::none();
}

static PyValue staticPrint(BuiltinCall &c) {
  std::string separator = " ";
  if (c.has(1)) {
    auto text = c.string(1);
    if (!text)
      return PoisonValue::get();
    separator = *text;
  }
  std::string line;
  for (auto [i, value] : llvm::enumerate(c[0].elements()))
    line += (i ? separator : "") + eval::str(value);
  c.s.print(line + (c.has(2) ? eval::str(c[2]) : "\n"));
  return PyValue::none();
}

//===----------------------------------------------------------------------===//
// At run time
//===----------------------------------------------------------------------===//

static PyValue devicePrint(BuiltinCall &c) {
  ArrayRef<PyValue> values = c[0].elements();
  if (values.empty() || !values[0].isStr())
    return c.fail("the first argument must be a string literal, the prefix");
  SmallVector<Value> operands;
  SmallVector<bool> isSigned;
  for (const PyValue &value : values.drop_front()) {
    Tensor t = c.s.tensor(value, "a printed value");
    if (!t)
      return PoisonValue::get();
    operands.push_back(t.value);
    isSigned.push_back(t.type.isSigned());
  }
  Builder &b = c.s.builder;
  StringRef prefix = StringRef(values[0].asStr()).trim();
  prefix.consume_back(":");
  PrintOp::create(c.s.builder, c.s.loc(), b.getStringAttr(prefix), operands,
                  b.getBoolAttr(c.flag(1)), b.getDenseBoolArrayAttr(isSigned));
  return PyValue::none();
}

static PyValue deviceAssert(BuiltinCall &c) {
  Tensor condition = c.s.isTrue(c.tensor(0));
  if (!condition || !c.s.options.debug)
    return PyValue::none();
  if (c.has(2)) { // a lane that is masked off cannot fail
    Tensor masked = c.s.logicalNot(c.tensor(2));
    condition = c.s.logical(/*isAnd=*/false, c.s.wrap(condition), c.s.wrap(masked));
  }
  if (!condition)
    return PoisonValue::get();
  AssertOp::create(c.s.builder, c.s.loc(), condition.value,
                   c.s.builder.getStringAttr(c.has(1) ? eval::str(c[1]) : ""));
  return PyValue::none();
}

/// tl.condition(c): only the condition matters here.
static PyValue condition(BuiltinCall &c) { return c[0]; }

static PyValue expectZero(BuiltinCall &c) { return c[0]; }

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

static PyValue isCuda(BuiltinCall &) { return PyValue::boolean(true); }
static PyValue isNotCuda(BuiltinCall &) { return PyValue::boolean(false); }

static PyValue capabilityAtLeast(BuiltinCall &c) {
  auto major = c.integer(0), minor = c.integerOr(1, 0);
  if (!major || !minor)
    return PoisonValue::get();
  return PyValue::boolean(c.s.target.capability >= *major * 10 + *minor);
}

static PyValue numWarps(BuiltinCall &c) { return PyValue::integer(c.s.options.numWarps); }
static PyValue numThreads(BuiltinCall &c) { return PyValue::integer(32 * c.s.options.numWarps); }

void addHintBuiltins(BuiltinTable &t) {
  t.add("tl.multiple_of", "input, values", hint<Promise::Divisibility>);
  t.add("tl.max_contiguous", "input, values", hint<Promise::Contiguity>);
  t.add("tl.max_constancy", "input, values", hint<Promise::Constancy>);
  t.add("tl.assume", "cond", assume);
  t.add("tl.debug_barrier", "", debugBarrier);
  t.add("tl.static_assert", "cond, msg=", staticAssert);
  t.add("tl.static_print", "*values, sep=, end=, file=, flush=", staticPrint);
  t.add("tl.device_print", "*values, hex=", devicePrint);
  t.add("print", "*values, hex=", devicePrint);
  t.add("tl.device_assert", "cond, msg=, mask=", deviceAssert);
  t.add("tl.condition", "arg, disable_licm=", condition);
  t.add("tl.expect_zero", "x, mask", expectZero);
  t.add("tl.is_cuda", "", isCuda);
  t.add("tl.is_hip", "", isNotCuda);
  t.add("tl.cuda_capability_geq", "major, minor=", capabilityAtLeast);
  t.add("tl.extra.cuda.num_warps", "", numWarps);
  t.add("tl.extra.cuda.num_threads", "", numThreads);
}

} // namespace tile::specialize
