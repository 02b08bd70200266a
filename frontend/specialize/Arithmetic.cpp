//===- Arithmetic.cpp - operators on run-time values ----------------------===//
//
// Each operator: decide the type (Types.h), bring both operands to it, bring
// both to one shape, build one op. Scalars are cast before they are splat, so
// a cast never runs on more elements than it has to.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/BlockPointer.h"
#include "frontend/specialize/Emitter.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

static bool isBitwise(BinaryOp op) {
  return op == BinaryOp::And || op == BinaryOp::Or || op == BinaryOp::Xor ||
         op == BinaryOp::LShift || op == BinaryOp::RShift;
}
static bool isDivision(BinaryOp op) {
  return op == BinaryOp::Div || op == BinaryOp::FloorDiv || op == BinaryOp::Mod;
}

//===----------------------------------------------------------------------===//
// Binary operators
//===----------------------------------------------------------------------===//

Value Emitter::pointwise(BinaryOp op, const Tensor &lhs, const Tensor &rhs) {
  Value a = lhs.value, b = rhs.value;
  bool isFloat = lhs.type.isFloating(), isSigned = lhs.type.isSigned();
  switch (op) {
  case BinaryOp::Add:
    return isFloat ? create<arith::AddFOp>(a, b) : create<arith::AddIOp>(a, b);
  case BinaryOp::Sub:
    return isFloat ? create<arith::SubFOp>(a, b) : create<arith::SubIOp>(a, b);
  case BinaryOp::Mul:
    return isFloat ? create<arith::MulFOp>(a, b) : create<arith::MulIOp>(a, b);
  case BinaryOp::Div:
    return create<arith::DivFOp>(a, b);
  case BinaryOp::FloorDiv:
    return isSigned ? create<arith::DivSIOp>(a, b) : create<arith::DivUIOp>(a, b);
  case BinaryOp::Mod:
    if (isFloat)
      return create<arith::RemFOp>(a, b);
    return isSigned ? create<arith::RemSIOp>(a, b) : create<arith::RemUIOp>(a, b);
  case BinaryOp::And:
    return create<arith::AndIOp>(a, b);
  case BinaryOp::Or:
    return create<arith::OrIOp>(a, b);
  case BinaryOp::Xor:
    return create<arith::XOrIOp>(a, b);
  case BinaryOp::LShift:
    return create<arith::ShLIOp>(a, b);
  case BinaryOp::RShift:
    return isSigned ? create<arith::ShRSIOp>(a, b) : create<arith::ShRUIOp>(a, b);
  case BinaryOp::Pow:
  case BinaryOp::MatMul:
    break;
  }
  llvm_unreachable("operator without a pointwise op");
}

Tensor Emitter::arithmetic(BinaryOp op, const Tensor &lhs, const Tensor &rhs) {
  if (!lhs || !rhs)
    return {};
  Tensor a = lhs, b = rhs;
  if (!broadcast({&a, &b}))
    return {};
  return {pointwise(op, a, b), a.type};
}

/// Why `op` cannot be computed in `type`; empty if it can.
static std::string operatorProblem(BinaryOp op, const DType &type) {
  StringRef spelling = ast::spelling(op);
  if (type.isFloating() && (isBitwise(op) || op == BinaryOp::FloorDiv))
    return formatted("`{}` needs integers, got {}{}", spelling, type.str(),
                     op == BinaryOp::FloorDiv ? "; use `tl.floor(x / y)`" : "");
  if (type.isFp8())
    return formatted(
        "`{}` is not defined for {}: convert with `.to(tl.float16)` or `.to(tl.float32)` first",
        spelling, type.str());
  if (op == BinaryOp::Pow)
    return "`**` is not defined for tensors: use `x * x`, or `tl.exp2(y * tl.log2(x))`";
  if (op == BinaryOp::MatMul)
    return "`@` is not defined for tensors: use `tl.dot(a, b)`";
  return {};
}

Tensor Emitter::offsetPointer(const Tensor &pointer, const Tensor &offset, bool negate) {
  if (!pointer || !offset)
    return {};
  Tensor p = pointer, o = offset;
  // Offsets are signed in the IR: a narrower unsigned one is widened first.
  if (o.type.isUnsigned() && o.type.bitWidth() < 64)
    o = cast(o, Kind::Int64);
  if (negate)
    o = {create<arith::SubIOp>(intConstant(0, o.type, o.shape()).value, o.value), o.type};
  if (!broadcast({&p, &o}))
    return {};
  return {create<AddPtrOp>(p.value.getType(), p.value, o.value), p.type};
}

