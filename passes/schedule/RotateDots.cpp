//===- RotateDots.cpp - results of products used under the next product ---===//
//
// A part of tile-overlap-dots, for loops with one product whose result is scaled,
// added up or otherwise used element by element. An iteration issues its product
// and only then uses the result of the one before, so that the tensor cores do not
// wait for the arithmetic; the order of additions stays.
//
//   for k:                     for k, four at a time:
//     wait                       wait; d0 = dot
//     d = dot            =>      wait; d1 = dot; sum += d0 * s0
//     release                    wait; d2 = dot; sum += d1 * s1
//     sum += d * s               wait; d3 = dot; sum += d2 * s2; sum += d3 * s3
//                              for k, the rest:  as before
//
// Between two rounds nothing is in flight: the assembler serialises all products
// of a loop that reads, behind its back edge, a result that was in flight there.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/RotateDots.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Rounds.h"
#include "passes/facts/EqualRuns.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

namespace {

class Rotation {
public:
  explicit Rotation(scf::ForOp loop) : loop(loop), tuning(tuningOf(loop)) {}
  bool match();
  void rewrite();

private:
  /// Values of one turn, from its first half to its second.
  struct Turn {
    Value product;
    SmallVector<Value> kept;    ///< what the late operations read, in the order of `captured`
    SmallVector<Value> carried; ///< values of the early loop-carried variables
  };

  bool matchRings();
  bool findLate();
  void addWhatOnlyFeedsLate();
  bool findArguments(const DenseSet<Value> &late);
  bool fits();

  Turn issue(OpBuilder &b, Value index, ValueRange early);
  SmallVector<Value> use(OpBuilder &b, const Turn &turn, ValueRange late);
  SmallVector<Value> merge(ValueRange early, ValueRange late) const;

  scf::ForOp loop;
  const Tuning &tuning;
  cta::WarpgroupDotOp dot;
  SmallVector<cta::RingReleaseOp, 2> releases; ///< of the slots that the product reads
  DenseSet<Operation *> lateOps;               ///< element by element, run when the product is done
  SmallVector<Value> captured;                 ///< early values that late operations read
  SmallVector<unsigned> earlyArgs, lateArgs;
};

} // namespace

bool Rotation::match() {
  auto step = getConstantIntValue(loop.getStep());
  if (!step || *step <= 0)
    return false;
  unsigned dots = 0;
  loop.walk([&](cta::WarpgroupDotOp op) {
    dot = op;
    ++dots;
  });
  if (dots != 1 || dot->getBlock() != loop.getBody() || dot.getInFlight() || dot.getPromote())
    return false;
  if (!startsAnew(dot.getAcc()))
    return false;
  return matchRings() && findLate() && fits();
}

/// Both operands come from slots that only this product reads (what else is in a slot
/// goes to registers first), and that can be kept while the next ones are waited for.
bool Rotation::matchRings() {
  SmallPtrSet<Operation *, 2> waits;
  for (Value operand : dot->getOperands().take_front(2)) {
    auto wait = operand.getDefiningOp<cta::RingWaitOp>();
    if (!wait || wait->getBlock() != loop.getBody())
      return false;
    if (!waits.insert(wait).second)
      continue;
    auto ring = wait.getRing().getDefiningOp<cta::RingOp>();
    if (!ring || ring.getStages() < 2 || !llvm::all_of(wait->getUsers(), [&](Operation *user) {
          return user == dot || isa<cta::ReadOp>(user);
        }))
      return false;
    for (Operation *user : wait.getRing().getUsers())
      if (auto release = dyn_cast<cta::RingReleaseOp>(user);
          release && release->getBlock() == loop.getBody() && dot->isBeforeInBlock(release))
        releases.push_back(release);
  }
  return releases.size() == waits.size() &&
         llvm::none_of(releases, [](cta::RingReleaseOp r) { return bool(r.getCondition()); });
}

