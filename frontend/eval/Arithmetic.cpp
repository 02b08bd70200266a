//===- Arithmetic.cpp - unary and binary operators on values --------------===//
//
// Integers are exact: every operation first widens its operands so far that it
// cannot overflow, then the result shrinks to its canonical width. Floats are
// doubles with Python's floor division and modulo.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/FloorDivision.h"
#include "frontend/eval/PercentFormat.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tile;
using namespace tile::eval;
using llvm::APInt;
using Kind = PyValue::Kind;
using ast_op = ast::BinaryOp;

namespace tile::eval {

//===----------------------------------------------------------------------===//
// Results and errors
//===----------------------------------------------------------------------===//

Result Result::at(const SourceFile &file, SourceRange range) && {
  if (failure && !failure->diagnostic.file) {
    failure->diagnostic.file = &file;
    failure->diagnostic.range = range;
  }
  return std::move(*this);
}

std::unique_ptr<EvalError> fail(std::string message, std::string type) {
  auto error = std::make_unique<EvalError>();
  error->diagnostic.message = std::move(message);
  error->type = std::move(type);
  return error;
}

std::unique_ptr<EvalError> unsupported(std::string message) {
  auto error = fail(std::move(message), "NotImplementedError");
  error->diagnostic.unsupported = true;
  return error;
}

void report(const EvalError &error, frontend::DiagnosticEngine &diagnostics) {
  const Diagnostic &d = error.diagnostic;
  Diagnostic &reported = diagnostics.error(d.file, d.range, d.message);
  reported.notes = d.notes;
  reported.unsupported = d.unsupported;
}

} // namespace tile::eval

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static APInt toInt(const PyValue &value) {
  return value.is(Kind::Bool) ? APInt(64, value.asBool()) : value.asInt();
}

static Result checkedInteger(APInt value) {
  if (value.getSignificantBits() > maxIntegerBits)
    return fail(formatted("the integer result needs more than {} bits", maxIntegerBits),
                "OverflowError");
  return PyValue::integer(std::move(value));
}

static std::unique_ptr<EvalError> divisionByZero() {
  return fail("division by zero", "ZeroDivisionError");
}

/// Quotient and remainder that round towards minus infinity.
static std::pair<APInt, APInt> floorDivide(const APInt &lhs, const APInt &rhs) {
  APInt quotient, remainder;
  APInt::sdivrem(lhs, rhs, quotient, remainder);
  if (!remainder.isZero() && remainder.isNegative() != rhs.isNegative()) {
    --quotient;
    remainder += rhs;
  }
  return {quotient, remainder};
}

static Result integerPower(const APInt &base, const APInt &exponent) {
  if (exponent.isNegative()) {
    if (base.isZero())
      return fail("0 cannot be raised to a negative power", "ZeroDivisionError");
    return PyValue::number(std::pow(toDouble(base), toDouble(exponent)));
  }
  bool isUnit = base.isZero() || base.isOne() || base.isAllOnes();
  uint64_t times = exponent.getLimitedValue();
  if (isUnit)
    times = times == 0 ? 0 : 2 - times % 2;
  else if (times > maxIntegerBits || times * (base.getSignificantBits() - 1) > 2 * maxIntegerBits)
    return checkedInteger(APInt::getOneBitSet(maxIntegerBits + 2, maxIntegerBits));
  unsigned width = std::max<unsigned>(base.getBitWidth(), times * base.getSignificantBits() + 2);
  if (!Work::spendBits(uint64_t(width) * 4))
    return Work::error();
  APInt result(width, 1), factor = base.sext(width);
  for (; times; times /= 2) {
    if (times % 2)
      result *= factor;
    if (times > 1)
      factor *= factor;
  }
  return checkedInteger(result);
}

static Result integerShift(ast_op op, const APInt &value, const APInt &amount) {
  if (amount.isNegative())
    return fail("negative shift count", "ValueError");
  uint64_t count = amount.getLimitedValue(maxIntegerBits + 1);
  if (op == ast_op::RShift)
    return PyValue::integer(value.ashr(std::min<uint64_t>(count, value.getBitWidth() - 1)));
  if (value.isZero())
    return PyValue::integer(0);
  return checkedInteger(value.sext(value.getBitWidth() + count) << count);
}

