//===- ReverseLoops.cpp - a second sweep starts where the first one ended --===//
//
// Contract and example: ReverseLoopsPass in passes/schedule/Passes.td.
//
// A cache keeps what was read last. Where rows are longer than the share of it that a program has,
// a second sweep in the order of the first finds nothing: what it wants next has always just gone.
// Backward it finds all that there was room for.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Passes.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Reach.h"
#include "passes/facts/StridedAccess.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_REVERSELOOPSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-reverse-loops"
ALWAYS_ENABLED_STATISTIC(loopsReversed, "loops that go over rows backward");

namespace {
/// What a turn of a loop reads or writes.
struct Access {
  Operation *op;
  Value pointer, mask;
  bool isStore;
};
} // namespace

static std::optional<Access> accessOf(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return Access{op, load.getPtr(), load.getMask(), false};
  if (auto store = dyn_cast<StoreOp>(op))
    return Access{op, store.getPtr(), store.getMask(), true};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Whether the order of turns tells
//===----------------------------------------------------------------------===//

/// What `start` grows by with each step of `loop`'s counter by one; nothing if that is not the same
/// in every turn.
static std::optional<Polynomial> growthOf(const Polynomial &start, scf::ForOp loop) {
  Value counter = loop.getInductionVar();
  Polynomial growth, rest;
  for (Polynomial::Term term : start.terms()) {
    if (auto *factor = llvm::find(term.factors, counter); factor != term.factors.end()) {
      term.factors.erase(factor);
      growth.add(term);
    } else {
      rest.add(term);
    }
  }
  if (!isInvariant(growth, loop) || !isInvariant(rest, loop))
    return std::nullopt;
  return growth;
}

/// One more than the largest index along `dim` that any turn reaches, where the turn with counter c
/// is at indices from `perTurn` * c on: a mask may say so, or the loop's bounds.
static std::optional<Polynomial> reachOf(const Access &access, unsigned dim, int64_t perTurn,
                                         scf::ForOp loop, StridedAnalysis &strided) {
  auto bounds = strided.bounds(access.mask);
  if (!bounds)
    return std::nullopt;
  Polynomial before = Polynomial::constant(perTurn) * Polynomial::variable(loop.getInductionVar());
  for (const Bound &bound : *bounds)
    if (Polynomial reach = bound.limit + before;
        bound.dim == dim && !bound.isLower && isInvariant(reach, loop))
      return reach;
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                         end = getConstantIntValue(loop.getUpperBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!first || !end || !step || *end <= *first)
    return std::nullopt;
  int64_t last = *first + (*end - 1 - *first) / *step * *step;
  return Polynomial::constant(last * perTurn +
                              cast<RankedTensorType>(access.pointer.getType()).getDimSize(dim));
}

/// Whether no two turns of `loop`, which counts up from zero or more in steps of `step`, reach the
/// same element. Rows of a block are apart where each ends before the next one starts.
static bool areApart(const Access &access, scf::ForOp loop, int64_t step,
                     StridedAnalysis &strided) {
  std::optional<StridedPointers> at = strided.pointers(access.pointer);
  if (!at || !at->offset.wraps.empty() || !loop.isDefinedOutsideOfLoop(at->base))
    return false;
  std::optional<Polynomial> grows = growthOf(at->offset.start, loop);
  int64_t growth = grows ? grows->asConstant().value_or(0) : 0;
  if (growth <= 0)
    return false;
  auto type = dyn_cast<RankedTensorType>(access.pointer.getType());
  if (!type)
    return true;
  std::optional<unsigned> columns, rows;
  int64_t perTurn = 0; // columns that the counter's next value is further on
  for (unsigned d = 0; d < type.getRank(); ++d) {
    const Polynomial &stride = at->offset.strides[d];
    if (type.getDimSize(d) == 1 || stride.isZero())
      continue;
    int64_t apart = stride.asConstant().value_or(0);
    bool areColumns =
        apart > 0 && growth % apart == 0 && growth / apart * step >= type.getDimSize(d);
    if (areColumns ? columns.has_value() : rows.has_value())
      return false;
    (areColumns ? columns : rows) = d;
    if (areColumns)
      perTurn = growth / apart;
  }
  // One row or one element is all there is of the block; rows alone are not known to be apart.
  if (!rows || !columns)
    return !rows;
  std::optional<Polynomial> reach = reachOf(access, *columns, perTurn, loop, strided);
  if (!reach)
    return false;
  Polynomial row = *reach * at->offset.strides[*columns];
  const Polynomial &next = at->offset.strides[*rows];
  std::optional<int64_t> needed = row.asConstant(), there = next.asConstant();
  return next == row || (needed && there && *needed > 0 && *there >= *needed);
}

/// Whether the elements of `a` and `b` are the same ones, each in its place.
static bool areAlike(const Access &a, const Access &b, StridedAnalysis &strided) {
  if (a.pointer == b.pointer)
    return true;
  if (a.pointer.getType() != b.pointer.getType())
    return false;
  std::optional<StridedPointers> x = strided.pointers(a.pointer), y = strided.pointers(b.pointer);
  return x && y && x->base == y->base && x->offset.wraps.empty() && y->offset.wraps.empty() &&
         x->offset.start == y->offset.start && llvm::equal(x->offset.strides, y->offset.strides);
}

static Type pointeeOf(const Access &access) {
  return cast<PtrType>(getElementTypeOrSelf(access.pointer.getType())).getPointee();
}

static ArrayRef<int64_t> shapeOf(const Access &access) {
  auto type = dyn_cast<RankedTensorType>(access.pointer.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// Whether `v` is computed from the number of the program.
static bool isOfProgram(Value v, unsigned depth = reach::kFacts) {
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && arg == loop.getInductionVar() && isOfProgram(loop.getLowerBound(), depth);
  }
  Operation *op = v.getDefiningOp();
  return isa<ProgramIdOp>(op) ||
         (depth > 0 && isa<arith::ArithDialect>(op->getDialect()) &&
          llvm::any_of(op->getOperands(), [&](Value o) { return isOfProgram(o, depth - 1); }));
}

/// Whether `load`, through another argument than `store`, may read before or behind any turn. Both
/// may be one array that is worked on in place, as long as each element is read before it is
/// written: by the turn that writes it, then. Not where the elements that are read lie further on
/// by another number in each program: others would write them, whenever they run.
static bool canReadInAnyOrder(const Access &load, const Access &store, scf::ForOp loop,
                              int64_t step, StridedAnalysis &strided) {
  if (getElementBytes(pointeeOf(load)) != getElementBytes(pointeeOf(store)))
    return true; // of different arrays
  std::optional<StridedPointers> x = strided.pointers(load.pointer),
                                 y = strided.pointers(store.pointer);
  if (!x || !y || !x->offset.wraps.empty())
    return false;
  Polynomial further = x->offset.start - y->offset.start;
  if (further.isZero())
    return shapeOf(load) == shapeOf(store) && llvm::equal(x->offset.strides, y->offset.strides) &&
           areApart(load, loop, step, strided);
  return isInvariant(further, loop) &&
         llvm::all_of(further.terms(), [](const Polynomial::Term &term) {
           return llvm::any_of(term.factors, [](Value v) { return isOfProgram(v); });
         });
}

/// What a turn of `loop` accesses, if turns have nothing else to do with each other.
static std::optional<SmallVector<Access>> onlyAccesses(scf::ForOp loop) {
  SmallVector<Access> accesses;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto load = dyn_cast<LoadOp>(op); load && load.getIsVolatile())
      return std::nullopt;
    if (std::optional<Access> access = accessOf(&op))
      accesses.push_back(*access);
    else if (!(isMemoryEffectFree(&op) || isa<AssumeOp>(op)) ||
             (op.getNumRegions() != 0 && !isa<ReduceOp, ScanOp>(op)))
      return std::nullopt;
  }
  return accesses;
}

