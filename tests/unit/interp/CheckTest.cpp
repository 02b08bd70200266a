//===- CheckTest.cpp - what checked programs find, and what they do not ---===//
#include "InterpTest.h"
#include "frontend/Source.h"
#include <numeric>

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// A checked launch; buffers are registered first.
struct Checked {
  MemoryMap memory;
  RunOptions options;
  Checked() { options.memory = &memory; }
  template <class T> void add(std::vector<T> &v, const char *name, bool initialized = true) {
    ASSERT_TRUE(memory.add(v.data(), v.size() * sizeof(T), initialized, name));
  }
  template <class... Args> Report run(const std::string &text, Grid grid, Args &&...args) {
    auto program = compile(text, /*check=*/true);
    if (!program)
      return {};
    std::vector<Argument> list = {toArgument(args)...};
    return program->run(grid, list, options);
  }
};

void expectOne(const Report &report, FindingKind kind, unsigned line, uint32_t program,
               int64_t lane) {
  ASSERT_EQ(report.findings.size(), 1u) << report.str();
  const Finding &f = report.findings[0];
  EXPECT_EQ(name(f.kind).str(), name(kind).str()) << report.str();
  EXPECT_EQ(f.place.line, line) << report.str();
  EXPECT_EQ(f.program[0], program) << report.str();
  EXPECT_EQ(f.lane, lane) << report.str();
}

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
// Races
//===----------------------------------------------------------------------===//

/// Every program stores to, or loads from, the same or its own element.
std::string racing(const std::string &first, const std::string &second) {
  return R"mlir(
func.func @k(%x: !tile.ptr<i32>) {
  %pid = tile.program_id 0 : i32
  %zero = arith.constant 0 : i32
  %first = arith.cmpi eq, %pid, %zero : i32
  scf.if %first {
    )mlir" +
         first + R"mlir(
  } else {
    )mlir" +
         second + R"mlir(
  }
  return
})mlir";
}
const char *store = "tile.store %x, %pid : !tile.ptr<i32>";
const char *load = "%v = tile.load %x : !tile.ptr<i32>";
const char *atomic = "%v = tile.atomic_rmw add relaxed gpu %x, %pid : !tile.ptr<i32>";

size_t races(const std::string &first, const std::string &second, uint32_t programs = 2) {
  Checked c;
  std::vector<int32_t> x(4);
  c.add(x, "x");
  Report report = c.run(racing(first, second), Grid{programs, 1, 1}, x);
  for (const Finding &f : report.findings)
    EXPECT_EQ(f.kind, FindingKind::Race) << report.str();
  return report.findings.size();
}

TEST(Check, Races) {
  EXPECT_EQ(races(store, store), 1u);
  EXPECT_EQ(races(store, load), 1u);
  EXPECT_EQ(races(load, store), 1u);
  EXPECT_EQ(races(store, atomic), 1u);
  EXPECT_EQ(races(atomic, store), 1u);
  EXPECT_EQ(races(atomic, load), 1u);
  EXPECT_EQ(races(load, atomic), 1u);
  // Not races: reads with reads, atomics with atomics, a program with itself.
  EXPECT_EQ(races(load, load), 0u);
  EXPECT_EQ(races(atomic, atomic), 0u);
  EXPECT_EQ(races(std::string(store) + "\n" + load, "%c = arith.constant 1 : i32"), 0u);
  // A read is found even if other programs read later.
  EXPECT_EQ(races(load,
                  "%last = arith.constant 4 : i32\n%l = arith.cmpi eq, %pid, %last : i32\n"
                  "scf.if %l { tile.store %x, %pid : !tile.ptr<i32> } else { %v = tile.load "
                  "%x : !tile.ptr<i32> }",
                  5),
            1u);
}

TEST(Check, RaceNamesBothSides) {
  Checked c;
  std::vector<int32_t> x(4);
  c.add(x, "x");
  Report report = c.run(racing(store, load), Grid{2, 1, 1}, x);
  expectOne(report, FindingKind::Race, 9, 1, 0);
  EXPECT_EQ(report.findings[0].message, "race: this program reads byte 0 of `x`, which program (0, "
                                        "0, 0) writes with nothing to order the two");
  EXPECT_EQ(report.findings[0].otherPlace.line, 7u);
}

