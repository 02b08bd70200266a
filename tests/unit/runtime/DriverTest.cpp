//===- DriverTest.cpp - opening the driver, devices, contexts, memory -----===//
#include "TestSupport.h"
#include "runtime/Memory.h"
#include "target/Target.h"
#include <thread>

using namespace tile::test;
using tile::cuda::CudaApi;
using tile::cuda::Result;

namespace {

TEST(DriverOpen, NoLibrary) {
  ErrorParts error = errorOf(CudaApi::open("libcuda_that_is_not_there.so.1"));
  EXPECT_EQ(error.code, ErrorCode::NoDriver);
  EXPECT_THAT(error.message, HasSubstr("libcuda_that_is_not_there.so.1"));
  EXPECT_THAT(error.message, HasSubstr("running on the CPU work without it"));
}

TEST(DriverOpen, NotADriver) {
  ErrorParts error = errorOf(CudaApi::open("libm.so.6"));
  EXPECT_EQ(error.code, ErrorCode::NoDriver);
  EXPECT_THAT(error.message, HasSubstr("`libm.so.6` is not a CUDA driver"));
}

TEST(DriverOpen, MissingSymbolIsNamed) {
  ErrorParts error = errorOf(CudaApi::open(FAKE_CUDA_WITHOUT_LAUNCH));
  EXPECT_EQ(error.code, ErrorCode::DriverTooOld);
  EXPECT_THAT(error.message, HasSubstr("lacks the function `cuLaunchKernelEx`"));
}

using Driver = FakeDriverTest;

TEST_F(Driver, TooOld) {
  cuda.driverVersion = 11040;
  ErrorParts error = errorOf(CudaApi::open(FAKE_CUDA_LIBRARY));
  EXPECT_EQ(error.code, ErrorCode::DriverTooOld);
  EXPECT_THAT(error.message, HasSubstr("supports CUDA 11.4"));
  EXPECT_THAT(error.message, HasSubstr("at least CUDA 12.0 is needed"));
  cuda.driverVersion = 12000;
  EXPECT_EQ(valueOf(CudaApi::open(FAKE_CUDA_LIBRARY))->version(), 12000);
}

TEST_F(Driver, NoGpu) {
  cuda.deviceCount = 0;
  ErrorParts error = errorOf(CudaApi::open(FAKE_CUDA_LIBRARY));
  EXPECT_EQ(error.code, ErrorCode::NoDriver);
  EXPECT_THAT(error.message, HasSubstr("finds no GPU"));
  EXPECT_THAT(error.message, HasSubstr("CUDA_ERROR_NO_DEVICE"));
}

TEST_F(Driver, KernelModuleOfAnotherVersion) {
  cuda.failures["cuInit"] = Result::SystemDriverMismatch;
  ErrorParts error = errorOf(CudaApi::open(FAKE_CUDA_LIBRARY));
  EXPECT_EQ(error.code, ErrorCode::NoDriver);
  EXPECT_THAT(error.message, HasSubstr("reboot or reload"));
}

TEST_F(Driver, ErrorsNameTheCallAndTheReason) {
  ErrorParts error = errorOf(api.check(Result::IllegalAddress, "cuStreamSynchronize(stream)"));
  EXPECT_EQ(error.code, ErrorCode::Driver);
  EXPECT_EQ(error.result, Result::IllegalAddress);
  EXPECT_EQ(error.message, "cuStreamSynchronize: an illegal memory access was encountered "
                           "(CUDA_ERROR_ILLEGAL_ADDRESS)");
  EXPECT_EQ(errorOf(api.check(static_cast<Result>(12345), "cuInit(0)")).message,
            "cuInit: unknown error 12345");
}

TEST_F(Driver, DeviceProperties) {
  cuda.deviceCount = 2;
  DeviceInfo info = valueOf(DeviceInfo::query(api, 1));
  EXPECT_EQ(info.name, "Fake GPU 1");
  EXPECT_EQ(info.target(), "sm_90a");
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.sharedBytesPerBlockOptin, 232448);
  EXPECT_TRUE(info.clusterLaunch);

  cuda.computeMajor = 8, cuda.computeMinor = 9;
  EXPECT_EQ(valueOf(DeviceInfo::query(api, 0)).target(), "sm_89");
  ErrorParts error = errorOf(DeviceInfo::query(api, 2));
  EXPECT_EQ(error.message, "there is no device 2: the driver sees 2 devices");
}

