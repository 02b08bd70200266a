//===- ConversionTest.cpp - conversions carried out on element numbers ----===//
#include "ir/layout/Conversion.h"
#include "RandomLayout.h"
#include "gtest/gtest.h"

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

const Dim R = Dim::reg(), L = Dim::lane(), W = Dim::warp(), D0 = Dim::dim(0), D1 = Dim::dim(1);

/// What a warp's registers hold: [lane][register] -> element number.
using WarpState = std::vector<std::vector<uint64_t>>;

uint64_t packed(const LinearLayout &l, uint64_t reg, uint64_t lane, uint64_t warp) {
  unsigned r = l.inSizeLog2(R), n = l.inSizeLog2(L);
  return reg | lane << r | warp << (r + n);
}

WarpState stateOf(const LinearLayout &l, int warp) {
  WarpState state(l.inSize(L), std::vector<uint64_t>(l.inSize(R)));
  for (int lane = 0; lane < l.inSize(L); ++lane)
    for (int reg = 0; reg < l.inSize(R); ++reg)
      state[lane][reg] = l.image(packed(l, reg, lane, warp));
  return state;
}

void select(WarpState &state, llvm::ArrayRef<ShufflePlan::Select> selects, int warp) {
  for (const ShufflePlan::Select &s : selects)
    for (size_t lane = 0; lane < state.size(); ++lane) {
      if (!(parity(lane & s.laneMask) ^ parity(warp & s.warpMask)))
        continue;
      std::vector<uint64_t> old = state[lane];
      for (size_t reg = 0; reg < old.size(); ++reg)
        state[lane][reg] = old[reg ^ s.registerMask];
    }
}

/// Runs the plan as the header of ShufflePlan says.
WarpState runPlan(const ShufflePlan &plan, WarpState source, int warp) {
  select(source, plan.before, warp);
  size_t lanes = source.size();
  WarpState temporaries(lanes, std::vector<uint64_t>(plan.results.size(), ~0ull));
  for (const ShufflePlan::Round &round : plan.rounds)
    for (size_t lane = 0; lane < lanes; ++lane) {
      int32_t from = round.laneXor;
      for (size_t bit = 0; bit < plan.laneBases.size(); ++bit)
        if (lane >> bit & 1)
          from ^= plan.laneBases[bit];
      for (size_t bit = 0; bit < plan.warpBases.size(); ++bit)
        if (warp >> bit & 1)
          from ^= plan.warpBases[bit];
      if (!plan.needsShuffle(round)) {
        EXPECT_EQ(from, int32_t(lane));
      }
      temporaries[lane][round.result] = source[from][round.source];
    }
  select(temporaries, plan.after, warp);
  WarpState result(lanes, std::vector<uint64_t>(plan.results.size()));
  for (size_t lane = 0; lane < lanes; ++lane)
    for (size_t reg = 0; reg < plan.results.size(); ++reg)
      result[lane][reg] = temporaries[lane][plan.results[reg]];
  return result;
}

/// The register with number `word` in the bits that are not `elementBits`, and `element` in those.
uint64_t registerOf(uint64_t word, uint64_t element, llvm::ArrayRef<int32_t> elementBits) {
  uint64_t result = 0;
  for (unsigned bit = 0; bit < 16; ++bit) {
    auto found = llvm::find(elementBits, int32_t(bit));
    uint64_t &from = found == elementBits.end() ? word : element;
    unsigned position = found == elementBits.end() ? 0 : unsigned(found - elementBits.begin());
    result |= (from >> position & 1) << bit;
    if (found == elementBits.end())
      word >>= 1;
  }
  return result;
}

/// Words arrive as their elements would one by one.
void checkWords(const LinearLayout &from, const LinearLayout &to, const WordShuffles &words) {
  for (int warp = 0; warp < to.inSize(W); ++warp) {
    WarpState source = stateOf(from, warp), expected = stateOf(to, warp);
    for (uint64_t element = 0; element < words.wordSize(); ++element) {
      WarpState sent(source.size()), wanted(source.size());
      for (size_t lane = 0; lane < source.size(); ++lane) {
        for (uint64_t w = 0; w < source[lane].size() / words.wordSize(); ++w)
          sent[lane].push_back(source[lane][registerOf(w, element, words.fromBits)]);
        for (uint64_t w = 0; w < expected[lane].size() / words.wordSize(); ++w)
          wanted[lane].push_back(expected[lane][registerOf(w, element, words.toBits)]);
      }
      EXPECT_EQ(runPlan(words.plan, sent, warp), wanted);
    }
  }
}

