//===- AsyncTest.cpp - copies, mbarriers, tensor maps ---------------------===//
//
// Each kernel is right as written; each test of a finding takes one instruction
// out of it.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/TensorMap.h"
#include "tests/unit/emulator/EmuTest.h"
#include <numeric>

using namespace tile::emu;

namespace {

const char *barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

std::string effect(const std::string &text, const std::string &constraints = "",
                   const std::string &args = "") {
  return "  call void asm sideeffect \"" + text + "\", \"" + constraints + "\"(" + args + ")\n";
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

const std::string wait0 = "  call void asm sideeffect \"cp.async.wait_group 0;\", \"\"()\n";

/// out[tid] = in[63 - tid] through shared memory.
std::string copyKernel() {
  return "  %from = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n"
         "  %to = getelementptr i32, ptr addrspace(3) @smem, i32 %tid\n" +
         effect("cp.async.ca.shared.global [$0], [$1], 4;", "r,l",
                "ptr addrspace(3) %to, ptr addrspace(1) %from") +
         effect("cp.async.commit_group;") + wait0 + barrier +
         "  %o = sub i32 63, %tid\n"
         "  %b = getelementptr i32, ptr addrspace(3) @smem, i32 %o\n"
         "  %v = load i32, ptr addrspace(3) %b\n"
         "  %at = getelementptr i32, ptr addrspace(1) %p1, i32 %tid\n"
         "  store i32 %v, ptr addrspace(1) %at\n  ret void";
}

struct CopyBench : Bench {
  explicit CopyBench(const std::string &body) : Bench(kernel(body, 2)), in(64), out(64) {
    std::iota(in.begin(), in.end(), 100);
    buffer(in), buffer(out);
  }
  std::vector<uint32_t> in, out;
};

TEST(EmuCopyAsync, ArrivesAfterTheWait) {
  CopyBench bench(copyKernel());
  bench.expectClean(64, 256);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(bench.out[i], 163 - i);
}

TEST(EmuCopyAsync, MissingWaitIsARaceAndALeak) {
  CopyBench bench(without(copyKernel(), wait0));
  Report report = bench.run(64, 256);
  EXPECT_TRUE(report.has(FindingKind::Race)) << report.str();
  EXPECT_TRUE(report.has(FindingKind::LeakedAsync)) << report.str();
}

TEST(EmuCopyAsync, MissingCommitIsFound) {
  CopyBench bench(without(copyKernel(), effect("cp.async.commit_group;")));
  EXPECT_FALSE(bench.run(64, 256).ok());
}

TEST(EmuCopyAsync, MissingBarrierIsARace) {
  CopyBench bench(without(copyKernel(), barrier));
  bench.expectFinding(FindingKind::Race, 64, 256);
}

TEST(EmuCopyAsync, ShortSourcesAreFilledWithZeros) {
  std::string text = without(copyKernel(), "[$1], 4;", "[$1], 4, 0;");
  CopyBench bench(text);
  bench.expectClean(64, 256);
  EXPECT_EQ(bench.out, std::vector<uint32_t>(64));
}

/// Copies of every size, of which the last bytes may be left out; those are zeros.
/// A false predicate leaves all of them out of the copy.
TEST(EmuCopyAsync, OfEverySizeWholeAndCut) {
  for (unsigned bytes : {4, 8, 16})
    for (unsigned from : {0u, bytes / 4, bytes}) {
      std::string cache = bytes == 16 ? "cg" : "ca", n = std::to_string(bytes);
      std::string body =
          "  %o = mul i32 %tid, " + n +
          "\n  %from = getelementptr i8, ptr addrspace(1) %p0, i32 %o\n"
          "  %to = getelementptr i8, ptr addrspace(3) @smem, i32 %o\n"
          "  %odd = and i32 %tid, 1\n  %p = icmp eq i32 %odd, 0\n" +
          effect("@$3 cp.async." + cache + ".shared.global [$0], [$1], " + n + ", $2;", "r,l,r,b",
                 "ptr addrspace(3) %to, ptr addrspace(1) %from, i32 " + std::to_string(from) +
                     ", i1 %p") +
          effect("cp.async.commit_group;") + wait0 + "  br i1 %p, label %out, label %end\nout:\n";
      for (unsigned i = 0; i < bytes / 4; ++i) {
        std::string k = std::to_string(i);
        body += "  %s" + k + " = getelementptr i32, ptr addrspace(3) %to, i32 " + k + "\n  %v" + k +
                " = load i32, ptr addrspace(3) %s" + k + "\n  %a" + k +
                " = getelementptr i8, ptr addrspace(1) %p1, i32 %o\n  %b" + k +
                " = getelementptr i32, ptr addrspace(1) %a" + k + ", i32 " + k +
                "\n  store i32 %v" + k + ", ptr addrspace(1) %b" + k + "\n";
      }
      Bench bench(kernel(body + "  br label %end\nend:\n  ret void", 2));
      std::vector<uint8_t> in(32 * bytes), out(32 * bytes, 9);
      std::iota(in.begin(), in.end(), 1);
      bench.buffer(in), bench.buffer(out);
      bench.expectClean(32, 32 * bytes);
      for (unsigned i = 0; i < out.size(); ++i) {
        unsigned thread = i / bytes;
        EXPECT_EQ(out[i], thread % 2 ? 9 : i % bytes < from ? in[i] : 0) << bytes << " " << from;
      }
    }
}

//===----------------------------------------------------------------------===//
// mbarriers and tensor copies
//===----------------------------------------------------------------------===//

const std::string initFence = effect("fence.mbarrier_init.release.cluster;", "~{memory}");
const std::string initBarrier =
    effect("mbarrier.init.shared::cta.b64 [$0], 1;", "r,~{memory}", "i32 %bar");
const std::string expectBytes =
    effect("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 8192;", "r,~{memory}", "i32 %bar");
const std::string load =
    effect("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], "
           "[$1, {$2, $3}], [$4];",
           "r,l,r,r,r,~{memory}", "i32 %data, i64 %map64, i32 8, i32 -3, i32 %bar");
const std::string waitPhase =
    effect("{\\0A.reg .pred done;\\0Aagain:\\0Ambarrier.try_wait.parity.shared::cta.b64 done, "
           "[$0], $1;\\0A@!done bra again;\\0A}",
           "r,r,~{memory}", "i32 %bar, i32 0");

/// Thread 0 loads a box of 64 x 64 halves; everybody copies the image out.
std::string tensorKernel() {
  return "  %base = ptrtoint ptr addrspace(3) @smem to i32\n"
         "  %data = add i32 %base, 0\n  %bar = add i32 %base, 8192\n"
         "  %map64 = ptrtoint ptr %map to i64\n"
         "  %first = icmp eq i32 %tid, 0\n  br i1 %first, label %init, label %ready\ninit:\n" +
         initBarrier + initFence + "  br label %ready\nready:\n" + barrier +
         "  br i1 %first, label %issue, label %wait\nissue:\n" + expectBytes + load +
         "  br label %wait\nwait:\n" + waitPhase +
         "  %from = getelementptr [16 x i32], ptr addrspace(3) @smem, i32 %tid\n"
         "  %to = getelementptr [16 x i32], ptr addrspace(1) %p1, i32 %tid\n" +
         [] {
           std::string copy;
           for (int i = 0; i < 4; ++i) {
             std::string n = std::to_string(i);
             copy += "  %f" + n + " = getelementptr <4 x i32>, ptr addrspace(3) %from, i32 " + n +
                     "\n  %v" + n + " = load <4 x i32>, ptr addrspace(3) %f" + n + "\n  %t" + n +
                     " = getelementptr <4 x i32>, ptr addrspace(1) %to, i32 " + n +
                     "\n  store <4 x i32> %v" + n + ", ptr addrspace(1) %t" + n + "\n";
           }
           return copy;
         }() +
         "  ret void";
}

struct TensorBench : Bench {
  static constexpr int kRows = 50, kColumns = 104;
  explicit TensorBench(const std::string &body, unsigned swizzle = 128)
      : Bench(kernel(body, 2, "", ", ptr byval([128 x i8]) align 64 %map")), in(kRows * kColumns),
        out(4096) {
    std::iota(in.begin(), in.end(), 1);
    buffer(in), buffer(out);
    map.base = reinterpret_cast<uint64_t>(in.data());
    map.rank = 2, map.elementBytes = 2, map.swizzle = uint8_t(swizzle);
    map.dims[0] = kColumns, map.dims[1] = kRows, map.strides[0] = 2 * kColumns;
    map.box[0] = map.box[1] = 64;
    aggregates.push_back(&map);
  }
  /// What the box at (8, -3) holds at row r, column c.
  uint16_t expected(int r, int c) const {
    int row = r - 3, column = c + 8;
    return row < 0 || row >= kRows || column >= kColumns
               ? 0
               : in[size_t(row) * kColumns + size_t(column)];
  }
  alignas(64) TensorMap map;
  std::vector<uint16_t> in, out;
};

TEST(EmuTensor, BoxesArriveSwizzledAndFilledWithZeros) {
  for (unsigned span : {0u, 32u, 64u, 128u}) {
    TensorBench bench(tensorKernel(), span);
    bench.expectClean(128, 8200);
    for (int r = 0; r < 64; ++r)
      for (int c = 0; c < 64; ++c) {
        uint32_t at = uint32_t(128 * r + 2 * c);
        ASSERT_EQ(bench.out[swizzled(at, span) / 2], bench.expected(r, c))
            << span << ": " << r << ", " << c;
      }
  }
}

TEST(EmuTensor, MissingWaitIsARace) {
  TensorBench bench(without(tensorKernel(), waitPhase));
  bench.expectFinding(FindingKind::Race, 128, 8200);
}

TEST(EmuTensor, MissingInitFenceIsFound) {
  TensorBench bench(without(tensorKernel(), initFence));
  bench.expectFinding(FindingKind::MissingProxyFence, 128, 8200);
}

TEST(EmuTensor, MissingBarrierAfterInitIsFound) {
  TensorBench bench(without(tensorKernel(), barrier));
  Report report = bench.run(128, 8200);
  EXPECT_FALSE(report.ok());
}

TEST(EmuTensor, WrongByteCountIsADeadlockOrARace) {
  TensorBench more(without(tensorKernel(), "8192;\"", "8256;\""));
  more.expectFinding(FindingKind::Deadlock, 128, 8200);
  TensorBench less(without(tensorKernel(), "8192;\"", "4096;\""));
  EXPECT_FALSE(less.run(128, 8200).ok());
}

TEST(EmuTensor, WrongPhaseIsFound) {
  TensorBench bench(without(tensorKernel(), "i32 %bar, i32 0", "i32 %bar, i32 1"));
  bench.expectFinding(FindingKind::Race, 128, 8200);
}

TEST(EmuTensor, UnalignedInnerCoordinateIsRefused) {
  TensorBench bench(without(tensorKernel(), "i32 8, i32 -3", "i32 3, i32 -3"));
  bench.expectFinding(FindingKind::BadOperand, 128, 8200);
}

/// Everybody fills the box in shared memory, thread 0 stores it.
std::string storeKernel() {
  std::string body = "  %base = ptrtoint ptr addrspace(3) @smem to i32\n"
                     "  %map64 = ptrtoint ptr %map to i64\n"
                     "  %first = icmp eq i32 %tid, 0\n";
  for (int i = 0; i < 16; ++i) {
    std::string n = std::to_string(i);
    body += "  %i" + n + " = add i32 %tid, " + std::to_string(128 * i) + "\n  %a" + n +
            " = getelementptr i32, ptr addrspace(3) @smem, i32 %i" + n + "\n  store i32 %i" + n +
            ", ptr addrspace(3) %a" + n + "\n";
  }
  return body + effect("fence.proxy.async.shared::cta;", "~{memory}") + barrier +
         "  br i1 %first, label %issue, label %end\nissue:\n" +
         effect("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$2, $3}], [$1];",
                "l,r,r,r,~{memory}", "i64 %map64, i32 %base, i32 64, i32 3") +
         effect("cp.async.bulk.commit_group;", "~{memory}") +
         effect("cp.async.bulk.wait_group.read 0;", "~{memory}") +
         "  br label %end\nend:\n  ret void";
}

TEST(EmuTensor, StoresAreClipped) {
  TensorBench bench(storeKernel(), 0);
  std::vector<uint16_t> before = bench.in;
  bench.expectClean(128, 8192);
  for (int row = 0; row < bench.kRows; ++row)
    for (int column = 0; column < bench.kColumns; ++column) {
      int r = row - 3, c = column - 64;
      uint16_t want = before[size_t(row) * bench.kColumns + size_t(column)];
      if (r >= 0 && c >= 0 && c < 64) {
        uint32_t word = uint32_t(64 * r + c) / 2;
        want = uint16_t(c % 2 ? word >> 16 : word);
      }
      ASSERT_EQ(bench.in[size_t(row) * bench.kColumns + size_t(column)], want)
          << row << " " << column;
    }
}

TEST(EmuTensor, MissingProxyFenceBeforeAStoreIsFound) {
  TensorBench bench(without(storeKernel(), effect("fence.proxy.async.shared::cta;", "~{memory}")),
                    0);
  bench.expectFinding(FindingKind::MissingProxyFence, 128, 8192);
}

TEST(EmuTensor, StoresMustNotStartBeforeTheArray) {
  std::string body = storeKernel(), row = "i32 64, i32 3";
  body.replace(body.find(row), row.size(), "i32 64, i32 -3");
  TensorBench(body, 0).expectFinding(FindingKind::BadOperand, 128, 8192);
}

TEST(EmuTensor, StoredRowsMustEndAtMultiplesOf16Bytes) {
  TensorBench bench(storeKernel(), 0);
  bench.map.dims[0] = 101;
  bench.expectFinding(FindingKind::BadOperand, 128, 8192);
}

TEST(EmuTensor, StoresThatAreNotWaitedForLeak) {
  TensorBench bench(without(storeKernel(), effect("cp.async.bulk.wait_group.read 0;", "~{memory}")),
                    0);
  bench.expectFinding(FindingKind::LeakedAsync, 128, 8192);
}

/// Thread 0 stores 128 words of p0 and, after `wait`, keeps in p1 what is there.
std::string storeAndReadBack(const std::string &wait) {
  return "  %a = getelementptr i32, ptr addrspace(3) @smem, i32 %tid\n"
         "  store i32 %tid, ptr addrspace(3) %a\n"
         "  %base = ptrtoint ptr addrspace(3) @smem to i32\n"
         "  %first = icmp eq i32 %tid, 0\n" +
         effect("fence.proxy.async.shared::cta;", "~{memory}") + barrier +
         "  br i1 %first, label %issue, label %end\nissue:\n" +
         effect("cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], 256;", "l,r,~{memory}",
                "ptr addrspace(1) %p0, i32 %base") +
         effect("cp.async.bulk.commit_group;", "~{memory}") + effect(wait, "~{memory}") +
         "  %last = getelementptr i32, ptr addrspace(1) %p0, i32 63\n"
         "  %v = load i32, ptr addrspace(1) %last\n"
         "  store i32 %v, ptr addrspace(1) %p1\n  br label %end\nend:\n  ret void";
}

TEST(EmuBulkStore, AWaitForTheReadingDoesNotMakeItVisible) {
  for (bool untilRead : {false, true}) {
    Bench bench(kernel(storeAndReadBack(untilRead ? "cp.async.bulk.wait_group.read 0;"
                                                  : "cp.async.bulk.wait_group 0;"),
                       2));
    std::vector<uint32_t> to(64, 7), seen(1);
    bench.buffer(to), bench.buffer(seen);
    EXPECT_EQ(bench.run(64, 256).ok(), !untilRead);
    EXPECT_EQ(seen[0], untilRead ? 7u : 63u);
    EXPECT_EQ(to[63], 63u); // it arrives in the end
  }
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// Each CTA of a pair leaves its rank in the other's shared memory.
std::string pairKernel() {
  return "  %rank = call i32 asm \"mov.u32 $0, %cluster_ctarank;\", \"=r\"()\n"
         "  %other = xor i32 %rank, 1\n"
         "  %base = ptrtoint ptr addrspace(3) @smem to i32\n"
         "  %far = call i32 asm \"mapa.shared::cluster.u32 $0, $1, $2;\", \"=r,r,r\"(i32 %base, "
         "i32 %other)\n" +
         effect("st.shared::cluster.u32 [$0], $1;", "r,r,~{memory}", "i32 %far, i32 %rank") +
         effect("barrier.cluster.arrive.aligned;", "~{memory}") +
         effect("barrier.cluster.wait.aligned;", "~{memory}") +
         "  %v = load i32, ptr addrspace(3) @smem\n"
         "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %rank\n"
         "  store i32 %v, ptr addrspace(1) %at\n  ret void";
}

TEST(EmuCluster, RemoteStoresAndClusterBarriers) {
  Bench bench(kernel(pairKernel()));
  std::vector<uint32_t> out(2, 7);
  bench.buffer(out);
  bench.launch.grid = {2, 1, 1};
  bench.launch.cluster = {2, 1, 1};
  bench.expectClean(1, 16);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 0u);
}

TEST(EmuCluster, RelaxedArrivalOrdersNothing) {
  Bench bench(kernel(without(pairKernel(), "arrive.aligned", "arrive.relaxed.aligned")));
  std::vector<uint32_t> out(2, 7);
  bench.buffer(out);
  bench.launch.grid = {2, 1, 1};
  bench.launch.cluster = {2, 1, 1};
  bench.expectFinding(FindingKind::Race, 1, 16);
}

} // namespace
