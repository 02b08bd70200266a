//===- CheckTest.cpp - accesses that checked programs report, and how ----===//
#include "Checked.h"
#include "frontend/Source.h"

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// out[o] = in[o] over blocks of 8; MASK decides which lanes.
const char *copyKernel = R"mlir(
func.func @k(%x: !tile.ptr<f32> loc("x"), %q: !tile.ptr<f32> loc("out"), %n: i32 loc("n")) {
  %c8 = arith.constant 8 : i32
  %pid = tile.program_id 0 : i32
  %s = arith.muli %pid, %c8 : i32
  %i = tile.make_range 0 to 8 : tensor<8xi32>
  %ss = tile.splat %s : i32 -> tensor<8xi32>
  %o = arith.addi %ss, %i : tensor<8xi32>
  %ns = tile.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %o, %ns : tensor<8xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %xa = tile.addptr %xs, %o : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  %v = tile.load %xa, %m : tensor<8x!tile.ptr<f32>>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<8x!tile.ptr<f32>>
  %qa = tile.addptr %qs, %o : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
  tile.store %qa, %v, %m : tensor<8x!tile.ptr<f32>>
  return
})mlir";

TEST(Check, CleanKernelsAreClean) {
  for (int n : {0, 1, 8, 20, 64}) {
    Checked c;
    std::vector<float> x(std::max(n, 1), 1.5f), q(std::max(n, 1), 0.0f);
    c.add(x, "x");
    c.add(q, "out", /*initialized=*/false);
    Report report = c.run(copyKernel, Grid{uint32_t(n + 7) / 8, 1, 1}, x, q, n);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_TRUE(n == 0 || c.memory.isInitialized(q.data(), n * sizeof(float)));
    for (int k = 0; k < n; ++k)
      EXPECT_EQ(q[k], 1.5f);
  }
}

TEST(Check, ReadPastTheEnd) {
  Checked c;
  std::vector<float> x(20), q(24);
  c.add(x, "xs");
  c.add(q, "q");
  Report report = c.run(copyKernel, Grid{3, 1, 1}, x, q, 24);
  expectOne(report, FindingKind::OutOfBounds, 13, 2, 4);
  EXPECT_EQ(report.findings[0].occurrences, 4u);
  EXPECT_EQ(report.findings[0].message,
            "out-of-bounds read of 4 bytes: at byte 80 of `x`, which has 80 bytes");
  EXPECT_EQ(report.findings[0].where, "program (2, 0, 0), lane 4");
}

TEST(Check, WritePastTheEndTouchesNothing) {
  Checked c;
  std::vector<float> x(24, 1.0f), q(24, -1.0f);
  c.add(x, "xs");
  ASSERT_TRUE(c.memory.add(q.data(), 20 * 4, true, "q"));
  Report report = c.run(copyKernel, Grid{3, 1, 1}, x, q, 24);
  expectOne(report, FindingKind::OutOfBounds, 16, 2, 4);
  EXPECT_EQ(q[19], 1.0f);
  for (int k = 20; k < 24; ++k)
    EXPECT_EQ(q[k], -1.0f);
}

/// Memory right behind the buffer is another buffer, but not this pointer's.
TEST(Check, AnotherBufferWillNotDo) {
  Checked c;
  std::vector<float> both(48, 1.0f), q(24);
  ASSERT_TRUE(c.memory.add(both.data(), 20 * 4, true, "first"));
  ASSERT_TRUE(c.memory.add(both.data() + 20, 28 * 4, true, "second"));
  c.add(q, "q");
  expectOne(c.run(copyKernel, Grid{3, 1, 1}, both, q, 24), FindingKind::OutOfBounds, 13, 2, 4);
}

TEST(Check, BeforeTheStartAndNowhere) {
  Checked c;
  std::vector<float> x(8), q(8);
  c.add(x, "xs");
  c.add(q, "q");
  const char *text = R"mlir(
func.func @k(%x: !tile.ptr<f32>, %o: i32) {
  %p = tile.addptr %x, %o : !tile.ptr<f32>, i32
  %v = tile.load %p : !tile.ptr<f32>
  return
})mlir";
  Report before = c.run(text, Grid(), x, -3);
  expectOne(before, FindingKind::OutOfBounds, 4, 0, 0);
  EXPECT_EQ(before.findings[0].message, "out-of-bounds read of 4 bytes: 12 bytes before the start "
                                        "of argument 0, which has 32 bytes");
  Report null = c.run(text, Grid(), 0, 2);
  EXPECT_EQ(null.findings[0].message,
            "out-of-bounds read of 4 bytes: address 0x8 is in no buffer (argument 0 is null)");
}

