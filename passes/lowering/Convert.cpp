//===- Convert.cpp - moving a block from one layout to another ------------===//
//
// The cheapest of three ways that fits:
//   registers  each thread already has what it needs: rename registers;
//   shuffles   exchange within each warp;
//   scratch    write the block to shared memory in one layout, barrier, read it
//              in the other. The buffer is swizzled so that both sides move
//              wide words without bank conflicts (SharedAccess.cpp).
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Conversion.h"
#include "ir/layout/MatrixAccess.h"
#include "passes/lowering/Lowering.h"
#include "passes/memory/Costs.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using namespace tile::layout;

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

static Plan planFor(const LinearLayout &from, const LinearLayout &to, Type element,
                    const Tuning &tuning) {
  Plan plan{planConversion(from, to), std::nullopt};
  if (plan.conversion.kind == ConversionKind::WithinWarp) {
    plan.shuffles = planShuffles(from, to, plan.conversion);
    unsigned words = std::max(getElementBytes(element) / 4, 1u);
    if (plan.shuffles && plan.shuffles->numShuffles() * words > tuning.mostShuffles)
      plan.shuffles.reset();
  }
  return plan;
}

static Plan planFor(cta::ConvertLayoutOp op) {
  return planFor(cta::getLayout(op.getSrc().getType()), cta::getLayout(op.getType()),
                 getElementType(op.getType()), tuningOf(op));
}

/// One side of an exchange, part by part.
static Cost accessCost(const LinearLayout &holders, const LinearLayout &shared, unsigned bytes,
                       unsigned vectorLog2, const std::optional<MatrixAccess> &matrices) {
  double count = matrices ? double(matrices->firstRegisters.size())
                          : double(holders.inSize(Dim::reg()) >> vectorLog2);
  return {count,
          matrices ? count * matrices->numMatrices()
                   : double(countWavefronts(holders, shared, bytes, vectorLog2)),
          0};
}

Cost lowering::convertCost(const LinearLayout &from, const LinearLayout &to, Type element,
                           const Target &target) {
  const Tuning &tuning = tuningOf(target);
  Plan plan = planFor(from, to, element, tuning);
  if (plan.conversion.kind == ConversionKind::NoOp ||
      plan.conversion.kind == ConversionKind::RegistersOnly)
    return {};
  unsigned bytes = std::max(getElementBytes(element), 1u);
  if (!plan.usesScratch()) {
    double count = plan.shuffles->numShuffles() * std::max(bytes / 4, 1u);
    double selects = double(plan.shuffles->before.size() + plan.shuffles->after.size()) *
                     from.inSize(Dim::reg());
    return {count + selects, count, tuning.shuffleCycles};
  }
  ExchangeParts parts = cutExchange(from, to, bytes, tuning);
  double repeats = 1u << parts.fromBits.size();
  bool hasCopies = !parts.from.isInjective();
  Exchange exchange =
      planExchange(parts.from, parts.to, bytes,
                   {target.has(Feature::Ldmatrix), target.has(Feature::Stmatrix) && !hasCopies});
  const SharedLayout &shared = exchange.shared;
  Cost cost = accessCost(parts.from, shared.layout, bytes, shared.writeVectorLog2, exchange.write);
  cost += accessCost(parts.to, shared.layout, bytes, shared.readVectorLog2, exchange.read);
  return {cost.instructions * repeats, cost.wavefronts * repeats, tuning.exchangeCycles * repeats};
}

int64_t lowering::convertScratchBytes(cta::ConvertLayoutOp op) {
  if (!planFor(op).usesScratch())
    return 0;
  unsigned bytes = std::max(getElementBytes(getElementType(op.getType())), 1u);
  ExchangeParts parts = cutExchange(cta::getLayout(op.getSrc().getType()),
                                    cta::getLayout(op.getType()), bytes, tuningOf(op));
  return llvm::alignTo(parts.bytes, 16);
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
