//===- KernelTest.cpp - loading kernels through the fake driver -----------===//
#include "KernelTest.h"
#include "runtime/Cache.h"
#include <gmock/gmock.h>

using namespace tile;
using namespace tile::test;
using tile::cuda::Result;

namespace {

TEST_F(KernelTest, LoadsOncePerContext) {
  SharedKernel kernel(share(scale()));
  std::shared_ptr<Context> context = primary();
  std::vector<std::shared_ptr<LoadedKernel>> loaded(8);
  std::vector<std::thread> threads;
  for (auto &slot : loaded)
    threads.emplace_back([&] { slot = valueOf(kernel.loadOn(context)); });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &each : loaded)
    EXPECT_EQ(each, loaded[0]);
  EXPECT_EQ(cuda.numCalls("cuModuleLoadDataEx"), 1);

  tile::cuda::Context mine = fakeCudaCreateContext(0);
  std::shared_ptr<LoadedKernel> other = valueOf(kernel.loadOn(valueOf(Context::borrow(api, mine))));
  EXPECT_NE(other, loaded[0]);
  EXPECT_EQ(cuda.numCalls("cuModuleLoadDataEx"), 2);
  other.reset();
  fakeCudaDestroyContext(mine);
}

TEST_F(KernelTest, UnloadsWhenNobodyHoldsIt) {
  SharedKernel kernel(share(scale()));
  std::shared_ptr<Context> context = primary();
  valueOf(kernel.loadOn(context));
  EXPECT_EQ(cuda.liveModules, 0);
  valueOf(kernel.loadOn(context));
  EXPECT_EQ(cuda.numCalls("cuModuleLoadDataEx"), 2);
}

TEST_F(KernelTest, RejectedPtxQuotesTheLine) {
  CompiledKernel kernel = scale();
  kernel.ptx += ".file 1 \"scale.tile\"\n.loc 1 12 5\n  BAD_INSTRUCTION.f32 %f1;\n";
  ErrorParts error = loadError(kernel);
  EXPECT_EQ(error.code, ErrorCode::PtxRejected);
  EXPECT_THAT(error.message, HasSubstr("cannot load `scale`: the CUDA driver rejects the kernel's "
                                       "PTX: a PTX JIT compilation failed"));
  EXPECT_THAT(error.message, HasSubstr("error: Not a name of any known instruction"));
  EXPECT_THAT(error.message, HasSubstr("|   BAD_INSTRUCTION.f32 %f1;"));
  EXPECT_THAT(error.message, HasSubstr("from scale.tile:12:5"));
}

TEST_F(KernelTest, PtxNewerThanTheDriver) {
  CompiledKernel kernel = scale();
  kernel.ptx.replace(kernel.ptx.find("8.0"), 3, "8.7");
  ErrorParts error = loadError(kernel);
  EXPECT_EQ(error.code, ErrorCode::PtxRejected);
  EXPECT_THAT(error.message, HasSubstr("this driver supports CUDA 12.4 and the PTX needs CUDA "
                                       "12.8: update the driver"));
}

TEST_F(KernelTest, OutOfMemoryWhileLoading) {
  cuda.failures["cuModuleLoadDataEx"] = Result::OutOfMemory;
  EXPECT_EQ(loadError(scale()).code, ErrorCode::OutOfMemory);
}

TEST_F(KernelTest, WrongTargetIsRefusedBeforeTheDriverSeesIt) {
  cuda.computeMajor = 8;
  ErrorParts error = loadError(scale());
  EXPECT_EQ(error.code, ErrorCode::Unsupported);
  EXPECT_THAT(error.message, HasSubstr("code for sm_90a runs on sm_90 only, and this device is "
                                       "sm_80"));
  EXPECT_EQ(cuda.numCalls("cuModuleLoadDataEx"), 0);
}

TEST_F(KernelTest, EntryNotInTheModule) {
  CompiledKernel kernel = scale();
  kernel.metadata.entry = "other";
  EXPECT_THAT(loadError(kernel).message, HasSubstr("no kernel named `other`"));
}

TEST_F(KernelTest, SharedMemoryBeyondTheDefault) {
  CompiledKernel kernel = scale();
  kernel.metadata.sharedBytes = 48 * 1024;
  load(kernel);
  EXPECT_TRUE(cuda.functionAttributes.empty());
  kernel.metadata.sharedBytes = 200 * 1024;
  auto loaded = load(kernel);
  EXPECT_EQ(cuda.functionAttributes["scale/8"], 200 * 1024);
  expectSuccess(loaded->launch(nullptr, one, arguments));
  EXPECT_EQ(last().sharedBytes, 200u * 1024);
  kernel.metadata.sharedBytes = 232449;
  ErrorParts error = loadError(kernel);
  EXPECT_EQ(error.code, ErrorCode::Resources);
  EXPECT_EQ(error.message, "`scale` needs 232449 bytes of shared memory a block, and Fake GPU 0 "
                           "allows 232448");
}

TEST_F(KernelTest, KernelThatNeverFits) {
  cuda.residentBlocks = 0;
  ErrorParts error = loadError(scale());
  EXPECT_EQ(error.code, ErrorCode::Resources);
  EXPECT_THAT(error.message, HasSubstr("does not fit a multiprocessor"));
  EXPECT_THAT(error.message, HasSubstr("128 threads with 32 registers each"));
}

TEST_F(KernelTest, BadMetadata) {
  CompiledKernel kernel = scale();
  kernel.metadata.params[0].type = "i7";
  EXPECT_THAT(loadError(kernel).message, HasSubstr("unknown type `i7`"));
  kernel = scale();
  kernel.metadata.params[0].index = -1;
  EXPECT_THAT(loadError(kernel).message, HasSubstr("negative index"));
  kernel = scale();
  kernel.metadata.threads = 0;
  EXPECT_THAT(loadError(kernel).message, HasSubstr("not positive"));
  kernel.metadata.threads = 2048;
  EXPECT_THAT(loadError(kernel).message, HasSubstr("2048 threads a block"));
}

} // namespace
