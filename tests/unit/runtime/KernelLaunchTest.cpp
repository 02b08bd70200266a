//===- KernelLaunchTest.cpp - launching kernels through the fake driver ---===//
#include "KernelTest.h"
#include "runtime/Memory.h"
#include <atomic>
#include <gmock/gmock.h>
#include <thread>

using namespace tile;
using namespace tile::test;
using tile::cuda::Result;
using Kind = KernelParameter::Kind;

namespace {

TEST_F(KernelTest, PassesArgumentsAndGrid) {
  auto kernel = load(scale());
  const uint32_t grid[3] = {5, 6, 7};
  auto stream = reinterpret_cast<tile::cuda::Stream>(0);
  expectSuccess(kernel->launch(stream, grid, arguments));
  EXPECT_THAT(last().grid, testing::ElementsAre(5, 6, 7));
  EXPECT_THAT(last().block, testing::ElementsAre(128, 1, 1));
  EXPECT_THAT(last().parameters,
              testing::ElementsAre(bytesOf(pointer), bytesOf(n), bytesOf(factor)));
  EXPECT_FALSE(last().hasCluster || last().cooperative || last().dependent);
}

TEST_F(KernelTest, FoldedEntriesAreSkipped) {
  auto kernel = load(makeKernel({argument(1, "i32"), argument(3, "ptr")}));
  const void *sparse[4] = {nullptr, &n, nullptr, &pointer};
  expectSuccess(kernel->launch(nullptr, one, sparse));
  EXPECT_THAT(last().parameters, testing::ElementsAre(bytesOf(n), bytesOf(pointer)));
}

TEST_F(KernelTest, WrongArguments) {
  auto kernel = load(scale());
  ErrorParts error =
      errorOf(kernel->launch(nullptr, one, llvm::ArrayRef<const void *>(arguments, 2)));
  EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("takes 3 arguments"));
  arguments[1] = nullptr;
  EXPECT_THAT(errorOf(kernel->launch(nullptr, one, arguments)).message,
              HasSubstr("argument 1 of `scale` is missing"));
  EXPECT_TRUE(cuda.launches.empty());
}

TEST_F(KernelTest, EmptyGridLaunchesNothing) {
  auto kernel = load(scale());
  for (int axis = 0; axis < 3; ++axis) {
    uint32_t grid[3] = {3, 3, 3};
    grid[axis] = 0;
    expectSuccess(kernel->launch(nullptr, grid, arguments));
  }
  EXPECT_TRUE(cuda.launches.empty());
}

/// scale, of which launches look whether n is a multiple of 8.
class MultiplesTest : public KernelTest {
protected:
  std::shared_ptr<LoadedKernel> loadScale() {
    CompiledKernel kernel = scale();
    kernel.metadata.params[1].multiple = 8;
    kernel.forMultiples = [this](llvm::ArrayRef<std::pair<unsigned, unsigned>> known) {
      asked.emplace_back(known.begin(), known.end());
      return made(known.front().second);
    };
    return load(std::move(kernel));
  }
  virtual llvm::Expected<std::shared_ptr<const CompiledKernel>> made(unsigned multiple) {
    return share(makeKernel({argument(0, "ptr"), argument(1, "i32"), argument(2, "fp32")},
                            "scale_" + std::to_string(multiple)));
  }
  /// The kernel that is launched for this n.
  std::string launched(const LoadedKernel &kernel, int32_t value) {
    n = value;
    expectSuccess(kernel.launch(nullptr, one, arguments));
    EXPECT_EQ(last().parameters[1], bytesOf(n));
    return last().kernel;
  }
  using Known = std::vector<std::pair<unsigned, unsigned>>;
  std::vector<Known> asked;
};

