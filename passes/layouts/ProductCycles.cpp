//===- ProductCycles.cpp - what products take of a multiprocessor ---------===//
#include "passes/layouts/ProductCycles.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/SharedOperands.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/memory/Costs.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using layout::Dim;

static constexpr unsigned kWordBytes = 4;

double tile::cyclesOfInstructions(DotOp dot, int64_t results, int64_t depth) {
  const Target &target = targetOf(dot);
  MatrixInstruction instruction = *chooseInstruction(dot, target);
  int64_t tile = fragment(instruction, kDotAcc).inSize(Dim::reg());
  return double(llvm::divideCeilSigned(results, tile)) *
         double(llvm::divideCeilSigned(depth, instruction.k)) * cyclesOfInstruction(dot, target);
}

int64_t tile::wordsOfOperand(Value operand, int64_t elements) {
  return llvm::divideCeilSigned(elements * getElementBytes(getElementTypeOrSelf(operand.getType())),
                                kWordBytes);
}

double tile::cyclesOfSum(ModuleOp module, int64_t own, int64_t numbers, unsigned parts,
                         unsigned warps) {
  double share = std::max(double(numbers) / (kLanes * warps), 1.0);
  double words = double(own) + share * parts + share + double(own);
  lowering::Cost cost{words, words, 2 * tuningOf(module).exchangeCycles};
  return cost.total(warps);
}

double tile::turnsAround(Operation *op, const Tuning &tuning) {
  double turns = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    std::optional<APInt> known = loop.getStaticTripCount();
    turns *= known ? double(known->getLimitedValue()) : tuning.unknownTurns;
  }
  return turns;
}

/// Of what a turn loads or computes, or reads from shared memory, each word is a wavefront; what
/// was there before waits in registers.
static int64_t wordsRead(DotOp dot, Value operand) {
  bool isHeld = operand.getParentBlock() != dot->getBlock() && !readOfOperand(operand);
  int64_t elements = cta::getLayout(operand.getType()).inSize(Dim::reg());
  return isHeld ? 0 : wordsOfOperand(operand, elements);
}

/// The sum over the parts of `dot`, in the block that multiplies them or behind its loop.
static ReduceOp sumOfParts(DotOp dot) {
  if (dot.getType().getRank() != 3 || !dot->hasOneUse())
    return {};
  OpOperand &use = *dot->use_begin();
  Value parts = dot.getResult();
  if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
      loop && isa<scf::YieldOp>(use.getOwner()))
    parts = loop.getResult(use.getOperandNumber());
  if (!parts.hasOneUse())
    return {};
  auto sum = dyn_cast<ReduceOp>(*parts.user_begin());
  return sum && sum.getAxis() == 0 ? sum : ReduceOp();
}

/// Of a product by warps, in one turn.
static double cyclesOf(DotOp dot, unsigned warps) {
  int64_t own = cta::getLayout(dot.getType()).inSize(Dim::reg());
  int64_t words = wordsRead(dot, dot.getA()) + wordsRead(dot, dot.getB());
  return warps *
         (cyclesOfInstructions(dot, own, dot.getA().getType().getShape().back()) + double(words));
}

ProductCycles tile::cyclesOfProducts(ModuleOp laidOut) {
  unsigned warps = cta::warpsOfGroup(laidOut);
  const Tuning &tuning = tuningOf(laidOut);
  ProductCycles all;
  laidOut.walk([&](cta::WarpgroupDotOp dot) {
    all.byWarpgroups += double(cyclesOfShare(dot, /*warpgroups=*/1)) * turnsAround(dot, tuning);
  });
  laidOut.walk([&](DotOp dot) {
    if (dotMethod(dot) != DotMethod::Matrix)
      return;
    double turns = turnsAround(dot, tuning);
    all.multiplied += turns * double(dot.getType().getNumElements()) *
                      double(dot.getA().getType().getShape().back());
    all.byWarps += turns * cyclesOf(dot, warps);
    if (ReduceOp sum = sumOfParts(dot)) {
      int64_t parts = dot.getType().getDimSize(0),
              own = cta::getLayout(dot.getType()).inSize(Dim::reg()),
              numbers = dot.getType().getNumElements() / parts;
      all.byWarps +=
          turnsAround(sum, tuning) * cyclesOfSum(laidOut, own, numbers, unsigned(parts), warps);
    }
  });
  return all;
}

double ProductCycles::partOfUse(const ProductCycles &few) const {
  if (multiplied != few.multiplied || byWarps <= few.byWarps)
    return 1;
  return (few.byWarps + few.byWarpgroups) / (byWarps + few.byWarpgroups);
}
