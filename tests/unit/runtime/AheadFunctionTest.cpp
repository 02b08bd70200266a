//===- AheadFunctionTest.cpp - functions that were built, on the fake driver =//
//
// What `tilec build` wrote for ahead_functions.tile, compiled as C, over libtile_rt. What its
// kernels compute is for the emulator (`tilec test --as-built`); here it is which of them are
// launched, with what, and what is refused.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"
#include "ahead_functions.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class AheadFunction : public testing::Test {
protected:
  AheadFunction() { cuda.reset(); }
  static tile_tensor tensor(std::vector<int64_t> shape, uint64_t address = 4096) {
    tile_tensor made = {reinterpret_cast<void *>(address), int32_t(shape.size()), {}, {}};
    std::copy(shape.begin(), shape.end(), made.shape);
    return made;
  }
  static tile_tensor at(uint64_t address) { return tensor({}, address); }
  tile_status runNorm(int64_t rows, int64_t columns, uint64_t address = 4096) {
    tile_tensor x = tensor({rows, columns}, address), w = tensor({columns}), out = at(8192);
    return norm_run(nullptr, &x, &w, 1e-6f, &out);
  }
  std::vector<std::string> launched() const {
    std::vector<std::string> names;
    for (const fakecuda::Launch &launch : cuda.launches)
      names.push_back(launch.kernel);
    return names;
  }
  /// The parameters of a launch that are `bytes` long.
  template <typename T> std::vector<T> parameters(size_t launch = 0) const {
    std::vector<T> out;
    for (const std::string &text : cuda.launches[launch].parameters)
      if (text.size() == sizeof(T)) {
        T value;
        memcpy(&value, text.data(), sizeof value);
        out.push_back(value);
      }
    return out;
  }
  fakecuda::Control &cuda = *fakeCudaControl();
};

TEST_F(AheadFunction, SizesAreOpen) {
  ASSERT_EQ(runNorm(1000, 4096), TILE_OK) << tile_rt_last_error();
  EXPECT_THAT(launched(), ElementsAre("norm"));
  EXPECT_EQ(cuda.launches[0].grid[0], 1000u);
  EXPECT_THAT(parameters<uint64_t>(), testing::IsSupersetOf({4096u, 8192u}));
  EXPECT_THAT(parameters<float>(), testing::Contains(1e-6f));
  EXPECT_EQ(cuda.allocatedBytes, 0u);
  for (int64_t columns : {1, 7, 100, 1000, 5000, 8192})
    for (int64_t rows : {1, 3, 512, 70000}) // more of them than the build was asked for
      EXPECT_EQ(runNorm(rows, columns), TILE_OK) << columns << ": " << tile_rt_last_error();
  // Rows that no block of what was built holds.
  EXPECT_EQ(runNorm(3, 300001), TILE_NO_COMPILE);
  EXPECT_STREQ(tile_rt_last_error(),
               "`norm` was not built for M = 3, N = 300001: give `tilec build` sizes like these "
               "(--argument NAME=LEAST..MOST)");
}

TEST_F(AheadFunction, CodeCountsOnWhatIsSo) {
  tile_rt_function fresh = norm;
  fresh.state = nullptr;
  auto loads = [&](int64_t columns, uint64_t address) {
    int before = cuda.liveModules;
    tile_tensor x = tensor({64, columns}, address), w = tensor({columns}), out = at(8192);
    float eps = 0;
    const void *arguments[] = {&x, &w, &eps};
    EXPECT_EQ(tile_rt_run(&fresh, nullptr, arguments, 3, &out, 1, nullptr, 0), TILE_OK)
        << tile_rt_last_error();
    return cuda.liveModules != before;
  };
  EXPECT_TRUE(loads(4096, 4096)) << "blocks fit";
  EXPECT_TRUE(loads(4080, 4096)) << "multiples of 16";
  EXPECT_TRUE(loads(4095, 4096)) << "anything";
  EXPECT_FALSE(loads(4096, 4098)) << "the same, for an address";
  EXPECT_FALSE(loads(4032, 8192)) << "multiples again";
}

