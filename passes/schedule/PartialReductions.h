//===- PartialReductions.h - what each thread combines by itself -*- C++ -*-===//
//
// A reduction along an axis combines what a thread holds, then what lanes hold, then warps. The
// first of these is a reduction of its own, and its result a block: along the axis, one element
// for each of the threads that share a row. Loops can carry that, and leave the rest for later.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_SCHEDULE_PARTIALREDUCTIONS_H
#define TILE_PASSES_SCHEDULE_PARTIALREDUCTIONS_H

#include "ir/CtaDialect.h"
#include <optional>

namespace tile {

/// How the positions of an axis are spread: over the registers of a thread, or over threads.
class PartialReduction {
public:
  /// Of `op`, which reduces one laid-out block. Nothing where no thread shares a row with
  /// another, or positions are spread in a way that no shape shows (swizzles).
  static std::optional<PartialReduction> of(ReduceOp op);

  /// What each thread combines of `block`, of the type that `op` reduces.
  mlir::Value begin(mlir::OpBuilder &b, mlir::Value block) const;
  /// What `op` would give for the blocks that went into `partial`.
  mlir::Value finish(mlir::OpBuilder &b, mlir::Value partial) const;

  /// A result of `op` for each of the threads that share a row, of the type of parts.
  mlir::Value repeat(mlir::OpBuilder &b, mlir::Value result) const;

  /// Of what `begin` gives: the axis is as long as there are threads that share a row.
  mlir::RankedTensorType type() const { return partialType; }
  /// Whether warps share a row.
  bool isSpreadOverWarps() const { return overWarps; }
  unsigned axis() const { return op.getAxis(); }

private:
  PartialReduction(ReduceOp op) : op(op) {}
  mlir::Value combine(mlir::OpBuilder &b, mlir::Value block, unsigned axis,
                      mlir::Type result = {}) const;

  mutable ReduceOp op;
  /// The block with an axis for each run of positions of one kind.
  mlir::RankedTensorType splitType, partialType;
  llvm::SmallVector<unsigned> ownAxes; ///< of it, those of registers, the last first
  bool overWarps = false;
};

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_PARTIALREDUCTIONS_H
