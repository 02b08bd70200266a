//===- Chain.cpp - products with a softmax between them --------------------===//
#include "passes/graph/Chain.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/Sources.h"
#include "passes/graph/Space.h"
#include "text/Format.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include <cmath>

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHCHAINPRODUCTSPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;
using tile::formatted;

#define DEBUG_TYPE "graph-chain-products"
ALWAYS_ENABLED_STATISTIC(productsChained, "products that take the powers of a softmax");

using Ops = SmallVector<Operation *>;

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// A product of a softmax, on the way to be the second of a chain.
class Chainer {
public:
  explicit Chainer(MatmulOp second) : second(second), b(second) {}
  void run();

private:
  bool peel();
  bool isUsedElsewhere();
  void pullFactor();
  void sinkOthers();
  MatmulOp multiplyPowers();
  bool refuse(const std::string &reason);

  MatmulOp second;
  OpBuilder b;
  std::optional<Chain> chain;
  SmallVector<std::pair<MapOp, Value>> scalings; ///< what powers are scaled by, last first
  SmallVector<OpOperand *> masks;                ///< what takes some of them away, last first
};
} // namespace

bool Chainer::refuse(const std::string &reason) {
  LDBG() << "not chained: " << reason;
  second->setAttr(kUnchainedAttr, b.getStringAttr(reason));
  return false;
}

/// One number a row, for all columns.
static bool isOfRow(Value value) {
  Sizes sizes = typeOf(value).sizes();
  return sizes.empty() || sizes.back().isConstant(1);
}

/// Whether a value is computed of a softmax of scores element by element.
static bool isOfChain(Value value) {
  bool found = false;
  visitSources(value, [&](Value source) {
    found = found || softmaxOf(source);
    return !found && isa_and_nonnull<MapOp, CastOp, RearrangeOp>(source.getDefiningOp());
  });
  return found;
}

/// Goes through what is done with powers before they are multiplied: scalings of rows may be done
/// behind the product as well, and what takes elements away, as dropout does, before them.
bool Chainer::peel() {
  Value value = unrounded(second.getLhs());
  while (!(chain = softmaxOf(value))) {
    if (OpOperand *inner = maskedOf(value)) {
      masks.push_back(inner);
      value = unrounded(inner->get());
      continue;
    }
    auto map = value.getDefiningOp<MapOp>();
    bool isDivision = map && map.getKind() == MapKind::div;
    unsigned by = map && arity(map.getKind()) == 2 && isOfRow(map.getOperand(1)) ? 1 : 0;
    bool isScaling = isDivision ? by == 1 : map && map.getKind() == MapKind::mul;
    if (!isScaling || !isOfRow(map.getOperand(by)))
      return isOfChain(value) && refuse(formatted("{} stands between the softmax and the product",
                                                  spelled(value.getDefiningOp())));
    scalings.push_back({map, map.getOperand(by)});
    value = unrounded(map.getOperand(1 - by));
  }
  chain->second = second;
  llvm::SmallPtrSet<Operation *, 16> known = usersOf(chain->maximum.getResult());
  for (OpOperand *mask : masks)
    if (Operation *condition = mask->getOwner()->getOperand(0).getDefiningOp();
        condition && known.contains(condition))
      return refuse(formatted("{} depends on the softmax itself", spelled(mask->getOwner())));
  return true;
}

/// Whether somebody else wants what will not be stored.
bool Chainer::isUsedElsewhere() {
  llvm::SmallPtrSet<Operation *, 16> behind = usersOf(chain->firsts[0]->getResult(0)), known;
  Ops ops = operationsOf(*chain);
  known.insert(ops.begin(), ops.end());
  if (Operation *right = second.getRhs().getDefiningOp(); right && behind.contains(right))
    return !refuse(formatted("both operands are computed of {}", spelled(chain->firsts[0])));
  for (Operation *op : ops) {
    bool isStored = (behind.contains(op) || op == chain->firsts[0]) && op != second &&
                    !isOfRow(op->getResult(0)) && !isa<ReduceOp>(op);
    for (Operation *user : op->getUsers())
      if (isStored && !known.contains(user))
        return !refuse(formatted("{} is needed elsewhere too, by {}, so that it is stored",
                                 spelled(op), spelled(user)));
  }
  return false;
}

/// where(m, s * k, -inf) is where(m, s, -inf) * k for a number above 0: the factor then costs
/// nothing, because powers are taken of a multiple of s anyway.
static Value pulled(OpBuilder &b, Value value, Value &factor) {
  auto map = value.getDefiningOp<MapOp>();
  if (!map)
    return {};
  Location loc = map.getLoc();
  if (map.getKind() == MapKind::mul) {
    for (unsigned i : {0u, 1u}) {
      factor = map.getOperand(i);
      if (typeOf(factor).sizes().empty() && isPositive(factor))
        return map.getOperand(1 - i);
    }
    return {};
  }
  if (map.getKind() != MapKind::select)
    return {};
  for (unsigned i : {1u, 2u}) {
    if (!isLowest(map.getOperand(3 - i)))
      continue;
    Value inner = pulled(b, map.getOperand(i), factor);
    if (!inner)
      return {};
    SmallVector<Value> operands = llvm::to_vector(map.getOperands());
    operands[i] = inner;
    auto type =
        GraphTensorType::of(b.getContext(), map.getType().sizes(),
                            promoteTypes(typeOf(inner).getElement(), map.getType().getElement()));
    return MapOp::create(b, loc, type, MapKind::select, operands);
  }
  return {};
}