static PyValue pointerArithmetic(Emitter &e, BinaryOp op, const Tensor &a, const Tensor &b) {
  if (a.type.isPointer() && b.type.isInt() && (op == BinaryOp::Add || op == BinaryOp::Sub))
    return e.wrap(e.offsetPointer(a, b, op == BinaryOp::Sub));
  if (b.type.isPointer() && a.type.isInt() && op == BinaryOp::Add)
    return e.wrap(e.offsetPointer(b, a, false));
  return e.fail(
      formatted("`{}` is not defined for {} and {}: only `pointer + integer` and `pointer - "
                "integer` are; convert with `.to(tl.int64)` for address arithmetic",
                ast::spelling(op), describe(a.type, a.shape()), describe(b.type, b.shape())));
}

/// What comes in at the top is the sign of the left operand, whatever type both are brought to.
static Tensor shiftRight(Emitter &e, const Tensor &lhs, const Tensor &rhs, bool isSigned) {
  if (!lhs || !rhs)
    return {};
  Tensor a = lhs, b = rhs;
  if (!e.broadcast({&a, &b}))
    return {};
  return {isSigned ? e.create<arith::ShRSIOp>(a.value, b.value)
                   : e.create<arith::ShRUIOp>(a.value, b.value),
          a.type};
}

PyValue Emitter::binary(BinaryOp op, const PyValue &lhs, const PyValue &rhs) {
  if (isPoison(lhs) || isPoison(rhs))
    return PoisonValue::get();
  const Tensor *a = tensorIn(lhs), *b = tensorIn(rhs);
  if (isBlockPointer(lhs) || isBlockPointer(rhs))
    return fail("a block pointer is moved with `p = tl.advance(p, offsets)`");
  if (!a && !b)
    return take(eval::binary(op, lhs, rhs));
  if ((!a && !lhs.isNumber()) || (!b && !rhs.isNumber()))
    return fail(formatted("`{}` is not defined for {} and {}", ast::spelling(op), describe(lhs),
                          describe(rhs)));
  if ((a && a->type.isPointer()) || (b && b->type.isPointer())) {
    Tensor x = tensor(lhs), y = tensor(rhs);
    return x && y ? pointerArithmetic(*this, op, x, y) : PoisonValue::get();
  }
  auto operand = [](const Tensor *t, const PyValue &value) -> std::optional<Operand> {
    if (t)
      return Operand{t->type, nullptr};
    std::optional<DType> natural = naturalType(value);
    return natural ? std::optional<Operand>({*natural, &value}) : std::nullopt;
  };
  std::optional<Operand> left = operand(a, lhs), right = operand(b, rhs);
  if (!left || !right)
    return fail(formatted("{} does not fit into 64 bits", describe(left ? rhs : lhs)));
  std::string problem;
  std::optional<DType> type = promote(*left, *right, isDivision(op), problem);
  if (type)
    problem = operatorProblem(op, *type);
  if (!problem.empty())
    return fail(problem);
  if (op == BinaryOp::Div && type->isInt())
    type = DType(Kind::Float32);
  auto bring = [&](const Tensor *t, const PyValue &value, const Tensor *other) {
    return t ? cast(*t, *type) : constant(value, *type, other->shape());
  };
  Tensor x = bring(a, lhs, b), y = bring(b, rhs, a);
  if (op == BinaryOp::RShift && a)
    return wrap(shiftRight(*this, x, y, a->type.isSigned()));
  return wrap(arithmetic(op, x, y));
}

//===----------------------------------------------------------------------===//
// Comparisons and truth
//===----------------------------------------------------------------------===//

bool Emitter::unify(Tensor &lhs, Tensor &rhs) {
  if (!lhs || !rhs)
    return false;
  if (lhs.type != rhs.type) {
    std::string problem;
    std::optional<DType> type = promote({lhs.type}, {rhs.type}, false, problem);
    if (!type) {
      error(problem);
      return false;
    }
    lhs = cast(lhs, *type);
    rhs = cast(rhs, *type);
  }
  return lhs && rhs && broadcast({&lhs, &rhs});
}

