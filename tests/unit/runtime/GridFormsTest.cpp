//===- GridFormsTest.cpp - which form a grid is launched in, and how ------===//
#include "KernelTest.h"
#include <gmock/gmock.h>

using namespace tile;
using namespace tile::test;

namespace {

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
  EXPECT_TRUE(pays(4, 3, 8192)) << "many turns: what four share they share in each";
  EXPECT_FALSE(pays(3, 2, 256));
  EXPECT_TRUE(pays(3, 2, 384));
  EXPECT_FALSE(pays(3, 2, 512));
  EXPECT_TRUE(pays(3, 2, 544));
  EXPECT_TRUE(pays(3, 2, 1600));
  const uint32_t none[3] = {0, 1, 1}, one[3] = {1, 1, 1};
  EXPECT_FALSE(paysToShare(metadata, one, 132)) << "two programs of three are not there";
  EXPECT_TRUE(paysToShare(metadata, none, 132)) << "nothing takes no time";
}

TEST(Blocks, WaitForTheLongestOfProgramsThatGrow) {
  KernelMetadata metadata;
  metadata.entry = "k";
  metadata.programsGrow = true;
  auto pays = [&](int together, uint32_t along, uint32_t heads) {
    metadata.programsPerBlock[0] = together;
    const uint32_t grid[3] = {along, heads, 1};
    return paysToShare(metadata, grid, 132);
  };
  EXPECT_FALSE(pays(4, 16, 128)) << "a fifth longer, of which sharing gains a twelfth";
  EXPECT_FALSE(pays(4, 28, 128));
  EXPECT_TRUE(pays(4, 32, 128));
  EXPECT_TRUE(pays(4, 64, 128));
  EXPECT_FALSE(pays(2, 8, 128));
  EXPECT_TRUE(pays(2, 10, 128));
  EXPECT_FALSE(pays(4, 64, 8)) << "as with others, blocks for all multiprocessors";
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

TEST_F(KernelTest, LaunchesOfAnotherFormNeitherAllocateNorLock) {
  CompiledKernel description = scale();
  description.metadata.fewPrograms = 2;
  description.alone = [&] {
    return llvm::Expected<std::shared_ptr<const CompiledKernel>>(share(scale()));
  };
  auto kernel = load(description);
  const uint32_t few[3] = {2, 1, 1};
  auto launch = [&] { return kernel->launch(nullptr, few, arguments); };
  expectSuccess(launch());
  expectNoAllocationAndNoLock(launch);
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

} // namespace
