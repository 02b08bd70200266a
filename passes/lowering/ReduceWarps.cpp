//===- ReduceWarps.cpp - reductions of an axis that warps share -----------===//
//
// Warps leave partial results in shared memory; each thread takes up those of the results that
// it needs, or lanes that need the same share them out. See Reduce.cpp.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/facts/Reach.h"
#include "passes/lowering/ReduceLowering.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

LogicalResult ReduceLowering::acrossWarps() {
  unsigned warpMask = axisBits(layout, Dim::warp(), axis);
  if (!warpMask)
    return acrossRepeats();
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("reduces across warps but has no scratch memory");
  Partials partials{{}, repeats << llvm::popcount(warpMask)};
  int64_t results = op.getInputType().getNumElements() / op.getInputType().getDimSize(axis);
  int64_t offset = scratch.getInt();
  for (Value src : op.getSrcs()) {
    partials.bases.push_back(l.sharedBase(offset));
    offset += partialBytes(getElementType(src.getType()), results, partials.warps);
  }
  leave(partials, warpMask);
  l.in.barrier();
  unsigned idle = warpsWithoutUse();
  return idle && costOfTakingUp(partials) >= tuningOf(op).branchSlots ? takeUpInSome(partials, idle)
                                                                      : takeUp(partials);
}

/// The bits of the warps that hold no more than copies of what others store of `v`, perhaps
/// changed element by element or with a dimension more; none if it is needed for anything else.
static unsigned warpsThatDoNotStore(Value v, unsigned depth = 0) {
  unsigned warps = ~0u;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    bool isAtomic = isa<AtomicRmwOp>(user) && user->use_empty();
    if ((isa<StoreOp>(user) || isAtomic) && use.getOperandNumber() > 0) {
      auto block = dyn_cast<RankedTensorType>(user->getOperand(0).getType());
      if (block)
        for (auto [dim, copies] : cta::getLayout(block).freeVariableMasks())
          warps &= dim == Dim::warp() ? unsigned(copies) : ~0u;
      continue;
    }
    bool isChange = isa<ExpandDimsOp>(user) ||
                    (isa<arith::ArithDialect, math::MathDialect, TileDialect>(user->getDialect()) &&
                     user->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(user));
    if (!isChange || user->getNumResults() != 1 || depth == reach::kChanges)
      return 0;
    warps &= warpsThatDoNotStore(user->getResult(0), depth + 1);
  }
  return warps;
}

unsigned ReduceLowering::warpsWithoutUse() {
  unsigned warps = (l.numThreads / kLanes) - 1;
  for (Value result : op.getResults())
    warps &= warpsThatDoNotStore(result);
  return warps;
}

unsigned ReduceLowering::costOfTakingUp(const Partials &partials) {
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  unsigned results = type ? cta::getLayout(type).inSize(Dim::reg()) : 1;
  unsigned own = partials.warps >> llvm::popcount(lanesToShare(partials.warps));
  return results * costOfSharing(partials.warps, own);
}

LogicalResult ReduceLowering::takeUpInSome(const Partials &partials, unsigned idle) {
  Location loc = l.in.getLoc();
  Region *region = l.b.getInsertionBlock()->getParent();
  Block *works = new Block, *rests = new Block, *after = new Block;
  for (Block *block : {works, rests, after})
    region->push_back(block);
  Value bits = LLVM::AndOp::create(l.b, loc, l.warp(), l.in.i32(int32_t(idle)));
  Value isNeeded = LLVM::ICmpOp::create(l.b, loc, LLVM::ICmpPredicate::eq, bits, l.in.i32(0));
  LLVM::CondBrOp::create(l.b, loc, isNeeded, works, rests);

  l.enterBlock(works);
  if (failed(takeUp(partials)))
    return failure();
  Registers results;
  for (Registers &result : acc)
    for (Value &v : result) {
      results.push_back(v);
      v = after->addArgument(v.getType(), loc);
    }
  LLVM::BrOp::create(l.b, loc, results, after);

  // Any number will do, but what is divided by zero would be a promise that this block is not
  // reached.
  l.enterBlock(rests);
  Registers others;
  for (Value v : results)
    others.push_back(l.in.constant(v.getType(), isa<IntegerType>(v.getType())
                                                    ? Attribute(l.b.getIntegerAttr(v.getType(), 1))
                                                    : l.b.getFloatAttr(v.getType(), 1)));
  LLVM::BrOp::create(l.b, loc, others, after);
  l.enterBlock(after);
  return success();
}

void ReduceLowering::leave(const Partials &partials, unsigned warpMask) {
  Value warpIndex = l.gatherBits(l.warp(), warpMask);
  Value writer = l.writerPredicate(layout, axisBits(layout, Dim::lane(), axis) & ~halvedLanes);
  SmallVector<Value> slots;
  for (auto &group : groups) {
    Value slot = l.elementIndex(layout, group.front(), op.getInputType().getShape(), axis);
    if (halvedBy)
      slot = LLVM::XOrOp::create(l.b, l.in.getLoc(), slot, halvedBy);
    slots.push_back(slot);
  }
  for (unsigned i = 0; i < acc.size(); ++i)
    for (unsigned k = 0; k < partials.bases.size(); ++k) {
      unsigned g = i / repeats, before = i % repeats * (partials.warps / repeats);
      Location loc = l.in.getLoc();
      Value slot = LLVM::MulOp::create(l.b, loc, slots[g], l.in.i32(partials.warps));
      slot = LLVM::AddOp::create(l.b, loc, slot, warpIndex);
      if (before)
        slot = LLVM::AddOp::create(l.b, loc, slot, l.in.i32(int32_t(before)));
      l.in.storeShared(address(partials, k, slot), {l.toMemory(acc[i][k])}, writer);
    }
}