TEST_F(MultiplesTest, LaunchesTakeTheFormForTheirArguments) {
  auto kernel = loadScale();
  EXPECT_EQ(launched(*kernel, 77), "scale");
  EXPECT_TRUE(asked.empty()) << "nothing is compiled for what gains nothing";
  EXPECT_EQ(launched(*kernel, 4), "scale_4");
  EXPECT_EQ(launched(*kernel, 1000), "scale_8");
  EXPECT_EQ(launched(*kernel, 1024), "scale_8") << "more is no gain";
  EXPECT_EQ(launched(*kernel, 0), "scale_8");
  EXPECT_EQ(launched(*kernel, -2), "scale_2");
  EXPECT_EQ(launched(*kernel, 12), "scale_4");
  EXPECT_EQ(launched(*kernel, 99), "scale");
  EXPECT_THAT(asked, testing::ElementsAre(Known{{1, 4}}, Known{{1, 8}}, Known{{1, 2}}));
}

TEST_F(MultiplesTest, WarmLaunchesNeitherAllocateNorLock) {
  auto kernel = loadScale();
  for (int32_t value : {77, 1000}) {
    launched(*kernel, value);
    expectNoAllocationAndNoLock([&] { return kernel->launch(nullptr, one, arguments); });
  }
}

TEST_F(MultiplesTest, APreparedLaunchFollowsItsArguments) {
  PreparedLaunch launch(loadScale());
  expectSuccess(launch.setArguments(arguments));
  expectSuccess(launch.launch(nullptr));
  EXPECT_EQ(last().kernel, "scale");
  n = 24;
  expectSuccess(launch.setArgument(1, &n));
  expectSuccess(launch.launch(nullptr));
  EXPECT_EQ(last().kernel, "scale_8");
}

/// Whether a stream is captured is asked in its context, which need not be current.
TEST_F(MultiplesTest, AStreamIsAskedInItsContext) {
  auto kernel = loadScale();
  cuda.calls.clear();
  EXPECT_EQ(launched(*kernel, 8), "scale_8");
  auto asked = llvm::find(cuda.calls, "cuStreamIsCapturing");
  ASSERT_NE(asked, cuda.calls.end());
  EXPECT_NE(std::find(cuda.calls.begin(), asked, "cuCtxGetCurrent"), asked);
}

/// A stream that is captured allows no loading.
TEST_F(MultiplesTest, NothingIsLoadedWhileAStreamIsCaptured) {
  auto kernel = loadScale();
  n = 16;
  auto stream = valueOf(StreamHandle::create(primary()));
  (void)kernel->context()->api().cuStreamBeginCapture(stream.handle(),
                                                      tile::cuda::CaptureMode::Global);
  expectSuccess(kernel->launch(stream.handle(), one, arguments));
  EXPECT_EQ(last().kernel, "scale");
  EXPECT_TRUE(asked.empty());
}

/// Three logarithms of one argument are the most: of two there are more than forms that are kept.
TEST_F(KernelTest, SoManyFormsForMultiplesAreMade) {
  CompiledKernel kernel = makeKernel({argument(0, "ptr"), argument(1, "i32"), argument(2, "i32")});
  kernel.metadata.params[0].multiple = kernel.metadata.params[1].multiple = 16;
  int forms = 0;
  kernel.forMultiples = [&](auto) -> llvm::Expected<std::shared_ptr<const CompiledKernel>> {
    ++forms;
    return share(makeKernel({argument(0, "ptr"), argument(1, "i32"), argument(2, "i32")}, "other"));
  };
  auto loaded = load(std::move(kernel));
  int32_t m = 3;
  const void *values[3] = {&pointer, &n, &m};
  for (uint64_t address : {1, 2, 4, 8, 16})
    for (int32_t each : {1, 2, 4, 8, 16}) {
      pointer = address, n = each;
      expectSuccess(loaded->launch(nullptr, one, values));
    }
  EXPECT_EQ(forms, 4);
  EXPECT_EQ(last().kernel, "scale");
  pointer = 1, n = 2;
  expectSuccess(loaded->launch(nullptr, one, values));
  EXPECT_EQ(last().kernel, "other");
}

class BrokenMultiplesTest : public MultiplesTest {
protected:
  llvm::Expected<std::shared_ptr<const CompiledKernel>> made(unsigned multiple) override {
    if (multiple == 8)
      return makeError(ErrorCode::NoCompile, "forbidden");
    return share(makeKernel({argument(0, "ptr"), argument(2, "fp32")}, "without_n"));
  }
};