/// Neighbouring elements are no race, whatever their size.
TEST(Check, NeighboursDoNotRace) {
  for (const char *type : {"i8", "i16", "i64"}) {
    Checked c;
    std::vector<uint64_t> x(64);
    c.add(x, "x");
    std::string text = replace(R"mlir(
func.func @k(%x: !tile.ptr<T>) {
  %pid = tile.program_id 0 : i32
  %p = tile.addptr %x, %pid : !tile.ptr<T>, i32
  %v = tile.load %p : !tile.ptr<T>
  tile.store %p, %v : !tile.ptr<T>
  return
})mlir",
                               "T>", std::string(type) + ">");
    Report report = c.run(text, Grid{16, 1, 1}, x);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

/// What is handed over with release and acquire is ordered; with relaxed
/// atomics it is not.
std::string handOver(const std::string &release, const std::string &acquire) {
  return racing("tile.store %x, %pid : !tile.ptr<i32>\n%one = arith.constant 1 : i32\n"
                "%f = tile.addptr %x, %one : !tile.ptr<i32>, i32\n%o = tile.atomic_rmw xchg " +
                    release + " gpu %f, %one : !tile.ptr<i32>",
                "%one = arith.constant 1 : i32\n%f = tile.addptr %x, %one : !tile.ptr<i32>, i32\n"
                "scf.while : () -> () {\n %s = tile.atomic_rmw add " +
                    acquire +
                    " gpu %f, %zero : !tile.ptr<i32>\n%w = arith.cmpi eq, %s, %zero : i32\n"
                    "scf.condition(%w)\n} do {\nscf.yield\n}\n%v = tile.load %x : !tile.ptr<i32>");
}
TEST(Check, ReleaseAndAcquireOrder) {
  auto run = [](const std::string &text) {
    Checked c;
    std::vector<int32_t> x(4);
    c.add(x, "x");
    return c.run(text, Grid{2, 1, 1}, x);
  };
  EXPECT_TRUE(run(handOver("release", "acquire")).ok());
  EXPECT_TRUE(run(handOver("acq_rel", "acq_rel")).ok());
  expectOne(run(handOver("relaxed", "acquire")), FindingKind::Race, 21, 1, 0);
  expectOne(run(handOver("release", "relaxed")), FindingKind::Race, 21, 1, 0);
}

TEST(Check, LocksOrderEveryone) {
  const char *text = R"mlir(
func.func @k(%lock: !tile.ptr<i32>, %count: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.while : () -> () {
    %old = tile.atomic_cas acq_rel gpu %lock, %zero, %one : !tile.ptr<i32>
    %taken = arith.cmpi ne, %old, %zero : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  %n = tile.load %count : !tile.ptr<i32>
  %m = arith.addi %n, %one : i32
  tile.store %count, %m : !tile.ptr<i32>
  %y = tile.atomic_rmw xchg RELEASE gpu %lock, %zero : !tile.ptr<i32>
  return
})mlir";
  for (const char *order : {"release", "relaxed"}) {
    Checked c;
    std::vector<int32_t> lock(1), count(1);
    c.add(lock, "lock");
    c.add(count, "count");
    Report report = c.run(replace(text, "RELEASE", order), Grid{500, 1, 1}, lock, count);
    EXPECT_EQ(count[0], 500);
    EXPECT_EQ(report.ok(), std::string(order) == "release") << report.str();
  }
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

const char *rowAddress = R"mlir(
func.func @k(%x: !tile.ptr<i8>, %row: i32, %stride: i32) {
  %o = arith.muli %row, %stride : i32
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %os = tile.splat %o : i32 -> tensor<4xi32>
  %all = arith.addi %os, %i : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i8> -> tensor<4x!tile.ptr<i8>>
  %xa = tile.addptr %xs, %all : tensor<4x!tile.ptr<i8>>, tensor<4xi32>
  %v = tile.load %xa : tensor<4x!tile.ptr<i8>>
  return
})mlir";

TEST(Check, AddressArithmeticThatWraps) {
  Checked c;
  std::vector<uint8_t> x(64);
  c.add(x, "x");
  EXPECT_TRUE(c.run(rowAddress, Grid(), x, 3, 16).ok());
  EXPECT_TRUE(c.run(rowAddress, Grid(), x.data() + 32, -2, 16).ok());
  // 65536 * 65536 wraps to 0: in bounds, but not what was meant.
  expectOne(c.run(rowAddress, Grid(), x, 65536, 65536), FindingKind::AddressOverflow, 9, 0, 0);
}

/// The scalar part of an address may wrap too, before it is splat.
TEST(Check, ScalarAddressThatWraps) {
  Checked c;
  std::vector<uint8_t> x(64);
  c.add(x, "x");
  const char *text = R"mlir(
func.func @k(%x: !tile.ptr<i8>, %row: i32, %stride: i32) {
  %o = arith.muli %row, %stride : i32
  %w = arith.extsi %o : i32 to i64
  %p = tile.addptr %x, %w : !tile.ptr<i8>, i64
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %ps = tile.splat %p : !tile.ptr<i8> -> tensor<4x!tile.ptr<i8>>
  %pa = tile.addptr %ps, %i : tensor<4x!tile.ptr<i8>>, tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %m = arith.cmpi sge, %i, %two : tensor<4xi32>
  %v = tile.load %pa, %m : tensor<4x!tile.ptr<i8>>
  return
})mlir";
  EXPECT_TRUE(c.run(text, Grid(), x, 3, 16).ok());
  expectOne(c.run(text, Grid(), x, 65536, 65536), FindingKind::AddressOverflow, 11, 0, 2);
}

