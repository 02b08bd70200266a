//===- BlockPrograms.cpp - programs of one thread block, side by side -----===//
#include "passes/schedule/BlockPrograms.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/schedule/StoreOnlyIf.h"

using namespace mlir;
using namespace tile;

BlockProgramMaker::BlockProgramMaker(func::FuncOp kernel)
    : kernel(kernel), axis(cta::blockProgramsOf(kernel).axis),
      programs(cta::blockProgramsOf(kernel).count), neighbours(kernel, axis) {}

static Value constant(OpBuilder &b, Location loc, Type type, int64_t n) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, n));
}

//===----------------------------------------------------------------------===//
// Values of single programs
//===----------------------------------------------------------------------===//

Value BlockProgramMaker::programAt(OpBuilder &b, int32_t program) {
  Location loc = kernel.getLoc();
  Value own = arith::AddIOp::create(b, loc, first, constant(b, loc, b.getI32Type(), program));
  return arith::MinSIOp::create(b, loc, own, last);
}

SmallVector<Value> BlockProgramMaker::valuesIn(OpBuilder &b, ValueRange values, int32_t program,
                                               IRMapping &made) {
  auto compute = [&](auto &&self, Value v) -> Value {
    Operation *op = v.getDefiningOp();
    if (made.contains(v) || !op || op->getBlock() != roles->getBlock() ||
        op->isBeforeInBlock(roles))
      return made.lookupOrDefault(v);
    if (auto id = dyn_cast<ProgramIdOp>(op); id && int32_t(id.getAxis()) == axis) {
      made.map(v, programAt(b, program));
      return made.lookup(v);
    }
    SetVector<Value> needed(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), needed);
    for (Value operand : needed)
      self(self, operand);
    b.clone(*op, made);
    return made.lookup(v);
  };
  return llvm::map_to_vector(values, [&](Value v) { return compute(compute, v); });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether `a` is in a turn of one loop what `b` is in that of another, which has its number.
static bool isAlike(Value a, Value b, scf::ForOp of, scf::ForOp other) {
  if (a == b || (a == of.getInductionVar() && b == other.getInductionVar()))
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && isMemoryEffectFree(x) && !x->getNumRegions() && x->getName() == y->getName() &&
         x->getAttrDictionary() == y->getAttrDictionary() &&
         cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         llvm::equal(x->getOperands(), y->getOperands(),
                     [&](Value v, Value w) { return isAlike(v, w, of, other); });
}

static bool isMultiple(Value v, int64_t n) {
  if (std::optional<int64_t> known = getConstantIntValue(v))
    return *known % n == 0;
  Operation *op = v.getDefiningOp();
  auto is = [&](Value operand) { return isMultiple(operand, n); };
  if (isa_and_nonnull<arith::MulIOp>(op))
    return llvm::any_of(op->getOperands(), is);
  return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp>(op) &&
         llvm::all_of(op->getOperands(), is);
}

static bool isNotNegative(Value v) {
  if (std::optional<int64_t> known = getConstantIntValue(v))
    return *known >= 0;
  Operation *op = v.getDefiningOp();
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), isNotNegative);
  return isa_and_nonnull<arith::MulIOp, arith::DivSIOp, arith::MinSIOp, arith::AddIOp>(op)
             ? llvm::all_of(op->getOperands(), isNotNegative)
             : isa_and_nonnull<ProgramIdOp, NumProgramsOp>(op);
}

/// Whether `upper` is known not to be below `lower`.
static bool isNotBelow(Value upper, Value lower) {
  auto most = upper.getDefiningOp<arith::MaxSIOp>();
  return (most && llvm::is_contained(most->getOperands(), lower)) ||
         (isConstantIntValue(lower, 0) && isNotNegative(upper));
}

