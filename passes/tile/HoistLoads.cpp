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

using namespace mlir;
using namespace tile;

/// Registers of a thread that may keep what is loaded in front of a loop. Judgement.
static constexpr int64_t kMostRegisters = 16;

/// Registers of a thread that keep what `load` loads.
static int64_t registersToKeep(LoadOp load) {
  auto block = dyn_cast<RankedTensorType>(load.getType());
  if (!block)
    return 1;
  int64_t bytes = block.getNumElements() * getElementBytes(block.getElementType());
  unsigned threads = cta::threadsOf(load->getParentOfType<ModuleOp>());
  return std::max<int64_t>(bytes / 4 / threads, 1);
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
  int64_t left = kMostRegisters;
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
