//===- ControlTest.cpp - loops, branches, calls, waiting ------------------===//
#include "InterpTest.h"

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// Runs a function (%a: i32, %b: i32, %c: i32, %q: ptr<i64>) whose body stores
/// one i64 `%r`.
int64_t evaluate(const std::string &body, int a = 0, int b = 0, int c = 0,
                 const std::string &extra = "") {
  std::vector<int64_t> r(1, -12345);
  expectRuns("func.func @k(%a: i32, %b: i32, %c: i32, %q: !tile.ptr<i64>) {\n" + body +
                 "\ntile.store %q, %r : !tile.ptr<i64>\nreturn\n}\n" + extra,
             a, b, c, r);
  return r[0];
}

TEST(Control, ForLoopBounds) {
  const char *body = R"(
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %r = scf.for %i = %a to %b step %c iter_args(%n = %zero) -> (i64) : i32 {
      %m = arith.addi %n, %one : i64
      scf.yield %m : i64
    })";
  EXPECT_EQ(evaluate(body, 0, 10, 1), 10);
  EXPECT_EQ(evaluate(body, 0, 10, 3), 4);
  EXPECT_EQ(evaluate(body, 5, 5, 1), 0);
  EXPECT_EQ(evaluate(body, 6, 5, 1), 0);
  EXPECT_EQ(evaluate(body, -3, 4, 2), 4);
  int low = std::numeric_limits<int>::min(), high = std::numeric_limits<int>::max();
  EXPECT_EQ(evaluate(body, low, high - 1, high), 2) << "the distance does not fit the type";
  EXPECT_EQ(evaluate(body, high - 1, high, 1), 1);
}

TEST(Control, UnsignedLoop) {
  EXPECT_EQ(evaluate(R"(
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %r = scf.for unsigned %i = %a to %b step %c iter_args(%n = %zero) -> (i64) : i32 {
      %m = arith.addi %n, %one : i64
      scf.yield %m : i64
    })",
                     0, -(1 << 30), 1 << 30),
            3);
}

TEST(Control, CarriedValuesSwap) {
  // Fibonacci: both carried values are each other's source.
  EXPECT_EQ(evaluate(R"(
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %x:3 = scf.for %i = %a to %b step %c iter_args(%u = %c0, %v = %c1, %w = %c0) -> (i64, i64, i64) : i32 {
      %s = arith.addi %u, %v : i64
      scf.yield %v, %s, %u : i64, i64, i64
    }
    %k = arith.constant 1000000 : i64
    %t = arith.muli %x#0, %k : i64
    %r = arith.addi %t, %x#2 : i64)",
                     0, 20, 1),
            int64_t(6765) * 1000000 + 4181);
}

TEST(Control, NestedLoopsAndBranches) {
  // Sum of i * j over i < a, j < i where i + j is even.
  EXPECT_EQ(evaluate(R"(
    %z = arith.constant 0 : i64
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %r = scf.for %i = %i0 to %a step %i1 iter_args(%outer = %z) -> (i64) : i32 {
      %in = scf.for %j = %i0 to %i step %i1 iter_args(%s = %outer) -> (i64) : i32 {
        %t = arith.addi %i, %j : i32
        %odd = arith.trunci %t : i32 to i1
        %new = scf.if %odd -> (i64) {
          scf.yield %s : i64
        } else {
          %p = arith.muli %i, %j : i32
          %w = arith.extsi %p : i32 to i64
          %n = arith.addi %s, %w : i64
          scf.yield %n : i64
        }
        scf.yield %new : i64
      }
      scf.yield %in : i64
    })",
                     9),
            [] {
              int64_t sum = 0;
              for (int i = 0; i < 9; ++i)
                for (int j = 0; j < i; ++j)
                  if ((i + j) % 2 == 0)
                    sum += i * j;
              return sum;
            }());
}

