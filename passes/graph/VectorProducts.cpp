//===- VectorProducts.cpp - products with a vector, or of few, as sums -----===//
//
// A matrix times a vector reads each of its elements once, for one multiplication. As a product it
// would be multiplied by blocks of columns of which one is there: tensor cores do that beside the
// memory, but f32 are multiplied by ordinary instructions, all of the block. Along rows that lie in
// memory as they are added up a sum is at least as fast for all types.
//
// Products that add up a few numbers, as those of rotations do, are sums of elements as well:
// blocks of a product would multiply sixteen at least, most of them nothing.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/Graph.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Space.h"

using namespace mlir;
using namespace tile::graph;

/// Whether the last dimension of a matrix, as it is read, is the innermost of what it is a view of.
static bool liesInRows(Value matrix) {
  auto view = matrix.getDefiningOp<RearrangeOp>();
  return !view || view.getDims().back() == int64_t(typeOf(view.getSrc()).sizes().size()) - 1;
}

namespace {
struct SumProductWithVector : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Value left = op.getLhs(), right = op.getRhs();
    Type element = op.getType().getElement();
    Type types[] = {typeOf(left).getElement(), typeOf(right).getElement()};
    auto isReal = [](Type type) {
      return isa<FloatType>(type) && type.getIntOrFloatBitWidth() >= 16;
    };
    Sizes rows = typeOf(left).sizes(), columns = typeOf(right).sizes();
    if (rows.size() != 2 || columns.size() != 2 || !llvm::all_of(types, isReal) || !isReal(element))
      return failure();
    bool isColumn = columns[1].isConstant(1), isRow = rows[0].isConstant(1);
    if (!isColumn && !isRow)
      return failure();
    bool isPlain =
        llvm::any_of(types, [](Type type) { return type.getIntOrFloatBitWidth() >= 32; });
    // The matrix with what is added up as its last dimension, as it is or turned.
    bool isAlong = isColumn ? liesInRows(left) : !liesInRows(right);
    if (!isPlain && !isAlong)
      return failure();
    Location loc = op.getLoc();
    bool isDouble = llvm::any_of(types, [](Type type) { return type.isF64(); });
    Type wide = isDouble ? rewriter.getF64Type() : Type(rewriter.getF32Type());
    auto typed = [&](Sizes sizes, Type of) {
      return GraphTensorType::of(op.getContext(), sizes, of);
    };
    auto widened = [&](Value value) -> Value {
      Sizes sizes = typeOf(value).sizes();
      return typeOf(value).getElement() == wide
                 ? value
                 : CastOp::create(rewriter, loc, typed(sizes, wide), value).getResult();
    };
    auto turned = [&](Value value) -> Value {
      Sizes sizes = typeOf(value).sizes();
      return RearrangeOp::create(rewriter, loc, typed({sizes[1], sizes[0]}, wide), value,
                                 SmallVector<int64_t>{1, 0});
    };
    // A row's matrix is added up along its first dimension: parts of columns, if it lies so.
    Value matrix = widened(isColumn ? left : right), vector = widened(isColumn ? right : left);
    vector = turned(vector);
    Sizes whole = typeOf(matrix).sizes();
    Value products =
        MapOp::create(rewriter, loc, typed(whole, wide), MapKind::mul, ValueRange{matrix, vector});
    int64_t axis = isColumn ? 1 : 0;
    Value sum = ReduceOp::create(rewriter, loc, typed({whole[1 - axis]}, wide), ReduceKind::sum,
                                 products, ArrayRef<int64_t>{axis});
    Value result =
        RearrangeOp::create(rewriter, loc, typed(op.getType().sizes(), wide), sum,
                            isColumn ? SmallVector<int64_t>{0, -1} : SmallVector<int64_t>{-1, 0});
    if (element != wide)
      result = CastOp::create(rewriter, loc, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};
/// Rows or columns of the result, at most, for which products of 16 bits are better sums: tensor
/// cores multiply so many at once.
constexpr int64_t kFewResults = 16;

struct SumSmallProduct : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Value left = op.getLhs(), right = op.getRhs();
    Sizes rows = typeOf(left).sizes(), columns = typeOf(right).sizes();
    std::optional<int64_t> inner = rows.back().constant();
    Type element = op.getType().getElement();
    auto isReal = [](Type type) {
      return isa<FloatType>(type) && type.getIntOrFloatBitWidth() >= 16;
    };
    Type types[] = {typeOf(left).getElement(), typeOf(right).getElement(), element};
    if (!inner || *inner > kFewReduced || !llvm::all_of(types, isReal))
      return failure();
    auto isFew = [](const Size &size) {
      return size.constant().value_or(INT64_MAX) <= kFewResults;
    };
    bool isWide = types[0].getIntOrFloatBitWidth() >= 32 || types[1].getIntOrFloatBitWidth() >= 32;
    if (!isWide && !isFew(rows[rows.size() - 2]) && !isFew(columns.back()))
      return failure();
    Location loc = op.getLoc();
    bool isDouble = llvm::any_of(types, [](Type type) { return type.isF64(); });
    Type wide = isDouble ? rewriter.getF64Type() : Type(rewriter.getF32Type());
    auto typed = [&](const Sizes &sizes) {
      return GraphTensorType::of(op.getContext(), sizes, wide);
    };
    // One row or column of an operand, in the wide type.
    auto lineOf = [&](Value value, size_t axis, int64_t place) -> Value {
      Sizes sizes = typeOf(value).sizes();
      sizes[axis] = Size(1);
      SmallVector<Attribute> starts(sizes.size(), rewriter.getStringAttr("0"));
      starts[axis] = rewriter.getStringAttr(Size(place).str());
      auto type = GraphTensorType::of(op.getContext(), sizes, typeOf(value).getElement());
      Value line = WindowOp::create(rewriter, loc, type, value, rewriter.getArrayAttr(starts),
                                    /*inside=*/true, /*loose=*/false);
      return type.getElement() == wide
                 ? line
                 : CastOp::create(rewriter, loc, typed(sizes), line).getResult();
    };
    Value whole;
    for (int64_t k = 0; k < *inner; ++k) {
      Value both = MapOp::create(
          rewriter, loc, typed(op.getType().sizes()), MapKind::mul,
          ValueRange{lineOf(left, rows.size() - 1, k), lineOf(right, columns.size() - 2, k)});
      whole = whole ? MapOp::create(rewriter, loc, typed(op.getType().sizes()), MapKind::add,
                                    ValueRange{whole, both})
                          .getResult()
                    : both;
    }
    if (element != wide)
      whole = CastOp::create(rewriter, loc, op.getType(), whole);
    rewriter.replaceOp(op, whole);
    return success();
  }
};
} // namespace

void tile::graph::addVectorProductPatterns(RewritePatternSet &patterns) {
  patterns.add<SumProductWithVector, SumSmallProduct>(patterns.getContext());
}
