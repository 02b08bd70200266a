//===- StackTest.cpp - kernels whose threads hold more than a stack --------===//
//
// What a thread holds is on its stack. The stack is as large as the compiled code says, up to
// what a thread block may have in all; what needs more is refused before it runs.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/emulator/EmuTest.h"

using namespace tile::emu;

namespace {

/// A kernel whose frame has `slots` places 128 KB apart, all of which it writes and reads.
std::string holding(unsigned slots) {
  std::string body, sum = "%tid";
  for (unsigned i = 0; i < slots; ++i)
    body += llvm::formatv("  %a{0} = alloca i32, align 131072\n"
                          "  store volatile i32 %tid, ptr %a{0}, align 4\n",
                          i)
                .str();
  for (unsigned i = 0; i < slots; ++i) {
    body += llvm::formatv("  %v{0} = load volatile i32, ptr %a{0}, align 4\n"
                          "  %s{0} = add i32 {1}, %v{0}\n",
                          i, sum)
                .str();
    sum = "%s" + std::to_string(i);
  }
  return kernel(body + "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n  store i32 " +
                sum + ", ptr addrspace(1) %at, align 4\n  ret void");
}

TEST(EmuStack, IsAsLargeAsWhatAThreadHolds) {
  Bench bench(holding(40)); // 5 MB
  std::vector<uint32_t> out(64);
  bench.buffer(out);
  Report report = bench.run(64);
  EXPECT_TRUE(report.ok()) << report.str();
  for (uint32_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], 41 * i);
}

TEST(EmuStack, HasRoomForWhereItsFrameMustStart) {
  Bench bench(kernel("  %a = alloca [4 x i32], align 1048576\n"
                     "  %e = getelementptr [4 x i32], ptr %a, i32 0, i32 1\n"
                     "  store volatile i32 %tid, ptr %e, align 4\n"
                     "  %v = load volatile i32, ptr %e, align 4\n"
                     "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n"
                     "  store i32 %v, ptr addrspace(1) %at, align 4\n  ret void"));
  std::vector<uint32_t> out(64);
  bench.buffer(out);
  Report report = bench.run(64);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(out[63], 63u);
}

TEST(EmuStack, HasRoomForWhatStandsBehindLongCode) {
  std::string body, sum = "%tid";
  auto add = [&](const std::string &value) {
    std::string next = "%s" + std::to_string(body.size());
    body += "  " + next + " = add i32 " + sum + ", " + value + "\n";
    sum = next;
  };
  for (unsigned i = 0; i < 10000; ++i) // a block that is cut into many
    add("%tid");
  for (unsigned i = 0; i < 16; ++i) { // 2 MB in all
    std::string slot = "%a" + std::to_string(i), value = "%v" + std::to_string(i);
    body += "  " + slot + " = alloca [32768 x i32], align 4\n";
    body += "  store volatile i32 %tid, ptr " + slot + ", align 4\n";
    body += "  " + value + " = load volatile i32, ptr " + slot + ", align 4\n";
    add(value);
  }
  Bench bench(kernel(body +
                     "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n  store i32 " +
                     sum + ", ptr addrspace(1) %at, align 4\n  ret void"));
  std::vector<uint32_t> out(64);
  bench.buffer(out);
  Report report = bench.run(64);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(out[63], 10017u * 63);
}

TEST(EmuStack, OfAThreadBlockEndsAtAGigabyte) {
  Bench bench(holding(40)); // and room to start at a multiple of 128 KB
  std::vector<uint32_t> out(1024);
  bench.buffer(out);
  Report report = bench.run(1024);
  EXPECT_TRUE(report.has(FindingKind::BadOperand)) << report.str();
  EXPECT_NE(report.str().find("a thread needs 6 MB for the values that it holds"),
            std::string::npos)
      << report.str();
}

} // namespace
