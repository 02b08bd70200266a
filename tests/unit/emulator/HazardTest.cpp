//===- HazardTest.cpp - what a report of each hazard says -----------------===//
//
// Each kernel stands on numbered lines. As it is it must be clean in every order;
// with one line changed, there must be a report that names both lines, who was
// there, and where.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/emulator/EmuTest.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile::emu;

namespace {

/// Line n of the body gets line n in the debug information.
std::string numbered(const std::vector<std::string> &lines, unsigned numPointers) {
  std::string body, places;
  for (size_t n = 1; n <= lines.size(); ++n) {
    for (llvm::StringRef part : llvm::split(lines[n - 1], "\n"))
      body += part.empty() || part.ends_with(":")
                  ? (part + "\n").str()
                  : ("  " + part + ", !dbg !" + llvm::Twine(100 + n) + "\n").str();
    places += "!" + std::to_string(100 + n) + " = !DILocation(line: " + std::to_string(n) +
              ", column: 1, scope: !3)\n";
  }
  return kernel(body, numPointers,
                places + "!3 = distinct !DISubprogram(name: \"k\", file: !4, unit: !5)\n"
                         "!4 = !DIFile(filename: \"k.tile\", directory: \"\")\n"
                         "!5 = distinct !DICompileUnit(language: DW_LANG_C, file: !4)\n"
                         "!6 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
                         "!llvm.module.flags = !{!6}\n!llvm.dbg.cu = !{!5}\n");
}

std::string ptx(const std::string &text, const std::string &constraints = "~{memory}",
                const std::string &args = "") {
  return "call void asm sideeffect \"" + text + "\", \"" + constraints + "\"(" + args + ")";
}

struct Hazard {
  const char *name;
  std::vector<std::string> lines;
  uint32_t threads;
  size_t changed;     ///< a line, from 1
  std::string broken; ///< what stands there instead
  FindingKind kind;
  /// Lines that the report names: the instruction, and the other one if there is.
  unsigned line, otherLine;
  std::vector<std::string> words; ///< that it must say
  uint32_t cluster = 1;           ///< CTAs
};

class Hazards : public testing::TestWithParam<Hazard> {
protected:
  static Report run(const std::vector<std::string> &lines, std::optional<uint64_t> seed) {
    const Hazard &h = GetParam();
    Bench bench(numbered(lines, 2));
    bench.launch.grid = bench.launch.cluster = {h.cluster, 1, 1};
    std::vector<uint32_t> in(256, 1), out(256);
    bench.buffer(in), bench.buffer(out);
    RunOptions options;
    options.seed = seed;
    return bench.program ? bench.run(h.threads, 2048, options) : Report();
  }
};

TEST_P(Hazards, TheKernelIsCleanAsItIs) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Report report = run(GetParam().lines, seed ? std::optional<uint64_t>(seed) : std::nullopt);
    EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << report.str();
  }
}

