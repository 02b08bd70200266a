//===- Conversion.cpp - how a block gets from one layout to another -------===//
#include "ir/layout/Conversion.h"
#include "ir/layout/GF2.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cassert>

using namespace tile::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

/// Solves "which source position with these outer coordinates holds this
/// element" at each distance. `upTo[k]` is spanned by the source inputs 0..k:
/// registers; registers and lanes; and so on.
namespace {
class NearestSource {
public:
  explicit NearestSource(const LinearLayout &from) : from(from), upTo(from.ins().size()) {
    unsigned bit = 0;
    for (auto [k, in] : llvm::enumerate(from.ins())) {
      if (k)
        upTo[k] = upTo[k - 1];
      for (uint64_t row : from.rows(in.first)) {
        upTo[k].insert(row, 1ull << bit);
        ++bit;
      }
    }
  }

  /// The source position of what destination input bit (dimension `dim`, bit
  /// `bit`, image `row`) adds.
  uint64_t find(unsigned dim, unsigned bit, uint64_t row) const {
    Dim name = from.ins()[dim].first;
    bool exists = int32_t(bit) < from.inSizeLog2(name);
    if (exists && from.rows(name)[bit] == row)
      return 1ull << (from.inShift(name) + bit);
    // Keep the coordinates of dimension `keep` and beyond, for growing `keep`.
    for (unsigned keep = 1; keep <= upTo.size(); ++keep) {
      uint64_t same = 0;
      if (dim >= keep) {
        if (!exists)
          continue;
        same = 1ull << (from.inShift(name) + bit);
      }
      if (auto rest = upTo[keep - 1].solve(row ^ from.image(same)))
        return *rest ^ same;
    }
    assert(false && "the source does not hold every element");
    return 0;
  }

private:
  const LinearLayout &from;
  SmallVector<XorSpan, 4> upTo;
};
} // namespace

/// How far a position `source` found for destination bit (dim, bit) reaches.
static ConversionKind reach(const LinearLayout &from, unsigned dim, unsigned bit, uint64_t source) {
  Dim name = from.ins()[dim].first;
  uint64_t same = int32_t(bit) < from.inSizeLog2(name) ? 1ull << (from.inShift(name) + bit) : 0;
  uint64_t moved = source ^ same;
  if (!moved && same)
    return ConversionKind::NoOp;
  if (from.inMask(Dim::block()) & moved || name == Dim::block())
    return ConversionKind::AcrossCluster;
  if (from.inMask(Dim::warp()) & moved || (name == Dim::warp() && !same))
    return ConversionKind::WithinCta;
  // A lane (or warp) that takes another register than the others needs a select.
  if (from.inMask(Dim::lane()) & moved || name != Dim::reg())
    return ConversionKind::WithinWarp;
  return ConversionKind::RegistersOnly;
}

Conversion tile::layout::planConversion(const LinearLayout &from, const LinearLayout &toAnyOrder) {
  SmallVector<Dim, 4> order;
  for (const DimValue &out : from.outs())
    order.push_back(out.first);
  LinearLayout to = toAnyOrder.transposeOuts(order);
  assert(from.outs() == to.outs() && from.ins().size() == to.ins().size() &&
         "conversion between different blocks");

  Conversion result{from.inSize(Dim::reg()) == to.inSize(Dim::reg())
                        ? ConversionKind::NoOp
                        : ConversionKind::RegistersOnly,
                    {}};
  NearestSource nearest(from);
  SmallVector<uint64_t, 16> rows;
  for (auto [dim, in] : llvm::enumerate(to.ins()))
    for (auto [bit, row] : llvm::enumerate(to.rows(in.first))) {
      uint64_t source = nearest.find(dim, bit, row);
      result.kind = std::max(result.kind, reach(from, dim, bit, source));
      rows.push_back(source);
    }
  result.map = LinearLayout::fromRows(to.ins(), from.ins(), rows);
  return result;
}

int32_t Conversion::sourceRegister(int32_t r) const {
  return int32_t(map.image(uint64_t(r)) & map.outMask(Dim::reg()));
}

//===----------------------------------------------------------------------===//
// Shuffles
//
// Positions of the warp form a space: destination registers x lanes. A round
// moves one element to every lane, so it is a set of positions with each lane
// once. Taking all rounds as cosets of one subspace W = {(rho(l), l)}, what a
// lane sends must depend on that lane alone: the source register must be a
// function of the source lane over W. W is grown one lane bit at a time.
//===----------------------------------------------------------------------===//

namespace {
class ShufflePlanner {
public:
  ShufflePlanner(const LinearLayout &from, const LinearLayout &to, const LinearLayout &map)
      : from(from), to(to), regMask(from.inMask(Dim::reg())), regBits(from.inSizeLog2(Dim::reg())),
        warpShift(from.inSizeLog2(Dim::lane())) {
    for (uint64_t row : map.rows(Dim::reg()))
      regImages.push_back(row);
    for (uint64_t row : map.rows(Dim::lane()))
      laneImages.push_back(row);
    for (uint64_t row : map.rows(Dim::warp()))
      warpImages.push_back(row);
  }

