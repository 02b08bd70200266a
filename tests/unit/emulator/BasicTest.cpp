//===- BasicTest.cpp - threads, memory, warps and barriers ----------------===//
#include "tests/unit/emulator/EmuTest.h"
#include <algorithm>
#include <numeric>

using namespace tile::emu;

namespace {

const char *barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

/// out[tid] = the given i32 `%v`.
std::string storeResult(const char *value = "%v") {
  return std::string("  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n"
                     "  store i32 ") +
         value + ", ptr addrspace(1) %at, align 4\n  ret void";
}

std::vector<uint32_t> runThreads(const std::string &ir, uint32_t threads) {
  Bench bench(ir);
  std::vector<uint32_t> out(threads);
  bench.buffer(out);
  bench.expectClean(threads);
  return out;
}

TEST(EmuThreads, EachKnowsItsNumber) {
  std::vector<uint32_t> out = runThreads(kernel("  %v = mul i32 %tid, 3\n" + storeResult()), 1024);
  for (uint32_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], 3 * i);
}

TEST(EmuThreads, EveryCtaRuns) {
  Bench bench(kernel("  %x = call i32 asm \"mov.u32 $0, %ctaid.x;\", \"=r\"()\n"
                     "  %y = call i32 asm \"mov.u32 $0, %ctaid.y;\", \"=r\"()\n"
                     "  %row = mul i32 %y, 10\n  %c = add i32 %row, %x\n"
                     "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %c\n"
                     "  store i32 %c, ptr addrspace(1) %at\n  ret void"));
  std::vector<uint32_t> out(100, 7);
  bench.buffer(out);
  bench.launch.grid = {10, 10, 1};
  Report report = bench.run(1);
  EXPECT_TRUE(report.ok()) << report.str();
  for (uint32_t i = 0; i < 100; ++i)
    EXPECT_EQ(out[i], i);
}

TEST(EmuMemory, OutOfBoundsIsReportedWithItsDistance) {
  Bench bench(kernel("  %v = add i32 %tid, 0\n" + storeResult()));
  std::vector<uint32_t> out(30);
  bench.buffer(out);
  Report report = bench.run(32);
  ASSERT_TRUE(report.has(FindingKind::OutOfBounds));
  EXPECT_NE(report.str().find("0 bytes past the end of a buffer of 120 bytes"), std::string::npos)
      << report.str();
  EXPECT_NE(report.str().find("thread 30"), std::string::npos) << report.str();
}

TEST(EmuMemory, MisalignedVectorIsReported) {
  Bench bench(kernel("  %q = getelementptr i8, ptr addrspace(1) %p0, i32 8\n"
                     "  call void asm sideeffect \"st.global.v4.b32 [$0], {$1, $1, $1, $1};\", "
                     "\"l,r\"(ptr addrspace(1) %q, i32 1)\n  ret void"));
  alignas(16) static std::vector<uint32_t> out(64);
  bench.buffer(out);
  bench.expectFinding(FindingKind::Misaligned, 1);
}

TEST(EmuMemory, PredicatedAccessesTouchNothingWhenFalse) {
  Bench bench(
      kernel("  %on = icmp ult i32 %tid, 3\n"
             "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n"
             "  %v = call i32 asm sideeffect \"mov.b32 $0, 0x7;\\0A\\09@$2 ld.global.b32 $0, "
             "[$1+4];\", \"=&r,l,b\"(ptr addrspace(1) %at, i1 %on)\n"
             "  %to = getelementptr i32, ptr addrspace(1) %p1, i32 %tid\n"
             "  store i32 %v, ptr addrspace(1) %to\n  ret void",
             2));
  std::vector<uint32_t> in{10, 11, 12, 13}, out(32);
  bench.buffer(in), bench.buffer(out);
  bench.expectClean();
  EXPECT_EQ(out[0], 11u);
  EXPECT_EQ(out[2], 13u);
  EXPECT_EQ(out[3], 7u);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

TEST(EmuWarp, ShuffleMovesValues) {
  std::string body =
      "  %v = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 5, i32 31)\n";
  auto out = runThreads(kernel(body + storeResult(), 1,
                               "declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)"),
                        64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], (i & 32) | ((i & 31) ^ 5));
}

