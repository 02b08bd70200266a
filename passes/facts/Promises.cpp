//===- Promises.cpp - what authors say about scalars ----------------------===//
#include "passes/facts/Promises.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

bool tile::isPromisedNonNegative(Value v) {
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
