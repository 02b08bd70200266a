//===- LoopTests.cpp - how a loop knows that there is another turn --------===//
//
// Behind the last turn of a `for` the counter may step past the end of its type, and must not
// begin anew. A loop by ones never does. One that starts at 0 or above compares without a sign,
// where that sum has room, or with what is left; the others ask how far it is to the end before
// they step on.
//
// Which of them it is decides whether NVIDIA's assembler unrolls the loop. It should where a turn
// loads little and then waits, and threads have registers for what four turns load; loops of
// products, and those that meet other threads, have their own order, and no registers left.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/LoopTests.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/facts/NonNegative.h"
#include "passes/facts/Polynomial.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

static bool isNotNegative(Value v) {
  ArgumentSet arguments;
  return NonNegative(/*checked=*/false, /*trusted=*/false, arguments)
      .holds(Polynomial::variable(v));
}

/// Whether the counter stays in its type: it goes by ones, or between known bounds.
static bool staysInType(scf::ForOp op) {
  Type type = op.getInductionVar().getType();
  std::optional<int64_t> step = getConstantIntValue(op.getStep()),
                         upper = getConstantIntValue(op.getUpperBound());
  if (step == 1)
    return true;
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return step && upper && *step > 0 && *upper <= llvm::maxIntN(width) - *step;
}

/// Whether it neither multiplies blocks nor waits for other warps or copies.
static bool isOfOneWarp(Operation &op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduceScratchBytes(reduce) == 0;
  if (op.getNumRegions() != 0 || isa<DotOp, BarrierOp>(op))
    return false;
  return !isa<cta::CtaDialect>(op.getDialect()) || isa<cta::ConvertLayoutOp, cta::PinOp>(op);
}

/// Whether the loads of several turns are to be on their way at once.
static bool shouldUnroll(scf::ForOp loop) {
  int64_t loaded = 0, widest = 0, carried = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!isOfOneWarp(op))
      return false;
    for (Value v : op.getResults())
      widest = std::max(widest, registersOf(v.getType()));
    if (auto load = dyn_cast<LoadOp>(op))
      loaded += isa<RankedTensorType>(load.getType()) ? packedRegistersOf(load.getType()) : 1;
  }
  for (Value v : loop.getRegionIterArgs())
    carried += registersOf(v.getType());
  const Tuning &tuning = tuningOf(loop);
  int64_t needed =
      carried + widest + tuning.turnsOfAssembler * loaded + tuning.registersBesideTurns;
  return loaded > 0 && needed <= mostRegistersOfThread(targetOf(loop), cta::threadsOf(loop));
}

LoopTest lowering::testOf(scf::ForOp op) {
  if (op.getUnsignedCmp())
    return LoopTest::Unsigned;
  if (staysInType(op))
    return LoopTest::Signed;
  if (!isNotNegative(op.getLowerBound()))
    return LoopTest::Distance;
  return shouldUnroll(op) ? LoopTest::Grown : LoopTest::BeforeLast;
}
