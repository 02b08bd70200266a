//===- SpaceFinder.h - how the indices of a kernel are found --------------===//
//
// Dimensions of all values are found and put in order in Space.cpp; what one kernel cannot do
// is found out in SpaceChecks.cpp, and said.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_SPACEFINDER_H
#define TILE_PASSES_GRAPH_SPACEFINDER_H

#include "passes/graph/Space.h"

namespace tile::graph {

/// Dimensions are variables; operations make some of them the same.
class SpaceFinder {
public:
  SpaceFinder(std::string &reason, bool haveOtherUsers)
      : reason(reason), haveOtherUsers(haveOtherUsers) {}
  std::optional<Space> run(llvm::ArrayRef<mlir::Operation *> ops);

private:
  int make(const Size &size) {
    if (size.isConstant(1))
      return -1;
    parent.push_back(parent.size());
    sizes.push_back(size);
    return parent.back();
  }
  int find(int v) {
    while (parent[v] != v)
      v = parent[v] = parent[parent[v]];
    return v;
  }
  /// Only dimensions of one size are ever the same.
  void unify(int a, int b) {
    if (a >= 0 && b >= 0)
      parent[find(a)] = find(b);
  }
  DimMap makeAll(llvm::ArrayRef<Size> shape) {
    DimMap out;
    for (const Size &size : shape)
      out.push_back(make(size));
    return out;
  }
  static Sizes shapeOf(mlir::Value value) {
    return mlir::cast<GraphTensorType>(value.getType()).sizes();
  }

  void visit(mlir::Operation *op);
  void visitMap(mlir::Operation *op);
  void visitRearrange(RearrangeOp op);
  void visitReduce(ReduceOp op);
  void visitPartial(PartialOp op);
  void visitJoin(JoinOp op);
  void visitScan(ScanOp op);
  void visitMatmul(MatmulOp op);
  DimMap operandOf(mlir::OpOperand &use);
  /// Products of one left operand with right ones of one shape: blocks of the left operand are
  /// loaded once for all.
  static bool shareOperand(MatmulOp a, MatmulOp b);
  bool joinsChain(MatmulOp op, const DimMap &dims);
  bool checkProduct();
  bool checkAlone();
  bool checkOperands();
  bool checkReductions();
  bool checkScans();
  bool checkPartials();
  bool checkSources();
  bool checkDistinct();
  bool order();
  bool place(const DimMap &map, const std::string &what);
  DimMap placed(const DimMap &map);

  std::string &reason;
  bool haveOtherUsers;
  std::vector<int> parent;
  std::vector<Size> sizes;
  llvm::SmallVector<mlir::Value> inOrder;
  llvm::DenseMap<mlir::Value, DimMap> values;
  llvm::SmallVector<std::pair<mlir::OpOperand *, DimMap>> uses;
  /// With what they reduce; a scan needs whole rows as well, along the dimension it goes.
  llvm::SmallVector<std::pair<mlir::Operation *, DimMap>> reductions;
  llvm::SmallVector<std::pair<PartialOp, DimMap>> partials; ///< the same
  llvm::SmallVector<int> axes;                              ///< of the space
  llvm::SmallVector<MatmulOp> products;
  DimMap productDims; ///< rows, columns, inner
  std::optional<Chain> chain;
  DimMap firstDims; ///< rows and columns of the first products of a chain
  DimMap depthDims; ///< what each of them adds up
  llvm::DenseMap<mlir::Operation *, int> innerOf; ///< what each product adds up
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_SPACEFINDER_H
