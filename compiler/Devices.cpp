//===- Devices.cpp - what chips can do at most ----------------------------===//
#include "compiler/Devices.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace tile;

// Order of the peaks: fp8, int8, fp16, tf32, fp64 products, fp32, fp64.
static constexpr DeviceModel devices[] = {
    {"t4", "T4", 75, 40, 1.59, 0.32, {0, 130, 65, 0, 0, 8.1, 0.25}, 64 << 10, 1024, 16},
    {"a100",
     "A100 SXM 80 GB",
     80,
     108,
     1.41,
     2.04,
     {0, 624, 312, 156, 19.5, 19.5, 9.7},
     164 << 10,
     2048,
     32},
    {"a10", "A10", 86, 72, 1.69, 0.6, {0, 250, 125, 62.5, 0, 31.2, 0.49}, 100 << 10, 1536, 16},
    {"l4", "L4", 89, 58, 2.04, 0.3, {242, 242, 121, 60, 0, 30.3, 0.47}, 100 << 10, 1536, 24},
    {"l40s", "L40S", 89, 142, 2.52, 0.864, {733, 733, 362, 183, 0, 91.6, 1.4}, 100 << 10, 1536, 24},
    {"h100",
     "H100 SXM",
     90,
     132,
     1.83,
     3.35,
     {1979, 1979, 989, 494.7, 67, 67, 34},
     228 << 10,
     2048,
     32},
    {"h200",
     "H200 SXM",
     90,
     132,
     1.83,
     4.8,
     {1979, 1979, 989, 494.7, 67, 67, 34},
     228 << 10,
     2048,
     32},
    {"b200",
     "B200",
     100,
     148,
     1.85,
     8.0,
     {4500, 4500, 2250, 1100, 37, 75, 37},
     228 << 10,
     2048,
     32},
    {"rtx5090",
     "RTX 5090",
     120,
     170,
     2.41,
     1.79,
     {419, 838, 209.5, 104.8, 0, 104.8, 1.64},
     100 << 10,
     1536,
     24},
};

llvm::StringRef tile::nameOf(Arithmetic arithmetic) {
  static constexpr llvm::StringLiteral names[] = {"fp8",          "int8", "fp16", "tf32",
                                                  "fp64 product", "fp32", "fp64"};
  return names[unsigned(arithmetic)];
}

llvm::ArrayRef<DeviceModel> tile::allDevices() { return devices; }

const DeviceModel *tile::findDevice(llvm::StringRef name) {
  for (const DeviceModel &device : devices)
    if (device.name == name)
      return &device;
  return nullptr;
}

const DeviceModel *tile::deviceFor(int capability) {
  const DeviceModel *best = nullptr;
  for (const DeviceModel &device : devices) // the largest chip of that kind
    if (device.capability == capability)
      best = &device;
  return best;
}

std::string tile::targetOf(const DeviceModel &device) {
  return "sm_" + std::to_string(device.capability) + (device.capability >= 90 ? "a" : "");
}

std::string tile::deviceNames() {
  std::string names;
  for (const DeviceModel &device : devices)
    names += (names.empty() ? "" : ", ") + device.name.str();
  return names;
}

Occupancy tile::occupancyOf(const DeviceModel &device, int threads, int registers,
                            int sharedBytes) {
  Occupancy result{device.blocks, "thread blocks"};
  auto limit = [&](int64_t programs, llvm::StringRef by) {
    if (programs < result.programs)
      result = {int(programs), by};
  };
  limit(device.threads / std::max(threads, 1), "threads");
  if (registers > 0) { // each scheduler has a quarter, dealt out by the warp in units of 256
    constexpr int schedulers = 4;
    int64_t ofWarp = int64_t(llvm::alignTo(uint64_t(registers) * 32, 256));
    int64_t warps = device.registers / schedulers / ofWarp * schedulers;
    limit(warps / ((threads + 31) / 32), "registers");
  }
  // The system keeps 1 KB of each block's shared memory on sm_80 and later.
  int64_t shared = sharedBytes + (device.capability >= 80 ? 1024 : 0);
  if (shared)
    limit(device.sharedBytes / shared, "shared memory");
  return result;
}
