//===- Remainders.cpp - what is left over is a remainder ------------------===//
//
// Contract and example: RemaindersPass in passes/tile/Passes.td.
//
// Kernels that take a position apart write its remainder as a difference, which saves a division
// where a compiler does not see that the two are one. This one does, and knows of a remainder what
// it does not of a difference: that it is not negative where the position is not, and which of a
// run of positions follow each other.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_REMAINDERSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-remainders"
ALWAYS_ENABLED_STATISTIC(remainders, "differences that are remainders");

/// Makes `x - x / n * n` the remainder of x by n; Quotient and Remainder agree on signs.
template <typename Quotient, typename Remainder> static bool makeRemainder(arith::SubIOp op) {
  auto product = op.getRhs().getDefiningOp<arith::MulIOp>();
  if (!product)
    return false;
  for (auto [factor, divisor] : {std::pair(product.getLhs(), product.getRhs()),
                                 std::pair(product.getRhs(), product.getLhs())}) {
    auto quotient = factor.template getDefiningOp<Quotient>();
    if (!quotient || quotient.getLhs() != op.getLhs() || quotient.getRhs() != divisor)
      continue;
    LDBG() << op << " is a remainder";
    OpBuilder b(op);
    Value left = Remainder::create(b, op.getLoc(), op.getLhs(), quotient.getRhs());
    op.replaceAllUsesWith(left);
    op.erase();
    if (product.use_empty())
      product.erase();
    return true;
  }
  return false;
}

namespace {
struct RemaindersPass : tile::impl::RemaindersPassBase<RemaindersPass> {
  void runOnOperation() override {
    SmallVector<arith::SubIOp> differences;
    getOperation().walk([&](arith::SubIOp op) { differences.push_back(op); });
    for (arith::SubIOp op : differences)
      remainders += makeRemainder<arith::DivSIOp, arith::RemSIOp>(op) ||
                    makeRemainder<arith::DivUIOp, arith::RemUIOp>(op);
  }
};
} // namespace