TEST(EmuWarp, ShuffleUpStopsAtTheSegment) {
  std::string body = "  %v = call i32 asm sideeffect \"shfl.sync.up.b32 $0, $1, 1, 0x1800, -1;\", "
                     "\"=r,r\"(i32 %tid)\n";
  auto out = runThreads(kernel(body + storeResult()), 32);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[7], 6u);
  EXPECT_EQ(out[8], 8u);
}

TEST(EmuWarp, VotesAndReductions) {
  std::string ballot = "  %p = icmp ult i32 %tid, 4\n"
                       "  %v = call i32 asm sideeffect \"vote.sync.ballot.b32 $0, $1, -1;\", "
                       "\"=r,b\"(i1 %p)\n";
  EXPECT_EQ(runThreads(kernel(ballot + storeResult()), 32)[9], 15u);
  std::string redux = "  %v = call i32 asm sideeffect \"redux.sync.max.s32 $0, $1, -1;\", "
                      "\"=r,r\"(i32 %tid)\n";
  EXPECT_EQ(runThreads(kernel(redux + storeResult()), 32)[0], 31u);
}

TEST(EmuWarp, LanesAtDifferentInstructionsAreReported) {
  Bench bench(kernel("  %p = icmp ult i32 %tid, 4\n  br i1 %p, label %a, label %b\na:\n"
                     "  call void asm sideeffect \"bar.warp.sync -1;\", \"\"()\n  br label %c\nb:\n"
                     "  %v = call i32 asm sideeffect \"redux.sync.max.s32 $0, $1, -1;\", "
                     "\"=r,r\"(i32 %tid)\n  br label %c\nc:\n  ret void"));
  std::vector<uint32_t> out(32);
  bench.buffer(out);
  bench.expectFinding(FindingKind::NonUniform);
}

//===----------------------------------------------------------------------===//
// Shared memory and barriers
//===----------------------------------------------------------------------===//

/// Writes shared[tid], `between`, reads shared[n - 1 - tid].
std::string exchange(const std::string &between) {
  return "  %a = getelementptr i32, ptr addrspace(3) @smem, i32 %tid\n"
         "  store i32 %tid, ptr addrspace(3) %a\n" +
         between +
         "  %n = call i32 asm \"mov.u32 $0, %ntid.x;\", \"=r\"()\n"
         "  %n1 = sub i32 %n, 1\n  %o = sub i32 %n1, %tid\n"
         "  %b = getelementptr i32, ptr addrspace(3) @smem, i32 %o\n"
         "  %v = load i32, ptr addrspace(3) %b\n" +
         storeResult();
}

TEST(EmuShared, BarrierOrdersAnExchange) {
  Bench bench(kernel(exchange(barrier)));
  std::vector<uint32_t> out(256);
  bench.buffer(out);
  bench.expectClean(256, 1024);
  for (uint32_t i = 0; i < 256; ++i)
    EXPECT_EQ(out[i], 255 - i);
}

TEST(EmuShared, MissingBarrierIsARace) {
  Bench bench(kernel(exchange("")));
  std::vector<uint32_t> out(256);
  bench.buffer(out);
  Report report = bench.run(256, 1024);
  EXPECT_FALSE(report.ok());
  EXPECT_TRUE(report.has(FindingKind::Race) || report.has(FindingKind::Uninitialized));
}

TEST(EmuShared, MissingWarpSyncIsARaceWithinTheWarp) {
  Bench bench(kernel(exchange("")));
  std::vector<uint32_t> out(32);
  bench.buffer(out);
  EXPECT_FALSE(bench.run(32, 128).ok());
  Bench synced(kernel(exchange("  call void asm sideeffect \"bar.warp.sync -1;\", \"\"()\n")));
  synced.buffer(out);
  synced.expectClean(32, 128);
}

TEST(EmuShared, ReuseWithoutABarrierIsARace) {
  std::string again = "  store i32 7, ptr addrspace(3) %a\n";
  std::string body = exchange(barrier);
  body.insert(body.find("  %at = "), again);
  Bench bench(kernel(body));
  std::vector<uint32_t> out(64);
  bench.buffer(out);
  Report report = bench.run(64, 256);
  ASSERT_TRUE(report.has(FindingKind::Race)) << report.str();
  EXPECT_NE(report.str().find("read here by"), std::string::npos) << report.str();
}