TEST(TargetMismatch, Rules) {
  EXPECT_FALSE(tile::targetMismatch("sm_80", 90));
  EXPECT_FALSE(tile::targetMismatch("sm_90a", 90));
  EXPECT_FALSE(tile::targetMismatch("sm_100f", 103));
  EXPECT_THAT(*tile::targetMismatch("sm_90a", 100), HasSubstr("runs on sm_90 only"));
  EXPECT_THAT(*tile::targetMismatch("sm_90", 80), HasSubstr("needs sm_90 or newer"));
  EXPECT_THAT(*tile::targetMismatch("sm_100f", 120), HasSubstr("family"));
  EXPECT_THAT(*tile::targetMismatch("sm_100f", 90), HasSubstr("family"));
  for (const char *target : {"", "sm_", "sm_90x", "gfx90a", "sm_90aa"})
    EXPECT_THAT(*tile::targetMismatch(target, 90), HasSubstr("is not a target"));
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

TEST_F(Driver, PrimaryContextIsRetainedAndReleased) {
  {
    std::shared_ptr<Context> context = valueOf(Context::currentOrPrimary(api));
    EXPECT_EQ(cuda.retainedPrimaries, 1);
    EXPECT_EQ(context->device().ordinal, 0);
    EXPECT_EQ(currentContext(), nullptr) << "retaining must not make it current";
  }
  EXPECT_EQ(cuda.retainedPrimaries, 0);
}

TEST_F(Driver, CurrentContextIsPreferred) {
  tile::cuda::Context mine = fakeCudaCreateContext(0);
  {
    std::shared_ptr<Context> context = valueOf(Context::currentOrPrimary(api));
    EXPECT_EQ(context->handle(), mine);
    EXPECT_EQ(cuda.retainedPrimaries, 0);
  }
  EXPECT_EQ(currentContext(), mine);
  fakeCudaDestroyContext(mine);
}

TEST_F(Driver, ContextOfAnotherDevice) {
  cuda.deviceCount = 2;
  EXPECT_EQ(primary(1)->device().ordinal, 1);
  EXPECT_THAT(errorOf(Context::primary(api, 5)).message, HasSubstr("no device 5"));
  EXPECT_EQ(errorOf(Context::borrow(api, nullptr)).code, ErrorCode::InvalidArgument);
}

TEST_F(Driver, PrimaryContextFails) {
  cuda.failures["cuDevicePrimaryCtxRetain"] = Result::OutOfMemory;
  ErrorParts error = errorOf(Context::primary(api, 0));
  EXPECT_EQ(error.code, ErrorCode::OutOfMemory);
  EXPECT_THAT(error.message, HasSubstr("no context can be made on device 0"));
}

TEST_F(Driver, FailureAfterRetainingReleases) {
  cuda.failures["cuCtxGetDevice"] = Result::Unknown;
  errorOf(Context::primary(api, 0));
  EXPECT_EQ(cuda.retainedPrimaries, 0);
}

//===----------------------------------------------------------------------===//
// Memory, streams, events
//===----------------------------------------------------------------------===//

TEST_F(Driver, CopiesRoundTrip) {
  DeviceBuffer buffer = valueOf(DeviceBuffer::allocate(primary(), 16));
  const int values[4] = {1, 2, 3, 4};
  int back[4] = {};
  expectSuccess(buffer.upload(values, sizeof values));
  expectSuccess(buffer.download(back, sizeof back));
  EXPECT_THAT(back, testing::ElementsAre(1, 2, 3, 4));
  expectSuccess(buffer.fill(0xff));
  expectSuccess(buffer.download(back, 4, 12));
  EXPECT_EQ(back[0], -1);
}

TEST_F(Driver, CopiesAreChecked) {
  DeviceBuffer buffer = valueOf(DeviceBuffer::allocate(primary(), 16));
  char bytes[32] = {};
  EXPECT_THAT(errorOf(buffer.upload(bytes, 17)).message, HasSubstr("passes the end"));
  EXPECT_THAT(errorOf(buffer.download(bytes, 1, 16)).message, HasSubstr("passes the end"));
  EXPECT_THAT(errorOf(buffer.download(bytes, SIZE_MAX, 8)).message, HasSubstr("passes the end"));
}

TEST_F(Driver, EmptyBuffer) {
  DeviceBuffer buffer = valueOf(DeviceBuffer::allocate(primary(), 0));
  EXPECT_EQ(buffer.pointer(), 0u);
  expectSuccess(buffer.upload(nullptr, 0));
  expectSuccess(buffer.fill(1));
  EXPECT_EQ(cuda.numCalls("cuMemAlloc_v2"), 0);
}

TEST_F(Driver, OutOfMemorySaysHowMuch) {
  DeviceBuffer half = valueOf(DeviceBuffer::allocate(primary(), 32 << 20));
  ErrorParts error = errorOf(DeviceBuffer::allocate(primary(), 48 << 20));
  EXPECT_EQ(error.code, ErrorCode::OutOfMemory);
  EXPECT_EQ(error.message, "out of device memory: cannot allocate 48.0 MiB on Fake GPU 0: "
                           "32.0 MiB of 64.0 MiB are free");
}

TEST_F(Driver, MovedBuffersFreeOnce) {
  DeviceBuffer first = valueOf(DeviceBuffer::allocate(primary(), 16));
  DeviceBuffer second = std::move(first);
  first = valueOf(DeviceBuffer::allocate(primary(), 32));
  first = std::move(second);
  EXPECT_EQ(first.size(), 16u);
}

TEST_F(Driver, EventsMeasure) {
  std::shared_ptr<Context> context = primary();
  StreamHandle stream = valueOf(StreamHandle::create(context));
  EventHandle start = valueOf(EventHandle::create(context));
  EventHandle end = valueOf(EventHandle::create(context));
  expectSuccess(start.record(stream.handle()));
  cuda.clock += 2.5;
  expectSuccess(end.record(stream.handle()));
  expectSuccess(end.wait());
  EXPECT_DOUBLE_EQ(valueOf(EventHandle::elapsed(start, end)), 2.5);
}

TEST_F(Driver, WorksFromAThreadWithoutContext) {
  std::shared_ptr<Context> context = primary();
  std::thread([&] {
    DeviceBuffer buffer = valueOf(DeviceBuffer::allocate(context, 64));
    expectSuccess(buffer.fill(7));
    EXPECT_EQ(currentContext(), nullptr);
  }).join();
}

} // namespace
