//===- AheadTest.cpp - kernels that were built ahead, on the fake driver --===//
//
// What `tilec build` wrote for ahead.tile and for the library's matmul, compiled as C, over
// libtile_rt. No compiler and nothing of LLVM is in this program.
//
//===----------------------------------------------------------------------===//
#include "ahead.h"
#include "CountAllocations.h"
#include "FakeCuda.h"
#include "matmul.h"
#include "recorded.h"
#include "together.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <list>
#include <thread>

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class Ahead : public testing::Test {
protected:
  Ahead() { cuda.reset(); }
  static const void *at(uint64_t address) { return reinterpret_cast<const void *>(address); }
  /// The kernel's parameters of the last launch that are `bytes` long.
  template <typename T> std::vector<T> parameters() const {
    std::vector<T> out;
    for (const std::string &text : cuda.launches.back().parameters)
      if (text.size() == sizeof(T)) {
        T value;
        memcpy(&value, text.data(), sizeof value);
        out.push_back(value);
      }
    return out;
  }
  fakecuda::Control &cuda = *fakeCudaControl();
};

TEST_F(Ahead, LaunchesTheVariantOfTheValues) {
  ASSERT_EQ(scale_launch(nullptr, nullptr, at(256), 300, 0.5, tile_int(128)), TILE_OK)
      << tile_rt_last_error();
  ASSERT_EQ(cuda.launches.size(), 1u);
  EXPECT_EQ(cuda.launches.back().kernel, "scale");
  EXPECT_THAT(cuda.launches.back().grid, ElementsAre(3, 1, 1));
  EXPECT_THAT(parameters<uint64_t>(), testing::Contains(256u));
  EXPECT_THAT(parameters<int32_t>(), testing::Contains(300));
  EXPECT_THAT(parameters<float>(), testing::Contains(0.5f));
  size_t withN = cuda.launches.back().parameters.size();
  // An n of 1 is a constant of its variant.
  ASSERT_EQ(scale_launch(nullptr, nullptr, at(256), 1, 0.5, tile_int(128)), TILE_OK);
  EXPECT_EQ(cuda.launches.back().parameters.size(), withN - 1);
  // Defaults may be left out; the grid may be given.
  const tile_value values[] = {tile_pointer(at(260), TILE_FP32), tile_int(48), tile_float(2)};
  const uint32_t grid[3] = {2, 3, 4};
  ASSERT_EQ(tile_rt_launch(&scale, nullptr, grid, values, 3, nullptr), TILE_OK)
      << tile_rt_last_error();
  EXPECT_THAT(cuda.launches.back().grid, ElementsAre(2, 3, 4));
  const uint32_t none[3] = {2, 0, 4};
  size_t before = cuda.launches.size();
  EXPECT_EQ(tile_rt_launch(&scale, nullptr, none, values, 3, nullptr), TILE_OK);
  EXPECT_EQ(cuda.launches.size(), before);
}

