//===- ScalarsAhead.cpp - numbers that a loop loads, a turn ahead ----------===//
//
// A part of tile-pipeline-loads. What is copied ahead waits for nobody; a number that the
// same loop loads beside it (the scale of a block, say) would make each turn as long as
// that load takes. It costs a register to load it in the turn before.
//
//===----------------------------------------------------------------------===//
#include "passes/copies/ScalarsAhead.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/facts/LoopSlice.h"

using namespace mlir;
using namespace tile;

/// Those operations of `slice` that what the loop carries for it depends on.
static Slice carriedPart(scf::ForOp loop, const Slice &slice, const DenseSet<Value> &written) {
  Slice part(loop, written);
  for (unsigned index : slice.carried)
    part.add({loop.getYieldedValues()[index]});
  return part;
}

/// What `load` depends on, with itself; nothing if that is not known a turn ahead.
static std::optional<Slice> sliceOf(scf::ForOp loop, LoadOp load, const DenseSet<Value> &written) {
  Slice slice(loop, written);
  if (!slice.add({load.getResult()}) ||
      llvm::any_of(carriedPart(loop, slice, written).ops, llvm::IsaPred<LoadOp>))
    return std::nullopt;
  return slice;
}

SmallVector<LoadOp> tile::loadsAhead(scf::ForOp loop) {
  SmallVector<LoadOp> loads;
  std::optional<DenseSet<Value>> written = writtenIn(loop);
  if (!written)
    return loads;
  for (LoadOp load : loop.getBody()->getOps<LoadOp>())
    if (!load.getIsVolatile() && sliceOf(loop, load, *written))
      loads.push_back(load);
  return loads;
}

SmallVector<LoadOp> tile::scalarsAhead(scf::ForOp loop) {
  SmallVector<LoadOp> loads = loadsAhead(loop);
  llvm::erase_if(loads, [](LoadOp load) { return isa<RankedTensorType>(load.getType()); });
  return loads;
}

/// A second instance of `slice` for the turn whose values `map` has; it loads only if `when`.
static void cloneSlice(OpBuilder &b, scf::ForOp loop, const Slice &slice, IRMapping &map,
                       Value when) {
  for (Operation &op : *loop.getBody()) {
    if (!slice.ops.contains(&op))
      continue;
    auto load = dyn_cast<LoadOp>(b.clone(op, map));
    if (!load)
      continue;
    OpBuilder before(load);
    Value mask = when;
    if (auto block = dyn_cast<RankedTensorType>(load.getType()))
      mask = SplatOp::create(before, load.getLoc(),
                             cast<RankedTensorType>(withElementType(block, b.getI1Type())), when);
    if (load.getMask())
      mask = arith::AndIOp::create(before, load.getLoc(), load.getMask(), mask);
    load.getMaskMutable().assign(mask);
  }
}

static scf::ForOp loadTurnAhead(scf::ForOp loop, LoadOp load) {
  std::optional<DenseSet<Value>> written = writtenIn(loop);
  std::optional<Slice> slice = written ? sliceOf(loop, load, *written) : std::optional<Slice>();
  if (!slice || load.use_empty())
    return loop;
  Location loc = load.getLoc();
  // 1. For the first turn, in front of the loop.
  OpBuilder front(loop);
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  first.map(loop.getRegionIterArgs(), loop.getInitArgs());
  Value any = arith::CmpIOp::create(front, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                    loop.getUpperBound());
  cloneSlice(front, loop, *slice, first, any);
  // 2. For the next turn, at the top of each: behind a wait, whose fence would wait for it, too.
  OpBuilder top = OpBuilder::atBlockBegin(loop.getBody());
  if (auto wait = dyn_cast<cta::AsyncWaitOp>(loop.getBody()->front()))
    top.setInsertionPointAfter(wait);
  Value index = loop.getInductionVar(), step = loop.getStep();
  // The distance to the end, which is above zero, may need all bits.
  Value rest = arith::SubIOp::create(top, loc, loop.getUpperBound(), index);
  Value more = arith::CmpIOp::create(top, loc, arith::CmpIPredicate::ugt, rest, step);
  IRMapping own, next;
  next.map(index, arith::AddIOp::create(top, loc, index, step).getResult());
  // Collected before anything is cloned into the body.
  Slice carried = carriedPart(loop, *slice, *written);
  cloneSlice(top, loop, carried, own, more);
  for (unsigned arg : slice->carried)
    next.map(loop.getRegionIterArg(arg), own.lookupOrDefault(loop.getYieldedValues()[arg]));
  cloneSlice(top, loop, *slice, next, more);
  // 3. Carried from one to the other.
  IRRewriter rewriter(front);
  auto attributes = loop->getDiscardableAttrDictionary();
  Value ahead = next.lookup(load.getResult());
  auto replaced = *loop.replaceWithAdditionalYields(
      rewriter, first.lookup(load.getResult()), /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return SmallVector<Value>{ahead}; });
  loop = cast<scf::ForOp>(replaced.getOperation());
  loop->setDiscardableAttrs(attributes);
  load.getResult().replaceAllUsesWith(loop.getRegionIterArgs().back());
  load.erase();
  return loop;
}

scf::ForOp tile::loadTurnAhead(scf::ForOp loop, ArrayRef<LoadOp> loads) {
  for (LoadOp load : loads)
    loop = ::loadTurnAhead(loop, load);
  return loop;
}

void tile::keepAhead(scf::ForOp loop, int32_t turns) {
  for (int32_t turn = 0; turn < turns; ++turn)
    loop = loadTurnAhead(loop, loadsAhead(loop));
}
