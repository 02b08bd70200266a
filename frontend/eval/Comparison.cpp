//===- Comparison.cpp - comparison, truth and membership ------------------===//
#include "frontend/eval/Characters.h"
#include "frontend/eval/Operators.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include <cmath>

using namespace tile::eval;
using llvm::APInt;
using tile::formatted;
using Kind = PyValue::Kind;
using tile::ast::CompareOp;

enum class Order { Less, Equal, Greater, Unordered };

static bool holds(CompareOp op, Order order) {
  switch (op) {
  case CompareOp::Eq:
    return order == Order::Equal;
  case CompareOp::Ne:
    return order != Order::Equal;
  case CompareOp::Lt:
    return order == Order::Less;
  case CompareOp::Le:
    return order == Order::Less || order == Order::Equal;
  case CompareOp::Gt:
    return order == Order::Greater;
  default:
    return order == Order::Greater || order == Order::Equal;
  }
}

template <typename T> static Order orderOf(const T &a, const T &b) {
  return a < b ? Order::Less : b < a ? Order::Greater : Order::Equal;
}

static Order reversed(Order order) {
  return order == Order::Less ? Order::Greater : order == Order::Greater ? Order::Less : order;
}

static Order compareIntegers(const APInt &a, const APInt &b) {
  unsigned width = std::max(a.getBitWidth(), b.getBitWidth());
  APInt x = a.sext(width), y = b.sext(width);
  return x.slt(y) ? Order::Less : x == y ? Order::Equal : Order::Greater;
}

/// Exact, as in Python: 2**53 + 1 != 2.0**53.
static Order compareIntegerWithFloat(const APInt &a, double b) {
  if (std::isnan(b))
    return Order::Unordered;
  if (std::isinf(b))
    return b > 0 ? Order::Less : Order::Greater;
  llvm::APSInt floor(1100, /*isUnsigned=*/false);
  bool exact;
  llvm::APFloat(b).convertToInteger(floor, llvm::APFloat::rmTowardNegative, &exact);
  Order order = compareIntegers(a, floor);
  return order == Order::Equal && !exact ? Order::Less : order;
}

static Order compareNumbers(const PyValue &a, const PyValue &b) {
  auto toInt = [](const PyValue &v) {
    return v.is(Kind::Bool) ? APInt(64, v.asBool()) : v.asInt();
  };
  bool floatA = a.is(Kind::Float), floatB = b.is(Kind::Float);
  if (floatA && floatB) {
    if (std::isnan(a.asFloat()) || std::isnan(b.asFloat()))
      return Order::Unordered;
    return orderOf(a.asFloat(), b.asFloat());
  }
  if (floatB)
    return compareIntegerWithFloat(toInt(a), b.asFloat());
  if (floatA)
    return reversed(compareIntegerWithFloat(toInt(b), a.asFloat()));
  return compareIntegers(toInt(a), toInt(b));
}

static Result notOrdered(CompareOp op, const PyValue &a, const PyValue &b) {
  return fail(formatted("`{}` is not defined between `{}` and `{}`", tile::ast::spelling(op),
                        typeName(a), typeName(b)));
}

/// Element by element; the first difference decides.
static Result compareSequences(CompareOp op, const PyValue &a, const PyValue &b) {
  auto x = a.elements(), y = b.elements();
  Nesting nesting;
  if (nesting.isTooDeep())
    return fail("containers nest too deep to be compared", "LimitError");
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!Work::spend(1))
      return Work::error();
    Result same = compare(CompareOp::Eq, x[i], y[i]);
    if (!same || !same->is(Kind::Bool))
      return same;
    if (!same->asBool())
      return op == CompareOp::Eq   ? PyValue::boolean(false)
             : op == CompareOp::Ne ? PyValue::boolean(true)
                                   : compare(op, x[i], y[i]);
  }
  return PyValue::boolean(holds(op, orderOf(x.size(), y.size())));
}

static bool isSubset(const SetObject &a, const SetObject &b) {
  return llvm::all_of(a.elements, [&](const PyValue &e) { return b.contains(e); });
}

static Result compareSets(CompareOp op, const SetObject &a, const SetObject &b) {
  bool below = isSubset(a, b), above = isSubset(b, a);
  return PyValue::boolean(holds(op, below && above ? Order::Equal
                                    : below        ? Order::Less
                                    : above        ? Order::Greater
                                                   : Order::Unordered));
}