TEST(EmuShared, UnwrittenMemoryIsReported) {
  Bench bench(kernel("  %v = load i32, ptr addrspace(3) @smem\n" + storeResult()));
  std::vector<uint32_t> out(32);
  bench.buffer(out);
  bench.expectFinding(FindingKind::Uninitialized, 32, 128);
}

TEST(EmuShared, AccessesEndWhereTheKernelsMemoryDoes) {
  Bench bench(kernel(exchange(barrier)));
  std::vector<uint32_t> out(64);
  bench.buffer(out);
  bench.expectFinding(FindingKind::OutOfBounds, 64, 252);
}

TEST(EmuShared, ARaceNamesBothLinesWhoAndWhere) {
  std::string body = exchange("");
  auto at = [&](const std::string &inst, const std::string &location) {
    size_t end = body.find('\n', body.find(inst));
    body.insert(end, ", !dbg " + location);
  };
  at("store i32 %tid", "!1"), at("%v = load", "!2");
  Bench bench(kernel(body, 1,
                     "!1 = !DILocation(line: 3, column: 5, scope: !3)\n"
                     "!2 = !DILocation(line: 4, column: 9, scope: !3)\n"
                     "!3 = distinct !DISubprogram(name: \"k\", file: !4, unit: !5)\n"
                     "!4 = !DIFile(filename: \"k.tile\", directory: \"\")\n"
                     "!5 = distinct !DICompileUnit(language: DW_LANG_C, file: !4)\n"
                     "!6 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
                     "!llvm.module.flags = !{!6}\n!llvm.dbg.cu = !{!5}\n"));
  std::vector<uint32_t> out(64);
  bench.buffer(out);
  Report report = bench.run(64, 256);
  auto race = std::find_if(report.findings.begin(), report.findings.end(),
                           [](const Finding &f) { return f.kind == FindingKind::Race; });
  ASSERT_NE(race, report.findings.end()) << report.str();
  ASSERT_FALSE(race->site.places.empty());
  ASSERT_FALSE(race->otherSite.places.empty());
  EXPECT_EQ(race->site.places[0].line + race->otherSite.places[0].line, 7u);
  EXPECT_NE(race->message.find("shared offset"), std::string::npos) << race->message;
  EXPECT_NE(race->where.find("warp"), std::string::npos) << race->where;
  EXPECT_NE(race->where.find("thread"), std::string::npos) << race->where;
  EXPECT_NE(race->otherNote.find("thread"), std::string::npos) << race->otherNote;
}

std::string namedBarrier(const char *first, const char *second) {
  return std::string("  %p = icmp ult i32 %tid, 32\n  br i1 %p, label %a, label %b\na:\n"
                     "  call void asm sideeffect \"") +
         first + "\", \"\"()\n  br label %c\nb:\n  call void asm sideeffect \"" + second +
         "\", \"\"()\n  br label %c\nc:\n  ret void";
}

TEST(EmuBarrier, ArriveAndSyncMeet) {
  Bench bench(kernel(namedBarrier("bar.arrive 3, 64;", "bar.sync 3, 64;")));
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  bench.expectClean(64);
}

// Whoever leaves a reduction first votes in the next one while others are still leaving.
TEST(EmuBarrier, ReductionsThatFollowEachOtherKeepTheirVotes) {
  std::string body;
  for (int i = 0; i < 3; ++i)
    body += llvm::formatv(
                "  %n{0} = call i32 asm sideeffect \"{{\\0A.reg .pred p;\\0Asetp.lt.u32 p, $1, "
                "{1};\\0Abarrier.cta.red.popc.aligned.u32 $0, 0, p;\\0A}\", \"=r,r\"(i32 %tid)\n"
                "  %i{0} = add i32 %tid, {2}\n"
                "  %o{0} = getelementptr i32, ptr addrspace(1) %p0, i32 %i{0}\n"
                "  store i32 %n{0}, ptr addrspace(1) %o{0}\n",
                i, 63 - i, 64 * i)
                .str();
  Bench bench(kernel(body + "  ret void"));
  std::vector<uint32_t> out(192);
  bench.buffer(out);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    RunOptions options;
    if (seed)
      options.seed = seed;
    Report report = bench.run(64, 0, options);
    EXPECT_TRUE(report.ok()) << report.str();
    for (uint32_t i = 0; i < out.size(); ++i)
      EXPECT_EQ(out[i], 63 - i / 64) << seed << " " << i;
  }
}

