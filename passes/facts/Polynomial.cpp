//===- Polynomial.cpp - sums of products of scalars -----------------------===//
#include "passes/facts/Polynomial.h"

using namespace mlir;
using namespace tile;

Polynomial Polynomial::constant(int64_t c) {
  Polynomial p;
  p.add({{}, c});
  return p;
}

Polynomial Polynomial::variable(Value v) {
  Polynomial p;
  p.add({{v}, 1});
  return p;
}

void Polynomial::add(Term term) {
  if (term.coefficient == 0)
    return;
  for (Term &t : sum) {
    if (t.factors.size() != term.factors.size() ||
        !std::is_permutation(t.factors.begin(), t.factors.end(), term.factors.begin()))
      continue;
    t.coefficient += term.coefficient;
    if (t.coefficient == 0)
      sum.erase(&t);
    return;
  }
  sum.push_back(std::move(term));
}

std::optional<int64_t> Polynomial::asConstant() const {
  if (sum.empty())
    return 0;
  if (sum.size() == 1 && sum.front().factors.empty())
    return sum.front().coefficient;
  return std::nullopt;
}

std::optional<Polynomial> Polynomial::dividedBy(int64_t c) const {
  Polynomial quotient(*this);
  for (Term &t : quotient.sum) {
    if (c == 0 || t.coefficient % c)
      return std::nullopt;
    t.coefficient /= c;
  }
  return quotient;
}

Polynomial tile::operator+(const Polynomial &a, const Polynomial &b) {
  Polynomial result(a);
  for (const Polynomial::Term &t : b.sum)
    result.add(t);
  return result;
}

Polynomial tile::operator-(const Polynomial &a, const Polynomial &b) {
  Polynomial result(a);
  for (Polynomial::Term t : b.sum) {
    t.coefficient = -t.coefficient;
    result.add(std::move(t));
  }
  return result;
}

Polynomial tile::operator*(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  for (const Polynomial::Term &x : a.sum)
    for (const Polynomial::Term &y : b.sum) {
      Polynomial::Term t{x.factors, x.coefficient * y.coefficient};
      llvm::append_range(t.factors, y.factors);
      result.add(std::move(t));
    }
  return result;
}

static Value constant(OpBuilder &b, Location loc, Type type, int64_t n) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, n));
}

Value tile::emitPolynomial(OpBuilder &b, Location loc, const Polynomial &p, IRMapping &map) {
  Type i64 = b.getI64Type();
  Value sum;
  for (const Polynomial::Term &t : p.terms()) {
    Value product;
    if (t.coefficient != 1 || t.factors.empty())
      product = constant(b, loc, i64, t.coefficient);
    for (Value f : t.factors) {
      f = map.lookupOrDefault(f);
      if (isa<IndexType>(f.getType()))
        f = arith::IndexCastOp::create(b, loc, i64, f);
      else if (f.getType() != i64)
        f = arith::ExtSIOp::create(b, loc, i64, f);
      product = product ? arith::MulIOp::create(b, loc, product, f).getResult() : f;
    }
    sum = sum ? arith::AddIOp::create(b, loc, sum, product).getResult() : product;
  }
  return sum ? sum : constant(b, loc, i64, 0);
}

Value tile::emitBounded(OpBuilder &b, Location loc, ArrayRef<Polynomial> limits, int64_t most,
                        IRMapping &map) {
  if (limits.empty())
    return constant(b, loc, b.getI32Type(), most);
  Type i64 = b.getI64Type();
  Value least = constant(b, loc, i64, most);
  for (const Polynomial &limit : limits)
    least = arith::MinSIOp::create(b, loc, least, emitPolynomial(b, loc, limit, map));
  least = arith::MaxSIOp::create(b, loc, least, constant(b, loc, i64, 0));
  return arith::TruncIOp::create(b, loc, b.getI32Type(), least);
}