TEST_F(Ahead, WhatWasNotBuiltIsSaid) {
  const uint32_t grid[3] = {1, 1, 1};
  EXPECT_EQ(scale_launch(nullptr, grid, at(256), int64_t(1) << 40, 0.5, tile_int(128)),
            TILE_NO_COMPILE);
  EXPECT_THAT(tile_rt_last_error(),
              HasSubstr("`scale` was not built for `*fp32:16,i64:16,fp32 BLOCK=128`"));
  EXPECT_EQ(scale_launch(nullptr, nullptr, at(256), 3, 0.5, tile_int(64)), TILE_NO_COMPILE);
  const tile_value values[] = {tile_int(3), tile_int(48), tile_float(2)};
  EXPECT_EQ(tile_rt_launch(&scale, nullptr, nullptr, values, 3, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_rt_last_error(),
              HasSubstr("argument `x`: an integer is passed where a pointer"));
  EXPECT_EQ(tile_rt_launch(&scale, nullptr, nullptr, values, 1, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_EQ(tile_rt_launch(nullptr, nullptr, nullptr, values, 1, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_EQ(scale_launch(nullptr, nullptr, at(256), 3, 0.5, tile_int(0)), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("the grid of `scale` cannot be computed"));
  tile_rt_kernel old = scale;
  old.version = 0;
  EXPECT_EQ(tile_rt_launch(&old, nullptr, nullptr, values, 3, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("another version"));
}

TEST_F(Ahead, ConfigurationAndHeuristics) {
  ASSERT_EQ(fill_launch(nullptr, nullptr, at(256), 512), TILE_OK) << tile_rt_last_error();
  EXPECT_THAT(cuda.launches.back().grid, ElementsAre(2, 1, 1)) << "blocks of 256, as was asked for";
  EXPECT_THAT(cuda.launches.back().block, ElementsAre(256, 1, 1));
  ASSERT_EQ(fill_launch(nullptr, nullptr, at(256), 513), TILE_OK) << tile_rt_last_error();
  EXPECT_THAT(cuda.launches.back().grid, ElementsAre(3, 1, 1));
}

/// The programs of `tuned` that one launch has: they say which block was taken.
class AheadTuned : public Ahead {
protected:
  tile_rt_kernel fresh = tuned; // with nothing loaded
  unsigned programs(int64_t n, const char *mode = "one", uint64_t address = 256) {
    const tile_value values[] = {tile_pointer(at(address), TILE_FP32), tile_int(n),
                                 tile_text(mode)};
    EXPECT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK)
        << tile_rt_last_error();
    return cuda.launches.empty() ? 0 : cuda.launches.back().grid[0];
  }
  std::string best(int64_t n, const char *mode = "one") {
    const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(n), tile_text(mode)};
    const char *text = nullptr;
    EXPECT_EQ(tile_rt_best_config(&fresh, values, 3, &text), TILE_OK) << tile_rt_last_error();
    return text ? text : "";
  }
};

TEST_F(AheadTuned, NoConfigurationIsNamedWhereNoneIsFound) {
  fresh.state = nullptr;
  cuda.failures = {{"cuCtxGetDevice", tile::cuda::Result::Unknown}};
  const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(128), tile_text("one")};
  const char *text = "something";
  EXPECT_NE(tile_rt_best_config(&fresh, values, 3, &text), TILE_OK);
  EXPECT_EQ(text, nullptr);
}

TEST_F(AheadTuned, RecordsChooseByKey) {
  fresh.state = nullptr;
  EXPECT_EQ(programs(128), 2u) << "blocks of 64, as was tuned";
  EXPECT_EQ(programs(65536), 256u) << "blocks of 256";
  EXPECT_EQ(programs(65536, "two"), 1024u) << "of another mode, blocks of 64";
  // What was not tuned takes the nearest, by the ratio of numbers.
  EXPECT_EQ(programs(2816), 44u) << "22 times as many as 128, and 23 times fewer than 65536";
  EXPECT_EQ(programs(3072), 12u);
  EXPECT_EQ(programs(1), 1u);
  EXPECT_EQ(programs(1 << 20), 4096u);
  EXPECT_EQ(programs(128, "two"), 2u);
  EXPECT_EQ(best(128), "BLOCK: 64, num_warps: 2, num_stages: 3");
  EXPECT_EQ(best(65536), "BLOCK: 256, num_warps: 8, num_stages: 3");
  const char *text = nullptr;
  const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(3), tile_float(2)};
  EXPECT_EQ(tile_rt_best_config(&scale, values, 3, &text), TILE_OK);
  EXPECT_STREQ(text, "") << "it is not tuned";
  EXPECT_EQ(tile_rt_best_config(&fresh, values, 0, &text), TILE_INVALID_ARGUMENT);
}

TEST_F(AheadTuned, TheDeviceCountsFirst) {
  fresh.state = nullptr;
  cuda.computeMajor = 8, cuda.computeMinor = 0;
  EXPECT_EQ(programs(128), 1u)
      << "the other device of this capability was tuned for blocks of 1024";
  EXPECT_EQ(cuda.launches.back().block[0], 128u);
  // A newer chip takes PTX of sm_80, and the choices that go with it.
  fresh.state = nullptr;
  cuda.computeMajor = 12;
  EXPECT_EQ(programs(128), 1u);
}

TEST_F(AheadTuned, OnlyWhatCanBeChosenIsLoaded) {
  fresh.state = nullptr;
  int before = cuda.liveModules;
  ASSERT_EQ(tile_rt_load(&fresh), TILE_OK) << tile_rt_last_error();
  int all = cuda.liveModules - before;
  cuda.computeMajor = 8;
  fresh.state = nullptr;
  before = cuda.liveModules;
  ASSERT_EQ(tile_rt_load(&fresh), TILE_OK) << tile_rt_last_error();
  EXPECT_EQ(all, 2 * (cuda.liveModules - before)) << "two configurations, and one";
}

TEST_F(AheadTuned, WarmLaunchesNeitherAllocateNorLock) {
  fresh.state = nullptr;
  tile::cuda::Context own = fakeCudaCreateContext(0);
  const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(48), tile_text("two")};
  ASSERT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK);
  cuda.quiet = true;
  tile::test::Counts before = tile::test::counts();
  for (int i = 0; i < 100; ++i)
    if (tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr) != TILE_OK)
      ADD_FAILURE();
  tile::test::Counts after = tile::test::counts();
  cuda.quiet = false;
  EXPECT_EQ(after.news, before.news);
  EXPECT_EQ(after.mallocs, before.mallocs);
  EXPECT_EQ(after.locks, before.locks);
  fakeCudaDestroyContext(own);
}

