//===- KernelTest.cpp - loading and launching through the fake driver -----===//
#include "TestSupport.h"
#include "runtime/Cache.h"
#include "runtime/MachineCode.h"
#include "runtime/Memory.h"
#include "runtime/dispatch/AssemblerPlan.h"
#include <atomic>
#include <gmock/gmock.h>
#include <thread>

using namespace tile;
using namespace tile::test;
using testing::ElementsAre;
using tile::cuda::Result;
using Kind = KernelParameter::Kind;

namespace {

class KernelTest : public FakeDriverTest {
protected:
  std::shared_ptr<LoadedKernel> load(CompiledKernel kernel) {
    return valueOf(LoadedKernel::load(share(std::move(kernel)), primary()));
  }
  ErrorParts loadError(CompiledKernel kernel) {
    return errorOf(LoadedKernel::load(share(std::move(kernel)), primary()));
  }
  /// scale(pointer, n, factor), the usual kernel.
  CompiledKernel scale() {
    return makeKernel({argument(0, "ptr"), argument(1, "i32"), argument(2, "fp32")});
  }
  const fakecuda::Launch &last() { return cuda.launches.back(); }
  static constexpr uint32_t one[3] = {1, 1, 1};

  uint64_t pointer = 0x1000;
  int32_t n = 77;
  float factor = 1.5f;
  const void *arguments[3] = {&pointer, &n, &factor};
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

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

TEST_F(KernelTest, WhatSpillsManyWideValuesIsAssembledAgainWithCare) {
  CompiledKernel wide = scale();
  wide.ptx += ".reg .b64 %rd<383>;\n";
  SharedKernel kernel(share(wide));
  cuda.localBytes = 2047;
  valueOf(kernel.loadOn(primary()));
  EXPECT_THAT(cuda.assemblerLevels, ElementsAre(0)) << "the driver's default";
  cuda.localBytes = 2048, cuda.carefulLocalBytes = 3000;
  int alive = cuda.liveModules;
  auto loaded = valueOf(kernel.loadOn(primary()));
  EXPECT_THAT(cuda.assemblerLevels, ElementsAre(0, 0, 1)) << "and that is the last try";
  EXPECT_EQ(loaded->localBytes(), 3000);
  EXPECT_EQ(cuda.liveModules, alive + 1);
}

TEST_F(KernelTest, WhatSpillsOtherValuesIsNot) {
  cuda.localBytes = 2048, cuda.carefulLocalBytes = 0;
  auto loaded = valueOf(SharedKernel(share(scale())).loadOn(primary()));
  EXPECT_THAT(cuda.assemblerLevels, ElementsAre(0));
  EXPECT_EQ(loaded->localBytes(), 2048);
}

TEST_F(KernelTest, WhatSpillsForABoundOfOneIsAssembledWithoutIt) {
  CompiledKernel bound = scale();
  bound.ptx += ".minnctapersm 1\n";
  cuda.localBytes = 2048, cuda.unboundLocalBytes = 100;
  int alive = cuda.liveModules;
  auto loaded = valueOf(SharedKernel(share(bound)).loadOn(primary()));
  EXPECT_THAT(cuda.assemblerLevels, ElementsAre(0, 0));
  EXPECT_EQ(loaded->localBytes(), 100);
  EXPECT_EQ(cuda.liveModules, alive + 1);

  cuda.unboundLocalBytes = 2048;
  auto same = valueOf(SharedKernel(share(bound)).loadOn(primary()));
  EXPECT_EQ(cuda.liveModules, alive + 2) << "the first is kept";
}

/// What a plan asks for, as level and whether the bound is there, if all attempts have `frames`.
static std::string attempts(std::string_view ptx, std::vector<int> frames) {
  std::string all;
  size_t at = 0;
  for (tile::dispatch::AssemblerPlan plan(ptx); plan.next();) {
    bool bound = plan.text().find(".minnctapersm 1\n") != std::string_view::npos;
    bool kept = plan.keeps(frames.at(at++));
    all += std::to_string(plan.level()) + (bound ? "b" : "") + (kept ? " " : "- ");
  }
  EXPECT_EQ(at, frames.size());
  return all;
}

TEST(AssemblerPlan, Attempts) {
  const std::string wide = ".reg .b64 \t%rd<383>;\n", bound = ".minnctapersm 1\n";
  EXPECT_EQ(attempts("", {4000}), "3 ");
  EXPECT_EQ(attempts(bound + wide, {2047}), "3b ");
  EXPECT_EQ(attempts(bound, {4000, 3999}), "3b 3 ");
  EXPECT_EQ(attempts(bound, {4000, 4000}), "3b 3- ");
  EXPECT_EQ(attempts(bound + "setmaxnreg.inc", {4000}), "3b ");
  EXPECT_EQ(attempts(".minnctapersm 16\n", {4000}), "3 ") << "another bound";
  EXPECT_EQ(attempts(wide, {4000, 9000}), "3 1 ") << "right before small";
  EXPECT_EQ(attempts(bound + wide, {4000, 2047}), "3b 3 ");
  EXPECT_EQ(attempts(bound + wide, {4000, 2048, 5000}), "3b 3 1b ");
  EXPECT_EQ(attempts(std::string(40000, '\n') + bound + wide, {9000}), "1b ");
}

TEST(AssemblerPlan, WideValues) {
  using tile::dispatch::wideValues;
  EXPECT_EQ(wideValues(""), 0);
  EXPECT_EQ(wideValues("\t.reg .pred \t%p<3>;\n\t.reg .b32 \t%r<900>;\n\t.reg .b64 \t%rd<285>;\n"),
            285);
  EXPECT_EQ(wideValues(".reg .f64 %fd<7>;.reg .u64 a, b;\n.reg .s64 c;"), 10);
  EXPECT_EQ(wideValues(".reg .b64 "), 1) << "cut off";
  EXPECT_EQ(wideValues(".reg"), 0);
}

TEST_F(KernelTest, VeryLongPtxIsAssembledWithCareAtOnce) {
  CompiledKernel longest = scale();
  longest.ptx += std::string(40000, '\n');
  cuda.localBytes = 4096;
  valueOf(SharedKernel(share(longest)).loadOn(primary()));
  EXPECT_THAT(cuda.assemblerLevels, ElementsAre(1));
}

TEST(MachineCode, StackFramesInWhatAssemblersSay) {
  EXPECT_EQ(stackFrameBytes("ptxas info    : Function properties for a\n"
                            "    16 bytes stack frame, 4 bytes spill stores\n"
                            "    3944 bytes stack frame, 0 bytes spill stores\n"),
            3944);
  EXPECT_EQ(stackFrameBytes("ptxas info    : Used 255 registers"), 0);
  EXPECT_EQ(stackFrameBytes("x bytes stack frame"), 0);
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

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

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

TEST(Blocks, PersistentProgramsComeInWholeClusters) {
  KernelMetadata metadata;
  metadata.entry = "k";
  metadata.persistent = true;
  metadata.cluster[0] = 4;
  auto blocks = [&](uint32_t programs, unsigned resident) {
    const uint32_t grid[3] = {programs, 1, 1};
    return valueOf(blocksOf(metadata, grid, resident))[0];
  };
  EXPECT_EQ(blocks(1, 132), 4u) << "three have nothing to do";
  EXPECT_EQ(blocks(9, 132), 12u);
  EXPECT_EQ(blocks(1000, 134), 132u);
  EXPECT_EQ(blocks(1000, 2), 4u) << "one cluster always";
  const uint32_t most[3] = {0x7ffffffe, 1, 1};
  EXPECT_THAT(errorOf(blocksOf(metadata, most, 132)).message, HasSubstr("at most 2147483644"));
}

TEST(Blocks, RunSeveralNeighboursWhereTheseAreEnough) {
  KernelMetadata metadata;
  metadata.entry = "k";
  metadata.programsPerBlock[1] = 3;
  const uint32_t grid[3] = {2, 16, 5};
  EXPECT_THAT(valueOf(blocksOf(metadata, grid, 0)), testing::ElementsAre(2, 6, 5));
  auto fill = [&](uint32_t x, uint32_t y) {
    const uint32_t small[3] = {x, y, 1};
    return paysToShare(metadata, small, 132);
  };
  EXPECT_TRUE(fill(44, 9)) << "132 blocks";
  EXPECT_FALSE(fill(43, 9)) << "129 for 132 multiprocessors";
  EXPECT_FALSE(fill(1000, 1)) << "two programs of three are not there";
  EXPECT_TRUE(fill(1000, 5)) << "one of six is not";
  EXPECT_FALSE(fill(1000, 4)) << "two of six are not";
}

TEST(Blocks, RunSeveralProgramsWhereAllAreThroughSooner) {
  KernelMetadata metadata;
  metadata.entry = "k";
  auto pays = [&](int together, int apart, uint32_t programs) {
    metadata.programsPerBlock[0] = together;
    metadata.programsApart = apart;
    const uint32_t grid[3] = {32, programs / 32, 1};
    return paysToShare(metadata, grid, 132);
  };
  EXPECT_FALSE(pays(4, 3, 384)) << "three on each multiprocessor, or four on most";
  EXPECT_TRUE(pays(4, 3, 448)) << "all at once, or three and then one";
  EXPECT_TRUE(pays(4, 3, 512));
  EXPECT_FALSE(pays(4, 3, 544)) << "four and four, or three and two";
  EXPECT_FALSE(pays(4, 3, 768)) << "four and four, or three and three";
  EXPECT_TRUE(pays(4, 3, 1024));
  EXPECT_FALSE(pays(4, 3, 1600));
  EXPECT_FALSE(pays(3, 2, 256));
  EXPECT_TRUE(pays(3, 2, 384));
  EXPECT_FALSE(pays(3, 2, 512));
  EXPECT_TRUE(pays(3, 2, 544));
  EXPECT_TRUE(pays(3, 2, 1600));
  const uint32_t none[3] = {0, 1, 1}, one[3] = {1, 1, 1};
  EXPECT_FALSE(paysToShare(metadata, one, 132)) << "two programs of three are not there";
  EXPECT_TRUE(paysToShare(metadata, none, 132)) << "nothing takes no time";
}

TEST_F(KernelTest, GridsThatAreTakenApartStartAsTwoAxes) {
  CompiledKernel description = scale();
  description.metadata.programsPerBlock[0] = 2;
  // (n + 3) / 10 programs along x, the others along z
  description.metadata.gridSplits.push_back({0, 2, {{{1, {{1, {}}}}, {3, {}}}}, 10});
  auto kernel = load(description);
  auto grid = [&](uint32_t x, uint32_t y) {
    const uint32_t given[3] = {x, y, 1};
    return kernel->launch(nullptr, given, arguments);
  };
  expectSuccess(grid(24, 5));
  EXPECT_THAT(last().grid, testing::ElementsAre(4, 5, 3)) << "eight, of which two share a block";
  EXPECT_THAT(errorOf(grid(25, 5)).message, HasSubstr("grids of other shapes"));
  const uint32_t taken[3] = {24, 5, 2};
  EXPECT_THAT(errorOf(kernel->launch(nullptr, taken, arguments)).message,
              HasSubstr("grids of other shapes"));
  for (int32_t none : {6, -20}) {
    n = none;
    EXPECT_THAT(errorOf(grid(24, 5)).message, HasSubstr("grids of other shapes"));
  }
  n = 77;
  unsigned compiled = 0;
  description.alone = [&]() -> llvm::Expected<std::shared_ptr<const CompiledKernel>> {
    ++compiled;
    return std::make_shared<const CompiledKernel>(scale());
  };
  kernel = load(description);
  expectSuccess(grid(2401, 1));
  EXPECT_THAT(last().grid, testing::ElementsAre(2401, 1, 1)) << "it does not come out even";
  EXPECT_EQ(compiled, 1u);
  expectSuccess(grid(2400, 1));
  EXPECT_THAT(last().grid, testing::ElementsAre(4, 1, 300));
}

TEST_F(KernelTest, GridsTooSmallForSharedBlocksLaunchAnotherForm) {
  CompiledKernel description = scale();
  description.metadata.programsPerBlock[0] = 3;
  unsigned compiled = 0;
  description.alone = [&]() -> llvm::Expected<std::shared_ptr<const CompiledKernel>> {
    ++compiled;
    return std::make_shared<const CompiledKernel>(scale());
  };
  auto kernel = load(description);
  const uint32_t grid[3] = {2, 1, 1};
  expectSuccess(kernel->launch(nullptr, grid, arguments));
  EXPECT_THAT(last().grid, testing::ElementsAre(2, 1, 1));
  expectSuccess(kernel->launch(nullptr, grid, arguments));
  EXPECT_EQ(compiled, 1u) << "it is kept";
  const uint32_t large[3] = {6000, 1, 1};
  expectSuccess(kernel->launch(nullptr, large, arguments));
  EXPECT_THAT(last().grid, testing::ElementsAre(2000, 1, 1));
}

TEST(Blocks, AreFewForEachMultiprocessor) {
  KernelMetadata metadata;
  auto wants = [&](uint32_t x, uint32_t y, uint32_t z) {
    const uint32_t grid[3] = {x, y, z};
    return wantsForm(metadata, grid, 132);
  };
  EXPECT_FALSE(wants(1, 1, 1)) << "the kernel has no other form";
  metadata.fewPrograms = 2;
  EXPECT_TRUE(wants(1, 1, 1));
  EXPECT_TRUE(wants(132, 2, 1)) << "two for each";
  EXPECT_FALSE(wants(53, 5, 1)) << "265, one more";
  const uint32_t most = std::numeric_limits<int32_t>::max();
  EXPECT_FALSE(wants(most, 65535, 65535)) << "more than 64 bits hold";
}

TEST_F(KernelTest, GridsOfFewProgramsLaunchAnotherForm) {
  CompiledKernel description = scale();
  description.metadata.fewPrograms = 2;
  unsigned compiled = 0;
  description.alone = [&]() -> llvm::Expected<std::shared_ptr<const CompiledKernel>> {
    ++compiled;
    CompiledKernel other = scale();
    other.metadata.threads = 64;
    return std::make_shared<const CompiledKernel>(std::move(other));
  };
  auto kernel = load(description);
  const uint32_t large[3] = {100000, 1, 1};
  expectSuccess(kernel->launch(nullptr, large, arguments));
  EXPECT_EQ(compiled, 0u) << "nobody has asked for it";
  unsigned threads = last().block[0];
  const uint32_t grid[3] = {2, 1, 1};
  expectSuccess(kernel->launch(nullptr, grid, arguments));
  EXPECT_EQ(last().block[0], 64u);
  expectSuccess(kernel->launch(nullptr, grid, arguments));
  EXPECT_EQ(compiled, 1u) << "it is kept";
  expectSuccess(kernel->launch(nullptr, large, arguments));
  EXPECT_EQ(last().block[0], threads);
}

TEST_F(KernelTest, GridsOfFewProgramsGoOnWhereTheOtherFormCannotBeHad) {
  CompiledKernel description = scale();
  description.metadata.fewPrograms = 2;
  unsigned compiled = 0;
  ErrorCode code = ErrorCode::Compile;
  description.alone = [&]() -> llvm::Expected<std::shared_ptr<const CompiledKernel>> {
    ++compiled;
    CompiledKernel other = scale();
    other.metadata.threads = 64;
    if (code == ErrorCode::PtxRejected) // it compiles, and does not load
      other.metadata.entry = "not_there";
    else if (code != ErrorCode::Resources)
      return makeError(code, "no form for few");
    else
      other.metadata.sharedBytes = 1 << 24;
    return std::make_shared<const CompiledKernel>(std::move(other));
  };
  const uint32_t grid[3] = {2, 1, 1};
  for (ErrorCode each :
       {ErrorCode::Compile, ErrorCode::Unsupported, ErrorCode::PtxRejected, ErrorCode::Resources}) {
    code = each;
    compiled = 0;
    auto kernel = load(description);
    expectSuccess(kernel->prepareFor(grid));
    for (int i = 0; i < 3; ++i)
      expectSuccess(kernel->launch(nullptr, grid, arguments));
    EXPECT_EQ(last().block[0], unsigned(description.metadata.threads));
    EXPECT_EQ(compiled, 1u) << "it is tried once";
  }
  // What no compilation may make is asked for again: it may be there by then.
  code = ErrorCode::NoCompile;
  compiled = 0;
  auto kernel = load(description);
  EXPECT_EQ(errorOf(kernel->prepareFor(grid)).code, ErrorCode::NoCompile);
  EXPECT_EQ(errorOf(kernel->launch(nullptr, grid, arguments)).code, ErrorCode::NoCompile);
  EXPECT_EQ(compiled, 2u);
}

TEST_F(KernelTest, GridsThatDoNotComeOutEvenNeedTheOtherForm) {
  CompiledKernel description = scale();
  description.metadata.programsPerBlock[0] = 2;
  description.metadata.gridSplits.push_back({0, 2, {{{1, {{1, {}}}}, {3, {}}}}, 10});
  description.alone = []() -> llvm::Expected<std::shared_ptr<const CompiledKernel>> {
    return makeError(ErrorCode::Compile, "no form for few");
  };
  auto kernel = load(description);
  const uint32_t small[3] = {24, 1, 1}, uneven[3] = {2401, 1, 1};
  expectSuccess(kernel->launch(nullptr, small, arguments));
  EXPECT_EQ(errorOf(kernel->launch(nullptr, uneven, arguments)).code, ErrorCode::Compile);
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

TEST(ExplainJitLog, LinesWithoutPositionAreKept) {
  EXPECT_EQ(explainJitLog("ptxas fatal   : Unresolved extern function 'f'\n\n", ""),
            "  ptxas fatal   : Unresolved extern function 'f'\n");
  EXPECT_THAT(explainJitLog("ptxas x, line 99; error   : odd\n", "one line\n"),
              HasSubstr("PTX line 99: error: odd"));
}

TEST(PtxVersion, Table) {
  EXPECT_EQ(cudaVersionForPtx("// c\n.version 8.5\n.target sm_90a"), 12050);
  EXPECT_EQ(cudaVersionForPtx(".version 8.0"), 12000);
  EXPECT_EQ(cudaVersionForPtx(".version 99.0"), 0);
  EXPECT_EQ(cudaVersionForPtx("nothing"), 0);
}

} // namespace
