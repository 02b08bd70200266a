//===- NestLoops.cpp - loops over tiles and their steps, in one, apart ----===//
//
// Contract and example: NestLoopsPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/facts/DeadValues.h"
#include "passes/tile/TileSteps.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_NESTLOOPSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-nest-loops"
ALWAYS_ENABLED_STATISTIC(loopsNested, "loops over tiles and their steps that became two");

namespace {

/// The same work as a loop over tiles around one over their steps.
class Nest : TileSteps {
public:
  explicit Nest(scf::ForOp loop) : TileSteps(loop), b(loop) {}
  bool run();

private:
  Value made(Value v, IRMapping &map);
  bool makeChoice(const Choice &choice, IRMapping &map);
  bool build();
  bool makeTile(scf::ForOp outer, Value steps);
  Value tilesOf(Value steps);
  Value number(int64_t n) {
    return arith::ConstantIntOp::create(b, loop.getLoc(), counter.getType(), n);
  }
  void makeSteps(const IRMapping &kept, IRMapping &behind, Value steps);

  OpBuilder b;
};

/// n, where `last` is n - 1.
Value stepsOf(Value last) {
  auto sub = last.getDefiningOp<arith::SubIOp>();
  auto add = last.getDefiningOp<arith::AddIOp>();
  if (sub && isConstantIntValue(sub.getRhs(), 1))
    return sub.getLhs();
  return add && isConstantIntValue(add.getRhs(), -1) ? add.getLhs() : Value();
}

/// `v` in terms of what `map` knows: computed again, where nothing but arithmetic is needed; null
/// if more is.
Value Nest::made(Value v, IRMapping &map) {
  if (Value known = map.lookupOrNull(v))
    return known;
  if (loop.isDefinedOutsideOfLoop(v))
    return v;
  Operation *op = v.getDefiningOp();
  if (!op || op->getBlock() != body || op->getNumRegions() || !isPure(op))
    return {};
  for (Value operand : op->getOperands())
    if (Value m = made(operand, map))
      map.map(operand, m);
    else
      return {};
  b.clone(*op, map);
  return map.lookup(v);
}

/// What `choice` does where its condition holds.
bool Nest::makeChoice(const Choice &choice, IRMapping &map) {
  bool known = true;
  auto need = [&](Value v) {
    Value m = made(v, map);
    known &= bool(m);
    if (m)
      map.map(v, m);
  };
  if (scf::IfOp branch = choice.branch()) {
    for (Operation &op : branch.thenBlock()->without_terminator()) {
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *scope = operand.getParentBlock()->getParentOp();
              !branch->isAncestor(scope))
            need(operand);
      });
      if (known)
        b.clone(op, map);
    }
  }
  SmallVector<Value> results;
  for (unsigned i = 0; i < choice.op->getNumResults() && known; ++i) {
    if (!map.contains(choice.then(i)))
      need(choice.then(i));
    results.push_back(map.lookupOrDefault(choice.then(i)));
  }
  if (known)
    map.map(choice.op->getResults(), results);
  return known;
}

/// The steps of a tile: all that is not done in the first and last alone. `behind` gets what they
/// leave.
void Nest::makeSteps(const IRMapping &kept, IRMapping &behind, Value steps) {
  auto args = loop.getRegionIterArgs();
  auto changes = [&](unsigned i) { return !this->kept[i]; };
  Location loc = loop.getLoc();
  SmallVector<Value> inits;
  for (unsigned i = 0; i < args.size(); ++i)
    if (changes(i))
      inits.push_back(kept.lookup(args[i]));
  auto inner = scf::ForOp::create(b, loc, number(0), steps, number(1), inits);
  inner->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(inner.getBody());
  IRMapping map(kept);
  map.map(next, inner.getInductionVar());
  unsigned n = 0;
  for (unsigned i = 0; i < args.size(); ++i)
    if (changes(i))
      map.map(args[i], inner.getRegionIterArg(n++));
  for (Operation &op : body->without_terminator()) {
    Choice choice{&op};
    auto is = [&](const Choice &c) { return c.op == &op; };
    if (llvm::is_contained(counting, &op) || llvm::any_of(firsts, is))
      continue;
    if (!llvm::any_of(lasts, is)) {
      b.clone(op, map);
      continue;
    }
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      map.map(op.getResult(i), map.lookupOrDefault(choice.otherwise(i)));
  }
  SmallVector<Value> yields;
  for (unsigned i = 0; i < args.size(); ++i)
    if (changes(i)) {
      Value left = inOtherSteps(body->getTerminator()->getOperand(i));
      behind.map(left, inner.getResult(yields.size()));
      yields.push_back(map.lookupOrDefault(left));
    }
  scf::YieldOp::create(b, loc, yields);
}

