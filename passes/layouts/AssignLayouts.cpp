//===- AssignLayouts.cpp - give every block a layout ----------------------===//
//
// Contract and example: AssignLayoutsPass in passes/layouts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/EqualRuns.h"
#include "passes/layouts/Coalesce.h"
#include "passes/layouts/Homes.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/layouts/StagingLayouts.h"
#include "passes/layouts/WantedMultiples.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-assign-layouts"
ALWAYS_ENABLED_STATISTIC(conversionsMade, "conversions between layouts");
ALWAYS_ENABLED_STATISTIC(valuesRecomputed, "values computed again in another layout");

namespace {
class LayoutRewriter {
public:
  LayoutRewriter(func::FuncOp func, LayoutInference &layouts, Coalescing &coalescing)
      : layouts(layouts), coalescing(coalescing), builder(func.getContext()) {}

  void run(func::FuncOp func) {
    for (Block &block : func.getBody())
      rewriteBlock(block);
    // Users have their own copies now.
    for (Operation *op : llvm::reverse(retired))
      if (op->use_empty())
        op->erase();
  }

private:
  void rewriteBlock(Block &block) {
    // Copies and conversions appear before the operation being rewritten.
    for (Operation &op : llvm::make_early_inc_range(block))
      rewrite(&op);
  }
  void rewrite(Operation *op);
  void chooseVector(Operation *op, cta::LayoutAttr layout);
  void rewriteControlFlow(Operation *op);
  void passTo(Operation *terminator, unsigned firstOperand, ValueRange targets);

  /// `byName`: of what is widened behind it, or taken apart; another name for that is none of its
  /// own.
  Value demand(Value value, cta::LayoutAttr layout, bool byName = false);
  Value computeAgain(Operation *op, cta::LayoutAttr layout, bool byName);
  void demandOperand(OpOperand &operand, cta::LayoutAttr layout) {
    operand.set(demand(operand.get(), layout));
  }
  void retype(Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      value.setType(typeIn(type, layouts.natural(value)));
  }
  static RankedTensorType typeIn(RankedTensorType type, cta::LayoutAttr layout) {
    return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
  }
  /// Another name for a block of fewer dimensions: copies, which products read in parts, are of the
  /// block as it was loaded.
  static bool isTakenApart(Value value) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    Operation *op = value.getDefiningOp();
    for (; op && isa<TransOp, ReshapeOp>(op); op = op->getOperand(0).getDefiningOp())
      if (cast<RankedTensorType>(op->getOperand(0).getType()).getRank() < rank)
        return true;
    return false;
  }
  static bool isBlock(Value value) { return isa<RankedTensorType>(value.getType()); }

  LayoutInference &layouts;
  Coalescing &coalescing;
  OpBuilder builder;
  DenseMap<std::pair<Value, Attribute>, Value> known;
  SmallVector<Operation *> retired;
};
} // namespace

/// `value` in `layout`.
Value LayoutRewriter::demand(Value value, cta::LayoutAttr layout, bool byName) {
  Operation *def = value.getDefiningOp();
  bool isDeferred = def && layouts.isDeferred(def);
  if (!isDeferred && layouts.natural(value) == layout)
    return value;
  auto key = std::make_pair(value, Attribute(layout));
  if (Value found = known.lookup(key))
    return found;
  Value result;
  if (isDeferred || isWideningRenamed(def) ||
      (byName && isa_and_nonnull<TransOp, ReshapeOp>(def))) {
    result = computeAgain(def, layout, byName);
    ++valuesRecomputed;
  } else {
    ++conversionsMade;
    LDBG() << "moved to " << layout << ": " << value;
    builder.setInsertionPointAfterValue(value);
    auto type = cast<RankedTensorType>(value.getType());
    result = cta::ConvertLayoutOp::create(builder, value.getLoc(), typeIn(type, layout), value);
  }
  known[key] = result;
  return result;
}

/// A copy of a deferred operation, in its place, that gives `layout`.
Value LayoutRewriter::computeAgain(Operation *op, cta::LayoutAttr layout, bool byName) {
  RankedTensorType type = typeIn(cast<RankedTensorType>(op->getResult(0).getType()), layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    builder.setInsertionPoint(op);
    auto value = cast<DenseElementsAttr>(constant.getValue()).reshape(type);
    return arith::ConstantOp::create(builder, op->getLoc(), type, value);
  }
  SmallVector<Value, 3> operands;
  byName |= isWideningRenamed(op);
  for (Value operand : op->getOperands()) {
    if (isBlock(operand)) {
      auto from = cta::LayoutAttr::get(op->getContext(), operandLayoutFor(op, layout.getLayout()));
      operand = demand(operand, from, byName);
    }
    operands.push_back(operand);
  }
  builder.setInsertionPoint(op);
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

void LayoutRewriter::rewrite(Operation *op) {
  if (layouts.isDeferred(op)) {
    retired.push_back(op);
    return;
  }
  if (isa<scf::SCFDialect>(op->getDialect()))
    return rewriteControlFlow(op);
  bool isProduct = isa<DotOp>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isBlock(operand.get()))
      operand.set(demand(operand.get(), layouts.layoutOfOperand(operand),
                         isProduct && isTakenApart(operand.get())));
  if (cta::LayoutAttr layout = layouts.operandLayout(op))
    chooseVector(op, layout);
  if (auto stage = dyn_cast<cta::StageOp>(op)) {
    cta::BufferType type = stage.getType();
    auto image = cta::LayoutAttr::get(
        op->getContext(),
        cheapestImage(cta::getLayout(stage.getSrc().getType()), type, targetOf(op)));
    stage.getResult().setType(
        cta::BufferType::get(op->getContext(), type.getShape(), type.getElementType(), image));
  }
  for (Value result : op->getResults())
    retype(result);
}

