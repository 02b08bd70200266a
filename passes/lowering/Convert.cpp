//===- Convert.cpp - moving a block from one layout to another ------------===//
//
// The cheapest of three ways that fits:
//   registers  each thread already has what it needs: rename registers;
//   shuffles   exchange within each warp;
//   scratch    write the block to shared memory in one layout, barrier, read it
//              in the other. The buffer is swizzled so that both sides move
//              wide words without bank conflicts.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/Conversion.h"
#include "ir/layout/Swizzle.h"
#include "passes/lowering/Lowering.h"
#include "passes/lowering/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using namespace tile::layout;

/// Above this many shuffles an exchange through shared memory is cheaper: it
/// moves 16 bytes an instruction.
static constexpr unsigned kMaxShuffles = 16;

namespace {
/// The mechanism for one conversion, decided once for all users.
struct Plan {
  Conversion conversion;
  std::optional<ShufflePlan> shuffles;
  bool usesScratch() const {
    return conversion.kind == ConversionKind::WithinCta ||
           (conversion.kind == ConversionKind::WithinWarp && !shuffles);
  }
};
} // namespace

static Plan planFor(cta::ConvertLayoutOp op) {
  const LinearLayout &from = cta::getLayout(op.getSrc().getType());
  const LinearLayout &to = cta::getLayout(op.getType());
  Plan plan{planConversion(from, to), std::nullopt};
  if (plan.conversion.kind == ConversionKind::WithinWarp) {
    plan.shuffles = planShuffles(from, to, plan.conversion);
    unsigned words = std::max(getElementBytes(getElementType(op.getType())) / 4, 1u);
    if (plan.shuffles && plan.shuffles->numShuffles() * words > kMaxShuffles)
      plan.shuffles.reset();
  }
  return plan;
}

int64_t lowering::convertScratchBytes(cta::ConvertLayoutOp op) {
  if (!planFor(op).usesScratch())
    return 0;
  auto block = cast<RankedTensorType>(op.getType());
  int64_t bytes = std::max(getElementBytes(block.getElementType()), 1u);
  return llvm::alignTo(block.getNumElements() * bytes, 16);
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// parity(lane & laneMask) ^ parity(warp & warpMask) as an i1.
Value Lowering::threadParity(int32_t laneMask, int32_t warpMask) {
  Location loc = in.getLoc();
  Value bits = LLVM::AndOp::create(b, loc, tid, in.i32(laneMask | warpMask << 5));
  if (!llvm::isPowerOf2_32(laneMask | warpMask << 5)) {
    Value count = LLVM::CtPopOp::create(b, loc, b.getI32Type(), bits);
    bits = LLVM::AndOp::create(b, loc, count, in.i32(1));
  }
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, bits, in.i32(0));
}

static void applySelects(OpBuilder &b, Location loc, Registers &regs,
                         ArrayRef<ShufflePlan::Select> selects,
                         llvm::function_ref<Value(int32_t, int32_t)> parity) {
  for (const ShufflePlan::Select &s : selects) {
    Value condition = parity(s.laneMask, s.warpMask);
    Registers next(regs.size());
    for (unsigned i = 0; i < regs.size(); ++i) {
      Value other = regs[i ^ s.registerMask];
      if (regs[i] && other)
        next[i] = regs[i] == other
                      ? other
                      : LLVM::SelectOp::create(b, loc, condition, other, regs[i]).getResult();
    }
    regs = std::move(next);
  }
}

Registers Lowering::shuffleBlock(Registers regs, const ShufflePlan &plan) {
  Location loc = in.getLoc();
  auto parity = [&](int32_t l, int32_t w) { return threadParity(l, w); };
  applySelects(b, loc, regs, plan.before, parity);

  // Source lane = XOR of the bases of the set lane and warp bits.
  Value source = in.i32(0);
  for (auto [bases, shift] : {std::make_pair(ArrayRef<int32_t>(plan.laneBases), 0),
                              std::make_pair(ArrayRef<int32_t>(plan.warpBases), 5)})
    for (auto [bit, basis] : llvm::enumerate(bases)) {
      if (!basis)
        continue;
      Value isSet = threadParity(shift ? 0 : 1 << bit, shift ? 1 << bit : 0);
      Value term = LLVM::SelectOp::create(b, loc, isSet, in.i32(basis), in.i32(0));
      source = LLVM::XOrOp::create(b, loc, source, term);
    }
  int32_t highest = 0;
  for (const ShufflePlan::Round &round : plan.rounds)
    highest = std::max(highest, round.result);
  Registers results(llvm::PowerOf2Ceil(highest + 1));
  for (const ShufflePlan::Round &round : plan.rounds) {
    Value v = regs[round.source];
    if (plan.needsShuffle(round)) {
      Value from = round.laneXor
                       ? LLVM::XOrOp::create(b, loc, source, in.i32(round.laneXor)).getResult()
                       : source;
      v = in.shuffleIdx(toMemory(v), from);
      v = fromMemory(v, regs[round.source].getType());
    }
    results[round.result] = v;
  }
  applySelects(b, loc, results, plan.after, parity);
  Registers out;
  for (int32_t r : plan.results)
    out.push_back(results[r]);
  return out;
}