TEST_F(AheadTuned, EveryDriverCallMayFail) {
  const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(48), tile_text("two")};
  for (const char *symbol : {"cuDeviceGetName", "cuDeviceGetAttribute", "cuCtxGetDevice"}) {
    fresh.state = nullptr;
    cuda.failures = {{symbol, tile::cuda::Result::OutOfMemory}};
    EXPECT_NE(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK) << symbol;
    cuda.failures.clear();
    EXPECT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK) << symbol;
  }
}

TEST_F(AheadTuned, MoreShapesThanAreKept) {
  fresh.state = nullptr;
  tile::cuda::Context own = fakeCudaCreateContext(0);
  cuda.quiet = true;
  for (int64_t n = 1; n < 20000; ++n) {
    const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(n), tile_text("one")};
    ASSERT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK);
  }
  cuda.quiet = false;
  EXPECT_EQ(programs(19999), 79u);
  EXPECT_EQ(programs(30000), 118u);
  fakeCudaDestroyContext(own);
}

TEST_F(Ahead, TensorMapsAndTheirFallback) {
  const uint32_t grid[3] = {16, 1, 1};
  auto launchOn = [&](int64_t rows, int64_t apart = 512) {
    return matmul_launch(nullptr, grid, at(4096), at(1 << 20), at(1 << 21), rows, 512, 512, apart,
                         1, 512, 1, 512, 1);
  };
  auto numMaps = [&] {
    size_t maps = 0;
    for (const std::string &text : cuda.launches.back().parameters)
      maps += text.size() == 128;
    return maps;
  };
  ASSERT_EQ(launchOn(512), TILE_OK) << tile_rt_last_error();
  EXPECT_GE(numMaps(), 2u) << "operands come by TMA on sm_90a";
  EXPECT_GE(cuda.numCalls("cuTensorMapEncodeTiled"), 2);
  // A row alone may be any distance from the next, and all rows may be one.
  for (auto [rows, apart] : {std::pair(1, 0), {1, 16}, {512, 0}}) {
    ASSERT_EQ(launchOn(rows, apart), TILE_OK) << tile_rt_last_error();
    EXPECT_GE(numMaps(), 2u) << rows << " rows, " << apart << " apart";
  }
  // Nothing in it: no map can describe that, and the other form runs.
  ASSERT_EQ(launchOn(0), TILE_OK) << tile_rt_last_error();
  EXPECT_EQ(numMaps(), 0u);
}

