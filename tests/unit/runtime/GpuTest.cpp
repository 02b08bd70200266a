//===- GpuTest.cpp - the runtime on a real driver and GPU -----------------===//
//
// What the fake driver cannot vouch for: that the real one takes our calls as
// we mean them. The kernels are small PTX texts written here, so that a failure
// points at the runtime. Skipped where there is no GPU.
//
//===----------------------------------------------------------------------===//
#include "runtime/Cache.h"
#include "runtime/Kernel.h"
#include "runtime/Memory.h"
#include "runtime/Timing.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace tile;
using namespace tile::runtime;
using testing::HasSubstr;
using Kind = KernelParameter::Kind;

namespace {

/// data[i] *= factor for i < n.
const char scalePtx[] = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 p0, .param .u32 p1, .param .f32 p2)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d0, [p0];
  ld.param.u32 %r0, [p1];
  ld.param.f32 %f0, [p2];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.s32 %p, %r4, %r0;
  @%p ret;
  mul.wide.s32 %d1, %r4, 4;
  add.s64 %d2, %d0, %d1;
  ld.global.f32 %f1, [%d2];
  mul.f32 %f2, %f1, %f0;
  st.global.f32 [%d2], %f2;
  ret;
}
)";

/// *out = what was written to the last word of `bytes` of shared memory.
const char sharedPtx[] = R"(.version 8.0
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 memory[];
.visible .entry last_word(.param .u64 p0, .param .u32 p1)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.param.u64 %d0, [p0];
  ld.param.u32 %r0, [p1];
  mov.u32 %r1, memory;
  add.u32 %r2, %r1, %r0;
  st.shared.u32 [%r2+-4], %r0;
  ld.shared.u32 %r3, [%r2+-4];
  st.global.u32 [%d0], %r3;
  ret;
}
)";

/// out[block] = number of blocks in the block's cluster.
const char clusterPtx[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry cluster_size(.param .u64 p0)
{
  .reg .b32 %r<3>; .reg .b64 %d<3>;
  ld.param.u64 %d0, [p0];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %cluster_nctarank;
  mul.wide.u32 %d1, %r0, 4;
  add.s64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r1;
  ret;
}
)";

/// *out = the first word of scratch, then that word + 1 goes back to scratch.
const char scratchPtx[] = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry through_scratch(.param .u64 p0, .param .u64 p1)
{
  .reg .b32 %r<2>; .reg .b64 %d<2>;
  ld.param.u64 %d0, [p0];
  ld.param.u64 %d1, [p1];
  ld.global.u32 %r0, [%d1];
  add.u32 %r1, %r0, 1;
  st.global.u32 [%d1], %r1;
  st.global.u32 [%d0], %r1;
  ret;
}
)";

template <typename T> T valueOf(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  ADD_FAILURE() << llvm::toString(value.takeError());
  std::abort();
}
void expectSuccess(llvm::Error error) {
  if (error)
    ADD_FAILURE() << llvm::toString(std::move(error));
}

KernelParameter argument(int index, const char *type) {
  KernelParameter parameter;
  parameter.index = index;
  parameter.type = type;
  return parameter;
}

class Gpu : public testing::Test {
protected:
  void SetUp() override {
    auto api = cuda::CudaApi::get();
    if (!api)
      GTEST_SKIP() << "no GPU to test on: " << llvm::toString(api.takeError());
    context = valueOf(Context::primary(*api, 0));
  }
  CompiledKernel describe(const char *ptx, const char *entry, std::vector<KernelParameter> params,
                          const char *target = "sm_75") {
    CompiledKernel kernel;
    kernel.ptx = ptx;
    kernel.metadata.entry = entry;
    kernel.metadata.target = target;
    kernel.metadata.params = std::move(params);
    return kernel;
  }
  CompiledKernel scale() {
    return describe(scalePtx, "scale",
                    {argument(0, "ptr"), argument(1, "i32"), argument(2, "fp32")});
  }
  std::shared_ptr<LoadedKernel> load(CompiledKernel kernel) {
    return valueOf(
        LoadedKernel::load(std::make_shared<const CompiledKernel>(std::move(kernel)), context));
  }
  std::string loadError(CompiledKernel kernel) {
    auto loaded =
        LoadedKernel::load(std::make_shared<const CompiledKernel>(std::move(kernel)), context);
    return loaded ? "" : llvm::toString(loaded.takeError());
  }
  DeviceBuffer upload(const std::vector<float> &values) {
    DeviceBuffer buffer = valueOf(DeviceBuffer::allocate(context, values.size() * sizeof(float)));
    expectSuccess(buffer.upload(values.data(), values.size() * sizeof(float)));
    return buffer;
  }
  template <typename T> std::vector<T> download(const DeviceBuffer &buffer) {
    std::vector<T> values(buffer.size() / sizeof(T));
    expectSuccess(buffer.download(values.data(), buffer.size()));
    return values;
  }