TEST(Control, WhilePassesValuesOut) {
  // Collatz steps from %a, and the largest value on the way.
  EXPECT_EQ(evaluate(R"(
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %zero = arith.constant 0 : i32
    %x:3 = scf.while (%n = %a, %steps = %zero, %top = %a) : (i32, i32, i32) -> (i32, i32, i32) {
      %go = arith.cmpi ne, %n, %c1 : i32
      scf.condition(%go) %top, %steps, %n : i32, i32, i32
    } do {
    ^bb0(%top: i32, %steps: i32, %n: i32):
      %odd = arith.trunci %n : i32 to i1
      %next = scf.if %odd -> (i32) {
        %t = arith.muli %n, %c3 : i32
        %u = arith.addi %t, %c1 : i32
        scf.yield %u : i32
      } else {
        %h = arith.shrui %n, %c1 : i32
        scf.yield %h : i32
      }
      %more = arith.addi %steps, %c1 : i32
      %best = arith.maxsi %top, %next : i32
      scf.yield %next, %more, %best : i32, i32, i32
    }
    %k = arith.constant 1000 : i32
    %m = arith.muli %x#0, %k : i32
    %s = arith.addi %m, %x#1 : i32
    %r = arith.extsi %s : i32 to i64)",
                     27),
            9232 * 1000 + 111);
}

TEST(Control, PlainBranches) {
  const char *text = R"mlir(
func.func @k(%n: i32, %q: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %early = arith.cmpi slt, %n, %zero : i32
  cf.cond_br %early, ^out, ^loop(%zero, %zero : i32, i32)
^loop(%i: i32, %sum: i32):
  %s = arith.addi %sum, %i : i32
  %j = arith.addi %i, %one : i32
  %more = arith.cmpi sle, %j, %n : i32
  cf.cond_br %more, ^loop(%j, %s : i32, i32), ^done
^done:
  tile.store %q, %s : !tile.ptr<i32>
  cf.br ^out
^out:
  return
})mlir";
  for (int n : {-1, 0, 1, 10, 3000}) {
    std::vector<int32_t> r(1, -7);
    expectRuns(text, n, r);
    EXPECT_EQ(r[0], n < 0 ? -7 : n * (n + 1) / 2);
  }
}

TEST(Control, CallsAreExpanded) {
  EXPECT_EQ(evaluate(R"(
    %x = func.call @clamped(%a) : (i32) -> i64
    %y = func.call @clamped(%b) : (i32) -> i64
    %k = arith.constant 100 : i64
    %z = arith.muli %x, %k : i64
    %r = arith.addi %z, %y : i64)",
                     5, 50, 0, R"(
func.func private @clamped(%v: i32) -> i64 {
  %ten = arith.constant 10 : i32
  %big = arith.cmpi sgt, %v, %ten : i32
  cf.cond_br %big, ^limit, ^plain
^limit:
  %t = arith.extsi %ten : i32 to i64
  return %t : i64
^plain:
  %w = arith.extsi %v : i32 to i64
  return %w : i64
})"),
            510);
}

TEST(Control, SwitchAndExecuteRegion) {
  const char *body = R"(
    %i = arith.index_cast %a : i32 to index
    %s = scf.index_switch %i -> i64
    case 2 { %v = arith.constant 20 : i64
             scf.yield %v : i64 }
    case 5 { %v = arith.constant 50 : i64
             scf.yield %v : i64 }
    default { %v = arith.constant -1 : i64
              scf.yield %v : i64 }
    %r = scf.execute_region -> i64 {
      %one = arith.constant 1 : i64
      %t = arith.addi %s, %one : i64
      scf.yield %t : i64
    })";
  EXPECT_EQ(evaluate(body, 2), 21);
  EXPECT_EQ(evaluate(body, 5), 51);
  EXPECT_EQ(evaluate(body, 3), 0);
}

TEST(Control, BadStepIsReported) {
  auto report = runText(R"mlir(
func.func @k(%s: i32) {
  %z = arith.constant 0 : i32
  %n = arith.constant 9 : i32
  scf.for %i = %z to %n step %s : i32 {
  }
  return
})mlir",
                        Grid(), 0);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, FindingKind::BadLoopStep);
  EXPECT_EQ(report.findings[0].place.line, 5u);
}

TEST(Control, CounterThatPassesItsTypeEndsTheLoop) {
  const char *body = R"mlir(
  %low = arith.constant -2147483648 : i32
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = arith.constant 1048576 : i32
  %r = scf.for %i = %low to %a step %s iter_args(%n = %z) -> (i64) : i32 {
    %m = arith.addi %n, %one : i64
    scf.yield %m : i64
  })mlir";
  EXPECT_EQ(evaluate(body, INT32_MAX), 4096);
  EXPECT_EQ(evaluate(body, 0), 2048);
  EXPECT_EQ(evaluate(body, INT32_MIN), 0);
}