/// A form is faster, not needed; one that takes other arguments is none.
TEST_F(BrokenMultiplesTest, LaunchesGoOnWithoutThem) {
  auto kernel = loadScale();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(launched(*kernel, 8), "scale");
    EXPECT_EQ(launched(*kernel, 4), "scale");
  }
  EXPECT_EQ(asked.size(), 2u) << "tried once each";
}

TEST_F(KernelTest, GridTooLarge) {
  auto kernel = load(scale());
  const uint32_t tall[3] = {1, 65536, 1}, wide[3] = {2147483648u, 1, 1};
  EXPECT_THAT(errorOf(kernel->launch(nullptr, tall, arguments)).message,
              HasSubstr("65536 blocks along y, and at most 65535"));
  EXPECT_THAT(errorOf(kernel->launch(nullptr, wide, arguments)).message,
              HasSubstr("2147483648 blocks along x"));
}

TEST_F(KernelTest, TuplesAndDescriptors) {
  KernelParameter base, size, stride;
  base.kind = Kind::DescBase, base.index = 1;
  size.kind = Kind::DescShape, size.index = 1, size.dim = 1, size.type = "i32";
  stride.kind = Kind::DescStride, stride.index = 1, stride.dim = 0, stride.type = "i64";
  auto kernel =
      load(makeKernel({argument(0, "i32", {1}), argument(0, "ptr", {0, 0}), base, size, stride}));
  const void *inner[1] = {&pointer};
  const void *tuple[2] = {inner, &n};
  tile_descriptor descriptor = {reinterpret_cast<void *>(0x40), {8, 16}, {32, 1}, 2};
  const void *values[2] = {tuple, &descriptor};
  expectSuccess(kernel->launch(nullptr, one, values));
  EXPECT_THAT(last().parameters,
              testing::ElementsAre(bytesOf(n), bytesOf(pointer), bytesOf(uint64_t(0x40)),
                                   bytesOf(int32_t(16)), bytesOf(int64_t(32))));

  descriptor.shape[1] = int64_t(1) << 40;
  EXPECT_THAT(errorOf(kernel->launch(nullptr, one, values)).message,
              HasSubstr("does not fit 32 bits"));
  descriptor.rank = 1;
  EXPECT_THAT(errorOf(kernel->launch(nullptr, one, values)).message,
              HasSubstr("has 1 dimension, and at least 2 are needed"));
  tuple[1] = nullptr;
  EXPECT_THAT(errorOf(kernel->launch(nullptr, one, values)).message,
              HasSubstr("argument 0 of `scale` is missing"));
}

TEST_F(KernelTest, Constants) {
  struct Case {
    const char *type, *json;
    std::string bytes;
  };
  const Case cases[] = {{"i32", "-3", bytesOf(int32_t(-3))},
                        {"u64", "18446744073709551615", bytesOf(UINT64_MAX)},
                        {"i1", "true", bytesOf(char(1))},
                        {"fp32", "0.5", bytesOf(0.5f)},
                        {"fp64", "\"-inf\"", bytesOf(-__builtin_inf())},
                        {"fp16", "1", bytesOf(uint16_t(0x3c00))},
                        {"bf16", "1", bytesOf(uint16_t(0x3f80))},
                        {"ptr", "null", bytesOf(uint64_t(0))}};
  std::vector<KernelParameter> parameters;
  std::vector<std::string> expected;
  for (const Case &each : cases) {
    KernelParameter parameter;
    parameter.kind = Kind::Const;
    parameter.type = each.type;
    parameter.value = each.json;
    parameters.push_back(parameter);
    expected.push_back(each.bytes);
  }
  expectSuccess(load(makeKernel(parameters))->launch(nullptr, one, {}));
  EXPECT_THAT(last().parameters, testing::ElementsAreArray(expected));

  parameters[0].value = "\"three\"";
  EXPECT_THAT(loadError(makeKernel(parameters)).message, HasSubstr("that is no i32"));
}

