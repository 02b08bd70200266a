//===- OrderTest.cpp - order through memory, and how far it reaches --------===//
//
// One thread writes, says so by an atomic operation, a store or an arrival, and
// another, in the same CTA, another CTA of the cluster or another program, hears of
// it and reads. Each is right with the ordering and the scope that it needs, and a
// race with less.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/emulator/EmuTest.h"

using namespace tile::emu;

namespace {

std::string effect(const std::string &text, const std::string &constraints = "~{memory}",
                   const std::string &args = "") {
  return "  call void asm sideeffect \"" + text + "\", \"" + constraints + "\"(" + args + ")\n";
}

/// What a message is sent and waited for with: the instruction and fences around it.
struct Message {
  const char *name;
  const char *before;  ///< a fence
  const char *release; ///< "st.relaxed.cta"
  const char *acquire; ///< "ld.acquire.cta"
  const char *after;   ///< a fence
  bool enough;
};

std::string nameOf(const testing::TestParamInfo<Message> &info) { return info.param.name; }

/// The sender's half, and the receiver's, which ends in block `heard`. `space` and
/// registers say where the flag is.
std::string send(const Message &m, const std::string &space, const std::string &flag,
                 const std::string &constraint) {
  std::string text = m.release;
  bool atomic = text.rfind("atom", 0) == 0 || text.rfind("red", 0) == 0;
  return (*m.before ? effect(m.before) : "") +
         effect(atomic ? "red" + text.substr(text.find('.')) + space + ".add.u32 [$0], 1;"
                       : text + space + ".u32 [$0], 1;",
                constraint + ",~{memory}", flag);
}

std::string receive(const Message &m, const std::string &space, const std::string &flag,
                    const std::string &constraint) {
  std::string text = m.acquire;
  bool atomic = text.rfind("atom", 0) == 0;
  return "  br label %poll\npoll:\n  %said = call i32 asm sideeffect \"" + text + space +
         (atomic ? ".or.b32 $0, [$1], 0;" : ".u32 $0, [$1];") + "\", \"=r," + constraint +
         ",~{memory}\"(" + flag +
         ")\n  %yes = icmp ne i32 %said, 0\n  br i1 %yes, label %heard, label %poll\nheard:\n" +
         (*m.after ? effect(m.after) : "");
}

void expectRace(Bench &bench, uint32_t threads, uint32_t sharedBytes, bool enough) {
  if (enough) {
    bench.expectClean(threads, sharedBytes);
    return;
  }
  bool found = false;
  for (uint64_t seed = 0; seed <= 10; ++seed) {
    RunOptions options;
    if (seed)
      options.seed = seed;
    found |= bench.run(threads, sharedBytes, options).has(FindingKind::Race);
  }
  EXPECT_TRUE(found);
}

//===----------------------------------------------------------------------===//
// Threads of one CTA
//===----------------------------------------------------------------------===//

class InACta : public testing::TestWithParam<Message> {};

TEST_P(InACta, OrderComesThroughSharedMemory) {
  const Message &m = GetParam();
  // Warp 0 sets the flag to 0; then thread 0 writes, and thread 32 reads.
  std::string body = "  %base = ptrtoint ptr addrspace(3) @smem to i32\n"
                     "  %flag = add i32 %base, 4\n"
                     "  %zero = icmp eq i32 %tid, 0\n  br i1 %zero, label %init, label %ready\n"
                     "init:\n" +
                     effect("st.shared.u32 [$0], 0;", "r,~{memory}", "i32 %flag") +
                     "  br label %ready\nready:\n"
                     "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
                     "  br i1 %zero, label %sender, label %other\nsender:\n"
                     "  store i32 42, ptr addrspace(3) @smem\n" +
                     send(m, ".shared", "i32 %flag", "r") +
                     "  ret void\nother:\n  %receives = icmp eq i32 %tid, 32\n"
                     "  br i1 %receives, label %receiver, label %end\nreceiver:\n" +
                     receive(m, ".shared", "i32 %flag", "r") +
                     "  %v = load i32, ptr addrspace(3) @smem\n"
                     "  store i32 %v, ptr addrspace(1) %p0\n  br label %end\nend:\n  ret void";
  Bench bench(kernel(body));
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  expectRace(bench, 64, 8, m.enough);
  if (m.enough)
    EXPECT_EQ(out[0], 42u);
}

INSTANTIATE_TEST_SUITE_P(
    Emu, InACta,
    testing::Values(Message{"ReleaseAndAcquire", "", "st.release.cta", "ld.acquire.cta", "", true},
                    Message{"Atomics", "", "red.release.cta", "atom.acquire.cta", "", true},
                    Message{"FencesAroundRelaxed", "fence.acq_rel.cta;", "st.relaxed.cta",
                            "ld.relaxed.cta", "fence.acq_rel.cta;", true},
                    Message{"FencesAroundVolatile", "membar.cta;", "st.volatile", "ld.volatile",
                            "membar.cta;", true},
                    Message{"NoFenceBefore", "", "st.relaxed.cta", "ld.acquire.cta", "", false},
                    Message{"NoFenceAfter", "fence.acq_rel.cta;", "st.relaxed.cta",
                            "ld.relaxed.cta", "", false},
                    Message{"RelaxedAtomics", "", "red.relaxed.cta", "atom.relaxed.cta", "",
                            false}),
    nameOf);

//===----------------------------------------------------------------------===//
// CTAs of a cluster
//===----------------------------------------------------------------------===//

class InACluster : public testing::TestWithParam<Message> {};

const std::string clusterSync = effect("barrier.cluster.arrive;") + effect("barrier.cluster.wait;");

TEST_P(InACluster, OrderComesThroughDistributedSharedMemory) {
  const Message &m = GetParam();
  // CTA 0 writes to CTA 1's memory and sets the flag there; CTA 1 reads.
  std::string body = "  %rank = call i32 asm \"mov.u32 $0, %cluster_ctarank;\", \"=r\"()\n"
                     "  %base = ptrtoint ptr addrspace(3) @smem to i32\n"
                     "  %flag = add i32 %base, 4\n"
                     "  %far = call i32 asm \"mapa.shared::cluster.u32 $0, $1, $2;\", "
                     "\"=r,r,r\"(i32 %base, i32 1)\n  %farflag = add i32 %far, 4\n" +
                     effect("st.shared.u32 [$0], 0;", "r,~{memory}", "i32 %flag") + clusterSync +
                     "  %zero = icmp eq i32 %rank, 0\n"
                     "  br i1 %zero, label %sender, label %receiver\nsender:\n" +
                     effect("st.shared::cluster.u32 [$0], 42;", "r,~{memory}", "i32 %far") +
                     send(m, ".shared::cluster", "i32 %farflag", "r") +
                     "  br label %end\nreceiver:\n" + receive(m, ".shared", "i32 %flag", "r") +
                     "  %v = load i32, ptr addrspace(3) @smem\n"
                     "  store i32 %v, ptr addrspace(1) %p0\n  br label %end\nend:\n" +
                     clusterSync + "  ret void";
  Bench bench(kernel(body));
  bench.launch.grid = {2, 1, 1}, bench.launch.cluster = {2, 1, 1};
  std::vector<uint32_t> out(1);
  bench.buffer(out);
  expectRace(bench, 1, 8, m.enough);
  if (m.enough)
    EXPECT_EQ(out[0], 42u);
}

INSTANTIATE_TEST_SUITE_P(
    Emu, InACluster,
    testing::Values(
        Message{"ReleaseAndAcquire", "", "st.release.cluster", "ld.acquire.cluster", "", true},
        Message{"WiderScopesWillDo", "", "st.release.gpu", "ld.acquire.sys", "", true},
        Message{"FencesAroundRelaxed", "fence.acq_rel.cluster;", "st.relaxed.cluster",
                "ld.relaxed.cluster", "fence.acq_rel.cluster;", true},
        Message{"ReleaseForTheCta", "", "st.release.cta", "ld.acquire.cluster", "", false},
        Message{"AcquireForTheCta", "", "st.release.cluster", "ld.acquire.cta", "", false},
        Message{"FenceForTheCta", "fence.acq_rel.cta;", "st.relaxed.cluster", "ld.acquire.cluster",
                "", false},
        Message{"FenceForTheCtaAfter", "", "st.release.cluster", "ld.relaxed.cluster",
                "fence.acq_rel.cta;", false}),
    nameOf);

/// CTA 0 writes to CTA 1's memory, arrives at its mbarrier, and CTA 1 waits there.
std::string arrivalKernel(const std::string &arrive, const std::string &wait,
                          const std::string &before = "", bool reads = true) {
  std::string far = effect("st.shared::cluster.u32 [$0], 42;", "r,~{memory}", "i32 %far");
  std::string look = "  call void asm sideeffect \"{\\0A.reg .b32 v;\\0Ald.shared::cluster.u32 v, "
                     "[$0];\\0A}\", \"r,~{memory}\"(i32 %far)\n";
  return "  %rank = call i32 asm \"mov.u32 $0, %cluster_ctarank;\", \"=r\"()\n"
         "  %base = ptrtoint ptr addrspace(3) @smem to i32\n  %bar = add i32 %base, 8\n"
         "  %far = call i32 asm \"mapa.shared::cluster.u32 $0, $1, $2;\", \"=r,r,r\"(i32 %base, "
         "i32 1)\n  %farbar = add i32 %far, 8\n  store i32 7, ptr addrspace(3) @smem\n" +
         effect("mbarrier.init.shared::cta.b64 [$0], 1;", "r,~{memory}", "i32 %bar") +
         effect("fence.mbarrier_init.release.cluster;") + clusterSync +
         "  %zero = icmp eq i32 %rank, 0\n"
         "  br i1 %zero, label %sender, label %receiver\nsender:\n" +
         (reads ? far : look) + before +
         effect("mbarrier.arrive" + arrive + ".shared::cluster.b64 _, [$0];", "r,~{memory}",
                "i32 %farbar") +
         "  br label %end\nreceiver:\n" +
         effect("{\\0A.reg .pred done;\\0Aagain:\\0Ambarrier.try_wait.parity" + wait +
                    ".shared::cta.b64 done, [$0], 0;\\0A@!done bra again;\\0A}",
                "r,~{memory}", "i32 %bar") +
         (reads ? "  %v = load i32, ptr addrspace(3) @smem\n"
                  "  store i32 %v, ptr addrspace(1) %p0\n"
                : "  store i32 8, ptr addrspace(3) @smem\n") +
         "  br label %end\nend:\n" + clusterSync + "  ret void";
}

struct ArrivalBench : Bench {
  explicit ArrivalBench(const std::string &body) : Bench(kernel(body)), out(1) {
    buffer(out);
    launch.grid = {2, 1, 1}, launch.cluster = {2, 1, 1};
  }
  std::vector<uint32_t> out;
};

TEST(EmuArrival, HandsOverWhatWasWrittenToTheCluster) {
  ArrivalBench bench(arrivalKernel(".release.cluster", ".acquire.cluster"));
  bench.expectClean(1, 16);
  EXPECT_EQ(bench.out[0], 42u);
  ArrivalBench fenced(
      arrivalKernel(".relaxed.cluster", ".acquire.cluster", effect("fence.acq_rel.cluster;")));
  fenced.expectClean(1, 16);
}

TEST(EmuArrival, OfCtaScopeHandsNothingToOtherCtas) {
  for (auto [arrive, wait] : {std::pair{"", ".acquire.cluster"},
                              {".release.cta", ".acquire.cluster"},
                              {".release.cluster", ""}}) {
    ArrivalBench bench(arrivalKernel(arrive, wait));
    Report report = bench.run(1, 16);
    EXPECT_TRUE(report.has(FindingKind::Race)) << arrive << wait;
    EXPECT_NE(report.str().find("narrower scope"), std::string::npos) << report.str();
  }
  ArrivalBench fenced(
      arrivalKernel(".relaxed.cluster", ".acquire.cluster", effect("fence.acq_rel.cta;")));
  fenced.expectFinding(FindingKind::Race, 1, 16);
}

/// What has been read may be overwritten.
TEST(EmuArrival, OfCtaScopeFreesABuffer) {
  ArrivalBench(arrivalKernel("", "", "", /*reads=*/false)).expectClean(1, 16);
  ArrivalBench relaxed(arrivalKernel(".relaxed.cluster", "", "", /*reads=*/false));
  relaxed.expectFinding(FindingKind::Race, 1, 16);
}

//===----------------------------------------------------------------------===//
// Programs of a grid
//===----------------------------------------------------------------------===//

class InAGrid : public testing::TestWithParam<Message> {};

TEST_P(InAGrid, OrderComesThroughGlobalMemory) {
  const Message &m = GetParam();
  // Program 0 writes p0, program 1 reads it; the flag is p1.
  std::string body = "  %id = call i32 asm \"mov.u32 $0, %ctaid.x;\", \"=r\"()\n"
                     "  %zero = icmp eq i32 %id, 0\n"
                     "  br i1 %zero, label %sender, label %receiver\nsender:\n"
                     "  store i32 42, ptr addrspace(1) %p0\n" +
                     send(m, ".global", "ptr addrspace(1) %p1", "l") +
                     "  br label %end\nreceiver:\n" +
                     receive(m, ".global", "ptr addrspace(1) %p1", "l") +
                     "  %v = load i32, ptr addrspace(1) %p0\n"
                     "  store i32 %v, ptr addrspace(1) %p2\n  br label %end\nend:\n  ret void";
  Bench bench(kernel(body, 3));
  bench.launch.grid = {2, 1, 1};
  std::vector<uint32_t> data(1), flag(1), out(1);
  bench.buffer(data), bench.buffer(flag), bench.buffer(out);
  for (uint64_t seed = 0; seed <= 10; ++seed) {
    RunOptions options;
    if (seed)
      options.seed = seed;
    flag[0] = 0;
    Report report = bench.run(1, 0, options);
    EXPECT_EQ(report.ok(), m.enough) << "seed " << seed << ": " << report.str();
    EXPECT_EQ(report.has(FindingKind::Race), !m.enough) << report.str();
    EXPECT_EQ(out[0], 42u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Emu, InAGrid,
    testing::Values(
        Message{"Atomics", "", "red.release.gpu", "atom.acquire.gpu", "", true},
        Message{"OfTheSystem", "", "red.release.sys", "atom.acquire.gpu", "", true},
        Message{"Flags", "", "st.release.gpu", "ld.acquire.gpu", "", true},
        Message{"FencesAroundVolatile", "membar.gl;", "st.volatile", "ld.volatile", "membar.gl;",
                true},
        Message{"FencesAroundRelaxed", "fence.acq_rel.gpu;", "red.relaxed.gpu", "ld.relaxed.gpu",
                "fence.sc.gpu;", true},
        Message{"FenceForTheCta", "membar.cta;", "st.volatile", "ld.volatile", "membar.gl;", false},
        Message{"FenceForTheClusterAfter", "fence.acq_rel.gpu;", "red.relaxed.gpu",
                "ld.relaxed.gpu", "fence.acq_rel.cluster;", false},
        Message{"ReleaseForTheCta", "", "red.release.cta", "atom.acquire.gpu", "", false},
        Message{"AcquireForTheCluster", "", "st.release.gpu", "ld.acquire.cluster", "", false},
        Message{"Relaxed", "", "red.relaxed.gpu", "atom.acquire.gpu", "", false},
        Message{"NothingAcquires", "", "red.release.gpu", "ld.relaxed.gpu", "", false}),
    nameOf);

/// The order of LLVM's own atomic operations and fences counts as much.
TEST(EmuGrid, AtomicInstructionsAndFencesOfLlvm) {
  for (auto [scope, enough] : {std::pair{"device", true}, {"block", false}}) {
    std::string at = " syncscope(\"" + std::string(scope) + "\") ";
    std::string body = "  %id = call i32 asm \"mov.u32 $0, %ctaid.x;\", \"=r\"()\n"
                       "  %zero = icmp eq i32 %id, 0\n"
                       "  br i1 %zero, label %sender, label %receiver\nsender:\n"
                       "  store i32 42, ptr addrspace(1) %p0\n  fence" +
                       at +
                       "release\n  %o = atomicrmw add ptr addrspace(1) %p1, i32 1 "
                       "syncscope(\"device\") monotonic\n  ret void\nreceiver:\n"
                       "  br label %poll\npoll:\n"
                       "  %said = atomicrmw or ptr addrspace(1) %p1, i32 0" +
                       at +
                       "acquire\n  %yes = icmp ne i32 %said, 0\n"
                       "  br i1 %yes, label %heard, label %poll\nheard:\n"
                       "  %v = load i32, ptr addrspace(1) %p0\n"
                       "  store i32 %v, ptr addrspace(1) %p2\n  ret void";
    Bench bench(kernel(body, 3));
    bench.launch.grid = {2, 1, 1};
    std::vector<uint32_t> data(1), flag(1), out(1);
    bench.buffer(data), bench.buffer(flag), bench.buffer(out);
    Report report = bench.run(1);
    EXPECT_EQ(report.ok(), enough) << report.str();
  }
}

TEST(EmuGrid, AReportNamesWhoAndWhere) {
  std::string body = "  %id = call i32 asm \"mov.u32 $0, %ctaid.x;\", \"=r\"()\n"
                     "  %zero = icmp eq i32 %id, 0\n"
                     "  br i1 %zero, label %sender, label %receiver\nsender:\n"
                     "  %w = getelementptr i32, ptr addrspace(1) %p0, i32 3\n"
                     "  store i32 42, ptr addrspace(1) %w\n  ret void\nreceiver:\n"
                     "  %r = getelementptr i32, ptr addrspace(1) %p0, i32 3\n"
                     "  %v = load i32, ptr addrspace(1) %r\n"
                     "  store i32 %v, ptr addrspace(1) %p1\n  ret void";
  Bench bench(kernel(body, 2));
  bench.launch.grid = {2, 1, 1};
  std::vector<uint32_t> data(4), out(1);
  bench.buffer(data), bench.buffer(out);
  RunOptions inTurn;
  inTurn.threads = 1;
  Report report = bench.run(1, 0, inTurn);
  ASSERT_EQ(report.findings.size(), 1u) << report.str();
  const Finding &f = report.findings[0];
  EXPECT_EQ(f.kind, FindingKind::Race);
  EXPECT_NE(f.message.find("byte 12 of a buffer of global memory"), std::string::npos);
  EXPECT_EQ(f.where, "CTA (1, 0, 0), warp 0, thread 0");
  EXPECT_NE(f.otherNote.find("program 0 of the grid"), std::string::npos) << f.otherNote;
  EXPECT_EQ(f.site.instruction, "ld.global.b32");
  EXPECT_EQ(f.otherSite.instruction, "st.global.b32");
}

/// Each program adds to one counter, without any other order: nothing is wrong.
TEST(EmuGrid, AtomicsMeetEachOther) {
  for (auto [scope, enough] : {std::pair{"gpu", true}, {"cta", false}}) {
    Bench bench(kernel("  call void asm sideeffect \"red.relaxed." + std::string(scope) +
                       ".global.add.u32 [$0], 1;\", \"l,~{memory}\"(ptr addrspace(1) %p0)\n"
                       "  ret void"));
    bench.launch.grid = {4, 1, 1};
    std::vector<uint32_t> counter(1);
    bench.buffer(counter);
    Report report = bench.run(32);
    EXPECT_EQ(report.ok(), enough) << report.str();
    EXPECT_EQ(counter[0], 128u);
  }
}

} // namespace
