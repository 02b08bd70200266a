//===- PartsOfJoined.h - what is computed of parts, part by part -----------===//
#ifndef TILE_PASSES_GRAPH_PARTSOFJOINED_H
#define TILE_PASSES_GRAPH_PARTSOFJOINED_H

#include "ir/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <set>

namespace tile::graph {

/// Whether nothing but a view leads from a value to what is returned, or is given to a kernel that
/// somebody wrote: it has to be stored as it is.
bool isOnlyStored(mlir::Value value);

/// The part of a value that broadcasts to what is joined which belongs to one of its parts.
mlir::Value partOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, size_t rank,
                   int64_t axis, const Size &start, const Size &count);

/// Parts of what is computed of what is joined: each is computed of parts, as the coordinates of a
/// state are that is put together and taken apart at every step. Each part once, behind what it is
/// a part of.
class PartsOfJoined {
public:
  explicit PartsOfJoined(mlir::func::FuncOp function) : function(function) {}

  /// Windows that show a known part are computed of parts. Whether there were any.
  bool takeWindows();

  /// Results of few columns that are computed of columns in several ways (products of vectors of
  /// three numbers, say, or sums of what is divided by lengths) are joined of columns, where
  /// `canBeStored` says that such a join is stored. Whether there were any.
  bool joinResults(llvm::function_ref<bool(JoinOp)> canBeStored);

private:
  /// Whether something is joined along a dimension of what a value is computed of.
  bool isOfJoined(mlir::Value value, int64_t axis);
  /// Where parts begin that a value is computed of, counted from the value's first element.
  void findStarts(mlir::Value value, int64_t axis, int64_t offset);
  mlir::Value of(mlir::Value value, int64_t axis, const Size &start, const Size &count);
  int64_t elementsTogether(llvm::ArrayRef<mlir::Value> values, int64_t axis);
  mlir::Value joinedOfParts(mlir::Value value, int64_t axis, int64_t each);
  mlir::Value joined(mlir::Value value, llvm::function_ref<bool(JoinOp)> canBeStored);

  using Along = std::pair<mlir::Value, int64_t>;
  mlir::func::FuncOp function;
  llvm::DenseMap<Along, bool> ofJoined;
  std::map<std::tuple<void *, int64_t, std::string>, mlir::Value> made;
  std::set<std::tuple<void *, int64_t, int64_t>> visited;
  std::set<int64_t> starts;
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_PARTSOFJOINED_H
