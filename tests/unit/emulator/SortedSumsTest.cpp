//===- SortedSumsTest.cpp - sums that are the same in every order ----------===//
#include "tests/unit/emulator/EmuTest.h"
#include <cmath>
#include <set>

using namespace tile::emu;

namespace {

const std::string kPolled = "  %there = load float, ptr addrspace(1) %p1\n"
                            "  store float %there, ptr addrspace(1) %p2\n";

/// Each thread adds its element of p0 to p1[0].
std::string sumKernel(const std::string &add, const std::string &then = "") {
  return kernel("  %from = getelementptr float, ptr addrspace(1) %p0, i32 %tid\n"
                "  %x = load float, ptr addrspace(1) %from\n" +
                    add + then + "  ret void",
                3);
}

const std::string kAtomicRmw = "  %old = atomicrmw fadd ptr addrspace(1) %p1, float %x monotonic\n";
const std::string kPtx = "  call void asm sideeffect \"red.relaxed.gpu.global.add.f32 [$0], $1;\", "
                         "\"l,f\"(ptr addrspace(1) %p1, float %x)\n";

struct Sums {
  std::set<float> seen;
  bool areSeen = false;
};

/// What twelve orders leave of 64 numbers of very different sizes, and 4.
Sums sumsOf(const std::string &ir, bool sorted) {
  std::vector<float> terms(64), sum(1), other(1);
  for (size_t i = 0; i < terms.size(); ++i)
    terms[i] = std::ldexp(i % 2 ? -1.1f : 1.3f, int(i % 23));
  Bench bench(ir);
  bench.buffer(terms), bench.buffer(sum), bench.buffer(other);
  Sums sums;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    sum[0] = 4;
    RunOptions options;
    options.check = false;
    options.sortSums = sorted;
    if (seed)
      options.seed = seed;
    Report report = bench.run(uint32_t(terms.size()), 0, options);
    EXPECT_TRUE(report.ok()) << report.str();
    sums.seen.insert(sum[0]);
    sums.areSeen |= report.sumsAreSeen;
  }
  return sums;
}

TEST(EmuSortedSums, OneResultOfAllOrders) {
  for (const std::string &add : {kAtomicRmw, kPtx}) {
    EXPECT_GT(sumsOf(sumKernel(add), false).seen.size(), 1u) << "the order shows";
    Sums sums = sumsOf(sumKernel(add), true);
    EXPECT_EQ(sums.seen.size(), 1u);
    double exact = 4;
    for (int i = 0; i < 64; ++i)
      exact += std::ldexp(i % 2 ? -1.1f : 1.3f, i % 23);
    EXPECT_NEAR(*sums.seen.begin(), exact, 4);
    EXPECT_FALSE(sums.areSeen);
  }
}

TEST(EmuSortedSums, LoadsOfWhatIsAddedUpAreSeen) {
  EXPECT_TRUE(sumsOf(sumKernel(kAtomicRmw, kPolled), true).areSeen);
}

TEST(EmuSortedSums, WhatIsStoredLaterStays) {
  Sums sums = sumsOf(sumKernel(kAtomicRmw, "  call void @llvm.nvvm.barrier.cta.sync.aligned.all("
                                           "i32 0)\n  store float 7.0, ptr addrspace(1) %p1\n"),
                     true);
  EXPECT_EQ(sums.seen, std::set<float>{7.0f});
}

/// Memory of no buffer may be gone when the launch is over.
TEST(EmuSortedSums, SumsElsewhereAreLeftAlone) {
  Sums sums = sumsOf(kernel("  %own = alloca float\n  store float 1.0, ptr %own\n"
                            "  %old = atomicrmw fadd ptr %own, float 2.0 monotonic\n"
                            "  %s = addrspacecast ptr addrspace(3) @smem to ptr\n  ret void",
                            3),
                     true);
  EXPECT_EQ(sums.seen, std::set<float>{4.0f});
}

} // namespace
