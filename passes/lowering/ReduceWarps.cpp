//===- ReduceWarps.cpp - reductions of an axis that warps share -----------===//
//
// Warps leave partial results in shared memory; each thread takes up those of the results that
// it needs, or lanes that need the same share them out, or all threads do. See Reduce.cpp.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/lowering/ReduceLowering.h"
#include "passes/lowering/core/Coordinates.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

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
  Partials partials{{}, partsOfResult(), results()};
  partials.areByWarp = isCheaperByWarp(partials);
  int64_t offset = scratch.getInt();
  for (Value src : op.getSrcs()) {
    partials.bases.push_back(core.sharedBase(offset));
    offset += partialBytes(getElementType(src.getType()), results(), partials.warps);
  }
  leave(partials, warpMask);
  core.in.barrier();
  if (unsigned threads = threadsOfResult())
    return takeUpTogether(partials, threads, offset);
  unsigned idle = warpsWithoutUse();
  return idle && costOfTakingUp() >= tuningOf(op).branchSlots ? takeUpInSome(partials, idle)
                                                              : takeUp(partials);
}

LogicalResult ReduceLowering::takeUpInSome(const Partials &partials, unsigned idle) {
  Location loc = core.in.getLoc();
  Region *region = core.b.getInsertionBlock()->getParent();
  Block *works = new Block, *rests = new Block, *after = new Block;
  for (Block *block : {works, rests, after})
    region->push_back(block);
  Value bits = LLVM::AndOp::create(core.b, loc, core.warp(), core.in.i32(int32_t(idle)));
  Value isNeeded = LLVM::ICmpOp::create(core.b, loc, LLVM::ICmpPredicate::eq, bits, core.in.i32(0));
  LLVM::CondBrOp::create(core.b, loc, isNeeded, works, rests);

  core.enterBlock(works);
  if (failed(takeUp(partials)))
    return failure();
  Registers results;
  for (Registers &result : acc)
    for (Value &v : result) {
      results.push_back(v);
      v = after->addArgument(v.getType(), loc);
    }
  LLVM::BrOp::create(core.b, loc, results, after);

  // Any number will do, but what is divided by zero would be a promise that this block is not
  // reached.
  core.enterBlock(rests);
  Registers others;
  for (Value v : results)
    others.push_back(
        core.in.constant(v.getType(), isa<IntegerType>(v.getType())
                                          ? Attribute(core.b.getIntegerAttr(v.getType(), 1))
                                          : core.b.getFloatAttr(v.getType(), 1)));
  LLVM::BrOp::create(core.b, loc, others, after);
  core.enterBlock(after);
  return success();
}

static unsigned bytesOf(ReduceOp op, unsigned operand) {
  return std::max(getElementBytes(getElementType(op.getSrcs()[operand].getType())), 1u);
}

void ReduceLowering::leave(const Partials &partials, unsigned warpMask) {
  Value warpIndex = core.gatherBits(core.warp(), warpMask);
  unsigned warps = partials.warps / repeats;
  if (firstHeld) {
    Location loc = core.in.getLoc();
    Value before = LLVM::MulOp::create(core.b, loc, firstHeld, core.in.i32(int32_t(warps)));
    warpIndex = LLVM::AddOp::create(core.b, loc, warpIndex, before);
  }
  Value writer = core.writerPredicate(layout, axisBits(layout, Dim::lane(), axis) & ~halvedLanes &
                                                  ~sharedLanes);
  SmallVector<Value> slots;
  for (auto &group : groups) {
    Value slot = core.elementIndex(layout, group.front(), op.getInputType().getShape(), axis);
    if (halvedBy)
      slot = LLVM::XOrOp::create(core.b, core.in.getLoc(), slot, halvedBy);
    slots.push_back(slot);
  }
  for (unsigned i = 0; i < acc.size(); ++i)
    for (unsigned k = 0; k < partials.bases.size(); ++k) {
      unsigned g = i / held, before = i % held * warps;
      unsigned run = resultsAtOnce(partials, bytesOf(op, k));
      if (indexOf(keys[g]) % run)
        continue; // with another one
      Registers values;
      for (unsigned n = 0; n < run; ++n) {
        auto same = llvm::find_if(
            keys, [&](const auto &key) { return indexOf(key) == indexOf(keys[g]) + n; });
        values.push_back(core.toMemory(acc[(same - keys.begin()) * held + i % held][k]));
      }
      Value part = warpIndex;
      if (before)
        part = LLVM::AddOp::create(core.b, core.in.getLoc(), part, core.in.i32(int32_t(before)));
      core.in.storeShared(address(partials, k, placeOf(partials, slots[g], part)), values, writer);
    }
}

