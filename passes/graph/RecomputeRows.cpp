//===- RecomputeRows.cpp - what rows of scores have in common, and copies ---===//
#include "passes/graph/Recompute.h"

using namespace mlir;
using namespace tile::graph;

/// Dimensions of an array, seen one way or another; -1: one of size 1.
static std::pair<Value, SmallVector<int64_t>> viewOf(Value value) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(sizesOf(value).size())));
  while (auto view = value.getDefiningOp<RearrangeOp>()) {
    for (int64_t &dim : dims)
      dim = dim < 0 ? -1 : view.getDims()[dim];
    value = view.getSrc();
  }
  for (int64_t &dim : dims)
    if (dim >= 0 && sizesOf(value)[dim].isConstant(1))
      dim = -1;
  return {value, dims};
}

/// Whether `x` is `y` with its last two dimensions in the other order.
static bool areTurned(Value x, Value y) {
  auto [base, dims] = viewOf(x);
  auto [other, turned] = viewOf(y);
  if (base != other || dims.size() != turned.size() || dims.size() < 2)
    return false;
  std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
  return dims == turned;
}

//===----------------------------------------------------------------------===//
// What rows have in common
//===----------------------------------------------------------------------===//

/// `powers @ v`, of which there may be a multiple already; else the product of all of the sum's
/// factors.
MatmulOp Scores::productFor(const Factors &factors, MatmulOp scaled, ReduceOp sum) {
  for (const Consumer &consumer : consumers) {
    MatmulOp product = consumer.product;
    if (isForward(consumer) && areTurned(product.getRhs(), scaled.getRhs()) &&
        product->isBeforeInBlock(sum) && Factors::of(consumer.value).divides(factors))
      return product;
  }
  return multiply(factors, scaled.getLoc(), turned(scaled.getRhs()));
}

MatmulOp Scores::multiply(const Factors &factors, Location loc, Value right) {
  Type element = typeOf(right).getElement();
  Factors positive = factors; // a sign would stand between the softmax and the product
  positive.isNegative = false;
  Value powers = CastOp::create(b, loc, GraphTensorType::of(b.getContext(), sizes, element),
                                positive.applied(b, factors.elements[0]));
  for (Value next = powers; next != factors.elements[0];) {
    Operation *op = next.getDefiningOp();
    region.insert(op);
    // What is masked is the second or third operand, what is scaled or rounded the first.
    auto isNext = [&](Value operand) { return sizesOf(operand) == sizes && operand != next; };
    SmallVector<Value> operands = llvm::to_vector(op->getOperands());
    next = *llvm::find_if(llvm::reverse(operands), isNext);
  }
  Sizes shape = sizes;
  shape.back() = sizesOf(right).back();
  auto product =
      MatmulOp::create(b, loc, GraphTensorType::of(b.getContext(), shape, element), powers, right);
  consumers.push_back({product, false, false, powers});
  return product;
}

/// Whether a product takes powers, masked and scaled, as they are.
bool Scores::isForward(const Consumer &consumer) const {
  Factors own = Factors::of(consumer.value);
  return !consumer.isRight && !consumer.isTurned && own.elements.size() == 1 &&
         own.elements[0] == power();
}

void Scores::rewriteSum(ReduceOp sum) {
  Factors factors = *factorsOf(sum);
  auto scaled = factors.elements[1].getDefiningOp<MatmulOp>();
  b.setInsertionPoint(sum);
  Location loc = sum.getLoc();
  MatmulOp product = productFor(factors, scaled, sum);
  Factors own;
  for (const Consumer &consumer : consumers)
    if (consumer.product == product)
      own = Factors::of(consumer.value);
  auto f32 = [&](const Sizes &shape) {
    return GraphTensorType::of(b.getContext(), shape, b.getF32Type());
  };
  Sizes shape = sizesOf(product.getResult()), rows(ArrayRef(shape).drop_back());
  Value both = MapOp::create(b, loc, f32(shape), MapKind::mul,
                             ValueRange{scaled.getLhs(), product.getResult()});
  Value made = ReduceOp::create(b, loc, f32(rows), ReduceKind::sum, both,
                                b.getDenseI64ArrayAttr({int64_t(shape.size()) - 1}));
  // Scalings are of rows as columns of one.
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(rows.size())));
  dims.push_back(-1);
  Sizes line = rows;
  line.push_back(Size(1));
  Value column = RearrangeOp::create(b, loc, f32(line), made, dims);
  Value scaledColumn = factors.without(own).scaled(b, column, f32(line));
  for (Value next = scaledColumn; next != column; next = next.getDefiningOp()->getOperand(0))
    ofRows.insert(next.getDefiningOp());
  dims.pop_back();
  replaceRow(sum.getResult(), RearrangeOp::create(b, loc, f32(rows), scaledColumn, dims));
}

/// What is computed of scores keeps the precision that it has; so does what rows have in common.
void Scores::replaceRow(Value before, Value wide) {
  for (OpOperand &use : llvm::make_early_inc_range(before.getUses())) {
    Operation *user = use.getOwner();
    if (user == wide.getDefiningOp())
      continue;
    if (region.contains(user) || ofRows.contains(user)) {
      use.set(wide);
      continue;
    }
    b.setInsertionPoint(user);
    auto view = dyn_cast<RearrangeOp>(user);
    if (!view && wide.getType() == before.getType()) {
      use.set(wide);
      continue;
    }
    if (!view) {
      use.set(CastOp::create(b, user->getLoc(), typeOf(before), wide));
      continue;
    }
    auto type = GraphTensorType::of(b.getContext(), sizesOf(view.getResult()), b.getF32Type());
    replaceRow(view.getResult(), RearrangeOp::create(b, view.getLoc(), type, wide, view.getDims()));
  }
}