TEST_F(KernelTest, ClustersCooperativeDependent) {
  CompiledKernel description = scale();
  description.metadata.cluster[0] = 2;
  description.metadata.ctasPerProgram = 2;
  description.metadata.cooperative = true;
  auto kernel = load(description);
  EXPECT_TRUE(cuda.functionAttributes.empty()) << "a cluster of 2 is portable";
  const uint32_t grid[3] = {3, 4, 1};
  expectSuccess(kernel->launch(nullptr, grid, arguments));
  EXPECT_THAT(last().grid, testing::ElementsAre(6, 4, 1));
  EXPECT_THAT(last().cluster, testing::ElementsAre(2, 1, 1));
  EXPECT_TRUE(last().cooperative && last().hasCluster);
  EXPECT_FALSE(last().dependent);
  expectSuccess(kernel->launch(nullptr, grid, arguments, {/*dependent=*/true}));
  EXPECT_TRUE(last().dependent && last().cooperative && last().hasCluster);
}

TEST_F(KernelTest, KernelsThatWaitAreDependentByDefault) {
  CompiledKernel description = scale();
  description.metadata.dependent = true;
  auto isDependent = [&](const LaunchOptions &options) {
    auto kernel = load(description);
    expectSuccess(kernel->launch(nullptr, one, arguments, options));
    return last().dependent;
  };
  EXPECT_TRUE(isDependent({}));
  EXPECT_FALSE(isDependent({/*dependent=*/false}));
  description.metadata.cooperative = true;
  EXPECT_FALSE(isDependent({}));
  description.metadata.cooperative = false;
  description.metadata.target = "sm_80";
  cuda.computeMajor = 8, cuda.computeMinor = 0;
  EXPECT_FALSE(isDependent({})) << "this device has no dependent launch";
}

TEST_F(KernelTest, NonPortableCluster) {
  CompiledKernel description = scale();
  description.metadata.cluster[0] = 16;
  auto kernel = load(description);
  EXPECT_EQ(cuda.functionAttributes["scale/14"], 1);
  const uint32_t ragged[3] = {24, 1, 1};
  EXPECT_THAT(errorOf(kernel->launch(nullptr, ragged, arguments)).message,
              HasSubstr("24 blocks along x, which its clusters of 16 do not divide"));
  kernel.reset();

  cuda.residentClusters = 0;
  EXPECT_THAT(loadError(description).message, HasSubstr("a cluster of 16x1x1 blocks of `scale` "
                                                        "does not fit Fake GPU 0"));
  cuda.computeMajor = 8;
  description.metadata.target = "sm_80";
  EXPECT_THAT(loadError(description).message, HasSubstr("clusters, which Fake GPU 0 does not "
                                                        "have"));
}

TEST_F(KernelTest, ContextIsEnteredOnlyIfItIsNotCurrent) {
  auto kernel = load(scale());
  cuda.calls.clear();
  expectSuccess(kernel->launch(nullptr, one, arguments));
  EXPECT_THAT(cuda.calls, testing::ElementsAre("cuCtxGetCurrent", "cuCtxPushCurrent_v2",
                                               "cuLaunchKernelEx", "cuCtxPopCurrent_v2"));
  EXPECT_EQ(last().context, kernel->context()->handle());

  // The fast path: the driver is asked for the context and launches.
  (void)api.cuCtxPushCurrent(kernel->context()->handle());
  cuda.calls.clear();
  expectSuccess(kernel->launch(nullptr, one, arguments));
  EXPECT_THAT(cuda.calls, testing::ElementsAre("cuCtxGetCurrent", "cuLaunchKernelEx"));
  tile::cuda::Context ignored;
  (void)api.cuCtxPopCurrent(&ignored);
}