/// Whether `to` starts where `from` stops, and the same copies are made in both.
bool BlockProgramMaker::goesOn(const Loop &from, const Loop &to) {
  scf::ForOp a = from.loop, b = to.loop;
  std::optional<int64_t> step = getConstantIntValue(a.getStep());
  if (a->getBlock() != roles->getBlock() || b->getBlock() != a->getBlock() ||
      b.getLowerBound() != a.getUpperBound() || !step || *step <= 0 ||
      getConstantIntValue(b.getStep()) != step || a.getUnsignedCmp() || b.getUnsignedCmp() ||
      from.hasScalars || to.hasScalars || from.rings != to.rings)
    return false;
  if (Operation *end = b.getUpperBound().getDefiningOp();
      end && (end->getBlock() != a->getBlock() || !end->isBeforeInBlock(a)))
    return false;
  auto isWhole = [&](Value v) { return isMultiple(v, *step); };
  return isWhole(a.getLowerBound()) && isWhole(a.getUpperBound()) &&
         isNotBelow(a.getUpperBound(), a.getLowerBound()) &&
         llvm::equal(from.loads, to.loads, [&](cta::TmaLoadOp x, cta::TmaLoadOp y) {
           return x.getType() == y.getType() && x.getMap() == y.getMap() &&
                  x.getDims() == y.getDims() &&
                  llvm::equal(x.getStarts(), y.getStarts(),
                              [&](Value v, Value w) { return isAlike(v, w, a, b); });
         });
}

static Value isBelow(OpBuilder &b, scf::ForOp loop, Value lower, Value upper) {
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  return arith::CmpIOp::create(b, loop.getLoc(), predicate, lower, upper);
}

static Value larger(OpBuilder &b, scf::ForOp loop, Value x, Value y) {
  return loop.getUnsignedCmp() ? arith::MaxUIOp::create(b, loop.getLoc(), x, y).getResult()
                               : arith::MaxSIOp::create(b, loop.getLoc(), x, y).getResult();
}

static Value smaller(OpBuilder &b, scf::ForOp loop, Value x, Value y) {
  return loop.getUnsignedCmp() ? arith::MinUIOp::create(b, loop.getLoc(), x, y).getResult()
                               : arith::MinSIOp::create(b, loop.getLoc(), x, y).getResult();
}

/// Programs that run no turn are not asked where they would start.
void BlockProgramMaker::unite(OpBuilder &b, Walk &walk, MutableArrayRef<IRMapping> made) {
  scf::ForOp loop = walk.firstLoop;
  Location loc = loop.getLoc();
  Type type = loop.getInductionVar().getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  bool isUnsigned = loop.getUnsignedCmp();
  auto limit = [&](const APInt &n) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, n));
  };
  Value most = limit(isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  Value least = limit(isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width));
  walk.lower = most;
  walk.upper = least;
  for (int32_t program = 0; program < programs; ++program) {
    scf::ForOp end = walk.lastLoop;
    SmallVector<Value> bounds =
        valuesIn(b, {loop.getLowerBound(), end.getUpperBound(), end.getLowerBound()}, program,
                 made[program]);
    if (end != loop)
      bounds[1] = larger(b, loop, bounds[1], bounds[2]);
    Value runs = isBelow(b, loop, bounds[0], bounds[1]);
    Value lower = arith::SelectOp::create(b, loc, runs, bounds[0], most);
    Value upper = arith::SelectOp::create(b, loc, runs, bounds[1], least);
    walk.lower = smaller(b, loop, walk.lower, lower);
    walk.upper = larger(b, loop, walk.upper, upper);
  }
}

LogicalResult BlockProgramMaker::begin(cta::RolesOp op, ArrayRef<Loop> loops) {
  roles = op;
  OpBuilder b(roles);
  Location loc = kernel.getLoc();
  unsigned index = kernel.getNumArguments();
  auto attrs = DictionaryAttr::get(kernel.getContext(),
                                   {b.getNamedAttr(kNumProgramsAttr, b.getI32IntegerAttr(axis))});
  if (failed(kernel.insertArgument(index, b.getI32Type(), attrs, loc)))
    return failure();
  all = kernel.getArgument(index);
  kernel.walk([&](NumProgramsOp size) {
    if (int32_t(size.getAxis()) == axis) {
      size.getResult().replaceAllUsesWith(all);
      size.erase();
    }
  });
  for (const Loop *from = loops.begin(); from != loops.end();) {
    const Loop *next = from + 1;
    while (next != loops.end() && goesOn(next[-1], *next))
      ++next;
    ArrayRef<Loop> walked(from, next);
    if (llvm::any_of(walked, [&](Loop l) {
          return neighbours.differ({l.loop.getLowerBound(), l.loop.getUpperBound()});
        })) {
      walks.push_back({from->loop, walked.back().loop, from->rings, Value(), Value()});
      for (const Loop &more : walked.drop_front())
        continued.insert(more.loop);
    }
    from = next;
  }
  Value block = ProgramIdOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(axis));
  first = arith::MulIOp::create(b, loc, block, constant(b, loc, b.getI32Type(), programs));
  last = arith::SubIOp::create(b, loc, all, constant(b, loc, b.getI32Type(), 1));
  SmallVector<IRMapping> made(programs);
  for (Walk &walk : walks)
    unite(b, walk, made);
  return success();
}