static arith::CmpFPredicate floatPredicate(CompareOp op) {
  switch (op) {
  case CompareOp::Eq:
    return arith::CmpFPredicate::OEQ;
  case CompareOp::Ne:
    return arith::CmpFPredicate::UNE;
  case CompareOp::Lt:
    return arith::CmpFPredicate::OLT;
  case CompareOp::Le:
    return arith::CmpFPredicate::OLE;
  case CompareOp::Gt:
    return arith::CmpFPredicate::OGT;
  default:
    return arith::CmpFPredicate::OGE;
  }
}

static arith::CmpIPredicate intPredicate(CompareOp op, bool isSigned) {
  using P = arith::CmpIPredicate;
  switch (op) {
  case CompareOp::Eq:
    return P::eq;
  case CompareOp::Ne:
    return P::ne;
  case CompareOp::Lt:
    return isSigned ? P::slt : P::ult;
  case CompareOp::Le:
    return isSigned ? P::sle : P::ule;
  case CompareOp::Gt:
    return isSigned ? P::sgt : P::ugt;
  default:
    return isSigned ? P::sge : P::uge;
  }
}

Tensor Emitter::compareSame(CompareOp op, const Tensor &lhs, const Tensor &rhs) {
  if (!lhs || !rhs)
    return {};
  if (lhs.type.isFp8())
    return compareSame(op, cast(lhs, Kind::Float16), cast(rhs, Kind::Float16));
  if (lhs.type.isFloating())
    return {create<arith::CmpFOp>(floatPredicate(op), lhs.value, rhs.value), DType(Kind::Int1)};
  auto predicate = intPredicate(op, lhs.type.isSigned());
  return {create<arith::CmpIOp>(predicate, lhs.value, rhs.value), DType(Kind::Int1)};
}

static bool isOne(const PyValue &value) {
  return value.is(PyValue::Kind::Int) && value.toInt64() == 1;
}

PyValue Emitter::compare(CompareOp op, const PyValue &lhs, const PyValue &rhs) {
  if (isPoison(lhs) || isPoison(rhs))
    return PoisonValue::get();
  if (op == CompareOp::Is || op == CompareOp::IsNot) {
    // A run-time value is never the object that a number is, whatever it holds: taken at its word,
    // the comparison would choose a branch silently. (An argument that is 1 is a number.)
    for (auto &[one, other] : {std::pair(&lhs, &rhs), std::pair(&rhs, &lhs)})
      if (tensorIn(*one) && other->isNumber() && !isOne(*other))
        return fail(formatted("`{}` asks for the same object, which {} and {} never are: compare "
                              "with `{}`",
                              ast::spelling(op), describe(*one), describe(*other),
                              op == CompareOp::Is ? "==" : "!="));
    return PyValue::boolean(eval::identical(lhs, rhs) == (op == CompareOp::Is));
  }
  const Tensor *a = tensorIn(lhs), *b = tensorIn(rhs);
  if (!a && !b)
    return take(eval::compare(op, lhs, rhs));
  if (op == CompareOp::In || op == CompareOp::NotIn)
    return fail(formatted("`{}` needs compile-time values, got {}; compare with each, `(x == 1) | "
                          "(x == 2)`",
                          ast::spelling(op), describe(a ? lhs : rhs)));
  if ((!a && !lhs.isNumber()) || (!b && !rhs.isNumber())) {
    // As in Python, a tensor is never equal to None, a string or a dtype.
    if (op == CompareOp::Eq || op == CompareOp::Ne)
      return PyValue::boolean(op == CompareOp::Ne);
    return fail(formatted("`{}` is not defined for {} and {}", ast::spelling(op), describe(lhs),
                          describe(rhs)));
  }
  Tensor x = tensor(lhs), y = tensor(rhs);
  if (!x || !y)
    return PoisonValue::get();
  if (x.type.isPointer() || y.type.isPointer())
    return fail(formatted("cannot compare {} with {}: convert pointers with `.to(tl.int64)`",
                          describe(lhs), describe(rhs)));
  if (!unify(x, y))
    return PoisonValue::get();
  return wrap(compareSame(op, x, y));
}

Tensor Emitter::isTrue(const Tensor &x) {
  if (!x || x.type.isBool())
    return x;
  if (x.type.isPointer())
    return isTrue(cast(x, Kind::Int64));
  return compareSame(CompareOp::Ne, x, constant(PyValue::integer(0), x.type, x.shape()));
}

