//===- CApiTest.cpp - the emulator through the C interface ----------------===//
#include "tile/tile.h"
#include "llvm/Support/JSON.h"
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

/// What no GPU starts, the emulator does not either.
TEST(CApiEmulator, AGridBeyondTheHardware) {
  Emulated e;
  float *x = e.floats(1), *out = e.floats(1), by = 3;
  const int32_t n = 0;
  const void *arguments[] = {&x, &out, &by, &n};
  for (int axis : {1, 2}) {
    uint32_t grid[3] = {1, 1, 1};
    grid[axis] = 70000;
    EXPECT_EQ(tile_emulated_launch(e.kernel, grid, arguments, 4), TILE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tile_last_error()).find("at most 65535 are possible"), std::string::npos)
        << tile_last_error();
  }
}

TEST(CApiEmulator, AbsurdSizes) {
  Emulated e;
  void *memory = nullptr;
  EXPECT_EQ(tile_emulator_alloc(e.emulator, SIZE_MAX, &memory), TILE_OUT_OF_MEMORY);
  EXPECT_EQ(tile_emulator_alloc(e.emulator, SIZE_MAX / 4, &memory), TILE_OUT_OF_MEMORY);
  EXPECT_EQ(tile_emulator_free(e.emulator, &memory), TILE_INVALID_ARGUMENT);
  tile_emulated *kernel = nullptr;
  EXPECT_EQ(tile_emulator_load(e.emulator, "k", "x", SIZE_MAX, nullptr, &kernel),
            TILE_INVALID_ARGUMENT);
  EXPECT_EQ(kernel, nullptr);
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

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

const std::string product = R"py(
import triton
import triton.language as tl

@triton.jit
def product(a: "*fp16:16", b: "*fp16:16", c: "*fp32:16", M: "i32", N: "i32", K: "i32",
            stride_a: "i32:16", stride_b: "i32:16", BLOCK: tl.constexpr = 64):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, 64):
        k = start + tl.arange(0, 64)
        x = tl.load(a + m[:, None] * stride_a + k[None, :],
                    mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * stride_b + n[None, :],
                    mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))
)py";

/// Small integers as f16.
uint16_t half(int v) {
  unsigned magnitude = unsigned(v < 0 ? -v : v), sign = v < 0 ? 0x8000 : 0;
  if (!magnitude)
    return uint16_t(sign);
  unsigned exponent = 0;
  while (magnitude >> (exponent + 1))
    ++exponent;
  return uint16_t(sign | (exponent + 15) << 10 | ((magnitude << (10 - exponent)) & 0x3ff));
}

/// The launcher makes the maps that the kernel asks for, from these arguments.
TEST(CApiEmulator, TensorMapsAreMadeAtLaunch) {
  tile_emulator *emulator = nullptr;
  ASSERT_EQ(tile_emulator_create(nullptr, &emulator), TILE_OK);
  tile_emulated *kernel = nullptr;
  ASSERT_EQ(tile_emulator_load(emulator, "product.tile", product.data(), product.size(), nullptr,
                               &kernel),
            TILE_OK)
      << tile_last_error();
  // Ends of arrays within a box; rows with a gap behind them.
  const int32_t M = 70, N = 56, K = 136, strideA = 144, strideB = 64;
  void *memory[3];
  const size_t bytes[3] = {size_t(M * strideA) * 2, size_t(K * strideB) * 2, size_t(M * N) * 4};
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(tile_emulator_alloc(emulator, bytes[i], &memory[i]), TILE_OK);
  auto *a = static_cast<uint16_t *>(memory[0]), *b = static_cast<uint16_t *>(memory[1]);
  auto *c = static_cast<float *>(memory[2]);
  auto left = [](int m, int k) { return (m * 7 + k * 3) % 11 - 5; };
  auto right = [](int k, int n) { return (k * 5 + n) % 9 - 4; };
  for (int m = 0; m < M; ++m)
    for (int k = 0; k < strideA; ++k)
      a[m * strideA + k] = half(k < K ? left(m, k) : 1000);
  for (int k = 0; k < K; ++k)
    for (int n = 0; n < strideB; ++n)
      b[k * strideB + n] = half(n < N ? right(k, n) : 1000);
  const uint32_t grid[3] = {2, 1, 1};
  const void *arguments[] = {&a, &b, &c, &M, &N, &K, &strideA, &strideB};
  ASSERT_EQ(tile_emulated_launch(kernel, grid, arguments, 8), TILE_OK) << tile_last_error();
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      int sum = 0;
      for (int k = 0; k < K; ++k)
        sum += left(m, k) * right(k, n);
      ASSERT_EQ(c[m * N + n], float(sum)) << m << ", " << n;
    }
  // A map that says too much is found like any other access.
  const int32_t tooMany = 400;
  const void *wrong[] = {&a, &b, &c, &tooMany, &N, &K, &strideA, &strideB};
  const uint32_t more[3] = {7, 1, 1};
  EXPECT_EQ(tile_emulated_launch(kernel, more, wrong, 8), TILE_KERNEL_FAULT);
  EXPECT_NE(std::string(tile_last_error()).find("cp.async.bulk.tensor"), std::string::npos)
      << tile_last_error();
  tile_emulated_destroy(kernel);
  tile_emulator_destroy(emulator);
}

TEST(CApiEmulator, CountsWhatLaunchesDo) {
  tile_emulator_options options;
  tile_emulator_options_init(&options);
  options.counters = 1;
  tile_emulator *emulator = nullptr;
  ASSERT_EQ(tile_emulator_create(&options, &emulator), TILE_OK);
  tile_emulated *kernel = nullptr;
  ASSERT_EQ(
      tile_emulator_load(emulator, "scale.tile", source.data(), source.size(), nullptr, &kernel),
      TILE_OK);
  void *memory[2];
  for (void *&p : memory) {
    ASSERT_EQ(tile_emulator_alloc(emulator, 1024, &p), TILE_OK);
    std::memset(p, 0, 1024);
  }
  const int32_t n = 256;
  const float by = 2;
  const uint32_t grid[3] = {2, 1, 1};
  const void *arguments[] = {&memory[0], &memory[1], &by, &n};
  for (int launch = 0; launch < 3; ++launch)
    ASSERT_EQ(tile_emulated_launch(kernel, grid, arguments, 4), TILE_OK) << tile_last_error();
  size_t length = 0;
  std::string json = tile_emulator_counters(emulator, &length);
  EXPECT_EQ(json.size(), length);
  auto counted = llvm::json::parse(json);
  ASSERT_TRUE(bool(counted)) << json;
  const llvm::json::Object *kernels = counted->getAsObject()->getObject("kernels");
  ASSERT_TRUE(kernels && kernels->getObject("scale")) << json;
  EXPECT_EQ(kernels->getObject("scale")->getInteger("launches"), 3);
  EXPECT_EQ(kernels->getObject("scale")->getInteger("global_load_bytes"), 3 * 1024);
  EXPECT_EQ(counted->getAsObject()->getInteger("global_store_bytes"), 3 * 1024);
  tile_emulated_destroy(kernel);
  tile_emulator_destroy(emulator);
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
