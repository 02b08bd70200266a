//===- CombineTest.cpp - reductions and scans -----------------------------===//
#include "InterpTest.h"
#include <numeric>
#include <random>

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// A kernel that loads a block of `shape`, applies `body` to %v and stores %r.
std::string kernel(const std::string &inShape, size_t in, const std::string &outShape, size_t out,
                   const std::string &type, const std::string &body) {
  std::string text = R"mlir(
func.func @k(%x: !tile.ptr<T>, %q: !tile.ptr<T>) {
  %i = tile.make_range 0 to IN : tensor<INxi32>
  %xs = tile.splat %x : !tile.ptr<T> -> tensor<INx!tile.ptr<T>>
  %xa = tile.addptr %xs, %i : tensor<INx!tile.ptr<T>>, tensor<INxi32>
  %flat = tile.load %xa : tensor<INx!tile.ptr<T>>
  %v = tile.reshape %flat : tensor<INxT> -> tensor<SHAPExT>
  BODY
  %j = tile.make_range 0 to OUT : tensor<OUTxi32>
  %qs = tile.splat %q : !tile.ptr<T> -> tensor<OUTx!tile.ptr<T>>
  %qa = tile.addptr %qs, %j : tensor<OUTx!tile.ptr<T>>, tensor<OUTxi32>
  %w = tile.reshape %r : tensor<RESULTxT> -> tensor<OUTxT>
  tile.store %qa, %w : tensor<OUTx!tile.ptr<T>>
  return
})mlir";
  text = replace(text, "BODY", body);
  text = replace(text, "SHAPE", inShape);
  text = replace(text, "RESULT", outShape);
  text = replace(text, "OUT", std::to_string(out));
  text = replace(text, "IN", std::to_string(in));
  for (const char *use : {"<T>", "xT>", ": T", "-> T"}) {
    std::string with = replace(use, "T", type);
    text = replace(text, use, with);
  }
  return text;
}

struct Dims {
  int64_t outer, length, inner;
  std::string shape(bool reduced = false) const {
    std::string text = std::to_string(outer);
    if (!reduced)
      text += "x" + std::to_string(length);
    return text + "x" + std::to_string(inner);
  }
};
const Dims someDims[] = {{1, 1, 1}, {1, 2, 1}, {4, 8, 1}, {2, 64, 4},
                         {8, 1, 2}, {1, 3, 1}, {2, 7, 4}, {4, 5, 1}};

TEST(Reduce, SumsEveryShape) {
  for (const Dims &d : someDims) {
    size_t in = d.outer * d.length * d.inner, out = d.outer * d.inner;
    auto text = kernel(d.shape(), in, d.shape(true), out, "i32", R"(
      %r = tile.reduce %v {axis = 1 : i32} : tensor<SHAPExT> -> tensor<RESULTxT> {
      ^bb0(%a: T, %b: T):
        %c = arith.addi %a, %b : T
        tile.yield %c : T
      })");
    std::vector<int32_t> x(in), result(out, -1);
    std::iota(x.begin(), x.end(), 1);
    expectRuns(text, x, result);
    for (int64_t b = 0; b < d.outer; ++b)
      for (int64_t c = 0; c < d.inner; ++c) {
        int32_t sum = 0;
        for (int64_t k = 0; k < d.length; ++k)
          sum += x[(b * d.length + k) * d.inner + c];
        EXPECT_EQ(result[b * d.inner + c], sum) << d.shape();
      }
  }
}

