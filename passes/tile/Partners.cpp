//===- Partners.cpp - what the elements of pairs give each other ----------===//
//
// Contract and example: PartnersPass in passes/tile/Passes.td.
//
// Sums over a pair, of which a mask leaves one element, cost an exchange each where lanes or warps
// have the elements. All that they say can be had of one: the element of the other. What partners
// of partners say, Pairs.cpp says by fewer.
//
//===----------------------------------------------------------------------===//
#include "ir/Combiners.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/tile/Pairs.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_PARTNERSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-partners"
ALWAYS_ENABLED_STATISTIC(sumsOfPairs, "sums over pairs that partners say");
ALWAYS_ENABLED_STATISTIC(pairsExchanged, "differences of pairs that are the partner's element");
ALWAYS_ENABLED_STATISTIC(partnersGathered, "gathers that pick partners");
ALWAYS_ENABLED_STATISTIC(partnersJoined, "partners of partners that another one says, or none");

namespace {
/// What a mask is at the two places of a pair.
using OfPair = std::array<int64_t, 2>;

/// A sum over pairs that leaves the element at one place, repeated to both.
struct Picked {
  BroadcastOp repeated;
  ReduceOp sum;
  Value block; ///< of pairs
  unsigned axis, place;
};

class Partners {
public:
  explicit Partners(ModuleOp module) : b(module.getContext()) {}
  /// Of each element of `block` the other one of its pair along `axis`.
  Value of(Value block, unsigned axis);
  /// The element at `place` of each pair, for both places.
  Value at(unsigned place, Value block, unsigned axis);
  /// Erases what nobody needs of `module`, and forgets it.
  void eraseDead(ModuleOp module);

private:
  using Made = DenseMap<std::pair<Value, unsigned>, Value>;
  Value isRight(Value block, unsigned axis);

  OpBuilder b;
  Made known, right;
};
} // namespace

static RankedTensorType withElement(Value block, Type element) {
  return cast<RankedTensorType>(block.getType()).clone(element);
}

Value Partners::of(Value block, unsigned axis) {
  Value &partner = known[{block, axis}];
  if (partner)
    return partner;
  b.setInsertionPointAfterValue(block);
  Location loc = block.getLoc();
  auto type = cast<RankedTensorType>(block.getType());
  Type integer = b.getIntegerType(type.getElementTypeBitWidth());
  bool isFloat = isa<FloatType>(type.getElementType());
  Value bits = block;
  if (isFloat)
    bits = arith::BitcastOp::create(b, loc, type.clone(integer), block);
  Value other = otherOfPair(b, loc, bits, axis);
  if (isFloat)
    other = arith::BitcastOp::create(b, loc, type, other);
  return known[{block, axis}] = other;
}

Value Partners::isRight(Value block, unsigned axis) {
  Value &mask = right[{block, axis}];
  if (mask)
    return mask;
  Location loc = block.getLoc();
  auto ofShape = [&](ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  };
  Value place = MakeRangeOp::create(b, loc, ofShape({2}, b.getI32Type()), 0, 2);
  auto zero = DenseElementsAttr::get(ofShape({2}, b.getI32Type()), b.getI32IntegerAttr(0));
  Value none = arith::ConstantOp::create(b, loc, zero);
  mask = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, place, none);
  SmallVector<int64_t> shape{2};
  auto type = cast<RankedTensorType>(block.getType());
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    if (dim == axis)
      continue;
    shape.insert(shape.begin() + dim, 1);
    mask = ExpandDimsOp::create(b, loc, ofShape(shape, b.getI1Type()), mask, dim);
  }
  return mask = BroadcastOp::create(b, loc, withElement(block, b.getI1Type()), mask);
}

Value Partners::at(unsigned place, Value block, unsigned axis) {
  Value partner = of(block, axis);
  b.setInsertionPointAfterValue(partner);
  Value right = isRight(block, axis);
  b.setInsertionPointAfterValue(right);
  Location loc = block.getLoc();
  auto chosen = [&](Value ifRight, Value ifLeft) -> Value {
    return arith::SelectOp::create(b, loc, right, ifRight, ifLeft);
  };
  Value here = place ? chosen(block, partner) : chosen(partner, block);
  auto type = dyn_cast<FloatType>(getElementType(block.getType()));
  if (!type)
    return here;
  // What the mask leaves out is still added, as a zero of some sign, or NaN.
  Value there = place ? chosen(partner, block) : chosen(block, partner);
  Value zero = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(cast<ShapedType>(block.getType()), b.getFloatAttr(type, 0.0)));
  Value nothing = arith::MulFOp::create(b, loc, there, zero);
  return arith::AddFOp::create(b, loc, here, nothing);
}

void Partners::eraseDead(ModuleOp module) {
  DenseSet<Value> gone;
  module.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (!isOpTriviallyDead(op))
      return;
    gone.insert_range(op->getResults());
    op->erase();
  });
  for (Made *made : {&known, &right})
    for (auto [of, value] : llvm::to_vector(*made))
      if (gone.contains(of.first) || gone.contains(value))
        made->erase(of);
}

//===----------------------------------------------------------------------===//
// What is seen
//===----------------------------------------------------------------------===//

