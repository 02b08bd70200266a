//===- SideBySide.cpp - products of one left operand, side by side -------===//
#include "passes/graph/SideBySide.h"
#include "mlir/IR/IRMapping.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/Sources.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHJOINPRODUCTSPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;

#define DEBUG_TYPE "graph-join-products"
ALWAYS_ENABLED_STATISTIC(kernelsJoined, "kernels that became part of another");

Size tile::graph::columnsOf(const KernelShape &shape) {
  Size columns = product(shape.columns);
  for (const KernelShape &other : shape.beside)
    columns = columns + product(other.columns);
  return columns;
}

std::vector<SmallVector<Operation *>> tile::graph::productsApart(KernelOp op) {
  Block &body = op.getBody().front();
  SmallVector<MatmulOp> products(body.getOps<MatmulOp>());
  std::vector<llvm::SmallPtrSet<Operation *, 16>> taken(products.size());
  std::vector<bool> isStored(products.size());
  for (Value result : body.getTerminator()->getOperands()) {
    llvm::SmallPtrSet<Operation *, 16> slice;
    visitSources(result, [&](Value source) {
      Operation *from = source.getDefiningOp();
      return from && slice.insert(from).second;
    });
    auto isIn = [&](MatmulOp product) { return slice.contains(product); };
    if (llvm::count_if(products, isIn) != 1)
      return {};
    size_t of = llvm::find_if(products, isIn) - products.begin();
    taken[of].insert(slice.begin(), slice.end());
    isStored[of] = true;
  }
  if (products.empty() || llvm::is_contained(isStored, false))
    return {};
  std::vector<SmallVector<Operation *>> apart(products.size());
  for (Operation &inner : body.without_terminator())
    for (auto [ops, of] : llvm::zip_equal(apart, taken))
      if (of.contains(&inner))
        ops.push_back(&inner);
  return apart;
}

/// What a matrix is a view of.
static BlockArgument arrayBehind(Value value) {
  while (auto view = value.getDefiningOp<RearrangeOp>())
    value = view.getSrc();
  return dyn_cast<BlockArgument>(value);
}

namespace {
/// A kernel that may be one with others: what all of them must have in common.
struct Candidate {
  KernelOp op;
  Value left;              ///< the array
  SmallVector<Type> types; ///< of the operands' elements and the result's
  Sizes rows;
  Size inner;
  bool isTurned; ///< the right operands lie column by column
  size_t products;

  bool agrees(const Candidate &other) const {
    return left == other.left && types == other.types && rows == other.rows &&
           inner == other.inner && isTurned == other.isTurned;
  }
};
} // namespace

bool tile::graph::writesParameters(KernelOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  auto updates = function->getAttrOfType<DenseI64ArrayAttr>(kUpdatesAttr);
  if (!updates || updates.empty())
    return false;
  ValueRange written =
      function.getBody().front().getTerminator()->getOperands().take_back(updates.size());
  return op->hasAttr(kInPlaceAttr) || llvm::any_of(op->getResults(), [&](Value result) {
           return llvm::is_contained(written, result);
         });
}

static std::optional<Candidate> candidateOf(KernelOp op) {
  if (writesParameters(op) || op->hasAttr(kSideBySideAttr))
    return std::nullopt;
  SmallVector<MatmulOp> products(op.getBody().front().getOps<MatmulOp>());
  if (products.empty() || productsApart(op).empty())
    return std::nullopt;
  std::optional<Candidate> found;
  for (MatmulOp product : products) {
    auto left = dyn_cast<BlockArgument>(product.getLhs()); // as it lies: others may turn it
    BlockArgument right = arrayBehind(product.getRhs());
    if (!left || !right || left == right || product.getRhs().getType().sizes().size() != 2)
      return std::nullopt;
    Candidate own;
    own.op = op;
    own.left = op->getOperand(left.getArgNumber());
    own.types = {product.getLhs().getType().getElement(), product.getRhs().getType().getElement(),
                 product.getType().getElement()};
    own.products = products.size();
    if (found && (own.left != found->left || own.types != found->types))
      return std::nullopt;
    found = std::move(own);
  }
  KernelShape shape = shapeOf(op);
  if (!shape.product || shape.product->chain)
    return std::nullopt;
  found->rows = shape.rows;
  found->inner = shape.product->inner;
  auto isTurned = [](const KernelShape &right) {
    return right.loads.size() != 1 || !right.loads.front().columnStrides.back().isConstant(1);
  };
  found->isTurned = isTurned(shape.product->right);
  for (auto &[other, right] : shape.product->others)
    if (isTurned(right) != found->isTurned)
      return std::nullopt;
  return found;
}

