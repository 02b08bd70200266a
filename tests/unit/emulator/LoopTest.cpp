//===- LoopTest.cpp - loops that end late, and never ----------------------===//
#include "tests/unit/emulator/EmuTest.h"

using namespace tile::emu;

namespace {

TEST(EmuLoops, ALoopWithoutEndIsReported) {
  // Nothing but arithmetic; ordinary accesses; inline PTX; all in a helper.
  const std::string never = "  %never = icmp eq i32 %i, 2000\n"
                            "  br i1 %never, label %go, label %spin\ngo:\n  ret void";
  const std::string count = "  %next = add i32 %i, 1\n  %i1 = and i32 %next, 1023\n";
  const std::string spin = "  br label %spin\nspin:\n  %i = phi i32 [%tid, %0], [%i1, %spin]\n";
  const std::string helper = "define void @help(i32 %tid) noinline {\n  br label %spin\nspin:\n"
                             "  %i = phi i32 [%tid, %0], [%i1, %spin]\n" +
                             count + never + "\n}\n";
  const std::pair<std::string, std::string> kernels[] = {
      {spin + count + never, ""},
      {spin + "  store i32 %i, ptr addrspace(1) %p0\n  %v = load i32, ptr addrspace(1) %p0\n" +
           "  %i1 = and i32 %v, 1023\n" + never,
       ""},
      {"  call void asm sideeffect \"again:\\0Abra again;\", \"\"()\n  ret void", ""},
      {"  call void @help(i32 %tid)\n  ret void", helper},
  };
  for (auto &[body, declarations] : kernels)
    for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(1)}) {
      Bench bench(kernel(body, 1, declarations));
      std::vector<uint32_t> memory(1);
      bench.buffer(memory);
      RunOptions options;
      options.check = false; // its threads write to one place
      options.turnLimit = 1 << 20;
      options.seed = seed;
      Report report = bench.run(64, 0, options);
      EXPECT_TRUE(report.has(FindingKind::Stuck)) << body << report.str();
    }
}

TEST(EmuLoops, ManyTurnsAreNoneWithoutEnd) {
  // Thread 32 writes what thread 0 looks for by ordinary accesses, after many turns.
  Bench bench(kernel("  %first = icmp eq i32 %tid, 0\n  br i1 %first, label %spin, label %work\n"
                     "spin:\n  %v = load i32, ptr addrspace(1) %p0\n"
                     "  %seen = icmp eq i32 %v, 1\n  br i1 %seen, label %go, label %spin\nwork:\n"
                     "  %i = phi i32 [0, %0], [%next, %work]\n  %next = add i32 %i, 1\n"
                     "  %more = icmp ult i32 %next, 200000\n"
                     "  br i1 %more, label %work, label %write\nwrite:\n"
                     "  store i32 1, ptr addrspace(1) %p0\n  br label %go\ngo:\n  ret void"));
  std::vector<uint32_t> flag(1);
  bench.buffer(flag);
  RunOptions options;
  options.check = false;
  options.turnLimit = 1 << 18;
  Report report = bench.run(33, 0, options);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(flag[0], 1u);
}

TEST(EmuLoops, ManyBlocksAreRefusedBeforeTheFirst) {
  Bench bench(kernel("  store i32 1, ptr addrspace(1) %p0\n  ret void"));
  std::vector<uint32_t> memory(1);
  bench.buffer(memory);
  bench.launch.grid = {1u << 31, 1, 1};
  RunOptions options;
  options.workLimit = 1'000'000'000;
  Report report = bench.run(32, 0, options);
  ASSERT_EQ(report.findings.size(), 1u) << report.str();
  EXPECT_EQ(report.findings[0].kind, FindingKind::TooMuchWork) << report.str();
  EXPECT_EQ(memory[0], 0u);
}

TEST(EmuLoops, WhatALaunchMayDoIsTheSameInEveryOrder) {
  // 20 blocks of 32 threads, each of which takes 1000 turns.
  Bench bench(kernel("  br label %loop\nloop:\n  %i = phi i32 [0, %0], [%next, %loop]\n"
                     "  %next = add i32 %i, 1\n  store volatile i32 %i, ptr addrspace(1) %p0\n"
                     "  %more = icmp ult i32 %next, 1000\n"
                     "  br i1 %more, label %loop, label %end\nend:\n  ret void"));
  std::vector<uint32_t> memory(1);
  bench.buffer(memory);
  bench.launch.grid = {20, 1, 1};
  constexpr uint64_t kThreads = 20 * 32, kOfThread = 4096, kOfTurn = 64;
  constexpr uint64_t kWork = kThreads * (kOfThread + 1000 * kOfTurn);
  for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(1)})
    for (unsigned threads : {1u, 3u})
      for (uint64_t limit : {kWork, kWork - 1}) {
        RunOptions options;
        options.check = false;
        options.workLimit = limit;
        options.threads = threads;
        options.seed = seed;
        Report report = bench.run(32, 0, options);
        EXPECT_EQ(report.has(FindingKind::TooMuchWork), limit < kWork) << report.str();
        if (limit == kWork)
          EXPECT_EQ(report.work, kWork);
      }
}

} // namespace
