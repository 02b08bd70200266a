//===- TensorMaps.h - strided tiles of global memory as tensor maps -------===//
//
// TMA copies tiles of an array that a descriptor (tensor map) describes: a base
// pointer, sizes, strides. A tile of pointers whose strides and limits depend on
// kernel arguments alone can be copied that way; the launcher makes the map.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_COPIES_TENSORMAPS_H
#define TILE_PASSES_COPIES_TENSORMAPS_H

#include "ir/CtaDialect.h"
#include "passes/facts/KeptDimensions.h"
#include "passes/facts/NonNegative.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/StridedAccess.h"

namespace tile {

/// The size of a dimension that nothing limits: its rows end at a multiple of 16 bytes, too.
inline constexpr int64_t kUnlimited = 0x7ffffff0;

/// An access to a block of memory, as a tile of an array.
struct TileAccess {
  /// In the map's order, contiguous dimension first.
  struct Dimension {
    int block = -1; ///< dimension of the block; -1: a single coordinate
    int64_t extent = 1;
    Polynomial start, stride, size;
    bool mayBeFar = false; ///< programs may start where no 32-bit coordinate reaches
  };
  mlir::BlockArgument base;
  llvm::SmallVector<Dimension, 5> dimensions;
  llvm::SmallVector<StridedBlock::Wrap, 1> wraps;
  /// What the launcher must see to: the tile starts inside of the array only if
  /// none of these is negative.
  ArgumentSet notNegative;

  /// The dimension of the block that is contiguous in memory.
  unsigned minor() const { return unsigned(dimensions.front().block); }
};

/// Who asks for a tile. TMA reads zeros before an array, which programs with such a
/// mask or descriptor mean; to store there is an error that ends the context.
struct TileUse {
  bool checked = false; ///< the launcher sees to alignment and to `notNegative`
  bool isStore = false;
  bool isVector = false; ///< the block has one dimension instead of two
};

/// Reads `pointers` under `mask` (may be null) as a tile that TMA can copy; on
/// failure `reason` says what stands in the way. Whether wrapped indices
/// (`wraps`) do no harm is for the caller to decide.
std::optional<TileAccess> readTile(StridedAnalysis &analysis, mlir::Value pointers,
                                   mlir::Value mask, TileUse use, Reason &reason);

/// A block of a tensor behind a descriptor: the parts that the op names. Dimensions of
/// size one may be dropped from what is copied.
struct DescriptorAccess {
  mlir::Value base;
  mlir::ValueRange offsets, shape, strides;
  mlir::RankedTensorType block;
  llvm::SmallVector<int, 5>
      kept; ///< for each dimension: which one of the copied block it is, or -1 (keptDimensions)
};

/// What an access through a descriptor says of `block`, of which a tile of `shape` is copied.
template <typename Op>
DescriptorAccess describe(Op access, mlir::Value block, llvm::ArrayRef<int64_t> shape) {
  auto type = llvm::cast<mlir::RankedTensorType>(block.getType());
  return {access.getBase(),
          access.getOffsets(),
          access.getShape(),
          access.getStrides(),
          type,
          *keptDimensions(type.getShape(), shape)};
}

/// The same for an access through a descriptor, which promises alignment of its
/// base and strides and checks both ends of every dimension.
std::optional<TileAccess> readDescriptor(StridedAnalysis &analysis, const DescriptorAccess &access,
                                         TileUse use, Reason &reason);

/// The kernel parameter with the map of `access`, added if it is not there yet.
/// One copy moves a column of a swizzledTile of the block, at most `rows` high, or
/// that many elements of a vector.
mlir::Value tensorMapOf(mlir::func::FuncOp kernel, const TileAccess &access,
                        llvm::ArrayRef<int64_t> shape, mlir::Type element, int64_t rows = 256);

/// `p` as launches work it out; nothing if not all of it is arguments.
cta::SumAttr launchSumOf(mlir::MLIRContext *context, const Polynomial &p);

/// The starts (i32, map order), computed where `builder` stands.
llvm::SmallVector<mlir::Value> startsOf(mlir::OpBuilder &builder, mlir::Location loc,
                                        const TileAccess &access);

} // namespace tile

#endif // TILE_PASSES_COPIES_TENSORMAPS_H
