//===- Powers.cpp - powers by a number of the source ------------------------===//
//
// The general power is a logarithm and an exponential with the care that makes them exact, some
// hundred instructions an element. By a small whole number or half of one it is a few products and
// a root, which is what people mean by `x ** 3` and `d ** -1.5`.
//
//===----------------------------------------------------------------------===//
#include "ir/graph/Graph.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/graph/Normalize.h"
#include "passes/graph/Space.h"
#include <cmath>

using namespace mlir;
using namespace tile::graph;

/// Exponents at most: of more the rounding of products adds up.
static constexpr double kMostPower = 8;

/// A number of the source, or what is computed of such numbers, as exponents of gradients are.
static std::optional<double> numberOf(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 4)
    return std::nullopt;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
      return real.getValueAsDouble();
    return double(cast<IntegerAttr>(constant.getValue()).getInt());
  }
  if (isa<RearrangeOp>(op))
    return numberOf(op->getOperand(0), depth + 1);
  auto map = dyn_cast<MapOp>(op);
  if (!map || (map.getKind() != MapKind::sub && map.getKind() != MapKind::add))
    return std::nullopt;
  std::optional<double> left = numberOf(op->getOperand(0), depth + 1),
                        right = numberOf(op->getOperand(1), depth + 1);
  if (!left || !right)
    return std::nullopt;
  return map.getKind() == MapKind::sub ? *left - *right : *left + *right;
}

namespace {
struct UnrollPower : OpRewritePattern<MapOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MapOp op, PatternRewriter &rewriter) const override {
    Type element = op.getType().getElement();
    if (op.getKind() != MapKind::pow || !isa<FloatType>(element) ||
        op.getOperand(0).getType() != op.getType())
      return failure();
    std::optional<double> power = numberOf(op.getOperand(1));
    if (!power || std::abs(*power) > kMostPower || std::floor(*power * 2) != *power * 2)
      return failure();
    Location loc = op.getLoc();
    // Rounded once, as the power is.
    bool isNarrow = element.getIntOrFloatBitWidth() < 32;
    Type wide = isNarrow ? Type(rewriter.getF32Type()) : element;
    auto type = GraphTensorType::of(op.getContext(), op.getType().sizes(), wide);
    auto map = [&](MapKind kind, ValueRange of) -> Value {
      return MapOp::create(rewriter, loc, type, kind, of);
    };
    Value base = op.getOperand(0);
    if (isNarrow)
      base = CastOp::create(rewriter, loc, type, base);
    auto constant = [&](double number) -> Value {
      return ConstantOp::create(rewriter, loc, GraphTensorType::of(op.getContext(), {}, wide),
                                rewriter.getF64FloatAttr(number));
    };
    double most = std::abs(*power);
    auto whole = int64_t(most);
    bool hasRoot = most != double(whole), isInverse = *power < 0;
    Value product;
    auto multiply = [&](Value by) { product = product ? map(MapKind::mul, {product, by}) : by; };
    if (hasRoot) { // of -0.0, too, the power is positive
      base = map(MapKind::add, {base, constant(0)});
      multiply(map(isInverse ? MapKind::rsqrt : MapKind::sqrt, {base}));
    }
    // The inverse first: of what is large the power may be small, and not nothing.
    Value factor = !isInverse ? base
                   : hasRoot  ? map(MapKind::square, {product})
                              : map(MapKind::reciprocal, {base});
    for (int64_t rest = whole; rest > 0; rest >>= 1) {
      if (rest & 1)
        multiply(factor);
      if (rest > 1)
        factor = map(MapKind::square, {factor});
    }
    if (!product) { // x ** 0 is one, of NaN as well
      Value one = constant(1);
      auto truths =
          GraphTensorType::of(op.getContext(), op.getType().sizes(), rewriter.getI1Type());
      Value all = MapOp::create(rewriter, loc, truths, MapKind::eq, ValueRange{base, base});
      product = map(MapKind::select, {all, one, one});
    }
    if (isNarrow)
      product = CastOp::create(rewriter, loc, op.getType(), product);
    rewriter.replaceOp(op, product);
    return success();
  }
};
} // namespace

void tile::graph::addPowerPatterns(RewritePatternSet &patterns) {
  patterns.add<UnrollPower>(patterns.getContext());
}
