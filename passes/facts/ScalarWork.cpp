//===- ScalarWork.cpp - what one thread can do by itself ------------------===//
#include "passes/facts/ScalarWork.h"
#include "ir/CtaDialect.h"

using namespace mlir;
using namespace tile;

bool tile::fillsRing(Operation *op) {
  return isa<cta::RingAcquireOp, cta::RingCopyOp, cta::RingElementCopyOp, cta::RingCommitOp>(op);
}

bool tile::isScalarWork(Operation *op) {
  if (fillsRing(op) || isa<scf::SCFDialect>(op->getDialect()))
    return true;
  for (Type type : op->getResultTypes())
    if (isa<RankedTensorType>(type))
      return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getIsVolatile(); // the consumers might see another value
  return !isa<ReduceOp>(op) && op->getNumRegions() == 0 && isMemoryEffectFree(op);
}
