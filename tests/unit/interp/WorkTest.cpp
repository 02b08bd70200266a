//===- WorkTest.cpp - launches that would do more than they may ------------===//
#include "Checked.h"

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// Counts to %n in a loop that counts, and stores what comes of it.
const char *counts = R"mlir(func.func @counts(%n: i64, %p: !tile.ptr<i64>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %zero) -> (i64) : i64 {
    %t = arith.addi %s, %i : i64
    scf.yield %t : i64
  }
  tile.store %p, %r : !tile.ptr<i64>
  return
})mlir";

/// Whether a launch of so many programs is through with this limit.
bool fits(const Program &program, Grid grid, std::vector<Argument> arguments, uint64_t limit,
          unsigned threads = 1) {
  RunOptions options;
  options.numThreads = threads;
  options.workLimit = limit;
  return program.run(grid, arguments, options).ok();
}

/// The least limit that a launch is through with.
uint64_t workOf(const Program &program, Grid grid, std::vector<Argument> arguments) {
  uint64_t low = 0, high = uint64_t(1) << 40; // does not fit; fits
  while (high - low > 1) {
    uint64_t middle = (low + high) / 2;
    (fits(program, grid, arguments, middle) ? high : low) = middle;
  }
  return high;
}

TEST(Work, ALongLoopIsRefusedBeforeItsFirstTurn) {
  for (bool check : {false, true}) {
    auto program = compile(counts, check);
    ASSERT_TRUE(program);
    std::vector<int64_t> r(1, -1);
    MemoryMap memory;
    ASSERT_TRUE(memory.add(r.data(), 8, true, "p"));
    RunOptions options;
    options.memory = &memory;
    options.workLimit = 1'000'000'000;
    for (int64_t turns : {int64_t(1) << 40, std::numeric_limits<int64_t>::max()}) {
      Report report =
          program->run({1, 1, 1}, {Argument::integer(turns), Argument::pointer(r.data())}, options);
      ASSERT_EQ(report.findings.size(), 1u) << report.str();
      EXPECT_EQ(report.findings[0].kind, FindingKind::TooMuchWork);
      EXPECT_EQ(report.findings[0].place.line, 4u) << report.str();
      EXPECT_NE(report.str().find(std::to_string(turns) + " turns come to more than 1000000000 "
                                                          "operations"),
                std::string::npos)
          << report.str();
    }
    EXPECT_EQ(r[0], -1);
  }
}

TEST(Work, ManyProgramsAreRefusedBeforeTheFirst) {
  auto program = compile(counts);
  ASSERT_TRUE(program);
  std::vector<int64_t> r(1, -1);
  RunOptions options;
  options.workLimit = 1'000'000'000;
  Report report =
      program->run({1u << 31, 1, 1}, {Argument::integer(0), Argument::pointer(r.data())}, options);
  ASSERT_EQ(report.findings.size(), 1u) << report.str();
  EXPECT_EQ(report.findings[0].kind, FindingKind::TooMuchWork);
  EXPECT_EQ(report.findings[0].place.line, 1u) << report.str();
  EXPECT_EQ(report.findings[0].where, "the launch");
  EXPECT_EQ(r[0], -1);
}

TEST(Work, TheSameLimitWithAnyNumberOfThreads) {
  auto program = compile(counts);
  ASSERT_TRUE(program);
  std::vector<int64_t> r(1);
  std::vector<Argument> arguments = {Argument::integer(100), Argument::pointer(r.data())};
  Grid grid{3000, 1, 1};
  uint64_t work = workOf(*program, grid, arguments);
  EXPECT_GT(work, 3000u * 100);
  for (unsigned threads : {1u, 2u, 5u}) {
    EXPECT_TRUE(fits(*program, grid, arguments, work, threads));
    EXPECT_FALSE(fits(*program, grid, arguments, work - 1, threads));
  }
  EXPECT_TRUE(fits(*program, grid, arguments, 0)) << "no limit";
}

