//===- AheadFailuresTest.cpp - the driver fails, under kernels built ahead -===//
//
// Lives of kernels and a function that were built ahead, which call between them every function
// of runtime/ahead/Driver.h but those that are called once in a process: once whole, and then as
// often as they call the driver, with one call more failing each time. Nothing may be left behind,
// an error has a sentence, and the next launch is whole again.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"
#include "ahead.h"
#include "ahead_functions.h"
#include "matmul.h"
#include "recorded.h"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <list>
#include <set>

namespace {

const void *at(uint64_t address) { return reinterpret_cast<const void *>(address); }

class AheadFailures : public testing::Test {
protected:
  AheadFailures() { cuda.reset(); }
  ~AheadFailures() override {
    while (popContext())
      ;
    cuda.allocatedBytes = 0; // what could not be given back is no leak of other tests
    cuda.reset();
  }
  bool popContext() {
    tile::cuda::Context context = nullptr;
    return driverPop(&context) == tile::cuda::Result::Success && context;
  }
  template <typename Launch> void failInTurn(Launch launch);

  using Pop = tile::cuda::Result (*)(tile::cuda::Context *);
  Pop driverPop = reinterpret_cast<Pop>(dlsym(RTLD_DEFAULT, "cuCtxPopCurrent_v2"));
  fakecuda::Control &cuda = *fakeCudaControl();
  std::set<std::string> seen;
};

/// `launch` returns a status, of something that is loaded when it is told so.
template <typename Launch> void AheadFailures::failInTurn(Launch launch) {
  auto begin = [&](size_t failing) {
    while (popContext())
      ;
    cuda.allocatedBytes = 0;
    int localBytes = cuda.localBytes;
    cuda.reset();
    cuda.localBytes = localBytes;
    cuda.failingCall = failing;
  };
  begin(SIZE_MAX);
  int before = cuda.liveModules;
  ASSERT_EQ(launch(true), TILE_OK) << tile_rt_last_error();
  int modules = cuda.liveModules - before; // as long as the process
  size_t calls = cuda.calls.size();
  for (size_t i = 0; i < calls; ++i) {
    begin(i);
    before = cuda.liveModules;
    if (launch(true) != TILE_OK)
      EXPECT_STRNE(tile_rt_last_error(), "") << "an error without a sentence";
    if (cuda.calls.size() <= i)
      break;
    std::string failed = cuda.calls[i];
    seen.insert(failed);
    bool givesBack = failed == "cuModuleUnload" || failed == "cuMemFreeAsync";
    if (!givesBack)
      EXPECT_EQ(cuda.allocatedBytes, 0u) << failed << ", call " << i;
    cuda.failingCall = SIZE_MAX;
    EXPECT_EQ(launch(false), TILE_OK)
        << "behind a failing " << failed << ", call " << i << ": " << tile_rt_last_error();
    if (!givesBack)
      EXPECT_LE(cuda.liveModules - before, modules) << failed << ", call " << i;
  }
}

/// A kernel with all that a code can ask of the driver.
struct Demanding {
  std::vector<tile_rt_variant> variants{scale.variants, scale.variants + scale.num_variants};
  std::vector<std::vector<tile_rt_code>> codes;
  std::vector<std::vector<tile_rt_parameter>> parameters;
  std::list<std::string> texts;
  tile_rt_kernel kernel = scale;
  Demanding() {
    for (tile_rt_variant &variant : variants) {
      codes.emplace_back(variant.codes, variant.codes + variant.num_codes);
      for (tile_rt_code &code : codes.back()) {
        code.cluster[0] = 16;
        code.persistent = 1;
        code.shared_bytes = 100000;
        // Where it spills it is assembled again, and one of the two unloaded.
        code.image = texts.emplace_back(static_cast<const char *>(code.image))
                         .append("\n.reg .b64 %rd<500>;\n")
                         .c_str();
        tile_rt_parameter scratch = {};
        scratch.kind = TILE_RT_SCRATCH, scratch.zero = 1, scratch.bytes = 100;
        parameters.emplace_back(code.parameters, code.parameters + code.num_parameters);
        parameters.back().push_back(scratch);
        code.parameters = parameters.back().data();
        code.num_parameters = uint32_t(parameters.back().size());
      }
      variant.codes = codes.back().data();
    }
    kernel.state = nullptr, kernel.variants = variants.data();
  }
};

TEST_F(AheadFailures, EachFunctionInTurn) {
  Demanding demanding;
  cuda.localBytes = 4096;
  failInTurn([&](bool isFresh) {
    if (isFresh)
      demanding.kernel.state = nullptr;
    const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(48), tile_float(2)};
    return tile_rt_launch(&demanding.kernel, nullptr, nullptr, values, 3, nullptr);
  });
  cuda.localBytes = 0;
  tile_rt_kernel product = matmul;
  const tile_value factors[] = {tile_pointer(at(4096), TILE_FP16),
                                tile_pointer(at(1 << 20), TILE_FP16),
                                tile_pointer(at(1 << 21), TILE_FP16),
                                tile_int(512),
                                tile_int(512),
                                tile_int(512),
                                tile_int(512),
                                tile_int(1),
                                tile_int(512),
                                tile_int(1),
                                tile_int(512),
                                tile_int(1)};
  const uint32_t grid[3] = {16, 1, 1};
  failInTurn([&](bool isFresh) {
    if (isFresh)
      product.state = nullptr;
    return tile_rt_launch(&product, nullptr, grid, factors, 12, nullptr);
  });
  tile_rt_kernel chosen = tuned;
  failInTurn([&](bool isFresh) {
    if (isFresh)
      chosen.state = nullptr;
    const tile_value values[] = {tile_pointer(at(256), TILE_FP32), tile_int(128), tile_text("one")};
    return tile_rt_launch(&chosen, nullptr, nullptr, values, 3, nullptr);
  });
  tile_rt_function function = cubed;
  failInTurn([&](bool isFresh) {
    if (isFresh)
      function.state = nullptr;
    tile_tensor x = {const_cast<void *>(at(4096)), 2, {100, 100}, {}}, out = {};
    out.data = const_cast<void *>(at(1 << 20));
    const void *arguments[] = {&x};
    return tile_rt_run(&function, nullptr, arguments, 1, &out, 1, nullptr, 0);
  });
  EXPECT_THAT(seen, testing::IsSupersetOf({"cuCtxGetCurrent",
                                           "cuCtxGetDevice",
                                           "cuCtxGetId",
                                           "cuCtxPopCurrent_v2",
                                           "cuCtxPushCurrent_v2",
                                           "cuDeviceGet",
                                           "cuDeviceGetAttribute",
                                           "cuDeviceGetName",
                                           "cuFuncGetAttribute",
                                           "cuFuncSetAttribute",
                                           "cuLaunchKernelEx",
                                           "cuMemAllocAsync",
                                           "cuMemFreeAsync",
                                           "cuMemsetD8Async",
                                           "cuModuleGetFunction",
                                           "cuModuleLoadDataEx",
                                           "cuModuleUnload",
                                           "cuOccupancyMaxActiveClusters",
                                           "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                           "cuTensorMapEncodeTiled"}));
}

} // namespace