TEST(Check, ReadOfUnwrittenMemory) {
  Checked c;
  std::vector<float> x(24), q(24);
  c.add(x, "xs", /*initialized=*/false);
  c.add(q, "q", /*initialized=*/false);
  c.memory.setInitialized(x.data(), 18 * 4, true);
  Report report = c.run(copyKernel, Grid{3, 1, 1}, x, q, 24);
  expectOne(report, FindingKind::Uninitialized, 13, 2, 2);
  EXPECT_EQ(report.findings[0].occurrences, 6u);
  EXPECT_EQ(report.findings[0].message,
            "read of memory that nobody wrote: 4 bytes at byte 72 of `xs`");
  // What the first launch wrote, the second may read.
  std::vector<float> out(24);
  c.add(out, "out", false);
  EXPECT_TRUE(c.run(copyKernel, Grid{3, 1, 1}, q, out, 24).ok());
}

TEST(Check, Misaligned) {
  Checked c;
  std::vector<uint8_t> x(64), q(64);
  c.add(x, "x");
  c.add(q, "q");
  Report report = c.run(copyKernel, Grid(), x.data() + 2, q.data(), 5);
  expectOne(report, FindingKind::Misaligned, 13, 0, 0);
  EXPECT_EQ(report.findings[0].occurrences, 5u);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

TEST(Check, FindingsAreLimitedAndOrdered) {
  std::string text = "func.func @k(%x: !tile.ptr<i8>, %o: i32) {\n";
  for (int k = 0; k < 30; ++k) {
    std::string n = std::to_string(k);
    text += "%p" + n + " = tile.addptr %x, %o : !tile.ptr<i8>, i32\n%v" + n + " = tile.load %p" +
            n + " : !tile.ptr<i8>\n";
  }
  text += "return\n}";
  Checked c;
  std::vector<uint8_t> x(8);
  c.add(x, "x");
  Report report = c.run(text, Grid{3, 1, 1}, x, 100);
  ASSERT_EQ(report.findings.size(), 16u);
  EXPECT_EQ(report.omitted, 14u);
  for (unsigned k = 0; k < 16; ++k) {
    EXPECT_EQ(report.findings[k].place.line, 3 + 2 * k);
    EXPECT_EQ(report.findings[k].occurrences, 3u);
  }
}

TEST(Check, ReportsQuoteTheSource) {
  tile::frontend::SourceFile file("kernel.tile", "def k(x):\n    a = tl.load(x + 9)\n");
  Checked c;
  std::vector<uint8_t> x(8);
  c.add(x, "x");
  Report report = c.run(R"mlir(
func.func @k(%x: !tile.ptr<i8> loc("x")) {
  %o = arith.constant 9 : i32
  %p = tile.addptr %x, %o : !tile.ptr<i8>, i32
  %v = tile.load %p : !tile.ptr<i8> loc("kernel.tile":2:9)
  return
})mlir",
                        Grid(), x);
  tile::frontend::DiagnosticEngine diagnostics;
  reportTo(report, &file, diagnostics);
  EXPECT_EQ(diagnostics.str(), "kernel.tile:2:9: error: out-of-bounds read of 1 byte: at byte 9 "
                               "of `x`, which has 8 bytes (in program (0, 0, 0))\n"
                               "    2 |     a = tl.load(x + 9)\n      |         ^\n");
}

TEST(Check, MemoryMapKeepsBuffersApart) {
  MemoryMap map;
  std::vector<uint8_t> x(100);
  EXPECT_TRUE(map.add(x.data() + 10, 20, true, "a"));
  EXPECT_FALSE(map.add(x.data() + 10, 20, true));
  EXPECT_FALSE(map.add(x.data() + 29, 5, true));
  EXPECT_FALSE(map.add(x.data(), 11, true));
  EXPECT_TRUE(map.add(x.data() + 30, 5, false, "b"));
  EXPECT_TRUE(map.add(x.data(), 10, true, "c"));
  auto at = [&](int k) { return map.find(reinterpret_cast<uint64_t>(x.data() + k)); };
  EXPECT_EQ(at(29)->name, "a");
  EXPECT_EQ(at(30)->name, "b");
  EXPECT_EQ(at(35), nullptr);
  EXPECT_FALSE(map.isInitialized(x.data() + 29, 2));
  map.copyInitialized(x.data() + 12, x.data() + 30, 3);
  EXPECT_TRUE(map.isInitialized(x.data() + 10, 2));
  EXPECT_FALSE(map.isInitialized(x.data() + 12, 1));
  map.remove(x.data() + 30);
  EXPECT_EQ(at(30), nullptr);
}

} // namespace
