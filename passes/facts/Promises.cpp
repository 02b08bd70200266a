//===- Promises.cpp - what authors say about scalars ----------------------===//
#include "passes/facts/Promises.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// Whether the program assumes `condition` wherever it is computed.
static bool isAssumed(Value condition) {
  return llvm::any_of(condition.getUsers(), [&](Operation *user) {
    return isa<AssumeOp>(user) && user->getBlock() == condition.getParentBlock();
  });
}

int64_t tile::promisedDivisibility(Value v) {
  int64_t best = 1;
  for (Operation *user : v.getUsers()) {
    if (user->getBlock() != v.getParentBlock()) // it may never be reached
      continue;
    int64_t n = 1;
    APInt divisor;
    if (auto hint = dyn_cast<HintOp>(user)) {
      if (auto promised = hint.getDivisibility(); promised && promised->size() == 1)
        n = promised->front();
    } else if (isa<arith::RemSIOp, arith::RemUIOp>(user) && user->getOperand(0) == v &&
               matchPattern(user->getOperand(1), m_ConstantInt(&divisor))) {
      bool isZero = llvm::any_of(user->getUsers(), [](Operation *use) {
        auto compare = dyn_cast<arith::CmpIOp>(use);
        return compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
               matchPattern(compare.getRhs(), m_Zero()) && isAssumed(compare.getResult());
      });
      n = isZero ? divisor.getSExtValue() : 1;
    }
    best = std::max(best, n & -n);
  }
  return best;
}

/// v = at - limit, of two values or of one and a constant.
static std::optional<std::pair<Value, OpFoldResult>> asDifference(Value v) {
  APInt c;
  Operation *op = v.getDefiningOp();
  if (!v.getType().isIntOrIndex())
    return std::nullopt;
  if (isa_and_nonnull<arith::SubIOp>(op))
    return std::pair(op->getOperand(0), getAsOpFoldResult(op->getOperand(1)));
  if (isa_and_nonnull<arith::AddIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&c)))
    return std::pair(op->getOperand(0), OpFoldResult(IntegerAttr::get(v.getType(), -c)));
  return std::nullopt;
}

/// Whether a comparison that is `holds` says that `at` is not below `limit`.
static bool saysNotBelow(arith::CmpIOp compare, bool holds, Value at, OpFoldResult limit) {
  using P = arith::CmpIPredicate;
  P predicate = holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  Value other = compare.getRhs();
  if (compare.getRhs() == at && compare.getLhs() != at) {
    other = compare.getLhs();
    predicate = predicate == P::sle ? P::sge : predicate == P::slt ? P::sgt : P::eq;
  } else if (compare.getLhs() != at) {
    return false;
  }
  if (predicate != P::sge && predicate != P::sgt)
    return false;
  APInt least;
  auto constant = dyn_cast_if_present<Attribute>(limit);
  if (!constant || !matchPattern(other, m_ConstantInt(&least)))
    return OpFoldResult(other) == limit;
  return (least + (predicate == P::sgt)).sge(cast<IntegerAttr>(constant).getValue());
}

/// Whether `v` is a difference, in a branch that is taken only where that is not negative.
static bool isOfBranch(Value v) {
  auto difference = asDifference(v);
  if (!difference)
    return false;
  auto [at, limit] = *difference;
  for (Region *region = v.getParentRegion(); region; region = region->getParentRegion())
    if (auto branch = dyn_cast_if_present<scf::IfOp>(region->getParentOp()))
      if (auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
          compare && saysNotBelow(compare, region == &branch.getThenRegion(), at, limit))
        return true;
  return false;
}

bool tile::isPromisedNonNegative(Value v) {
  if (isOfBranch(v))
    return true;
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    using P = arith::CmpIPredicate;
    auto compare = dyn_cast<arith::CmpIOp>(user);
    APInt bound;
    return compare && compare.getLhs() == v && user->getBlock() == v.getParentBlock() &&
           (compare.getPredicate() == P::sge || compare.getPredicate() == P::sgt) &&
           matchPattern(compare.getRhs(), m_ConstantInt(&bound)) && !bound.isNegative() &&
           isAssumed(compare.getResult());
  });
}
