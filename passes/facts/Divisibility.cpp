//===- Divisibility.cpp - what numbers of a kernel are multiples of --------===//
#include "passes/facts/Divisibility.h"
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/NonNegative.h"
#include "passes/facts/Promises.h"
#include "passes/facts/Reach.h"

using namespace mlir;
using namespace tile;

static int64_t computedDivisibility(Value v, unsigned depth);

static int64_t divisibility(Value v, unsigned depth) {
  return depth > reach::kFacts ? 1
                               : std::max(promisedDivisibility(v), computedDivisibility(v, depth));
}

static int64_t computedDivisibility(Value v, unsigned depth) {
  constexpr int64_t kMost = 1 << 20;
  if (BlockArgument arg = kernelArgument(v)) {
    auto func = cast<func::FuncOp>(arg.getOwner()->getParentOp());
    auto attr = func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kDivisibilityAttr);
    return attr ? attr.getInt() & -attr.getInt() : 1;
  }
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop || arg != loop.getInductionVar())
      return 1;
    return std::min(divisibility(loop.getLowerBound(), depth + 1),
                    divisibility(loop.getStep(), depth + 1));
  }
  APInt c;
  if (matchPattern(v, m_ConstantInt(&c))) {
    int64_t n = c.getSExtValue();
    return n == 0 ? kMost : std::min(n & -n, kMost);
  }
  Operation *op = v.getDefiningOp();
  auto operand = [&](unsigned i) { return divisibility(op->getOperand(i), depth + 1); };
  if (isa<arith::MulIOp>(op))
    return std::min(operand(0) * operand(1), kMost);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::min(operand(0), operand(1));
  if (auto hint = dyn_cast<HintOp>(op))
    return operand(0);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return operand(0);
  return 1;
}

int64_t tile::divisibility(Value v) { return ::divisibility(v, 0); }

int64_t tile::divisibility(const Polynomial::Term &t) {
  int64_t d = t.coefficient & -t.coefficient;
  for (Value v : t.factors)
    d = std::min<int64_t>(d * ::divisibility(v, 0), 1 << 20);
  return d;
}

bool tile::isLaunchInvariant(const Polynomial &p) {
  return llvm::all_of(p.terms(), [](const Polynomial::Term &t) {
    return llvm::all_of(t.factors, [](Value v) { return bool(kernelArgument(v)); });
  });
}