void BlockProgramMaker::widen(IRMapping &copies) {
  for (Walk &walk : walks) {
    auto copy = cast<scf::ForOp>(copies.lookup(walk.firstLoop.getOperation()));
    copy.setLowerBound(walk.lower);
    copy.setUpperBound(walk.upper);
  }
}

/// Turns from `lower` to `upper`, 0 if there are none.
static Value turnsOf(OpBuilder &b, scf::ForOp loop, Value lower, Value upper) {
  Location loc = loop.getLoc();
  Type type = loop.getInductionVar().getType();
  Value one = constant(b, loc, type, 1);
  Value way = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), one);
  Value turns = arith::DivUIOp::create(b, loc, way, loop.getStep());
  turns = arith::AddIOp::create(b, loc, turns, one);
  return arith::SelectOp::create(b, loc, isBelow(b, loop, lower, upper), turns,
                                 constant(b, loc, type, 0));
}

static void passSlots(OpBuilder &b, Location loc, Value turns, ArrayRef<Value> rings) {
  Type type = turns.getType();
  auto loop =
      scf::ForOp::create(b, loc, constant(b, loc, type, 0), turns, constant(b, loc, type, 1));
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  for (Value ring : rings) {
    auto buffers = cast<cta::RingType>(ring.getType()).getBuffers();
    cta::RingWaitOp::create(inside, loc, buffers, ring);
    cta::RingReleaseOp::create(inside, loc, ring, Value());
  }
}

void BlockProgramMaker::passBy(const Walk &walk) {
  scf::ForOp loop = walk.firstLoop, end = walk.lastLoop;
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = end.getUpperBound();
  if (end != loop)
    upper = larger(b, loop, upper, end.getLowerBound());
  Value turns = turnsOf(b, loop, lower, upper);
  Value left = arith::SubIOp::create(b, loc, turnsOf(b, loop, walk.lower, walk.upper), turns);
  if (neighbours.differ(lower)) {
    Value way = arith::SubIOp::create(b, loc, lower, walk.lower);
    Value front = arith::DivUIOp::create(b, loc, way, loop.getStep());
    front = arith::SelectOp::create(b, loc, isBelow(b, loop, lower, upper), front,
                                    constant(b, loc, front.getType(), 0));
    left = arith::SubIOp::create(b, loc, left, front);
    passSlots(b, loc, front, walk.rings);
  }
  b.setInsertionPointAfter(end);
  passSlots(b, loc, left, walk.rings);
}

void BlockProgramMaker::passOthersBy() {
  for (const Walk &walk : walks)
    passBy(walk);
}

//===----------------------------------------------------------------------===//
// The groups
//===----------------------------------------------------------------------===//

void BlockProgramMaker::assign(cta::RolesOp roles) {
  Block &consumers = roles.getConsumers().front();
  OpBuilder b = OpBuilder::atBlockBegin(&consumers);
  Location loc = kernel.getLoc();
  Value group = cta::GroupOp::create(b, loc, b.getI32Type());
  Value number = arith::AddIOp::create(b, loc, first, group);
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number, all);
  Value own = arith::MinSIOp::create(b, loc, number, last);
  SmallVector<Operation *> stores;
  roles.getConsumers().walk([&](Operation *op) {
    if (auto id = dyn_cast<ProgramIdOp>(op); id && int32_t(id.getAxis()) == axis) {
      id.getResult().replaceAllUsesWith(own);
      id.erase();
    } else if (isa<StoreOp, cta::TmaStoreOp>(op)) {
      stores.push_back(op);
    }
  });
  storeOnlyIf(exists, stores);
}
