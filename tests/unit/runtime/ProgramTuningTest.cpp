//===- ProgramTuningTest.cpp - `max-autotune` in the C interface ----------===//
//
// The real compiler on the fake driver: tests say how long each launch takes, and what it writes.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"
#include "tile/tile.hpp"
#include <array>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using testing::HasSubstr;

namespace {

const char *const source = R"py(
import tile
import triton
import triton.language as tl

@triton.jit
def take(out, table, at, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(table + tl.load(at + i, mask=i < n, other=0)), mask=i < n)

@tile.function
def norm(x: tensor["M, N", fp32], weight: tensor["N", fp32]):
    return x * tile.rsqrt((x * x).mean(axis=1, keepdim=True) + 1e-6) * weight

@tile.function
def step(w: tensor["N", fp32], g: tensor["N", fp32]):
    w -= 0.1 * g

@tile.function
def advance(at: tensor["N", int32], table: tensor["M", fp32]):
    at += 1
    out = tile.empty(at.shape, dtype=tl.float32)
    take[(1,)](out, table, at, at.shape[0], BLOCK=512)
    return out * 2

@tile.function
def product(x: tensor["M, K", fp16], y: tensor["K, N", fp16]):
    return x @ y
)py";

class ProgramTuning : public testing::Test {
protected:
  ProgramTuning() {
    cuda.reset();
    EXPECT_TRUE(mkdtemp(folder));
    open(folder);
  }
  ~ProgramTuning() override {
    for (void *one : allocated)
      tile_memory_free(nullptr, one);
    tile_program_destroy(program);
    tile_compiler_destroy(compiler);
    std::filesystem::remove_all(folder);
  }
  void open(const char *cache) {
    tile_program_destroy(std::exchange(program, nullptr));
    tile_compiler_destroy(compiler);
    tile_compiler_options ofCompiler;
    tile_compiler_options_init(&ofCompiler);
    ofCompiler.cache_dir = cache;
    EXPECT_EQ(tile_compiler_create(&ofCompiler, &compiler), TILE_OK);
  }
  void compile(const char *function) {
    tile_program_destroy(std::exchange(program, nullptr));
    options.function = function;
    options.mode = "max-autotune";
    ASSERT_EQ(
        tile_program_compile_buffer(compiler, "f.tile", source, strlen(source), &options, &program),
        TILE_OK)
        << tile_last_error();
  }
  float *memory(size_t bytes) {
    void *pointer = nullptr;
    EXPECT_EQ(tile_memory_alloc(nullptr, bytes, &pointer), TILE_OK);
    allocated.push_back(pointer);
    memset(pointer, 0, bytes);
    return static_cast<float *>(pointer);
  }
  void runNorm(int64_t rows, int64_t columns) {
    tile_tensor x = {data, 2, {rows, columns}, {}}, w = {data, 1, {columns}, {}};
    tile_tensor out = {data, 0, {}, {}};
    const void *arguments[] = {&x, &w};
    ASSERT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, nullptr, 0), TILE_OK)
        << tile_last_error();
  }
  /// Launches of a run.
  size_t launchesOf(int64_t rows, int64_t columns) {
    size_t before = cuda.launches.size();
    runNorm(rows, columns);
    return cuda.launches.size() - before;
  }

  fakecuda::Control &cuda = *fakeCudaControl();
  char folder[32] = "/tmp/tile-tuning-XXXXXX";
  tile_compiler *compiler = nullptr;
  tile_program *program = nullptr;
  tile_program_options options = [] {
    tile_program_options made;
    tile_program_options_init(&made);
    return made;
  }();
  std::vector<void *> allocated;
  alignas(256) char data[256] = {};
};

TEST_F(ProgramTuning, TheFastestCutsAreKept) {
  std::set<unsigned> threads;
  cuda.onLaunch = [&](const fakecuda::Launch &launch) { // the fewer threads, the faster
    threads.insert(launch.block[0]);
    cuda.launchMilliseconds = 0.001 * launch.block[0];
  };
  compile("norm");
  runNorm(1000, 4096);
  EXPECT_GT(threads.size(), 2u);
  EXPECT_EQ(cuda.launches.back().block[0], *threads.begin());
  // Nothing is measured twice, in no process; a run that comes again is recorded, and repeated.
  EXPECT_EQ(launchesOf(1000, 4096), 2u);
  compile("norm");
  EXPECT_EQ(launchesOf(1000, 4096), 1u);
  EXPECT_EQ(cuda.launches.back().block[0], *threads.begin());
  EXPECT_EQ(launchesOf(900, 4080), 1u) << "sizes of the same class";
}

TEST_F(ProgramTuning, OtherSizesAreMeasured) {
  compile("norm");
  runNorm(1000, 4096);
  EXPECT_GT(launchesOf(1000, 2048), 10u);
  EXPECT_EQ(launchesOf(1001, 2048), 1u);
}

