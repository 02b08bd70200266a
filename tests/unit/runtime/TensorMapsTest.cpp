//===- TensorMapsTest.cpp - tensor maps made at launch --------------------===//
#include "runtime/TensorMaps.h"
#include "TestSupport.h"
#include <thread>

using namespace tile;
using namespace tile::test;
using tile::cuda::TensorMapDataType;
using tile::cuda::TensorMapSwizzle;
using Kind = KernelParameter::Kind;

namespace {

LaunchSum product(int64_t c, std::vector<int> entries) {
  LaunchSum::Term term{c, {}};
  for (int entry : entries)
    term.factors.push_back({entry, {}});
  return {{std::move(term)}};
}

/// The map of an f16 array of entry(2) rows of entry(1) columns, with rows
/// 2 * entry(3) bytes apart.
KernelParameter matrix() {
  KernelParameter p;
  p.kind = Kind::TensorMap;
  p.index = 0;
  p.map.type = "fp16";
  p.map.sizes = {product(1, {1}), product(1, {2})};
  p.map.strides = {product(2, {3})};
  p.map.box = {64, 128};
  p.map.swizzle = 128;
  return p;
}

/// What the fake driver writes into a map.
struct FakeMap {
  uint64_t base, type, rank, swizzle, size0, size1, stride0, box0, box1;
  static FakeMap read(const void *at) {
    FakeMap map;
    std::memcpy(&map, at, sizeof map);
    return map;
  }
};

llvm::Expected<LaunchValue> asParameter(const LaunchSum::Factor &factor) {
  return LaunchValue{unsigned(factor.index), factor.index == 0 ? 8u : 4u};
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

TEST(PlanTensorMap, CarriesTheDescriptionOver) {
  KernelParameter p = matrix();
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  EXPECT_EQ(plan.base.parameter, 0u);
  ASSERT_EQ(plan.sizes.size(), 2u);
  EXPECT_EQ(plan.sizes[1].front().factors.front().parameter, 2u);
  EXPECT_EQ(plan.strides.front().front().coefficient, 2);
  EXPECT_EQ(plan.type, TensorMapDataType::Float16);
  EXPECT_EQ(plan.swizzle, TensorMapSwizzle::Span128B);
  EXPECT_EQ(llvm::ArrayRef(plan.box), llvm::ArrayRef<uint32_t>({64, 128}));
}

TEST(PlanTensorMap, KnowsEveryElementType) {
  struct {
    const char *type;
    TensorMapDataType expected;
    unsigned bytes;
  } cases[] = {{"fp16", TensorMapDataType::Float16, 2},  {"bf16", TensorMapDataType::BFloat16, 2},
               {"fp32", TensorMapDataType::Float32, 4},  {"fp64", TensorMapDataType::Float64, 8},
               {"i16", TensorMapDataType::UInt16, 2},    {"i32", TensorMapDataType::Int32, 4},
               {"i64", TensorMapDataType::Int64, 8},     {"i8", TensorMapDataType::UInt8, 1},
               {"fp8e4nv", TensorMapDataType::UInt8, 1}, {"fp8e5", TensorMapDataType::UInt8, 1}};
  for (const auto &c : cases) {
    KernelParameter p = matrix();
    p.map.type = c.type;
    TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
    EXPECT_EQ(plan.type, c.expected) << c.type;
    EXPECT_EQ(plan.elementBytes, c.bytes) << c.type;
  }
}

TEST(PlanTensorMap, KnowsEverySwizzle) {
  std::pair<int, TensorMapSwizzle> cases[] = {{128, TensorMapSwizzle::Span128B},
                                              {64, TensorMapSwizzle::Span64B},
                                              {32, TensorMapSwizzle::Span32B},
                                              {0, TensorMapSwizzle::None}};
  for (auto [bytes, expected] : cases) {
    KernelParameter p = matrix();
    p.map.swizzle = bytes;
    EXPECT_EQ(valueOf(planTensorMap(p.map, p, asParameter)).swizzle, expected);
  }
}

TEST(PlanTensorMap, RefusesRanksThatDoNotFit) {
  auto errorFor = [](auto change) {
    KernelParameter p = matrix();
    change(p.map);
    return errorOf(planTensorMap(p.map, p, asParameter));
  };
  for (const auto &error :
       {errorFor([](TensorMap &m) { m.sizes.clear(); }),
        errorFor([](TensorMap &m) { m.strides.clear(); }),
        errorFor([](TensorMap &m) { m.box.pop_back(); }),
        errorFor([](TensorMap &m) { m.sizes.resize(6), m.strides.resize(5), m.box.resize(6); })}) {
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("rank"));
  }
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

class EncodeTest : public FakeDriverTest {
protected:
  EncodeTest() : context(primary()), scope(api, context->handle()) {}
  FakeMap encode(const TensorMapPlan &plan) {
    tile::cuda::TensorMap map;
    bool isSuitable = false;
    expectSuccess(encodeTensorMap(api, plan, pointers, map, isSuitable));
    EXPECT_TRUE(isSuitable);
    return FakeMap::read(&map);
  }
  int encodings() { return cuda.numCalls("cuTensorMapEncodeTiled"); }

  std::shared_ptr<Context> context;
  ScopedContext scope;
  uint64_t base = 0x10000;
  int32_t columns = 1000, rows = 77, stride = 1024;
  void *pointers[4] = {&base, &columns, &rows, &stride};
};

TEST_F(EncodeTest, EvaluatesTheSums) {
  KernelParameter p = matrix();
  // columns * rows * 3 + 8
  p.map.sizes[0] = {{{3, {{1, {}}, {2, {}}}}, {8, {}}}};
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  FakeMap map = encode(plan);
  EXPECT_EQ(map.base, base);
  EXPECT_EQ(map.rank, 2u);
  EXPECT_EQ(map.size0, 1000u * 77 * 3 + 8);
  EXPECT_EQ(map.size1, 77u);
  EXPECT_EQ(map.stride0, 2048u);
  EXPECT_EQ(map.box0, 64u);
  EXPECT_EQ(map.box1, 128u);
}

TEST_F(EncodeTest, ReadsIntegersOfEveryWidthWithTheirSign) {
  int8_t i8 = -1;
  int16_t i16 = -2;
  int64_t i64 = int64_t(1) << 35;
  void *values[4] = {&base, &i8, &i16, &i64};
  auto find = [](const LaunchSum::Factor &f) -> llvm::Expected<LaunchValue> {
    const unsigned bytes[] = {8, 1, 2, 8};
    return LaunchValue{unsigned(f.index), bytes[f.index]};
  };
  KernelParameter p = matrix();
  p.map.sizes = {product(-24, {1}), product(-4, {2})}; // 24, 8
  p.map.strides = {product(1, {3})};
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, find));
  tile::cuda::TensorMap out;
  bool isSuitable = false;
  expectSuccess(encodeTensorMap(api, plan, values, out, isSuitable));
  EXPECT_TRUE(isSuitable);
  FakeMap map = FakeMap::read(&out);
  EXPECT_EQ(map.size0, 24u);
  EXPECT_EQ(map.size1, 8u);
  EXPECT_EQ(map.stride0, uint64_t(i64));
}