std::vector<SmallVector<KernelOp>> tile::graph::kernelsToJoin(func::FuncOp function) {
  std::vector<Candidate> all;
  for (KernelOp op : function.getBody().front().getOps<KernelOp>())
    if (std::optional<Candidate> candidate = candidateOf(op))
      all.push_back(std::move(*candidate));
  std::vector<SmallVector<KernelOp>> groups;
  std::vector<bool> isTaken(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (isTaken[i])
      continue;
    SmallVector<KernelOp> group = {all[i].op};
    size_t products = all[i].products;
    auto isThere = [&](Value operand) { // where the first stands
      Operation *source = operand.getDefiningOp();
      return !source || source->isBeforeInBlock(all[i].op);
    };
    for (size_t j = i + 1; j < all.size(); ++j) {
      if (isTaken[j] || !all[j].agrees(all[i]) || products + all[j].products > kMostSideBySide ||
          !llvm::all_of(all[j].op->getOperands(), isThere))
        continue;
      isTaken[j] = true;
      products += all[j].products;
      group.push_back(all[j].op);
    }
    if (group.size() > 1)
      groups.push_back(std::move(group));
  }
  return groups;
}

KernelOp tile::graph::joinKernels(ArrayRef<KernelOp> group) {
  KernelOp first = group.front();
  OpBuilder b(first);
  llvm::SmallSetVector<Value, 8> inputs;
  SmallVector<Type> types;
  SmallVector<Attribute> reasons;
  std::string name = KernelOp(first).getName().str();
  for (KernelOp op : group) {
    inputs.insert(op->operand_begin(), op->operand_end());
    llvm::append_range(types, op->getResultTypes());
    if (ArrayAttr own = op.getReasonsAttr())
      llvm::append_range(reasons, own);
  }
  KernelOp last = group.back();
  auto joined = KernelOp::create(b, last.getLoc(), types, name + "_beside", inputs.getArrayRef(),
                                 reasons.empty() ? ArrayAttr() : b.getArrayAttr(reasons));
  joined->setAttr(kSideBySideAttr, b.getUnitAttr());
  Block *inside = &joined.getBody().emplaceBlock();
  for (Value input : inputs)
    inside->addArgument(input.getType(), input.getLoc());
  b.setInsertionPointToEnd(inside);
  SmallVector<Value> results;
  unsigned next = 0;
  for (KernelOp op : group) {
    Block &body = op.getBody().front();
    IRMapping mapping;
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), op->getOperands()))
      mapping.map(argument, inside->getArgument(llvm::find(inputs, input) - inputs.begin()));
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    for (Value result : body.getTerminator()->getOperands())
      results.push_back(mapping.lookup(result));
    for (Value result : op->getResults())
      result.replaceAllUsesWith(joined->getResult(next++));
  }
  YieldOp::create(b, joined.getLoc(), results);
  for (KernelOp op : group)
    op->erase();
  return joined;
}

namespace {
struct GraphJoinProductsPass
    : public tile::graph::impl::GraphJoinProductsPassBase<GraphJoinProductsPass> {
  void runOnOperation() override {
    for (ArrayRef<KernelOp> group : kernelsToJoin(getOperation())) {
      kernelsJoined += group.size() - 1;
      KernelOp joined = joinKernels(group);
      LDBG() << joined.getName() << ": " << group.size() << " kernels";
    }
  }
};
} // namespace