/// Sums of sums: each value is looked at once, however often it is used.
TEST(Check, SharedAddressArithmetic) {
  std::string text = "func.func @k(%x: !tile.ptr<i8>, %v0: i32) {\n";
  for (int k = 0; k < 40; ++k) {
    std::string from = "%v" + std::to_string(k);
    text += "%v" + std::to_string(k + 1) + " = arith.addi " + from + ", " + from + " : i32\n";
  }
  text += "%p = tile.addptr %x, %v40 : !tile.ptr<i8>, i32\n%v = tile.load %p : !tile.ptr<i8>\n"
          "return\n}";
  Checked c;
  std::vector<uint8_t> x(8);
  c.add(x, "x");
  EXPECT_TRUE(c.run(text, Grid(), x, 0).ok());
  expectOne(c.run(text, Grid(), x, 1), FindingKind::AddressOverflow, 43, 0, 0);
}

/// Hashes wrap on purpose; only what reaches an address by widening counts.
TEST(Check, WrappingThatIsMeant) {
  Checked c;
  std::vector<int32_t> x(16);
  c.add(x, "x");
  Report report = c.run(R"mlir(
func.func @k(%x: !tile.ptr<i32>, %seed: i32) {
  %k = arith.constant 1664525 : i32
  %h = arith.muli %seed, %k : i32
  %fifteen = arith.constant 15 : i32
  %o = arith.andi %h, %fifteen : i32
  %p = tile.addptr %x, %o : !tile.ptr<i32>, i32
  tile.store %p, %h : !tile.ptr<i32>
  return
})mlir",
                        Grid(), x, 0x7fffffff);
  EXPECT_TRUE(report.ok()) << report.str();
}

TEST(Check, DivisionByZero) {
  const char *text = R"mlir(
func.func @k(%a: i32, %b: i32) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %bs = tile.splat %b : i32 -> tensor<4xi32>
  %q = arith.remsi %i, %bs : tensor<4xi32>
  %r = arith.divui %bs, %i : tensor<4xi32>
  return
})mlir";
  Checked c;
  EXPECT_TRUE(c.run(text, Grid(), 1, 3).ok());
  expectOne(c.run(text, Grid(), 1, 0), FindingKind::DivisionByZero, 5, 0, 0);
}

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