/// The groups in which an access in `layout` moves elements.
void LayoutRewriter::chooseVector(Operation *op, cta::LayoutAttr layout) {
  if (!isa<LoadOp, StoreOp, AtomicRmwOp>(op))
    return;
  unsigned vector = coalescing.vectorFor(op, layout.getLayout());
  if (auto load = dyn_cast<LoadOp>(op))
    load.setVector(vector);
  else if (auto store = dyn_cast<StoreOp>(op))
    store.setVector(vector);
  else
    cast<AtomicRmwOp>(op).setVector(vector);
  if (std::optional<unsigned> run = coalescing.maskRunFor(op, vector))
    op->setAttr(cta::kMaskRunAttr, builder.getI32IntegerAttr(int32_t(*run)));
}

/// Operands from `firstOperand` on arrive where `targets` live.
void LayoutRewriter::passTo(Operation *op, unsigned firstOperand, ValueRange targets) {
  for (auto [operand, target] :
       llvm::zip_equal(op->getOpOperands().drop_front(firstOperand), targets))
    if (isBlock(operand.get()))
      demandOperand(operand, layouts.natural(target));
}

void LayoutRewriter::rewriteControlFlow(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    passTo(op, loop.getNumControlOperands(), loop.getRegionIterArgs());
    for (Value arg : loop.getRegionIterArgs())
      retype(arg);
    rewriteBlock(*loop.getBody());
    passTo(loop.getBody()->getTerminator(), 0, loop.getRegionIterArgs());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        rewriteBlock(block);
        passTo(block.getTerminator(), 0, branch.getResults());
      }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    passTo(op, 0, loop.getBeforeArguments());
    for (Value arg : loop.getBeforeArguments())
      retype(arg);
    rewriteBlock(*loop.getBeforeBody());
    passTo(loop.getConditionOp(), 1, loop.getAfterArguments());
    for (Value arg : loop.getAfterArguments())
      retype(arg);
    rewriteBlock(*loop.getAfterBody());
    passTo(loop.getYieldOp(), 0, loop.getBeforeArguments());
  }
  for (Value result : op->getResults())
    retype(result);
}

/// Whether a thread is known to hold equal elements of `v` once. What comes out of control flow is
/// handed on register by register.
static bool isHeldOnce(Value v) {
  Operation *op = v.getDefiningOp();
  return op && !isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op);
}

/// Notes where equal elements arise, such as in a mask against the end of a row,
/// or are loaded, such as scales of blocks, so that a thread computes or loads one of those it
/// holds; and where remainders count up, so that it divides for the first of them.
static void noteRuns(func::FuncOp func, AxisInfoAnalysis &axes) {
  func.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      SmallVector<int64_t, 4> runs = equalRunsOf(load, axes);
      if (llvm::any_of(runs, [](int64_t run) { return run > 1; }))
        op->setAttr(cta::kEqualRunsAttr, DenseI64ArrayAttr::get(op->getContext(), runs));
      return;
    }
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
        op->getNumOperands() == 0)
      return;
    auto block = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!block || !block.getElementType().isInteger())
      return;
    AxisInfo result = axes.get(op->getResult(0));
    SmallVector<int64_t, 4> runs;
    if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      for (unsigned axis = 0; axis < result.axes.size(); ++axis)
        runs.push_back(
            std::min({result.contiguity(axis), result.divisibility(axis), block.getDimSize(axis)}));
      if (llvm::any_of(runs, [](int64_t run) { return run > 1; }))
        op->setAttr(cta::kEqualRunsAttr, DenseI64ArrayAttr::get(op->getContext(), runs));
      return;
    }
    bool isNew = false;
    for (unsigned axis = 0; axis < result.axes.size(); ++axis) {
      int64_t run = std::min(result.constancy(axis), block.getDimSize(axis));
      int64_t operands = block.getDimSize(axis);
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          operands =
              std::min(operands, isHeldOnce(operand) ? axes.get(operand).constancy(axis) : 1);
      isNew |= run > operands;
      runs.push_back(run);
    }
    if (isNew)
      op->setAttr(cta::kEqualRunsAttr, DenseI64ArrayAttr::get(op->getContext(), runs));
  });
}

/// Layouts are maps between spaces of power-of-two sizes.
static LogicalResult checkShapes(func::FuncOp func) {
  WalkResult result = func.walk([](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto block = dyn_cast<RankedTensorType>(type);
      if (block && !llvm::all_of(block.getShape(), [](int64_t size) {
            return size > 0 && llvm::isPowerOf2_64(uint64_t(size));
          })) {
        op->emitOpError("dimensions of a block must be powers of two, got ") << block;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct AssignLayoutsPass : tile::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    unsigned warps = cta::warpsOfGroup(module);
    if (!llvm::isPowerOf2_32(warps)) {
      module.emitError("the number of warps must be a power of two, got ") << int(warps);
      return signalPassFailure();
    }
    for (func::FuncOp func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(checkShapes(func)))
        return signalPassFailure();
      AxisInfoAnalysis axes(func);
      Coalescing coalescing(func, axes, warps);
      noteRuns(func, axes);
      if (module->hasAttr(kCheckedLaunchAttr))
        noteWantedMultiples(func, coalescing, warps);
      func.walk([](HintOp hint) {
        hint.getResult().replaceAllUsesWith(hint.getSrc());
        hint.erase();
      });
      LayoutInference layouts(func, coalescing);
      LayoutRewriter(func, layouts, coalescing).run(func);
    }
  }
};
} // namespace
