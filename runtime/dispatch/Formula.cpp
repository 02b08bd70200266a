//===- Formula.cpp - small computations on the values of a launch ---------===//
#include "runtime/dispatch/Formula.h"
#include <climits>

using namespace tile::dispatch;
using Failure = FormulaFailure;

/// Python's division: rounds down. INT64_MIN / -1 has been excluded.
static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static Failure divide(Step::Op op, int64_t a, int64_t b, int64_t &out) {
  if (b == 0)
    return Failure::DivisionByZero;
  if (a == INT64_MIN && b == -1) {
    out = 0;
    return op == Step::Mod ? Failure::None : Failure::Overflow;
  }
  if (op == Step::FloorDiv)
    out = floorDiv(a, b);
  else if (op == Step::CeilDiv)
    out = floorDiv(a, b) + (a % b != 0);
  else
    out = a - floorDiv(a, b) * b;
  return Failure::None;
}

static Failure power(int64_t base, int64_t exponent, int64_t &out) {
  if (exponent < 0)
    return Failure::Power;
  out = 1;
  if (base == 0 || base == 1) {
    out = exponent == 0 ? 1 : base;
    return Failure::None;
  }
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(out, base, &out) || exponent > 64)
      return Failure::Overflow;
  return Failure::None;
}

static Failure shift(Step::Op op, int64_t a, int64_t b, int64_t &out) {
  if (b < 0)
    return Failure::Power;
  if (op == Step::ShiftRight) {
    out = a >> (b > 63 ? 63 : b);
    return Failure::None;
  }
  if (a != 0 && (b > 62 || (a << b) >> b != a))
    return Failure::Overflow;
  out = a == 0 ? 0 : a << b;
  return Failure::None;
}

static Failure binary(Step::Op op, int64_t a, int64_t b, int64_t &out) {
  switch (op) {
  case Step::Add:
    return __builtin_add_overflow(a, b, &out) ? Failure::Overflow : Failure::None;
  case Step::Sub:
    return __builtin_sub_overflow(a, b, &out) ? Failure::Overflow : Failure::None;
  case Step::Mul:
    return __builtin_mul_overflow(a, b, &out) ? Failure::Overflow : Failure::None;
  case Step::FloorDiv:
  case Step::CeilDiv:
  case Step::Mod:
    return divide(op, a, b, out);
  case Step::Pow:
    return power(a, b, out);
  case Step::ShiftLeft:
  case Step::ShiftRight:
    return shift(op, a, b, out);
  case Step::And:
    out = a & b;
    break;
  case Step::Or:
    out = a | b;
    break;
  case Step::Xor:
    out = a ^ b;
    break;
  case Step::Minimum:
    out = a < b ? a : b;
    break;
  case Step::Maximum:
    out = a > b ? a : b;
    break;
  case Step::Equal:
    out = a == b;
    break;
  case Step::NotEqual:
    out = a != b;
    break;
  case Step::Less:
    out = a < b;
    break;
  default:
    out = a <= b;
    break;
  }
  return Failure::None;
}

static Failure unary(Step::Op op, int64_t &a) {
  switch (op) {
  case Step::Negate:
    return __builtin_sub_overflow(int64_t(0), a, &a) ? Failure::Overflow : Failure::None;
  case Step::Invert:
    a = ~a;
    return Failure::None;
  case Step::Not:
    a = a == 0;
    return Failure::None;
  case Step::Absolute:
    if (a == INT64_MIN)
      return Failure::Overflow;
    a = a < 0 ? -a : a;
    return Failure::None;
  default: { // NextPowerOf2, of what is not positive as in the language: 0
    if (a > int64_t(1) << 62)
      return Failure::Overflow;
    int64_t next = a > 0 ? 1 : 0;
    while (next < a)
      next *= 2;
    a = next;
    return Failure::None;
  }
  }
}

/// The integer that an argument is.
static Failure read(const tile_value &value, int64_t &out) {
  if (value.kind == TILE_VALUE_UINT && value.as.integer < 0)
    return Failure::Overflow;
  if (value.kind != TILE_VALUE_INT && value.kind != TILE_VALUE_UINT &&
      value.kind != TILE_VALUE_BOOL)
    return Failure::NotInteger;
  out = value.kind == TILE_VALUE_BOOL ? value.as.bits != 0 : value.as.integer;
  return Failure::None;
}

static Failure readDescriptor(const Step &step, const tile_value *values, int64_t &out) {
  const tile_value &value = values[step.op == Step::Base ? step.operand : step.operand / 8];
  if (value.kind != TILE_VALUE_DESCRIPTOR || !value.as.descriptor)
    return Failure::NotInteger;
  const tile_descriptor &descriptor = value.as.descriptor->descriptor;
  out = step.op == Step::Base   ? reinterpret_cast<int64_t>(descriptor.base)
        : step.op == Step::Size ? descriptor.shape[step.operand % 8]
                                : descriptor.strides[step.operand % 8];
  return Failure::None;
}

Failure tile::dispatch::runFormula(const Step *steps, unsigned count, const tile_value *values,
                                   unsigned results, int64_t *out) {
  int64_t stack[kFormulaStack];
  unsigned top = 0;
  for (unsigned at = 0; at < count; ++at) {
    const Step &step = steps[at];
    Failure failure = Failure::None;
    switch (step.op) {
    case Step::Constant:
      stack[top++] = step.operand;
      break;
    case Step::Argument:
      failure = read(values[step.operand], stack[top++]);
      break;
    case Step::Address:
      stack[top++] = values[step.operand].as.integer;
      break;
    case Step::Base:
    case Step::Size:
    case Step::Stride:
      failure = readDescriptor(step, values, stack[top++]);
      break;
    case Step::IsNone:
      stack[top++] = values[step.operand].kind == TILE_VALUE_NONE;
      break;
    case Step::Jump:
      at += unsigned(step.operand);
      break;
    case Step::JumpIfZero:
      if (stack[--top] == 0)
        at += unsigned(step.operand);
      break;
    case Step::Negate:
    case Step::Invert:
    case Step::Not:
    case Step::Absolute:
    case Step::NextPowerOf2:
      failure = unary(step.op, stack[top - 1]);
      break;
    default:
      --top;
      failure = binary(step.op, stack[top - 1], stack[top], stack[top - 1]);
    }
    if (failure != Failure::None)
      return failure;
  }
  for (unsigned i = 0; i < results; ++i)
    out[i] = stack[top - results + i];
  return Failure::None;
}

const char *tile::dispatch::explain(FormulaFailure failure) {
  switch (failure) {
  case Failure::None:
    break;
  case Failure::Overflow:
    return "a number needs more than 64 bits";
  case Failure::DivisionByZero:
    return "it divides by zero";
  case Failure::NotInteger:
    return "it asks for the value of an argument that is no integer";
  case Failure::Power:
    return "an exponent or a shift is negative";
  }
  return "";
}
