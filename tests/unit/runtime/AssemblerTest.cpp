//===- AssemblerTest.cpp - how PTX is assembled, and what assemblers say --===//
#include "KernelTest.h"
#include "runtime/MachineCode.h"
#include "runtime/dispatch/AssemblerPlan.h"
#include <gmock/gmock.h>

using namespace tile;
using namespace tile::test;
using testing::ElementsAre;

namespace {

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
