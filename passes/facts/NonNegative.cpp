//===- NonNegative.cpp - scalars that are not below zero ------------------===//
#include "passes/facts/NonNegative.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Polynomial.h"
#include "passes/facts/Promises.h"
#include "passes/facts/Reach.h"

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

/// v - n for a constant n that is added to it, and v itself.
static std::pair<Value, int64_t> withoutConstant(Value v) {
  APInt c;
  Operation *op = v.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&c)) && c.getSignificantBits() <= 32)
    return {op->getOperand(0), isa<arith::SubIOp>(op) ? -c.getSExtValue() : c.getSExtValue()};
  return {v, 0};
}

/// Whether `counter + more` is not negative for a number that a loop carries, and adds what is
/// not negative to in each turn: it is not where the loop starts.
bool NonNegative::holdsOfCounter(BlockArgument counter, int64_t more, unsigned depth) const {
  auto loop = dyn_cast<scf::ForOp>(counter.getOwner()->getParentOp());
  if (!loop || counter == loop.getInductionVar())
    return false;
  auto sum = loop.getTiedLoopYieldedValue(counter)->get().getDefiningOp<arith::AddIOp>();
  if (!sum || (sum.getLhs() != counter && sum.getRhs() != counter))
    return false;
  Value gain = sum.getLhs() == counter ? sum.getRhs() : sum.getLhs();
  auto [start, added] = withoutConstant(loop.getTiedLoopInit(counter)->get());
  return added + more >= 0 && holds(gain, depth + 1) && holds(start, depth + 1);
}

bool NonNegative::holds(Value v, unsigned depth) const {
  if (depth > reach::kFacts)
    return false;
  // A persistent kernel counts what it has done from one turn before the first.
  auto [counter, more] = withoutConstant(v);
  if (auto arg = dyn_cast<BlockArgument>(counter); arg && holdsOfCounter(arg, more, depth))
    return true;
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
