//===- RollProducts.cpp - sums of products that were unrolled -------------===//
//
// Contract and example: RollProductsPass in passes/tile/Passes.td.
//
// The operands of all products are compared at once, from the products back to what they are made
// of: what is the same value for all turns, constants that grow by the same step, and the same
// operation on such. Of the first turn, additions of zero are folded away: where all others add
// what would be nothing there, it is as if it added that, too.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include <deque>

namespace tile {
#define GEN_PASS_DEF_ROLLPRODUCTSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-roll-products"
ALWAYS_ENABLED_STATISTIC(productsRolled, "sums of products that became loops");

/// The values that stand for each other, one of each turn.
using Turns = SmallVector<Value>;

namespace {
/// What the values of all turns are.
struct Common {
  Value same;                ///< one value
  APInt first, step;         ///< or integers, each the one before and a step
  Operation *like = nullptr; ///< or results of operations like this one, of the second turn
  SmallVector<const Common *> operands;
  Type type;
  /// Whether it would be zero in the first turn.
  bool startsAtZero = false;
};

class Comparison {
public:
  /// What `values` have in common; null: too little.
  const Common *of(const Turns &values);
  /// Whether nobody but products of the turns needs what is loaded for them.
  bool isAlone(ArrayRef<DotOp> products) const;
  /// The earliest operation that is one of several turns.
  Operation *earliest() const;

private:
  const Common *ofConstants(ArrayRef<Value> values, bool withoutFirst);
  const Common *ofOperations(const Turns &values);
  /// Of all turns but the first: what would be zero there.
  const Common *fromZero(ArrayRef<Value> values);
  const Common *ofSums(const Turns &values);
  const Common *remember(Common common) { return &all.emplace_back(std::move(common)); }

