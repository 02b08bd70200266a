//===- FunctionTuningTest.cpp - the fastest cuts, on a device that has time -===//
#include "MockDevice.h"
#include "runtime/host/TensorFunctions.h"

using namespace tile;
using namespace tile::host;

namespace {

constexpr const char *kSums = R"(

@tile.function
def sums(x: tensor["M, N", tl.float32]):
    return x.sum(axis=1)
def f():
    return str(sums(tile.zeros((64, 4096))).shape)
)";

TEST(FunctionTuning, TakesTheCutThatTheDeviceIsFastestIn) {
  HostFile file(kSums);
  MockDevice &device = file.device;
  device.cpu = false;
  device.bodies["sums"] = [](auto &, auto &) {};
  // The fewer warps, the faster.
  device.millisecondsOf = [](const CompileOptions &options) { return 1.0 * options.numWarps; };
  file.session.hostContext()->inFastestCuts = true;
  std::vector<std::string> told;
  file.session.tensorFunctions().tuner().onChoice = [&](const runtime::TuneProblem &problem,
                                                        const runtime::TuneResult &result) {
    told.push_back(problem.kernel);
    EXPECT_GT(result.candidates.size(), 1u);
  };
  EXPECT_EQ(file.call("f"), "'(64,)'");
  EXPECT_EQ(told, std::vector<std::string>{"sums"});
  ASSERT_GT(device.prepared.size(), 1u);
  int fewest = device.prepared.front().numWarps;
  for (const CompileOptions &options : device.prepared)
    fewest = std::min<int>(fewest, options.numWarps);
  EXPECT_EQ(device.launched.numWarps, fewest);
  size_t launches = device.launches.size();
  EXPECT_EQ(file.call("f"), "'(64,)'");
  EXPECT_EQ(device.launches.size(), launches + 1) << "measured again";
}

} // namespace