/// What `mask` is at both places along `axis`, if it is the same along all other dimensions.
static std::optional<OfPair> ofPair(Value mask, unsigned axis) {
  APInt constant;
  if (matchPattern(mask, m_ConstantInt(&constant)))
    return OfPair{constant.getSExtValue(), constant.getSExtValue()};
  Operation *op = mask.getDefiningOp();
  if (auto range = dyn_cast_or_null<MakeRangeOp>(op))
    return OfPair{int32_t(range.getStart()), int32_t(range.getStart()) + 1};
  if (auto expand = dyn_cast_or_null<ExpandDimsOp>(op); expand && expand.getAxis() != axis)
    return ofPair(expand.getSrc(), expand.getAxis() < axis ? axis - 1 : axis);
  if (auto repeated = dyn_cast_or_null<BroadcastOp>(op);
      repeated && repeated.getSrc().getType().getDimSize(axis) == 2)
    return ofPair(repeated.getSrc(), axis);
  if (isa_and_nonnull<arith::SIToFPOp, arith::ExtSIOp>(op))
    return ofPair(op->getOperand(0), axis);
  if (auto difference = dyn_cast_or_null<arith::SubIOp>(op)) {
    std::optional<OfPair> a = ofPair(difference.getLhs(), axis);
    std::optional<OfPair> less = ofPair(difference.getRhs(), axis);
    if (a && less)
      return OfPair{(*a)[0] - (*less)[0], (*a)[1] - (*less)[1]};
  }
  return std::nullopt;
}

/// `v` as a sum that a mask leaves one element of.
static std::optional<Picked> picked(BroadcastOp repeated) {
  auto expand = repeated.getSrc().getDefiningOp<ExpandDimsOp>();
  auto sum = expand ? expand.getSrc().getDefiningOp<ReduceOp>() : ReduceOp();
  if (!sum || expand.getAxis() != sum.getAxis() || !isSum(sum.getCombineBlock()) ||
      sum.getInputType() != repeated.getType() || sum.getInputType().getDimSize(sum.getAxis()) != 2)
    return std::nullopt;
  Operation *product = sum.getSrcs().front().getDefiningOp();
  if (!isa_and_nonnull<arith::MulIOp, arith::MulFOp>(product))
    return std::nullopt;
  unsigned axis = sum.getAxis();
  for (unsigned side : {0, 1})
    if (std::optional<OfPair> mask = ofPair(product->getOperand(side), axis))
      for (unsigned place : {0, 1})
        if ((*mask)[place] == 1 && (*mask)[1 - place] == 0)
          return Picked{repeated, sum, product->getOperand(1 - side), axis, place};
  return std::nullopt;
}

static Value beforeReshapes(Value v) {
  while (auto reshape = v.getDefiningOp<ReshapeOp>())
    v = reshape.getSrc();
  return v;
}

static std::optional<Picked> pickedBehindReshapes(Value v) {
  auto repeated = beforeReshapes(v).getDefiningOp<BroadcastOp>();
  return repeated ? picked(repeated) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is done
//===----------------------------------------------------------------------===//

/// `op` as x ^ (c ? left ^ right : 0), with x one of the two: the other one where c holds.
static bool exchange(arith::XOrIOp op, Partners &partners) {
  for (unsigned side : {0, 1}) {
    Value own = op->getOperand(side);
    auto change = op->getOperand(1 - side).getDefiningOp<arith::SelectOp>();
    if (!change || !matchPattern(change.getFalseValue(), m_Zero()))
      continue;
    auto both = change.getTrueValue().getDefiningOp<arith::XOrIOp>();
    if (!both)
      continue;
    std::optional<Picked> left = pickedBehindReshapes(both.getLhs());
    std::optional<Picked> right = pickedBehindReshapes(both.getRhs());
    if (!left || !right || left->block != right->block || left->axis != right->axis ||
        left->place == right->place || beforeReshapes(own) != beforeReshapes(left->block))
      continue;
    Value partner = partners.of(left->block, left->axis);
    OpBuilder b(op);
    if (partner.getType() != op.getType())
      partner = ReshapeOp::create(b, op.getLoc(), op.getType(), partner);
    Value chosen = arith::SelectOp::create(b, op.getLoc(), change.getCondition(), partner, own);
    op.getResult().replaceAllUsesWith(chosen);
    op.erase();
    ++pairsExchanged;
    return true;
  }
  return false;
}

/// Sums that leave the elements at both places of the same pairs.
static void sayByPartners(MutableArrayRef<Picked> all, Partners &partners) {
  for (Picked &one : all) {
    bool hasOther = llvm::any_of(all, [&](const Picked &other) {
      return other.block == one.block && other.axis == one.axis && other.place != one.place;
    });
    if (!hasOther)
      continue;
    Value element = partners.at(one.place, one.block, one.axis);
    LDBG() << one.repeated << " is " << element;
    one.repeated.getResult().replaceAllUsesWith(element);
    ++sumsOfPairs;
  }
}

namespace {
struct PartnersPass : tile::impl::PartnersPassBase<PartnersPass> {
  void runOnOperation() override {
    // Numbers that stand for others have no bits to exchange.
    if (getOperation()->hasAttr(kAlgebraicAttr))
      return;
    partnersGathered += gathersOfPartners(getOperation());
    Partners partners(getOperation());
    bool isChanged = false;
    getOperation().walk([&](arith::XOrIOp op) { isChanged |= exchange(op, partners); });
    if (isChanged)
      partners.eraseDead(getOperation());
    SmallVector<Picked> sums;
    getOperation().walk([&](BroadcastOp op) {
      if (std::optional<Picked> one = picked(op))
        sums.push_back(*one);
    });
    sayByPartners(sums, partners);
    unsigned joined = joinPairs(getOperation());
    partnersJoined += joined;
    if (!sums.empty() || joined)
      partners.eraseDead(getOperation());
  }
};
} // namespace