TEST_F(KernelTest, CapturesIntoAGraph) {
  auto kernel = load(scale());
  StreamHandle stream = valueOf(StreamHandle::create(kernel->context()));
  (void)api.cuStreamBeginCapture(stream.handle(), tile::cuda::CaptureMode::Global);
  expectSuccess(kernel->launch(stream.handle(), one, arguments));
  tile::cuda::Graph graph;
  (void)api.cuStreamEndCapture(stream.handle(), &graph);
  EXPECT_TRUE(last().captured);
  EXPECT_EQ(cuda.numCalls("cuStreamSynchronize"), 0);
  (void)api.cuGraphDestroy(graph);
}

TEST_F(KernelTest, LaunchErrorNamesKernelAndGrid) {
  auto kernel = load(scale());
  cuda.failures["cuLaunchKernelEx"] = Result::LaunchOutOfResources;
  const uint32_t grid[3] = {9, 1, 1};
  ErrorParts error = errorOf(kernel->launch(nullptr, grid, arguments));
  EXPECT_EQ(error.code, ErrorCode::Resources);
  EXPECT_EQ(error.message,
            "cannot launch `scale` with 9x1x1 blocks of 128 threads and 0 bytes of shared memory: "
            "cuLaunchKernelEx: too many resources requested for launch "
            "(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)");
}

TEST_F(KernelTest, ScratchLivesForOneLaunch) {
  KernelParameter perLaunch, perProgram;
  perLaunch.kind = perProgram.kind = Kind::Scratch;
  perLaunch.bytes = 256, perLaunch.per = "launch", perLaunch.zero = true;
  perProgram.bytes = 100, perProgram.per = "program";
  auto kernel = load(makeKernel({argument(0, "ptr"), perLaunch, perProgram}));
  bool looked = false;
  cuda.onLaunch = [&](const fakecuda::Launch &launch) {
    looked = true;
    EXPECT_EQ(cuda.allocatedBytes, 256u + 100 * 6);
    uint64_t scratch;
    std::memcpy(&scratch, launch.parameters[1].data(), 8);
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(reinterpret_cast<char *>(scratch)[i], 0);
  };
  const uint32_t grid[3] = {3, 2, 1};
  expectSuccess(kernel->launch(nullptr, grid, arguments));
  EXPECT_TRUE(looked);
  EXPECT_EQ(cuda.allocatedBytes, 0u);

  cuda.failures["cuLaunchKernelEx"] = Result::Unknown;
  errorOf(kernel->launch(nullptr, grid, arguments));
  EXPECT_EQ(cuda.allocatedBytes, 0u) << "freed after a failed launch too";
  cuda.failures = {{"cuMemAllocAsync", Result::OutOfMemory}};
  ErrorParts error = errorOf(kernel->launch(nullptr, grid, arguments));
  EXPECT_EQ(error.code, ErrorCode::OutOfMemory);
  EXPECT_THAT(error.message, HasSubstr("256 bytes of scratch memory for `scale`"));
}

TEST_F(KernelTest, PreparedLaunchKeepsArguments) {
  PreparedLaunch launch(load(scale()));
  expectSuccess(launch.setArgument(0, &pointer));
  EXPECT_THAT(errorOf(launch.launch(nullptr)).message, HasSubstr("argument 1 of `scale`"));
  expectSuccess(launch.setArguments(arguments));
  launch.setGrid(4, 1, 1);
  int32_t before = n;
  n = -1; // the launch has its own copy
  expectSuccess(launch.launch(nullptr));
  EXPECT_EQ(last().parameters[1], bytesOf(before));
  EXPECT_EQ(last().grid[0], 4u);
  expectSuccess(launch.setArgument(1, &n));
  launch.setOptions({/*dependent=*/true});
  expectSuccess(launch.launch(nullptr));
  EXPECT_EQ(last().parameters[1], bytesOf(n));
  EXPECT_TRUE(last().dependent);
  EXPECT_THAT(errorOf(launch.setArgument(2, nullptr)).message, HasSubstr("is missing"));
}