TEST(EmuBarrier, DifferentCountsAreReported) {
  Bench bench(kernel(namedBarrier("bar.sync 3, 64;", "bar.sync 3, 32;")));
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  bench.expectFinding(FindingKind::BarrierMismatch, 64);
}

TEST(EmuBarrier, DeadlockSaysWhoWaitsForWhat) {
  Bench bench(kernel(namedBarrier("bar.sync 3, 64;", "bar.sync 4, 64;")));
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  Report report = bench.run(64);
  ASSERT_TRUE(report.has(FindingKind::Deadlock));
  EXPECT_NE(report.str().find("waits at barrier 3, where 32 of 64 threads have arrived"),
            std::string::npos)
      << report.str();
  EXPECT_NE(report.str().find("waits at barrier 4"), std::string::npos) << report.str();
}

TEST(EmuBarrier, ThreadsOfOneWarpAtTwoBarriersAreReported) {
  Bench bench(kernel("  %p = icmp ult i32 %tid, 7\n  br i1 %p, label %a, label %b\na:\n" +
                     std::string(barrier) + "  br label %c\nb:\n" + barrier +
                     "  br label %c\nc:\n  ret void"));
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  bench.expectFinding(FindingKind::NonUniform, 64);
}

TEST(EmuAtomics, CtasThatWaitForEachOtherAllMove) {
  // Each CTA waits until the one before it has counted up.
  Bench bench(
      kernel("  %c = call i32 asm \"mov.u32 $0, %ctaid.x;\", \"=r\"()\n"
             "  %r = sub i32 39, %c\n  br label %spin\nspin:\n"
             "  %now = call i32 asm sideeffect \"atom.acquire.gpu.global.add.u32 $0, [$1], 0;\", "
             "\"=r,l\"(ptr addrspace(1) %p0)\n"
             "  %ok = icmp eq i32 %now, %r\n  br i1 %ok, label %go, label %spin\ngo:\n"
             "  %old = call i32 asm sideeffect \"atom.release.gpu.global.add.u32 $0, [$1], 1;\", "
             "\"=r,l\"(ptr addrspace(1) %p0)\n  ret void"));
  std::vector<uint32_t> counter(1);
  bench.buffer(counter);
  bench.launch.grid = {40, 1, 1};
  Report report = bench.run(1);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(counter[0], 40u);
}

/// What a kernel that looks for a 1 in memory, which nobody writes, is reported as;
/// `between` stands between two looks.
Report lookForEver(const std::string &look, const std::string &between, uint32_t threads) {
  Bench bench(kernel("  br label %spin\nspin:\n  %now = call i32 asm sideeffect \"" + look +
                     "\", \"=r,l\"(ptr addrspace(1) %p0)\n" + between +
                     "  %ok = icmp eq i32 %now, 1\n  br i1 %ok, label %go, label %spin\ngo:\n"
                     "  ret void"));
  std::vector<uint32_t> flag(1);
  bench.buffer(flag);
  RunOptions options;
  options.stepLimit = 10000;
  return bench.run(threads, 0, options);
}

const char *const lookByLoad = "ld.volatile.global.b32 $0, [$1];";

TEST(EmuAtomics, WaitingForEverIsReported) {
  Report report = lookForEver(lookByLoad, "", 1);
  EXPECT_TRUE(report.has(FindingKind::Stuck)) << report.str();
}

TEST(EmuAtomics, WaitingForEverInALoopWithBarriersIsReported) {
  for (const char *look : {lookByLoad, "atom.acquire.gpu.global.cas.b32 $0, [$1], 7, 0;"}) {
    Report report = lookForEver(look, std::string(barrier) + barrier, 64);
    EXPECT_TRUE(report.has(FindingKind::Stuck)) << look << ": " << report.str();
  }
}

