//===- DotMethod.cpp - which instructions a product is made of ----------===//
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "ir/layout/GF2.h"
#include "passes/facts/ProductForms.h"
#include "passes/facts/Reach.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using layout::Basis;
using layout::Dim;
using layout::LinearLayout;

static constexpr unsigned kMostRun = 4; ///< of bytes, as many as are read at once

/// Shared memory that the operands of a product may take.
static int64_t mostStagedBytes(DotOp op) {
  return lowering::maxSharedBytes(op->getParentOfType<ModuleOp>()) / 4 *
         tuningOf(op).stagedQuartersOfShared;
}

bool tile::wantsStaging(DotOp op, const DotLayouts &layouts) {
  auto bytes = [](RankedTensorType type) {
    return type.getNumElements() * int64_t(getElementBytes(type.getElementType()));
  };
  return !chooseInstruction(op, targetOf(op)) &&
         layouts.a.inSize(Dim::reg()) + layouts.b.inSize(Dim::reg()) >
             tuningOf(op).scalarMostOperandRegisters &&
         bytes(op.getA().getType()) + bytes(op.getB().getType()) <= mostStagedBytes(op);
}

LinearLayout tile::multiplyAddLayout(DotOp op, unsigned operand) {
  DotLayouts layouts =
      scalarDotLayouts(cta::getLayout(op.getType()), op.getA().getType().getShape().back());
  return operand == kDotA ? layouts.a : layouts.b;
}

static DotLayouts layoutsOf(DotOp op) {
  return {cta::getLayout(op.getA().getType()), cta::getLayout(op.getB().getType()),
          cta::getLayout(op.getType())};
}

std::optional<MatrixInstruction> tile::instructionOf(DotOp op) {
  DotLayouts given = layoutsOf(op);
  for (unsigned run = 0; run <= kMostRun; ++run)
    if (auto matrix = dotLayoutsFor(op, given.acc, run); matrix && *matrix == given) {
      auto instruction = chooseInstruction(op, targetOf(op));
      instruction->run = run;
      return instruction;
    }
  return std::nullopt;
}

bool tile::isMultiplied(Value v) {
  return llvm::any_of(v.getUses(), [](OpOperand &use) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    return dot && use.getOperandNumber() != kDotAcc && dotMethod(dot) == DotMethod::Matrix;
  });
}

DotMethod tile::dotMethod(DotOp op) {
  DotLayouts given = layoutsOf(op);
  if (instructionOf(op))
    return DotMethod::Matrix;
  int64_t depth = op.getA().getType().getShape().back();
  return scalarDotLayouts(given.acc, depth) == given ? DotMethod::Registers : DotMethod::Staged;
}
