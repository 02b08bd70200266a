//===- ChosenTiles.h - tiles of one of several arrays --------------*- C++ -*-===//
//
// A kernel may choose at run time which array it reads, `where(i < n, a, b)` of pointers and of
// what lies beside them (strides, sizes): a product of several right operands that programs share
// out, say. Each array has a tensor map, and the choice is made between these.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_COPIES_CHOSENTILES_H
#define TILE_PASSES_COPIES_CHOSENTILES_H

#include "passes/copies/TensorMaps.h"
#include <vector>

namespace tile {

/// A tile of an array, or of one of two, each of which may be one of two in turn.
struct ChosenTile {
  TileAccess tile;                ///< of several arrays the first
  mlir::arith::SelectOp choice;   ///< null: there is one array
  std::vector<ChosenTile> either; ///< where the choice's condition holds, and where it does not

  /// What the launcher must see to besides, of all arrays.
  void noteTaken(llvm::ArrayRef<mlir::BlockArgument> arguments) {
    tile.notNegative.insert_range(arguments);
    for (ChosenTile &one : either)
      one.noteTaken(arguments);
  }
  /// The map, or the one that is chosen, beside the choice between pointers. Null if there cannot
  /// be one.
  mlir::Value mapIn(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> shape,
                    mlir::Type element) const;
  /// Where the tile starts (i32, map order), computed where `builder` stands.
  llvm::SmallVector<mlir::Value> startsAt(mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  bool startAlike(unsigned dim) const;
};

/// Reads a tile through `pointers` by `read`, for each way that the choices behind them may go.
/// The tiles must lie alike; on failure `reason` says what stands in the way.
std::optional<ChosenTile>
readChosen(mlir::Value pointers, const NonNegative &nonNegative, const ArgumentSet &taken,
           llvm::function_ref<std::optional<TileAccess>(StridedAnalysis &, Reason &)> read,
           Reason &reason);

} // namespace tile

#endif // TILE_PASSES_COPIES_CHOSENTILES_H
