//===- ShapeTest.cpp - creation and movement of blocks --------------------===//
#include "InterpTest.h"
#include <numeric>

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

/// Runs `body`, which turns the 24 i32 of %x0 (0, 1, 2, ...) into `%r` of `n`
/// elements.
std::vector<int32_t> move(size_t n, const std::string &body) {
  std::string text = R"mlir(
func.func @k(%p: !tile.ptr<i32>, %q: !tile.ptr<i32>) {
  %i = tile.make_range 0 to 24 : tensor<24xi32>
  %ps = tile.splat %p : !tile.ptr<i32> -> tensor<24x!tile.ptr<i32>>
  %pa = tile.addptr %ps, %i : tensor<24x!tile.ptr<i32>>, tensor<24xi32>
  %x0 = tile.load %pa : tensor<24x!tile.ptr<i32>>
  BODY
  %out = tile.make_range 0 to N : tensor<Nxi32>
  %qs = tile.splat %q : !tile.ptr<i32> -> tensor<Nx!tile.ptr<i32>>
  %qa = tile.addptr %qs, %out : tensor<Nx!tile.ptr<i32>>, tensor<Nxi32>
  tile.store %qa, %r : tensor<Nx!tile.ptr<i32>>
  return
})mlir";
  std::vector<int32_t> x(24), r(n, -1);
  std::iota(x.begin(), x.end(), 0);
  expectRuns(replace(replace(text, "BODY", body), "N", std::to_string(n)), x, r);
  return r;
}

TEST(Shape, TransposesInThreeDimensions) {
  int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int64_t sizes[3] = {2, 3, 4};
  for (auto &o : orders) {
    auto dim = [&](int k) { return std::to_string(sizes[o[k]]); };
    std::string order =
        std::to_string(o[0]) + ", " + std::to_string(o[1]) + ", " + std::to_string(o[2]);
    std::string shape = dim(0) + "x" + dim(1) + "x" + dim(2);
    auto r =
        move(24, "%v = tile.reshape %x0 : tensor<24xi32> -> tensor<2x3x4xi32>\n%t = "
                 "tile.trans %v [" +
                     order + "] : tensor<2x3x4xi32> -> tensor<" + shape +
                     "xi32>\n%r = tile.reshape %t : tensor<" + shape + "xi32> -> tensor<24xi32>");
    size_t at = 0;
    int64_t index[3];
    for (index[o[0]] = 0; index[o[0]] < sizes[o[0]]; ++index[o[0]])
      for (index[o[1]] = 0; index[o[1]] < sizes[o[1]]; ++index[o[1]])
        for (index[o[2]] = 0; index[o[2]] < sizes[o[2]]; ++index[o[2]])
          ASSERT_EQ(r[at++], index[0] * 12 + index[1] * 4 + index[2]) << order;
  }
}

TEST(Shape, BroadcastsAnyDimension) {
  for (int which = 0; which < 8; ++which) {
    int64_t from[3] = {which & 1 ? 1 : 2, which & 2 ? 1 : 3, which & 4 ? 1 : 4};
    int64_t count = from[0] * from[1] * from[2];
    std::string source =
        std::to_string(from[0]) + "x" + std::to_string(from[1]) + "x" + std::to_string(from[2]);
    std::string body = "%s = tile.make_range 0 to " + std::to_string(count) + " : tensor<" +
                       std::to_string(count) + "xi32>\n%v = tile.reshape %s : tensor<" +
                       std::to_string(count) + "xi32> -> tensor<" + source +
                       "xi32>\n%b = tile.broadcast %v : tensor<" + source +
                       "xi32> -> tensor<2x3x4xi32>\n%r = tile.reshape %b : tensor<2x3x4xi32> -> "
                       "tensor<24xi32>";
    auto r = move(24, body);
    for (int64_t a = 0; a < 2; ++a)
      for (int64_t b = 0; b < 3; ++b)
        for (int64_t c = 0; c < 4; ++c) {
          int64_t x = which & 1 ? 0 : a, y = which & 2 ? 0 : b, z = which & 4 ? 0 : c;
          ASSERT_EQ(r[a * 12 + b * 4 + c], (x * from[1] + y) * from[2] + z) << source;
        }
  }
}