/// Between operations of a kernel nothing is rounded: types say so.
void Scores::widen() {
  auto isShort = [](Value value) {
    auto type = dyn_cast<FloatType>(typeOf(value).getElement());
    return type && type.getWidth() < 32;
  };
  Type f32 = b.getF32Type();
  for (Consumer &consumer : consumers)
    if (isShort(consumer.value) && !consumer.value.getDefiningOp<CastOp>() &&
        !consumer.value.getDefiningOp<MatmulOp>()) {
      b.setInsertionPointAfter(consumer.value.getDefiningOp());
      Value rounded =
          CastOp::create(b, consumer.product.getLoc(), typeOf(consumer.value), consumer.value);
      region.insert(rounded.getDefiningOp());
      Value before = consumer.value;
      for (Consumer &other : consumers) {
        if (other.value != before)
          continue;
        other.value = rounded;
        for (OpOperand &use : llvm::make_early_inc_range(before.getUses()))
          if (use.getOwner() == other.product ||
              (other.isTurned && isa<RearrangeOp>(use.getOwner())))
            use.set(rounded);
      }
    }
  for (Operation *op : region)
    if (isa<MapOp>(op) && isShort(op->getResult(0)))
      op->getResult(0).setType(GraphTensorType::of(b.getContext(), sizes, f32));
  SmallVector<ReduceOp> own = {softmax.maximum};
  llvm::append_range(own, softmax.sums);
  for (ReduceOp reduce : own) {
    if (!isShort(reduce.getResult()))
      continue;
    b.setInsertionPointAfter(reduce);
    auto type = GraphTensorType::of(b.getContext(), sizesOf(reduce.getResult()), f32);
    Value wide = ReduceOp::create(b, reduce.getLoc(), type, reduce.getKind(), reduce.getSrc(),
                                  reduce.getAxesAttr());
    replaceRow(reduce.getResult(), wide);
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// What is no score, with its last two dimensions in the other order.
Value Scores::turned(Value value) {
  Sizes own = sizesOf(value);
  if (own.empty())
    return value;
  if (auto view = value.getDefiningOp<RearrangeOp>(); view && isTurned(view))
    return view.getSrc();
  SmallVector<int64_t> dims =
      own.size() == 1 ? SmallVector<int64_t>{0, -1} : turnedDims(own.size());
  if (own.size() == 1)
    own.push_back(Size(1));
  else
    std::swap(own[own.size() - 1], own[own.size() - 2]);
  auto type = GraphTensorType::of(b.getContext(), own, typeOf(value).getElement());
  return RearrangeOp::create(b, value.getLoc(), type, value, dims);
}

/// A division by what a row has in common is a product: it would take as long as the power does.
Value Scores::reciprocalOf(Value value) {
  Value &known = reciprocals[value];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  return known = MapOp::create(b, value.getLoc(), typeOf(value), MapKind::reciprocal,
                               ValueRange{value});
}

static bool dividesRows(Operation *op) {
  auto map = dyn_cast<MapOp>(op);
  if (!map || map.getKind() != MapKind::div)
    return false;
  Sizes by = sizesOf(map.getOperand(1));
  return typeOf(map.getOperand(1)).getElement().isF32() && !by.empty() && by.back().isConstant(1);
}

Value Scores::copied(Value value, bool isTurned) {
  Operation *op = value.getDefiningOp();
  if (!op || !region.contains(op))
    return isTurned ? turned(value) : value;
  Value &known = copies[{value, isTurned}];
  if (known)
    return known;
  SmallVector<Value> operands = llvm::to_vector(op->getOperands());
  bool isScaling = dividesRows(op);
  if (isScaling)
    operands[1] = reciprocalOf(operands[1]);
  for (Value &operand : operands)
    operand =
        isa<MatmulOp>(op) ? (isTurned ? turned(operand) : operand) : copied(operand, isTurned);
  if (isTurned && isa<MatmulOp>(op))
    std::swap(operands[0], operands[1]);
  Operation *made = b.clone(*op);
  made->setOperands(operands);
  if (isScaling)
    cast<MapOp>(made).setKind(MapKind::mul);
  if (isTurned) {
    Sizes own = sizes;
    std::swap(own[own.size() - 1], own[own.size() - 2]);
    made->getResult(0).setType(
        GraphTensorType::of(b.getContext(), own, typeOf(value).getElement()));
  }
  return copies[{value, isTurned}] = made->getResult(0);
}

/// Scores are computed again, in front of the product, as its left operand.
void Scores::recompute(const Consumer &consumer) {
  MatmulOp product = consumer.product;
  b.setInsertionPoint(product);
  copies.clear();
  // a @ s is (s.T @ a.T).T
  Value left = copied(consumer.value, consumer.isTurned != consumer.isRight);
  GraphTensorType type = product.getType();
  Value right = consumer.isRight ? turned(product.getLhs()) : product.getRhs();
  Sizes own = type.sizes();
  if (consumer.isRight)
    std::swap(own[own.size() - 1], own[own.size() - 2]);
  auto again =
      MatmulOp::create(b, product.getLoc(),
                       GraphTensorType::of(b.getContext(), own, type.getElement()), left, right);
  again->setAttr(kChainedAttr, b.getUnitAttr());
  Value result = again;
  if (consumer.isRight)
    result = RearrangeOp::create(b, product.getLoc(), type, result, turnedDims(own.size()));
  product.replaceAllUsesWith(result);
}