TEST(Check, HintsThatDoNotHold) {
  // A block %base + 0, 1, 2, ... or the same divided by %d, with one hint.
  const char *text = R"mlir(
func.func @k(%base: i32, %d: i32) {
  %i = tile.make_range 0 to 8 : tensor<8xi32>
  %b = tile.splat %base : i32 -> tensor<8xi32>
  %x = arith.addi %b, %i : tensor<8xi32>
  %ds = tile.splat %d : i32 -> tensor<8xi32>
  %q = arith.divsi %x, %ds : tensor<8xi32>
  %h = tile.hint %q {HINT} : tensor<8xi32>
  return
})mlir";
  auto run = [&](const char *hint, int base, int divisor) {
    Checked c;
    return c.run(replace(text, "HINT", hint), Grid(), base, divisor);
  };
  EXPECT_TRUE(run("divisibility = array<i64: 16>", 32, 1).ok());
  Report odd = run("divisibility = array<i64: 16>", 33, 1);
  expectOne(odd, FindingKind::BrokenPromise, 8, 0, 0);
  EXPECT_EQ(odd.findings[0].message, "broken promise: this value is no multiple of 16 but is 33");
  EXPECT_TRUE(run("contiguity = array<i64: 8>", 5, 1).ok());
  expectOne(run("contiguity = array<i64: 8>", 4, 2), FindingKind::BrokenPromise, 8, 0, 1);
  EXPECT_TRUE(run("constancy = array<i64: 4>", 0, 4).ok());
  Report uneven = run("constancy = array<i64: 4>", 2, 4);
  expectOne(uneven, FindingKind::BrokenPromise, 8, 0, 2);
  EXPECT_EQ(uneven.findings[0].message,
            "broken promise: this value is not constant in groups of 4 but is 1 after 0");
}

TEST(Check, ArgumentsThatBreakTheirSpecialisation) {
  const char *text = R"mlir(
func.func @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32} loc("x"),
             %n: i32 {tile.divisibility = 16 : i32}) {
  return
})mlir";
  Checked c;
  alignas(16) static float x[8];
  EXPECT_TRUE(c.run(text, Grid(), &x[0], 32).ok());
  Report report = c.run(text, Grid(), &x[0], 33);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].message,
            "broken promise: argument 1 is specialised as a multiple of 16, but is 33");
  report = c.run(text, Grid(), &x[1], 32);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_NE(report.findings[0].message.find("`x` is specialised as a multiple of 16 bytes, but"),
            std::string::npos);
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

//===----------------------------------------------------------------------===//
// Shifts too far
//===----------------------------------------------------------------------===//

/// out[i] = what the body makes of the amounts %a = in[i] and the ones %one.
std::string shiftKernel(const std::string &body) {
  return R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x"), %q: !tile.ptr<i32> loc("out")) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %one = arith.constant dense<1> : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %w = arith.constant dense<32> : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %a = tile.load %xa : tensor<4x!tile.ptr<i32>>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %qa = tile.addptr %qs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
)mlir" + body +
         "\n  return\n}";
}

Report runShift(const std::string &body, std::vector<int32_t> amounts = {0, 31, 32, -1}) {
  Checked c;
  std::vector<int32_t> out(4);
  c.add(amounts, "x"), c.add(out, "out");
  return c.run(shiftKernel(body), {1}, amounts, out);
}

const char *shiftAndStore = "  %v = arith.shli %one, %a : tensor<4xi32>\n"
                            "  tile.store %qa, %v : tensor<4x!tile.ptr<i32>>";

TEST(CheckShifts, WhatIsStoredIsReportedAtTheShift) {
  Report report = runShift(shiftAndStore);
  expectOne(report, FindingKind::ShiftTooFar, 12, 0, 2);
  EXPECT_EQ(report.findings[0].occurrences, 2u);
  EXPECT_TRUE(runShift(shiftAndStore, {0, 1, 30, 31}).ok());
}

