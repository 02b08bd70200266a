//===- LoopTests.h - how a loop knows that there is another turn -*- C++ -*-===//
#ifndef TILE_PASSES_LOWERING_LOOPTESTS_H
#define TILE_PASSES_LOWERING_LOOPTESTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::lowering {

/// The last three ask at the loop's end, so that the counter never leaves its type, and LLVM knows
/// that it does not.
enum class LoopTest {
  Signed,     ///< counter < end
  Unsigned,   ///< the same without a sign
  Grown,      ///< counter + step < end without a sign, where neither is negative
  BeforeLast, ///< counter < end - step, where neither is negative
  Distance,   ///< end - counter > step, without a sign
};

/// `Grown` where it does good: NVIDIA's assembler unrolls loops that compare what their counter
/// grows to, and then the loads of several turns are on their way.
LoopTest testOf(mlir::scf::ForOp op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_LOOPTESTS_H
