//===- CpuDeviceTest.cpp - kernels from source on the CPU device ----------===//
#include "frontend/Parser.h"
#include "runtime/Device.h"
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace tile;
using namespace tile::runtime;

namespace {

/// A device, one source file, and what was reported.
struct Bench {
  explicit Bench(std::string text, bool check = true, bool throughPasses = false)
      : file("test.tile", std::move(text)) {
    CpuDeviceOptions options;
    options.check = check;
    options.throughPasses = throughPasses;
    device = createCpuDevice(options);
    module = frontend::parse(file, diagnostics);
  }
  std::unique_ptr<Kernel>
  prepare(const std::string &kernel,
          std::vector<std::pair<std::string, std::string>> constexprs = {}) {
    KernelRequest request;
    request.file = &file;
    request.module = &module;
    request.options.kernel = kernel;
    request.options.constexprs = std::move(constexprs);
    request.options.debug = true;
    return device->prepare(request, diagnostics);
  }
  template <class T> DevicePtr upload(const std::vector<T> &v) {
    DevicePtr p = allocate(v.size() * sizeof(T));
    EXPECT_FALSE(bool(device->upload(p, v.data(), v.size() * sizeof(T))));
    return p;
  }
  DevicePtr allocate(uint64_t bytes) {
    auto p = device->allocate(bytes);
    EXPECT_TRUE(bool(p));
    return *p;
  }
  template <class T> std::vector<T> download(DevicePtr p, size_t n) {
    std::vector<T> v(n);
    EXPECT_FALSE(bool(device->download(v.data(), p, n * sizeof(T))));
    return v;
  }
  bool launch(Kernel &kernel, uint32_t grid, std::vector<LaunchArg> args) {
    return device->launch(kernel, {{grid, 1, 1}, std::move(args)}, diagnostics);
  }

  frontend::SourceFile file;
  frontend::DiagnosticEngine diagnostics;
  ast::Module module;
  std::unique_ptr<Device> device;
};

const char *source = R"py(
import triton
import triton.language as tl

@triton.jit
def add(x: "*fp32", y: "*fp32", out: "*fp32", n: "i32", BLOCK: tl.constexpr = 128):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask)
    b = tl.load(y + offsets, mask)
    tl.store(out + offsets, a + b, mask)

@triton.jit
def softmax(x: "*fp32", out: "*fp32", columns: "i32", BLOCK: tl.constexpr = 64):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    v = tl.load(x + row * columns + column, mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + column, e / tl.sum(e, axis=0), mask)

@triton.jit
def unmasked(x: "*fp32", out: "*fp32"):
    o = tl.arange(0, 16)
    tl.store(out + o, tl.load(x + o))
)py";

TEST(CpuDevice, AddsVectors) {
  for (bool check : {true, false}) {
    Bench bench(source, check);
    auto kernel = bench.prepare("add");
    ASSERT_TRUE(kernel) << bench.diagnostics.str();
    EXPECT_EQ(kernel->metadata().entry, "add");
    ASSERT_EQ(kernel->metadata().params.size(), 4u);
    EXPECT_EQ(kernel->metadata().params[3].type, "i32");
    for (uint32_t n : {0, 1, 127, 128, 1000}) {
      std::vector<float> x(n), y(n, 0.5f);
      std::iota(x.begin(), x.end(), 1.0f);
      DevicePtr px = bench.upload(x), py = bench.upload(y), out = bench.allocate(n * 4);
      EXPECT_TRUE(bench.launch(*kernel, (n + 127) / 128,
                               {LaunchArg::pointer(px), LaunchArg::pointer(py),
                                LaunchArg::pointer(out), LaunchArg::integer(n)}))
          << bench.diagnostics.str();
      auto r = bench.download<float>(out, n);
      for (uint32_t k = 0; k < n; ++k)
        ASSERT_EQ(r[k], x[k] + 0.5f);
      EXPECT_FALSE(bool(bench.device->free(out)));
    }
  }
}

/// Checked, and once more on what the passes make of the kernel.
class CpuDeviceSoftmax : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(ThroughPasses, CpuDeviceSoftmax, testing::Bool());