TEST(CheckShifts, LanesThatAreClearedAreFine) {
  for (const char *clear : {"  %ok = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                            "  %v = arith.shrsi %one, %a : tensor<4xi32>\n"
                            "  %r = arith.select %ok, %v, %zero : tensor<4xi1>, tensor<4xi32>\n"
                            "  tile.store %qa, %r : tensor<4x!tile.ptr<i32>>",
                            "  %ok = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                            "  %v = arith.shli %one, %a : tensor<4xi32>\n"
                            "  tile.store %qa, %v, %ok : tensor<4x!tile.ptr<i32>>",
                            "  %ok = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                            "  %m = arith.extui %ok : tensor<4xi1> to tensor<4xi32>\n"
                            "  %v = arith.shli %one, %a : tensor<4xi32>\n"
                            "  %r = arith.muli %v, %m : tensor<4xi32>\n"
                            "  tile.store %qa, %r : tensor<4x!tile.ptr<i32>>",
                            "  %ok = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                            "  %v = arith.shli %one, %a : tensor<4xi32>\n"
                            "  %big = arith.cmpi sgt, %v, %zero : tensor<4xi32>\n"
                            "  %both = arith.andi %big, %ok : tensor<4xi1>\n"
                            "  tile.store %qa, %one, %both : tensor<4x!tile.ptr<i32>>"}) {
    Report report = runShift(clear);
    EXPECT_TRUE(report.ok()) << report.str() << clear;
  }
}

TEST(CheckShifts, TheyAreFollowedToMasksAddressesAndConditions) {
  std::string shift = "  %v = arith.shli %one, %a : tensor<4xi32>\n";
  for (const char *use : {"  %m = arith.cmpi sgt, %v, %zero : tensor<4xi32>\n"
                          "  tile.store %qa, %one, %m : tensor<4x!tile.ptr<i32>>",
                          "  %n = arith.andi %v, %zero : tensor<4xi32>\n"
                          "  %o = arith.ori %v, %n : tensor<4xi32>\n"
                          "  %s = tile.reduce %o {axis = 0 : i32} : tensor<4xi32> -> i32 {\n"
                          "  ^bb0(%l: i32, %r: i32):\n    %t = arith.addi %l, %r : i32\n"
                          "    tile.yield %t : i32\n  }\n"
                          "  tile.store %q, %s : !tile.ptr<i32>"}) {
    Report report = runShift(shift + use);
    EXPECT_TRUE(!report.ok() && report.findings[0].kind == FindingKind::ShiftTooFar)
        << report.str() << use;
  }
}

/// A value that a loop carries and a branch gives.
TEST(CheckShifts, TheyAreFollowedThroughLoopsAndBranches) {
  auto kernel = [](int amount) {
    return "func.func @k(%q: !tile.ptr<i32>, %n: i32) {\n"
           "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n"
           "  %c3 = arith.constant 3 : i32\n  %far = arith.constant " +
           std::to_string(amount) +
           " : i32\n"
           "  %s = arith.addi %n, %far : i32\n"
           "  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %c1) -> (i32) : i32 {\n"
           "    %first = arith.cmpi eq, %i, %c0 : i32\n"
           "    %w = scf.if %first -> (i32) {\n"
           "      %x = arith.shli %v, %s : i32\n      scf.yield %x : i32\n"
           "    } else {\n      scf.yield %v : i32\n    }\n"
           "    scf.yield %w : i32\n  }\n"
           "  tile.store %q, %r : !tile.ptr<i32>\n  return\n}";
  };
  for (int amount : {5, 40}) {
    Checked c;
    std::vector<int32_t> out(1);
    c.add(out, "out");
    Report report = c.run(kernel(amount), {1}, out, 0);
    EXPECT_EQ(report.ok(), amount < 32) << report.str();
    if (!report.ok())
      EXPECT_EQ(report.findings[0].place.line, 10u) << report.str();
  }
}

//===----------------------------------------------------------------------===//
// Lanes that are divided by zero
//===----------------------------------------------------------------------===//

TEST(CheckDivisors, LanesThatAreUsedAreReportedAtTheDivision) {
  for (const char *op : {"divsi", "divui", "remsi", "remui"}) {
    std::string store = std::string("  %v = arith.") + op +
                        " %one, %a : tensor<4xi32>\n"
                        "  tile.store %qa, %v : tensor<4x!tile.ptr<i32>>";
    Report report = runShift(store, {3, 0, 7, 0});
    expectOne(report, FindingKind::DivisionByZero, 12, 0, 1);
    EXPECT_EQ(report.findings[0].occurrences, 2u);
    EXPECT_TRUE(runShift(store, {3, 1, 7, -1}).ok());
  }
}

