//===- ClusterTest.cpp - several CTAs that share their memory -------------===//
//
// Each kernel is right as written; each test of a finding changes one
// instruction of it.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/TensorMap.h"
#include "tests/unit/emulator/EmuTest.h"
#include <numeric>

using namespace tile::emu;

namespace {

std::string effect(const std::string &text, const std::string &constraints = "~{memory}",
                   const std::string &args = "") {
  return "  call void asm sideeffect \"" + text + "\", \"" + constraints + "\"(" + args + ")\n";
}

const std::string clusterArrive = effect("barrier.cluster.arrive.release.aligned;");
const std::string clusterWait = effect("barrier.cluster.wait.acquire.aligned;");
const std::string clusterSync = clusterArrive + clusterWait;

/// Waits for a phase of the mbarrier at `address`.
std::string waitFor(const std::string &address, const std::string &phase) {
  return effect("{\\0A.reg .pred done;\\0Aagain:\\0Ambarrier.try_wait.parity.acquire.cluster."
                "shared::cta.b64 done, [$0], $1;\\0A@!done bra again;\\0A}",
                "r,r,~{memory}", "i32 " + address + ", i32 " + phase);
}

/// A pair of CTAs of one warp each. In each of two rounds, each CTA loads one half
/// of a box of 64 x 64 halves to both of them, so that both have all of it; then
/// tells the other that it has read its slot. p1 takes what each has seen, the
/// last round's.
struct Multicast {
  std::string mask = "i16 3";
  std::string init = effect("mbarrier.init.shared::cta.b64 [$0], 1;", "r,~{memory}", "i32 %full") +
                     effect("mbarrier.init.shared::cta.b64 [$0], 2;", "r,~{memory}", "i32 %empty") +
                     effect("fence.mbarrier_init.release.cluster;");
  std::string ready = clusterSync; ///< everybody's barriers are initialised
  std::string load = effect(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
      "cluster [$0], [$1, {$2, $3}], [$4], $5;",
      "r,l,r,r,r,h,~{memory}", "i32 %half, i64 %map64, i32 0, i32 %row, i32 %full, MASK");
  /// To both CTAs: the slot has been read.
  std::string release = effect("{\\0A.reg .b32 far;\\0Amapa.shared::cluster.u32 far, $0, $1;\\0A"
                               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [far];\\0A}",
                               "r,r,~{memory}", "i32 %empty, i32 0") +
                        effect("{\\0A.reg .b32 far;\\0Amapa.shared::cluster.u32 far, $0, $1;\\0A"
                               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [far];\\0A}",
                               "r,r,~{memory}", "i32 %empty, i32 1");
  std::string acquire = waitFor("%empty", "0"); ///< before the second round's copies
  std::string end = waitFor("%empty", "1");

  std::string round(const std::string &n, bool again) const {
    std::string s;
    if (again)
      s += acquire;
    s += "  br i1 %first, label %issue" + n + ", label %issued" + n + "\nissue" + n + ":\n" +
         effect("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 8192;", "r,~{memory}",
                "i32 %full") +
         without(load, "MASK", mask) + "  br label %issued" + n + "\nissued" + n + ":\n" +
         waitFor("%full", again ? "1" : "0");
    for (int i = 0; i < 64; ++i) {
      std::string k = n + "x" + std::to_string(i);
      s += "  %i" + k + " = add i32 %tid, " + std::to_string(32 * i) + "\n  %a" + k +
           " = getelementptr i32, ptr addrspace(3) @smem, i32 %i" + k + "\n  %v" + k +
           " = load i32, ptr addrspace(3) %a" + k + "\n  %j" + k + " = add i32 %i" + k +
           ", %out\n  %g" + k + " = getelementptr i32, ptr addrspace(1) %p1, i32 %j" + k +
           "\n  store i32 %v" + k + ", ptr addrspace(1) %g" + k + "\n";
    }
    return s + effect("bar.warp.sync -1;") + "  br i1 %first, label %free" + n + ", label %freed" +
           n + "\nfree" + n + ":\n" + release + "  br label %freed" + n + "\nfreed" + n + ":\n";
  }
  std::string text() const {
    return kernel(
        "  %rank = call i32 asm \"mov.u32 $0, %cluster_ctarank;\", \"=r\"()\n"
        "  %base = ptrtoint ptr addrspace(3) @smem to i32\n"
        "  %row = mul i32 %rank, 32\n  %skip = mul i32 %rank, 4096\n"
        "  %half = add i32 %base, %skip\n  %full = add i32 %base, 8192\n"
        "  %empty = add i32 %base, 8200\n  %out = mul i32 %rank, 2048\n"
        "  %map64 = ptrtoint ptr %map to i64\n"
        "  %first = icmp eq i32 %tid, 0\n  br i1 %first, label %init, label %ready\ninit:\n" +
            init + "  br label %ready\nready:\n" + ready + round("a", false) + round("b", true) +
            end + "  ret void",
        2, "", ", ptr byval([128 x i8]) align 64 %map");
  }
};

