//===- LoadOnce.cpp - of what a block has several times, one is loaded -----===//
//
// Contract and example: LoadOncePass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/Passes.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/EqualRuns.h"
#include "passes/facts/Reach.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_LOADONCEPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-load-once"
ALWAYS_ENABLED_STATISTIC(loadsThinned, "loads of one of each run of equal elements");

static RankedTensorType blockOf(Value v) { return dyn_cast<RankedTensorType>(v.getType()); }

/// The dimension of `axis` in what a renaming of dimensions is made of.
static unsigned axisBefore(Operation *op, unsigned axis) {
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    return axis - (axis > expand.getAxis());
  if (auto trans = dyn_cast<TransOp>(op))
    return unsigned(trans.getOrder()[axis]);
  return axis;
}

namespace {
/// Makes blocks of the first element of each run along an axis.
class Thinner {
public:
  Thinner(func::FuncOp kernel, int64_t size, int64_t run)
      : b(kernel.getContext()), size(size), run(run) {}
  bool canThin(Value v, unsigned axis);
  Value thin(Value v, unsigned axis);

private:
  Value thinResult(Operation *op, unsigned axis);
  Value thinCarried(BlockArgument arg, unsigned axis);
  void forget(ArrayRef<BlockArgument> old, Block *body);

  IRRewriter b;
  int64_t size, run;
  DenseSet<std::pair<Value, unsigned>> asked;
  DenseMap<std::pair<Value, unsigned>, Value> known;
};
} // namespace

bool Thinner::canThin(Value v, unsigned axis) {
  RankedTensorType type = blockOf(v);
  if (!type || type.getDimSize(axis) != size)
    return false;
  if (!asked.insert({v, axis}).second) // around a loop
    return true;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(arg) : nullptr;
    return init && canThin(init->get(), axis) &&
           canThin(loop.getTiedLoopYieldedValue(arg)->get(), axis);
  }
  Operation *op = v.getDefiningOp();
  if (op->getNumRegions() || op->getNumResults() != 1)
    return false;
  auto canThinAll = [&](Operation *op) {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !blockOf(operand) || canThin(operand, axisBefore(op, axis));
    });
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<MakeRangeOp, SplatOp>([](auto) { return true; })
      .Case([](arith::ConstantOp c) { return isa<SplatElementsAttr>(c.getValue()); })
      .Case([&](BroadcastOp o) {
        return blockOf(o.getSrc()).getDimSize(axis) == 1 || canThin(o.getSrc(), axis);
      })
      .Case([&](ExpandDimsOp o) { return axis != o.getAxis() && canThinAll(o); })
      .Case<TransOp, HintOp>([&](auto o) { return canThinAll(o); })
      .Default([&](Operation *o) {
        return o->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(o) && canThinAll(o);
      });
}

Value Thinner::thinResult(Operation *op, unsigned axis) {
  RankedTensorType whole = blockOf(op->getResult(0));
  SmallVector<int64_t> shape(whole.getShape());
  shape[axis] = size / run;
  auto type = RankedTensorType::get(shape, whole.getElementType());
  Location loc = op->getLoc();
  b.setInsertionPointAfter(op);
  auto all = [&](int64_t number) {
    return arith::ConstantOp::create(
        b, loc, type,
        DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), number)));
  };
  if (auto range = dyn_cast<MakeRangeOp>(op)) {
    Value numbers = MakeRangeOp::create(b, loc, type, 0, int32_t(shape[axis]));
    numbers = arith::MulIOp::create(b, loc, numbers, all(run));
    return range.getStart() == 0
               ? numbers
               : arith::AddIOp::create(b, loc, numbers, all(range.getStart())).getResult();
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        b, loc, cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isRepeated = isa<BroadcastOp>(op) && blockOf(operand).getDimSize(axis) == 1;
    operands.push_back(blockOf(operand) && !isRepeated ? thin(operand, axisBefore(op, axis))
                                                       : operand);
  }
  if (isa<HintOp>(op)) // of the whole
    return operands[0];
  b.setInsertionPointAfter(op);
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// The arguments of a loop that another one has replaced are called by their new names.
void Thinner::forget(ArrayRef<BlockArgument> old, Block *body) {
  DenseMap<Value, Value> now;
  for (auto [i, arg] : llvm::enumerate(old))
    now[arg] = body->getArgument(unsigned(i));
  DenseMap<std::pair<Value, unsigned>, Value> renamed;
  auto nameOf = [&](Value v) { return now.contains(v) ? now.lookup(v) : v; };
  for (auto [key, made] : known)
    renamed[{nameOf(key.first), key.second}] = nameOf(made);
  known = std::move(renamed);
}