TEST_F(AheadFunction, ShapesAreChecked) {
  tile_tensor x = tensor({4, 8}), w = tensor({9}), out = at(8192);
  EXPECT_EQ(norm_run(nullptr, &x, &w, 0, &out), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_rt_last_error(),
               "dimension 0 of `weight` is `N`, which is 8, but has size 9: `weight` is (N,), and "
               "has the shape (9,); `x` is (M, N), and has the shape (4, 8)");
  w = tensor({8, 1});
  EXPECT_EQ(norm_run(nullptr, &x, &w, 0, &out), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("`weight` of `norm` has 1 dimension, (N,), got"));
  w = tensor({8});
  x.strides[0] = 16, x.strides[1] = 1;
  EXPECT_EQ(norm_run(nullptr, &x, &w, 0, &out), TILE_UNSUPPORTED);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("`x` has gaps between its elements"));
  x.strides[0] = 8;
  EXPECT_EQ(norm_run(nullptr, &x, &w, 0, &out), TILE_OK) << tile_rt_last_error();
  out.data = nullptr;
  EXPECT_EQ(norm_run(nullptr, &x, &w, 0, &out), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_rt_last_error(), "result 0 has no data");
  EXPECT_EQ(norm_run(nullptr, &x, &w, 0, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_rt_last_error(), "result 0 has no data");
  const void *none[] = {&x, &w};
  EXPECT_EQ(tile_rt_run(&norm, nullptr, none, 2, &out, 1, nullptr, 0), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_rt_last_error(), "`norm` takes 3 arguments; 2 passed");
  tile_rt_function old = norm;
  old.version = 0;
  EXPECT_EQ(tile_rt_run(&old, nullptr, none, 2, &out, 1, nullptr, 0), TILE_INVALID_ARGUMENT);
  tile_tensor shorter = tensor({3});
  EXPECT_EQ(tail_run(nullptr, &shorter, &out), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr(", with N = 3"));
}

TEST_F(AheadFunction, FormulasAreSolvedForTheirNames) {
  tile_tensor x = tensor({5, 12}), most = {}, sums = {};
  ASSERT_EQ(halves_shapes(&x, 2, &most, &sums), TILE_OK) << tile_rt_last_error();
  EXPECT_EQ(most.rank, 1);
  EXPECT_EQ(most.shape[0], 5);
  EXPECT_EQ(sums.shape[0], 6);
  EXPECT_EQ(sums.strides[0], 1);
  x = tensor({5, 13});
  EXPECT_EQ(halves_shapes(&x, 2, &most, &sums), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_rt_last_error(),
              HasSubstr("dimension 1 of `x` is `2*K`, which is 12, but has size 13"));
}

TEST_F(AheadFunction, WhatLiesBetweenKernelsIsPlanned) {
  tile_tensor x = tensor({100, 100}), out = at(1 << 20);
  const void *arguments[] = {&x};
  size_t bytes = 0;
  ASSERT_EQ(tile_rt_workspace(&cubed, arguments, 1, &bytes), TILE_OK) << tile_rt_last_error();
  EXPECT_GE(bytes, 100u * 100 * 2);
  EXPECT_EQ(bytes % 256, 0u);
  ASSERT_EQ(tile_rt_run(&cubed, nullptr, arguments, 1, &out, 1,
                        reinterpret_cast<void *>(uint64_t(1) << 21), bytes),
            TILE_OK)
      << tile_rt_last_error();
  ASSERT_GE(cuda.launches.size(), 2u);
  size_t numKernels = cuda.launches.size();
  EXPECT_EQ(cuda.allocatedBytes, 0u);
  EXPECT_EQ(tile_rt_run(&cubed, nullptr, arguments, 1, &out, 1,
                        reinterpret_cast<void *>(uint64_t(1) << 21), bytes - 1),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("are needed: see tile_rt_workspace"));
  EXPECT_EQ(
      tile_rt_run(&cubed, nullptr, arguments, 1, &out, 1, reinterpret_cast<void *>(128), bytes),
      TILE_INVALID_ARGUMENT);
  // Without one it is the stream's meanwhile.
  ASSERT_EQ(cubed_run(nullptr, &x, &out), TILE_OK) << tile_rt_last_error();
  EXPECT_EQ(cuda.launches.size(), 2 * numKernels);
  EXPECT_THAT(cuda.calls, testing::Contains("cuMemAllocAsync"));
  EXPECT_THAT(cuda.calls, testing::Contains("cuMemFreeAsync"));
  EXPECT_EQ(cuda.allocatedBytes, 0u) << "and is given back";
}

