//===- LoadOnce.cpp - of what a block has several times, one is loaded -----===//
//
// Contract and example: LoadOncePass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
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
  Thinner(func::FuncOp kernel, AxisInfoAnalysis &axes, int64_t size, int64_t run)
      : b(kernel.getContext()), axes(axes), size(size), run(run) {}
  bool canThin(Value v, unsigned axis);
  bool climbs(Value v, unsigned axis, unsigned depth);
  Value thin(Value v, unsigned axis);

private:
  bool isUniform(Value v, unsigned axis);
  bool countsUp(Value v, unsigned axis, unsigned depth);
  Value countOfRuns(Value v, unsigned axis);
  RankedTensorType thinType(Value v, unsigned axis);
  Value sameNumber(RankedTensorType type, int64_t number, Location loc);
  Value thinResult(Operation *op, unsigned axis);
  Value thinCarried(BlockArgument arg, unsigned axis);
  void forget(ArrayRef<BlockArgument> old, Block *body);

  IRRewriter b;
  AxisInfoAnalysis &axes; ///< asked before anything is thinned, but for what no loop carries
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

/// Whether all elements along `axis` are one.
bool Thinner::isUniform(Value v, unsigned axis) {
  RankedTensorType type = blockOf(v);
  return !type || type.getDimSize(axis) == 1 ||
         axes.get(v).constancy(axis) >= type.getDimSize(axis);
}

/// The divisor of a signed division by a number, or by a power of two that a shift stands for; 0
/// for others.
static int64_t divisorOf(Operation *op) {
  APInt number;
  if (!isa_and_nonnull<arith::DivSIOp, arith::ShRSIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&number)))
    return 0;
  if (isa<arith::DivSIOp>(op))
    return number.getSExtValue();
  return number.ult(31) ? int64_t(1) << number.getZExtValue() : 0;
}

/// Whether `v` is a multiple of the run, the same for all, and a range that starts at one: then its
/// quotients by the run are a range, too.
bool Thinner::countsUp(Value v, unsigned axis, unsigned depth) {
  Operation *op = v.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (auto range = dyn_cast<MakeRangeOp>(op))
    return range.getStart() % run == 0;
  if (auto sum = dyn_cast<arith::AddIOp>(op)) {
    auto isSum = [&](Value same, Value range) {
      return isUniform(same, axis) && axes.get(same).divisibility(axis) % run == 0 &&
             countsUp(range, axis, depth - 1);
    };
    return isSum(sum.getLhs(), sum.getRhs()) || isSum(sum.getRhs(), sum.getLhs());
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op); broadcast && isUniform(broadcast.getSrc(), axis))
    return false;
  return isa<ExpandDimsOp, BroadcastOp, TransOp, HintOp, arith::ExtSIOp>(op) &&
         countsUp(op->getOperand(0), axisBefore(op, axis), depth - 1);
}

/// What `v`, which counts up, gives divided by the run, once for each run.
Value Thinner::countOfRuns(Value v, unsigned axis) {
  Operation *op = v.getDefiningOp();
  RankedTensorType type = thinType(v, axis);
  Location loc = op->getLoc();
  if (auto range = dyn_cast<MakeRangeOp>(op)) {
    b.setInsertionPointAfter(op);
    return MakeRangeOp::create(b, loc, type, int32_t(range.getStart() / run),
                               int32_t((range.getStart() + size) / run));
  }
  if (auto sum = dyn_cast<arith::AddIOp>(op)) {
    bool isLeft = isUniform(sum.getLhs(), axis);
    Value same = thin(isLeft ? sum.getLhs() : sum.getRhs(), axis);
    Value range = countOfRuns(isLeft ? sum.getRhs() : sum.getLhs(), axis);
    b.setInsertionPointAfter(op);
    same = arith::DivSIOp::create(b, loc, same, sameNumber(type, run, loc));
    return arith::AddIOp::create(b, loc, same, range);
  }
  Value operand = countOfRuns(op->getOperand(0), axisBefore(op, axis));
  if (isa<HintOp>(op))
    return operand;
  b.setInsertionPointAfter(op);
  Operation *copy = b.clone(*op);
  copy->setOperand(0, operand);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Whether addresses along `axis` follow one another once each run of equal ones is one: they are
/// not contiguous as they stand, and what is made of them is.
bool Thinner::climbs(Value v, unsigned axis, unsigned depth) {
  if (depth == 0)
    return false;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(arg) : nullptr;
    return init && climbs(init->get(), axis, depth - 1);
  }
  Operation *op = v.getDefiningOp();
  if (isa<AddPtrOp, arith::AddIOp>(op)) {
    Value left = op->getOperand(0), right = op->getOperand(1);
    return (isUniform(left, axis) && climbs(right, axis, depth - 1)) ||
           (isUniform(right, axis) && climbs(left, axis, depth - 1));
  }
  if (divisorOf(op) == run)
    return countsUp(op->getOperand(0), axis, reach::kOperands + reach::kChanges);
  return isa<ExpandDimsOp, BroadcastOp, TransOp, HintOp, arith::ExtSIOp>(op) &&
         blockOf(op->getOperand(0)).getDimSize(axisBefore(op, axis)) == size &&
         climbs(op->getOperand(0), axisBefore(op, axis), depth - 1);
}

RankedTensorType Thinner::thinType(Value v, unsigned axis) {
  RankedTensorType whole = blockOf(v);
  SmallVector<int64_t> shape(whole.getShape());
  shape[axis] = size / run;
  return RankedTensorType::get(shape, whole.getElementType());
}

