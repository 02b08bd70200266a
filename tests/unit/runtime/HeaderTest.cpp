//===- HeaderTest.cpp - what the C++ headers ask of the C interface -------===//
//
// tile.hpp over functions of this file, which count: the sizes of a launch's arguments are known
// where it is written, so they are asked about once, and not again by each launch. And the values
// that jit.hpp passes on.
//
//===----------------------------------------------------------------------===//
#include "tile/jit.hpp"
#include "gtest/gtest.h"
#include <thread>

namespace {
struct Calls {
  std::atomic<int> sizes{0}, launches{0}, set{0};
} calls;
} // namespace

// A kernel of (*fp32, i32): handles are nothing but addresses here.
static tile_status checkPair(size_t first, const size_t *sizes, size_t count) {
  ++calls.sizes;
  const size_t expected[] = {8, 4};
  for (size_t i = 0; i < count; ++i)
    if (sizes[i] && first + i < 2 && sizes[i] != expected[first + i])
      return TILE_INVALID_ARGUMENT;
  return TILE_OK;
}

extern "C" {
const char *tile_last_error() { return "a value of another size"; }
void tile_function_destroy(tile_function *) {}
void tile_launch_destroy(tile_launch *) {}
tile_status tile_function_check_sizes(const tile_function *, const size_t *sizes, size_t count) {
  return checkPair(0, sizes, count);
}
tile_status tile_launch_check_sizes(const tile_launch *, size_t first, const size_t *sizes,
                                    size_t count) {
  return checkPair(first, sizes, count);
}
tile_status tile_function_launch(const tile_function *, void *, const uint32_t *,
                                 const void *const *, size_t, const tile_launch_options *) {
  ++calls.launches;
  return TILE_OK;
}
tile_status tile_launch_set_arguments(tile_launch *, const void *const *, size_t) {
  ++calls.set;
  return TILE_OK;
}
}

namespace {

class Header : public testing::Test {
protected:
  Header() { calls.sizes = calls.launches = calls.set = 0; }
  static tile::Function function() {
    static char handle;
    return tile::Function(reinterpret_cast<tile_function *>(&handle));
  }
  float *x = nullptr;
};

TEST_F(Header, SizesAreAskedOnceForAllLaunchesOfAKindOfArguments) {
  tile::Function scale = function();
  for (int i = 0; i < 100; ++i)
    scale.launch(nullptr, {1}, x, i);
  EXPECT_EQ(calls.launches, 100);
  EXPECT_EQ(calls.sizes, 1);
}

TEST_F(Header, EachFunctionIsAskedForItself) {
  tile::Function one = function(), other = function();
  one.launch(nullptr, {1}, x, 1);
  other.launch(nullptr, {1}, x, 1);
  EXPECT_EQ(calls.sizes, 2);
}

TEST_F(Header, ArgumentsOfOtherTypesAreAskedAbout) {
  tile::Function scale = function();
  scale.launch(nullptr, {1}, x, 1);
  EXPECT_THROW(scale.launch(nullptr, {1}, x, int64_t(1)), tile::Error);
  EXPECT_THROW(scale.launch(nullptr, {1}, x, int64_t(1)), tile::Error)
      << "what failed is asked again";
  EXPECT_EQ(calls.launches, 1);
  scale.launch(nullptr, {1}, x, 1);
  EXPECT_EQ(calls.sizes, 3) << "the first are still known";
}

TEST_F(Header, WhatIsKnownMovesWithTheFunction) {
  tile::Function first = function();
  first.launch(nullptr, {1}, x, 1);
  tile::Function second = std::move(first);
  second.launch(nullptr, {1}, x, 1);
  EXPECT_EQ(calls.sizes, 1);
  second = function();
  second.launch(nullptr, {1}, x, 1);
  EXPECT_EQ(calls.sizes, 2) << "another function";
}

TEST_F(Header, ThreadsMayLaunchOneFunction) {
  const tile::Function scale = function();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        scale.launch(nullptr, {1}, x, i);
        scale.launch(nullptr, {1}, x, unsigned(i));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(calls.launches, 8000);
}

TEST(JitHeader, EachValueIsWrittenWithItsKind) {
  const tile::detail::ValueList list(reinterpret_cast<const float *>(64), -3, uint64_t(1) << 63,
                                     0.5f, true, nullptr, "text");
  const tile_value *v = list.all;
  EXPECT_EQ(sizeof list.all / sizeof *v, 8u);
  EXPECT_TRUE(v[0].kind == TILE_VALUE_POINTER && v[0].dtype == TILE_FP32);
  EXPECT_EQ(v[0].as.pointer, reinterpret_cast<const void *>(64));
  EXPECT_TRUE(v[1].kind == TILE_VALUE_INT && v[1].as.integer == -3);
  EXPECT_TRUE(v[2].kind == TILE_VALUE_UINT && v[2].as.bits == uint64_t(1) << 63);
  EXPECT_TRUE(v[3].kind == TILE_VALUE_FLOAT && v[3].as.real == 0.5);
  EXPECT_TRUE(v[4].kind == TILE_VALUE_BOOL && v[4].as.bits == 1);
  EXPECT_EQ(v[5].kind, TILE_VALUE_NONE);
  EXPECT_TRUE(v[6].kind == TILE_VALUE_TEXT && std::string(v[6].as.text) == "text");
  for (const tile_value &value : list.all)
    for (uint8_t byte : value.reserved)
      EXPECT_EQ(byte, 0);
}

TEST_F(Header, APreparedLaunchIsAskedOnceForAllItsArguments) {
  static char handle;
  tile::Launch launch(reinterpret_cast<tile_launch *>(&handle));
  for (int i = 0; i < 100; ++i)
    launch.arguments(x, i);
  EXPECT_EQ(calls.set, 100);
  EXPECT_EQ(calls.sizes, 1);
  EXPECT_THROW(launch.arguments(x, 1.0), tile::Error);
  EXPECT_EQ(calls.set, 100);
}

} // namespace
