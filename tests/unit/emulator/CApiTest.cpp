//===- CApiTest.cpp - the emulator through the C interface ----------------===//
#include "tile/tile.h"
#include "gtest/gtest.h"
#include <cstring>
#include <string>

namespace {

const std::string source = R"py(
import triton
import triton.language as tl

@triton.jit
def scale(x: "*fp32", out: "*fp32", by: "fp32", n: "i32", BLOCK: tl.constexpr = 128):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) * by, i < n)
)py";

struct Emulated {
  Emulated() {
    EXPECT_EQ(tile_emulator_create(nullptr, &emulator), TILE_OK);
    EXPECT_EQ(
        tile_emulator_load(emulator, "scale.tile", source.data(), source.size(), nullptr, &kernel),
        TILE_OK)
        << tile_last_error();
  }
  ~Emulated() {
    tile_emulated_destroy(kernel);
    tile_emulator_destroy(emulator);
  }
  float *floats(size_t n) {
    void *p = nullptr;
    EXPECT_EQ(tile_emulator_alloc(emulator, n * sizeof(float), &p), TILE_OK);
    return static_cast<float *>(p);
  }
  tile_emulator *emulator = nullptr;
  tile_emulated *kernel = nullptr;
};

TEST(CApiEmulator, RunsAKernelOnHostMemory) {
  Emulated e;
  const int32_t n = 200;
  float *x = e.floats(n), *out = e.floats(n), by = 3;
  for (int i = 0; i < n; ++i)
    x[i] = float(i);
  const uint32_t grid[3] = {2, 1, 1};
  const void *arguments[] = {&x, &out, &by, &n};
  ASSERT_EQ(tile_emulated_launch(e.kernel, grid, arguments, 4), TILE_OK) << tile_last_error();
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(out[i], 3.0f * float(i));
}

TEST(CApiEmulator, AFaultHasAReport) {
  Emulated e;
  float *x = e.floats(100), *out = e.floats(200), by = 3;
  std::memset(x, 0, 400);
  const int32_t n = 200;
  const uint32_t grid[3] = {2, 1, 1};
  const void *arguments[] = {&x, &out, &by, &n};
  EXPECT_EQ(tile_emulated_launch(e.kernel, grid, arguments, 4), TILE_KERNEL_FAULT);
  EXPECT_NE(std::string(tile_last_error()).find("past the end of a buffer of 400 bytes"),
            std::string::npos)
      << tile_last_error();
}

TEST(CApiEmulator, MissingArgumentsAreRefused) {
  Emulated e;
  const uint32_t grid[3] = {1, 1, 1};
  EXPECT_EQ(tile_emulated_launch(e.kernel, grid, nullptr, 0), TILE_INVALID_ARGUMENT);
}

TEST(CApiEmulator, CompileErrorsAreDiagnostics) {
  tile_emulator *emulator = nullptr;
  ASSERT_EQ(tile_emulator_create(nullptr, &emulator), TILE_OK);
  tile_emulated *kernel = nullptr;
  const char *text = "import triton\n@triton.jit\ndef k(x: \"*fp32\"):\n    y = z\n";
  EXPECT_EQ(tile_emulator_load(emulator, "k.tile", text, std::strlen(text), nullptr, &kernel),
            TILE_COMPILE_ERROR);
  EXPECT_EQ(kernel, nullptr);
  tile_emulator_destroy(emulator);
}

} // namespace
