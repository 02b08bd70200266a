//===- SplitProducts.cpp - products of which others take halves ------------===//
//
// A gated unit is often one product with a matrix of twice as many columns, of which one half
// decides what passes of the other:
//
//   h = x @ w;  y = silu(h[:, :D]) * h[:, D:]
//
// As two products with halves of the matrix, of one left operand, they are one kernel with all that
// is computed of both; the product as a whole would be written and read.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/Graph.h"
#include "passes/graph/Indices.h"

using namespace mlir;
using namespace tile::graph;

/// Vectors of what is read start at multiples of so many elements, as far as that is known.
static constexpr int64_t kVector = 8;

/// Whether `op` takes some columns of a product, all rows, for what is computed element by element.
static bool takesColumns(WindowOp op) {
  Sizes before = typeOf(op.getSrc()).sizes(), after = op.getType().sizes();
  if (!op.getInside() || op.use_empty() || before.back() == after.back())
    return false;
  for (size_t dim = 0; dim + 1 < before.size(); ++dim)
    if (startOf(op.getStarts()[dim]) != Size(0) || before[dim] != after[dim])
      return false;
  std::optional<int64_t> number = startOf(op.getStarts()[before.size() - 1]).constant();
  return (!number || *number % kVector == 0) &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<MapOp, CastOp>(user); });
}

namespace {
struct SplitProduct : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    SmallVector<WindowOp> halves;
    for (Operation *user : op->getUsers())
      if (auto window = dyn_cast<WindowOp>(user); window && takesColumns(window))
        halves.push_back(window);
      else
        return failure();
    // What is computed for two products is stored.
    Value left = op.getLhs();
    while (auto view = left.getDefiningOp<RearrangeOp>())
      left = view.getSrc();
    if (halves.size() != 2 || isa_and_nonnull<MapOp, CastOp>(left.getDefiningOp()))
      return failure();
    size_t last = op.getType().sizes().size() - 1;
    Size width = op.getType().sizes()[last], part = halves[0].getType().sizes()[last];
    auto [first, second] =
        std::pair(startOf(halves[0].getStarts()[last]), startOf(halves[1].getStarts()[last]));
    bool areBeside = first + part == second || second + part == first;
    if (halves[1].getType().sizes()[last] != part || !areBeside || part + part != width)
      return failure();
    Sizes sizes = typeOf(op.getRhs()).sizes();
    for (WindowOp half : halves) {
      SmallVector<Attribute> starts(sizes.size(), rewriter.getStringAttr("0"));
      starts.back() = half.getStarts()[last];
      Sizes own = sizes;
      own.back() = part;
      auto type = GraphTensorType::of(op.getContext(), own, typeOf(op.getRhs()).getElement());
      Value right =
          WindowOp::create(rewriter, half.getLoc(), type, op.getRhs(),
                           rewriter.getArrayAttr(starts), /*inside=*/true, /*loose=*/false);
      rewriter.replaceOpWithNewOp<MatmulOp>(half, half.getType(), op.getLhs(), right);
    }
    return success();
  }
};
} // namespace

void tile::graph::addSplitPatterns(RewritePatternSet &patterns) {
  patterns.add<SplitProduct>(patterns.getContext());
}