TEST_P(Hazards, TheReportSaysWhereWhoAndWhat) {
  const Hazard &h = GetParam();
  std::vector<std::string> lines = h.lines;
  lines[h.changed - 1] = h.broken;
  Report report = run(lines, std::nullopt);
  auto lineOf = [](const Site &site) { return site.places.empty() ? 0 : site.places[0].line; };
  bool found = false;
  for (const Finding &f : report.findings) {
    if (f.kind != h.kind || lineOf(f.site) != h.line || lineOf(f.otherSite) != h.otherLine)
      continue;
    found = true;
    EXPECT_NE(f.where.find("warp "), std::string::npos) << f.where;
    EXPECT_NE(f.where.find("thread "), std::string::npos) << f.where;
    for (const std::string &word : h.words)
      EXPECT_NE((f.message + " " + f.otherNote).find(word), std::string::npos)
          << word << " in: " << report.str();
  }
  EXPECT_TRUE(found) << "no " << name(h.kind).str() << " of lines " << h.line << " and "
                     << h.otherLine << " in:\n"
                     << report.str();
  // In any order there is something to see.
  for (uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_FALSE(run(lines, seed).ok()) << "seed " << seed;
}

const std::string barrier = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";
const std::string mine = "%a = getelementptr i32, ptr addrspace(3) @smem, i32 %tid";
const std::string write = "store i32 %tid, ptr addrspace(3) %a";
const std::string others = "%o = xor i32 %tid, 63\n"
                           "%b = getelementptr i32, ptr addrspace(3) @smem, i32 %o";
const std::string read = "%v = load i32, ptr addrspace(3) %b";
const std::string keep = "%at = getelementptr i32, ptr addrspace(1) %p1, i32 %tid\n"
                         "store i32 %v, ptr addrspace(1) %at";
const std::string end = "ret void";
const std::string nothing = "%nothing = add i32 %tid, 0";
const std::string low = "%low = icmp ult i32 %tid, 7\nbr i1 %low, label %some, label %rest";

/// cp.async of a word for each thread.
const std::string copy = "%from = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n" +
                         ptx("cp.async.ca.shared.global [$0], [$1], 4;", "r,l",
                             "ptr addrspace(3) %a, ptr addrspace(1) %from");
const std::string commit = ptx("cp.async.commit_group;", "");
const std::string wait = ptx("cp.async.wait_group 0;", "");

/// Thread 0 copies 256 bytes of shared memory to p1 by itself.
const std::string first = "%first = icmp eq i32 %tid, 0\nbr i1 %first, label %issue, label %done";
const std::string bulkStore = "issue:\n%base = ptrtoint ptr addrspace(3) @smem to i32\n" +
                              ptx("cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], 256;",
                                  "l,r,~{memory}", "ptr addrspace(1) %p1, i32 %base");
const std::string bulkCommit = ptx("cp.async.bulk.commit_group;");
const std::string bulkWait = ptx("cp.async.bulk.wait_group.read 0;");
const std::string bulkWritten = ptx("cp.async.bulk.wait_group 0;");
const std::string done = "br label %done\ndone:\nret void";
/// Thread 0 reads the last word that it has stored, or stores again.
const std::string readBack = "%last = getelementptr i32, ptr addrspace(1) %p1, i32 63\n"
                             "%back = load i32, ptr addrspace(1) %last";
const std::string keepBack = "store i32 %back, ptr addrspace(1) %p0";
const std::string storeAgain = ptx("cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], 16;",
                                   "l,r,~{memory}", "ptr addrspace(1) %p1, i32 %base");
const std::string proxyFence = ptx("fence.proxy.async.shared::cta;");

/// An mbarrier that one thread of each of two warps arrives at.
const std::string setUp = "%base = ptrtoint ptr addrspace(3) @smem to i32\n"
                          "%bar = add i32 %base, 1024\n"
                          "%first = icmp eq i32 %tid, 0\n"
                          "br i1 %first, label %init, label %ready";
const std::string initTwo =
    "init:\n" + ptx("mbarrier.init.shared::cta.b64 [$0], 2;", "r,~{memory}", "i32 %bar") +
    "\nbr label %ready\nready:";
const std::string initOne =
    "init:\n" + ptx("mbarrier.init.shared::cta.b64 [$0], 1;", "r,~{memory}", "i32 %bar") +
    "\nbr label %ready\nready:";
const std::string leaders = "%lane = and i32 %tid, 31\n%leads = icmp eq i32 %lane, 0\n"
                            "br i1 %leads, label %arrive, label %arrived\narrive:";
const std::string arrive =
    ptx("mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}", "i32 %bar");
const std::string arrived = "br label %arrived\narrived:";
const std::string invalidate =
    "br i1 %first, label %inval, label %gone\ninval:\n" +
    ptx("mbarrier.inval.shared::cta.b64 [$0];", "r,~{memory}", "i32 %bar") +
    "\nbr label %gone\ngone:";
const std::string writeThere = "%at = getelementptr i8, ptr addrspace(3) @smem, i32 1024\n"
                               "%word = getelementptr i32, ptr addrspace(3) %at, i32 %tid\n"
                               "store i32 %tid, ptr addrspace(3) %word";
const std::string waitPhase =
    ptx("{\\0A.reg .pred done;\\0Aagain:\\0Ambarrier.try_wait.parity.shared::cta.b64 done, "
        "[$0], $1;\\0A@!done bra again;\\0A}",
        "r,r,~{memory}", "i32 %bar, i32 0");

/// A product of 64 x 8 x 16 by 128 threads, all of it zeros, and its buffer used again.
const std::string quad = "{ float, float, float, float }";
const std::string zeros = "%q = getelementptr <4 x i32>, ptr addrspace(3) @smem, i32 %tid\n"
                          "store <4 x i32> zeroinitializer, ptr addrspace(3) %q";
const std::string descriptor =
    "%base = ptrtoint ptr addrspace(3) @smem to i32\n%start = lshr i32 %base, 4\n"
    "%wide = zext i32 %start to i64\n%desc = or i64 %wide, " +
    std::to_string(uint64_t(128 >> 4) << 16 | uint64_t(256 >> 4) << 32);
const std::string productFence = ptx("wgmma.fence.sync.aligned;");
const std::string product =
    "%r = call " + quad +
    " asm sideeffect \"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $4, "
    "$5, 0, 1, 1, 0, 0;\", \"=f,=f,=f,=f,l,l,0,1,2,3,~{memory}\"(i64 %desc, i64 %desc, float 0.0, "
    "float 0.0, float 0.0, float 0.0)";
const std::string productCommit = ptx("wgmma.commit_group.sync.aligned;");
const std::string taken = "%r0 = extractvalue " + quad + " %r, 0\n%r1 = extractvalue " + quad +
                          " %r, 1\n%r2 = extractvalue " + quad + " %r, 2\n%r3 = extractvalue " +
                          quad + " %r, 3";
const std::string productWait =
    "%d = call " + quad +
    " asm sideeffect \"wgmma.wait_group.sync.aligned 0;\", "
    "\"=f,=f,=f,=f,0,1,2,3,~{memory}\"(float %r0, float %r1, float %r2, float %r3)";
const std::string result = "%d0 = extractvalue " + quad + " %d, 0";
const std::string keepResult = "%at = getelementptr float, ptr addrspace(1) %p1, i32 %tid\n"
                               "store float %d0, ptr addrspace(1) %at";
const std::string zerosAgain = "store <4 x i32> zeroinitializer, ptr addrspace(3) %q";

/// Each CTA of a pair writes into the other's memory.
const std::string pair = "%rank = call i32 asm \"mov.u32 $0, %cluster_ctarank;\", \"=r\"()\n"
                         "%other = xor i32 %rank, 1\n"
                         "%base = ptrtoint ptr addrspace(3) @smem to i32\n"
                         "%far = call i32 asm \"mapa.shared::cluster.u32 $0, $1, $2;\", "
                         "\"=r,r,r\"(i32 %base, i32 %other)";
const std::string writeFar =
    ptx("st.shared::cluster.u32 [$0], $1;", "r,r,~{memory}", "i32 %far, i32 %rank");
const std::string clusterBarrier =
    ptx("barrier.cluster.arrive.aligned;") + "\n" + ptx("barrier.cluster.wait.aligned;");
const std::string readNear = "%v = load i32, ptr addrspace(3) @smem";

const Hazard hazards[] = {
    {"DataRace",
     {mine, write, barrier, others, read, keep, end},
     64,
     3,
     nothing,
     FindingKind::Race,
     5,
     2,
     {"shared offset", "written here by warp 0", "thread"}},
    {"UnwrittenSharedMemory",
     {mine, write, barrier, others, read, keep, end},
     64,
     2,
     nothing,
     FindingKind::Uninitialized,
     5,
     0,
     {"shared offset 0"}},
    {"BufferReusedTooEarly",
     {mine, write, barrier, others, read, keep, barrier, write, end},
     64,
     7,
     nothing,
     FindingKind::Race,
     8,
     5,
     {"shared offset", "read here by warp 1, thread 63"}},
    {"CopyUsedBeforeItsWait",
     {mine, copy, commit, wait, barrier, others, read, keep, end},
     64,
     4,
     nothing,
     FindingKind::Race,
     7,
     2,
     {"shared offset", "an asynchronous copy"}},
    {"LeakedCopy",
     {mine, copy, commit, wait, end},
     64,
     4,
     nothing,
     FindingKind::LeakedAsync,
     2,
     0,
     {"shared offset 0", "cp.async.wait_group"}},
    {"LeakedBulkStore",
     {mine, write, proxyFence, barrier, first, bulkStore, bulkCommit, bulkWait, done},
     64,
     8,
     nothing,
     FindingKind::LeakedAsync,
     6,
     0,
     {"shared offset 0", "cp.async.bulk.wait_group"}},
    {"StoreReadBackBeforeItHasArrived",
     {mine, write, proxyFence, barrier, first, bulkStore, bulkCommit, bulkWritten, readBack,
      keepBack, done},
     64,
     8,
     bulkWait,
     FindingKind::Race,
     9,
     6,
     {"of global memory is read", "without `.read`", "a bulk store of warp 0, thread 0"}},
    {"StoreOverAStoreThatHasNotArrived",
     {mine, write, proxyFence, barrier, first, bulkStore, bulkCommit, bulkWritten, storeAgain,
      bulkCommit, bulkWait, done},
     64,
     8,
     bulkWait,
     FindingKind::Race,
     9,
     6,
     {"of global memory is written", "a bulk store of warp 0, thread 0"}},
    {"MissingProxyFence",
     {mine, write, proxyFence, barrier, first, bulkStore, bulkCommit, bulkWait, done},
     64,
     3,
     nothing,
     FindingKind::MissingProxyFence,
     6,
     2,
     {"shared offset 0", "written here by warp 0"}},
    {"MismatchedCounts",
     {"%p = icmp ult i32 %tid, 32\nbr i1 %p, label %x, label %y\nx:", ptx("bar.sync 3, 64;"),
      "br label %z\ny:", ptx("bar.sync 3, 64;"), "br label %z\nz:\nret void"},
     64,
     4,
     ptx("bar.sync 3, 32;"),
     FindingKind::BarrierMismatch,
     4,
     2,
     {"barrier 3", "32 threads", "64", "the other arrival, by warp 0, thread 0"}},
    {"MoreArrivalsThanExpected",
     {setUp, initTwo, barrier, leaders, arrive, arrived, waitPhase, end},
     64,
     5,
     ptx("mbarrier.arrive.shared::cta.b64 _, [$0], 3;", "r,~{memory}", "i32 %bar"),
     FindingKind::BarrierMismatch,
     5,
     2,
     {"shared offset", "expects: 2"}},
    {"FewerArrivalsExpectedThanCome",
     {setUp, initTwo, barrier, leaders, arrive, arrived, waitPhase, end},
     64,
     2,
     initOne,
     FindingKind::BarrierMismatch,
     5,
     2,
     {"counts for phase 1", "shared offset", "phase 0 has ended"}},
    {"DeadlockAtBarriers",
     {"%p = icmp ult i32 %tid, 32\nbr i1 %p, label %x, label %y\nx:", ptx("bar.sync 3, 64;"),
      "br label %z\ny:", ptx("bar.sync 3, 64;"), "br label %z\nz:\nret void"},
     64,
     4,
     ptx("bar.sync 4, 64;"),
     FindingKind::Deadlock,
     2,
     4,
     {"waits at barrier 3, where 32 of 64", "waits at barrier 4", "warp 1, thread 32"}},
    {"DeadlockAtAnMBarrier",
     {setUp, initTwo, barrier, leaders, arrive, arrived, waitPhase, end},
     64,
     5,
     nothing,
     FindingKind::Deadlock,
     7,
     0,
     {"shared offset", "lacks 2 of 2 arrivals"}},
    {"BarrierInitialisedByNobodyKnown",
     {setUp, initTwo, barrier, leaders, arrive, arrived, waitPhase, end},
     64,
     3,
     nothing,
     FindingKind::Race,
     5,
     2,
     {"the mbarrier at shared offset", "initialised here by"}},
    {"StoreWhereAnMBarrierIs",
     {setUp, initTwo, barrier, leaders, arrive, arrived, waitPhase, barrier, invalidate, barrier,
      writeThere, end},
     64,
     9,
     nothing,
     FindingKind::BarrierMisuse,
     11,
     2,
     {"a store touches the mbarrier at shared offset", "before `mbarrier.inval`",
      "initialised here"}},
    {"AlignedBarrierForAPartOfAWarp",
     {low + "\nsome:", nothing, "br label %rest\nrest:", barrier, end},
     64,
     2,
     barrier,
     FindingKind::NonUniform,
     4,
     2,
     {"lane 7 is here", "lane 0 waits"}},
    {"AlignedBarrierBeforeOthersEnd",
     {low + "\nsome:", nothing, "br label %rest\nrest:", end},
     32,
     2,
     barrier,
     FindingKind::NonUniform,
     2,
     0,
     {"lane 0 is here", "has ended"}},
    {"AlignedBarrierForParts",
     // Two halves of warps make one barrier's count.
     {("%half = and i32 %tid, 31\n%p = icmp ult i32 %half, 32\n"
       "br i1 %p, label %x, label %y\nx:"),
      ptx("bar.sync 1, 64;"), "br label %y\ny:", barrier, end},
     64,
     1,
     "%half = and i32 %tid, 31\n%p = icmp ult i32 %half, 16\n"
     "br i1 %p, label %x, label %y\nx:",
     FindingKind::NonUniform,
     4,
     2,
     {"lane 16 is here", "lane 0 waits"}},
    {"SyncForLanesThatAreElsewhere",
     {low + "\nsome:", nothing, "br label %rest\nrest:", ptx("bar.warp.sync -1;"), end},
     32,
     2,
     "%w = call i32 asm sideeffect \"redux.sync.max.s32 $0, $1, -1;\", \"=r,r\"(i32 %tid)",
     FindingKind::NonUniform,
     4,
     2,
     {"lane 7 is here", "lane 0 is here"}},
    {"AccumulatorUsedBeforeItsWait",
     {zeros, proxyFence, barrier, descriptor, productFence, product, productCommit, taken,
      productWait, result, keepResult, end},
     128,
     9,
     "%d = freeze " + quad + " %r",
     FindingKind::AccumulatorInFlight,
     11,
     6,
     {"an accumulator is used", "no `wgmma.wait_group`"}},
    {"OperandsOverwrittenUnderAProduct",
     {zeros, proxyFence, barrier, descriptor, productFence, product, productCommit, taken,
      productWait, barrier, zerosAgain, end},
     128,
     9,
     ptx("wgmma.wait_group.sync.aligned 1;"),
     FindingKind::Race,
     11,
     6,
     {"a store writes shared offset", "read here by a matrix product of warpgroup 0"}},
    {"LeakedProduct",
     {zeros, proxyFence, barrier, descriptor, productFence, product, productCommit, taken,
      productWait, end},
     128,
     9,
     nothing,
     FindingKind::LeakedAsync,
     6,
     0,
     {"a matrix product of B at shared offset 0 that nobody has waited for"}},
    {"OperandsWithoutAProxyFence",
     {zeros, proxyFence, barrier, descriptor, productFence, product, productCommit, taken,
      productWait, end},
     128,
     2,
     nothing,
     FindingKind::MissingProxyFence,
     6,
     1,
     {"a matrix product uses shared offset", "written here by warp 0, thread 0"}},
    {"DistributedSharedMemoryWithoutABarrier",
     {pair, writeFar, clusterBarrier, readNear, keep, clusterBarrier, end},
     1,
     3,
     nothing,
     FindingKind::Race,
     4,
     2,
     {"a load reads shared offset 0", "written here by warp 0, thread 0 of CTA rank"},
     2},
    {"ArrivesAtAClusterBarrierTwice",
     {pair, nothing, ptx("barrier.cluster.arrive.aligned;"), ptx("barrier.cluster.wait.aligned;"),
      end},
     32,
     2,
     ptx("barrier.cluster.arrive.aligned;"),
     FindingKind::BarrierMismatch,
     3,
     2,
     {"twice without waiting", "its first arrival"},
     2},
    {"SyncWithAMaskThatLeavesTheLaneOut",
     {ptx("bar.warp.sync -1;"), end},
     32,
     1,
     ptx("bar.warp.sync 127;"),
     FindingKind::NonUniform,
     1,
     0,
     {"lane 7", "mask of 0x7f"}},
};

TEST(EmuLoad, ErrorsNameTheLine) {
  for (const char *text : {"tcgen05.wait.st;", ".shared .b32 buffer[2];"}) {
    std::string error;
    EXPECT_FALSE(Program::load(numbered({nothing, ptx(text), end}, 1), {}, error));
    EXPECT_NE(error.find(text, 0, 5), std::string::npos) << error;
    EXPECT_NE(error.find("(k.tile:2)"), std::string::npos) << error;
  }
}

INSTANTIATE_TEST_SUITE_P(Emu, Hazards, testing::ValuesIn(hazards),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
