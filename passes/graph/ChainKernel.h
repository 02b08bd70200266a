//===- ChainKernel.h - products of what others give, as a tile function ---===//
//
// A program computes a block of rows of the result. It goes along the inner dimension: a block
// of scores, their powers relative to the largest so far, and what these add to the sums and to
// the result, which are scaled first if there is a larger one. Scores lie in registers only.
// Without a softmax what is computed of the first products' blocks is multiplied as it is.
//
// Powers are of two: exp(x) is 2^(x * log2(e)), and a factor of all scores is part of that.
// Blocks that a mask lets nobody see are not visited, and where all see all nothing is compared.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_CHAINKERNEL_H
#define TILE_PASSES_GRAPH_CHAINKERNEL_H

#include "passes/graph/BlockEmitter.h"
#include "passes/graph/ChainBounds.h"

namespace tile::graph {

/// The body of a kernel of products in a chain, while it is made.
class ChainKernel {
public:
  ChainKernel(const KernelShape &shape, const Cut &cut, mlir::ModuleOp module)
      : shape(shape), product(*shape.product), chain(product.chain->of), cut(cut),
        frame(shape, cut, module), scores(frame, product.left, cut.rows, cut.inner),
        right(frame, product.right, cut.inner, cut.block),
        result(frame, shape, cut.rows, cut.block), b(frame.b), loc(frame.loc), index(frame.index),
        comparisons(chain.hasSoftmax() ? comparisonsOf(product.left, chain.scores)
                                       : comparisonsOfFactor(product.left, chain.scores)) {
    for (auto [op, of] : llvm::zip_equal(chain.firsts, product.chain->firsts))
      firsts.push_back({op, std::make_unique<BlockEmitter>(frame, of.left, cut.rows, cut.depth),
                        std::make_unique<BlockEmitter>(frame, of.right, cut.depth, cut.inner)});
  }
  void run();

private:
  static constexpr KernelShape::Form kFull{true, true}, kRow{true, false}, kColumn{false, true};

  /// What the loops carry.
  struct State {
    mlir::Value sum; ///< of the second product
    mlir::Value top; ///< the largest score of each row, in units of powers of two
    llvm::SmallVector<mlir::Value, 1> powers; ///< sums of powers
  };
  /// A product in front.
  struct First {
    MatmulOp op;
    std::unique_ptr<BlockEmitter> query, key;
    mlir::Value left = {};      ///< its operand
    mlir::Value depthRows = {}; ///< mask of the right one; or null
  };
  /// The columns that a block of rows visits: where masks cut on the left, where all is seen,
  /// and where masks cut on the right.
  struct Columns {
    mlir::Value start, begin, partial, end;
    bool cutsLeft = false, cutsRight = false;
  };

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  mlir::Value number(int64_t value) { return frame.number(index, value); }
  mlir::Value wide(int64_t value) { return frame.number(b.getI64Type(), value); }
  mlir::Value f32(double value) { return Elements(b, loc).constant(b.getF32Type(), value); }
  static mlir::Type commonOf(MatmulOp op) {
    return promoteTypes(op.getLhs().getType().getElement(), op.getRhs().getType().getElement());
  }
  /// One number a row, as a block's rows.
  mlir::Value asRows(mlir::Value line) { return result.asRows(line); }
  mlir::Value spread(mlir::Value line) { return scores.spread(asRows(line), kRow, kFull); }

  // Where (ChainPlaces.cpp).
  bool anyBound(llvm::function_ref<bool(const ColumnBound &)> is) const;
  void findBlock();
  void enterDepth();
  void findUnit();
  mlir::Value endOf(const ColumnBound &bound, bool ofAll);
  Columns findColumns();

  // What is computed there (EmitChain.cpp).
  State visit(State state, mlir::Value start, mlir::Value end, bool isCut);
  void enterColumns(mlir::Operation *loop, mlir::Value start, bool isCut);
  mlir::Value scoresOf();
  void multiplyFirsts();
  void step(State &state, mlir::Value block);
  std::pair<mlir::Value, mlir::Value> operandsOfSecond();
  void knowStatistics(const State &state);
  mlir::Value reduceRows(ReduceKind kind, mlir::Value block);

  const KernelShape &shape;
  const ProductShape &product;
  Chain chain;
  const Cut &cut;
  KernelFrame frame;
  BlockEmitter scores, right, result;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type index;
  llvm::SmallVector<MaskComparison> comparisons;
  llvm::SmallVector<mlir::Value> batch; ///< which of the products is the program's
  mlir::Value firstRow;                 ///< of the block
  llvm::SmallVector<First, 2> firsts;
  mlir::Value innerMask;    ///< of the right operand; or null
  mlir::Value innerColumns; ///< the same as `innerMask`, of columns
  mlir::Value base;         ///< scores are so many times `unit`, before log2(e)
  mlir::Value unit;         ///< f32: what powers of two are taken of is `base` times that
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_CHAINKERNEL_H
