//===- Indices.h - indices of arrays as operations -------------------------===//
#ifndef TILE_PASSES_GRAPH_INDICES_H
#define TILE_PASSES_GRAPH_INDICES_H

#include "ir/graph/Attributes.h"
#include "ir/graph/Graph.h"
#include "mlir/IR/PatternMatch.h"

namespace tile::graph {

/// Where a window starts along a dimension: one of its starts.
inline Size startOf(mlir::Attribute start) {
  std::string error;
  return *Size::parse(mlir::cast<mlir::StringAttr>(start).getValue(), error);
}

/// Makes the operations that compute indices.
class IndexBuilder {
public:
  IndexBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// The numbers along dimension `dim` of `rank`.
  mlir::Value along(const Size &size, size_t dim, size_t rank) {
    llvm::SmallVector<int64_t> dims(rank - dim, -1);
    Sizes sizes(rank - dim, Size(1));
    mlir::Value line;
    if (size.isConstant(1)) {
      line = number(Size(0));
    } else {
      line = IndexOp::create(b, loc, GraphTensorType::of(b.getContext(), {size}, i32()));
      dims[0] = 0;
      sizes[0] = size;
    }
    return RearrangeOp::create(b, loc, GraphTensorType::of(b.getContext(), sizes, i32()), line,
                               dims);
  }
  mlir::Value number(const Size &size) {
    if (std::optional<int64_t> constant = size.constant())
      return ConstantOp::create(b, loc, scalar(), b.getI64IntegerAttr(*constant));
    auto type = GraphTensorType::of(b.getContext(), {}, b.getI64Type());
    return SizeOp::create(b, loc, type, size.str());
  }
  /// Of i32: dimensions are far below what it holds, or the launch asks for 64 bits anyway.
  mlir::Value map(MapKind kind, mlir::Value x, mlir::Value y) {
    unsigned dim;
    Sizes shape = *broadcast(sizesOf(x), sizesOf(y), dim);
    auto map = MapOp::create(b, loc, GraphTensorType::of(b.getContext(), shape, i32()), kind,
                             mlir::ValueRange{x, y});
    if (kind == MapKind::floordiv || kind == MapKind::mod)
      map->setAttr(kOfPlacesAttr, b.getUnitAttr());
    return map;
  }
  mlir::Value plus(mlir::Value x, const Size &by) {
    return by == Size(0) ? x : map(MapKind::add, x, number(by));
  }

private:
  mlir::Type i32() { return b.getI32Type(); }
  GraphTensorType scalar() { return GraphTensorType::of(b.getContext(), {}, i32()); }

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Reshapes of the caller's arrays become indices, or, `withoutGaps`, parameters of that shape (see
/// kOtherShapesAttr) where they may; what is computed of elements alone is computed before a
/// reshape.
void addReshapePatterns(mlir::RewritePatternSet &patterns, bool withoutGaps);
/// Other shapes of parts are parts of other shapes. Before windows become indices, too.
void addShapedWindowPatterns(mlir::RewritePatternSet &patterns);
/// Products of which two halves of the columns are taken are two. Before windows become indices.
void addSplitPatterns(mlir::RewritePatternSet &patterns);
/// Marks what is better stored than computed again for each window that shows it (kStoredAttr):
/// before windows become indices, so that nothing depends on the order in which they do.
void markStored(mlir::Block &block);
/// Few elements of what is computed element by element are computed of few, while operations are
/// `left` that may be done more than once.
void addGatherPatterns(mlir::RewritePatternSet &patterns, unsigned &left);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_INDICES_H
