//===- LinearLayoutTest.cpp - the laws of the algebra, executed -----------===//
#include "RandomLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace tile::layout;
using namespace tile::layout::test;

namespace {

const Dim R = Dim::reg(), L = Dim::lane(), W = Dim::warp(), O = Dim::offset();
const Dim D0 = Dim::dim(0), D1 = Dim::dim(1);
constexpr int kRounds = 2000;

LinearLayout make(llvm::ArrayRef<LinearLayout::InDim> ins, llvm::ArrayRef<DimValue> outs) {
  auto l = LinearLayout::create(ins, outs);
  EXPECT_TRUE(l.has_value());
  return l.value_or(LinearLayout());
}

Position positionOf(uint64_t packed, llvm::ArrayRef<DimValue> dims) {
  Position p;
  for (const DimValue &d : dims) {
    p.push_back({d.first, int32_t(packed & (d.second - 1))});
    packed >>= log2Exact(d.second);
  }
  return p;
}

//===----------------------------------------------------------------------===//
// Construction and text
//===----------------------------------------------------------------------===//

TEST(Dim, NamesAreInterned) {
  EXPECT_EQ(Dim::get("lane"), Dim::lane());
  EXPECT_EQ(Dim::get("dim3"), Dim::dim(3));
  EXPECT_EQ(Dim::get("dim11"), Dim::dim(11));
  EXPECT_EQ(Dim::dim(11).name(), "dim11");
  EXPECT_NE(Dim::get("a"), Dim::get("b"));
  EXPECT_EQ(Dim::get("b").name(), "b");
}

TEST(LinearLayout, HeaderExample) {
  LinearLayout l = make({{R, {{1}}}, {L, {{2}, {4}}}, {W, {{8}}}}, {{D0, 16}});
  EXPECT_EQ(l.str(), "{register = [[1]], lane = [[2], [4]], warp = [[8]]}");
  EXPECT_EQ(l.apply({{R, 1}, {L, 3}, {W, 1}}), (Position{{D0, 15}}));
  EXPECT_EQ(l.apply({{L, 2}}), (Position{{D0, 4}}));
  EXPECT_TRUE(l.isInvertible());
}

TEST(LinearLayout, CreateRejectsWhatDoesNotFit) {
  EXPECT_FALSE(LinearLayout::create({{R, {{4}}}}, {{D0, 4}}));       // beyond the size
  EXPECT_FALSE(LinearLayout::create({{R, {{1, 0}}}}, {{D0, 4}}));    // too many entries
  EXPECT_FALSE(LinearLayout::create({{R, {{-1}}}}, {{D0, 4}}));      // negative
  EXPECT_FALSE(LinearLayout::create({{R, {{1}}}}, {{D0, 3}}));       // not a power of two
  EXPECT_FALSE(LinearLayout::create({{R, {}}, {R, {}}}, {{D0, 1}})); // twice
  EXPECT_FALSE(LinearLayout::create({}, {{D0, 1 << 30}, {D1, 1 << 30}, {O, 8}})); // too large
  EXPECT_TRUE(LinearLayout::create({}, {}));
}

TEST(LinearLayout, EmptyInputPrintsAsEmptyList) {
  EXPECT_EQ(make({{R, {}}, {L, {{0, 0}}}}, {{D0, 1}, {D1, 4}}).str(),
            "{register = [], lane = [[0, 0]]}");
}

TEST(LinearLayout, Factories) {
  EXPECT_EQ(LinearLayout::identity1D(8, R, D0), make({{R, {{1}, {2}, {4}}}}, {{D0, 8}}));
  EXPECT_EQ(LinearLayout::strided1D(4, 8, R, D0), make({{R, {{8}, {16}}}}, {{D0, 32}}));
  EXPECT_EQ(LinearLayout::zeros1D(4, R, D0, 2), make({{R, {{0}, {0}}}}, {{D0, 2}}));
  EXPECT_EQ(LinearLayout::identity1D(1, R, D0).totalInSizeLog2(), 0);
}

//===----------------------------------------------------------------------===//
// Laws
//===----------------------------------------------------------------------===//

TEST(LinearLayoutLaws, ApplyIsLinear) {
  RandomLayouts random(1);
  for (int i = 0; i < kRounds; ++i) {
    LinearLayout l = random.any(random.dims({R, L, W}, 5), random.dims({D0, D1}, 6));
    uint64_t limit = lowBits(l.totalInSizeLog2());
    uint64_t x = random.engine() & limit, y = random.engine() & limit;
    EXPECT_EQ(l.image(x ^ y), l.image(x) ^ l.image(y));
    Position at = positionOf(x, l.ins());
    EXPECT_EQ(l.apply(at), positionOf(l.image(x), l.outs()));
  }
}

TEST(LinearLayoutLaws, ComposeAppliesInnerThenOuter) {
  RandomLayouts random(2);
  for (int i = 0; i < kRounds; ++i) {
    Position middle = random.dims({D0, D1}, 5);
    LinearLayout inner = random.any(random.dims({R, L}, 5), middle);
    // The outer map may list its inputs in another order and be larger.
    Position taken = {{D1, middle[1].second << random.upTo(1)}, {D0, middle[0].second}};
    LinearLayout outer = random.any(taken, random.dims({O}, 12));
    LinearLayout both = inner.compose(outer);
    EXPECT_EQ(both.ins(), inner.ins());
    EXPECT_EQ(both.outs(), outer.outs());
    for (uint64_t x = 0; x <= lowBits(inner.totalInSizeLog2()); x += 1 + random.upTo(30)) {
      Position in = positionOf(x, inner.ins());
      EXPECT_EQ(both.apply(in), outer.apply(inner.apply(in)));
    }
  }
}

TEST(LinearLayoutLaws, ProductActsOnLowAndHighBits) {
  RandomLayouts random(3);
  for (int i = 0; i < kRounds; ++i) {
    LinearLayout a = random.any(random.dims({R, L}, 3), random.dims({D0, D1}, 3));
    LinearLayout b = random.any(random.dims({W, R}, 3), random.dims({D1, O}, 3));
    LinearLayout p = a * b;
    for (Dim d : {R, L, W})
      EXPECT_EQ(p.inSize(d), a.inSize(d) * b.inSize(d));
    for (int j = 0; j < 8; ++j) {
      Position x = positionOf(random.engine(), a.ins()), y = positionOf(random.engine(), b.ins());
      Position z;
      for (const DimValue &d : p.ins()) {
        auto valueIn = [&](const Position &at) {
          auto *it = llvm::find_if(at, [&](const DimValue &v) { return v.first == d.first; });
          return it == at.end() ? 0 : it->second;
        };
        z.push_back({d.first, valueIn(x) + valueIn(y) * a.inSize(d.first)});
      }
      Position expected;
      Position fx = a.apply(x), fy = b.apply(y);
      auto coordinate = [](const Position &at, Dim d) {
        auto *it = llvm::find_if(at, [&](const DimValue &v) { return v.first == d; });
        return it == at.end() ? 0 : it->second;
      };
      for (const DimValue &d : p.outs())
        expected.push_back(
            {d.first, coordinate(fx, d.first) + coordinate(fy, d.first) * a.outSize(d.first)});
      EXPECT_EQ(p.apply(z), expected);
    }
    EXPECT_EQ(a * LinearLayout(), a);
    EXPECT_EQ(LinearLayout() * a, a);
  }
}

TEST(LinearLayoutLaws, ProductIsAssociative) {
  RandomLayouts random(4);
  for (int i = 0; i < kRounds; ++i) {
    LinearLayout a = random.any(random.dims({R, L}, 2), random.dims({D0, D1}, 2));
    LinearLayout b = random.any(random.dims({L, R}, 2), random.dims({D1, D0}, 2));
    LinearLayout c = random.any(random.dims({W, R}, 2), random.dims({D0}, 2));
    EXPECT_EQ((a * b) * c, a * (b * c));
  }
}

TEST(LinearLayoutLaws, DivisionUndoesProduct) {
  RandomLayouts random(5);
  for (int i = 0; i < kRounds; ++i) {
    LinearLayout a = random.any(random.dims({R, L}, 3), random.dims({D0, D1}, 3));
    LinearLayout b = random.any(random.dims({R, L}, 3), random.dims({D0, D1}, 3));
    LinearLayout p = a * b;
    EXPECT_EQ(p.divideLeft(a), b);
    EXPECT_EQ(p.divideRight(b), a);
  }
  // Mixing low and high bits leaves no quotient.
  LinearLayout swapped = make({{R, {{2}, {1}}}}, {{D0, 4}});
  EXPECT_FALSE(swapped.divideLeft(LinearLayout::identity1D(2, R, D0)));
  EXPECT_FALSE(swapped.divideLeft(LinearLayout::identity1D(8, R, D0)));
  EXPECT_FALSE(swapped.divideLeft(LinearLayout::identity1D(2, L, D0)));
}

TEST(LinearLayoutLaws, InverseComposesToIdentity) {
  RandomLayouts random(6);
  for (int i = 0; i < kRounds; ++i) {
    Position outs = random.dims({D0, D1}, 5);
    unsigned total = RandomLayouts::bits(outs), reg = random.upTo(total);
    LinearLayout l =
        random.surjective({{R, 1 << reg}, {L, 1 << (total - reg)}}, outs, random.coin());
    ASSERT_TRUE(l.isInvertible());
    LinearLayout inverse = l.invert();
    LinearLayout there = l.compose(inverse), back = inverse.compose(l);
    for (unsigned bit = 0; bit < total; ++bit) {
      EXPECT_EQ(there.rows()[bit], 1ull << bit);
      EXPECT_EQ(back.rows()[bit], 1ull << bit);
    }
    EXPECT_EQ(inverse.invert(), l);
  }
}

TEST(LinearLayoutLaws, PseudoInverseIsARightInverseThatAvoidsFreeBits) {
  RandomLayouts random(7);
  for (int i = 0; i < kRounds; ++i) {
    Position outs = random.dims({D0, D1}, 4);
    LinearLayout l = random.distributed(outs, random.upTo(5), random.upTo(2), random.coin());
    ASSERT_TRUE(l.isSurjective());
    LinearLayout inverse = l.pseudoInvert();
    LinearLayout round = inverse.compose(l);
    for (int32_t bit = 0; bit < l.totalOutSizeLog2(); ++bit) {
      EXPECT_EQ(round.rows()[bit], 1ull << bit);
      EXPECT_EQ(inverse.rows()[bit] & l.freeBits(), 0u);
    }
  }
}

TEST(LinearLayoutLaws, FreeBitsLeaveAnInjectiveMapWithTheSameImage) {
  RandomLayouts random(8);
  for (int i = 0; i < kRounds; ++i) {
    LinearLayout l = random.any(random.dims({R, L, W}, 3), random.dims({D0, D1}, 3));
    LinearLayout used = l;
    for (const DimValue &mask : l.freeVariableMasks())
      used = used.removeInBits(mask.first, mask.second);
    EXPECT_TRUE(used.isInjective());
    EXPECT_EQ(used.rank(), l.rank());
  }
}

TEST(LinearLayoutLaws, InvertAndComposeFindsTheElement) {
  RandomLayouts random(9);
  for (int i = 0; i < kRounds; ++i) {
    Position outs = random.dims({D0, D1}, 4);
    LinearLayout from = random.distributed(outs, 3, 1, random.coin());
    LinearLayout to = random.distributed(outs, 3, 1, random.coin());
    LinearLayout recipe = to.invertAndCompose(from);
    EXPECT_EQ(recipe.compose(from), to);
  }
}

TEST(LinearLayoutLaws, RankAgreesWithCountingImages) {
  for (uint64_t rows = 0; rows < 512; ++rows) { // every 3 x 3 map
    LinearLayout l =
        LinearLayout::fromRows({{R, 8}}, {{D0, 8}}, {rows & 7, rows >> 3 & 7, rows >> 6 & 7});
    uint64_t seen = 0;
    for (uint64_t x = 0; x < 8; ++x)
      seen |= 1ull << l.image(x);
    EXPECT_EQ(llvm::popcount(seen), 1 << l.rank());
    EXPECT_EQ(l.isSurjective(), seen == 255);
    EXPECT_EQ(l.isInvertible(), seen == 255);
  }
}

TEST(LinearLayoutLaws, ReshapesAndTransposesRoundTrip) {
  RandomLayouts random(10);
  for (int i = 0; i < kRounds; ++i) {
    LinearLayout l = random.any(random.dims({R, L}, 4), random.dims({D0, D1}, 4));
    EXPECT_EQ(l.transposeOuts({D1, D0}).transposeOuts({D0, D1}), l);
    EXPECT_EQ(l.transposeIns({L, R}).transposeIns({R, L}), l);
    LinearLayout flat = l.reshapeOuts({{O, 1 << l.totalOutSizeLog2()}});
    EXPECT_EQ(flat.reshapeOuts(l.outs()), l);
    EXPECT_EQ(l.sublayout({R, L}, {D0, D1}), l);
    EXPECT_EQ(l.sublayout({R}, {D0, D1}).concatIns(l.sublayout({L}, {D0, D1})), l);
    EXPECT_EQ(l.sublayout({R, L}, {D0}).concatOuts(l.sublayout({R, L}, {D1})), l);
    EXPECT_EQ(l.renameOut(D0, O).renameOut(O, D0), l);
    EXPECT_EQ(l.renameIn(R, W).renameIn(W, R), l);
    EXPECT_TRUE(l.sublayoutIsZero({R}, {O}));
  }
}

TEST(LinearLayout, ReshapeOutsIsFirstDimensionMinor) {
  LinearLayout l = make({{R, {{1, 0}, {0, 1}}}}, {{D0, 2}, {D1, 2}});
  EXPECT_EQ(l.reshapeOuts({{O, 4}}), LinearLayout::identity1D(4, R, O));
}

TEST(LinearLayout, EqualityAndHash) {
  LinearLayout a = LinearLayout::identity1D(8, R, D0), b = LinearLayout::identity1D(8, L, D0);
  EXPECT_NE(a, b);
  EXPECT_EQ(hash_value(a),
            hash_value(LinearLayout::identity1D(4, R, D0) * LinearLayout::identity1D(2, R, D0)));
}

TEST(LinearLayout, RemoveZeroBases) {
  LinearLayout l = make({{R, {{1}, {0}, {2}}}, {L, {{0}}}}, {{D0, 4}});
  EXPECT_EQ(l.removeZeroBases(R), make({{R, {{1}, {2}}}, {L, {{0}}}}, {{D0, 4}}));
}

} // namespace