struct MulticastBench : Bench {
  explicit MulticastBench(const Multicast &m) : Bench(m.text()), in(64 * 64), out(2 * 64 * 64) {
    std::iota(in.begin(), in.end(), 1);
    buffer(in), buffer(out);
    map.base = reinterpret_cast<uint64_t>(in.data());
    map.rank = 2, map.elementBytes = 2, map.swizzle = 0;
    map.dims[0] = 64, map.dims[1] = 64, map.strides[0] = 128;
    map.box[0] = 64, map.box[1] = 32;
    aggregates.push_back(&map);
    launch.grid = {2, 1, 1}, launch.cluster = {2, 1, 1}; // all clusters would write the same
  }
  static constexpr uint32_t kBytes = 8208;
  alignas(64) TensorMap map;
  std::vector<uint16_t> in, out;
};

TEST(EmuMulticast, EachHalfComesToBoth) {
  MulticastBench bench{Multicast()};
  bench.expectClean(32, bench.kBytes);
  for (size_t i = 0; i < bench.out.size(); ++i)
    ASSERT_EQ(bench.out[i], bench.in[i % bench.in.size()]) << i;
}

TEST(EmuMulticast, OneTargetIsNotEnough) {
  Multicast m;
  m.mask = "i16 1";
  MulticastBench bench{m};
  bench.expectFinding(FindingKind::Deadlock, 32, bench.kBytes);
}

TEST(EmuMulticast, TargetsThatDoNotExistAreRefused) {
  Multicast m;
  m.mask = "i16 7";
  MulticastBench bench{m};
  bench.expectFinding(FindingKind::BadOperand, 32, bench.kBytes);
}

/// Before the other CTA's barrier is ready for it.
TEST(EmuMulticast, BarriersOfTheOtherCtaMustBeInitialised) {
  Multicast m;
  m.ready = effect("bar.warp.sync -1;");
  MulticastBench bench{m};
  EXPECT_FALSE(bench.run(32, bench.kBytes).ok());
}

/// The other CTA may still read what the second copy overwrites.
TEST(EmuMulticast, SlotsOfTheOtherCtaMustBeFree) {
  Multicast m;
  m.acquire = "";
  MulticastBench bench{m};
  bench.expectFinding(FindingKind::Race, 32, bench.kBytes);
}

/// ... and who says so must be the other CTA too.
TEST(EmuMulticast, OneArrivalTooFewIsADeadlock) {
  Multicast m;
  m.release = m.release.substr(m.release.find('\n') + 1);
  MulticastBench bench{m};
  bench.expectFinding(FindingKind::Deadlock, 32, bench.kBytes);
}

TEST(EmuMulticast, AnArrivalMayNotComeAfterTheEnd) {
  Multicast m;
  m.end = "";
  MulticastBench bench{m};
  Report report = bench.run(32, bench.kBytes);
  EXPECT_FALSE(report.ok());
  EXPECT_NE(report.str().find("ended"), std::string::npos) << report.str();
}

TEST(EmuMulticast, ACopyMayNotComeAfterTheEnd) {
  // One copy, nobody waits for it.
  Multicast m;
  std::string text = m.text();
  size_t wait = text.find(waitFor("%full", "0")), end = text.find("  ret void", wait);
  text = text.substr(0, wait) + text.substr(end);
  Multicast empty;
  MulticastBench bench{empty};
  bench.program = Program::load(text, {}, bench.error);
  ASSERT_TRUE(bench.program) << bench.error;
  bench.expectFinding(FindingKind::LeakedAsync, 32, bench.kBytes);
}

//===----------------------------------------------------------------------===//
// Cluster barriers and distributed shared memory
//===----------------------------------------------------------------------===//

