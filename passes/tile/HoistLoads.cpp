//===- HoistLoads.cpp - what each turn of a loop would load again ----------===//
//
// A part of tile-keep-rows. Weights of few bits have scales of scales, for several turns each:
//
//   for chunk in range(8):                           d = load(scales)
//       w = load(weights + chunk) * load(scales)  => for chunk in range(8):
//       acc = dot(x, w, acc)                             acc = dot(x, load(weights + chunk) * d,
//       acc)
//
// In front of a loop that may not turn at all nothing is loaded unless it does, and of blocks only
// what is multiplied: products read it where it lies, while what is added to their results takes
// registers of 32 bits in every turn (docs/rationale.md).
//
//===----------------------------------------------------------------------===//
#include "passes/tile/HoistLoads.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "passes/facts/Intervals.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Reach.h"
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

/// Whether products of `loop` multiply `v`, maybe turned or converted, as each turn has it.
static bool isMultiplied(Value v, scf::ForOp loop, unsigned depth = 0) {
  return depth < reach::kProducts &&
         llvm::any_of(
             v.getUses(),
             [&](OpOperand &use) {
               Operation *user = use.getOwner();
               if (auto dot = dyn_cast<DotOp>(user))
                 return v == dot.getA() || v == dot.getB();
               auto isSame = [&](Value other) {
                 return other == v || loop.isDefinedOutsideOfLoop(other);
               };
               return isMemoryEffectFree(user) && user->getNumRegions() == 0 &&
                      user->getNumResults() == 1 && llvm::all_of(user->getOperands(), isSame) &&
                      isMultiplied(user->getResult(0), loop, depth + 1);
             });
}

/// Has `load`, in front of `loop`, load nothing where the loop does not turn.
static void loadIfTurns(LoadOp load, scf::ForOp loop) {
  OpBuilder b(load);
  Location loc = load.getLoc();
  auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value mask = arith::CmpIOp::create(b, loc, less, loop.getLowerBound(), loop.getUpperBound());
  if (auto block = dyn_cast<RankedTensorType>(load.getType()))
    mask = SplatOp::create(b, loc, block.clone(b.getI1Type()), mask);
  if (load.getMask())
    mask = arith::AndIOp::create(b, loc, load.getMask(), mask);
  load.getMaskMutable().assign(mask);
}

unsigned tile::hoistLoads(scf::ForOp loop) {
  std::optional<DenseSet<Value>> written = writtenIn(loop);
  if (!written || !multiplies(loop))
    return 0;
  bool alwaysTurns = turns(loop);
  int64_t left = tuningOf(loop).hoistedMostRegisters;
  unsigned hoisted = 0;
  auto mayMove = [&](Operation *op, Region *) {
    auto load = dyn_cast<LoadOp>(op);
    if (!load)
      return isMemoryEffectFree(op) && isSpeculatable(op);
    bool pays = alwaysTurns || !isa<RankedTensorType>(load.getType()) ||
                isMultiplied(load.getResult(), loop);
    return pays && !load.getIsVolatile() && !comesFrom(load.getPtr(), *written) &&
           registersToKeep(load) <= left;
  };
  auto move = [&](Operation *op, Region *) {
    loop.moveOutOfLoop(op);
    if (auto load = dyn_cast<LoadOp>(op)) {
      left -= registersToKeep(load);
      ++hoisted;
      if (!alwaysTurns)
        loadIfTurns(load, loop);
    }
  };
  moveLoopInvariantCode(
      &loop.getRegion(), [&](Value v, Region *) { return loop.isDefinedOutsideOfLoop(v); }, mayMove,
      move);
  return hoisted;
}