TEST(CheckDivisors, LanesThatAreClearedAreFine) {
  std::string divide = "  %v = arith.divsi %one, %a : tensor<4xi32>\n"
                       "  %ok = arith.cmpi ne, %a, %zero : tensor<4xi32>\n";
  for (const char *use : {"  tile.store %qa, %v, %ok : tensor<4x!tile.ptr<i32>>",
                          "  %r = arith.select %ok, %v, %zero : tensor<4xi1>, tensor<4xi32>\n"
                          "  tile.store %qa, %r : tensor<4x!tile.ptr<i32>>",
                          "  %big = arith.cmpi sgt, %v, %zero : tensor<4xi32>\n"
                          "  %both = arith.andi %big, %ok : tensor<4xi1>\n"
                          "  tile.store %qa, %one, %both : tensor<4x!tile.ptr<i32>>"})
    EXPECT_TRUE(runShift(divide + use, {3, 0, 7, 0}).ok()) << use;
}

//===----------------------------------------------------------------------===//
// Histograms, constants, arguments that overlap
//===----------------------------------------------------------------------===//

TEST(CheckHistogram, ValuesOutsideOfTheBinsAreReported) {
  std::string body = "  %h = tile.histogram %a : tensor<4xi32> -> tensor<4xi32>\n"
                     "  tile.store %qa, %h : tensor<4x!tile.ptr<i32>>";
  expectOne(runShift(body, {0, 3, 4, -1}), FindingKind::OutOfBounds, 12, 0, 2);
  EXPECT_TRUE(runShift(body, {0, 3, 1, 1}).ok());
  std::string masked = "  %m = arith.cmpi ult, %a, %w : tensor<4xi32>\n"
                       "  %h = tile.histogram %a, %m : tensor<4xi32> -> tensor<4xi32>\n"
                       "  tile.store %qa, %h : tensor<4x!tile.ptr<i32>>";
  EXPECT_TRUE(runShift(masked, {0, 3, 32, -1}).ok());
}

TEST(CheckConstants, WritingThroughACastIsReported) {
  auto kernel = [](const char *type) {
    return std::string("func.func @k(%x: !tile.ptr<i32> {tile.source_type = \"") + type +
           "\"} loc(\"x\")) {\n"
           "  %c = arith.constant 1 : i32\n"
           "  %n = tile.ptr_to_int %x : !tile.ptr<i32> -> i64\n"
           "  %p = tile.int_to_ptr %n : i64 -> !tile.ptr<i32>\n"
           "  tile.store %p, %c : !tile.ptr<i32>\n  return\n}";
  };
  for (bool isConstant : {true, false}) {
    Checked c;
    std::vector<int32_t> x(1);
    c.add(x, "x");
    Report report = c.run(kernel(isConstant ? "*ki32" : "*i32"), {1}, x);
    if (isConstant)
      expectOne(report, FindingKind::ConstantWritten, 5, 0, 0);
    else
      EXPECT_TRUE(report.ok()) << report.str();
  }
}

/// for j < 4: y[j] = x[j] + 1
const char *shiftedCopy = R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x"), %y: !tile.ptr<i32> loc("y")) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  scf.for %j = %c0 to %c4 step %c1 : i32 {
    %xa = tile.addptr %x, %j : !tile.ptr<i32>, i32
    %v = tile.load %xa : !tile.ptr<i32>
    %w = arith.addi %v, %c1 : i32
    %ya = tile.addptr %y, %j : !tile.ptr<i32>, i32
    tile.store %ya, %w : !tile.ptr<i32>
  }
  return
})mlir";

TEST(CheckOverlap, AReadOfWhatAnotherArgumentHasWritten) {
  Checked c;
  std::vector<int32_t> b(8);
  c.add(b, "b");
  Report report = c.run(shiftedCopy, {1}, b, b.data() + 1);
  expectOne(report, FindingKind::Overlap, 8, 0, 0);
  EXPECT_EQ(report.findings[0].otherPlace.line, 11u);
  EXPECT_NE(report.findings[0].message.find("through `x` what the program has written through `y`"),
            std::string::npos)
      << report.str();
}

