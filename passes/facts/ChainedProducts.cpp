//===- ChainedProducts.cpp - one product made of the result of another ----===//
#include "passes/facts/ChainedProducts.h"
#include "ir/Kernel.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

/// Two products or more, all in the loop itself; the last adds to a variable of the loop.
static bool findProducts(scf::ForOp loop, ChainedProducts &c) {
  c.dots = plainProducts(loop);
  if (c.dots.size() < 2)
    return false;
  c.last = c.dots.back();
  c.first = c.dots[c.dots.size() - 2];
  if (!isa<RankedTensorType>(c.last.getA().getType()) || !c.last.getResult().hasOneUse())
    return false;
  OpOperand &use = *c.last.getResult().use_begin();
  c.sumArg = use.getOperandNumber();
  return use.getOwner() == loop.getBody()->getTerminator();
}

/// Element by element, under a condition or not.
static bool isScaling(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch)
    return isElementByElement(op);
  auto areElementByElement = [](Region &region) {
    return llvm::all_of(region.front().without_terminator(),
                        [](Operation &op) { return isElementByElement(&op); });
  };
  return op->getNumResults() == 1 && llvm::all_of(op->getRegions(), areElementByElement);
}

/// The sum is only scaled, element by element, before the last product is added to it.
static bool findScaling(scf::ForOp loop, ChainedProducts &c) {
  BlockArgument sum = loop.getRegionIterArg(c.sumArg);
  SmallVector<Value> values{sum};
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
      if (user == c.last) {
        if (use.get() != c.last.getAcc() || use.getOperandNumber() != 2)
          return false;
        continue;
      }
      if (!user || !isScaling(user))
        return false;
      if (c.scaling.insert(user).second)
        values.push_back(user->getResult(0));
    }
  // With no way from the variable to the product the loop adds up nothing.
  return c.last.getAcc() == sum || c.scaling.contains(c.last.getAcc().getDefiningOp());
}

/// The left operand is made of the result of another product of the same turn.
static bool isChained(scf::ForOp loop, ChainedProducts &c) {
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) { return loop->isProperAncestor(op); };
  options.omitUsesFromAbove = false; // a branch may mask it
  SetVector<Operation *> slice;
  if (failed(getBackwardSlice(c.last.getA(), &slice, options)) || !slice.contains(c.first))
    return false;
  auto truncation = c.last.getA().getDefiningOp<arith::TruncFOp>();
  if (truncation && truncation->hasOneUse() && truncation->getBlock() == loop.getBody())
    c.narrowing = truncation;
  return true;
}

/// All that the loop carries, the left operand and the other results, with as much beside them as
/// the assembler wants for what is done with them; numbers of rows and parts of them are among that
/// where several programs are a thread block. Where they only share a multiprocessor, as many
/// as without.
int64_t ChainedProducts::registers(scf::ForOp loop, bool chained) const {
  int64_t registers = tuningOf(loop).registersBesideChain;
  bool isShared = cta::blockProgramsOf(loop).count > 1;
  int64_t least = isShared ? tuningOf(loop).deferredLeastRegisters + 1 : 0;
  registers += packedRegistersOfAll(loop.getResultTypes(), least);
  for (cta::WarpgroupDotOp dot : ArrayRef(dots).drop_back())
    registers += packedRegistersOf(dot.getType());
  int64_t left = packedRegistersOf(cta::WarpgroupDotOp(last).getA().getType());
  return registers + (!chained ? 0 : narrowing ? left : 2 * left);
}

std::optional<ChainedProducts> tile::chainedProducts(scf::ForOp loop) {
  ChainedProducts chain;
  if (!findProducts(loop, chain) || !findScaling(loop, chain) || !isChained(loop, chain))
    return std::nullopt;
  return chain;
}
