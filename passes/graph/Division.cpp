//===- Division.cpp - // and % of elements, towards the lower number ------===//
//
// The remainder comes first: it is exact, whatever the quotient, while a
// quotient of floats is rounded (and approximate in f32), so that its floor may
// be off by one. By a power of two nothing is rounded, and the floor will do.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/graph/Elements.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;

/// A power of two that neither it nor its reciprocal is near the ends of the type.
static bool isPowerOfTwo(Value y) {
  FloatAttr number;
  DenseElementsAttr block;
  APFloat value(0.0);
  if (matchPattern(y, m_Constant(&block)) && block.isSplat())
    value = block.getSplatValue<APFloat>();
  else if (matchPattern(y, m_Constant(&number)))
    value = number.getValue();
  else
    return false;
  int exponent = value.getExactLog2Abs();
  return exponent != INT_MIN && std::abs(exponent) < 64;
}

Value Elements::floorDivideFloats(Type element, Value x, Value y, bool wantsRest) {
  if (isPowerOfTwo(y)) {
    Value down = make<math::FloorOp>(make<arith::DivFOp>(x, y));
    return wantsRest ? make<arith::SubFOp>(x, make<arith::MulFOp>(down, y)) : down;
  }
  Value zero = constant(x, element, 0), rest = make<arith::RemFOp>(x, y);
  auto below = [&](Value value) {
    return make<arith::CmpFOp>(arith::CmpFPredicate::OLT, value, zero);
  };
  Value some = make<arith::CmpFOp>(arith::CmpFPredicate::UNE, rest, zero);
  Value apart = make<arith::XOrIOp>(below(rest), below(y));
  Value lower = make<arith::AndIOp>(some, apart);
  if (wantsRest)
    return make<arith::SelectOp>(lower, make<arith::AddFOp>(rest, y), rest);
  auto divide = [&](Value from) -> Value {
    if (element.isF32())
      return make<DivRnOp>(from, y);
    return make<arith::DivFOp>(from, y);
  };
  Value whole = make<math::RoundEvenOp>(divide(make<arith::SubFOp>(x, rest)));
  Value less = make<arith::SubFOp>(whole, constant(x, element, 1));
  // By zero there is no remainder, but an infinity.
  Value byZero = make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, y, zero);
  return make<arith::SelectOp>(byZero, divide(x), make<arith::SelectOp>(lower, less, whole));
}

/// Towards the lower number, as Python divides.
Value Elements::floorDivide(Type element, Value x, Value y, bool wantsRest) {
  if (isa<FloatType>(element))
    return floorDivideFloats(element, x, y, wantsRest);
  if (isUnsigned(element))
    return wantsRest ? make<arith::RemUIOp>(x, y) : make<arith::DivUIOp>(x, y);
  Value rest = make<arith::RemSIOp>(x, y), zero = constant(x, element, 0);
  Value apart = make<arith::CmpIOp>(arith::CmpIPredicate::slt, make<arith::XOrIOp>(rest, y), zero);
  Value some = make<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, zero);
  Value below = make<arith::AndIOp>(apart, some);
  if (wantsRest)
    return make<arith::SelectOp>(below, make<arith::AddIOp>(rest, y), rest);
  Value quotient = make<arith::DivSIOp>(x, y);
  return make<arith::SelectOp>(below, make<arith::SubIOp>(quotient, constant(x, element, 1)),
                               quotient);
}