TEST_F(EncodeTest, RowsThatAreStoredEndAtMultiplesOf16Bytes) {
  KernelParameter p = matrix();
  TensorMapPlan loaded = valueOf(planTensorMap(p.map, p, asParameter));
  p.map.stored = true;
  TensorMapPlan stored = valueOf(planTensorMap(p.map, p, asParameter));
  for (auto [length, fits] : {std::pair(1000, true), {1001, false}, {1004, false}, {8, true}}) {
    columns = length;
    EXPECT_EQ(evaluateTensorMap(stored, pointers).isSuitable(), fits) << length;
    EXPECT_TRUE(evaluateTensorMap(loaded, pointers).isSuitable()) << length;
  }
}

TEST_F(EncodeTest, WhatHasOneIndexMayLieAnyDistanceApart) {
  KernelParameter p = matrix();
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  columns = 1001;
  for (int32_t apart : {0, 1, -8, 1001, 1024}) {
    stride = apart;
    rows = 2;
    EXPECT_EQ(evaluateTensorMap(plan, pointers).isSuitable(), apart == 0 || apart == 1024) << apart;
    rows = 1;
    EXPECT_EQ(encode(plan).stride0, 2016u) << apart; // a row, up to a multiple of 16 bytes
  }
  columns = 0; // still no array
  EXPECT_FALSE(evaluateTensorMap(plan, pointers).isSuitable());
}

