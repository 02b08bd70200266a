//===- CheckRacesTest.cpp - races that checked programs report -----------===//
#include "Checked.h"

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

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

} // namespace
