//===- NeutralElement.cpp - what a combiner leaves everything as it is with ===//
#include "passes/tile/NeutralElement.h"
#include "ir/Combiners.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

TypedAttr tile::neutralElement(Block &combiner, Type type) {
  Operation *op = soleCombiner(combiner);
  if (!op)
    return {};
  if (auto f = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = f.getFloatSemantics();
    auto attr = [&](const APFloat &value) { return FloatAttr::get(type, value); };
    return llvm::TypeSwitch<Operation *, TypedAttr>(op)
        .Case<arith::AddFOp>([&](auto) { return attr(APFloat::getZero(semantics, true)); })
        .Case<arith::MulFOp>([&](auto) { return attr(APFloat(semantics, 1)); })
        .Case<arith::MaxNumFOp, arith::MinNumFOp>(
            [&](auto) { return attr(APFloat::getNaN(semantics)); })
        .Case<arith::MaximumFOp>([&](auto) { return attr(APFloat::getInf(semantics, true)); })
        .Case<arith::MinimumFOp>([&](auto) { return attr(APFloat::getInf(semantics)); })
        .Default(TypedAttr());
  }
  if (!isa<IntegerType>(type))
    return {};
  unsigned bits = type.getIntOrFloatBitWidth();
  auto attr = [&](const APInt &value) { return IntegerAttr::get(type, value); };
  return llvm::TypeSwitch<Operation *, TypedAttr>(op)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return attr(APInt::getZero(bits)); })
      .Case<arith::MulIOp>([&](auto) { return attr(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return attr(APInt::getAllOnes(bits)); })
      .Case<arith::MaxSIOp>([&](auto) { return attr(APInt::getSignedMinValue(bits)); })
      .Case<arith::MinSIOp>([&](auto) { return attr(APInt::getSignedMaxValue(bits)); })
      .Default(TypedAttr());
}