SmallVector<Value> ReduceLowering::neededResults() {
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!type)
    return {l.in.i32(0)};
  const LinearLayout &to = cta::getLayout(type);
  SmallVector<Value> indices;
  keys.clear();
  for (int32_t r = 0; r < to.inSize(Dim::reg()); ++r) {
    SmallVector<int32_t> key = registerCoordinates(to, r);
    if (llvm::is_contained(keys, key))
      continue;
    keys.push_back(key);
    indices.push_back(l.elementIndex(to, r, type.getShape()));
  }
  return indices;
}

LogicalResult ReduceLowering::takeUp(const Partials &partials) {
  unsigned lanes = lanesToShare(partials.warps);
  unsigned own = partials.warps >> llvm::popcount(lanes);
  SmallVector<Registers> whole;
  for (Value index : neededResults()) {
    SmallVector<Registers> parts(own);
    for (unsigned k = 0; k < partials.bases.size(); ++k) {
      Location loc = l.in.getLoc();
      Value first = LLVM::MulOp::create(l.b, loc, index, l.in.i32(partials.warps));
      if (lanes) {
        Value share = l.gatherBits(l.lane(), lanes);
        share = LLVM::MulOp::create(l.b, loc, share, l.in.i32(own));
        first = LLVM::AddOp::create(l.b, loc, first, share);
      }
      Value base = address(partials, k, first);
      Type type = acc.front()[k].getType();
      Type memory = type.isInteger(1) ? l.b.getI8Type() : type;
      unsigned bytes = std::max(bitWidth(memory) / 8, 1u);
      unsigned step = std::min(own, 16 / bytes);
      for (unsigned w = 0; w < own; w += step) {
        Value p = w ? LLVM::GEPOp::create(l.b, loc, base.getType(), l.b.getI8Type(), base,
                                          ArrayRef<LLVM::GEPArg>{int32_t(w * bytes)})
                          .getResult()
                    : base;
        for (auto [i, v] : llvm::enumerate(l.in.loadShared(memory, step, p)))
          parts[w + i].push_back(l.fromMemory(v, type));
      }
    }
    FailureOr<Registers> sum = tree(std::move(parts));
    if (failed(sum))
      return failure();
    whole.push_back(std::move(*sum));
  }
  acc = std::move(whole);
  return overShares(lanes);
}

Value ReduceLowering::address(const Partials &partials, unsigned operand, Value index) {
  unsigned bytes = getElementBytes(getElementType(op.getSrcs()[operand].getType()));
  Value byte = LLVM::MulOp::create(l.b, l.in.getLoc(), index, l.in.i32(bytes));
  return l.sharedAt(partials.bases[operand], byte);
}

LogicalResult ReduceLowering::overShares(unsigned lanes) {
  return isOneCommutativeOperation() ? overLanes(lanes) : overLanesInOrder(lanes);
}

bool ReduceLowering::isOneCommutativeOperation() {
  Block &block = op.getCombineBlock();
  return block.getNumArguments() == 2 && llvm::hasSingleElement(block.without_terminator()) &&
         block.front().hasTrait<OpTrait::IsCommutative>() &&
         llvm::equal(block.front().getOperands(), block.getArguments());
}

unsigned ReduceLowering::costOfCombining() {
  unsigned slots = 0;
  for (Operation &o : op.getCombineBlock().without_terminator()) {
    bool isLong = isa<math::MathDialect>(o.getDialect())
                      ? !isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(o)
                      : isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
                            arith::RemSIOp, arith::RemUIOp>(o);
    slots += isLong ? tuningOf(op).longOpSlots : 1;
  }
  return slots;
}

unsigned ReduceLowering::costOfSharing(unsigned warps, unsigned own) {
  unsigned reads = 0, values = op.getSrcs().size(), combining = costOfCombining();
  for (Value src : op.getSrcs()) {
    unsigned bytes = std::max(getElementBytes(getElementType(src.getType())), 1u);
    reads += llvm::divideCeil(own * bytes, 16u);
  }
  // Lanes in order choose which of two values is the left one.
  unsigned shuffle = tuningOf(op).shuffleSlots, step = combining + values * (shuffle + 2);
  return reads * shuffle + (own - 1) * combining + llvm::Log2_32(warps / own) * step;
}

unsigned ReduceLowering::lanesOfOneResult() {
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!type)
    return axisBits(layout, Dim::lane(), axis);
  const LinearLayout &to = cta::getLayout(type);
  unsigned mask = 0;
  for (int32_t bit = 0; bit < to.inSizeLog2(Dim::lane()); ++bit)
    if (llvm::all_of(to.basis(Dim::lane(), bit), [](int32_t step) { return step == 0; }))
      mask |= 1u << bit;
  return mask;
}

unsigned ReduceLowering::lanesToShare(unsigned warps) {
  unsigned same = lanesOfOneResult(), own = warps;
  if (isOneCommutativeOperation()) {
    unsigned bytes = getElementBytes(getElementType(op.getSrcs()[0].getType()));
    while (own > 1 && own * bytes > tuningOf(op).partialsOfLane)
      own /= 2;
  } else {
    for (unsigned fewer = warps / 2; fewer; fewer /= 2)
      if (costOfSharing(warps, fewer) < costOfSharing(warps, own))
        own = fewer;
  }
  unsigned mask = 0;
  for (unsigned bit = 1; bit <= same && own < warps; bit <<= 1)
    if (same & bit)
      mask |= bit, warps /= 2;
  return mask;
}