Value Thinner::thinCarried(BlockArgument arg, unsigned axis) {
  auto loop = cast<scf::ForOp>(arg.getOwner()->getParentOp());
  unsigned index =
      unsigned(loop.getTiedLoopInit(arg)->getOperandNumber()) - loop.getNumControlOperands();
  Value start = thin(loop.getInitArgs()[index], axis);
  unsigned last = loop.getNumRegionIterArgs();
  Operation *yield = loop.getBody()->getTerminator(); // stays, whatever replaces the loop
  SmallVector<BlockArgument> old(loop.getBody()->getArguments());
  b.setInsertionPoint(loop);
  auto same = [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
    return SmallVector<Value>(args.begin(), args.end());
  };
  auto wider = cast<scf::ForOp>(*cast<LoopLikeOpInterface>(loop.getOperation())
                                     .replaceWithAdditionalYields(b, start, false, same));
  forget(old, wider.getBody());
  known[{wider.getRegionIterArg(index), axis}] = wider.getRegionIterArg(last);
  Value next = thin(yield->getOperand(index), axis);
  yield->setOperand(last, next);
  return cast<scf::ForOp>(yield->getParentOp()).getRegionIterArg(last);
}

Value Thinner::thin(Value v, unsigned axis) {
  if (Value made = known.lookup({v, axis}))
    return made;
  if (auto arg = dyn_cast<BlockArgument>(v))
    return thinCarried(arg, axis);
  Value made = thinResult(v.getDefiningOp(), axis);
  known[{v, axis}] = made;
  return made;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Whether products multiply all that becomes of `v`, element by element.
static bool isOnlyMultiplied(Value v, unsigned depth, unsigned &budget) {
  return !v.use_empty() && llvm::all_of(v.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto dot = dyn_cast<DotOp>(user))
      return dot.getAcc() != v;
    if (budget == 0 || depth == 0)
      return false;
    --budget;
    bool isElementwise = user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1;
    return (isElementwise || isa<TransOp>(user)) &&
           isOnlyMultiplied(user->getResult(0), depth - 1, budget);
  });
}

/// `v`, each of whose elements along `axis` is repeated in place to have `type`.
static Value repeated(OpBuilder &b, Value v, unsigned axis, RankedTensorType type) {
  Location loc = v.getLoc();
  RankedTensorType from = blockOf(v);
  if (from.getDimSize(axis) == 1)
    return BroadcastOp::create(b, loc, type, v);
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin() + axis + 1, 1);
  v = ExpandDimsOp::create(b, loc, from.clone(shape), v, axis + 1);
  shape[axis + 1] = type.getDimSize(axis) / from.getDimSize(axis);
  v = BroadcastOp::create(b, loc, from.clone(shape), v);
  return ReshapeOp::create(b, loc, type, v, UnitAttr());
}

static bool loadOnce(func::FuncOp kernel, LoadOp load, ArrayRef<int64_t> runs) {
  unsigned axis = unsigned(llvm::max_element(runs) - runs.begin());
  RankedTensorType type = blockOf(load.getResult());
  int64_t run = runs[axis];
  Thinner thinner(kernel, type.getDimSize(axis), run);
  for (Value operand : load->getOperands())
    if (blockOf(operand) && !thinner.canThin(operand, axis))
      return false;
  LDBG() << "one of " << run << " along " << axis << ": " << load;
  SmallVector<Value> operands;
  for (Value operand : load->getOperands())
    operands.push_back(blockOf(operand) ? thinner.thin(operand, axis) : operand);
  OpBuilder b(load);
  Operation *one = b.clone(*load);
  one->setOperands(operands);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] /= run;
  one->getResult(0).setType(type.clone(shape));
  load.getResult().replaceAllUsesWith(repeated(b, one->getResult(0), axis, type));
  load.erase();
  ++loadsThinned;
  return true;
}

namespace {
struct LoadOncePass : tile::impl::LoadOncePassBase<LoadOncePass> {
  void runOnOperation() override {
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>()) {
      SmallVector<std::pair<LoadOp, SmallVector<int64_t, 4>>> loads;
      AxisInfoAnalysis axes(kernel);
      kernel.walk([&](LoadOp load) {
        unsigned budget = reach::kUsersSeen;
        if (!load->getParentOfType<scf::ForOp>() ||
            !isOnlyMultiplied(load.getResult(), reach::kJoined, budget))
          return;
        SmallVector<int64_t, 4> runs = equalRunsOf(load, axes);
        if (llvm::any_of(runs, [](int64_t run) { return run > 1; }))
          loads.push_back({load, runs});
      });
      bool changed = false;
      for (auto &[load, runs] : loads)
        changed |= loadOnce(kernel, load, runs);
      if (changed)
        eraseDeadValues(kernel.getBody().front());
    }
  }
};
} // namespace