  std::shared_ptr<Context> context;
  static constexpr uint32_t one[3] = {1, 1, 1};
};

TEST_F(Gpu, LaunchComputes) {
  auto kernel = load(scale());
  EXPECT_GT(kernel->registers(), 0);
  DeviceBuffer data = upload(std::vector<float>(1000, 3.0f));
  cuda::DevicePtr pointer = data.pointer();
  int32_t n = 999;
  float factor = 0.5f;
  const void *arguments[] = {&pointer, &n, &factor};
  const uint32_t grid[3] = {8, 1, 1};
  expectSuccess(kernel->launch(nullptr, grid, arguments));
  std::vector<float> expected(1000, 1.5f);
  expected[999] = 3.0f;
  EXPECT_EQ(download<float>(data), expected);

  PreparedLaunch prepared(kernel);
  expectSuccess(prepared.setArguments(arguments));
  prepared.setGrid(8, 1, 1);
  expectSuccess(prepared.launch(nullptr));
  EXPECT_EQ(download<float>(data)[0], 0.75f);
}

TEST_F(Gpu, LaunchFromThreadsWithoutContext) {
  auto kernel = load(scale());
  DeviceBuffer data = upload(std::vector<float>(4 * 128, 1.0f));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      cuda::DevicePtr pointer = data.pointer() + i * 128 * sizeof(float);
      int32_t n = 128;
      float factor = static_cast<float>(i + 2);
      const void *arguments[] = {&pointer, &n, &factor};
      expectSuccess(kernel->launch(nullptr, one, arguments));
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<float> values = download<float>(data);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(values[i * 128 + 5], static_cast<float>(i + 2));
}

TEST_F(Gpu, SharedMemoryToTheLimit) {
  CompiledKernel description =
      describe(sharedPtx, "last_word", {argument(0, "ptr"), argument(1, "i32")});
  int32_t limit = context->device().sharedBytesPerBlockOptin;
  for (int32_t bytes : {1024, 48 * 1024, 48 * 1024 + 16, limit}) {
    description.metadata.sharedBytes = bytes;
    auto kernel = load(description);
    DeviceBuffer out = valueOf(DeviceBuffer::allocate(context, 4));
    cuda::DevicePtr pointer = out.pointer();
    const void *arguments[] = {&pointer, &bytes};
    expectSuccess(kernel->launch(nullptr, one, arguments));
    EXPECT_EQ(download<int32_t>(out)[0], bytes);
  }
  description.metadata.sharedBytes = limit + 16;
  EXPECT_THAT(loadError(description), HasSubstr("bytes of shared memory"));
}

TEST_F(Gpu, Clusters) {
  if (!context->device().clusterLaunch)
    GTEST_SKIP() << context->device().name << " has no clusters";
  CompiledKernel description = describe(clusterPtx, "cluster_size", {argument(0, "ptr")}, "sm_90");
  for (int size : {1, 2, 8, 16}) {
    description.metadata.cluster[0] = size;
    description.metadata.ctasPerProgram = size;
    auto kernel = load(description);
    DeviceBuffer out = valueOf(DeviceBuffer::allocate(context, 3 * size * 4));
    expectSuccess(out.fill(0xff));
    cuda::DevicePtr pointer = out.pointer();
    const void *arguments[] = {&pointer};
    const uint32_t grid[3] = {3, 1, 1};
    expectSuccess(kernel->launch(nullptr, grid, arguments));
    EXPECT_EQ(download<int32_t>(out), std::vector<int32_t>(3 * size, size));
  }
}

TEST_F(Gpu, CooperativeAndDependentLaunches) {
  CompiledKernel description = scale();
  description.metadata.cooperative = true;
  auto kernel = load(description);
  DeviceBuffer data = upload(std::vector<float>(128, 2.0f));
  cuda::DevicePtr pointer = data.pointer();
  int32_t n = 128;
  float factor = 2.0f;
  const void *arguments[] = {&pointer, &n, &factor};
  expectSuccess(kernel->launch(nullptr, one, arguments));
  // More blocks than can be resident at once is refused, with an explanation.
  const uint32_t huge[3] = {1u << 20, 1, 1};
  EXPECT_THAT(llvm::toString(kernel->launch(nullptr, huge, arguments)),
              HasSubstr("cannot launch `scale` with 1048576x1x1 blocks"));
  if (context->device().major >= 9) {
    auto plain = load(scale());
    expectSuccess(plain->launch(nullptr, one, arguments, {/*dependent=*/true}));
    expectSuccess(synchronize(*context));
  }
}