TEST(Control, ProgramIdsCoverTheGrid) {
  const char *text = R"mlir(
func.func @k(%q: !tile.ptr<i32>) {
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %z = tile.program_id 2 : i32
  %nx = tile.num_programs 0 : i32
  %ny = tile.num_programs 1 : i32
  %a = arith.muli %z, %ny : i32
  %b = arith.addi %a, %y : i32
  %c = arith.muli %b, %nx : i32
  %d = arith.addi %c, %x : i32
  %p = tile.addptr %q, %d : !tile.ptr<i32>, i32
  %nz = tile.num_programs 2 : i32
  %one = arith.addi %d, %nz : i32
  tile.store %p, %one : !tile.ptr<i32>
  return
})mlir";
  std::vector<int32_t> r(3 * 5 * 7, -1);
  Report report = runText(text, Grid{3, 5, 7}, r);
  EXPECT_TRUE(report.ok());
  for (size_t k = 0; k < r.size(); ++k)
    EXPECT_EQ(r[k], int32_t(k) + 7);
}

//===----------------------------------------------------------------------===//
// Programs that wait for one another
//===----------------------------------------------------------------------===//

/// Each program takes a lock, adds to a plain counter and lets go.
const char *spinLock = R"mlir(
func.func @k(%lock: !tile.ptr<i32>, %count: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = scf.while (%u = %zero) : (i32) -> (i32) {
    %old = tile.atomic_cas acq_rel gpu %lock, %zero, %one : !tile.ptr<i32>
    %taken = arith.cmpi ne, %old, %zero : i32
    scf.condition(%taken) %old : i32
  } do {
  ^bb0(%v: i32):
    scf.yield %v : i32
  }
  %n = tile.load %count : !tile.ptr<i32>
  %m = arith.addi %n, %one : i32
  tile.store %count, %m : !tile.ptr<i32>
  %y = tile.atomic_rmw xchg release gpu %lock, %zero : !tile.ptr<i32>
  return
})mlir";

TEST(Waiting, SpinLock) {
  std::vector<int32_t> lock(1), count(1);
  Report report = runText(spinLock, Grid{2000, 1, 1}, lock, count);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(count[0], 2000);
}

/// A barrier across the whole grid needs all programs alive at once.
const char *gridBarrier = R"mlir(
func.func @k(%arrived: !tile.ptr<i32>, %out: !tile.ptr<i32>, %expected: i32) {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %a = tile.atomic_rmw add acq_rel gpu %arrived, %one : !tile.ptr<i32>
  scf.while : () -> () {
    %seen = tile.atomic_rmw add acquire gpu %arrived, %zero : !tile.ptr<i32>
    %wait = arith.cmpi slt, %seen, %expected : i32
    scf.condition(%wait)
  } do {
    scf.yield
  }
  %b = tile.atomic_rmw add acq_rel gpu %out, %one : !tile.ptr<i32>
  return
})mlir";

TEST(Waiting, GridBarrierWithFewThreads) {
  auto program = compile(gridBarrier);
  ASSERT_TRUE(program);
  for (unsigned threads : {1u, 2u, 4u}) {
    std::vector<int32_t> arrived(1), out(1);
    RunOptions options;
    options.numThreads = threads;
    Report report =
        program->run({100, 1, 1}, {toArgument(arrived), toArgument(out), toArgument(100)}, options);
    EXPECT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(out[0], 100);
  }
}

TEST(Waiting, ForEverIsReported) {
  auto program = compile(gridBarrier);
  ASSERT_TRUE(program);
  for (unsigned threads : {1u, 3u}) {
    std::vector<int32_t> arrived(1), out(1);
    RunOptions options;
    options.numThreads = threads;
    options.stepLimit = 1 << 18;
    Report report =
        program->run({10, 1, 1}, {toArgument(arrived), toArgument(out), toArgument(11)}, options);
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, FindingKind::Stuck);
    EXPECT_EQ(report.findings[0].place.line, 6u) << report.str();
    EXPECT_EQ(out[0], 0);
  }
}

} // namespace