TEST_F(EncodeTest, OfThreeDimensionsTheOneInsideLendsItsStride) {
  KernelParameter p = matrix();
  p.map.sizes.push_back(product(1, {}));
  p.map.strides.push_back(product(0, {}));
  p.map.box.push_back(1);
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  TensorMapValues values = evaluateTensorMap(plan, pointers);
  EXPECT_TRUE(values.isSuitable());
  EXPECT_EQ(values.strides[0], 2048);
  EXPECT_EQ(values.strides[1], 2048);
}

TEST_F(EncodeTest, SameArgumentsAreEncodedOnce) {
  KernelParameter p = matrix();
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  encode(plan);
  EXPECT_EQ(encodings(), 1);
  encode(plan);
  EXPECT_EQ(encodings(), 1);
  // Anything that goes into the map makes another.
  base += 16;
  EXPECT_EQ(encode(plan).base, base);
  EXPECT_EQ(encodings(), 2);
  rows = 78;
  EXPECT_EQ(encode(plan).size1, 78u);
  stride = 2048;
  EXPECT_EQ(encode(plan).stride0, 4096u);
  EXPECT_EQ(encodings(), 4);
}

TEST_F(EncodeTest, PlansDoNotShareMaps) {
  KernelParameter p = matrix();
  TensorMapPlan one = valueOf(planTensorMap(p.map, p, asParameter));
  p.map.box[1] = 64;
  TensorMapPlan other = valueOf(planTensorMap(p.map, p, asParameter));
  EXPECT_EQ(encode(one).box1, 128u);
  EXPECT_EQ(encode(other).box1, 64u);
  EXPECT_EQ(encode(one).box1, 128u);
}

/// A tuner loads kernel after kernel: the plan of the next one may lie where
/// the last one's was.
TEST_F(EncodeTest, AMapDoesNotOutliveItsPlan) {
  KernelParameter p = matrix();
  auto plan = std::make_unique<TensorMapPlan>(valueOf(planTensorMap(p.map, p, asParameter)));
  EXPECT_EQ(encode(*plan).box1, 128u);
  p.map.box[1] = 64;
  *plan = valueOf(planTensorMap(p.map, p, asParameter)); // the same address
  EXPECT_EQ(encode(*plan).box1, 64u);
}

/// More argument sets than the cache has places: each still gets its own map.
TEST_F(EncodeTest, ManyArgumentSets) {
  KernelParameter p = matrix();
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 300; ++i) {
      rows = 1 + i;
      base = 0x10000 + 4096 * uint64_t(i);
      FakeMap map = encode(plan);
      ASSERT_EQ(map.size1, uint64_t(rows));
      ASSERT_EQ(map.base, base);
    }
}

TEST_F(EncodeTest, ThreadsHaveTheirOwnCache) {
  KernelParameter p = matrix();
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  encode(plan);
  std::thread([&] {
    ScopedContext inThread(api, context->handle());
    EXPECT_EQ(encode(plan).base, base);
  }).join();
  EXPECT_EQ(encodings(), 2);
}

TEST_F(EncodeTest, AnEmptyArrayHasNoMap) {
  KernelParameter p = matrix();
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  for (int32_t count : {0, -5}) {
    rows = count;
    tile::cuda::TensorMap map;
    bool isSuitable = true;
    expectSuccess(encodeTensorMap(api, plan, pointers, map, isSuitable));
    EXPECT_FALSE(isSuitable) << count;
  }
  EXPECT_EQ(encodings(), 0);
}

