//===- AmongThreadsTest.cpp - global memory among the threads of one CTA ---===//
#include "tests/unit/emulator/EmuTest.h"

using namespace tile::emu;

namespace {

/// Each thread stores to its own place, and after `between` loads that of the thread `distance`
/// further; the sum goes to another buffer.
std::string turned(const std::string &between, unsigned distance) {
  return kernel("  %own = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n"
                "  store i32 %tid, ptr addrspace(1) %own\n" +
                    between + "  %moved = add i32 %tid, " + std::to_string(distance) +
                    "\n  %next = and i32 %moved, 63\n"
                    "  %other = getelementptr i32, ptr addrspace(1) %p0, i32 %next\n"
                    "  %v = load i32, ptr addrspace(1) %other\n"
                    "  %out = getelementptr i32, ptr addrspace(1) %p1, i32 %tid\n"
                    "  store i32 %v, ptr addrspace(1) %out\n  ret void",
                2);
}

const char *const barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

struct Turned : Bench {
  std::vector<int32_t> a, b;
  explicit Turned(const std::string &ir) : Bench(ir), a(64), b(64) { buffer(a), buffer(b); }
};

TEST(AmongThreads, AReadOfWhatAnotherThreadHasWritten) {
  Turned(turned(barrier, 32)).expectClean(64);
  Turned(turned("", 32)).expectFinding(FindingKind::Race, 64);
  Turned(turned("", 1)).expectFinding(FindingKind::Race, 64); // of the same warp mostly
  Turned(turned("", 64)).expectClean(64);                     // its own
  Turned(turned("  call void asm sideeffect \"bar.warp.sync -1;\", \"~{memory}\"()\n", 1))
      .expectFinding(FindingKind::Race, 64); // from one warp to the next
}

TEST(AmongThreads, TheReportNamesBothAndWhere) {
  Report report = Turned(turned("", 32)).run(64);
  EXPECT_NE(report.str().find("a load reads global memory at address"), std::string::npos)
      << report.str();
  EXPECT_NE(report.str().find("written here by warp "), std::string::npos) << report.str();
}

/// A thread reads its neighbour's place, and then writes its own.
std::string shifted(const std::string &between) {
  return kernel("  %moved = add i32 %tid, 32\n  %next = and i32 %moved, 63\n"
                "  %other = getelementptr i32, ptr addrspace(1) %p0, i32 %next\n"
                "  %v = load i32, ptr addrspace(1) %other\n" +
                between +
                "  %own = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n"
                "  store i32 %v, ptr addrspace(1) %own\n  ret void");
}

TEST(AmongThreads, AWriteOfWhatAnotherThreadHasRead) {
  for (bool ordered : {false, true}) {
    Bench bench(shifted(ordered ? barrier : ""));
    std::vector<int32_t> a(64);
    bench.buffer(a);
    ordered ? bench.expectClean(64) : bench.expectFinding(FindingKind::Race, 64);
  }
}

TEST(AmongThreads, TwoStores) {
  const std::string place = "  %half = and i32 %tid, 31\n"
                            "  %own = getelementptr i32, ptr addrspace(1) %p0, i32 %half\n";
  const std::string first = "  store i32 7, ptr addrspace(1) %own\n";
  const std::string turned = "  %turned = sub i32 31, %half\n"
                             "  %other = getelementptr i32, ptr addrspace(1) %p0, i32 %turned\n"
                             "  store i32 8, ptr addrspace(1) %other\n";
  auto run = [&](const std::string &body, bool clean) {
    Bench bench(kernel(place + body + "  ret void"));
    std::vector<int32_t> a(64);
    bench.buffer(a);
    clean ? bench.expectClean(64) : bench.expectFinding(FindingKind::Race, 64);
  };
  run(first, true); // by one instruction: copies of each other's elements
  run(first + turned, false);
  run(first + barrier + turned, true);
}

TEST(AmongThreads, AtomicOperationsAreNotLookedAt) {
  Bench bench(kernel("  %half = and i32 %tid, 31\n"
                     "  %own = getelementptr i32, ptr addrspace(1) %p0, i32 %half\n"
                     "  %old = atomicrmw add ptr addrspace(1) %own, i32 1 monotonic\n  ret void"));
  std::vector<int32_t> a(64);
  bench.buffer(a);
  bench.expectClean(64);
  EXPECT_EQ(a[5], 2 * 11);
}

} // namespace