//===----------------------------------------------------------------------===//
// Through shared memory
//===----------------------------------------------------------------------===//

Value Lowering::exchangeAddress(const LinearLayout &offsets, unsigned reg, Value base,
                                unsigned bytes) {
  Location loc = in.getLoc();
  int32_t constant = 0, threadBits = 0;
  for (auto [bit, row] : llvm::enumerate(offsets.rows(Dim::reg())))
    if (reg >> bit & 1)
      constant ^= int32_t(row);
  for (Dim dim : {Dim::lane(), Dim::warp()})
    for (uint64_t row : offsets.rows(dim))
      threadBits |= int32_t(row);
  Value thread = threadPart(offsets, Dim::offset());
  // A swizzle makes the parts overlap: then only XOR combines them.
  int32_t overlapping = constant & threadBits;
  if (overlapping)
    thread = LLVM::XOrOp::create(b, loc, thread, in.i32(overlapping));
  constant &= ~overlapping;
  Value byte = bytes == 1
                   ? thread
                   : LLVM::ShlOp::create(b, loc, thread, in.i32(llvm::Log2_32(bytes))).getResult();
  Value p = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, byte);
  if (constant)
    p = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), p,
                            ArrayRef<LLVM::GEPArg>{int32_t(constant * bytes)});
  return p;
}

LogicalResult Lowering::exchange(cta::ConvertLayoutOp op) {
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("needs an exchange through shared memory but has none assigned");
  const LinearLayout &from = cta::getLayout(op.getSrc().getType());
  const LinearLayout &to = cta::getLayout(op.getType());
  const Registers &src = get(op.getSrc());
  Type type = src.front().getType();
  Type memory = type.isInteger(1) ? b.getI8Type() : type;
  unsigned bytes = bitWidth(memory) / 8;
  Value base = sharedBase(scratch.getInt());

  SharedLayout shared = optimalSwizzle(from, to, bytes);
  LinearLayout write = offsetsOf(from, shared.layout), read = offsetsOf(to, shared.layout);
  VectorAccess writes = widestVector(write, Dim::offset(), shared.writeVectorLog2);
  VectorAccess reads = widestVector(read, Dim::offset(), shared.readVectorLog2);

  Value writer = writerPredicate(from, 0);
  llvm::SmallDenseSet<uint64_t> written; // registers may hold copies
  for (int32_t first : writes.firstRegisters) {
    uint64_t offset = 0;
    for (auto [bit, row] : llvm::enumerate(write.rows(Dim::reg())))
      if (first >> bit & 1)
        offset ^= row;
    if (!written.insert(offset).second)
      continue;
    SmallVector<Value> group;
    for (unsigned k = 0; k < (1u << writes.log2()); ++k)
      group.push_back(toMemory(src[writes.registerAt(first, k)]));
    in.storeShared(exchangeAddress(write, first, base, bytes), group, writer);
  }
  in.barrier();
  Registers regs(to.inSize(Dim::reg()));
  for (int32_t first : reads.firstRegisters) {
    SmallVector<Value> group =
        in.loadShared(memory, 1u << reads.log2(), exchangeAddress(read, first, base, bytes));
    for (auto [k, v] : llvm::enumerate(group))
      regs[reads.registerAt(first, k)] = fromMemory(v, type);
  }
  set(op.getResult(), std::move(regs));
  return success();
}

LogicalResult Lowering::lowerConvert(cta::ConvertLayoutOp op) {
  Plan plan = planFor(op);
  switch (plan.conversion.kind) {
  case ConversionKind::NoOp:
  case ConversionKind::RegistersOnly: {
    Registers regs;
    for (int32_t r = 0; r < cta::getLayout(op.getType()).inSize(Dim::reg()); ++r)
      regs.push_back(get(op.getSrc())[plan.conversion.sourceRegister(r)]);
    set(op.getResult(), std::move(regs));
    return success();
  }
  case ConversionKind::WithinWarp:
    if (plan.shuffles) {
      set(op.getResult(), shuffleBlock(get(op.getSrc()), *plan.shuffles));
      return success();
    }
    return exchange(op);
  case ConversionKind::WithinCta:
    return exchange(op);
  case ConversionKind::AcrossCluster:
    return op.emitOpError("conversion across thread blocks is not supported");
  }
  llvm_unreachable("all kinds are handled");
}