TEST_F(EncodeTest, SizesAreNoLargerThanCoordinates) {
  KernelParameter p = matrix();
  p.map.sizes.back() = product(int64_t(1) << 30, {2});
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  for (int32_t count : {1, 2, 8}) {
    rows = count;
    tile::cuda::TensorMap map;
    bool isSuitable = count > 1;
    expectSuccess(encodeTensorMap(api, plan, pointers, map, isSuitable));
    EXPECT_EQ(isSuitable, count == 1) << count;
  }
}

TEST_F(EncodeTest, AMapMayNeedArgumentsThatAreNotNegative) {
  KernelParameter p = matrix();
  p.map.notNegative = {p.map.sizes.back()};
  p.map.sizes.back() = {{{100, {}}}};
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  for (int32_t start : {-1, 0, 1}) {
    rows = start;
    tile::cuda::TensorMap map;
    bool isSuitable = start < 0;
    expectSuccess(encodeTensorMap(api, plan, pointers, map, isSuitable));
    EXPECT_EQ(isSuitable, start >= 0) << start;
  }
}

TEST_F(EncodeTest, ArraysThatDoNotSuitAreNotEncoded) {
  KernelParameter p = matrix();
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  auto suits = [&](uint64_t at, int32_t apart) {
    base = at, stride = apart;
    tile::cuda::TensorMap map;
    bool isSuitable = true;
    expectSuccess(encodeTensorMap(api, plan, pointers, map, isSuitable));
    return isSuitable;
  };
  EXPECT_FALSE(suits(0x10000, 1004)); // 2008 bytes
  EXPECT_FALSE(suits(0x10000, -8));
  EXPECT_FALSE(suits(0x10000, -1024));
  EXPECT_FALSE(suits(0x10008, 1024));
  EXPECT_EQ(encodings(), 0);
  EXPECT_TRUE(suits(0x10010, 1024));
  EXPECT_EQ(encodings(), 1);
}

