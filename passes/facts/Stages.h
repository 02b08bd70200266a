//===- Stages.h - how far ahead a loop is to copy ----------------*- C++ -*-===//
#ifndef TILE_PASSES_FACTS_STAGES_H
#define TILE_PASSES_FACTS_STAGES_H

#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

/// Whether the loop around `load` is to have stages: its own number of them, or else the kernel's.
inline bool isAskedToCopyAhead(LoadOp load) {
  auto loop = mlir::dyn_cast<mlir::scf::ForOp>(load->getParentOp());
  auto own = loop ? loop->getAttrOfType<mlir::IntegerAttr>(kNumStagesAttr) : mlir::IntegerAttr();
  return loop && (own ? own.getInt() : kernelOf(load).getStages()) != 1;
}

} // namespace tile

#endif // TILE_PASSES_FACTS_STAGES_H
