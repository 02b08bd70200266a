//===- ProgramTest.cpp - functions of whole tensors in the C interface ----===//
//
// The real compiler on the fake driver, which records what is launched.
//
//===----------------------------------------------------------------------===//
#include "CountAllocations.h"
#include "FakeCuda.h"
#include "tile/tile.hpp"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const char *const source = R"py(
import tile
import triton
import triton.language as tl

@tile.function
def norm(x: tensor["M, N"], weight: tensor["N"], eps: float):
    return x * tile.rsqrt((x * x).mean(axis=1, keepdim=True) + eps) * weight

@tile.function
def two(x: tensor["M, N", fp32]):
    y = tile.exp(x)
    return y.max(axis=1), y.sum(axis=0)

@tile.function
def chain(x: tensor["M, M"]):
    return (((x @ x) @ x) @ x) @ x

@tile.function
def part(x: tensor["N"]):
    return (x[4:] * 2).reshape(-1, 1)

@tile.function
def wrong(x: tensor["M, N"], y: tensor["M, K"]):
    return x + y

@triton.jit
def doubled(x, out, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2 + by, mask=i < n)

@tile.function
def by_hand(x: tensor["N", fp32]):
    out = tile.empty_like(x)
    doubled[(tile.cdiv(x.shape[0], 64),)](x, out, x.shape[0], 0.5, BLOCK=64)
    return out + x

@tile.function
def step(w: tensor["N", fp32], g: tensor["N", fp32]):
    w -= 0.1 * g

@tile.function
def joined(x: tensor["M, N, K", fp32], w: tensor["N*K, L", fp32]):
    return x.reshape(x.shape[0], -1) @ w
)py";

class Program : public testing::Test {
protected:
  Program() {
    cuda.reset();
    tile_compiler_options options;
    tile_compiler_options_init(&options);
    options.cache_dir = "";
    EXPECT_EQ(tile_compiler_create(&options, &compiler), TILE_OK);
  }
  ~Program() override {
    tile_program_destroy(program);
    tile_compiler_destroy(compiler);
  }

  tile_status compile(const char *function, const char *types = nullptr,
                      const char *mode = nullptr) {
    tile_program_options options;
    tile_program_options_init(&options);
    options.function = function;
    options.types = types;
    options.mode = mode;
    return tile_program_compile_buffer(compiler, "f.tile", source, strlen(source), &options,
                                       &program);
  }
  tile_status runNorm(int64_t rows, int64_t columns) {
    tile_tensor x = {memory, 2, {rows, columns}, {}}, w = {memory, 1, {columns}, {}};
    const void *arguments[] = {&x, &w, &eps};
    return tile_program_run(program, nullptr, arguments, 3, &out, 1, nullptr, 0);
  }
  tile_status runChain(void *to, void *stream = nullptr) {
    tile_tensor x = {memory, 2, {16, 16}, {}}, result = {to, 0, {}, {}};
    const void *arguments[] = {&x};
    return tile_program_run(program, stream, arguments, 1, &result, 1, workspace, sizeof workspace);
  }
  int kernelsCompiled() {
    tile_program_info info = {};
    info.size = sizeof info;
    EXPECT_EQ(tile_program_get_info(program, &info), TILE_OK);
    return info.kernels_compiled;
  }

  fakecuda::Control &cuda = *fakeCudaControl();
  tile_compiler *compiler = nullptr;
  tile_program *program = nullptr;
  float eps = 1e-6f;
  alignas(256) char memory[256] = {};
  alignas(256) char workspace[4096] = {};
  tile_tensor out = {memory, 0, {}, {}};
};

TEST_F(Program, RunsAsOneKernel) {
  ASSERT_EQ(compile("norm", "bf16"), TILE_OK) << tile_last_error();
  ASSERT_EQ(runNorm(1000, 4096), TILE_OK) << tile_last_error();
  ASSERT_EQ(cuda.launches.size(), 1u);
  EXPECT_EQ(cuda.launches[0].kernel, "norm");
  EXPECT_EQ(cuda.launches[0].grid[0], 1000u);
  EXPECT_EQ(cuda.allocatedBytes, 0u);
}

