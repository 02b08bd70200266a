//===- Threads.cpp - which thread it is, and where shared memory lies -----===//
//
// Values that are the same throughout a kernel: they stand in the entry block, where they dominate
// all, and each is made once.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/lowering/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value Lowering::lane() {
  if (!laneId) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(tid);
    laneId =
        numThreads == 32 ? tid : LLVM::AndOp::create(b, in.getLoc(), tid, in.i32(31)).getResult();
  }
  return laneId;
}

Value Lowering::warp() {
  if (!warpId) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(tid);
    warpId = numThreads == 32 ? in.i32(0)
                              : LLVM::LShrOp::create(b, in.getLoc(), tid, in.i32(5)).getResult();
  }
  return warpId;
}

namespace {
/// A run of consecutive thread bits whose bases are consecutive powers of two.
struct BitRun {
  unsigned firstBit, length;
  int shift; ///< left shift from thread bit to output bit
};
} // namespace

Value Lowering::threadPart(const LinearLayout &layout, Dim out) {
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
  SmallVector<BitRun> runs;
  int32_t used = 0;
  bool disjoint = true;
  for (unsigned bit = 0; bit < threadBits; ++bit) {
    int32_t basis = bases[bit];
    // A basis with several bits set is cut into its powers of two.
    for (int32_t rest = basis; rest; rest &= rest - 1) {
      int32_t power = rest & -rest;
      disjoint &= !(used & power);
      used |= power;
      int shift = int(llvm::Log2_32(power)) - int(bit);
      auto same = llvm::find_if(
          runs, [&](BitRun &r) { return r.shift == shift && r.firstBit + r.length == bit; });
      if (same != runs.end())
        ++same->length;
      else
        runs.push_back({bit, 1, shift});
    }
  }
  Value sum;
  Location loc = in.getLoc();
  for (BitRun &run : runs) {
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
    else if (disjoint)
      sum = LLVM::OrOp::create(b, loc, sum, v);
    else
      sum = LLVM::XOrOp::create(b, loc, sum, v);
  }
  if (!sum) {
    sum = in.i32(0);
    affines[sum] = {Value(), 0};
  }
  threadParts[key] = sum;
  return sum;
}

int32_t Lowering::copyBits(const LinearLayout &layout) {
  int32_t mask = 0;
  for (auto [dim, free] : layout.freeVariableMasks()) {
    if (dim == Dim::lane())
      mask |= free;
    if (dim == Dim::warp())
      mask |= free << 5;
  }
  // Thread bits that the layout does not mention at all are copies too.
  for (unsigned bit = 0; bit < llvm::Log2_32(numThreads); ++bit) {
    Dim dim = bit < 5 ? Dim::lane() : Dim::warp();
    if (int32_t(bit < 5 ? bit : bit - 5) >= layout.inSizeLog2(dim))
      mask |= 1 << bit;
  }
  return mask;
}

Value Lowering::hasNoneOf(int32_t mask) {
  if (!mask)
    return {};
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(tid);
  Location loc = in.getLoc();
  Value bits = LLVM::AndOp::create(b, loc, tid, in.i32(mask));
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, bits, in.i32(0));
}

Value Lowering::andB(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  return LLVM::AndOp::create(b, in.getLoc(), a, c);
}

Value Lowering::addI(Value a, Value c) {
  Affine x = affine(a), y = affine(c);
  if (!x.base && !y.base)
    return materialize({Value(), x.offset + y.offset}, a.getType());
  if (!x.base && x.offset == 0)
    return c;
  if (!y.base && y.offset == 0)
    return a;
  return LLVM::AddOp::create(b, in.getLoc(), a, c);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value Lowering::sharedBase(int64_t byteOffset) {
  auto symbol = module.lookupSymbol<LLVM::GlobalOp>("tile_shared");
  auto ptr = LLVM::LLVMPointerType::get(b.getContext(), kShared);
  if (!symbol) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // Not the location of the op at hand: it may be that of an inlined call, and
    // the debug-info pass looks for the function around each of those.
    symbol = LLVM::GlobalOp::create(b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                                    /*isConstant=*/false, LLVM::Linkage::External, "tile_shared",
                                    Attribute(), /*alignment=*/hasTiles ? 1024 : 16, kShared);
  }
  Value base = LLVM::AddressOfOp::create(b, in.getLoc(), ptr, symbol.getName());
  if (groups > 1) { // each has its own, in front of the rings
    int64_t own = cta::madeOf(module).groupBytes;
    if (byteOffset < own) {
      Value skip = LLVM::MulOp::create(b, in.getLoc(), group(), in.i32(int32_t(own)));
      base = LLVM::GEPOp::create(b, in.getLoc(), ptr, b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{skip});
    }
  }
  if (byteOffset == 0)
    return base;
  return LLVM::GEPOp::create(b, in.getLoc(), ptr, b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(byteOffset)});
}

Value Lowering::sharedAt(Value base, Value byteOffset) {
  Affine a = affine(byteOffset);
  Value p = base;
  if (a.base)
    p = LLVM::GEPOp::create(b, in.getLoc(), base.getType(), b.getI8Type(), p, a.base);
  if (a.offset)
    p = LLVM::GEPOp::create(b, in.getLoc(), base.getType(), b.getI8Type(), p,
                            ArrayRef<LLVM::GEPArg>{int32_t(a.offset)});
  return p;
}
