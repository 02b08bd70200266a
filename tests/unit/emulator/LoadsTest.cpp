//===- LoadsTest.cpp - memory given back before it has been read ----------===//
//
// Warp 0 reads what thread 32 copies to shared memory, gives the memory back by an
// arrival, and reads what comes next. An arrival that nothing makes wait for the values
// of the first loads is a fault, which only the second copy shows.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/emulator/EmuTest.h"
#include <numeric>

using namespace tile::emu;

namespace {

std::string effect(const std::string &text, const std::string &constraints = "~{memory}",
                   const std::string &args = "") {
  return "  call void asm sideeffect \"" + text + "\", \"" + constraints + "\"(" + args + ")\n";
}

std::string wait(const std::string &barrier, int parity) {
  return effect("{\\0A.reg .pred done;\\0Aagain:\\0Ambarrier.try_wait.parity.shared::cta.b64 done, "
                "[$0], " +
                    std::to_string(parity) + ";\\0A@!done bra again;\\0A}",
                "r,~{memory}", "i32 " + barrier);
}

std::string copy(const std::string &from) {
  return effect("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 128;", "r,~{memory}",
                "i32 %full") +
         effect(
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], 128, "
             "[$2];",
             "r,l,r,~{memory}", "i32 %buffer, ptr addrspace(1) " + from + ", i32 %full");
}

const std::string dependent = "  %given = add i32 %empty, %nothing\n";
const std::string notDependent = "  %given = add i32 %empty, 0\n";
const std::string used = "  store i32 %v, ptr addrspace(1) %at\n";
const std::string warpBarrier = effect("bar.warp.sync -1;");

/// `before`: what the readers do before they arrive.
std::string ring(const std::string &address, const std::string &before = "") {
  return "  %buffer = ptrtoint ptr addrspace(3) @smem to i32\n"
         "  %full = add i32 %buffer, 128\n  %empty = add i32 %buffer, 136\n"
         "  %next = getelementptr i8, ptr addrspace(1) %p0, i32 128\n"
         "  %place = getelementptr i32, ptr addrspace(3) @smem, i32 %tid\n"
         "  %at = getelementptr i32, ptr addrspace(1) %p1, i32 %tid\n"
         "  %unknown = call i32 asm sideeffect \"mov.u32 $0, 0;\", \"=r\"()\n"
         "  %first = icmp eq i32 %tid, 0\n  br i1 %first, label %init, label %go\ninit:\n" +
         effect("mbarrier.init.shared::cta.b64 [$0], 1;", "r,~{memory}", "i32 %full") +
         effect("mbarrier.init.shared::cta.b64 [$0], 1;", "r,~{memory}", "i32 %empty") +
         effect("fence.mbarrier_init.release.cluster;") +
         "  br label %go\ngo:\n"
         "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
         "  %reads = icmp ult i32 %tid, 32\n  br i1 %reads, label %reader, label %other\nother:\n"
         "  %copies = icmp eq i32 %tid, 32\n  br i1 %copies, label %copier, label %end\ncopier:\n" +
         copy("%p0") + wait("%empty", 0) + copy("%next") + "  br label %end\nreader:\n" +
         wait("%full", 0) + "  %v = load i32, ptr addrspace(3) %place\n" + before +
         "  %nothing = and i32 %v, %unknown\n" + address + warpBarrier +
         "  br i1 %first, label %arrive, label %on\narrive:\n" +
         effect("mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}", "i32 %given") +
         "  br label %on\non:\n" + wait("%full", 1) +
         "  %w = load i32, ptr addrspace(3) %place\n  %sum = add i32 %v, %w\n"
         "  store i32 %sum, ptr addrspace(1) %at\n  br label %end\nend:\n  ret void";
}

struct RingBench : Bench {
  explicit RingBench(const std::string &body) : Bench(kernel(body, 2)), in(64), out(32) {
    std::iota(in.begin(), in.end(), 1);
    buffer(in), buffer(out);
  }
  std::vector<uint32_t> in, out;
};

TEST(EmuLoads, AnArrivalThatDependsOnThemComesAfterThem) {
  RingBench bench(ring(dependent));
  bench.expectClean(64, 256);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(bench.out[i], 1 + i + 33 + i);
}

TEST(EmuLoads, AnArrivalPassesThoseThatNothingWaitsFor) {
  RingBench bench(ring(notDependent));
  bench.expectFinding(FindingKind::Race, 64, 256);
}

TEST(EmuLoads, WhatUsesAValueWaitsForIt) {
  RingBench bench(ring(notDependent, used));
  bench.expectClean(64, 256);
}

TEST(EmuLoads, ABarrierOfTheWarpWaitsForNone) {
  RingBench bench(ring(notDependent, warpBarrier));
  bench.expectFinding(FindingKind::Race, 64, 256);
}

TEST(EmuLoads, AFenceWaitsForAll) {
  RingBench bench(ring(notDependent, effect("fence.proxy.async.shared::cta;")));
  bench.expectClean(64, 256);
}

} // namespace