TEST_F(Program, SizesOfAKindShareAKernel) {
  ASSERT_EQ(compile("norm", "fp16"), TILE_OK) << tile_last_error();
  for (int64_t columns : {4096 - 16, 4096 - 32, 2048 + 16})
    ASSERT_EQ(runNorm(columns, columns), TILE_OK) << tile_last_error();
  EXPECT_EQ(kernelsCompiled(), 1);
  ASSERT_EQ(runNorm(7, 100), TILE_OK) << tile_last_error(); // several rows a program
  EXPECT_EQ(kernelsCompiled(), 2);
}

TEST_F(Program, NothingIsLaunchedForNoRows) {
  ASSERT_EQ(compile("norm"), TILE_OK) << tile_last_error();
  ASSERT_EQ(runNorm(0, 64), TILE_OK) << tile_last_error();
  EXPECT_TRUE(cuda.launches.empty());
}

TEST_F(Program, SaysTheShapesOfResultsAndTheWorkspace) {
  ASSERT_EQ(compile("two"), TILE_OK) << tile_last_error();
  tile_tensor x = {memory, 2, {3, 50}, {}};
  const void *arguments[] = {&x};
  tile_tensor result = {};
  const char *type = nullptr;
  ASSERT_EQ(tile_program_result(program, arguments, 1, 1, &result, &type), TILE_OK);
  EXPECT_EQ(result.rank, 1);
  EXPECT_EQ(result.shape[0], 50);
  EXPECT_STREQ(type, "fp32");
  size_t bytes = 0;
  ASSERT_EQ(tile_program_workspace(program, arguments, 1, &bytes), TILE_OK);
  EXPECT_EQ(bytes, 256u); // the sums of one part, 200, and what aligns them
  tile_tensor results[] = {out, out};
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 1, results, 2, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("256 are needed"));
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 1, results, 2, workspace, 256), TILE_OK)
      << tile_last_error();
  EXPECT_EQ(cuda.launches.size(), 2u);
}

TEST_F(Program, WhatLiesBetweenKernelsSharesMemory) {
  ASSERT_EQ(compile("chain"), TILE_OK) << tile_last_error();
  tile_tensor x = {memory, 2, {64, 64}, {}};
  const void *arguments[] = {&x};
  size_t bytes = 0;
  ASSERT_EQ(tile_program_workspace(program, arguments, 1, &bytes), TILE_OK);
  EXPECT_EQ(bytes, 2u * 64 * 64 * 4); // three arrays, of which two are needed at once
}

TEST_F(Program, WhatTheSizesMustBeIsCheckedAtTheCall) {
  ASSERT_EQ(compile("part"), TILE_OK) << tile_last_error();
  tile_tensor x = {memory, 1, {3}, {}};
  const void *arguments[] = {&x};
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 1, &out, 1, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(),
               "`part`: `4:N` of a dimension `N` does not lie in it, with N = 3");
  x.shape[0] = 10;
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 1, &out, 1, nullptr, 0), TILE_OK)
      << tile_last_error();
}

TEST_F(Program, ErrorsSayWhatDoesNotAgree) {
  EXPECT_EQ(compile("wrong"), TILE_COMPILE_ERROR);
  EXPECT_THAT(tile_last_error(), HasSubstr("f.tile:25:12: error: `+` of `x` of shape (M, N)"));
  EXPECT_EQ(compile("nrm"), TILE_COMPILE_ERROR);
  EXPECT_THAT(tile_last_error(), HasSubstr("there is `norm`, `two`, `chain`, `part`, `wrong`"));
  EXPECT_EQ(compile("norm", "half"), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "`types`: `half` is no type");

  ASSERT_EQ(compile("norm"), TILE_OK) << tile_last_error();
  tile_tensor x = {memory, 2, {3, 50}, {}}, w = {memory, 1, {49}, {}};
  const void *arguments[] = {&x, &w, &eps};
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 3, &out, 1, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("dimension 0 of `weight` is `N`, which is 50"));
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "argument 2, `eps`, is missing");
}

