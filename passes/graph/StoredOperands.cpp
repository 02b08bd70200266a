//===- StoredOperands.cpp - operands that are computed before a product ---===//
#include "passes/graph/StoredOperands.h"
#include "mlir/IR/IRMapping.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/Sources.h"
#include "target/tuning/ComputedOperands.h"
#include "text/Format.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHSTOREOPERANDSPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile;
using namespace tile::graph;

#define DEBUG_TYPE "graph-store-operands"
ALWAYS_ENABLED_STATISTIC(operandsStored, "operands of products that kernels of their own compute");

double tile::graph::slotsOf(MapOp op) {
  const ComputedOperandTuning &tuning = kComputedOperands;
  bool isWhole = cast<GraphTensorType>(op.getType()).getElement().isInteger();
  switch (op.getKind()) {
  case MapKind::neg:
  case MapKind::abs:
  case MapKind::relu:
  case MapKind::isnan:
  case MapKind::isinf:
  case MapKind::square:
  case MapKind::logical_not:
  case MapKind::invert:
  case MapKind::add:
  case MapKind::sub:
  case MapKind::mul:
  case MapKind::maximum:
  case MapKind::minimum:
  case MapKind::bit_and:
  case MapKind::bit_or:
  case MapKind::bit_xor:
  case MapKind::shift_left:
  case MapKind::shift_right:
  case MapKind::eq:
  case MapKind::ne:
  case MapKind::lt:
  case MapKind::le:
  case MapKind::gt:
  case MapKind::ge:
  case MapKind::select:
    return tuning.slotsOfSimple;
  case MapKind::div:
    return isWhole ? tuning.slotsOfCurve : tuning.slotsOfSpecial;
  case MapKind::exp:
  case MapKind::exp2:
  case MapKind::log:
  case MapKind::log2:
  case MapKind::sqrt:
  case MapKind::rsqrt:
  case MapKind::reciprocal:
  case MapKind::sigmoid:
  case MapKind::silu:
  case MapKind::floor:
  case MapKind::ceil:
  case MapKind::round:
  case MapKind::trunc:
  case MapKind::sign:
    return tuning.slotsOfSpecial;
  case MapKind::lgamma:
    return tuning.slotsOfSeries;
  default:
    return tuning.slotsOfCurve;
  }
}

double tile::graph::slotsOf(const KernelShape &operand) {
  double slots = 0;
  bool isComputed = false; // or only somewhere in an array
  for (auto &[value, form] : operand.forms) {
    Operation *op = form.row && form.column ? value.getDefiningOp() : nullptr;
    isComputed |= isa_and_nonnull<MapOp, CastOp>(op);
    if (auto map = dyn_cast_or_null<MapOp>(op))
      slots += slotsOf(map);
    else if (isa_and_nonnull<GatherOp>(op))
      slots += kComputedOperands.slotsToGather;
    else if (isa_and_nonnull<CastOp>(op))
      slots += kComputedOperands.slotsOfSimple;
  }
  return isComputed ? slots + kComputedOperands.slotsToMove : 0;
}

Value tile::graph::valueToStore(Value value) {
  while (auto view = value.getDefiningOp<RearrangeOp>())
    value = view.getSrc();
  bool isComputed = value.getDefiningOp() && isa<MapOp, CastOp>(value.getDefiningOp());
  return isComputed ? value : Value();
}

SmallVector<unsigned> tile::graph::arraysBehind(Value value) {
  SmallVector<unsigned> arrays;
  visitSources(value, [&](Value source) {
    if (auto array = dyn_cast<BlockArgument>(source))
      arrays.push_back(array.getArgNumber());
    return true;
  });
  return arrays;
}

bool tile::graph::canStoreOperands(const KernelShape &shape) {
  // What is written in the place of an array is so by the array's number.
  return shape.product && !shape.product->chain && shape.beside.empty() &&
         !shape.op->hasAttr(kInPlaceAttr) && !shape.op->hasAttr(kSideBySideAttr);
}

