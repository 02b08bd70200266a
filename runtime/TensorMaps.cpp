//===- TensorMaps.cpp - tensor map parameters of a launch -----------------===//
#include "runtime/TensorMaps.h"
#include "runtime/MapStrides.h"
#include "text/Format.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSwitch.h"
#include <atomic>
#include <cstring>

using namespace tile;
using namespace tile::runtime;
using cuda::TensorMapDataType;
using cuda::TensorMapSwizzle;

static constexpr unsigned kMaxRank = TensorMapValues::kMaxRank;

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

llvm::Expected<TensorMapPlan::Sum>
runtime::planSum(const LaunchSum &sum,
                 llvm::function_ref<llvm::Expected<LaunchValue>(const LaunchSum::Factor &)> find) {
  TensorMapPlan::Sum plan;
  for (const LaunchSum::Term &term : sum.terms) {
    TensorMapPlan::Term &planned = plan.emplace_back();
    planned.coefficient = term.coefficient;
    for (const LaunchSum::Factor &factor : term.factors) {
      auto value = find(factor);
      if (!value)
        return value.takeError();
      planned.factors.push_back(*value);
    }
  }
  return plan;
}

llvm::Expected<TensorMapPlan> runtime::planTensorMap(
    const TensorMap &map, const KernelParameter &parameter,
    llvm::function_ref<llvm::Expected<LaunchValue>(const LaunchSum::Factor &)> find) {
  static std::atomic<uint64_t> lastId{0};
  TensorMapPlan plan;
  plan.id = ++lastId;
  auto base = find({parameter.index, parameter.path});
  if (!base)
    return base.takeError();
  plan.base = *base;
  auto addSums = [&](const std::vector<LaunchSum> &from, auto &to) -> llvm::Error {
    for (const LaunchSum &sum : from) {
      auto planned = planSum(sum, find);
      if (!planned)
        return planned.takeError();
      to.push_back(std::move(*planned));
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = addSums(map.sizes, plan.sizes))
    return std::move(error);
  if (llvm::Error error = addSums(map.strides, plan.strides))
    return std::move(error);
  if (llvm::Error error = addSums(map.notNegative, plan.notNegative))
    return std::move(error);
  plan.type = llvm::StringSwitch<TensorMapDataType>(map.type)
                  .Case("fp16", TensorMapDataType::Float16)
                  .Case("bf16", TensorMapDataType::BFloat16)
                  .Case("fp32", TensorMapDataType::Float32)
                  .Case("fp64", TensorMapDataType::Float64)
                  .Case("i16", TensorMapDataType::UInt16)
                  .Case("i32", TensorMapDataType::Int32)
                  .Case("i64", TensorMapDataType::Int64)
                  .Default(TensorMapDataType::UInt8);
  plan.elementBytes = llvm::StringSwitch<unsigned>(map.type)
                          .Cases({"fp16", "bf16", "i16"}, 2)
                          .Cases({"fp32", "i32"}, 4)
                          .Cases({"fp64", "i64"}, 8)
                          .Default(1);
  plan.stored = map.stored;
  plan.box.assign(map.box.begin(), map.box.end());
  plan.swizzle = map.swizzle == 128  ? TensorMapSwizzle::Span128B
                 : map.swizzle == 64 ? TensorMapSwizzle::Span64B
                 : map.swizzle == 32 ? TensorMapSwizzle::Span32B
                                     : TensorMapSwizzle::None;
  if (plan.sizes.empty() || plan.sizes.size() > kMaxRank ||
      plan.strides.size() + 1 != plan.sizes.size() || plan.box.size() != plan.sizes.size())
    return makeError(ErrorCode::InvalidArgument, "a tensor map has a rank that is not 1 to 5");
  return plan;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static int64_t read(const LaunchValue &value, llvm::ArrayRef<void *> pointers) {
  const void *at = pointers[value.parameter];
  auto as = [at](auto number) {
    std::memcpy(&number, at, sizeof number);
    return static_cast<int64_t>(number);
  };
  switch (value.bytes) {
  case 1:
    return as(int8_t());
  case 2:
    return as(int16_t());
  case 4:
    return as(int32_t());
  default:
    return as(int64_t());
  }
}

int64_t runtime::evaluate(const TensorMapPlan::Sum &sum, llvm::ArrayRef<void *> pointers) {
  int64_t total = 0;
  for (const TensorMapPlan::Term &term : sum) {
    int64_t product = term.coefficient;
    for (const LaunchValue &factor : term.factors)
      product *= read(factor, pointers);
    total += product;
  }
  return total;
}

TensorMapValues runtime::evaluateTensorMap(const TensorMapPlan &plan,
                                           llvm::ArrayRef<void *> pointers) {
  TensorMapValues values;
  values.rank = unsigned(plan.sizes.size());
  values.base = read(plan.base, pointers);
  for (auto [value, size] : llvm::zip(values.sizes, plan.sizes))
    value = evaluate(size, pointers);
  for (auto [value, stride] : llvm::zip(values.strides, plan.strides))
    value = evaluate(stride, pointers);
  makeMapStrides(values.sizes.data(), values.strides.data(), values.rank, plan.elementBytes);
  values.endsWhole = !plan.stored || values.sizes[0] * plan.elementBytes % 16 == 0;
  values.startsInside = llvm::all_of(plan.notNegative, [&](const TensorMapPlan::Sum &sum) {
    return evaluate(sum, pointers) >= 0;
  });
  return values;
}

bool TensorMapValues::isSuitable() const {
  return startsInside && endsWhole && base % 16 == 0 &&
         llvm::all_of(llvm::ArrayRef(sizes).take_front(rank),
                      [](int64_t n) { return n > 0 && n <= INT32_MAX; }) && // as coordinates are
         llvm::all_of(llvm::ArrayRef(strides).take_front(rank - 1),
                      [](int64_t s) { return s >= 0 && s % 16 == 0 && s < int64_t(1) << 40; });
}

namespace {
/// All that a map depends on.
struct MapKey {
  uint64_t plan = 0; ///< id; 0: an empty entry
  TensorMapValues values;
  bool operator==(const MapKey &) const = default;
};

/// The last maps of this thread.
struct MapCache {
  static constexpr size_t kEntries = 64;
  struct Entry {
    MapKey key;
    cuda::TensorMap map;
  };
  std::array<Entry, kEntries> entries;
};
} // namespace

static llvm::Error encode(const cuda::CudaApi &api, const TensorMapPlan &plan,
                          const TensorMapValues &values, cuda::TensorMap &out) {
  unsigned rank = values.rank;
  uint64_t sizes[kMaxRank], strides[kMaxRank];
  uint32_t elementStrides[kMaxRank] = {1, 1, 1, 1, 1};
  for (unsigned i = 0; i < rank; ++i) {
    sizes[i] = uint64_t(values.sizes[i]);
    strides[i] = uint64_t(values.strides[i]);
  }
  cuda::Result result = api.cuTensorMapEncodeTiled(
      &out, plan.type, rank, reinterpret_cast<void *>(values.base), sizes, strides, plan.box.data(),
      elementStrides, cuda::TensorMapInterleave::None, plan.swizzle,
      cuda::TensorMapL2Promotion::L2_128B, cuda::TensorMapFloatOobFill::None);
  if (result == cuda::Result::Success)
    return llvm::Error::success();
  std::string sizesText, stridesText;
  for (unsigned i = 0; i < rank; ++i)
    sizesText += formatted("{}{}", i ? " x " : "", values.sizes[i]);
  for (unsigned i = 0; i + 1 < rank; ++i)
    stridesText += formatted("{}{}", i ? ", " : "", values.strides[i]);
  return addContext(api.check(result, "cuTensorMapEncodeTiled"),
                    formatted("the array at {:#x} with sizes {} and strides of {} bytes cannot be "
                              "copied by the tensor memory accelerator (strides must be multiples "
                              "of 16 bytes, and not negative)",
                              uint64_t(values.base), sizesText, stridesText));
}

llvm::Error runtime::encodeTensorMap(const cuda::CudaApi &api, const TensorMapPlan &plan,
                                     llvm::ArrayRef<void *> pointers, cuda::TensorMap &out,
                                     bool &isSuitable) {
  MapKey key{plan.id, evaluateTensorMap(plan, pointers)};
  isSuitable = key.values.isSuitable();
  if (!isSuitable)
    return llvm::Error::success();

  thread_local MapCache cache;
  const TensorMapValues &v = key.values;
  size_t hash = llvm::hash_combine(key.plan, v.base, llvm::hash_combine_range(v.sizes),
                                   llvm::hash_combine_range(v.strides));
  MapCache::Entry &entry = cache.entries[hash % MapCache::kEntries];
  if (!(entry.key == key)) {
    entry.key.plan = 0;
    if (llvm::Error error = encode(api, plan, v, entry.map))
      return error;
    entry.key = key;
  }
  out = entry.map;
  return llvm::Error::success();
}