TEST_F(Program, ArgumentsThatAreNullAreRefused) {
  ASSERT_EQ(compile("norm"), TILE_OK) << tile_last_error();
  size_t bytes = 1;
  tile_tensor result = {};
  const void *missing[] = {nullptr, nullptr, nullptr};
  EXPECT_EQ(tile_program_workspace(program, nullptr, 3, &bytes), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "`arguments` is null");
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(tile_program_result(program, nullptr, 3, 0, &result, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "`arguments` is null");
  EXPECT_EQ(tile_program_run(program, nullptr, nullptr, 3, &out, 1, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "`arguments` is null");
  EXPECT_EQ(tile_program_workspace(program, nullptr, 0, &bytes), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("argument 0, `x`, is missing"));
  EXPECT_EQ(tile_program_workspace(program, missing, 3, &bytes), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("argument 0, `x`, is missing"));
}

TEST_F(Program, StridesAreTheCallers) {
  ASSERT_EQ(compile("norm"), TILE_OK) << tile_last_error();
  tile_tensor x = {memory, 2, {8, 512}, {1024, 1}}, w = {memory, 1, {512}, {}};
  const void *arguments[] = {&x, &w, &eps};
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 3, &out, 1, nullptr, 0), TILE_OK)
      << tile_last_error();
  ASSERT_EQ(runNorm(8, 512), TILE_OK);
  EXPECT_EQ(kernelsCompiled(), 2); // with gaps, and without
}

TEST_F(Program, WritesParametersInPlace) {
  ASSERT_EQ(compile("step"), TILE_OK) << tile_last_error();
  tile_tensor w = {memory, 1, {16}, {}}, g = {workspace, 1, {16}, {}};
  const void *arguments[] = {&w, &g};
  ASSERT_EQ(tile_program_run(program, nullptr, arguments, 2, nullptr, 0, nullptr, 0), TILE_OK)
      << tile_last_error();
  ASSERT_EQ(cuda.launches.size(), 1u);
  g.data = memory + 32;
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, nullptr, 0, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "`step`: `w` is written, and `g` lies in the same memory: give "
                                  "each its own, as `.clone()` does");
  g.data = memory + 64; // behind it
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, nullptr, 0, nullptr, 0), TILE_OK)
      << tile_last_error();
  w.strides[0] = 0;
  w.shape[0] = g.shape[0] = 1;
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, nullptr, 0, nullptr, 0), TILE_OK)
      << tile_last_error();
}

TEST_F(Program, LaunchesKernelsOfTheFile) {
  ASSERT_EQ(compile("by_hand"), TILE_OK) << tile_last_error();
  tile_tensor x = {memory, 1, {100}, {}};
  const void *arguments[] = {&x};
  size_t bytes = 0;
  ASSERT_EQ(tile_program_workspace(program, arguments, 1, &bytes), TILE_OK);
  EXPECT_EQ(bytes, 512u);
  ASSERT_EQ(tile_program_run(program, nullptr, arguments, 1, &out, 1, workspace, bytes), TILE_OK)
      << tile_last_error();
  ASSERT_EQ(cuda.launches.size(), 2u);
  EXPECT_EQ(cuda.launches[0].kernel, "doubled");
  EXPECT_EQ(cuda.launches[0].grid[0], 2u);
  x.strides[0] = 2;
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 1, &out, 1, workspace, bytes),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("`doubled` in line 35 is given a parameter whose "
                                           "elements have gaps between them"));
}