/// How many whole tiles the turns are. Those behind the last change nothing that anyone sees; nor
/// do those of tiles of no steps, whose last never comes.
Value Nest::tilesOf(Value steps) {
  Location loc = loop.getLoc();
  Value some = b.createOrFold<arith::MaxSIOp>(loc, steps, number(1));
  Value tiles = b.createOrFold<arith::DivSIOp>(loc, loop.getUpperBound(), some);
  Value any = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, steps, number(0));
  return b.createOrFold<arith::SelectOp>(loc, any, tiles, number(0));
}

/// What the loop over tiles does in a turn, and hands on; false if parts of that need more than
/// arithmetic, and would be done twice.
bool Nest::makeTile(scf::ForOp outer, Value steps) {
  auto args = loop.getRegionIterArgs();
  IRMapping known, behind;
  unsigned n = 0;
  for (BlockArgument arg : args)
    if (arg != counter)
      known.map(arg, outer.getRegionIterArg(n++));
  IRMapping first(known);
  first.map(next, number(0));
  for (const Choice &choice : firsts)
    if (!makeChoice(choice, first))
      return false;
  for (auto [arg, value] : llvm::zip(args, kept)) {
    if (!value || arg == counter)
      continue;
    if (value != arg) {
      known.map(value, first.lookup(value));
      known.map(arg, first.lookup(value));
    }
    behind.map(arg, known.lookup(arg));
    behind.map(value, known.lookup(arg));
  }
  makeSteps(known, behind, steps);
  behind.map(next, last);
  for (const Choice &choice : lasts)
    if (!makeChoice(choice, behind))
      return false;
  SmallVector<Value> yields;
  for (auto [arg, value] : llvm::zip(args, body->getTerminator()->getOperands()))
    if (arg != counter && !yields.emplace_back(made(inLastStep(value), behind)))
      return false;
  scf::YieldOp::create(b, loop.getLoc(), yields);
  // Sums that begin with the same for each tile are not handed on.
  for (auto [arg, init, yield] : llvm::zip(outer.getRegionIterArgs(), outer.getInits(), yields))
    if (init == yield)
      arg.replaceAllUsesWith(init);
  return true;
}

bool Nest::build() {
  Value steps = stepsOf(last);
  if (!steps)
    steps = b.createOrFold<arith::AddIOp>(loop.getLoc(), last, number(1));
  SmallVector<Value> inits;
  for (auto [arg, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInits()))
    if (arg != counter)
      inits.push_back(init);
  auto outer = scf::ForOp::create(b, loop.getLoc(), number(0), tilesOf(steps), number(1), inits);
  b.setInsertionPointToStart(outer.getBody());
  bool isMade = makeTile(outer, steps);
  (isMade ? loop : outer).erase();
  return isMade;
}

bool Nest::run() {
  if (!find())
    return false;
  LDBG() << "a loop over tiles, " << last << " steps each but one: " << loop;
  return build();
}

struct NestLoopsPass : tile::impl::NestLoopsPassBase<NestLoopsPass> {
  void runOnOperation() override {
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>()) {
      SmallVector<scf::ForOp> loops;
      kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
      bool changed = false;
      for (scf::ForOp loop : loops)
        if (Nest(loop).run()) {
          ++loopsNested;
          changed = true;
        }
      if (changed)
        eraseDeadValues(kernel.getBody().front());
    }
  }
};
} // namespace
