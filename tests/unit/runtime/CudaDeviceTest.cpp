//===- CudaDeviceTest.cpp - Device.h on the fake driver -------------------===//
#include "runtime/CudaDevice.h"
#include "MockCompiler.h"
#include "TestSupport.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::test;

namespace {

class CudaDeviceTest : public FakeDriverTest {
protected:
  std::unique_ptr<Device> device(int ordinal = 0) {
    return valueOf(createCudaDevice(api, mockCompile, {ordinal, ""}));
  }
  /// Prepares a kernel of a source text.
  std::unique_ptr<Kernel> prepare(Device &device, const char *source) {
    files.push_back(std::make_unique<frontend::SourceFile>("k.tile", source));
    KernelRequest request;
    request.file = files.back().get();
    request.options.target = device.target();
    return device.prepare(request, diagnostics);
  }
  std::vector<std::unique_ptr<frontend::SourceFile>> files;
  frontend::DiagnosticEngine diagnostics;
};

TEST_F(CudaDeviceTest, Describes) {
  auto gpu = device();
  EXPECT_EQ(gpu->name(), "cuda:0");
  EXPECT_EQ(gpu->description(), "Fake GPU 0, 132 SMs, CUDA 12.4 driver");
  EXPECT_EQ(gpu->target(), "sm_90a");
  EXPECT_FALSE(gpu->isCpu());
  EXPECT_EQ(gpu->multiprocessorCount(), 132u);
  EXPECT_THAT(errorOf(createCudaDevice(api, mockCompile, {4, ""})).message,
              HasSubstr("no device 4"));
}

TEST_F(CudaDeviceTest, Memory) {
  auto gpu = device();
  DevicePtr a = valueOf(gpu->allocate(8)), b = valueOf(gpu->allocate(8));
  uint64_t value = 0x1122334455667788, back = 0;
  expectSuccess(gpu->upload(a, &value, 8));
  expectSuccess(gpu->fill(b, 0xee, 8));
  expectSuccess(gpu->copy(b, a, 4));
  expectSuccess(gpu->download(&back, b, 8));
  EXPECT_EQ(back, 0xeeeeeeee55667788u);
  expectSuccess(gpu->free(a));
  expectSuccess(gpu->free(b));
  EXPECT_EQ(errorOf(gpu->allocate(uint64_t(1) << 40)).code, ErrorCode::OutOfMemory);
}

TEST_F(CudaDeviceTest, LaunchesWithEveryKindOfArgument) {
  auto gpu = device();
  auto kernel = prepare(*gpu, "fine");
  ASSERT_TRUE(kernel) << diagnostics.str();
  EXPECT_EQ(kernel->metadata().entry, "scale");
  LaunchConfig config;
  config.grid = {4, 2, 1};
  config.args = {LaunchArg::pointer(0x100), LaunchArg::integer(uint64_t(-5)),
                 LaunchArg::real(0.75)};
  EXPECT_TRUE(gpu->launch(*kernel, config, diagnostics)) << diagnostics.str();
  const fakecuda::Launch &launch = cuda.launches.back();
  EXPECT_THAT(launch.grid, testing::ElementsAre(4, 2, 1));
  EXPECT_NE(launch.stream, nullptr);
  EXPECT_THAT(launch.parameters,
              testing::ElementsAre(bytesOf(uint64_t(0x100)), bytesOf(int32_t(-5)), bytesOf(0.75f)));
  expectSuccess(gpu->synchronize());
}

TEST_F(CudaDeviceTest, CompileErrorsKeepTheirPlace) {
  auto gpu = device();
  EXPECT_FALSE(prepare(*gpu, "x = error"));
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].range.begin, 4u);
  EXPECT_EQ(diagnostics.all()[0].file, files.back().get());
  EXPECT_FALSE(prepare(*gpu, "unsupported"));
  EXPECT_TRUE(diagnostics.all()[1].unsupported);
}

TEST_F(CudaDeviceTest, DriverErrorsAreReported) {
  auto gpu = device();
  EXPECT_FALSE(prepare(*gpu, "bad ptx"));
  EXPECT_THAT(diagnostics.str(), HasSubstr("rejects the kernel's PTX"));
  auto kernel = prepare(*gpu, "fine");
  LaunchConfig config; // no arguments
  EXPECT_FALSE(gpu->launch(*kernel, config, diagnostics));
  EXPECT_THAT(diagnostics.str(), HasSubstr("takes 3 arguments"));
}

TEST_F(CudaDeviceTest, PreparedTwiceLoadsOnce) {
  auto gpu = device();
  auto first = prepare(*gpu, "fine"), second = prepare(*gpu, "fine");
  EXPECT_EQ(cuda.liveModules, 1);
}

TEST_F(CudaDeviceTest, AChangedImportIsLoadedAnew) {
  TemporaryFolder folder;
  std::string imported = folder.path.str().str() + "/h.py";
  auto write = [&](const char *text) {
    std::error_code code;
    llvm::raw_fd_ostream(imported, code) << text;
  };
  write("V = 1");
  mockDependencies = {imported};
  auto gpu = device();
  auto first = prepare(*gpu, "fine"), same = prepare(*gpu, "fine");
  EXPECT_EQ(cuda.liveModules, 1);
  write("V = 2");
  auto second = prepare(*gpu, "fine");
  EXPECT_EQ(cuda.liveModules, 2) << "the first is still in use";
  mockDependencies.clear();
}

TEST_F(CudaDeviceTest, WhatIsLoadedIsNotForgotten) {
  auto context = primary();
  CompileService service(mockCompile, "", {.memoryBytes = 1});
  frontend::SourceFile file("k.tile", "fine");
  auto loaded = valueOf(service.share(valueOf(service.compile(file, {})))->loadOn(context));
  valueOf(service.compile(frontend::SourceFile("k.tile", "other"), {}));
  auto again = valueOf(service.share(valueOf(service.compile(file, {})))->loadOn(context));
  EXPECT_EQ(again, loaded);
  EXPECT_EQ(cuda.liveModules, 1);
}

TEST_F(CudaDeviceTest, TimesLaunches) {
  auto gpu = device();
  auto kernel = prepare(*gpu, "fine");
  cuda.kernelMilliseconds["scale"] = 0.5;
  LaunchConfig config;
  config.args = {LaunchArg::pointer(0), LaunchArg::integer(1), LaunchArg::real(1)};
  Timing timing = valueOf(
      gpu->time([&] { return gpu->launch(*kernel, config, diagnostics); }, TimingOptions()));
  EXPECT_NEAR(timing.median, 0.5, 1e-6);
  EXPECT_EQ(timing.repeats, 200);
}

} // namespace
