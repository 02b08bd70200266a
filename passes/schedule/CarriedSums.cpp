//===- CarriedSums.cpp - sums of blocks, as narrow as what is left --------===//
#include "passes/schedule/CarriedSums.h"
#include "ir/Combiners.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Registers.h"
#include "passes/schedule/PartialReductions.h"

using namespace mlir;
using namespace tile;

/// Integers, and floats in which another order of additions is as good.
static bool isWide(Type element) {
  return isa<IntegerType>(element) || element.isF32() || element.isF64();
}

bool tile::narrowCarriedSum(scf::ForOp loop, unsigned number) {
  BlockArgument carried = loop.getRegionIterArg(number);
  Value sum = loop.getResult(number);
  auto type = dyn_cast<RankedTensorType>(carried.getType());
  if (!type || !isWide(type.getElementType()) || !carried.hasOneUse() || !sum.hasOneUse())
    return false;
  auto reduce = dyn_cast<ReduceOp>(*sum.user_begin());
  Operation *add = *carried.user_begin();
  Value init = loop.getInitArgs()[number];
  if (!reduce || !isSum(reduce.getCombineBlock()) || !isa<arith::AddFOp, arith::AddIOp>(add) ||
      add->getBlock() != loop.getBody() || !add->hasOneUse() ||
      loop.getYieldedValues()[number] != add->getResult(0) ||
      !(matchPattern(init, m_Zero()) || matchPattern(init, m_AnyZeroFloat())))
    return false;
  std::optional<PartialReduction> partial = PartialReduction::of(reduce);
  if (!partial || registersOf(partial->type()) >= registersOf(type))
    return false;

  OpBuilder b(loop);
  RankedTensorType part = partial->type();
  loop.getInitArgsMutable()[number].assign(
      arith::ConstantOp::create(b, loop.getLoc(), b.getZeroAttr(part)));
  carried.setType(part);
  b.setInsertionPoint(add);
  Value term = add->getOperand(add->getOperand(0) == carried ? 1 : 0);
  Operation *narrow = b.create(add->getLoc(), add->getName().getIdentifier(),
                               {carried, partial->begin(b, term)}, {part}, add->getAttrs());
  add->replaceAllUsesWith(narrow->getResults());
  add->erase();
  sum.setType(part);
  b.setInsertionPoint(reduce);
  Value whole = partial->finish(b, sum);
  reduce.getResult(0).replaceAllUsesWith(whole);
  reduce->erase();
  return true;
}
