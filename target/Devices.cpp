//===- Devices.cpp - what chips can do at most ----------------------------===//
#include "target/Devices.h"
#include "target/Target.h"

using namespace tile;

// clang-format off
// Order of the peaks: fp8, int8, fp16, tf32, fp64 products, fp32, fp64.
static constexpr DeviceModel devices[] = {
    {"t4", "T4", 75, 40, 1.59, 0.32, 4 << 20, {0, 130, 65, 0, 0, 8.1, 0.25}},
    {"a100", "A100 SXM 80 GB", 80, 108, 1.41, 2.04, 40 << 20, {0, 624, 312, 156, 19.5, 19.5, 9.7}},
    {"a10", "A10", 86, 72, 1.69, 0.6, 6 << 20, {0, 250, 125, 62.5, 0, 31.2, 0.49}},
    {"l4", "L4", 89, 58, 2.04, 0.3, 48 << 20, {242, 242, 121, 60, 0, 30.3, 0.47}},
    {"l40s", "L40S", 89, 142, 2.52, 0.864, 96 << 20, {733, 733, 362, 183, 0, 91.6, 1.4}},
    {"h100", "H100 SXM", 90, 132, 1.83, 3.35, 50 << 20, {1979, 1979, 989, 494.7, 67, 67, 34}},
    {"h200", "H200 SXM", 90, 132, 1.83, 4.8, 50 << 20, {1979, 1979, 989, 494.7, 67, 67, 34}},
    {"b200", "B200", 100, 148, 1.85, 8.0, 126 << 20, {4500, 4500, 2250, 1100, 37, 75, 37}},
    {"rtx5090", "RTX 5090", 120, 170, 2.41, 1.79, 96 << 20, {419, 838, 209.5, 104.8, 0, 104.8, 1.64}},
};
// clang-format on

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

const Multiprocessor &DeviceModel::multiprocessor() const {
  return findTarget(targetOf(*this))->multiprocessor;
}

std::string tile::targetOf(const DeviceModel &device) { return targetNameOf(device.capability); }

std::string tile::deviceNames() {
  std::string names;
  for (const DeviceModel &device : devices)
    names += (names.empty() ? "" : ", ") + device.name.str();
  return names;
}
