//===- Pairs.cpp - elements whose places differ in one bit ----------------===//
//
// The row-major place of an element and that of its partner differ in one bit where sizes are
// powers of two. Reversing a dimension turns over all of its bits, one after the other: of two
// dimensions reversed, one within the other, say, most are turned over twice.
//
//===----------------------------------------------------------------------===//
#include "passes/tile/Pairs.h"
#include "ir/Combiners.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;

Value tile::otherOfPair(OpBuilder &b, Location loc, Value block, unsigned axis) {
  auto type = cast<RankedTensorType>(block.getType());
  Type integer = type.getElementType();
  SmallVector<int64_t> shape(type.getShape()), one(shape);
  shape.erase(shape.begin() + axis);
  one[axis] = 1;
  auto reduce = ReduceOp::create(b, loc, TypeRange{RankedTensorType::get(shape, integer)},
                                 ValueRange{block}, axis);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *combiner = b.createBlock(&reduce.getCombine(), {}, {integer, integer}, {loc, loc});
    Value both = arith::XOrIOp::create(b, loc, combiner->getArgument(0), combiner->getArgument(1));
    YieldOp::create(b, loc, both);
  }
  b.setInsertionPointAfter(reduce);
  Value both =
      ExpandDimsOp::create(b, loc, RankedTensorType::get(one, integer), reduce.getResult(0), axis);
  both = BroadcastOp::create(b, loc, type, both);
  return arith::XOrIOp::create(b, loc, block, both);
}

namespace {
/// What each element of `block` is the partner of, and how far the two are apart.
struct Pair {
  Value block;
  int64_t distance;
};

/// Partners of partners: `of`, with the bits of each place turned over that are set in `bits`.
struct Chain {
  Value of;
  int64_t bits = 0;
  unsigned length = 0;
};
} // namespace

static std::optional<Pair> pairOf(Value v, unsigned side) {
  auto other = v.getDefiningOp<arith::XOrIOp>();
  auto repeated = other ? other->getOperand(side).getDefiningOp<BroadcastOp>() : BroadcastOp();
  auto expand = repeated ? repeated.getSrc().getDefiningOp<ExpandDimsOp>() : ExpandDimsOp();
  auto both = expand ? expand.getSrc().getDefiningOp<ReduceOp>() : ReduceOp();
  if (!both || expand.getAxis() != both.getAxis() ||
      both.getSrcs()[0] != other->getOperand(1 - side) ||
      !isa_and_nonnull<arith::XOrIOp>(soleCombiner(both.getCombineBlock())))
    return std::nullopt;
  ArrayRef<int64_t> shape = both.getInputType().getShape();
  if (shape[both.getAxis()] != 2 ||
      !llvm::all_of(shape, [](int64_t size) { return llvm::isPowerOf2_64(size); }))
    return std::nullopt;
  return Pair{both.getSrcs()[0], ShapedType::getNumElements(shape.drop_front(both.getAxis() + 1))};
}

static std::optional<Pair> pairOf(Value v) {
  std::optional<Pair> pair = pairOf(v, 1);
  return pair ? pair : pairOf(v, 0);
}

/// The element of `v` as it is called elsewhere: in another shape, or as another type.
static Value sameElements(Value v) {
  Operation *op = v.getDefiningOp();
  bool isSame = isa_and_nonnull<ReshapeOp>(op) ||
                (isa_and_nonnull<arith::BitcastOp>(op) && isa<RankedTensorType>(v.getType()));
  return isSame ? op->getOperand(0) : Value();
}

/// Whether the partner `other` alone needs `v`, its pairs.
static bool isNeededBy(Operation *other, Value v) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    auto both = dyn_cast<ReduceOp>(user);
    return user == other || (both && both->hasOneUse() && [&] {
             Operation *expand = *both->user_begin();
             return expand->hasOneUse() && (*expand->user_begin())->hasOneUse() &&
                    *(*expand->user_begin())->user_begin() == other;
           }());
  });
}

/// What leads to `last`; partners on the way are `within`.
static Chain chainOf(arith::XOrIOp last, DenseSet<Operation *> &within) {
  Chain chain{last.getResult()};
  while (std::optional<Pair> pair = pairOf(chain.of)) {
    Operation *other = chain.of.getDefiningOp();
    chain.of = pair->block;
    chain.bits ^= pair->distance;
    ++chain.length;
    // To the next partner, past what only gives its elements other names.
    Value before = chain.of;
    bool isAlone = isNeededBy(other, before);
    while (Value same = sameElements(before)) {
      before = same;
      isAlone &= before.hasOneUse();
    }
    if (!isAlone || !pairOf(before))
      break;
    chain.of = before;
    within.insert(before.getDefiningOp());
  }
  return chain;
}

/// The elements of `v` in a block of `shape`, of integers.
static Value inShape(OpBuilder &b, Location loc, Value v, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(v.getType());
  return type.getShape() == shape ? v : ReshapeOp::create(b, loc, type.clone(shape), v).getResult();
}

/// The elements of `chain.of`, as its bits say.
static Value shortened(OpBuilder &b, Location loc, const Chain &chain) {
  int64_t total = cast<RankedTensorType>(chain.of.getType()).getNumElements();
  Value v = chain.of;
  for (int64_t distance = 1; distance <= chain.bits; distance *= 2)
    if (chain.bits & distance)
      v = otherOfPair(b, loc, inShape(b, loc, v, {total / (2 * distance), 2, distance}), 1);
  return v;
}

unsigned tile::joinPairs(ModuleOp module) {
  SmallVector<std::pair<arith::XOrIOp, Chain>> chains;
  DenseSet<Operation *> within;
  module.walk([&](arith::XOrIOp op) { chains.push_back({op, chainOf(op, within)}); });
  unsigned gone = 0;
  for (auto &[op, chain] : chains) {
    unsigned left = llvm::popcount(uint64_t(chain.bits));
    if (within.contains(op) || chain.length == left)
      continue;
    OpBuilder b(op);
    Value v = shortened(b, op.getLoc(), chain);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
    op.getResult().replaceAllUsesWith(inShape(b, op.getLoc(), v, shape));
    gone += chain.length - left;
  }
  return gone;
}