Value Thinner::sameNumber(RankedTensorType type, int64_t number, Location loc) {
  return arith::ConstantOp::create(
      b, loc, type, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), number)));
}

Value Thinner::thinResult(Operation *op, unsigned axis) {
  RankedTensorType type = thinType(op->getResult(0), axis);
  Location loc = op->getLoc();
  if (divisorOf(op) == run && countsUp(op->getOperand(0), axis, reach::kOperands + reach::kChanges))
    return countOfRuns(op->getOperand(0), axis);
  b.setInsertionPointAfter(op);
  if (auto range = dyn_cast<MakeRangeOp>(op)) {
    Value numbers = MakeRangeOp::create(b, loc, type, 0, int32_t(size / run));
    numbers = arith::MulIOp::create(b, loc, numbers, sameNumber(type, run, loc));
    if (range.getStart() == 0)
      return numbers;
    return arith::AddIOp::create(b, loc, numbers, sameNumber(type, range.getStart(), loc));
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

/// How a block becomes operands of products, and of nothing else.
enum class Multiplied { No, AfterLookup, Elementwise };

/// What becomes of `v`: AfterLookup if it is reshaped or says which number of a table is
/// multiplied.
static Multiplied multiplied(Value v, unsigned depth, unsigned &budget) {
  Multiplied least = v.use_empty() ? Multiplied::No : Multiplied::Elementwise;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (auto dot = dyn_cast<DotOp>(user); dot && dot.getAcc() != v)
      continue;
    auto gather = dyn_cast<GatherOp>(user);
    bool isLookup = isa<ReshapeOp>(user) || (gather && gather.getIndex() == v);
    bool isElementwise = user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1;
    if (budget == 0 || depth == 0 || !(isElementwise || isLookup || isa<TransOp>(user)))
      return Multiplied::No;
    --budget;
    least = std::min(least, multiplied(user->getResult(0), depth - 1, budget));
    if (isLookup)
      least = std::min(least, Multiplied::AfterLookup);
    if (least == Multiplied::No)
      return least;
  }
  return least;
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

/// Whether words of what is loaded along `axis` lie side by side, behind one condition: what can be
/// copied ahead.
static bool isInWords(LoadOp load, unsigned axis) {
  constexpr int64_t kWordBytes = 4;
  AxisInfoAnalysis axes(load->getParentOfType<func::FuncOp>()); // with what was made for it
  const AxisInfo &info = axes.get(load.getPtr());
  int64_t bytes =
      getElementBytes(cast<PtrType>(getElementType(load.getPtr().getType())).getPointee());
  int64_t run = std::min(info.contiguity(axis) * bytes, info.divisibility(axis));
  if (Value mask = load.getMask(); mask && blockOf(mask))
    run = std::min(run, axes.get(mask).constancy(axis) * bytes);
  return run >= kWordBytes;
}

static bool loadOnce(func::FuncOp kernel, LoadOp load, ArrayRef<int64_t> runs, Multiplied use) {
  AxisInfoAnalysis axes(kernel); // facts do not outlive what they are about
  unsigned axis = unsigned(llvm::max_element(runs) - runs.begin());
  RankedTensorType type = blockOf(load.getResult());
  int64_t run = runs[axis];
  Thinner thinner(kernel, axes, type.getDimSize(axis), run);
  if (use == Multiplied::AfterLookup && !thinner.climbs(load.getPtr(), axis, reach::kJoined))
    return false;
  for (Value operand : load->getOperands())
    if (blockOf(operand) && !thinner.canThin(operand, axis))
      return false;
  SmallVector<Value> operands;
  for (Value operand : load->getOperands())
    operands.push_back(blockOf(operand) ? thinner.thin(operand, axis) : operand);
  OpBuilder b(load);
  auto one = cast<LoadOp>(b.clone(*load));
  one->setOperands(operands);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] /= run;
  one->getResult(0).setType(type.clone(shape));
  if (use == Multiplied::AfterLookup && !isInWords(one, axis)) {
    one.erase();
    return true;
  }
  LDBG() << "one of " << run << " along " << axis << ": " << load;
  load.getResult().replaceAllUsesWith(repeated(b, one->getResult(0), axis, type));
  load.erase();
  ++loadsThinned;
  return true;
}

namespace {
struct LoadOncePass : tile::impl::LoadOncePassBase<LoadOncePass> {
  void runOnOperation() override {
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>()) {
      struct Found {
        LoadOp load;
        SmallVector<int64_t, 4> runs;
        Multiplied use;
      };
      SmallVector<Found> loads;
      AxisInfoAnalysis axes(kernel);
      kernel.walk([&](LoadOp load) {
        unsigned budget = reach::kUsersSeen;
        if (!load->getParentOfType<scf::ForOp>())
          return;
        Multiplied use = multiplied(load.getResult(), reach::kJoined, budget);
        if (use == Multiplied::No)
          return;
        SmallVector<int64_t, 4> runs = equalRunsOf(load, axes);
        if (llvm::any_of(runs, [](int64_t run) { return run > 1; }))
          loads.push_back({load, runs, use});
      });
      bool changed = false;
      for (Found &found : loads)
        changed |= loadOnce(kernel, found.load, found.runs, found.use);
      if (changed)
        eraseDeadValues(kernel.getBody().front());
    }
  }
};
} // namespace