/// Four programs share a thread block where there are blocks for all multiprocessors; on small
/// grids each has its own, and without tensor maps, too.
TEST_F(Ahead, ProgramsShareBlocksThatFillTheDevice) {
  tile_rt_kernel fresh = weigh;
  fresh.state = nullptr;
  auto launchOn = [&](uint32_t programs, uint64_t address = 4096) {
    const tile_value values[] = {tile_pointer(at(address), TILE_FP16),
                                 tile_pointer(at(1 << 20), TILE_FP16),
                                 tile_pointer(at(1 << 21), TILE_FP32), tile_int(512)};
    const uint32_t grid[3] = {programs, 1, 1};
    EXPECT_EQ(tile_rt_launch(&fresh, nullptr, grid, values, 4, nullptr), TILE_OK)
        << tile_rt_last_error();
    const fakecuda::Launch &last = cuda.launches.back();
    return std::pair(last.grid[0], last.block[0]);
  };
  EXPECT_EQ(launchOn(4 * 132), std::pair(132u, 640u)) << "four programs and who copies for them";
  EXPECT_EQ(launchOn(4 * 132 - 1), std::pair(132u, 640u)) << "one of the last four is not there";
  EXPECT_THAT(parameters<int32_t>(), testing::Contains(4 * 132 - 1)) << "which they are told";
  EXPECT_EQ(launchOn(300), std::pair(300u, 128u)) << "at most three on each are through sooner";
  EXPECT_EQ(launchOn(1), std::pair(1u, 128u));
}

TEST_F(Ahead, LoopsLoadAheadWhereProgramsAreFew) {
  tile_rt_kernel fresh = decay;
  fresh.state = nullptr;
  auto sharedBytes = [&](uint32_t programs) {
    const tile_value values[] = {tile_pointer(at(4096), TILE_FP32),
                                 tile_pointer(at(1 << 20), TILE_FP32), tile_int(100)};
    const uint32_t grid[3] = {programs, 1, 1};
    EXPECT_EQ(tile_rt_launch(&fresh, nullptr, grid, values, 3, nullptr), TILE_OK)
        << tile_rt_last_error();
    EXPECT_EQ(cuda.launches.back().grid[0], programs);
    return cuda.launches.back().sharedBytes;
  };
  EXPECT_EQ(sharedBytes(4 * 132 + 1), 0u);
  EXPECT_GT(sharedBytes(4 * 132), 0u) << "four for each multiprocessor";
  EXPECT_GT(sharedBytes(1), 0u);
  EXPECT_EQ(sharedBytes(1000), 0u);
}

TEST_F(Ahead, WhatHasNoFormForFewProgramsGoesOnWithTheOther) {
  tile_rt_kernel fresh = decay;
  auto launch = [&] {
    const tile_value values[] = {tile_pointer(at(4096), TILE_FP32),
                                 tile_pointer(at(1 << 20), TILE_FP32), tile_int(100)};
    const uint32_t grid[3] = {2, 1, 1};
    cuda.calls.clear();
    EXPECT_EQ(tile_rt_launch(&fresh, nullptr, grid, values, 3, nullptr), TILE_OK)
        << tile_rt_last_error();
    return cuda.launches.back().sharedBytes;
  };
  fresh.state = nullptr;
  EXPECT_GT(launch(), 0u) << "the form for few programs";
  std::vector<std::string> calls = cuda.calls;
  auto first = std::find(calls.begin(), calls.end(), "cuModuleLoadDataEx");
  auto second = std::find(first + 1, calls.end(), "cuModuleLoadDataEx");
  ASSERT_NE(second, calls.end());
  int live = cuda.liveModules;
  for (auto call = second; call != calls.end() && *call != "cuLaunchKernelEx"; ++call) {
    fresh.state = nullptr;
    cuda.failingCall = size_t(call - calls.begin());
    EXPECT_EQ(launch(), 0u) << *call;
    EXPECT_EQ(cuda.liveModules, ++live) << "of the other nothing is left";
    cuda.failingCall = SIZE_MAX;
    EXPECT_EQ(launch(), 0u) << "nor is it tried again";
  }
}

// Whether a block fits a multiprocessor is asked by whoever loads ahead, and where a launch has
// failed for want of room.
TEST_F(Ahead, RoomIsMeasuredWhereItIsMissing) {
  tile_rt_kernel fresh = scale;
  fresh.state = nullptr;
  const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(48), tile_float(2)};
  const std::string asked = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
  auto count = [&] { return std::count(cuda.calls.begin(), cuda.calls.end(), asked); };
  auto before = count();
  cuda.failures = {{"cuLaunchKernelEx", tile::cuda::Result::LaunchOutOfResources}};
  EXPECT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_RESOURCES);
  EXPECT_EQ(count(), before + 1);
  cuda.failures = {{asked, tile::cuda::Result::OutOfMemory}};
  fresh.state = nullptr;
  EXPECT_NE(tile_rt_load(&fresh), TILE_OK);
  EXPECT_NE(std::string(tile_rt_last_error()).find("cannot load"), std::string::npos);
  cuda.failures.clear();
  before = count();
  fresh.state = nullptr;
  EXPECT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK);
  EXPECT_EQ(count(), before) << "no launch that works waits for it";
}

