//===- ProgramLengths.cpp - how long programs run --------------------------===//
#include "passes/facts/ProgramLengths.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/Neighbours.h"
#include "passes/facts/StridedAccess.h"

using namespace mlir;
using namespace tile;

using IsDifferent = llvm::function_ref<bool(Value)>;

/// Whether from `lower` to `upper` it is as far in all programs, but for an end that is one for
/// all.
static bool isOneLength(Value lower, Value upper, IsDifferent differs) {
  if (auto least = upper.getDefiningOp<arith::MinSIOp>())
    return (isOneLength(lower, least.getLhs(), differs) && !differs(least.getRhs())) ||
           (isOneLength(lower, least.getRhs(), differs) && !differs(least.getLhs()));
  StridedAnalysis analysis;
  Polynomial length = analysis.scalar(upper) - analysis.scalar(lower);
  return llvm::none_of(length.terms(), [&](const Polynomial::Term &term) {
    return llvm::any_of(term.factors, differs);
  });
}

bool tile::hasUnequalLoops(func::FuncOp kernel) {
  SmallVector<Neighbours, 3> axes;
  for (int32_t axis = 0; axis < 3; ++axis)
    axes.emplace_back(kernel, axis);
  auto differs = [&](Value v) {
    return llvm::any_of(axes, [&](const Neighbours &along) { return along.differ(v); });
  };
  return kernel
      .walk([&](cta::TmaLoadOp load) {
        auto loop = load->getParentOfType<scf::ForOp>();
        return !loop || isOneLength(loop.getLowerBound(), loop.getUpperBound(), differs)
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}