/// The operations that compute `value`, in order.
static SmallVector<Operation *> operationsOf(Value value) {
  llvm::SmallPtrSet<Operation *, 16> slice;
  visitSources(value, [&](Value source) {
    return source.getDefiningOp() && slice.insert(source.getDefiningOp()).second;
  });
  SmallVector<Operation *> ops(slice.begin(), slice.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// A kernel of `value` of the kernel `op`, in front of it.
static Value storeValue(KernelOp op, Value value, StringRef name) {
  OpBuilder b(op);
  Block &body = op.getBody().front();
  SmallVector<unsigned> arrays = arraysBehind(value);
  llvm::sort(arrays);
  arrays.erase(llvm::unique(arrays), arrays.end());
  SmallVector<Value> inputs =
      llvm::map_to_vector(arrays, [&](unsigned i) { return op->getOperand(i); });
  auto kernel =
      KernelOp::create(b, value.getLoc(), TypeRange{value.getType()}, name, inputs, ArrayAttr());
  Block *inside = &kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (auto [array, input] : llvm::zip_equal(arrays, inputs))
    mapping.map(body.getArgument(array), inside->addArgument(input.getType(), input.getLoc()));
  b.setInsertionPointToEnd(inside);
  for (Operation *inner : operationsOf(value))
    b.clone(*inner, mapping);
  graph::YieldOp::create(b, kernel.getLoc(), ValueRange{mapping.lookup(value)});
  ++operandsStored;
  LDBG() << kernel.getName() << " stores what " << KernelOp(op).getName() << " multiplies";
  return kernel->getResult(0);
}

/// The same kernel without what nothing in it needs any more.
static KernelOp withoutUnused(KernelOp op) {
  Block &body = op.getBody().front();
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(body)))
    if (inner.use_empty() && !inner.hasTrait<OpTrait::IsTerminator>())
      inner.erase();
  SmallVector<Value> inputs;
  for (unsigned i = body.getNumArguments(); i-- > 0;)
    if (body.getArgument(i).use_empty())
      body.eraseArgument(i);
    else
      inputs.push_back(op->getOperand(i));
  std::reverse(inputs.begin(), inputs.end());
  OpBuilder b(op);
  auto made = KernelOp::create(b, op.getLoc(), op->getResultTypes(), op.getName(), inputs,
                               op.getReasonsAttr());
  made.getBody().takeBody(op.getBody());
  op->replaceAllUsesWith(made);
  op->erase();
  return made;
}

KernelOp tile::graph::storeOperands(KernelOp op, bool left, bool right) {
  Block &body = op.getBody().front();
  SmallVector<MatmulOp> products(body.getOps<MatmulOp>());
  SmallVector<Attribute> reasons;
  if (ArrayAttr own = op.getReasonsAttr())
    reasons.append(own.begin(), own.end());
  auto store = [&](Value operand, StringRef side, StringRef blocks, StringRef which) {
    Value value = valueToStore(operand);
    if (!value)
      return;
    Value array = storeValue(op, value, formatted("{}_{}{}", op.getName(), side, which));
    op->insertOperands(op->getNumOperands(), array);
    // From now on it is an array for other products, too.
    value.replaceAllUsesWith(body.addArgument(array.getType(), value.getLoc()));
    std::string reason = formatted("a product's {} operand, computed for each block of {} again, "
                                   "would take longer than to store it",
                                   side, blocks);
    reasons.push_back(StringAttr::get(op.getContext(), reason));
  };
  for (auto [i, product] : llvm::enumerate(products)) {
    std::string which = i == 0 ? "" : std::to_string(i);
    if (left)
      store(product.getLhs(), "left", "columns", which);
    if (right)
      store(product.getRhs(), "right", "rows", which);
  }
  op.setReasonsAttr(reasons.empty() ? ArrayAttr() : ArrayAttr::get(op.getContext(), reasons));
  return withoutUnused(op);
}

namespace {
struct GraphStoreOperandsPass
    : public tile::graph::impl::GraphStoreOperandsPassBase<GraphStoreOperandsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<KernelOp> kernels(function.getBody().front().getOps<KernelOp>());
    for (KernelOp op : kernels)
      if (canStoreOperands(shapeOf(op)))
        storeOperands(op, /*left=*/true, /*right=*/true);
  }
};
} // namespace