/// What depends on the product, and what is needed for nothing else.
bool Rotation::findLate() {
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  auto args = loop.getRegionIterArgs();
  DenseSet<Value> late{dot.getResult()}; // known only once the product is
  for (size_t before = 0; before != late.size();) {
    before = late.size();
    for (Operation &op : body->without_terminator())
      if (&op != dot && llvm::any_of(op.getOperands(), [&](Value v) { return late.contains(v); })) {
        if (!isElementByElement(&op))
          return false;
        lateOps.insert(&op);
        late.insert(op.getResult(0));
      }
    for (auto [arg, next] : llvm::zip_equal(args, yield->getOperands()))
      if (late.contains(next))
        late.insert(arg);
  }
  addWhatOnlyFeedsLate();
  if (!findArguments(late))
    return false;
  // Nothing nested reads what is late.
  WalkResult nested = loop->walk([&](Operation *op) {
    bool isNested = op != loop && op->getBlock() != body;
    return isNested && llvm::any_of(op->getOperands(),
                                    [&](Value v) {
                                      return late.contains(v) ||
                                             lateOps.contains(v.getDefiningOp());
                                    })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !lateArgs.empty() && !nested.wasInterrupted();
}

/// Scales, say, that are multiplied with each other for the next iteration: they may still be
/// on their way from memory when the product is issued.
void Rotation::addWhatOnlyFeedsLate() {
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  auto onlyFeedsLate = [&](OpOperand &use) {
    if (use.getOwner() != yield)
      return lateOps.contains(use.getOwner());
    return llvm::all_of(loop.getRegionIterArgs()[use.getOperandNumber()].getUsers(),
                        [&](Operation *user) { return lateOps.contains(user); });
  };
  for (size_t before = 0; before != lateOps.size();) {
    before = lateOps.size();
    for (Operation &op : llvm::reverse(body->without_terminator()))
      if (isElementByElement(&op) && llvm::all_of(op.getUses(), onlyFeedsLate))
        lateOps.insert(&op);
  }
}

/// Which variables of the loop are late, and what late operations read of the others; false if
/// the two cannot be told apart.
bool Rotation::findArguments(const DenseSet<Value> &late) {
  Block *body = loop.getBody();
  for (auto [index, next] : llvm::enumerate(body->getTerminator()->getOperands())) {
    bool isLate =
        late.contains(loop.getRegionIterArgs()[index]) || lateOps.contains(next.getDefiningOp());
    (isLate ? lateArgs : earlyArgs).push_back(index);
    // Two variables that swap, say: rare, and not worth more code.
    if (isLate && !lateOps.contains(next.getDefiningOp()))
      return false;
  }
  SetVector<Value> read;
  for (Operation &op : body->without_terminator())
    for (Value v : op.getOperands()) {
      auto arg = dyn_cast<BlockArgument>(v);
      bool isLateArg = arg && arg.getOwner() == body && arg != loop.getInductionVar() &&
                       llvm::is_contained(lateArgs, arg.getArgNumber() - 1);
      if (!lateOps.contains(&op)) {
        if (isLateArg)
          return false;
        continue;
      }
      if (v.getParentBlock() == body && !isLateArg && v != dot.getResult() &&
          !lateOps.contains(v.getDefiningOp()))
        read.insert(v);
    }
  captured = read.takeVector();
  return true;
}

bool Rotation::fits() {
  int64_t registers = 2 * registersOf(dot.getType());
  if (registers < 2 * tuning.rotateLeastRegisters)
    return false;
  for (Value v : captured)
    registers += 2 * distinctRegistersOf(v);
  registers += registersOfTurn(loop);
  return registers <= tuning.mostRegistersUnderProducts;
}

/// One iteration up to and with its product, which is in flight.
Rotation::Turn Rotation::issue(OpBuilder &b, Value index, ValueRange early) {
  IRMapping map;
  map.map(loop.getInductionVar(), index);
  for (auto [arg, value] : llvm::zip_equal(earlyArgs, early))
    map.map(loop.getRegionIterArg(arg), value);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (lateOps.contains(&op))
      continue;
    if (auto release = dyn_cast<cta::RingReleaseOp>(op);
        release && llvm::is_contained(releases, release))
      cta::RingAdvanceOp::create(b, op.getLoc(), release.getRing());
    else
      b.clone(op, map);
  }
  Turn turn;
  turn.product = map.lookup(dot.getResult());
  turn.product.getDefiningOp<cta::WarpgroupDotOp>().setInFlight(true);
  for (Value v : captured)
    turn.kept.push_back(map.lookupOrDefault(v));
  for (unsigned arg : earlyArgs)
    turn.carried.push_back(map.lookupOrDefault(loop.getBody()->getTerminator()->getOperand(arg)));
  return turn;
}

/// The rest of an iteration, once its product is done; one that was issued behind it
/// stays in flight.
SmallVector<Value> Rotation::use(OpBuilder &b, const Turn &turn, ValueRange late) {
  Location loc = dot.getLoc();
  auto done = cta::WarpgroupWaitOp::create(b, loc, turn.product.getType(), turn.product);
  Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (cta::RingReleaseOp release : releases)
    cta::RingReleaseOp::create(b, release.getLoc(), release.getRing(), always);
  IRMapping map;
  map.map(dot.getResult(), done.getResult());
  for (auto [from, to] : llvm::zip_equal(captured, turn.kept))
    map.map(from, to);
  for (auto [arg, value] : llvm::zip_equal(lateArgs, late))
    map.map(loop.getRegionIterArg(arg), value);
  for (Operation &op : loop.getBody()->without_terminator())
    if (lateOps.contains(&op))
      b.clone(op, map);
  SmallVector<Value> next;
  for (unsigned arg : lateArgs)
    next.push_back(map.lookup(loop.getBody()->getTerminator()->getOperand(arg)));
  return next;
}

/// In the order of the loop's variables.
SmallVector<Value> Rotation::merge(ValueRange early, ValueRange late) const {
  SmallVector<Value> all(early.size() + late.size());
  for (auto [arg, value] : llvm::zip_equal(earlyArgs, early))
    all[arg] = value;
  for (auto [arg, value] : llvm::zip_equal(lateArgs, late))
    all[arg] = value;
  return all;
}

void Rotation::rewrite() {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  Type type = lower.getType();
  auto constant = [&](OpBuilder &b, int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  int64_t stride = *getConstantIntValue(step);
  Value middle = endOfRounds(b, loop, tuning.turnsUnderProducts);

  auto split = [&](ValueRange all, SmallVector<Value> &early, SmallVector<Value> &late) {
    for (unsigned arg : earlyArgs)
      early.push_back(all[arg]);
    for (unsigned arg : lateArgs)
      late.push_back(all[arg]);
  };
  auto body = [&](OpBuilder &b, Location, Value index, ValueRange args, unsigned count) {
    SmallVector<Value> early, late;
    split(args, early, late);
    Turn before;
    for (unsigned i = 0; i < count; ++i) {
      Value own = i ? arith::AddIOp::create(b, loc, index, constant(b, i * stride)) : index;
      Turn turn = issue(b, own, i ? ValueRange(before.carried) : ValueRange(early));
      if (i)
        late = use(b, before, late);
      before = std::move(turn);
    }
    late = use(b, before, late);
    scf::YieldOp::create(b, loc, merge(before.carried, late));
  };
  auto main = scf::ForOp::create(
      b, loc, lower, middle, constant(b, tuning.turnsUnderProducts * stride), loop.getInitArgs(),
      [&](OpBuilder &b, Location l, Value i, ValueRange args) {
        body(b, l, i, args, tuning.turnsUnderProducts);
      });
  auto rest = scf::ForOp::create(
      b, loc, middle, upper, step, main.getResults(),
      [&](OpBuilder &b, Location l, Value i, ValueRange args) { body(b, l, i, args, 1); });
  for (scf::ForOp made : {main, rest})
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  loop.replaceAllUsesWith(rest.getResults());
  loop.erase();
}

bool tile::rotateDot(scf::ForOp loop) {
  Rotation rotation(loop);
  if (!rotation.match())
    return false;
  rotation.rewrite();
  return true;
}