TEST_F(Program, OtherShapesOfArraysWithGapsAreCopied) {
  ASSERT_EQ(compile("joined"), TILE_OK) << tile_last_error();
  tile_tensor x = {memory, 3, {2, 3, 4}, {12, 4, 1}}, w = {memory, 2, {12, 8}, {}};
  const void *arguments[] = {&x, &w};
  size_t bytes = 1;
  ASSERT_EQ(tile_program_workspace(program, arguments, 2, &bytes), TILE_OK) << tile_last_error();
  EXPECT_EQ(bytes, 0u);
  ASSERT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, nullptr, 0), TILE_OK)
      << tile_last_error();
  EXPECT_EQ(cuda.launches.size(), 1u);
  x.strides[0] = 16;
  ASSERT_EQ(tile_program_workspace(program, arguments, 2, &bytes), TILE_OK) << tile_last_error();
  EXPECT_EQ(bytes, 256u);
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, nullptr, 0),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("the workspace has 0 bytes, and 256 are needed"));
  ASSERT_EQ(tile_program_run(program, nullptr, arguments, 2, &out, 1, workspace, bytes), TILE_OK)
      << tile_last_error();
  EXPECT_EQ(cuda.launches.size(), 3u);
  tile_program_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(tile_program_get_info(program, &info), TILE_OK) << tile_last_error();
  EXPECT_GE(info.num_kernels, 2);
}

TEST_F(Program, RepeatsARunAsOneGraph) {
  ASSERT_EQ(compile("chain", "fp32", "reduce-overhead"), TILE_OK) << tile_last_error();
  ASSERT_EQ(runChain(memory), TILE_OK) << tile_last_error();
  size_t kernels = cuda.launches.size();
  EXPECT_GT(kernels, 1u);
  EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), 0); // kernels are loaded first
  ASSERT_EQ(runChain(memory), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.numCalls("cuGraphInstantiateWithFlags"), 1);
  cuda.calls.clear();
  ASSERT_EQ(runChain(memory), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), 1);
  EXPECT_EQ(cuda.numCalls("cuLaunchKernelEx"), 0);
  ASSERT_EQ(cuda.launches.size(), 4 * kernels); // two runs, one of which was recorded before
  EXPECT_EQ(cuda.launches.back().parameters, cuda.launches[kernels - 1].parameters);
}

TEST_F(Program, ARepeatedRunAllocatesNothing) {
  ASSERT_EQ(compile("chain", "fp32", "reduce-overhead"), TILE_OK) << tile_last_error();
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(runChain(memory), TILE_OK) << tile_last_error();
  cuda.quiet = true;
  tile::test::Counts before = tile::test::counts();
  tile_status status = runChain(memory);
  tile::test::Counts after = tile::test::counts();
  cuda.quiet = false;
  EXPECT_EQ(status, TILE_OK);
  EXPECT_EQ(after.news, before.news);
  if (tile::test::countsMallocs())
    EXPECT_EQ(after.mallocs, before.mallocs);
}

TEST_F(Program, OtherRunsAreNotRepeated) {
  alignas(256) char other[256];
  ASSERT_EQ(compile("chain", "fp32", "reduce-overhead"), TILE_OK) << tile_last_error();
  for (int i = 0; i < 3; ++i)
    for (char *to : {memory, other}) // two that take turns are two graphs
      ASSERT_EQ(runChain(to), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.numCalls("cuGraphInstantiateWithFlags"), 2);
  int repeated = cuda.numCalls("cuGraphLaunch");
  tile_tensor x = {memory, 2, {8, 8}, {}}, result = {memory, 0, {}, {}};
  const void *arguments[] = {&x};
  ASSERT_EQ(
      tile_program_run(program, nullptr, arguments, 1, &result, 1, workspace, sizeof workspace),
      TILE_OK);
  EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), repeated); // of other sizes
  EXPECT_EQ(tile_program_run(program, nullptr, arguments, 1, &result, 1, workspace, 0),
            TILE_INVALID_ARGUMENT); // and nothing is repeated in a smaller workspace
  tile_program_destroy(std::exchange(program, nullptr));
  EXPECT_EQ(cuda.liveGraphs, 0);
}