TEST_F(ProgramTuning, RecordsAreForPeopleToo) {
  std::string path = std::string(folder) + "/records.jsonl";
  options.tuning_file = path.c_str();
  compile("norm");
  runNorm(1000, 4096);
  std::string line;
  std::ifstream file(path);
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_THAT(line, HasSubstr("\"kernel\":\"norm\""));
  EXPECT_THAT(line, HasSubstr("\"key\":\"M=897..1024, N=3585..4096:16; sm_90a\""));
  EXPECT_THAT(line, HasSubstr("num_warps"));
  open(""); // nothing is known but the file
  compile("norm");
  EXPECT_EQ(launchesOf(1000, 4096), 1u);
}

TEST_F(ProgramTuning, NothingIsTimedWhereThatIsAskedFor) {
  options.no_timing = 1;
  compile("norm");
  EXPECT_EQ(launchesOf(1000, 4096), 1u);
  EXPECT_EQ(cuda.numCalls("cuEventElapsedTime"), 0);
}

TEST_F(ProgramTuning, NothingIsMeasuredByDefault) {
  options.function = "norm";
  ASSERT_EQ(
      tile_program_compile_buffer(compiler, "f.tile", source, strlen(source), &options, &program),
      TILE_OK);
  EXPECT_EQ(launchesOf(1000, 4096), 1u);
}

TEST_F(ProgramTuning, WhatIsWrittenInPlaceIsPutBack) {
  float *weights = memory(1024), *gradient = memory(1024);
  compile("step");
  tile_tensor w = {weights, 1, {256}, {}}, g = {gradient, 1, {256}, {}};
  const void *arguments[] = {&w, &g};
  unsigned launches = 0;
  cuda.onLaunch = [&](const fakecuda::Launch &) { // each adds 1 to what the one before has left
    ++launches;
    for (int i = 0; i < 256; ++i)
      weights[i] += 1;
  };
  ASSERT_EQ(tile_program_run(program, nullptr, arguments, 2, nullptr, 0, nullptr, 0), TILE_OK)
      << tile_last_error();
  EXPECT_GT(launches, 10u);
  EXPECT_EQ(weights[0], 1);
  EXPECT_EQ(weights[255], 1);
  EXPECT_EQ(cuda.allocatedBytes, 2048u) << "what is measured in is given back";
}

static void *pointerOf(const std::string &parameter) {
  void *pointer = nullptr;
  EXPECT_EQ(parameter.size(), sizeof(pointer));
  memcpy(&pointer, parameter.data(), sizeof(pointer));
  return pointer;
}

/// A kernel that runs over and over must not find what it has left: indices that it counts up would
/// leave the table that the next one reads.
TEST_F(ProgramTuning, WhatIsMeasuredStartsFromTheSame) {
  auto *at = reinterpret_cast<int32_t *>(memory(2048));
  float *table = memory(4096), *results = memory(2048);
  compile("advance");
  tile_tensor indices = {at, 1, {512}, {}}, from = {table, 1, {1024}, {}};
  tile_tensor out = {results, 0, {}, {}};
  const void *arguments[] = {&indices, &from};
  size_t bytes = 0;
  ASSERT_EQ(tile_program_workspace(program, arguments, 2, &bytes), TILE_OK);
  float *workspace = memory(bytes);
  unsigned counts = 0, takes = 0;
  cuda.launchMilliseconds = 1;
  int32_t most = 0;
  cuda.onLaunch = [&](const fakecuda::Launch &launch) {
    if (launch.kernel == "take") {
      ++takes;
      most = std::max(most, static_cast<int32_t *>(pointerOf(launch.parameters[2]))[0]);
    } else if (takes == 0 || launch.parameters[0] == launch.parameters[1]) {
      ++counts;
      auto *read = static_cast<int32_t *>(pointerOf(launch.parameters[0]));
      static_cast<int32_t *>(pointerOf(launch.parameters[1]))[0] = read[0] + 1;
    }
  };
  ASSERT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, workspace, bytes), TILE_OK)
      << tile_last_error();
  EXPECT_GT(counts, 10u);
  EXPECT_EQ(takes, 2u);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(at[0], 1);
}

/// Gaps belong to others, who may write there at the same time: they are not put back.
TEST_F(ProgramTuning, WhatHasGapsIsNotMeasured) {
  float *weights = memory(4096), *gradient = memory(1024);
  compile("step");
  tile_tensor w = {weights, 1, {100}, {6}}, g = {gradient, 1, {100}, {}};
  const void *arguments[] = {&w, &g};
  ASSERT_EQ(tile_program_run(program, nullptr, arguments, 2, nullptr, 0, nullptr, 0), TILE_OK)
      << tile_last_error();
  EXPECT_EQ(cuda.launches.size(), 1u);
}