/// A combiner that is associative but not commutative shows the order:
/// (first, last) of a run is joined as (left.first, right.last), here packed
/// into one integer.
TEST(Reduce, KeepsTheOrderOfElements) {
  for (const Dims &d : someDims) {
    size_t in = d.outer * d.length * d.inner, out = d.outer * d.inner;
    auto text = kernel(d.shape(), in, d.shape(true), out, "i32", R"(
      %high = arith.constant -65536 : i32
      %low = arith.constant 65535 : i32
      %r = tile.reduce %v {axis = 1 : i32} : tensor<SHAPExT> -> tensor<RESULTxT> {
      ^bb0(%a: T, %b: T):
        %first = arith.andi %a, %high : i32
        %last = arith.andi %b, %low : i32
        %c = arith.ori %first, %last : i32
        tile.yield %c : T
      })");
    std::vector<int32_t> x(in), result(out, -1);
    for (size_t k = 0; k < in; ++k)
      x[k] = int32_t((k + 1) << 16 | (k + 1));
    expectRuns(text, x, result);
    for (int64_t b = 0; b < d.outer; ++b)
      for (int64_t c = 0; c < d.inner; ++c) {
        int32_t first = x[b * d.length * d.inner + c] >> 16;
        int32_t last = x[(b * d.length + d.length - 1) * d.inner + c] >> 16;
        EXPECT_EQ(result[b * d.inner + c], first << 16 | last) << d.shape();
      }
  }
}

TEST(Reduce, ToAScalar) {
  for (size_t n : {1, 2, 128, 1000}) {
    auto text = kernel(std::to_string(n), n, "1", 1, "f64", R"(
      %s = tile.reduce %v {axis = 0 : i32} : tensor<SHAPExT> -> T {
      ^bb0(%a: T, %b: T):
        %c = arith.maxnumf %a, %b : T
        tile.yield %c : T
      }
      %r = tile.splat %s : T -> tensor<1xT>)");
    std::vector<double> x(n), result(1);
    std::iota(x.begin(), x.end(), -3.0);
    std::shuffle(x.begin(), x.end(), std::mt19937(7));
    expectRuns(text, x, result);
    EXPECT_EQ(result[0], double(n) - 4.0);
  }
}

/// Arg-max: two operands of different types, a combiner of several operations
/// with a constant from outside.
const char *argmax = R"mlir(
func.func @k(%x: !tile.ptr<f32>, %q: !tile.ptr<f32>, %qi: !tile.ptr<i32>) {
  %i = tile.make_range 0 to N : tensor<Nxi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<Nx!tile.ptr<f32>>
  %xa = tile.addptr %xs, %i : tensor<Nx!tile.ptr<f32>>, tensor<Nxi32>
  %v = tile.load %xa : tensor<Nx!tile.ptr<f32>>
  %best:2 = tile.reduce %v, %i {axis = 0 : i32} : tensor<Nxf32>, tensor<Nxi32> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    COMBINE
    tile.yield %m, %mi : f32, i32
  }
  tile.store %q, %best#0 : !tile.ptr<f32>
  tile.store %qi, %best#1 : !tile.ptr<i32>
  return
})mlir";

void checkArgmax(const std::string &combine) {
  for (size_t n : {1, 2, 5, 64, 1024}) {
    std::vector<float> x(n), value(1);
    std::vector<int32_t> where(1, -1);
    std::mt19937 random(int(n) + 1);
    for (float &v : x)
      v = float(random() % 50); // many ties: the leftmost wins
    expectRuns(replace(replace(argmax, "COMBINE", combine), "N", std::to_string(n)), x, value,
               where);
    auto best = std::max_element(x.begin(), x.end());
    EXPECT_EQ(value[0], *best);
    EXPECT_EQ(where[0], best - x.begin());
  }
}

TEST(Reduce, TwoOperands) {
  checkArgmax(R"(
    %gt = arith.cmpf ogt, %a, %b : f32
    %eq = arith.cmpf oeq, %a, %b : f32
    %lt = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %eq, %lt : i1
    %left = arith.ori %gt, %tie : i1
    %m = arith.select %left, %a, %b : f32
    %mi = arith.select %left, %ai, %bi : i32)");
}

TEST(Reduce, CombinerWithControlFlow) {
  checkArgmax(R"(
    %lt = arith.cmpf olt, %a, %b : f32
    %m, %mi = scf.if %lt -> (f32, i32) {
      scf.yield %b, %bi : f32, i32
    } else {
      scf.yield %a, %ai : f32, i32
    })");
}