TEST_F(AheadFunction, SeveralResults) {
  tile_tensor x = tensor({1000, 200}), most = at(1 << 20), sums = at(1 << 21);
  ASSERT_EQ(halves_run(nullptr, &x, 3, &most, &sums), TILE_OK) << tile_rt_last_error();
  EXPECT_GE(cuda.launches.size(), 2u) << "columns are added up in parts";
  EXPECT_THAT(parameters<int32_t>(), testing::Contains(3));
}

TEST_F(AheadFunction, ParametersAreWrittenInPlace) {
  tile_tensor w = tensor({1000}, 4096), g = tensor({1000}, 65536);
  ASSERT_EQ(step_run(nullptr, &w, &g, 0.1f), TILE_OK) << tile_rt_last_error();
  EXPECT_THAT(launched(), ElementsAre("step"));
  EXPECT_THAT(parameters<uint64_t>(), testing::IsSupersetOf({4096u, 65536u}));
  g = tensor({1000}, 4096 + 1000);
  EXPECT_EQ(step_run(nullptr, &w, &g, 0.1f), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("`w` is written, and `g` lies in the same memory"));
}

TEST_F(AheadFunction, KernelsOfTheFileAreLaunchedInOrder) {
  tile_tensor x = tensor({130}), out = at(1 << 20);
  ASSERT_EQ(by_hand_run(nullptr, &x, &out), TILE_OK) << tile_rt_last_error();
  ASSERT_EQ(cuda.launches.size(), 2u);
  EXPECT_EQ(cuda.launches[0].kernel, "doubled");
  EXPECT_EQ(cuda.launches[0].grid[0], 3u);
  EXPECT_THAT(parameters<int32_t>(), testing::Contains(130));
  EXPECT_THAT(parameters<float>(), testing::Contains(0.5f));
}

TEST_F(AheadFunction, NothingIsLaunchedForNoElements) {
  ASSERT_EQ(runNorm(0, 4096), TILE_OK) << tile_rt_last_error();
  EXPECT_TRUE(cuda.launches.empty());
  tile_tensor x = tensor({0, 200}), most = at(1 << 20), sums = at(1 << 21);
  EXPECT_EQ(halves_run(nullptr, &x, 3, &most, &sums), TILE_OK) << "sums of no rows are 0";
  tile_tensor row = tensor({5, 1}), none = tensor({5, 0});
  EXPECT_EQ(both_run(nullptr, &row, &none, &most, &sums), TILE_NO_COMPILE);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("not built for tensors without elements"));
}

TEST_F(AheadFunction, TargetsAreChosenByTheDevice) {
  tile_rt_function fresh = norm;
  fresh.state = nullptr;
  tile_tensor x = tensor({4, 64}), w = tensor({64}), out = at(8192);
  float eps = 0;
  const void *arguments[] = {&x, &w, &eps};
  cuda.computeMajor = 7, cuda.computeMinor = 5;
  EXPECT_EQ(tile_rt_run(&fresh, nullptr, arguments, 3, &out, 1, nullptr, 0), TILE_UNSUPPORTED);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("compute capability 7.5"));
  cuda.computeMajor = 12, cuda.computeMinor = 0;
  EXPECT_EQ(tile_rt_run(&fresh, nullptr, arguments, 3, &out, 1, nullptr, 0), TILE_OK)
      << "PTX of sm_80 serves newer chips: " << tile_rt_last_error();
}

} // namespace