SmallVector<Value> ReduceLowering::neededResults() {
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!type)
    return {core.in.i32(0)};
  const LinearLayout &to = cta::getLayout(type);
  SmallVector<Value> indices;
  keys.clear();
  for (int32_t r = 0; r < to.inSize(Dim::reg()); ++r) {
    SmallVector<int32_t> key = registerCoordinates(to, r);
    if (llvm::is_contained(keys, key))
      continue;
    keys.push_back(key);
    indices.push_back(core.elementIndex(to, r, type.getShape()));
  }
  return indices;
}

LogicalResult ReduceLowering::takeUp(const Partials &partials) {
  unsigned lanes = lanesToShare(partials.warps);
  unsigned own = partials.warps >> llvm::popcount(lanes);
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  copies = core.copyBits(type ? cta::getLayout(type) : LinearLayout()) & ~int32_t(lanes);
  SmallVector<Registers> whole;
  for (Value index : neededResults()) {
    Value share;
    if (lanes) {
      share = core.gatherBits(core.lane(), lanes);
      share = LLVM::MulOp::create(core.b, core.in.getLoc(), share, core.in.i32(own));
    }
    FailureOr<Registers> sum = readParts(partials, placeOf(partials, index, share), own);
    if (failed(sum))
      return failure();
    whole.push_back(std::move(*sum));
  }
  acc = std::move(whole);
  return overShares(lanes, /*isForAll=*/true);
}

FailureOr<Registers> ReduceLowering::readParts(const Partials &partials, Value first,
                                               unsigned own) {
  SmallVector<Registers> parts(own);
  for (unsigned k = 0; k < partials.bases.size(); ++k) {
    Value base = address(partials, k, first);
    Type type = acc.front()[k].getType();
    Type memory = type.isInteger(1) ? core.b.getI8Type() : type;
    unsigned bytes = std::max(bitWidth(memory) / 8, 1u);
    unsigned step = partials.areByWarp ? 1 : std::min(own, 16 / bytes);
    int64_t distance = partials.areByWarp ? partials.results * bytes : bytes;
    for (unsigned w = 0; w < own; w += step) {
      Value p =
          w ? LLVM::GEPOp::create(core.b, core.in.getLoc(), base.getType(), core.b.getI8Type(),
                                  base, ArrayRef<LLVM::GEPArg>{int32_t(w * distance)})
                  .getResult()
            : base;
      for (auto [i, v] : llvm::enumerate(core.in.loadShared(memory, step, p)))
        parts[w + i].push_back(core.fromMemory(v, type));
    }
  }
  return tree(std::move(parts));
}

Value ReduceLowering::address(const Partials &partials, unsigned operand, Value index) {
  unsigned bytes = bytesOf(op, operand);
  Value byte = LLVM::MulOp::create(core.b, core.in.getLoc(), index, core.in.i32(bytes));
  return core.sharedAt(partials.bases[operand], byte);
}

LogicalResult ReduceLowering::overShares(unsigned lanes, bool isForAll) {
  return isOneCommutativeOperation() ? overLanes(lanes) : overLanesInOrder(lanes, isForAll);
}