TEST_F(Ahead, WarmLaunchesNeitherAllocateNorLock) {
  const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(48), tile_float(2),
                               tile_int(128)};
  tile::cuda::Context own = fakeCudaCreateContext(0); // a program's own is current
  ASSERT_EQ(tile_rt_launch(&scale, nullptr, nullptr, values, 4, nullptr), TILE_OK);
  cuda.quiet = true;
  tile::test::Counts before = tile::test::counts();
  for (int i = 0; i < 100; ++i)
    if (tile_rt_launch(&scale, nullptr, nullptr, values, 4, nullptr) != TILE_OK)
      ADD_FAILURE();
  tile::test::Counts after = tile::test::counts();
  cuda.quiet = false;
  EXPECT_EQ(cuda.quietLaunches, 100u);
  EXPECT_EQ(after.news, before.news);
  EXPECT_EQ(after.mallocs, before.mallocs);
  EXPECT_EQ(after.locks, before.locks);
  fakeCudaDestroyContext(own);
}

TEST_F(Ahead, ThreadsLoadOnce) {
  tile_rt_kernel fresh = scale;
  fresh.state = nullptr;
  int before = cuda.liveModules;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(48), tile_float(2)};
      EXPECT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(cuda.liveModules, before + 1);
  EXPECT_EQ(tile_rt_load(&fresh), TILE_OK) << tile_rt_last_error();
  EXPECT_GT(cuda.liveModules, before + 1) << "all of them are loaded ahead";
}

TEST_F(Ahead, WhatSpillsALotIsAssembledAgain) {
  const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(48), tile_float(2)};
  auto levelsOf = [&](const std::string &more) {
    std::vector<tile_rt_variant> variants(scale.variants, scale.variants + scale.num_variants);
    std::vector<std::vector<tile_rt_code>> codes;
    std::list<std::string> texts;
    for (tile_rt_variant &variant : variants) {
      codes.emplace_back(variant.codes, variant.codes + variant.num_codes);
      for (tile_rt_code &code : codes.back())
        code.image = texts.emplace_back(static_cast<const char *>(code.image) + more).c_str();
      variant.codes = codes.back().data();
    }
    tile_rt_kernel fresh = scale;
    fresh.state = nullptr, fresh.variants = variants.data();
    int alive = cuda.liveModules;
    cuda.assemblerLevels.clear();
    EXPECT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK);
    EXPECT_EQ(cuda.liveModules, alive + 1);
    return cuda.assemblerLevels;
  };
  cuda.localBytes = 4096;
  EXPECT_THAT(levelsOf("\n"), ElementsAre(0));
  EXPECT_THAT(levelsOf("\n.reg .b64 %rd<500>;\n"), ElementsAre(0, 1));
  EXPECT_THAT(levelsOf("\n.minnctapersm 1\n"), ElementsAre(0, 0)) << "and the first is kept";
  cuda.unboundLocalBytes = 8;
  EXPECT_THAT(levelsOf("\n.minnctapersm 1\n"), ElementsAre(0, 0)) << "and the second is kept";
}

TEST_F(Ahead, TargetsAreChosenByTheDevice) {
  tile_rt_kernel fresh = scale;
  fresh.state = nullptr;
  const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(48), tile_float(2)};
  cuda.computeMajor = 7, cuda.computeMinor = 5;
  EXPECT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_UNSUPPORTED);
  EXPECT_THAT(tile_rt_last_error(), HasSubstr("not built for this device, which is of compute "
                                              "capability 7.5"));
  cuda.computeMajor = 12, cuda.computeMinor = 0;
  EXPECT_EQ(tile_rt_launch(&fresh, nullptr, nullptr, values, 3, nullptr), TILE_OK)
      << "PTX of sm_80 serves newer chips";
}

} // namespace