Tensor Emitter::logicalNot(const Tensor &x) {
  Tensor t = isTrue(x);
  if (!t)
    return {};
  Tensor ones = constant(PyValue::boolean(true), Kind::Int1, t.shape());
  return {create<arith::XOrIOp>(t.value, ones.value), DType(Kind::Int1)};
}

Tensor Emitter::logical(bool isAnd, const PyValue &lhs, const PyValue &rhs) {
  return arithmetic(isAnd ? BinaryOp::And : BinaryOp::Or, isTrue(tensor(lhs)), isTrue(tensor(rhs)));
}

//===----------------------------------------------------------------------===//
// Unary operators
//===----------------------------------------------------------------------===//

PyValue Emitter::unary(UnaryOp op, const PyValue &operand) {
  const Tensor *x = tensorIn(operand);
  if (!x)
    return take(eval::unary(op, operand));
  const DType &type = x->type;
  if (op == UnaryOp::Not)
    return wrap(logicalNot(*x));
  if (type.isPointer() || (op == UnaryOp::Invert && type.isFloating()))
    return fail(
        formatted("unary `{}` is not defined for {}", ast::spelling(op), describe(operand)));
  if (op == UnaryOp::Pos)
    return operand;
  if (type.isFp8())
    return fail(formatted("unary `{}` is not defined for {}: convert with `.to(tl.float16)` first",
                          ast::spelling(op), type.str()));
  if (op == UnaryOp::Invert) {
    Tensor ones = intConstant(-1, type, x->shape());
    return wrap({create<arith::XOrIOp>(x->value, ones.value), type});
  }
  if (type.isFloating())
    return wrap({create<arith::NegFOp>(x->value), type});
  Tensor zero = intConstant(0, type, x->shape());
  return wrap({create<arith::SubIOp>(zero.value, x->value), type});
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

Tensor Emitter::minMax(MinMax which, const Tensor &lhs, const Tensor &rhs, bool propagateNan) {
  Tensor x = lhs, y = rhs;
  for (Tensor *t : {&x, &y})
    if (*t && t->type.kind() == Kind::BFloat16)
      *t = cast(*t, Kind::Float32);
  if (!unify(x, y))
    return {};
  if (x.type.isPointer() || x.type.isFp8())
    return poison(formatted("minimum and maximum are not defined for {}", x.type.str()));
  Value a = x.value, b = y.value;
  bool isMin = which == MinMax::Min;
  Value result;
  if (x.type.isFloating() && propagateNan)
    result = isMin ? create<arith::MinimumFOp>(a, b) : create<arith::MaximumFOp>(a, b);
  else if (x.type.isFloating())
    result = isMin ? create<arith::MinNumFOp>(a, b) : create<arith::MaxNumFOp>(a, b);
  else if (x.type.isSigned())
    result = isMin ? create<arith::MinSIOp>(a, b) : create<arith::MaxSIOp>(a, b);
  else
    result = isMin ? create<arith::MinUIOp>(a, b) : create<arith::MaxUIOp>(a, b);
  return {result, x.type};
}

Tensor Emitter::select(const Tensor &condition, const Tensor &x, const Tensor &y) {
  if (!condition || !x || !y)
    return {};
  Tensor c = condition, a = x, b = y;
  if (!broadcast({&c, &a, &b}))
    return {};
  return {create<arith::SelectOp>(c.value, a.value, b.value), a.type};
}

PyValue Emitter::where(const PyValue &condition, const PyValue &x, const PyValue &y) {
  if (isPoison(condition) || isPoison(x) || isPoison(y))
    return PoisonValue::get();
  Tensor c = isTrue(tensor(condition, "the condition of `where`"));
  Tensor a = tensor(x), b = tensor(y);
  if (!c || !a || !b)
    return PoisonValue::get();
  if (a.type != b.type) {
    std::string problem;
    Operand left{a.type, tensorIn(x) ? nullptr : &x}, right{b.type, tensorIn(y) ? nullptr : &y};
    std::optional<DType> type = promote(left, right, false, problem);
    if (!type)
      return fail(problem);
    a = tensorIn(x) ? cast(a, *type) : constant(x, *type);
    b = tensorIn(y) ? cast(b, *type) : constant(y, *type);
  }
  return wrap(select(c, a, b));
}

} // namespace tile::specialize