/// Each CTA of a pair leaves its rank in the other's shared memory, through
/// `address`, a mapping of %base to %far.
std::string pairKernel(const std::string &address, const std::string &store) {
  return "  %rank = call i32 asm \"mov.u32 $0, %cluster_ctarank;\", \"=r\"()\n"
         "  %other = xor i32 %rank, 1\n"
         "  %base = ptrtoint ptr addrspace(3) @smem to i32\n" +
         address + store + clusterSync +
         "  %v = load i32, ptr addrspace(3) @smem\n"
         "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %rank\n"
         "  store i32 %v, ptr addrspace(1) %at\n  ret void";
}

const std::string mapShared = "  %far = call i32 asm \"mapa.shared::cluster.u32 $0, $1, $2;\", "
                              "\"=r,r,r\"(i32 %base, i32 %other)\n";
const std::string storeShared =
    effect("st.shared::cluster.u32 [$0], $1;", "r,r,~{memory}", "i32 %far, i32 %rank");

struct PairBench : Bench {
  explicit PairBench(const std::string &body) : Bench(kernel(body)), out(2, 7) {
    buffer(out);
    launch.grid = {2, 1, 1}, launch.cluster = {2, 1, 1};
  }
  void expectSwapped() {
    expectClean(1, 16);
    EXPECT_EQ(out[0], 1u);
    EXPECT_EQ(out[1], 0u);
  }
  std::vector<uint32_t> out;
};

TEST(EmuCluster, MapaOfSharedAddresses) {
  PairBench(pairKernel(mapShared, storeShared)).expectSwapped();
}

TEST(EmuCluster, MapaOfGenericAddresses) {
  std::string map = "  %gp = addrspacecast ptr addrspace(3) @smem to ptr\n"
                    "  %far = call i64 asm \"mapa.u64 $0, $1, $2;\", \"=l,l,r\"(ptr %gp, i32 "
                    "%other)\n  %fp = inttoptr i64 %far to ptr\n";
  PairBench(pairKernel(map, "  store i32 %rank, ptr %fp\n")).expectSwapped();
}

TEST(EmuCluster, GetctarankTellsWhoseMemoryItIs) {
  std::string rank = "  %who = call i32 asm \"getctarank.shared::cluster.u32 $0, $1;\", "
                     "\"=r,r\"(i32 %far)\n  %me = xor i32 %who, 1\n";
  PairBench(pairKernel(mapShared, rank + without(storeShared, "i32 %rank", "i32 %me")))
      .expectSwapped();
}

TEST(EmuCluster, ReadingOthersMemoryNeedsABarrierToo) {
  PairBench bench(without(pairKernel(mapShared, storeShared), clusterWait));
  EXPECT_FALSE(bench.run(1, 16).ok());
}

TEST(EmuCluster, ACtaThatDoesNotExistIsOutOfBounds) {
  PairBench bench(
      without(pairKernel(mapShared, storeShared), "xor i32 %rank, 1", "add i32 %rank, 2"));
  bench.expectFinding(FindingKind::OutOfBounds, 1, 16);
}

TEST(EmuCluster, MemoryEndsWithItsCta) {
  // Nobody waits for the other's store.
  PairBench leaving("  %rank = call i32 asm \"mov.u32 $0, %cluster_ctarank;\", \"=r\"()\n"
                    "  %other = xor i32 %rank, 1\n"
                    "  %base = ptrtoint ptr addrspace(3) @smem to i32\n" +
                    mapShared + storeShared + "  ret void");
  Report report = leaving.run(1, 16);
  EXPECT_FALSE(report.ok());
}

TEST(EmuCluster, ThreadsThatHaveEndedAreNotWaitedFor) {
  PairBench bench("  %p = icmp ult i32 %tid, 32\n  br i1 %p, label %stay, label %end\nstay:\n" +
                  effect("barrier.cluster.arrive.aligned;") +
                  effect("barrier.cluster.wait.aligned;") + "  br label %end\nend:\n  ret void");
  bench.expectClean(64, 16);
}

TEST(EmuCluster, AnAlignedArrivalTakesTheWholeWarp) {
  std::string body = "  %p = icmp ult i32 %tid, 7\n  br i1 %p, label %some, label %end\nsome:\n" +
                     clusterArrive + "  br label %end\nend:\n" + clusterWait + "  ret void";
  PairBench(body).expectFinding(FindingKind::NonUniform, 32, 16);
}

TEST(EmuCluster, AGridIsAWholeNumberOfClusters) {
  PairBench bench(pairKernel(mapShared, storeShared));
  bench.launch.grid = {3, 1, 1};
  bench.expectFinding(FindingKind::BadOperand, 1, 16);
}

} // namespace
