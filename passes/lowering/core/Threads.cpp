//===- Threads.cpp - which thread it is, and which threads act ------------===//
//
// Numbers of threads and their parts are the same throughout a kernel: they stand in the entry
// block, where they dominate all, and each is made once.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/core/Coordinates.h"
#include "passes/lowering/core/Core.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value Core::lane() {
  return once(laneId, [&]() -> Value {
    return numThreads == 32 ? tid
                            : LLVM::AndOp::create(b, in.getLoc(), tid, in.i32(31)).getResult();
  });
}

Value Core::warp() {
  return once(warpId, [&]() -> Value {
    return numThreads == 32 ? in.i32(0)
                            : LLVM::LShrOp::create(b, in.getLoc(), tid, in.i32(5)).getResult();
  });
}

Value Core::sameInWarp(Value v) { return in.shuffleIdx(v, in.i32(0)); }

Value Core::uniformWarp() {
  return once(uniformWarpId, [&] {
    return sameInWarp(LLVM::LShrOp::create(b, in.getLoc(), blockTid, in.i32(5)));
  });
}

Value Core::warpgroup() {
  return once(warpgroupId,
              [&] { return sameInWarp(LLVM::LShrOp::create(b, in.getLoc(), tid, in.i32(7))); });
}

Value Core::group() {
  return once(groupId, [&] {
    int32_t shift = int32_t(llvm::Log2_32(numThreads));
    return sameInWarp(LLVM::LShrOp::create(b, in.getLoc(), blockTid, in.i32(shift)));
  });
}

Value Core::otherGroup() { return LLVM::XOrOp::create(b, in.getLoc(), group(), in.i32(1)); }

Value Core::clusterRank() {
  return once(clusterRankId, [&] { return in.clusterRank(); });
}

Value Core::isThread(Value thread) {
  return LLVM::ICmpOp::create(b, in.getLoc(), LLVM::ICmpPredicate::eq, blockTid, thread);
}

//===----------------------------------------------------------------------===//
// Bits of a thread's number
//===----------------------------------------------------------------------===//

namespace {
/// A run of consecutive thread bits whose bases are consecutive powers of two.
struct BitRun {
  unsigned firstBit, length;
  int shift; ///< left shift from thread bit to output bit
};
/// What the bits of a thread's number contribute.
struct ThreadBits {
  SmallVector<BitRun> runs;
  bool areDisjoint = true; ///< no two of them have a bit of the output in common
};
} // namespace

/// `bases`: what each bit contributes.
static ThreadBits runsOf(ArrayRef<int32_t> bases) {
  ThreadBits result;
  int32_t used = 0;
  for (auto [bit, basis] : llvm::enumerate(bases))
    // A basis with several bits set is cut into its powers of two.
    for (int32_t rest = basis; rest; rest &= rest - 1) {
      int32_t power = rest & -rest;
      result.areDisjoint &= !(used & power);
      used |= power;
      int shift = int(llvm::Log2_32(power)) - int(bit);
      auto same = llvm::find_if(result.runs, [&, bit = bit](BitRun &r) {
        return r.shift == shift && r.firstBit + r.length == bit;
      });
      if (same != result.runs.end())
        ++same->length;
      else
        result.runs.push_back({unsigned(bit), 1, shift});
    }
  return result;
}

Value Core::threadPart(const LinearLayout &layout, Dim out) {
  std::pair<Attribute, Attribute> key(cta::LayoutAttr::get(b.getContext(), layout),
                                      b.getStringAttr(out.name()));
  if (Value cached = threadParts.lookup(key))
    return cached;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(tid);

  unsigned threadBits = llvm::Log2_32(numThreads);
  SmallVector<int32_t> bases;
  for (unsigned bit = 0; bit < threadBits; ++bit) {
    Dim dim = bit < 5 ? Dim::lane() : Dim::warp();
    unsigned index = bit < 5 ? bit : bit - 5;
    bases.push_back(int32_t(index) < layout.inSizeLog2(dim) ? layout.basis(dim, index, out) : 0);
  }
  ThreadBits bits = runsOf(bases);
  Value sum;
  Location loc = in.getLoc();
  for (BitRun &run : bits.runs) {
    Value v = tid;
    // Bits above the run, and bits below it that the shift does not drop.
    bool above = run.firstBit + run.length < threadBits;
    bool below = run.firstBit > 0 && int(run.firstBit) + run.shift > 0;
    if (above || below)
      v = LLVM::AndOp::create(b, loc, v, in.i32(((1u << run.length) - 1) << run.firstBit));
    if (run.shift > 0)
      v = LLVM::ShlOp::create(b, loc, v, in.i32(run.shift));
    else if (run.shift < 0)
      v = LLVM::LShrOp::create(b, loc, v, in.i32(-run.shift));
    if (!sum)
      sum = v;
    else if (bits.areDisjoint)
      sum = LLVM::OrOp::create(b, loc, sum, v);
    else
      sum = LLVM::XOrOp::create(b, loc, sum, v);
  }
  if (!sum) {
    sum = in.i32(0);
    remember(sum, {Value(), 0});
  }
  threadParts[key] = sum;
  return sum;
}