  std::optional<ShufflePlan> plan();

private:
  void addRounds(ShufflePlan &plan, uint64_t copiesOfRegs);
  int32_t registerOf(uint64_t source) const { return int32_t(source & regMask); }
  uint64_t lanesOf(uint64_t source) const { return source >> regBits; } // lane, warp above
  /// Adds a vector of W, given its source; false if a lane would have to send
  /// two different registers in one round.
  bool addSource(uint64_t source) {
    uint64_t lanes = lanesOf(source), reg = registerOf(source);
    sent.reduce(lanes, reg);
    if (!lanes)
      return reg == 0;
    return sent.insert(lanes, reg);
  }
  bool placeLane(unsigned bit, ArrayRef<uint64_t> copies);
  static void addSelects(SmallVectorImpl<ShufflePlan::Select> &selects, ArrayRef<int32_t> lanes,
                         ArrayRef<int32_t> warps);

  const LinearLayout &from, &to;
  uint64_t regMask;
  unsigned regBits, warpShift;
  SmallVector<uint64_t, 8> regImages, laneImages, warpImages;
  SmallVector<int32_t, 8> usedRegs; // bits of destination registers that are not copies
  SmallVector<int32_t, 5> shift;    // rho: per lane bit, the register mask
  XorSpan sent;                     // source lane -> source register, over W
};
} // namespace

/// Vectors of source positions (register and lane) that add nothing: all ways
/// to reach copies.
static SmallVector<uint64_t, 8> copyDirections(const LinearLayout &from) {
  SmallVector<uint64_t, 8> result;
  XorSpan span;
  unsigned bits = from.inSizeLog2(Dim::reg()) + from.inSizeLog2(Dim::lane());
  for (unsigned i = 0; i < bits; ++i) {
    uint64_t row = from.rows()[i], combination = 1ull << i;
    span.reduce(row, combination);
    if (row)
      span.insert(row, combination);
    else
      result.push_back(combination);
  }
  return result;
}

/// A lane bit whose source lanes are taken already: read another copy, or
/// let this half of the lanes fetch another register in the same round.
bool ShufflePlanner::placeLane(unsigned bit, ArrayRef<uint64_t> copies) {
  for (uint64_t copy : copies) {
    uint64_t lanes = lanesOf(laneImages[bit] ^ copy), ignored = 0;
    sent.reduce(lanes, ignored);
    if (!lanes)
      continue;
    laneImages[bit] ^= copy;
    return addSource(laneImages[bit]);
  }
  for (int32_t reg : usedRegs) {
    uint64_t source = laneImages[bit] ^ regImages[reg];
    uint64_t lanes = lanesOf(source), ignored = 0;
    sent.reduce(lanes, ignored);
    if (!lanes)
      continue;
    shift[bit] = 1 << reg;
    return addSource(source);
  }
  return false;
}

/// Turns "register mask as a linear function of lane and warp" into as few
/// selects as its rank.
void ShufflePlanner::addSelects(SmallVectorImpl<ShufflePlan::Select> &selects,
                                ArrayRef<int32_t> lanes, ArrayRef<int32_t> warps) {
  XorSpan span;
  auto add = [&](int32_t mask, int32_t laneBit, int32_t warpBit) {
    if (!mask)
      return;
    uint64_t terms;
    if (auto known = span.solve(mask)) {
      terms = *known;
    } else {
      terms = 1ull << selects.size();
      span.insert(mask, terms);
      selects.push_back({mask, 0, 0});
    }
    for (; terms; terms &= terms - 1) {
      ShufflePlan::Select &s = selects[llvm::countr_zero(terms)];
      s.laneMask ^= laneBit;
      s.warpMask ^= warpBit;
    }
  };
  for (auto [bit, mask] : llvm::enumerate(lanes))
    add(mask, 1 << bit, 0);
  for (auto [bit, mask] : llvm::enumerate(warps))
    add(mask, 0, 1 << bit);
}