TEST_F(Gpu, ScratchAndGraphs) {
  KernelParameter scratch;
  scratch.kind = Kind::Scratch;
  scratch.bytes = 1024, scratch.per = "launch", scratch.zero = true;
  auto kernel = load(describe(scratchPtx, "through_scratch", {argument(0, "ptr"), scratch}));
  DeviceBuffer out = valueOf(DeviceBuffer::allocate(context, 4));
  cuda::DevicePtr pointer = out.pointer();
  const void *arguments[] = {&pointer};
  for (int i = 0; i < 3; ++i) {
    expectSuccess(kernel->launch(nullptr, one, arguments));
    EXPECT_EQ(download<int32_t>(out)[0], 1) << "scratch is zero for every launch";
  }

  // The same launch, scratch memory and all, in a graph.
  const cuda::CudaApi &api = context->api();
  ScopedContext scope(api, context->handle());
  StreamHandle stream = valueOf(StreamHandle::create(context));
  cuda::Graph graph = nullptr;
  cuda::GraphExec executable = nullptr;
  ASSERT_EQ(api.cuStreamBeginCapture(stream.handle(), cuda::CaptureMode::Global),
            cuda::Result::Success);
  expectSuccess(kernel->launch(stream.handle(), one, arguments));
  ASSERT_EQ(api.cuStreamEndCapture(stream.handle(), &graph), cuda::Result::Success);
  ASSERT_EQ(api.cuGraphInstantiate(&executable, graph, 0), cuda::Result::Success);
  expectSuccess(out.fill(0));
  ASSERT_EQ(api.cuGraphLaunch(executable, stream.handle()), cuda::Result::Success);
  expectSuccess(synchronize(*context, stream.handle()));
  EXPECT_EQ(download<int32_t>(out)[0], 1);
  (void)api.cuGraphExecDestroy(executable);
  (void)api.cuGraphDestroy(graph);
}

TEST_F(Gpu, RepeatedLaunchIsRecorded) {
  auto kernel = load(scale());
  std::vector<float> values(100, 1.0f);
  DeviceBuffer data = upload(values);
  cuda::DevicePtr pointer = data.pointer();
  int32_t n = 100;
  float factor = 2.0f;
  const void *arguments[] = {&pointer, &n, &factor};
  const cuda::CudaApi &api = context->api();
  ScopedContext scope(api, context->handle());
  StreamHandle own = valueOf(StreamHandle::create(context));
  for (cuda::Stream stream : {cuda::Stream(nullptr), own.handle()}) {
    PreparedLaunch launch(kernel);
    expectSuccess(launch.setArguments(arguments));
    for (int i = 0; i < 50; ++i)
      expectSuccess(launch.launch(stream));
    EXPECT_TRUE(launch.isRecorded());
    float half = 0.5f; // the recording is not used any more
    expectSuccess(launch.setArgument(2, &half));
    for (int i = 0; i < 50; ++i)
      expectSuccess(launch.launch(stream));
    EXPECT_TRUE(launch.isRecorded());
    expectSuccess(launch.setArgument(2, &factor));
    expectSuccess(launch.launch(stream));
    expectSuccess(synchronize(*context, stream));
    EXPECT_EQ(download<float>(data), std::vector<float>(100, stream ? 4.0f : 2.0f));
  }
}

TEST_F(Gpu, RejectedPtx) {
  CompiledKernel description = scale();
  size_t at = description.ptx.find("mul.f32");
  description.ptx.replace(at, 7, "mull.f3");
  std::string error = loadError(description);
  EXPECT_THAT(error, HasSubstr("the CUDA driver rejects the kernel's PTX"));
  EXPECT_THAT(error, HasSubstr("PTX line 19"));
  EXPECT_THAT(error, HasSubstr("mull.f3 %f2, %f1, %f0;"));

  description = scale();
  description.ptx.replace(description.ptx.find("8.0"), 3, "9.9");
  EXPECT_THAT(loadError(description), HasSubstr("update the driver"));

  description = scale();
  description.metadata.entry = "other";
  EXPECT_THAT(loadError(description), HasSubstr("no kernel named `other`"));
}

TEST_F(Gpu, OutOfMemory) {
  auto buffer = DeviceBuffer::allocate(context, size_t(1) << 46);
  ASSERT_FALSE(buffer);
  EXPECT_THAT(llvm::toString(buffer.takeError()),
              HasSubstr("out of device memory: cannot allocate 64.0 TiB on "));
}

TEST_F(Gpu, TimingSeesTheDevice) {
  auto kernel = load(scale());
  std::vector<float> values(size_t(64) << 20, 1.0f);
  DeviceBuffer data = upload(values);
  cuda::DevicePtr pointer = data.pointer();
  int32_t n = values.size();
  float factor = 1.0f;
  const void *arguments[] = {&pointer, &n, &factor};
  const uint32_t grid[3] = {static_cast<uint32_t>(n / 128), 1, 1};
  auto run = [&] {
    expectSuccess(kernel->launch(nullptr, grid, arguments));
    return true;
  };
  Timing timing = valueOf(timeOnStream(context, nullptr, run, {}));
  // 512 MiB through memory: between 20 TB/s and 20 GB/s.
  EXPECT_GT(timing.median, 0.025);
  EXPECT_LT(timing.median, 25);
  EXPECT_LE(timing.minimum, timing.median);
}

} // namespace