Value Core::gatherBits(Value v, unsigned mask) {
  Location loc = in.getLoc();
  Value sum;
  unsigned target = 0;
  for (unsigned bit = 0; mask >> bit; ++bit) {
    if (!(mask >> bit & 1))
      continue;
    unsigned length = 1;
    while (mask >> (bit + length) & 1)
      ++length;
    Value part = bit ? LLVM::LShrOp::create(b, loc, v, in.i32(bit)).getResult() : v;
    part = LLVM::AndOp::create(b, loc, part, in.i32((1u << length) - 1));
    if (target)
      part = LLVM::ShlOp::create(b, loc, part, in.i32(target));
    sum = sum ? LLVM::OrOp::create(b, loc, sum, part).getResult() : part;
    target += length;
    bit += length - 1;
  }
  return sum ? sum : in.i32(0);
}

Value Core::elementIndex(const LinearLayout &layout, int32_t reg, ArrayRef<int64_t> shape,
                         int skipAxis) {
  // Sizes are powers of two, so the row-major index is itself linear.
  Location loc = in.getLoc();
  SmallVector<int32_t> coords = registerCoordinates(layout, reg);
  Value threads;
  int64_t constant = 0, stride = 1;
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis) {
    if (axis == skipAxis)
      continue;
    Value part = threadPart(layout, Dim::dim(axis));
    Affine a = affine(part);
    if (a.base || a.offset) {
      if (stride > 1)
        part = LLVM::ShlOp::create(b, loc, part, in.i32(llvm::Log2_64(stride)));
      threads = threads ? LLVM::OrOp::create(b, loc, threads, part).getResult() : part;
    }
    constant += coords[axis] * stride;
    stride *= shape[axis];
  }
  if (!threads)
    return materialize({Value(), constant}, b.getI32Type());
  return constant ? LLVM::XOrOp::create(b, loc, threads, in.i32(int32_t(constant))).getResult()
                  : threads;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Bits of the thread's number on which no element depends.
static int32_t freeBits(const LinearLayout &layout) {
  int32_t mask = 0;
  for (auto [dim, free] : layout.freeVariableMasks()) {
    if (dim == Dim::lane())
      mask |= free;
    if (dim == Dim::warp())
      mask |= free << 5;
  }
  return mask;
}

int32_t Core::copyBits(const LinearLayout &layout) {
  int32_t mask = freeBits(layout);
  // Thread bits that the layout does not mention at all are copies too.
  for (unsigned bit = 0; bit < llvm::Log2_32(numThreads); ++bit) {
    Dim dim = bit < 5 ? Dim::lane() : Dim::warp();
    if (int32_t(bit < 5 ? bit : bit - 5) >= layout.inSizeLog2(dim))
      mask |= 1 << bit;
  }
  return mask;
}

Value Core::hasNoneOf(int32_t mask) {
  if (!mask || oneThread)
    return {};
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(tid);
  Location loc = in.getLoc();
  Value bits = LLVM::AndOp::create(b, loc, tid, in.i32(mask));
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, bits, in.i32(0));
}

Value Core::writerPredicate(const LinearLayout &layout, unsigned alsoLanes) {
  int32_t mask = (freeBits(layout) | int32_t(alsoLanes)) & int32_t(numThreads - 1);
  if (!mask)
    return {};
  Value bits = LLVM::AndOp::create(b, in.getLoc(), tid, in.i32(mask));
  return LLVM::ICmpOp::create(b, in.getLoc(), LLVM::ICmpPredicate::eq, bits, in.i32(0));
}

Value Core::andB(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  return LLVM::AndOp::create(b, in.getLoc(), a, c);
}
