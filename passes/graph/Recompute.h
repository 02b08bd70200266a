//===- Recompute.h - scores that are computed again -------------------------===//
#ifndef TILE_PASSES_GRAPH_RECOMPUTE_H
#define TILE_PASSES_GRAPH_RECOMPUTE_H

#include "passes/graph/Chain.h"
#include "passes/graph/Factors.h"
#include "llvm/ADT/SetVector.h"

namespace tile::graph {

/// A product that takes a value of the scores' shape, perhaps turned.
struct Consumer {
  MatmulOp product;
  bool isRight = false, isTurned = false;
  mlir::Value value;
};

/// All that is computed of one softmax's scores element by element.
class Scores {
public:
  Scores(Chain softmax) : softmax(std::move(softmax)), b(this->softmax.power) {}
  /// Whether nobody needs them but products and reductions of rows.
  bool collect();
  void rewrite();

private:
  bool isWhole(mlir::Value value) const {
    return mlir::cast<GraphTensorType>(value.getType()).sizes() == sizes;
  }
  mlir::Value power() const { return MapOp(softmax.power).getResult(); }
  bool isForward(const Consumer &consumer) const;
  void add(mlir::Operation *op);
  bool addUse(mlir::OpOperand &use);
  bool addProduct(mlir::OpOperand &use, mlir::Value value, bool isTurned);
  bool findSums();
  bool areProductsFew();
  std::optional<Factors> factorsOf(ReduceOp sum);
  MatmulOp productFor(const Factors &factors, MatmulOp scaled, ReduceOp sum);
  MatmulOp multiply(const Factors &factors, mlir::Location loc, mlir::Value right);
  void rewriteSum(ReduceOp sum);
  void widen();
  void replaceRow(mlir::Value before, mlir::Value wide);
  mlir::Value reciprocalOf(mlir::Value value);
  mlir::Value copied(mlir::Value value, bool turned);
  mlir::Value turned(mlir::Value value);
  void recompute(const Consumer &consumer);

  Chain softmax;
  mlir::OpBuilder b;
  Sizes sizes;
  llvm::SetVector<mlir::Operation *> region;      ///< with the products that it begins with
  llvm::SmallPtrSet<mlir::Operation *, 4> ofRows; ///< made of what rows have in common
  llvm::SmallVector<mlir::Value> work;
  llvm::SmallVector<Consumer> consumers;
  llvm::SmallVector<ReduceOp> sums; ///< of rows, but for the softmax's own
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> copies; ///< 1: turned
  llvm::DenseMap<mlir::Value, mlir::Value> reciprocals;
};

/// Whether a view is the same with the last two dimensions in the other order.
bool isTurned(RearrangeOp op);
/// That order.
llvm::SmallVector<int64_t> turnedDims(size_t rank);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_RECOMPUTE_H