TEST(Shape, JoinAndSplit) {
  auto joined = move(48, R"(
    %c = arith.constant dense<100> : tensor<24xi32>
    %y = arith.addi %x0, %c : tensor<24xi32>
    %j = tile.join %x0, %y : tensor<24xi32> -> tensor<24x2xi32>
    %r = tile.reshape %j : tensor<24x2xi32> -> tensor<48xi32>)");
  for (int k = 0; k < 48; ++k)
    EXPECT_EQ(joined[k], k / 2 + (k % 2 ? 100 : 0));
  auto split = move(24, R"(
    %v = tile.reshape %x0 : tensor<24xi32> -> tensor<12x2xi32>
    %a, %b = tile.split %v : tensor<12x2xi32> -> tensor<12xi32>
    %c = arith.constant dense<1000> : tensor<12xi32>
    %b1 = arith.addi %b, %c : tensor<12xi32>
    %j = tile.join %a, %b1 : tensor<12xi32> -> tensor<12x2xi32>
    %t = tile.trans %j [1, 0] : tensor<12x2xi32> -> tensor<2x12xi32>
    %r = tile.reshape %t : tensor<2x12xi32> -> tensor<24xi32>)");
  for (int k = 0; k < 12; ++k) {
    EXPECT_EQ(split[k], 2 * k);
    EXPECT_EQ(split[12 + k], 2 * k + 1 + 1000);
  }
}

TEST(Shape, ExpandUnsplatAndConstants) {
  auto r = move(6, R"(
    %one = arith.constant dense<[[7]]> : tensor<1x1xi32>
    %s = tile.unsplat %one : tensor<1x1xi32> -> i32
    %v = arith.constant dense<[10, 20]> : tensor<2xi32>
    %e = tile.expand_dims %v {axis = 1 : i32} : tensor<2xi32> -> tensor<2x1xi32>
    %b = tile.broadcast %e : tensor<2x1xi32> -> tensor<2x3xi32>
    %k = tile.splat %s : i32 -> tensor<2x3xi32>
    %sum = arith.addi %b, %k : tensor<2x3xi32>
    %h = tile.hint %sum {divisibility = array<i64: 1, 1>} : tensor<2x3xi32>
    %r = tile.reshape %h : tensor<2x3xi32> -> tensor<6xi32>)");
  EXPECT_EQ(r, (std::vector<int32_t>{17, 17, 17, 27, 27, 27}));
}

/// Layouts change nothing: neither encodings nor conversions between them.
TEST(Shape, EncodingsAreIgnored) {
  auto r = move(4, R"(
    %v = tile.make_range 5 to 9 : tensor<4xi32, #cta.layout<{register = [], lane = [[1], [2], [0], [0], [0]], warp = []} : [4]>>
    %c = cta.convert_layout %v : tensor<4xi32, #cta.layout<{register = [], lane = [[1], [2], [0], [0], [0]], warp = []} : [4]>> -> tensor<4xi32, #cta.layout<{register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = []} : [4]>>
    %d = cta.convert_layout %c : tensor<4xi32, #cta.layout<{register = [[1], [2]], lane = [[0], [0], [0], [0], [0]], warp = []} : [4]>> -> tensor<4xi32, #cta.layout<{register = [], lane = [[1], [2], [0], [0], [0]], warp = []} : [4]>>
    %e = tile.reshape %d : tensor<4xi32, #cta.layout<{register = [], lane = [[1], [2], [0], [0], [0]], warp = []} : [4]>> -> tensor<4xi32>
    %r = tile.reshape %e : tensor<4xi32> -> tensor<4xi32>)");
  EXPECT_EQ(r, (std::vector<int32_t>{5, 6, 7, 8}));
}

} // namespace