/// The laws of a conversion; returns whether it has a shuffle plan.
bool checkConversion(const LinearLayout &from, const LinearLayout &to) {
  Conversion c = planConversion(from, to);
  EXPECT_EQ(c.map.compose(from), to);
  if (c.kind <= ConversionKind::RegistersOnly) {
    for (int warp = 0; warp < to.inSize(W); ++warp) {
      WarpState a = stateOf(from, warp), b = stateOf(to, warp);
      for (int lane = 0; lane < to.inSize(L); ++lane)
        for (int reg = 0; reg < to.inSize(R); ++reg)
          EXPECT_EQ(b[lane][reg], a[lane][c.sourceRegister(reg)]);
    }
  }
  if (c.kind == ConversionKind::NoOp) {
    EXPECT_EQ(from, to);
  }
  if (c.kind > ConversionKind::WithinWarp)
    return false;
  auto plan = planShuffles(from, to, c);
  if (!plan)
    return false;
  for (int warp = 0; warp < to.inSize(W); ++warp)
    EXPECT_EQ(runPlan(*plan, stateOf(from, warp), warp), stateOf(to, warp));
  return true;
}

LinearLayout make(llvm::ArrayRef<Basis> reg, llvm::ArrayRef<Basis> lane, llvm::ArrayRef<Basis> warp,
                  llvm::ArrayRef<DimValue> outs) {
  auto bases = [](llvm::ArrayRef<Basis> b) {
    return llvm::SmallVector<Basis, 8>(b.begin(), b.end());
  };
  auto l = LinearLayout::create({{R, bases(reg)}, {L, bases(lane)}, {W, bases(warp)}}, outs);
  EXPECT_TRUE(l.has_value());
  return l.value_or(LinearLayout());
}

TEST(Conversion, Kinds) {
  LinearLayout a = make({{1}, {2}}, {{4}, {8}}, {{16}}, {{D0, 32}});
  auto kind = [&](const LinearLayout &to) { return planConversion(a, to).kind; };
  EXPECT_EQ(kind(a), ConversionKind::NoOp);
  EXPECT_EQ(kind(make({{2}, {1}}, {{4}, {8}}, {{16}}, {{D0, 32}})), ConversionKind::RegistersOnly);
  EXPECT_EQ(kind(make({{1}, {4}}, {{2}, {8}}, {{16}}, {{D0, 32}})), ConversionKind::WithinWarp);
  EXPECT_EQ(kind(make({{1}, {2}}, {{5}, {8}}, {{16}}, {{D0, 32}})), ConversionKind::WithinWarp);
  EXPECT_EQ(kind(make({{1}, {16}}, {{4}, {8}}, {{2}}, {{D0, 32}})), ConversionKind::WithinCta);
}

TEST(Conversion, CopiesAreReadWhereTheyAre) {
  // Both warps hold everything: taking another half of it crosses no warp.
  LinearLayout copies = make({{1}, {8}}, {{2}, {4}}, {{0}}, {{D0, 16}});
  LinearLayout halves = make({{1}}, {{2}, {4}}, {{8}}, {{D0, 16}});
  EXPECT_EQ(planConversion(copies, halves).kind, ConversionKind::WithinWarp); // select by warp
  EXPECT_EQ(planConversion(halves, copies).kind, ConversionKind::WithinCta);
  EXPECT_TRUE(checkConversion(copies, halves));
  // More registers with copies of what the thread has.
  LinearLayout twice = make({{1}, {0}}, {{2}, {4}}, {{8}}, {{D0, 16}});
  EXPECT_EQ(planConversion(halves, twice).kind, ConversionKind::RegistersOnly);
  EXPECT_TRUE(checkConversion(halves, twice));
  EXPECT_TRUE(checkConversion(twice, halves));
}

TEST(Conversion, WholeTransposeWithinAWarpTakesOneShuffleARegister) {
  LinearLayout rows = make({{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}},
                           {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}, {}, {{D0, 32}, {D1, 32}});
  LinearLayout columns = make({{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                              {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}}, {}, {{D0, 32}, {D1, 32}});
  ASSERT_TRUE(checkConversion(rows, columns));
  auto plan = planShuffles(rows, columns, planConversion(rows, columns));
  EXPECT_EQ(plan->rounds.size(), 32u);
  EXPECT_EQ(plan->before.size(), 5u);
  EXPECT_EQ(plan->after.size(), 5u);
}

TEST(Conversion, LanePermutationNeedsNoSelects) {
  LinearLayout a = make({{1}}, {{2}, {4}, {8}}, {}, {{D0, 16}});
  LinearLayout b = make({{1}}, {{8}, {2}, {4}}, {}, {{D0, 16}});
  auto plan = planShuffles(a, b, planConversion(a, b));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->before.empty());
  EXPECT_TRUE(plan->after.empty());
  EXPECT_EQ(plan->numShuffles(), 2u);
}

