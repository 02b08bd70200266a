//===- NonNegative.cpp - scalars that are not below zero ------------------===//
#include "passes/facts/NonNegative.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Promises.h"
#include "passes/facts/StridedAccess.h"

using namespace mlir;
using namespace tile;

BlockArgument tile::kernelArgument(Value v) {
  auto arg = dyn_cast<BlockArgument>(v);
  return arg && isa<func::FuncOp>(arg.getOwner()->getParentOp()) ? arg : BlockArgument();
}

bool NonNegative::holds(const Polynomial &p) const {
  return llvm::all_of(p.terms(), [&](const Polynomial::Term &t) {
    return t.coefficient > 0 && llvm::all_of(t.factors, [&](Value v) { return holds(v); });
  });
}

bool NonNegative::holds(Value v, unsigned depth) const {
  if (depth > 12)
    return false;
  if (isPromisedNonNegative(v))
    return true;
  if (BlockArgument arg = kernelArgument(v)) {
    if (checked)
      arguments.insert(arg);
    return checked || trusted;
  }
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && arg == loop.getInductionVar() && holds(loop.getLowerBound(), depth + 1);
  }
  APInt c;
  if (matchPattern(v, m_ConstantInt(&c)))
    return !c.isNegative();
  Operation *op = v.getDefiningOp();
  if (isa<ProgramIdOp, NumProgramsOp>(op))
    return true;
  if (isa<arith::RemSIOp, arith::DivSIOp>(op)) // divisors are counts
    return holds(op->getOperand(0), depth + 1);
  if (isa<arith::MaxSIOp>(op))
    return holds(op->getOperand(0), depth + 1) || holds(op->getOperand(1), depth + 1);
  if (isa<arith::TruncIOp>(op) && v.getType().getIntOrFloatBitWidth() < 32)
    return false; // it wraps around
  return isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::TruncIOp, HintOp, arith::RemUIOp, arith::DivUIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value o) { return holds(o, depth + 1); });
}