static Result integerBinary(ast_op op, const PyValue &lhsValue, const PyValue &rhsValue) {
  APInt lhs = toInt(lhsValue), rhs = toInt(rhsValue);
  if (op == ast_op::Pow)
    return integerPower(lhs, rhs);
  if (op == ast_op::LShift || op == ast_op::RShift)
    return integerShift(op, lhs, rhs);
  bool multiplies = op == ast_op::Mul;
  unsigned width = multiplies ? lhs.getBitWidth() + rhs.getBitWidth()
                              : std::max(lhs.getBitWidth(), rhs.getBitWidth()) + 1;
  if (!Work::spendBits(width))
    return Work::error();
  lhs = lhs.sext(width);
  rhs = rhs.sext(width);
  bool bothBool = lhsValue.is(Kind::Bool) && rhsValue.is(Kind::Bool);
  auto bits = [&](const APInt &value) {
    return bothBool ? PyValue::boolean(!value.isZero()) : PyValue::integer(value);
  };
  switch (op) {
  case ast_op::Add:
    return checkedInteger(lhs + rhs);
  case ast_op::Sub:
    return checkedInteger(lhs - rhs);
  case ast_op::Mul:
    return checkedInteger(lhs * rhs);
  case ast_op::FloorDiv:
    if (rhs.isZero())
      return divisionByZero();
    return PyValue::integer(floorDivide(lhs, rhs).first);
  case ast_op::Mod:
    if (rhs.isZero())
      return divisionByZero();
    return PyValue::integer(floorDivide(lhs, rhs).second);
  case ast_op::Div:
    if (rhs.isZero())
      return divisionByZero();
    return PyValue::number(toDouble(lhs) / toDouble(rhs));
  case ast_op::And:
    return bits(lhs & rhs);
  case ast_op::Or:
    return bits(lhs | rhs);
  case ast_op::Xor:
    return bits(lhs ^ rhs);
  default:
    return fail(formatted("operator `{}` is not defined on integers", ast::spelling(op)));
  }
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static Result floatPower(double base, double exponent) {
  if (base == 0 && exponent < 0)
    return fail("0.0 cannot be raised to a negative power", "ZeroDivisionError");
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) &&
      exponent != std::floor(exponent))
    return fail("a negative number raised to a fraction is complex", "ValueError");
  double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    return fail("the result of `**` is too large for a float", "OverflowError");
  return PyValue::number(result);
}

static Result floatBinary(ast_op op, double lhs, double rhs) {
  bool divides = op == ast_op::Div || op == ast_op::FloorDiv || op == ast_op::Mod;
  if (divides && rhs == 0)
    return divisionByZero();
  switch (op) {
  case ast_op::Add:
    return PyValue::number(lhs + rhs);
  case ast_op::Sub:
    return PyValue::number(lhs - rhs);
  case ast_op::Mul:
    return PyValue::number(lhs * rhs);
  case ast_op::Div:
    return PyValue::number(lhs / rhs);
  case ast_op::FloorDiv:
    return PyValue::number(floorQuotient(lhs, rhs));
  case ast_op::Mod:
    return PyValue::number(floorModulo(lhs, rhs));
  case ast_op::Pow:
    return floatPower(lhs, rhs);
  default:
    return fail(formatted("operator `{}` needs integers, got a float", ast::spelling(op)));
  }
}

//===----------------------------------------------------------------------===//
// Strings and containers
//===----------------------------------------------------------------------===//

static Result repeat(const PyValue &sequence, const PyValue &times) {
  std::optional<int64_t> count = times.toInt64();
  uint64_t size = sequence.isStr() ? sequence.asStr().size() : sequence.elements().size();
  if (size && (!count || (*count > 0 && uint64_t(*count) > maxElements / size)))
    return Work::checkLength(UINT64_MAX);
  uint64_t copies = size ? std::max<int64_t>(*count, 0) : 0;
  uint64_t words = 0;
  for (const PyValue &element : sequence.elements())
    words += element.is(Kind::Int) ? element.asInt().getNumWords() : 1;
  if (!(sequence.isStr() ? Work::spendBytes(copies * size) : Work::spend(copies * words)))
    return Work::error();
  if (sequence.isStr()) {
    std::string out;
    for (uint64_t i = 0; i < copies; ++i)
      out += sequence.asStr();
    return PyValue::string(out);
  }
  std::vector<PyValue> out;
  for (uint64_t i = 0; i < copies; ++i)
    llvm::append_range(out, sequence.elements());
  return sequence.is(Kind::Tuple) ? PyValue::tuple(std::move(out)) : PyValue::list(std::move(out));
}

