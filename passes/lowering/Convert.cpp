//===- Convert.cpp - moving a block from one layout to another ------------===//
//
// The cheapest of three ways that fits:
//   registers  each thread already has what it needs: rename registers;
//   shuffles   exchange within each warp, of whole words where several small elements go the
//              same way;
//   scratch    write the block to shared memory in one layout, barrier, read it
//              in the other. The buffer is swizzled so that both sides move
//              wide words without bank conflicts (SharedAccess.cpp).
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Conversion.h"
#include "ir/layout/MatrixAccess.h"
#include "passes/lowering/Conversions.h"
#include "passes/memory/Costs.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using namespace tile::layout;

namespace {
/// The mechanism for one conversion, decided once for all users.
struct Plan {
  Conversion conversion;
  std::optional<WordShuffles> shuffles;
  unsigned numShuffles = 0; ///< instructions
  bool usesScratch() const {
    return conversion.kind == ConversionKind::WithinCta ||
           (conversion.kind == ConversionKind::WithinWarp && !shuffles);
  }
};
} // namespace

/// How many elements a shuffle can carry, as a power of two. Truths are no part of a word.
static unsigned elementsOfWordLog2(Type element) {
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return bits == 8 ? 2 : bits == 16 ? 1 : 0;
}

static Plan planFor(const LinearLayout &from, const LinearLayout &to, Type element,
                    const Tuning &tuning) {
  Plan plan{planConversion(from, to), std::nullopt};
  if (plan.conversion.kind != ConversionKind::WithinWarp)
    return plan;
  plan.shuffles = planWordShuffles(from, to, plan.conversion, elementsOfWordLog2(element));
  if (plan.shuffles)
    plan.numShuffles =
        plan.shuffles->plan.numShuffles() * std::max(getElementBytes(element) / 4, 1u);
  if (plan.numShuffles > tuning.mostShuffles)
    plan.shuffles.reset();
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
    const ShufflePlan &words = plan.shuffles->plan;
    double count = plan.numShuffles, size = plan.shuffles->wordSize();
    double selects =
        double(words.before.size() + words.after.size()) * from.inSize(Dim::reg()) / size;
    double joins = size > 1 ? to.inSize(Dim::reg()) / size : 0;
    return {count + selects + joins, count, tuning.shuffleCycles};
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
                                    cta::getLayout(op.getType()), bytes, tuningOfExchange(op));
  return llvm::alignTo(parts.bytes, 16);
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

namespace {
/// Exchanges within each warp.
class Shuffles {
public:
  explicit Shuffles(Core &core) : core(core), in(core.in), b(core.b) {}

  Registers shuffleWords(const Registers &regs, const WordShuffles &shuffles);

private:
  Registers shuffleBlock(Registers regs, const ShufflePlan &plan);
  Value threadParity(int32_t laneMask, int32_t warpMask);

  Core &core;
  Instructions &in;
  OpBuilder &b;
};
} // namespace

/// parity(lane & laneMask) ^ parity(warp & warpMask) as an i1.
Value Shuffles::threadParity(int32_t laneMask, int32_t warpMask) {
  Location loc = in.getLoc();
  Value bits = LLVM::AndOp::create(b, loc, core.tid, in.i32(laneMask | warpMask << 5));
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

Registers Shuffles::shuffleBlock(Registers regs, const ShufflePlan &plan) {
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
      v = in.shuffleIdx(core.toMemory(v), from);
      v = core.fromMemory(v, regs[round.source].getType());
    }
    results[round.result] = v;
  }
  applySelects(b, loc, results, plan.after, parity);
  Registers out;
  for (int32_t r : plan.results)
    out.push_back(results[r]);
  return out;
}

/// Where an element arrives: in which word, and as which of its elements.
static std::pair<int32_t, int32_t> placeInWords(int32_t reg, ArrayRef<int32_t> wordBits) {
  int32_t element = 0, mask = 0;
  for (auto [e, bit] : llvm::enumerate(wordBits)) {
    element |= (reg >> bit & 1) << e;
    mask |= 1 << bit;
  }
  int32_t word = 0;
  for (int32_t bit = 0, next = 0; reg >> bit; ++bit)
    if (!(mask >> bit & 1))
      word |= (reg >> bit & 1) << next++;
  return {word, element};
}

/// A word of elements that arrived in one or two other words; null if in more.
static Value joinElements(Instructions &in, ArrayRef<Value> words,
                          ArrayRef<std::pair<int32_t, int32_t>> places) {
  unsigned bytes = 4 / unsigned(places.size());
  Value low = words[places.front().first], high;
  uint32_t selector = 0;
  for (auto [slot, place] : llvm::enumerate(places)) {
    Value word = words[place.first];
    if (word != low && high && word != high)
      return {};
    if (word != low)
      high = word;
    for (unsigned byte = 0; byte < bytes; ++byte)
      selector |= uint32_t((word == low ? 0 : 4) + place.second * bytes + byte)
                  << 4 * (slot * bytes + byte);
  }
  return !high && selector == 0x3210 ? low : in.permuteBytes(low, high ? high : low, selector);
}

Registers Shuffles::shuffleWords(const Registers &regs, const WordShuffles &shuffles) {
  unsigned size = shuffles.wordSize();
  if (size == 1)
    return shuffleBlock(regs, shuffles.plan);
  Type type = regs.front().getType();
  unsigned wordBits = size * bitWidth(type);
  Registers ordered(regs.size());
  for (auto [r, value] : llvm::enumerate(regs)) {
    auto [word, element] = placeInWords(int32_t(r), shuffles.fromBits);
    ordered[word * size + element] = value;
  }
  Registers words = shuffleBlock(Registers(in.pack(ordered, wordBits)), shuffles.plan);

  SmallVector<std::pair<int32_t, int32_t>> places;
  for (unsigned r = 0; r < words.size() * size; ++r)
    places.push_back(placeInWords(int32_t(r), shuffles.toBits));
  Registers joined, out;
  for (unsigned r = 0; wordBits == 32 && r < places.size(); r += size)
    joined.push_back(joinElements(in, words, ArrayRef(places).slice(r, size)));
  if (!joined.empty() && !llvm::is_contained(joined, Value()))
    return Registers(in.unpack(joined, type, places.size()));
  Registers elements(in.unpack(words, type, places.size()));
  for (auto [word, element] : places)
    out.push_back(elements[word * size + element]);
  return out;
}

LogicalResult lowering::lowerConvert(Core &core, cta::ConvertLayoutOp op) {
  Plan plan = planFor(op);
  switch (plan.conversion.kind) {
  case ConversionKind::NoOp:
  case ConversionKind::RegistersOnly: {
    Registers regs;
    for (int32_t r = 0; r < cta::getLayout(op.getType()).inSize(Dim::reg()); ++r)
      regs.push_back(core.get(op.getSrc())[plan.conversion.sourceRegister(r)]);
    core.set(op.getResult(), std::move(regs));
    return success();
  }
  case ConversionKind::WithinWarp:
    if (plan.shuffles) {
      core.set(op.getResult(), Shuffles(core).shuffleWords(core.get(op.getSrc()), *plan.shuffles));
      return success();
    }
    return exchange(core, op);
  case ConversionKind::WithinCta:
    return exchange(core, op);
  case ConversionKind::AcrossCluster:
    return op.emitOpError("conversion across thread blocks is not supported");
  }
  llvm_unreachable("all kinds are handled");
}
