//===- BlockPrograms.h - programs of one thread block, side by side -*- C++ -*-===//
//
// What tile-share-rings has decided, carried out where tile-specialize-warps makes roles: groups of
// consumers run neighbouring programs, and the producer copies for all of them what they have in
// common once.
//
//   for k = begin to end:               front turns: wait; release
//     wait; dot; release       =>       for k = begin to end: wait; dot; release
//                                       the turns left: wait; release
//
// The producer's loop goes from where the first of them begins to where the last one ends. Loops
// one behind the other, of which each goes on where the one before has stopped, are one loop of the
// producer: which turns are in which is for each program to say. A program past the end of the grid
// does as the last one, and stores nothing.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_SCHEDULE_BLOCKPROGRAMS_H
#define TILE_PASSES_SCHEDULE_BLOCKPROGRAMS_H

#include "ir/CtaDialect.h"
#include "mlir/IR/IRMapping.h"
#include "passes/facts/Neighbours.h"

namespace tile {

class BlockProgramMaker {
public:
  explicit BlockProgramMaker(mlir::func::FuncOp kernel);

  bool differ(mlir::ValueRange values) const { return neighbours.differ(values); }
  /// How many there are.
  int32_t count() const { return programs; }

  /// A loop whose copies the programs share.
  struct Loop {
    mlir::scf::ForOp loop;
    llvm::SmallVector<cta::TmaLoadOp> loads;
    llvm::SmallVector<mlir::Value> rings; ///< that it reads
    bool hasScalars = false;              ///< copied beside
  };
  /// Before `roles`, where the kernel's body still follows: which programs these are, and from
  /// where to where `loops` go in all of them.
  mlir::LogicalResult begin(cta::RolesOp roles, llvm::ArrayRef<Loop> loops);
  /// The producer's copy of the body walks all turns of any program.
  void widen(mlir::IRMapping &copies);
  /// Whether the turns of a loop are turns of the one before it to the producer.
  bool isContinued(mlir::Operation *loop) const { return continued.contains(loop); }
  /// What `values` of the body are in the given one of the programs.
  llvm::SmallVector<mlir::Value> valuesIn(mlir::OpBuilder &b, mlir::ValueRange values,
                                          int32_t program, mlir::IRMapping &made);
  /// The consumers pass turns of other programs by.
  void passOthersBy();
  /// Gives each group of consumers its program.
  void assign(cta::RolesOp roles);

private:
  /// Loops that go on with each other, and their bounds in all programs together.
  struct Walk {
    mlir::scf::ForOp firstLoop, lastLoop;
    llvm::SmallVector<mlir::Value> rings;
    mlir::Value lower, upper;
  };
  mlir::Value programAt(mlir::OpBuilder &b, int32_t program);
  bool goesOn(const Loop &from, const Loop &to);
  void unite(mlir::OpBuilder &b, Walk &walk, llvm::MutableArrayRef<mlir::IRMapping> made);
  void passBy(const Walk &walk);

  mlir::func::FuncOp kernel;
  int32_t axis, programs;
  Neighbours neighbours;
  cta::RolesOp roles;
  mlir::Value all, first, last; ///< programs along the axis, the block's first one, the last of all
  llvm::SmallVector<Walk, 1> walks;
  llvm::DenseSet<mlir::Operation *> continued;
};

} // namespace tile

#endif // TILE_PASSES_SCHEDULE_BLOCKPROGRAMS_H