TEST_F(EncodeTest, ARefusalNamesTheNumbersAndIsNotKept) {
  KernelParameter p = matrix();
  TensorMapPlan plan = valueOf(planTensorMap(p.map, p, asParameter));
  cuda.failures["cuTensorMapEncodeTiled"] = tile::cuda::Result::InvalidValue;
  tile::cuda::TensorMap map;
  bool isSuitable = false;
  for (int i = 0; i < 2; ++i) {
    ErrorParts error = errorOf(encodeTensorMap(api, plan, pointers, map, isSuitable));
    EXPECT_THAT(error.message, HasSubstr("1000 x 77"));
    EXPECT_THAT(error.message, HasSubstr("2048 bytes"));
  }
  EXPECT_EQ(encodings(), 2); // tried again: a failure is not a map
  cuda.failures.clear();
  EXPECT_EQ(encode(plan).stride0, 2048u);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

class TensorMapLaunchTest : public FakeDriverTest {
protected:
  /// copy(array, columns, rows, stride, <map of the array>)
  CompiledKernel copyKernel() {
    std::vector<KernelParameter> parameters = {argument(0, "ptr"), argument(1, "i32"),
                                               argument(2, "i32"), argument(3, "i32"), matrix()};
    return makeKernel(std::move(parameters), "copy");
  }
  std::shared_ptr<LoadedKernel> load(CompiledKernel kernel) {
    return valueOf(LoadedKernel::load(share(std::move(kernel)), primary()));
  }
  FakeMap mapOf(const fakecuda::Launch &launch) {
    EXPECT_EQ(launch.parameters[4].size(), 128u);
    return FakeMap::read(launch.parameters[4].data());
  }

  uint64_t base = 0x20000;
  int32_t columns = 512, rows = 9, stride = 512;
  const void *arguments[4] = {&base, &columns, &rows, &stride};
  static constexpr uint32_t one[3] = {1, 1, 1};
};

TEST_F(TensorMapLaunchTest, TheMapIsMadeFromTheArguments) {
  std::shared_ptr<LoadedKernel> kernel = load(copyKernel());
  EXPECT_EQ(kernel->numArguments(), 4u); // the map is nobody's argument
  expectSuccess(kernel->launch(nullptr, one, arguments));
  FakeMap map = mapOf(cuda.launches.back());
  EXPECT_EQ(map.base, base);
  EXPECT_EQ(map.size0, 512u);
  EXPECT_EQ(map.size1, 9u);
  EXPECT_EQ(map.stride0, 1024u);
  EXPECT_EQ(cuda.launches.back().parameters[2], bytesOf(rows));
}

TEST_F(TensorMapLaunchTest, APreparedLaunchFollowsItsArguments) {
  PreparedLaunch launch(load(copyKernel()));
  expectSuccess(launch.setArguments(arguments));
  expectSuccess(launch.launch(nullptr));
  EXPECT_EQ(mapOf(cuda.launches.back()).size1, 9u);
  expectSuccess(launch.launch(nullptr));
  EXPECT_EQ(cuda.numCalls("cuTensorMapEncodeTiled"), 1);
  int32_t more = 10;
  expectSuccess(launch.setArgument(2, &more));
  expectSuccess(launch.launch(nullptr));
  EXPECT_EQ(mapOf(cuda.launches.back()).size1, 10u);
  EXPECT_EQ(cuda.numCalls("cuTensorMapEncodeTiled"), 2);
}

TEST_F(TensorMapLaunchTest, AStrideThatDoesNotSuitIsAnErrorOfThisLaunch) {
  std::shared_ptr<LoadedKernel> kernel = load(copyKernel());
  stride = 511;
  ErrorParts error = errorOf(kernel->launch(nullptr, one, arguments));
  EXPECT_THAT(error.message, HasSubstr("multiples of 16 bytes"));
  EXPECT_TRUE(cuda.launches.empty());
  stride = 512;
  expectSuccess(kernel->launch(nullptr, one, arguments));
}

/// A kernel that knows how to do without maps is compiled again, once.
TEST_F(TensorMapLaunchTest, WhereNoMapSuitsAnotherKernelRuns) {
  int compiled = 0;
  CompiledKernel kernel = copyKernel();
  kernel.withoutTensorMaps = [&]() -> llvm::Expected<std::shared_ptr<const CompiledKernel>> {
    ++compiled;
    return share(
        makeKernel({argument(0, "ptr"), argument(1, "i32"), argument(2, "i32"), argument(3, "i32")},
                   "copy_without"));
  };
  std::shared_ptr<LoadedKernel> loaded = load(std::move(kernel));
  stride = 511;
  expectSuccess(loaded->launch(nullptr, one, arguments));
  expectSuccess(loaded->launch(nullptr, one, arguments));
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(cuda.launches.back().kernel, "copy_without");
  EXPECT_EQ(cuda.launches.back().parameters[3], bytesOf(stride));
  stride = 512;
  expectSuccess(loaded->launch(nullptr, one, arguments));
  EXPECT_EQ(cuda.launches.back().kernel, "copy");
}

TEST_F(TensorMapLaunchTest, WarmLaunchesNeitherAllocateNorLock) {
  CompiledKernel kernel = copyKernel();
  kernel.withoutTensorMaps = [&] {
    return llvm::Expected<std::shared_ptr<const CompiledKernel>>(share(
        makeKernel({argument(0, "ptr"), argument(1, "i32"), argument(2, "i32"), argument(3, "i32")},
                   "plain")));
  };
  std::shared_ptr<LoadedKernel> loaded = load(std::move(kernel));
  auto launch = [&] { return loaded->launch(nullptr, one, arguments); };
  for (int32_t each : {512, 511}) { // with maps, and where none suits
    stride = each;
    expectSuccess(launch());
    expectNoAllocationAndNoLock(launch);
  }
}

TEST_F(TensorMapLaunchTest, AMapOfWhatIsNoParameterIsBadMetadata) {
  CompiledKernel kernel = copyKernel();
  kernel.metadata.params[4].map.sizes[0] = product(1, {7});
  ErrorParts error = errorOf(LoadedKernel::load(share(std::move(kernel)), primary()));
  EXPECT_THAT(error.message, HasSubstr("entry 7"));
}

} // namespace