TEST_F(KernelTest, RepeatedLaunchIsRecorded) {
  tile::cuda::Context mine = fakeCudaCreateContext(0);
  {
    std::shared_ptr<Context> context = valueOf(Context::borrow(api, mine));
    StreamHandle stream = valueOf(StreamHandle::create(context));
    auto kernel = valueOf(LoadedKernel::load(share(scale()), context));
    PreparedLaunch launch(kernel);
    expectSuccess(launch.setArguments(arguments));
    launch.setGrid(4, 1, 1);
    auto runTimes = [&](int times, tile::cuda::Stream on) {
      for (int i = 0; i < times; ++i) {
        expectSuccess(launch.launch(on));
        EXPECT_EQ(last().parameters[1], bytesOf(n));
        EXPECT_EQ(last().parameters[2], bytesOf(factor));
        EXPECT_EQ(last().grid[0], 4u);
        EXPECT_EQ(last().stream, on);
        EXPECT_FALSE(last().captured);
      }
    };
    runTimes(20, stream.handle());
    int runs = cuda.numCalls("cuGraphLaunch");
    EXPECT_EQ(runs, 5) << "the first 15 are launched as they are";
    EXPECT_EQ(cuda.numCalls("cuStreamCopyAttributes"), 1);

    // An argument set to what it was changes nothing; a new value does.
    expectSuccess(launch.setArgument(1, &n));
    runTimes(1, stream.handle());
    EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), runs + 1);
    n = 5;
    expectSuccess(launch.setArgument(1, &n));
    runTimes(1, stream.handle());
    EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), runs + 1);
    EXPECT_EQ(cuda.liveGraphs, 0);

    // A recording in vain makes the next one rarer.
    runTimes(30, stream.handle());
    EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), runs + 1);
    runTimes(1, stream.handle());
    EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), runs + 2);

    // What the caller captures is launched, and other streams are not held up.
    expectSuccess(
        api.check(api.cuStreamBeginCapture(stream.handle(), tile::cuda::CaptureMode::Global),
                  "cuStreamBeginCapture"));
    expectSuccess(launch.launch(stream.handle()));
    EXPECT_TRUE(last().captured);
    tile::cuda::Graph graph;
    expectSuccess(api.check(api.cuStreamEndCapture(stream.handle(), &graph), "cuStreamEndCapture"));
    expectSuccess(api.check(api.cuGraphDestroy(graph), "cuGraphDestroy"));
    StreamHandle other = valueOf(StreamHandle::create(context));
    for (int i = 0; i < 100; ++i)
      runTimes(1, i % 2 ? stream.handle() : other.handle());
    EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), runs + 2);

    // Dependent launches are never recorded.
    launch.setOptions({/*dependent=*/true});
    runTimes(200, stream.handle());
    EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), runs + 2);
  }
  EXPECT_EQ(cuda.liveGraphs, 0);
  EXPECT_EQ(cuda.liveStreams, 0);
  fakeCudaDestroyContext(mine);
}

TEST_F(KernelTest, RepeatedLaunchGoesOnWithoutRecording) {
  for (const char *call : {"cuGraphInstantiateWithFlags", "cuStreamBeginCapture_v2",
                           "cuStreamEndCapture", "cuThreadExchangeStreamCaptureMode"}) {
    cuda.failures[call] = Result::NotSupported;
    PreparedLaunch launch(load(scale()));
    expectSuccess(launch.setArguments(arguments));
    for (int i = 0; i < 40; ++i)
      expectSuccess(launch.launch(nullptr));
    EXPECT_EQ(cuda.numCalls("cuGraphLaunch"), 0) << call;
    EXPECT_EQ(cuda.liveStreams, 0) << call;
    cuda.failures.erase(call);
  }
}

TEST_F(KernelTest, ManyThreadsLaunch) {
  auto kernel = load(scale());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int32_t i = 0; i < 200; ++i) {
        int32_t value = thread * 1000 + i;
        const void *own[3] = {&pointer, &value, &factor};
        expectSuccess(kernel->launch(nullptr, one, own));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  std::set<std::string> seen;
  for (const fakecuda::Launch &launch : cuda.launches)
    seen.insert(launch.parameters[1]);
  EXPECT_EQ(seen.size(), 800u) << "no launch saw another's arguments";
}

} // namespace