TEST(Scan, EveryShapeAndDirection) {
  for (const Dims &d : someDims)
    for (bool reverse : {false, true})
      for (bool fast : {true, false}) {
        size_t n = d.outer * d.length * d.inner;
        auto text = kernel(d.shape(), n, d.shape(), n, "i32",
                           std::string("%one = arith.constant 1 : i32\n"
                                       "%r = tile.scan %v {axis = 1 : i32, reverse = ") +
                               (reverse ? "true" : "false") + R"(} :
          tensor<SHAPExT> -> tensor<RESULTxT> {
          ^bb0(%a: T, %b: T):
            )" +
                               (fast ? "%c = arith.addi %a, %b : T"
                                     : "%h = arith.muli %a, %one : T\n%c = arith.addi %h, %b : T") +
                               "\ntile.yield %c : T\n}");
        std::vector<int32_t> x(n), result(n, -1);
        std::iota(x.begin(), x.end(), 1);
        expectRuns(text, x, result);
        for (int64_t b = 0; b < d.outer; ++b)
          for (int64_t c = 0; c < d.inner; ++c) {
            int32_t sum = 0;
            for (int64_t step = 0; step < d.length; ++step) {
              int64_t k = reverse ? d.length - 1 - step : step;
              size_t at = (b * d.length + k) * d.inner + c;
              sum += x[at];
              EXPECT_EQ(result[at], sum) << d.shape() << " " << reverse;
            }
          }
      }
}

/// A first-order recurrence y = a * y + b as a scan over pairs.
TEST(Scan, LinearRecurrence) {
  const char *text = R"mlir(
func.func @k(%x: !tile.ptr<i32>, %q: !tile.ptr<i32>) {
  %i = tile.make_range 0 to 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %xa = tile.addptr %xs, %i : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %v = tile.load %xa : tensor<16x!tile.ptr<i32>>
  %s:2 = tile.scan %i, %v {axis = 0 : i32, reverse = false} : tensor<16xi32>, tensor<16xi32> -> tensor<16xi32>, tensor<16xi32> {
  ^bb0(%a0: i32, %b0: i32, %a1: i32, %b1: i32):
    %a = arith.muli %a0, %a1 : i32
    %t = arith.muli %b0, %a1 : i32
    %b = arith.addi %t, %b1 : i32
    tile.yield %a, %b : i32, i32
  }
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %qa = tile.addptr %qs, %i : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  tile.store %qa, %s#1 : tensor<16x!tile.ptr<i32>>
  return
})mlir";
  std::vector<int32_t> x(16), result(16);
  std::iota(x.begin(), x.end(), -5);
  expectRuns(text, x, result);
  uint32_t y = uint32_t(x[0]);
  EXPECT_EQ(result[0], x[0]);
  for (uint32_t k = 1; k < 16; ++k) {
    y = k * y + uint32_t(x[k]);
    EXPECT_EQ(result[k], int32_t(y));
  }
}

/// Narrow floats round after every combination, in the order of a tree of
/// neighbours.
TEST(Reduce, HalfRoundsAtEveryStep) {
  std::vector<uint16_t> x, result(1);
  for (int k = 0; k < 64; ++k)
    x.push_back(roundToHalf(1.0f + 0.37f * float(k)).bits);
  expectRuns(kernel("64", 64, "1", 1, "f16", R"(
      %s = tile.reduce %v {axis = 0 : i32} : tensor<SHAPExT> -> T {
      ^bb0(%a: T, %b: T):
        %c = arith.addf %a, %b : T
        tile.yield %c : T
      }
      %r = tile.splat %s : T -> tensor<1xT>)"),
             x, result);
  std::vector<uint16_t> level = x;
  while (level.size() > 1) {
    std::vector<uint16_t> next;
    for (size_t k = 0; k < level.size(); k += 2)
      next.push_back(roundToHalf(toFloat(Half{level[k]}) + toFloat(Half{level[k + 1]})).bits);
    level = next;
  }
  EXPECT_EQ(result[0], level[0]);
}

} // namespace
