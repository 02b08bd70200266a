//===- Device.cpp - the device-independent part of the contract -----------===//
#include "runtime/Device.h"

using namespace tile::runtime;

Kernel::~Kernel() = default;
Device::~Device() = default;
std::optional<double> Device::estimate(const KernelRequest &, LaunchOutline) {
  return std::nullopt;
}

LaunchArg LaunchArg::pointer(DevicePtr p) {
  LaunchArg arg;
  arg.kind = Kind::Pointer;
  arg.bits = p;
  return arg;
}

LaunchArg LaunchArg::integer(uint64_t bits) {
  LaunchArg arg;
  arg.kind = Kind::Int;
  arg.bits = bits;
  return arg;
}

LaunchArg LaunchArg::real(double value) {
  LaunchArg arg;
  arg.kind = Kind::Float;
  arg.number = value;
  return arg;
}