/// CTA 1 waits for what CTA 0 writes after so many turns of a loop over `work`.
static Report waitForWork(const std::string &work, unsigned turns) {
  Bench bench(kernel(
      "  %c = call i32 asm \"mov.u32 $0, %ctaid.x;\", \"=r\"()\n"
      "  %first = icmp eq i32 %c, 0\n  br i1 %first, label %work, label %spin\nwork:\n"
      "  %i = phi i32 [0, %0], [%next, %work]\n" +
      work + "  %next = add i32 %i, 1\n  %more = icmp ult i32 %next, " + std::to_string(turns) +
      "\n  br i1 %more, label %work, label %write\nwrite:\n"
      "  call i32 asm sideeffect \"atom.release.gpu.global.exch.b32 $0, [$1], 1;\", "
      "\"=r,l\"(ptr addrspace(1) %p0)\n  ret void\nspin:\n"
      "  %now = call i32 asm sideeffect \"ld.acquire.gpu.global.b32 $0, [$1];\", "
      "\"=r,l\"(ptr addrspace(1) %p0)\n"
      "  %ok = icmp eq i32 %now, 1\n  br i1 %ok, label %go, label %spin\ngo:\n"
      "  ret void"));
  std::vector<uint32_t> flag(1);
  bench.buffer(flag);
  bench.launch.grid = {2, 1, 1};
  RunOptions options;
  options.stepLimit = 10000;
  options.threads = 2;
  return bench.run(64, 0, options);
}