TEST(Work, TurnsAreCountedOnce) {
  auto program = compile(counts);
  ASSERT_TRUE(program);
  std::vector<int64_t> r(1);
  auto work = [&](int64_t turns) {
    return workOf(*program, {1, 1, 1}, {Argument::integer(turns), Argument::pointer(r.data())});
  };
  uint64_t ofTurn = work(1001) - work(1000);
  EXPECT_EQ(work(2000) - work(1000), 1000 * ofTurn);
}

TEST(Work, LoopsOfUnknownLengthEnd) {
  // It always finds what it has just written, so that memory changes all the time.
  auto program = compile(R"mlir(func.func @spins(%p: !tile.ptr<i64>) {
  %one = arith.constant 1 : i64
  scf.while : () -> () {
    %v = tile.load %p : !tile.ptr<i64>
    %w = arith.addi %v, %one : i64
    tile.store %p, %w : !tile.ptr<i64>
    %go = arith.cmpi ne, %w, %v : i64
    scf.condition(%go)
  } do {
    scf.yield
  }
  return
})mlir");
  ASSERT_TRUE(program);
  std::vector<int64_t> r(1);
  for (unsigned threads : {1u, 3u}) {
    RunOptions options;
    options.numThreads = threads;
    options.workLimit = 10'000'000;
    Report report = program->run({4, 1, 1}, {Argument::pointer(r.data())}, options);
    ASSERT_EQ(report.findings.size(), 1u) << report.str();
    EXPECT_EQ(report.findings[0].kind, FindingKind::TooMuchWork);
  }
}

TEST(Work, BranchesCountWhereTheyAreTaken) {
  auto program = compile(R"mlir(func.func @branch(%n: i64, %p: !tile.ptr<i64>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %many = arith.constant 1000000 : i64
  %take = arith.cmpi eq, %n, %one : i64
  scf.if %take {
    scf.for %i = %zero to %many step %one : i64 {
      tile.store %p, %i : !tile.ptr<i64>
    }
  }
  return
})mlir");
  ASSERT_TRUE(program);
  std::vector<int64_t> r(1);
  EXPECT_TRUE(fits(*program, {1, 1, 1}, {Argument::integer(0), Argument::pointer(r.data())}, 1000));
  EXPECT_FALSE(
      fits(*program, {1, 1, 1}, {Argument::integer(1), Argument::pointer(r.data())}, 1'000'000));
}

TEST(Work, ProductsAndCombinersCountForWhatTheyDo) {
  auto product = compile(R"mlir(func.func @product() {
  %a = arith.constant dense<1.0> : tensor<64x128xf32>
  %b = arith.constant dense<1.0> : tensor<128x32xf32>
  %c = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tile.dot %a, %b, %c : tensor<64x128xf32> * tensor<128x32xf32> -> tensor<64x32xf32>
  return
})mlir");
  ASSERT_TRUE(product);
  EXPECT_FALSE(fits(*product, {1, 1, 1}, {}, 64 * 128 * 32));
  EXPECT_TRUE(fits(*product, {1, 1, 1}, {}, 64 * 128 * 32 + 64 * 128 * 8));
  // A combiner with a loop in it.
  auto loop = compile(R"mlir(func.func @combine(%n: i64, %p: !tile.ptr<i64>) {
  %v = arith.constant dense<3> : tensor<16xi64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r = tile.reduce %v {axis = 0 : i32} : tensor<16xi64> -> i64 {
  ^bb0(%a: i64, %b: i64):
    %s = scf.for %i = %zero to %n step %one iter_args(%t = %a) -> (i64) : i64 {
      %u = arith.addi %t, %b : i64
      scf.yield %u : i64
    }
    tile.yield %s : i64
  }
  tile.store %p, %r : !tile.ptr<i64>
  return
})mlir");
  ASSERT_TRUE(loop);
  std::vector<int64_t> r(1);
  auto runs = [&](int64_t turns) {
    return fits(*loop, {1, 1, 1}, {Argument::integer(turns), Argument::pointer(r.data())},
                1'000'000);
  };
  EXPECT_TRUE(runs(1000));
  EXPECT_FALSE(runs(int64_t(1) << 40));
}

} // namespace