TEST(CheckOverlap, InPlaceAndApartAreFine) {
  std::vector<int32_t> b(8);
  for (size_t at : {size_t(0), size_t(4)}) {
    Checked c;
    c.add(b, "b");
    Report report = c.run(shiftedCopy, {1}, b, b.data() + at);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

//===----------------------------------------------------------------------===//
// Lanes of one program
//===----------------------------------------------------------------------===//

/// y[i] = x[i] for four lanes, BETWEEN, and then the lanes load y by `%o`, which is LANES.
static std::string throughMemory(llvm::StringRef between, llvm::StringRef lanes) {
  return (R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x"), %y: !tile.ptr<i32> loc("y")) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %c3 = arith.constant dense<3> : tensor<4xi32>
  %r = arith.subi %c3, %i : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v = tile.load %xa : tensor<4x!tile.ptr<i32>>
  %ys = tile.splat %y : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %ya = tile.addptr %ys, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  tile.store %ya, %v : tensor<4x!tile.ptr<i32>>
)mlir" + between +
          R"mlir(
  %yb = tile.addptr %ys, )mlir" +
          lanes + R"mlir( : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %w = tile.load %yb : tensor<4x!tile.ptr<i32>>
  tile.store %xa, %w : tensor<4x!tile.ptr<i32>>
  return
})mlir")
      .str();
}

TEST(CheckLanes, AReadOfWhatAnotherLaneHasWritten) {
  Checked c;
  std::vector<int32_t> x(4), y(4);
  c.add(x, "x");
  c.add(y, "y");
  Report report = c.run(throughMemory("", "%r"), {1}, x, y);
  expectOne(report, FindingKind::UnorderedLanes, 14, 0, 0);
  EXPECT_EQ(report.findings[0].otherPlace.line, 11u);
  EXPECT_NE(report.findings[0].message.find("byte 12 of `y`, which another lane of the program has "
                                            "written, and no `tl.debug_barrier()`"),
            std::string::npos)
      << report.str();
  EXPECT_EQ(report.findings[0].otherNote, "written here, by lane 3");
}

TEST(CheckLanes, TheSameLaneAndABarrierAreFine) {
  for (auto [between, lanes] : {std::pair("", "%i"), std::pair("  tile.barrier", "%r")}) {
    Checked c;
    std::vector<int32_t> x(4), y(4);
    c.add(x, "x");
    c.add(y, "y");
    Report report = c.run(throughMemory(between, lanes), {1}, x, y);
    EXPECT_TRUE(report.ok()) << report.str();
  }
}

TEST(CheckLanes, AWriteOfWhatAnotherLaneReads) {
  Checked c;
  std::vector<int32_t> x(4);
  c.add(x, "x");
  Report report = c.run(R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x")) {
  %i = tile.make_range 0 to 4 : tensor<4xi32>
  %c3 = arith.constant dense<3> : tensor<4xi32>
  %r = arith.subi %c3, %i : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %i : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v = tile.load %xa : tensor<4x!tile.ptr<i32>>
  %xb = tile.addptr %xs, %r : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  tile.store %xb, %v : tensor<4x!tile.ptr<i32>>
  return
})mlir",
                        {1}, x);
  expectOne(report, FindingKind::UnorderedLanes, 10, 0, 0);
  EXPECT_EQ(report.findings[0].otherNote, "read here, by lane 3");
}

/// Many lanes that load the same number, and an element that two turns of a loop touch: which
/// lane of them counts is not known.
TEST(CheckLanes, SeveralLanesOfOneInstructionAreLeftAlone) {
  Checked c;
  std::vector<int32_t> x(4);
  c.add(x, "x");
  Report report = c.run(R"mlir(
func.func @k(%x: !tile.ptr<i32> loc("x")) {
  %c0 = arith.constant dense<0> : tensor<4xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %c0 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  %v = tile.load %xa : tensor<4x!tile.ptr<i32>>
  tile.store %xa, %v : tensor<4x!tile.ptr<i32>>
  return
})mlir",
                        {1}, x);
  EXPECT_TRUE(report.ok()) << report.str();
}

} // namespace
