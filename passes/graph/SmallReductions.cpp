//===- SmallReductions.cpp - sums of a few numbers, element by element -----===//
//
// The distance of each of many points from each of many others is a sum along two or three
// coordinates, of differences that nobody stores. As rows of three elements they would fill blocks
// badly, and what is reduced of the distances would read them from memory. Each coordinate is
// computed for itself instead, and the sum is one of maps.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/Graph.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile::graph;

/// Elements that are combined one by one at most.
static constexpr int64_t kFew = 8;

static std::optional<MapKind> mapOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
    return MapKind::add;
  case ReduceKind::prod:
    return MapKind::mul;
  case ReduceKind::max:
    return MapKind::maximum;
  case ReduceKind::min:
    return MapKind::minimum;
  default:
    return std::nullopt;
  }
}

static size_t dimensionsOf(Value value) {
  return llvm::count_if(typeOf(value).sizes(),
                        [](const Size &size) { return !size.isConstant(1); });
}

/// Whether a value is computed of arrays that each repeat along some of its dimensions.
static bool isOfRepeated(Value value) {
  bool repeats = true;
  visitSources(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    if (isa_and_nonnull<MapOp, CastOp, RearrangeOp>(op))
      return true;
    repeats &= dimensionsOf(source) < dimensionsOf(value);
    return false;
  });
  return repeats;
}

namespace {
struct UnrollSmallReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Value source = op.getSrc();
    std::optional<MapKind> kind = mapOf(op.getKind());
    Sizes sizes = typeOf(source).sizes();
    if (!kind || op.getAxes().size() != 1 ||
        !isa_and_nonnull<MapOp, CastOp>(source.getDefiningOp()))
      return failure();
    int64_t axis = op.getAxes().front();
    std::optional<int64_t> count = sizes[axis].constant();
    if (!count || *count < 2 || *count > kFew || !isOfRepeated(source))
      return failure();
    // Sums of short floats are kept in f32.
    Location loc = op.getLoc();
    Type element = op.getType().getElement(), wide = element;
    if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      wide = rewriter.getF32Type();
    auto cast = [&](Value value, Type to) -> Value {
      if (typeOf(value).getElement() == to)
        return value;
      auto type = GraphTensorType::of(op.getContext(), typeOf(value).sizes(), to);
      return CastOp::create(rewriter, loc, type, value);
    };
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim)
      if (dim != axis)
        dims.push_back(dim);
    Sizes line = sizes;
    line[axis] = Size(1);
    auto lineType = GraphTensorType::of(op.getContext(), line, typeOf(source).getElement());
    auto partType =
        GraphTensorType::of(op.getContext(), op.getType().sizes(), lineType.getElement());
    Value whole;
    for (int64_t i = 0; i < *count; ++i) {
      SmallVector<Attribute> starts(sizes.size(), rewriter.getStringAttr("0"));
      starts[axis] = rewriter.getStringAttr(Size(i).str());
      Value part = WindowOp::create(rewriter, loc, lineType, source, rewriter.getArrayAttr(starts),
                                    /*inside=*/true, /*loose=*/false);
      part = cast(RearrangeOp::create(rewriter, loc, partType, part, dims), wide);
      whole = whole ? MapOp::create(rewriter, loc, typeOf(part), *kind, ValueRange{whole, part})
                          .getResult()
                    : part;
    }
    rewriter.replaceOp(op, cast(whole, element));
    return success();
  }
};
} // namespace

void tile::graph::addSmallReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<UnrollSmallReduction>(patterns.getContext());
}