TEST(EmuAtomics, ComputingForLongWhileOthersWaitIsNotStuck) {
  Report barriers = waitForWork(barrier, 20000);
  EXPECT_TRUE(barriers.ok()) << barriers.str();
  Report alone = waitForWork("", 1 << 20);
  EXPECT_TRUE(alone.ok()) << alone.str();
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

TEST(EmuEnd, TrapsAreReported) {
  std::string body = "  %p = icmp eq i32 %tid, 40\n  br i1 %p, label %a, label %b\na:\n"
                     "  call void @llvm.trap()\n  br label %b\nb:\n  ret void";
  Bench bench(kernel(body, 1, "declare void @llvm.trap()"));
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  bench.expectClean(32);
  bench.expectFinding(FindingKind::Trap, 64);
}

TEST(EmuEnd, FailedAssertionsSayWhatAndWhere) {
  Bench bench(kernel("  call void @__assertfail(ptr @m, ptr @m, i32 7, ptr @m, i64 1)\n  ret void",
                     1,
                     "@m = constant [6 x i8] c\"i < n\\00\"\n"
                     "declare void @__assertfail(ptr, ptr, i32, ptr, i64)"));
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  Report report = bench.run(1);
  ASSERT_TRUE(report.has(FindingKind::AssertFailed)) << report.str();
  EXPECT_NE(report.str().find(":7: i < n"), std::string::npos) << report.str();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

TEST(EmuNumbers, SubnormalsOf16BitsSurviveConversion) {
  // Through f32 and back: every bit pattern of a subnormal stays.
  for (const char *type : {"half", "bfloat"}) {
    std::string t = type;
    Bench bench(kernel(
        "  %s = trunc i32 %tid to i16\n  %h = bitcast i16 %s to " + t + "\n  %f = fpext " + t +
        " %h to float\n  %one = fmul float %f, 1.0\n"
        "  %b = fptrunc float %one to " +
        t + "\n  %i = bitcast " + t + " %b to i16\n  %v = zext i16 %i to i32\n" + storeResult()));
    std::vector<uint32_t> out(120);
    bench.buffer(out);
    bench.expectClean(120);
    for (uint32_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], i) << type;
  }
}

TEST(EmuNumbers, IntegersToBF16AreRoundedOnce) {
  // In f32 the last bit would make the rest a tie, which goes down.
  Bench bench(kernel("  %x = add i32 %tid, 16842752\n  %h = sitofp i32 %x to bfloat\n"
                     "  %i = bitcast bfloat %h to i16\n  %v = zext i16 %i to i32\n" +
                     storeResult()));
  std::vector<uint32_t> out(2);
  bench.buffer(out);
  bench.expectClean(2);
  EXPECT_EQ(out[0], 0x4b80u);
  EXPECT_EQ(out[1], 0x4b81u);
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

TEST(EmuCounters, ATransposedReadCostsWhatItsBanksSay) {
  // Each lane writes its own word, then reads one 32 words further than the last's.
  Bench bench(kernel("  %a = getelementptr i32, ptr addrspace(3) @smem, i32 %tid\n"
                     "  store i32 %tid, ptr addrspace(3) %a\n" +
                     std::string(barrier) +
                     "  %lane = and i32 %tid, 31\n  %row = mul i32 %lane, 32\n"
                     "  %b = getelementptr i32, ptr addrspace(3) @smem, i32 %row\n"
                     "  %v = load i32, ptr addrspace(3) %b\n  %half = icmp ult i32 %tid, 512\n"
                     "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n"
                     "  call void asm sideeffect \"@$2 st.global.b32 [$0], $1;\", \"l,r,b\""
                     "(ptr addrspace(1) %at, i32 %v, i1 %half)\n  ret void"));
  struct alignas(128) Line { // sectors are counted by address
    uint32_t words[32];
  };
  std::vector<Line> out(32);
  bench.buffer(out);
  RunOptions options;
  options.counters = true;
  Report report = bench.run(1024, 4096, options);
  ASSERT_TRUE(report.ok()) << report.str();
  const Counters &c = report.counters;
  EXPECT_EQ(c.sharedStores, 32u);
  EXPECT_EQ(c.sharedStoreWavefronts, 32u);
  EXPECT_EQ(c.sharedLoads, 32u);
  EXPECT_EQ(c.sharedLoadWavefronts, 32u * 32u);
  EXPECT_EQ(c.globalStores, 16u);
  EXPECT_EQ(c.globalStoreSectors, 16u * 4u);
  EXPECT_EQ(c.globalLanes, 512u);
  EXPECT_EQ(c.globalMaskedLanes, 512u);
}

TEST(EmuCounters, OneThreadsInstructionsCountOnceAWarp) {
  Bench bench(kernel("  %p = icmp eq i32 %tid, 0\n  br i1 %p, label %a, label %b\na:\n"
                     "  call void asm sideeffect \"st.global.b32 [$0], 1;\", \"l\""
                     "(ptr addrspace(1) %p0)\n"
                     "  call void asm sideeffect \"st.global.b32 [$0], 2;\", \"l\""
                     "(ptr addrspace(1) %p0)\n  br label %b\nb:\n  ret void"));
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  RunOptions options;
  options.counters = true;
  Report report = bench.run(64, 0, options);
  EXPECT_EQ(report.counters.instructions["st.global.b32"], 2u);
}

TEST(EmuLoad, AnUnknownInstructionIsNamed) {
  std::string error;
  auto program = Program::load(
      kernel("  call void asm sideeffect \"tcgen05.wait.st;\", \"\"()\n  ret void"), {}, error);
  EXPECT_FALSE(program);
  EXPECT_NE(error.find("tcgen05.wait.st"), std::string::npos) << error;
}

// A modifier that no handler looks for would change the result without a word.
TEST(EmuLoad, UnknownModifiersAreNamed) {
  const char *const instructions[][2] = {{"tanh.approx.foo.f32", "f"}, {"ex2.approx.sat.f32", "f"},
                                         {"abs.xorsign.f32", "f"},     {"mov.hi.b32", "r"},
                                         {"neg.sat.s32", "r"},         {"ld.global.foo.b32", "r"}};
  for (auto [opcode, constraint] : instructions) {
    std::string error, type = *constraint == 'f' ? "float" : "i32";
    bool load = llvm::StringRef(opcode).starts_with("ld");
    auto program = Program::load(
        kernel("  %v = call " + type + " asm sideeffect \"" + opcode +
               (load ? " $0, [$1];\", \"=r,l\"(ptr addrspace(1) %p0)"
                     : std::string(" $0, $1;\", \"=") + constraint + "," + constraint + "\"(" +
                           type + (type == "float" ? " 1.0)" : " 1)")) +
               "\n  ret void"),
        {}, error);
    EXPECT_FALSE(program) << opcode;
    EXPECT_NE(error.find(opcode), std::string::npos) << error;
  }
}

TEST(EmuLoad, AnUnknownIntrinsicIsNamed) {
  std::string error;
  auto program = Program::load(kernel("  call void @llvm.nvvm.fence.sc.cluster()\n"
                                      "  %x = call i32 @llvm.nvvm.suld.1d.i32.trap(i64 0, i32 0)\n"
                                      "  ret void",
                                      1,
                                      "declare void @llvm.nvvm.fence.sc.cluster()\n"
                                      "declare i32 @llvm.nvvm.suld.1d.i32.trap(i64, i32)"),
                               {}, error);
  EXPECT_FALSE(program);
  EXPECT_NE(error.find("llvm.nvvm.suld.1d.i32.trap"), std::string::npos) << error;
}

} // namespace