TEST(Conversion, SmallElementsGoByWords) {
  // Sums of a warpgroup product, and the left operand of one of 8 bits: lanes exchange bits 1 and 3
  // of a row's columns; what else registers hold goes along.
  llvm::SmallVector<Basis, 8> lanes = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  LinearLayout sums = make({{0, 1}, {8, 0}, {0, 8}, {0, 16}}, lanes, {}, {{D0, 16}, {D1, 32}});
  lanes[0] = {0, 4};
  lanes[1] = {0, 8};
  LinearLayout left = make({{0, 1}, {0, 2}, {8, 0}, {0, 16}}, lanes, {}, {{D0, 16}, {D1, 32}});
  Conversion c = planConversion(sums, left);
  EXPECT_EQ(planShuffles(sums, left, c)->numShuffles(), 16u);
  for (unsigned bits : {0, 1, 2}) {
    auto words = planWordShuffles(sums, left, c, bits);
    ASSERT_TRUE(words);
    EXPECT_EQ(words->wordSize(), 1u << bits);
    EXPECT_EQ(words->plan.numShuffles(), 16u >> bits);
    checkWords(sums, left, *words);
  }
}

TEST(ConversionLaws, WordsOfRandomLayouts) {
  RandomLayouts random(23);
  int wide = 0;
  for (int i = 0; i < 4000; ++i) {
    Position outs = random.dims({D0, D1}, 4);
    bool unitary = random.upTo(3) != 0;
    unsigned lanes = random.upTo(4), warps = random.upTo(2);
    LinearLayout from = random.distributed(outs, lanes, warps, unitary);
    LinearLayout to = random.distributed(outs, lanes, warps, unitary);
    auto words = planWordShuffles(from, to, planConversion(from, to), 1 + random.upTo(1));
    if (!words)
      continue;
    wide += words->wordSize() > 1;
    checkWords(from, to, *words);
  }
  EXPECT_GT(wide, 100);
}

TEST(ConversionLaws, RandomLayouts) {
  RandomLayouts random(21);
  int withinWarp = 0, planned = 0;
  for (int i = 0; i < 6000; ++i) {
    Position outs = random.dims({D0, D1}, 4);
    bool unitary = random.coin();
    unsigned lanes = random.upTo(5), warps = random.upTo(2);
    LinearLayout from = random.distributed(outs, lanes, warps, unitary);
    LinearLayout to = random.distributed(outs, lanes, warps, unitary);
    bool hasPlan = checkConversion(from, to);
    if (planConversion(from, to).kind == ConversionKind::WithinWarp) {
      ++withinWarp;
      planned += hasPlan;
    }
  }
  EXPECT_GT(withinWarp, 500);
  EXPECT_GT(planned, withinWarp * 8 / 10);
}

TEST(ConversionLaws, WithinOneWarpEveryBijectionHasAPlan) {
  RandomLayouts random(22);
  for (int i = 0; i < 4000; ++i) {
    unsigned lanes = 1 + random.upTo(4), regs = random.upTo(5);
    Position outs = {{D0, 1 << (lanes + regs)}};
    Position ins = {{R, 1 << regs}, {L, 1 << lanes}, {W, 1}};
    bool unitary = random.coin();
    EXPECT_TRUE(checkConversion(random.surjective(ins, outs, unitary),
                                random.surjective(ins, outs, unitary)));
  }
}

TEST(ConversionLaws, EveryPairOfTinyLayouts) {
  // All surjective maps from one register bit and one lane bit (and one more
  // lane bit for copies) to two coordinate bits.
  std::vector<LinearLayout> all;
  for (uint64_t code = 0; code < 64; ++code) {
    LinearLayout l = LinearLayout::fromRows({{R, 2}, {L, 4}, {W, 1}}, {{D0, 4}},
                                            {code & 3, code >> 2 & 3, code >> 4 & 3});
    if (l.isSurjective())
      all.push_back(l);
  }
  for (const LinearLayout &from : all)
    for (const LinearLayout &to : all)
      EXPECT_TRUE(checkConversion(from, to)) << from.str() << " -> " << to.str();
}

} // namespace