void Chainer::pullFactor() {
  auto map = chain->scores.getDefiningOp<MapOp>();
  if (!map || map.getKind() != MapKind::select)
    return;
  b.setInsertionPointAfter(map);
  Value factor;
  Value rest = pulled(b, chain->scores, factor);
  if (!rest)
    return;
  Value scores =
      MapOp::create(b, map.getLoc(), map.getType(), MapKind::mul, ValueRange{rest, factor});
  map.getResult().replaceAllUsesWith(scores);
  chain->scores = scores;
}

/// What needs a chain's values and is not part of it stands behind it.
void Chainer::sinkOthers() {
  llvm::SmallPtrSet<Operation *, 16> inside;
  for (Operation *op : operationsOf(*chain))
    inside.insert(op);
  llvm::SmallPtrSet<Operation *, 16> behind = usersOf(chain->firsts[0]->getResult(0));
  Ops others;
  for (Operation *op = chain->firsts[0]->getNextNode(); op != second; op = op->getNextNode())
    if (behind.contains(op) && !inside.contains(op))
      others.push_back(op);
  for (Operation *op : llvm::reverse(others))
    op->moveAfter(second);
  for (ReduceOp sum : chain->sums)
    if (second->isBeforeInBlock(sum))
      sum->moveBefore(second);
}

/// The product of the powers themselves. Null if that is no kernel.
MatmulOp Chainer::multiplyPowers() {
  b.setInsertionPoint(second);
  Value powers = chain->power->getResult(0);
  GraphTensorType wanted = second.getLhs().getType();
  Ops made;
  for (OpOperand *mask : llvm::reverse(masks)) {
    auto map = llvm::cast<MapOp>(mask->getOwner());
    SmallVector<Value> operands = llvm::to_vector(map.getOperands());
    operands[mask->getOperandNumber()] = powers;
    Type element = typeOf(powers).getElement();
    auto type = GraphTensorType::of(b.getContext(), map.getType().sizes(), element);
    made.push_back(MapOp::create(b, map.getLoc(), type, map.getKind(), operands));
    powers = made.back()->getResult(0);
  }
  auto undo = [&] {
    for (Operation *op : llvm::reverse(made))
      op->erase();
  };
  if (typeOf(powers).sizes() != wanted.sizes()) {
    undo();
    refuse("the powers are multiplied in another shape");
    return {};
  }
  if (powers.getType() != wanted) {
    made.push_back(CastOp::create(b, second.getLoc(), wanted, powers));
    powers = made.back()->getResult(0);
  }
  auto product = MatmulOp::create(b, second.getLoc(), second.getType(), powers, second.getRhs());
  Chain whole = *chain;
  whole.second = product;
  std::string reason;
  if (findSpace(operationsOf(whole), reason, /*haveOtherUsers=*/true))
    return product;
  product.erase();
  undo();
  refuse(reason);
  return {};
}

void Chainer::run() {
  if (!peel() || isUsedElsewhere())
    return;
  pullFactor();
  MatmulOp product = multiplyPowers();
  if (!product)
    return;
  Value result = product;
  for (auto &[map, by] : llvm::reverse(scalings)) {
    Type element = promoteTypes(typeOf(result).getElement(), typeOf(by).getElement());
    auto type = GraphTensorType::of(b.getContext(), product.getType().sizes(), element);
    result = MapOp::create(b, map.getLoc(), type, map.getKind(), ValueRange{result, by});
  }
  if (result.getType() != second.getType())
    result = CastOp::create(b, second.getLoc(), second.getType(), result);
  second.replaceAllUsesWith(result);
  second.erase();
  chain->second = second = product;
  ++productsChained;
  LDBG() << "chained: " << *product;
  sinkOthers();
}

void tile::graph::eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}

namespace {
struct GraphChainProductsPass
    : public tile::graph::impl::GraphChainProductsPassBase<GraphChainProductsPass> {
  using GraphChainProductsPassBase::GraphChainProductsPassBase;
  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    separateViews(block);
    for (MatmulOp op : llvm::make_early_inc_range(block.getOps<MatmulOp>()))
      Chainer(op).run();
    eraseUnused(block);
    for (MatmulOp op : block.getOps<MatmulOp>())
      if (plain)
        chainPlainly(op);
  }
};
} // namespace