static Result concatenate(const PyValue &lhs, const PyValue &rhs) {
  bool isText = lhs.isStr();
  uint64_t size = isText ? lhs.asStr().size() + rhs.asStr().size()
                         : lhs.elements().size() + rhs.elements().size();
  if (auto error = Work::checkLength(size))
    return error;
  if (!(isText ? Work::spendBytes(size) : Work::spend(size)))
    return Work::error();
  if (isText)
    return PyValue::string(lhs.asStr() + rhs.asStr());
  std::vector<PyValue> out = lhs.elements().vec();
  llvm::append_range(out, rhs.elements());
  return lhs.is(Kind::Tuple) ? PyValue::tuple(std::move(out)) : PyValue::list(std::move(out));
}

static std::optional<Result> setBinary(ast_op op, const SetObject &lhs, const SetObject &rhs) {
  std::vector<PyValue> out;
  for (const PyValue &element : lhs.elements) {
    bool shared = rhs.contains(element);
    if (op == ast_op::Or || (op == ast_op::And ? shared : !shared))
      out.push_back(element);
  }
  if (op == ast_op::Or || op == ast_op::Xor)
    llvm::copy_if(rhs.elements, std::back_inserter(out),
                  [&](const PyValue &element) { return !lhs.contains(element); });
  if (op != ast_op::Or && op != ast_op::And && op != ast_op::Sub && op != ast_op::Xor)
    return std::nullopt;
  return PyValue::set(std::move(out));
}

/// Operators of strings and containers; nothing if there is none.
static std::optional<Result> containerBinary(ast_op op, const PyValue &lhs, const PyValue &rhs) {
  auto isIntLike = [](const PyValue &v) { return v.is(Kind::Int) || v.is(Kind::Bool); };
  auto repeats = [](const PyValue &v) { return v.isStr() || v.isSequence(); };
  if (op == ast_op::Mod && lhs.isStr())
    return percentFormat(lhs.asStr(), rhs);
  if (op == ast_op::Mul && repeats(lhs) && isIntLike(rhs))
    return repeat(lhs, rhs);
  if (op == ast_op::Mul && isIntLike(lhs) && repeats(rhs))
    return repeat(rhs, lhs);
  if (lhs.kind() != rhs.kind())
    return std::nullopt;
  if (op == ast_op::Add && (lhs.isStr() || lhs.isSequence()))
    return concatenate(lhs, rhs);
  if (lhs.is(Kind::Set))
    return setBinary(op, lhs.asSet(), rhs.asSet());
  if (op == ast_op::Or && lhs.is(Kind::Dict)) {
    PyValue out = PyValue::dict(lhs.asDict().items);
    for (auto &[key, value] : rhs.asDict().items)
      out.asDict().set(key, value);
    return out;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The operators
//===----------------------------------------------------------------------===//

namespace tile::eval {

Result binary(ast::BinaryOp op, const PyValue &lhs, const PyValue &rhs) {
  if (lhs.is(Kind::Extension))
    return lhs.asExtension()->binary(op, rhs, /*reflected=*/false);
  if (rhs.is(Kind::Extension))
    return rhs.asExtension()->binary(op, lhs, /*reflected=*/true);
  if (lhs.isNumber() && rhs.isNumber()) {
    if (lhs.is(Kind::Float) || rhs.is(Kind::Float))
      return floatBinary(op, *lhs.toDouble(), *rhs.toDouble());
    return integerBinary(op, lhs, rhs);
  }
  if (std::optional<Result> result = containerBinary(op, lhs, rhs))
    return std::move(*result);
  return fail(formatted("unsupported operand types for `{}`: `{}` and `{}`", ast::spelling(op),
                        typeName(lhs), typeName(rhs)));
}

Result unary(ast::UnaryOp op, const PyValue &operand) {
  if (operand.is(Kind::Extension))
    return operand.asExtension()->unary(op);
  if (op == ast::UnaryOp::Not) {
    Result value = truth(operand);
    return value ? Result(PyValue::boolean(!value->asBool())) : std::move(value);
  }
  if (operand.is(Kind::Float) && op != ast::UnaryOp::Invert)
    return PyValue::number(op == ast::UnaryOp::Neg ? -operand.asFloat() : operand.asFloat());
  if (operand.is(Kind::Int) || operand.is(Kind::Bool)) {
    APInt value = toInt(operand);
    value = value.sext(value.getBitWidth() + 1);
    if (op == ast::UnaryOp::Pos)
      return PyValue::integer(value);
    return PyValue::integer(op == ast::UnaryOp::Neg ? -value : ~value);
  }
  return fail(formatted("unsupported operand type for unary `{}`: `{}`", ast::spelling(op),
                        typeName(operand)));
}

} // namespace tile::eval