static Result contains(const PyValue &container, const PyValue &value) {
  if (container.isStr()) {
    if (!value.isStr())
      return fail(formatted("`in` a string needs a string on the left, got `{}`", typeName(value)));
    if (!Work::spendBytes(container.asStr().size()))
      return Work::error();
    return PyValue::boolean(findPart(container.asStr(), value.asStr()) != llvm::StringRef::npos);
  }
  if (container.is(Kind::Dict))
    return PyValue::boolean(container.asDict().find(value) != nullptr);
  if (container.is(Kind::Set))
    return PyValue::boolean(container.asSet().contains(value));
  if (container.is(Kind::Range)) {
    const RangeObject &range = container.asRange();
    std::optional<int64_t> i = value.toInt64();
    if (!i)
      return PyValue::boolean(false);
    bool inside = range.step > 0 ? *i >= range.start && *i < range.stop
                                 : *i <= range.start && *i > range.stop;
    return PyValue::boolean(inside && (uint64_t(*i) - uint64_t(range.start)) %
                                              (range.step > 0 ? range.step : -range.step) ==
                                          0);
  }
  std::vector<PyValue> elements;
  if (Result ok = iterate(container, elements); !ok)
    return fail(formatted("`in` needs a container on the right, got `{}`", typeName(container)));
  for (const PyValue &element : elements) {
    if (identical(element, value))
      return PyValue::boolean(true);
    Result same = compare(CompareOp::Eq, element, value);
    if (!same)
      return same;
    Result yes = truth(*same);
    if (!yes || yes->asBool())
      return yes;
  }
  return PyValue::boolean(false);
}

static Result negated(Result result) {
  return result ? Result(PyValue::boolean(!result->asBool())) : std::move(result);
}

static CompareOp mirrored(CompareOp op) {
  switch (op) {
  case CompareOp::Lt:
    return CompareOp::Gt;
  case CompareOp::Le:
    return CompareOp::Ge;
  case CompareOp::Gt:
    return CompareOp::Lt;
  case CompareOp::Ge:
    return CompareOp::Le;
  default:
    return op;
  }
}

namespace tile::eval {

Result compare(CompareOp op, const PyValue &lhs, const PyValue &rhs) {
  switch (op) {
  case CompareOp::Is:
    return PyValue::boolean(identical(lhs, rhs));
  case CompareOp::IsNot:
    return PyValue::boolean(!identical(lhs, rhs));
  case CompareOp::In:
    return contains(rhs, lhs);
  case CompareOp::NotIn:
    return negated(contains(rhs, lhs));
  default:
    break;
  }
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  // `tensor == None` and the like are plain inequality, not an elementwise one.
  bool withNone = equality && (lhs.isNone() || rhs.isNone());
  if (lhs.is(Kind::Extension) && !withNone)
    return lhs.asExtension()->compare(op, rhs);
  if (rhs.is(Kind::Extension) && !withNone)
    return rhs.asExtension()->compare(mirrored(op), lhs);
  if (lhs.isNumber() && rhs.isNumber())
    return PyValue::boolean(holds(op, compareNumbers(lhs, rhs)));
  if (lhs.kind() == rhs.kind()) {
    if (lhs.isStr() && !Work::spendBytes(lhs.asStr().size()))
      return Work::error();
    if (lhs.isStr())
      return PyValue::boolean(holds(op, orderOf(lhs.asStr(), rhs.asStr())));
    if (lhs.isSequence())
      return compareSequences(op, lhs, rhs);
    if (lhs.is(Kind::Set))
      return compareSets(op, lhs.asSet(), rhs.asSet());
  }
  if (equality)
    return PyValue::boolean(equal(lhs, rhs) == (op == CompareOp::Eq));
  return notOrdered(op, lhs, rhs);
}

Result truth(const PyValue &value) {
  switch (value.kind()) {
  case Kind::None:
    return PyValue::boolean(false);
  case Kind::Bool:
    return value;
  case Kind::Int:
    return PyValue::boolean(!value.asInt().isZero());
  case Kind::Float:
    return PyValue::boolean(value.asFloat() != 0);
  case Kind::Str:
    return PyValue::boolean(!value.asStr().empty());
  case Kind::Tuple:
  case Kind::List:
    return PyValue::boolean(!value.elements().empty());
  case Kind::Dict:
    return PyValue::boolean(!value.asDict().items.empty());
  case Kind::Set:
    return PyValue::boolean(!value.asSet().elements.empty());
  case Kind::Range:
    return PyValue::boolean(value.asRange().size() != 0);
  case Kind::Extension:
    return value.asExtension()->truth();
  default:
    return PyValue::boolean(true);
  }
}

} // namespace tile::eval