  std::deque<Common> all;
  DenseMap<Value, std::pair<Turns, const Common *>> known;
  llvm::SetVector<Operation *> varying;
};
} // namespace

static bool isLike(Operation *a, Operation *b) {
  return a && b && a->getName() == b->getName() && a->getNumResults() == 1 &&
         b->getNumResults() == 1 && a->getNumRegions() == 0 && b->getNumRegions() == 0 &&
         a->getNumOperands() == b->getNumOperands() &&
         a->getResult(0).getType() == b->getResult(0).getType() &&
         a->getAttrDictionary() == b->getAttrDictionary();
}

/// Whether turns may compute it in any order.
static bool isFree(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load ? !load.getIsVolatile() : isMemoryEffectFree(op) && !isa<DotOp>(op);
}

const Common *Comparison::ofConstants(ArrayRef<Value> values, bool withoutFirst) {
  SmallVector<APInt> numbers;
  for (Value v : values) {
    APInt number;
    if (!isa<IntegerType>(getElementTypeOrSelf(v.getType())) ||
        !matchPattern(v, m_ConstantInt(&number)))
      return nullptr;
    numbers.push_back(number);
  }
  APInt step = numbers[1] - numbers[0];
  for (size_t i = 2; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != step)
      return nullptr;
  APInt first = withoutFirst ? numbers[0] - step : numbers[0];
  Common common;
  common.startsAtZero = first.isZero();
  common.first = first;
  common.step = step;
  common.type = values[0].getType();
  return withoutFirst && !common.startsAtZero ? nullptr : remember(std::move(common));
}

const Common *Comparison::ofOperations(const Turns &values) {
  Operation *like = values[1].getDefiningOp();
  if (!like || !isFree(like) || llvm::any_of(values, [&](Value v) {
        return !isLike(v.getDefiningOp(), like) ||
               v.getDefiningOp()->getBlock() != like->getBlock();
      }))
    return nullptr;
  Common common;
  common.like = like;
  common.type = like->getResult(0).getType();
  for (unsigned i = 0; i < like->getNumOperands(); ++i) {
    Turns operands;
    for (Value v : values)
      operands.push_back(v.getDefiningOp()->getOperand(i));
    common.operands.push_back(of(operands));
    if (!common.operands.back())
      return nullptr;
  }
  for (Value v : values)
    varying.insert(v.getDefiningOp());
  return remember(std::move(common));
}

const Common *Comparison::fromZero(ArrayRef<Value> values) {
  if (const Common *constants = ofConstants(values, /*withoutFirst=*/true))
    return constants;
  Operation *like = values[0].getDefiningOp();
  if (!like || !isa<arith::MulIOp, SplatOp, BroadcastOp, ExpandDimsOp, arith::ExtSIOp>(like) ||
      llvm::any_of(values, [&](Value v) { return !isLike(v.getDefiningOp(), like); }))
    return nullptr;
  Common common;
  common.like = like;
  common.type = like->getResult(0).getType();
  common.startsAtZero = true;
  bool hasZero = false;
  for (unsigned i = 0; i < like->getNumOperands(); ++i) {
    Turns operands;
    for (Value v : values)
      operands.push_back(v.getDefiningOp()->getOperand(i));
    if (llvm::all_equal(operands)) {
      Common same;
      same.same = operands.front();
      common.operands.push_back(remember(std::move(same)));
    } else if (const Common *zero = hasZero ? nullptr : fromZero(operands)) {
      common.operands.push_back(zero);
      hasZero = true;
    } else {
      return nullptr;
    }
  }
  if (!hasZero)
    return nullptr;
  for (Value v : values)
    varying.insert(v.getDefiningOp());
  return remember(std::move(common));
}

/// Of turns that add what is zero in the first, which does not.
const Common *Comparison::ofSums(const Turns &values) {
  Operation *like = values[1].getDefiningOp();
  if (!like || !isa<arith::AddIOp, AddPtrOp>(like) || values[0].getType() != values[1].getType())
    return nullptr;
  for (Value v : ArrayRef(values).drop_front())
    if (!isLike(v.getDefiningOp(), like))
      return nullptr;
  for (unsigned side : {0u, 1u}) {
    if (side == 1 && isa<AddPtrOp>(like))
      break;
    Turns sums{values[0]}, more;
    for (Value v : ArrayRef(values).drop_front()) {
      sums.push_back(v.getDefiningOp()->getOperand(side));
      more.push_back(v.getDefiningOp()->getOperand(1 - side));
    }
    const Common *zero = fromZero(more), *sum = zero ? of(sums) : nullptr;
    if (!sum)
      continue;
    Common common;
    common.like = like;
    common.type = like->getResult(0).getType();
    common.operands =
        side == 0 ? SmallVector<const Common *>{sum, zero} : SmallVector<const Common *>{zero, sum};
    for (Value v : ArrayRef(values).drop_front())
      varying.insert(v.getDefiningOp());
    return remember(std::move(common));
  }
  return nullptr;
}

const Common *Comparison::of(const Turns &values) {
  if (llvm::all_equal(values)) {
    Common common;
    common.same = values.front();
    return remember(std::move(common));
  }
  if (auto found = known.find(values[1]); found != known.end() && found->second.first == values)
    return found->second.second;
  const Common *common = ofConstants(values, /*withoutFirst=*/false);
  if (!common)
    common = ofOperations(values);
  if (!common)
    common = ofSums(values);
  known[values[1]] = {values, common};
  return common;
}

bool Comparison::isAlone(ArrayRef<DotOp> products) const {
  return llvm::all_of(varying, [&](Operation *op) {
    // What stands in front of a branch would move past all that does.
    if (op->getBlock() != products.front()->getBlock())
      return false;
    return !isa<LoadOp>(op) || llvm::all_of(op->getUsers(), [&](Operation *user) {
      return varying.contains(user) || llvm::is_contained(products, user);
    });
  });
}

Operation *Comparison::earliest() const {
  return *llvm::min_element(varying,
                            [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

namespace {
/// Makes what a turn computes.
class Turn {
public:
  Turn(OpBuilder &b, Location loc, Value index) : b(b), loc(loc), index(index) {}
  Value operator()(const Common *common);

private:
  Value number(const Common &common);

  OpBuilder &b;
  Location loc;
  Value index;
  DenseMap<const Common *, Value> made;
};
} // namespace

/// An integer, or a block of them, of the turn.
Value Turn::number(const Common &common) {
  Type element = getElementTypeOrSelf(common.type);
  unsigned bits = element.getIntOrFloatBitWidth();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, value));
  };
  Value at = index;
  if (bits > 32)
    at = arith::ExtSIOp::create(b, loc, element, at);
  else if (bits < 32)
    at = arith::TruncIOp::create(b, loc, element, at);
  Value number = arith::MulIOp::create(b, loc, at, constant(common.step));
  if (!common.first.isZero())
    number = arith::AddIOp::create(b, loc, number, constant(common.first));
  auto block = dyn_cast<RankedTensorType>(common.type);
  return block ? SplatOp::create(b, loc, block, number).getResult() : number;
}

Value Turn::operator()(const Common *common) {
  if (common->same)
    return common->same;
  if (Value known = made.lookup(common))
    return known;
  Value result;
  if (common->like) {
    SmallVector<Value> operands;
    for (const Common *operand : common->operands)
      operands.push_back((*this)(operand));
    Operation *op = b.clone(*common->like);
    op->setOperands(operands);
    result = op->getResult(0);
  } else {
    result = number(*common);
  }
  return made[common] = result;
}

/// The products from `first` on of which each adds to what the one before gives, which nobody else
/// needs.
static SmallVector<DotOp> chainFrom(DotOp first) {
  SmallVector<DotOp> chain{first};
  while (chain.back()->hasOneUse()) {
    auto next = dyn_cast<DotOp>(*chain.back()->user_begin());
    if (!next || next->getBlock() != first->getBlock() ||
        next.getAcc() != chain.back().getResult() ||
        next->getAttrDictionary() != first->getAttrDictionary() ||
        next.getA().getType() != first.getA().getType() ||
        next.getB().getType() != first.getB().getType())
      break;
    chain.push_back(next);
  }
  return chain;
}

/// Whether nothing between the two writes, or waits for others.
static bool isOnlyRead(Operation *from, Operation *to) {
  return llvm::all_of(llvm::make_range(from->getIterator(), to->getIterator()), [](Operation &op) {
    return isa<LoadOp>(op) ? isFree(&op) : isMemoryEffectFree(&op);
  });
}

/// Makes a loop of `chain`; false if its turns have too little in common.
static bool roll(ArrayRef<DotOp> chain) {
  Comparison compare;
  Turns lefts, rights;
  for (DotOp dot : chain) {
    lefts.push_back(dot.getA());
    rights.push_back(dot.getB());
  }
  const Common *left = compare.of(lefts), *right = left ? compare.of(rights) : nullptr;
  DotOp first = chain.front(), last = chain.back();
  if (!right || left->same || right->same || !compare.isAlone(chain) ||
      !isOnlyRead(compare.earliest(), last))
    return false;
  OpBuilder b(last);
  Location loc = last.getLoc();
  auto constant = [&](int64_t n) -> Value { return arith::ConstantIntOp::create(b, loc, n, 32); };
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(int64_t(chain.size())), constant(1),
                                 ValueRange{first.getAcc()},
                                 [&](OpBuilder &b, Location loc, Value index, ValueRange sums) {
                                   Turn turn(b, loc, index);
                                   Value l = turn(left), r = turn(right);
                                   auto dot = cast<DotOp>(b.clone(*last));
                                   dot->setOperands({l, r, sums[0]});
                                   scf::YieldOp::create(b, loc, dot.getResult());
                                 });
  LDBG() << chain.size() << " products are turns of " << loop;
  last.getResult().replaceAllUsesWith(loop.getResult(0));
  for (DotOp dot : llvm::reverse(chain))
    dot.erase();
  return true;
}

namespace {
struct RollProductsPass : tile::impl::RollProductsPassBase<RollProductsPass> {
  void runOnOperation() override {
    SmallVector<SmallVector<DotOp>> chains;
    DenseSet<Operation *> seen;
    getOperation().walk([&](DotOp dot) {
      if (seen.contains(dot) || dot->getParentOfType<LoopLikeOpInterface>())
        return;
      SmallVector<DotOp> chain = chainFrom(dot);
      seen.insert_range(chain);
      // Nothing is copied ahead where one stage is asked for; of as many turns as stages, all would
      // start at once.
      int32_t stages = kernelOf(dot).getStages();
      if (stages != 1 && int64_t(chain.size()) > std::max(stages, kDefaultStages))
        chains.push_back(std::move(chain));
    });
    for (ArrayRef<DotOp> chain : chains)
      productsRolled += roll(chain);
  }
};
} // namespace
