//===- EmuParameters.cpp - what an emulated launch makes for a kernel -----===//
#include "runtime/devices/EmuParameters.h"
#include "runtime/Error.h"
#include "text/Format.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tile;
using namespace tile::runtime;

static unsigned spanBytes(cuda::TensorMapSwizzle swizzle) {
  switch (swizzle) {
  case cuda::TensorMapSwizzle::Span32B:
    return 32;
  case cuda::TensorMapSwizzle::Span64B:
    return 64;
  case cuda::TensorMapSwizzle::Span128B:
    return 128;
  default:
    return 0;
  }
}

/// What the driver would encode, refused for the same reasons.
static llvm::Expected<emu::TensorMap> makeTensorMap(const TensorMapPlan &plan,
                                                    const TensorMapValues &values) {
  auto refuse = [](const char *why) {
    return makeError(ErrorCode::InvalidArgument, formatted("a tensor map has {}", why));
  };
  emu::TensorMap map;
  map.base = uint64_t(values.base);
  map.rank = uint8_t(values.rank);
  map.elementBytes = uint8_t(plan.elementBytes);
  map.swizzle = uint8_t(spanBytes(plan.swizzle));
  for (unsigned d = 0; d < values.rank; ++d) {
    map.dims[d] = uint64_t(values.sizes[d]);
    map.box[d] = uint16_t(plan.box[d]);
    if (plan.box[d] < 1 || plan.box[d] > 256)
      return refuse("a box that is not 1 to 256 elements wide");
    if (d + 1 < values.rank)
      map.strides[d] = uint64_t(values.strides[d]);
  }
  unsigned rowBytes = map.box[0] * map.elementBytes;
  if (rowBytes % 16 || (map.swizzle && rowBytes > map.swizzle))
    return refuse("a box whose rows are no multiple of 16 bytes, or longer than the swizzle");
  return map;
}

llvm::Expected<bool> runtime::makeTensorMaps(const LaunchPlan &plan,
                                             llvm::MutableArrayRef<void *> pointers,
                                             LaunchMemory &memory) {
  for (const TensorMapPlan &planned : plan.tensorMaps) {
    TensorMapValues values = evaluateTensorMap(planned, pointers);
    if (!values.isSuitable())
      return false;
    auto map = makeTensorMap(planned, values);
    if (!map)
      return map.takeError();
    pointers[planned.parameter] = &memory.maps.emplace_back(*map);
  }
  return true;
}

void runtime::addScratch(const LaunchPlan &plan, uint64_t programs, uint8_t garbage,
                         llvm::MutableArrayRef<void *> pointers, LaunchMemory &memory,
                         std::vector<emu::MemoryRange> &ranges) {
  for (auto [pointer, parameter] : llvm::zip(pointers, plan.parameters)) {
    if (parameter.kind != KernelParameter::Kind::Scratch)
      continue;
    uint64_t bytes = uint64_t(parameter.bytes) * (parameter.perProgram ? programs : 1);
    auto &block = memory.scratch.emplace_back(std::make_unique<uint8_t[]>(bytes + 256));
    uint64_t address = llvm::alignTo(reinterpret_cast<uint64_t>(block.get()), 256);
    std::memset(reinterpret_cast<void *>(address), parameter.zero ? 0 : garbage, bytes);
    ranges.push_back({address, bytes});
    pointer = &memory.scratchAddresses.emplace_back(address);
  }
}