TEST_P(CpuDeviceSoftmax, MatchesTheDefinition) {
  Bench bench(source, /*check=*/true, /*throughPasses=*/GetParam());
  auto kernel = bench.prepare("softmax");
  ASSERT_TRUE(kernel) << bench.diagnostics.str();
  const uint32_t rows = 7, columns = 50;
  std::vector<float> x(rows * columns);
  for (size_t k = 0; k < x.size(); ++k)
    x[k] = std::sin(float(k)) * 20;
  DevicePtr px = bench.upload(x), out = bench.allocate(x.size() * 4);
  ASSERT_TRUE(
      bench.launch(*kernel, rows,
                   {LaunchArg::pointer(px), LaunchArg::pointer(out), LaunchArg::integer(columns)}))
      << bench.diagnostics.str();
  auto r = bench.download<float>(out, x.size());
  for (uint32_t i = 0; i < rows; ++i) {
    double sum = 0, top = -INFINITY;
    for (uint32_t j = 0; j < columns; ++j)
      top = std::max(top, double(x[i * columns + j]));
    for (uint32_t j = 0; j < columns; ++j)
      sum += std::exp(x[i * columns + j] - top);
    for (uint32_t j = 0; j < columns; ++j)
      EXPECT_NEAR(r[i * columns + j], std::exp(x[i * columns + j] - top) / sum, 1e-6);
  }
}

TEST(CpuDevice, FindingsQuoteTheSource) {
  Bench bench(source);
  auto kernel = bench.prepare("unmasked");
  ASSERT_TRUE(kernel) << bench.diagnostics.str();
  DevicePtr x = bench.allocate(64), out = bench.allocate(40);
  EXPECT_FALSE(bench.launch(*kernel, 1, {LaunchArg::pointer(x), LaunchArg::pointer(out)}));
  std::string text = bench.diagnostics.str();
  EXPECT_NE(text.find("read of memory that nobody wrote"), std::string::npos) << text;
  EXPECT_NE(text.find("out-of-bounds write of 4 bytes: at byte 40 of `out`, which has 40 bytes"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("tl.store(out + o, tl.load(x + o))"), std::string::npos) << text;
}

TEST(CpuDevice, CompileErrorsAreReported) {
  Bench bench("import triton\n@triton.jit\ndef k(x: \"*fp32\"):\n    nowhere(x)\n");
  EXPECT_FALSE(bench.prepare("k"));
  EXPECT_NE(bench.diagnostics.str().find("nowhere"), std::string::npos) << bench.diagnostics.str();
}

TEST(CpuDevice, LaunchArgumentsAreChecked) {
  Bench bench(source);
  auto kernel = bench.prepare("unmasked");
  ASSERT_TRUE(kernel);
  EXPECT_FALSE(bench.launch(*kernel, 1, {LaunchArg::pointer(0)}));
  EXPECT_NE(bench.diagnostics.str().find("argument 1 of `unmasked` must be a pointer"),
            std::string::npos)
      << bench.diagnostics.str();
}

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(CpuDevice, MemoryIsGuarded) {
  Bench bench("", /*check=*/false);
  DevicePtr p = bench.allocate(10);
  EXPECT_EQ(p % 256, 0u);
  reinterpret_cast<uint8_t *>(p)[10] = 1;
  EXPECT_EQ(text(bench.device->free(p)), "something wrote past the end of a buffer of 10 bytes; "
                                         "run with checks to find out where");
  EXPECT_NE(text(bench.device->free(p)).find("has been freed"), std::string::npos);
  DevicePtr q = bench.allocate(10);
  EXPECT_EQ(text(bench.device->fill(q + 4, 0, 7)),
            "fill of 7 bytes at byte 4 of a buffer of 10 bytes");
  EXPECT_FALSE(bool(bench.device->fill(q + 4, 3, 6)));
  DevicePtr r = bench.allocate(6);
  EXPECT_FALSE(bool(bench.device->copy(r, q + 4, 6)));
  EXPECT_EQ(bench.download<uint8_t>(r, 6), std::vector<uint8_t>(6, 3));
}

TEST(CpuDevice, TimesTheBody) {
  Bench bench("");
  int calls = 0;
  TimingOptions options;
  options.warmupMilliseconds = options.repeatMilliseconds = 0;
  options.minimumRepeats = 3;
  auto timing = bench.device->time([&] { return ++calls, true; }, options);
  ASSERT_TRUE(bool(timing));
  EXPECT_EQ(timing->repeats, 3);
  EXPECT_EQ(calls, 4);
  auto failed = bench.device->time([] { return false; }, options);
  EXPECT_FALSE(bool(failed));
  llvm::consumeError(failed.takeError());
}

} // namespace
