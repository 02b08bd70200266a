//===- FailuresTest.cpp - every call of the driver fails in turn ----------===//
//
// A program's life with libtile, from its first allocation to its last: once whole, and then as
// often as it calls the driver, with one call more failing each time. Nothing may crash or be left
// behind, an error has a sentence, and the next life is whole again.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"
#include "MockCompiler.h"
#include "tile/jit.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

const char *const source = R"(# named by warps
import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2),
                          triton.Config({"BLOCK": 128}, num_warps=4)], key=["n"])
@triton.jit
def add(x, n, BLOCK: tl.constexpr):
    pass
)";

class Failures : public testing::Test {
protected:
  ~Failures() override { // what could not be given back is no leak of other tests
    cuda.liveModules = cuda.liveEvents = cuda.liveStreams = cuda.liveLinks = 0;
    cuda.allocatedBytes = 0;
    cuda.reset();
  }
  /// Notes a status, and goes on whatever it is.
  void note(tile_status status) {
    if (status == TILE_OK)
      return;
    ++errors;
    EXPECT_STRNE(tile_last_error(), "") << "an error without a sentence";
  }
  void live();
  void launchTuned(tile_compiler *compiler, void *memory);
  void launchCompiled(tile_compiler *compiler, void *memory);

  fakecuda::Control &cuda = *fakeCudaControl();
  unsigned errors = 0;
};

void Failures::launchTuned(tile_compiler *compiler, void *memory) {
  tile_compile_options compile;
  tile_compile_options_init(&compile);
  compile.kernel = "add";
  tile_jit_options options;
  tile_jit_options_init(&options);
  options.compile = &compile;
  tile_jit *jit = nullptr;
  note(tile_jit_create_buffer(compiler, "k.tile", source, strlen(source), &options, &jit));
  if (!jit)
    return;
  const uint32_t grid[3] = {1, 1, 1};
  for (int64_t n : {48, 48}) {
    const tile_value values[] = {tile_pointer(memory, TILE_FP32), tile_int(n)};
    note(tile_jit_launch(jit, nullptr, grid, values, 2, nullptr));
  }
  tile_jit_destroy(jit);
}

void Failures::launchCompiled(tile_compiler *compiler, void *memory) {
  tile_kernel *kernel = nullptr;
  note(tile_compile_buffer(compiler, "k.tile", "fine", 4, nullptr, &kernel));
  tile_function *function = nullptr;
  if (kernel)
    note(tile_function_load(kernel, nullptr, &function));
  tile_kernel_destroy(kernel);
  if (!function)
    return;
  const uint32_t grid[3] = {2, 3, 4};
  int32_t n = 5;
  float factor = 0.25f;
  const void *arguments[] = {&memory, &n, &factor};
  note(tile_function_launch(function, nullptr, grid, arguments, 3, nullptr));
  tile_function_destroy(function);
}

void Failures::live() {
  cuda.launchMilliseconds = 60; // few are timed
  tile_compiler_options options;
  tile_compiler_options_init(&options);
  options.cache_dir = "";
  tile_compiler *compiler = nullptr;
  note(tile_compiler_create(&options, &compiler));
  ASSERT_NE(compiler, nullptr);
  void *memory = nullptr;
  note(tile_memory_alloc(nullptr, 64, &memory));
  if (memory) {
    float numbers[16] = {};
    note(tile_memory_upload(nullptr, memory, numbers, sizeof numbers, nullptr));
    launchTuned(compiler, memory);
    launchCompiled(compiler, memory);
    note(tile_memory_download(nullptr, numbers, memory, sizeof numbers, nullptr));
    note(tile_synchronize(nullptr, nullptr));
    note(tile_memory_free(nullptr, memory));
  }
  tile_compiler_destroy(compiler);
}

/// What gives back, or finds out where to; where it fails something stays.
bool givesBack(llvm::StringRef symbol) {
  for (const char *word : {"Free", "Unload", "Destroy", "Release", "cuCtx"})
    if (symbol.contains(word))
      return true;
  return false;
}

TEST_F(Failures, EachCallInTurn) {
  cuda.reset();
  live();
  ASSERT_EQ(errors, 0u) << tile_last_error();
  size_t calls = cuda.calls.size(), reported = 0;
  ASSERT_GT(calls, 50u);
  std::vector<std::string> names = cuda.calls;
  std::map<std::string, unsigned> failures;
  for (size_t i = 0; i < calls; ++i) {
    if (++failures[names[i]] > 10 && i % 8) // the same again, mostly
      continue;
    int modules = cuda.liveModules, events = cuda.liveEvents;
    size_t bytes = cuda.allocatedBytes;
    cuda.reset();
    cuda.failingCall = i;
    errors = 0;
    live();
    if (cuda.calls.size() <= i) // what is asked once in a process has been
      break;
    std::string failed = cuda.calls[i];
    reported += errors != 0;
    if (!givesBack(failed)) {
      EXPECT_EQ(cuda.liveModules, modules) << failed << ", call " << i;
      EXPECT_EQ(cuda.liveEvents, events) << failed << ", call " << i;
      EXPECT_EQ(cuda.allocatedBytes, bytes) << failed << ", call " << i;
    }
    cuda.reset();
    errors = 0;
    live();
    EXPECT_EQ(errors, 0u) << "behind a failing " << failed << ", call " << i << ": "
                          << tile_last_error();
  }
  EXPECT_GT(reported, 20u) << "most failures matter to somebody";
}

} // namespace
