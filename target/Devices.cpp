//===- Devices.cpp - what chips can do at most ----------------------------===//
#include "target/Devices.h"
#include "target/Target.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;

// clang-format off
// Order of the peaks: fp8, int8, fp16, tf32, fp64 products, fp32, fp64.
static constexpr DeviceModel devices[] = {
    {"t4", "T4", 75, 40, 1.59, 0.32, 4 << 20, {0, 130, 65, 0, 0, 8.1, 0.25}},
    {"a100", "A100 SXM 80 GB", 80, 108, 1.41, 2.04, 40 << 20, {0, 624, 312, 156, 19.5, 19.5, 9.7}},
    {"a10", "A10", 86, 72, 1.69, 0.6, 6 << 20, {0, 250, 125, 62.5, 0, 31.2, 0.49}},
    {"rtx3090", "RTX 3090", 86, 82, 1.70, 0.936, 6 << 20, {0, 284, 71, 35.6, 0, 35.6, 0.56}},
    {"l4", "L4", 89, 58, 2.04, 0.3, 48 << 20, {242, 242, 121, 60, 0, 30.3, 0.47}},
    {"rtx4090", "RTX 4090", 89, 128, 2.52, 1.008, 72 << 20, {330, 660.6, 165.2, 82.6, 0, 82.6, 1.29}},
    {"l40s", "L40S", 89, 142, 2.52, 0.864, 96 << 20, {733, 733, 362, 183, 0, 91.6, 1.4}},
    {"h100", "H100 SXM", 90, 132, 1.83, 3.35, 50 << 20, {1979, 1979, 989, 494.7, 67, 67, 34}},
    {"h200", "H200 SXM", 90, 132, 1.83, 4.8, 50 << 20, {1979, 1979, 989, 494.7, 67, 67, 34}},
    {"b200", "B200", 100, 148, 1.85, 8.0, 126 << 20, {4500, 4500, 2250, 1100, 37, 75, 37}},
    {"rtx5090", "RTX 5090", 120, 170, 2.41, 1.79, 96 << 20, {419, 838, 209.5, 104.8, 0, 104.8, 1.64}},
};
// clang-format on

static constexpr Board boards[] = {
    {"rtx2080", 75},  {"rtx2080ti", 75},   {"a30", 80},     {"a800", 80},     {"a40", 86},
    {"a10g", 86},     {"a16", 86},         {"a2", 86},      {"rtxa6000", 86}, {"a6000", 86},
    {"rtx3080", 86},  {"rtx3070", 86},     {"rtx3060", 86}, {"orin", 87},     {"l40", 89},
    {"l20", 89},      {"rtx6000ada", 89},  {"rtx4080", 89}, {"rtx4070", 89},  {"rtx4060", 89},
    {"h20", 90},      {"h800", 90},        {"gh200", 90},   {"b100", 100},    {"gb200", 100},
    {"b300", 103},    {"gb300", 103},      {"thor", 110},   {"rtx5080", 120}, {"rtx5070", 120},
    {"rtx5060", 120}, {"rtxpro6000", 120}, {"gb10", 121},   {"spark", 121},
};

/// "NVIDIA RTX 4090" and "rtx-4090" are "rtx4090".
static std::string plainName(llvm::StringRef name) {
  std::string plain;
  for (char c : name)
    if (c != ' ' && c != '-' && c != '_')
      plain += llvm::toLower(c);
  llvm::StringRef text = plain;
  text.consume_front("nvidia");
  text.consume_front("geforce");
  return text.str();
}

llvm::StringRef tile::nameOf(Arithmetic arithmetic) {
  static constexpr llvm::StringLiteral names[] = {"fp8",          "int8", "fp16", "tf32",
                                                  "fp64 product", "fp32", "fp64"};
  return names[unsigned(arithmetic)];
}

llvm::ArrayRef<DeviceModel> tile::allDevices() { return devices; }

const DeviceModel *tile::findDevice(llvm::StringRef name) {
  std::string plain = plainName(name);
  for (const DeviceModel &device : devices)
    if (device.name == plain)
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

const DeviceModel &tile::deviceLike(int capability) {
  const DeviceModel *device = deviceFor(capability);
  return device ? *device : *findDevice("h100");
}

const Multiprocessor &DeviceModel::multiprocessor() const {
  return findTarget(targetOf(*this))->multiprocessor;
}

std::string tile::targetOf(const DeviceModel &device) { return targetNameOf(device.capability); }

std::vector<llvm::StringRef> tile::boardNames() {
  std::vector<llvm::StringRef> names;
  for (const DeviceModel &device : devices)
    names.push_back(device.name);
  for (const Board &board : boards)
    names.push_back(board.name);
  return names;
}

std::optional<std::string> tile::targetOfBoard(llvm::StringRef name) {
  if (const DeviceModel *device = findDevice(name))
    return targetOf(*device);
  std::string plain = plainName(name);
  for (const Board &board : boards)
    if (board.name == plain)
      return targetNameOf(board.capability);
  return std::nullopt;
}

std::string tile::deviceNames() {
  std::string names;
  for (const DeviceModel &device : devices)
    names += (names.empty() ? "" : ", ") + device.name.str();
  return names;
}