TEST_F(ProgramTuning, InnerDimensionsAreSharedAsIsFastest) {
  tile_tensor x = {data, 2, {16, 8192}, {}}, y = {data, 2, {8192, 4096}, {}},
              out = {data, 0, {}, {}};
  const void *arguments[] = {&x, &y};
  unsigned most = 0;
  cuda.onLaunch = [&](const fakecuda::Launch &launch) { // the more parts, the faster
    bool isSum = launch.kernel == "product" && !cuda.launches.empty() &&
                 cuda.launches.back().kernel == "product_parts";
    most = std::max(most, launch.grid[1]);
    cuda.launchMilliseconds = isSum ? 0.01 : 10.0 / launch.grid[1];
  };
  auto workspaceOf = [&] {
    size_t bytes = 0;
    EXPECT_EQ(tile_program_workspace(program, arguments, 2, &bytes), TILE_OK);
    return bytes;
  };
  ASSERT_EQ(tile_program_compile_buffer(compiler, "f.tile", source, strlen(source),
                                        &(options.function = "product", options), &program),
            TILE_OK);
  size_t least = workspaceOf();
  compile("product");
  size_t bytes = workspaceOf();
  EXPECT_GT(bytes, least);
  float *workspace = memory(bytes);
  auto partsWith = [&](size_t room) {
    EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, workspace, room), TILE_OK)
        << tile_last_error();
    return cuda.launches[cuda.launches.size() - 2].grid[1];
  };
  unsigned fastest = partsWith(bytes);
  EXPECT_GT(cuda.launches.size(), 10u);
  EXPECT_GT(fastest, 1u);
  EXPECT_EQ(fastest, most);
  EXPECT_LT(partsWith(least), fastest) << "what was enough for the model's parts";
}

TEST_F(ProgramTuning, InnerDimensionsAreSharedWhereThatIsFastest) {
  tile_tensor x = {data, 2, {16, 8192}, {}}, y = {data, 2, {8192, 256}, {}},
              out = {data, 0, {}, {}};
  const void *arguments[] = {&x, &y};
  unsigned most = 0;
  cuda.onLaunch = [&](const fakecuda::Launch &launch) { // the more parts, the faster
    most = std::max(most, launch.grid[1]);
    cuda.launchMilliseconds = 10.0 / launch.grid[1];
    if (launch.kernel == "product" && launch.block[0] == 128) // alone, or what adds them up
      cuda.launchMilliseconds = 0.01;
  };
  compile("product");
  size_t bytes = 0;
  ASSERT_EQ(tile_program_workspace(program, arguments, 2, &bytes), TILE_OK);
  float *workspace = memory(bytes);
  auto run = [&](size_t room) {
    size_t before = cuda.launches.size();
    EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, workspace, room), TILE_OK)
        << tile_last_error();
    return cuda.launches.size() - before;
  };
  EXPECT_GT(run(bytes), 10u);
  EXPECT_GT(most, 1u);
  EXPECT_GE(bytes, size_t(most) * 16 * 256 * 4);
}

TEST_F(ProgramTuning, WithoutMemoryToMeasureInNothingIs) {
  float *weights = memory(1024), *gradient = memory(1024);
  compile("step");
  tile_tensor w = {weights, 1, {256}, {}}, g = {gradient, 1, {256}, {}};
  const void *arguments[] = {&w, &g};
  cuda.failures["cuMemAlloc_v2"] = tile::cuda::Result::OutOfMemory;
  weights[3] = 5;
  tile_status status = tile_program_run(program, nullptr, arguments, 2, nullptr, 0, nullptr, 0);
  cuda.failures.clear();
  EXPECT_EQ(status, TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.launches.size(), 1u);
}

/// Many parts need memory for their sums; without it the others are measured all the same.
TEST_F(ProgramTuning, WhatThereIsNoMemoryForIsOutOfTheRace) {
  tile_tensor x = {data, 2, {256, 4096}, {}}, y = {data, 2, {4096, 1024}, {}},
              out = {data, 0, {}, {}};
  const void *arguments[] = {&x, &y};
  cuda.launchMilliseconds = 10;
  compile("product");
  size_t bytes = 0;
  ASSERT_EQ(tile_program_workspace(program, arguments, 2, &bytes), TILE_OK);
  float *workspace = memory(bytes);
  std::set<std::array<unsigned, 3>> measured;
  cuda.onLaunch = [&](const fakecuda::Launch &launch) {
    measured.insert({launch.grid[0], launch.grid[1], launch.block[0]});
    cuda.failures["cuMemAlloc_v2"] = tile::cuda::Result::OutOfMemory; // what is measured first fits
  };
  tile_status status = tile_program_run(program, nullptr, arguments, 2, &out, 1, workspace, bytes);
  cuda.failures.clear();
  EXPECT_EQ(status, TILE_OK) << tile_last_error();
  EXPECT_GT(measured.size(), 2u);
}

TEST_F(ProgramTuning, WhatIsRefusedIsNotMeasured) {
  float *all = memory(4096);
  tile_tensor x = {all, 1, {256}, {}}, y = {all, 1, {256}, {}}, out = {data, 0, {}, {}};
  const void *arguments[] = {&x, &y};
  compile("advance");
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("the workspace has 0 bytes"));
  compile("step");
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, nullptr, 0, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("lies in the same memory"));
  EXPECT_TRUE(cuda.launches.empty());
}

} // namespace
