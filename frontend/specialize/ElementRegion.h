//===- ElementRegion.h - functions of single elements -----------*- C++ -*-===//
//
// Which thread runs the function of a reduction, a scan or `tl.map_elementwise`, and
// how often, is the compiler's choice. Blocks, which threads share out, barriers and
// writes to memory have no meaning there, and are refused where they stand.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_ELEMENTREGION_H
#define TILE_FRONTEND_SPECIALIZE_ELEMENTREGION_H

#include "frontend/specialize/Emitter.h"

namespace tile::specialize {

/// Lives while such a function is expanded into its region.
class ElementRegion : public mlir::OpBuilder::Listener {
public:
  enum class Kind { Combiner, Mapped };
  ElementRegion(Emitter &emitter, Kind kind);
  ~ElementRegion() override;
  ElementRegion(const ElementRegion &) = delete;

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;
  /// Drops what nothing uses: what only types were asked of, `(x + tl.zeros((1,), tl.int1)).dtype`
  /// say, may be blocks. False (reported) if something is left that has no place here.
  bool finish(mlir::Region &region);

private:
  std::string objectionTo(mlir::Operation *op) const;

  Emitter &emitter;
  Kind kind;
  mlir::OpBuilder::Listener *outer;
  /// What is to be said of an operation unless it turns out not to be used: by then
  /// the calls that lead to it have returned.
  llvm::DenseMap<mlir::Operation *, Diagnostic> objections;
};

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_ELEMENTREGION_H
