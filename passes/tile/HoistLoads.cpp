//===- HoistLoads.cpp - what each turn of a loop would load again ----------===//
//
// A part of tile-keep-rows. Weights of few bits have scales of scales, for several turns each:
//
//   for chunk in range(8):                           d = load(scales)
//       w = load(weights + chunk) * load(scales)  => for chunk in range(8):
//       acc = dot(x, w, acc)                             acc = dot(x, load(weights + chunk) * d,
//       acc)
//
//===----------------------------------------------------------------------===//
#include "passes/tile/HoistLoads.h"
#include "ir/Kernel.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "passes/facts/Intervals.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

/// Registers of a thread that keep what `load` loads.
static int64_t registersToKeep(LoadOp load) {
  return packedRegistersOfShare(load.getType(), cta::threadsOf(load));
}

/// Whether `loop` turns at least once: what it loads is loaded, then.
static bool turns(scf::ForOp loop) {
  Intervals intervals;
  return !loop.getUnsignedCmp() &&
         intervals.of(loop.getLowerBound()).high < intervals.of(loop.getUpperBound()).low;
}

static bool multiplies(scf::ForOp loop) {
  return loop.walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

unsigned tile::hoistLoads(scf::ForOp loop) {
  std::optional<DenseSet<Value>> written = writtenIn(loop);
  if (!written || !turns(loop) || !multiplies(loop))
    return 0;
  int64_t left = tuningOf(loop).hoistedMostRegisters;
  unsigned hoisted = 0;
  auto mayMove = [&](Operation *op, Region *) {
    auto load = dyn_cast<LoadOp>(op);
    return load ? !load.getIsVolatile() && !comesFrom(load.getPtr(), *written) &&
                      registersToKeep(load) <= left
                : isMemoryEffectFree(op) && isSpeculatable(op);
  };
  auto move = [&](Operation *op, Region *) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      left -= registersToKeep(load);
      ++hoisted;
    }
    loop.moveOutOfLoop(op);
  };
  moveLoopInvariantCode(
      &loop.getRegion(), [&](Value v, Region *) { return loop.isDefinedOutsideOfLoop(v); }, mayMove,
      move);
  return hoisted;
}