TEST_F(Program, NothingIsRepeatedUnlessAskedFor) {
  ASSERT_EQ(compile("chain"), TILE_OK) << tile_last_error();
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(runChain(memory), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), 0);
  tile_program_destroy(std::exchange(program, nullptr));
  EXPECT_EQ(compile("chain", "fp32", "fast"), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(
      tile_last_error(),
      "`mode`: there is no `fast`; `default`, `reduce-overhead` and `max-autotune` are known");
}

TEST_F(Program, FromCpp) {
  ASSERT_EQ(compile("norm"), TILE_OK) << tile_last_error();
  tile::Program norm(std::exchange(program, nullptr));
  tile::Tensor x(memory, {4, 300}), w(memory, {300});
  EXPECT_THAT(norm.resultShape(0, x, w, eps), ElementsAre(4, 300));
  EXPECT_EQ(norm.workspace(x, w, eps), 0u);
  norm.run(nullptr, {tile::Tensor(memory)}, nullptr, 0, x, w, eps);
  EXPECT_EQ(cuda.launches.size(), 1u);
  EXPECT_THROW(norm.run(nullptr, {}, nullptr, 0, x, w, eps), tile::Error);
}

/// What tile.hpp knows of the types of arguments is said where they are wrong.
TEST_F(Program, LaunchesRefuseValuesOfAnotherSize) {
  const char *const text = R"py(
import triton
import triton.language as tl

@triton.jit
def scale(x: "*fp32:16", n: "i32", by: "fp32", one: "i32:1", BLOCK: tl.constexpr = 128):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, i < n) * by * one, i < n)
)py";
  // Not by tile::CompileOptions: the compiler, which is in this program, has a class of that name.
  tile_kernel *kernel = nullptr;
  tile::check(tile_compile_buffer(compiler, "scale.tile", text, strlen(text), nullptr, &kernel));
  tile::Function scale = tile::Kernel(kernel).load();
  auto *x = reinterpret_cast<float *>(4096);
  auto errorOf = [](auto launch) -> std::string {
    try {
      launch();
    } catch (const tile::Error &error) {
      EXPECT_EQ(error.status(), TILE_INVALID_ARGUMENT);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(errorOf([&] { scale.launch(nullptr, {1}, x, 100, 2.0f, nullptr); }), "");
  EXPECT_EQ(errorOf([&] { scale.launch(nullptr, {1}, uint64_t(4096), 100u, 2.0f, 1); }), "");
  EXPECT_THAT(errorOf([&] { scale.launch(nullptr, {1}, x, 100, 2.0, nullptr); }),
              HasSubstr("argument 2 of `scale` is a value of 8 bytes"));
  EXPECT_THAT(errorOf([&] { scale.launch(nullptr, {1}, x, size_t(100), 2.0f, nullptr); }),
              HasSubstr("argument 1 of `scale`"));
  EXPECT_THAT(errorOf([&] { scale.prepare().argument(0, 4096); }),
              HasSubstr("argument 0 of `scale` is a value of 4 bytes"));
  EXPECT_THAT(errorOf([&] { scale.prepare().arguments(x, 100, 2.0); }),
              HasSubstr("argument 2 of `scale`"));

  tile::check(compile("norm", "fp32"));
  tile::Program norm(std::exchange(program, nullptr));
  tile::Tensor rows(x, {4, 8}), weights(x, {8}), out(x);
  EXPECT_EQ(errorOf([&] { norm.run(nullptr, {out}, nullptr, 0, rows, weights, 1e-6f); }), "");
  EXPECT_EQ(errorOf([&] { norm.run(nullptr, {out}, nullptr, 0, rows, weights, 1e-6); }),
            "`eps` of `norm` is a number of 4 bytes, and the value given has 8 bytes");
  EXPECT_EQ(errorOf([&] { norm.workspace(1e-6f, rows, weights); }),
            "`x` of `norm` is a tensor (tile_tensor), and the value given has 4 bytes");
}

} // namespace