/// Whether every order of `loop`'s turns gives the same.
static bool hasAnyOrder(scf::ForOp loop, StridedAnalysis &strided) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep()),
                         first = getConstantIntValue(loop.getLowerBound());
  if (loop.getNumResults() != 0 || loop.getUnsignedCmp() || !step || !first || *first < 0)
    return false;
  std::optional<SmallVector<Access>> accesses = onlyAccesses(loop);
  if (!accesses)
    return false;
  for (const Access &store : *accesses) {
    if (!store.isStore)
      continue;
    DenseSet<Value> roots;
    collectRoots(store.pointer, roots);
    if (!llvm::all_of(roots, kernelArgument) || !areApart(store, loop, *step, strided))
      return false;
    for (const Access &other : *accesses) {
      if (other.op == store.op)
        continue;
      bool isFree = comesFrom(other.pointer, roots)
                        ? areAlike(store, other, strided) && areApart(other, loop, *step, strided)
                        : other.isStore || canReadInAnyOrder(other, store, loop, *step, strided);
      if (!isFree)
        return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Whether it pays
//===----------------------------------------------------------------------===//

/// What a loop's turns go over: the arguments that pointers come from which move with its counter.
static DenseSet<Value> rowsOf(scf::ForOp loop, bool onlyLoads) {
  DenseSet<Value> roots;
  loop.walk([&](Operation *op) {
    if (std::optional<Access> access = accessOf(op);
        access && !(onlyLoads && access->isStore) && !loop.isDefinedOutsideOfLoop(access->pointer))
      collectRoots(access->pointer, roots);
  });
  return roots;
}

static bool areSameTurns(scf::ForOp a, scf::ForOp b) {
  return isEqualConstantIntOrValue(a.getLowerBound(), b.getLowerBound()) &&
         isEqualConstantIntOrValue(a.getUpperBound(), b.getUpperBound()) &&
         isEqualConstantIntOrValue(a.getStep(), b.getStep());
}

/// The last loop in front of `loop` that goes over some of the same rows.
static scf::ForOp sweepBefore(scf::ForOp loop, ArrayRef<scf::ForOp> earlier) {
  DenseSet<Value> rows = rowsOf(loop, /*onlyLoads=*/true);
  for (scf::ForOp other : llvm::reverse(earlier))
    if (areSameTurns(loop, other) &&
        llvm::any_of(rowsOf(other, /*onlyLoads=*/false), [&](Value r) { return rows.contains(r); }))
      return other;
  return {};
}

//===----------------------------------------------------------------------===//
// The other way round
//===----------------------------------------------------------------------===//

/// Counts from the last turn down: what the counter is in the loop is last - (counter - first).
static void reverse(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value first = loop.getLowerBound(), step = loop.getStep(), counter = loop.getInductionVar();
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(counter.getType(), 1));
  // A loop that turns at all has its last counter in range; nobody asks where one does not.
  Value most = b.createOrFold<arith::SubIOp>(
      loc, b.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), first), one);
  Value turns = b.createOrFold<arith::DivUIOp>(loc, most, step);
  Value span = b.createOrFold<arith::MulIOp>(loc, turns, step);
  Value last =
      b.createOrFold<arith::AddIOp>(loc, b.createOrFold<arith::AddIOp>(loc, span, first), first);
  b.setInsertionPointToStart(loop.getBody());
  auto back = arith::SubIOp::create(b, loc, last, counter);
  counter.replaceAllUsesExcept(back, back);
  // Of a counter everybody knows it, of a difference nobody: masks of positions rest on it.
  Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(counter.getType(), 0));
  AssumeOp::create(b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, back, zero));
}

namespace {
struct ReverseLoopsPass : tile::impl::ReverseLoopsPassBase<ReverseLoopsPass> {
  using ReverseLoopsPassBase::ReverseLoopsPassBase;

  void runOnOperation() override {
    getOperation().walk([&](Block *block) {
      SmallVector<scf::ForOp> loops(block->getOps<scf::ForOp>());
      DenseSet<Operation *> reversed;
      for (auto [i, loop] : llvm::enumerate(loops)) {
        scf::ForOp before = sweepBefore(loop, ArrayRef(loops).take_front(i));
        StridedAnalysis strided;
        if (!before || reversed.contains(before) || !hasAnyOrder(loop, strided))
          continue;
        LDBG() << "backward: " << loop.getLoc();
        reverse(loop);
        reversed.insert(loop);
        ++loopsReversed;
      }
    });
  }
};
} // namespace