std::optional<ShufflePlan> ShufflePlanner::plan() {
  uint64_t copiesOfRegs = to.freeBits() & to.inMask(Dim::reg());
  for (unsigned bit = 0; bit < regImages.size(); ++bit)
    if (!(copiesOfRegs >> bit & 1))
      usedRegs.push_back(bit);

  // 1. Grow W: warps, then the lanes that fit by themselves, then the others.
  shift.assign(laneImages.size(), 0);
  for (uint64_t source : warpImages)
    if (!addSource(source))
      return std::nullopt;
  SmallVector<unsigned, 5> deferred;
  for (unsigned bit = 0; bit < laneImages.size(); ++bit)
    if (!addSource(laneImages[bit]))
      deferred.push_back(bit);
  SmallVector<uint64_t, 8> copies =
      deferred.empty() ? SmallVector<uint64_t, 8>() : copyDirections(from);
  for (unsigned bit : deferred)
    if (!placeLane(bit, copies))
      return std::nullopt;

  // 2. What each lane sends, as a function of the lane; lanes nobody reads
  // complete the map with zeros.
  unsigned numWarpBits = warpImages.size();
  for (unsigned bit = 0; bit < warpShift + numWarpBits; ++bit)
    sent.insert(1ull << bit, 0);
  ShufflePlan plan;
  SmallVector<int32_t, 8> sendLanes, sendWarps;
  for (unsigned bit = 0; bit < warpShift; ++bit)
    sendLanes.push_back(int32_t(*sent.solve(1ull << bit)));
  for (unsigned bit = 0; bit < numWarpBits; ++bit)
    sendWarps.push_back(int32_t(*sent.solve(1ull << (warpShift + bit))));
  addSelects(plan.before, sendLanes, sendWarps);
  addSelects(plan.after, shift, {});

  // 3. The lane read by each lane, up to a constant of the round.
  int32_t laneMask = int32_t(lowBits(warpShift));
  for (auto [image, reg] : llvm::zip(laneImages, shift)) {
    uint64_t source = image ^ (reg ? regImages[llvm::countr_zero(uint32_t(reg))] : 0);
    plan.laneBases.push_back(int32_t(lanesOf(source)) & laneMask);
  }
  for (uint64_t image : warpImages)
    plan.warpBases.push_back(int32_t(lanesOf(image)) & laneMask);
  addRounds(plan, copiesOfRegs);
  return plan;
}

/// 4. One round for each destination register that is not a copy.
void ShufflePlanner::addRounds(ShufflePlan &plan, uint64_t copiesOfRegs) {
  int32_t laneMask = int32_t(lowBits(warpShift));
  uint64_t used = to.inMask(Dim::reg()) & ~copiesOfRegs;
  for (int32_t reg = 0; reg < to.inSize(Dim::reg()); ++reg) {
    if (reg & ~used)
      continue;
    uint64_t source = 0;
    for (uint64_t bits = reg; bits; bits &= bits - 1)
      source ^= regImages[llvm::countr_zero(bits)];
    int32_t send = registerOf(source) ^ int32_t(*sent.solve(lanesOf(source)));
    plan.rounds.push_back({send, reg, int32_t(lanesOf(source)) & laneMask});
  }
  XorSpan distinct;
  for (int32_t bit : usedRegs)
    distinct.insert(to.rows()[bit], 1ull << bit);
  for (int32_t reg = 0; reg < to.inSize(Dim::reg()); ++reg)
    plan.results.push_back(int32_t(*distinct.solve(to.image(reg))));
}

std::optional<ShufflePlan> tile::layout::planShuffles(const LinearLayout &from,
                                                      const LinearLayout &to,
                                                      const Conversion &conversion) {
  if (conversion.kind > ConversionKind::WithinWarp)
    return std::nullopt;
  return ShufflePlanner(from, to, conversion.map).plan();
}

/// Bits of destination registers that are a bit of source registers for every element, and that
/// no other destination bit needs.
static SmallVector<std::pair<int32_t, int32_t>, 8> commonRegisterBits(const LinearLayout &map) {
  SmallVector<std::pair<int32_t, int32_t>, 8> common; // source, destination
  ArrayRef<uint64_t> registers = map.rows(Dim::reg());
  for (auto [bit, image] : llvm::enumerate(registers)) {
    if (!llvm::has_single_bit(image) || (image & ~map.outMask(Dim::reg())))
      continue;
    if (llvm::count_if(map.rows(), [&](uint64_t row) { return row & image; }) == 1)
      common.push_back({int32_t(llvm::countr_zero(image)), int32_t(bit)});
  }
  llvm::sort(common);
  return common;
}

std::optional<WordShuffles> tile::layout::planWordShuffles(const LinearLayout &from,
                                                           const LinearLayout &to,
                                                           const Conversion &conversion,
                                                           unsigned mostBits) {
  if (conversion.kind > ConversionKind::WithinWarp)
    return std::nullopt;
  WordShuffles result;
  int32_t fromMask = 0, toMask = 0;
  for (auto [source, destination] : commonRegisterBits(conversion.map)) {
    if (result.fromBits.size() == mostBits)
      break;
    result.fromBits.push_back(source);
    result.toBits.push_back(destination);
    fromMask |= 1 << source;
    toMask |= 1 << destination;
  }
  LinearLayout fromWords = from.removeInBits(Dim::reg(), fromMask);
  LinearLayout toWords = to.removeInBits(Dim::reg(), toMask);
  auto plan = planShuffles(fromWords, toWords, planConversion(fromWords, toWords));
  if (!plan)
    return std::nullopt;
  result.plan = std::move(*plan);
  return result;
}

bool ShufflePlan::needsShuffle(const Round &round) const {
  if (round.laneXor)
    return true;
  for (auto [bit, base] : llvm::enumerate(laneBases))
    if (base != 1 << bit)
      return true;
  return llvm::any_of(warpBases, [](int32_t base) { return base != 0; });
}

unsigned ShufflePlan::numShuffles() const {
  return llvm::count_if(rounds, [&](const Round &round) { return needsShuffle(round); });
}
