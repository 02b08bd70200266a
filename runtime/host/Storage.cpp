//===- Storage.cpp - memory that is on the host, the device, or both ------===//
#include "runtime/host/Tensor.h"
#include <algorithm>
#include <cstring>

using namespace tile::host;

/// What nobody wrote reads as NaN in every float type.
constexpr uint8_t poisonByte = 0xff;

void HostContext::note(llvm::Error error) {
  if (!error)
    return;
  std::string message = llvm::toString(std::move(error));
  if (deviceError.empty())
    deviceError = message;
}

Storage::Storage(ContextPtr context, uint64_t bytes) : owner(std::move(context)), bytes(bytes) {}

Storage::~Storage() {
  owner->exposed.erase(this);
  if (pointer)
    owner->note(owner->device.free(pointer));
}

void Storage::allocateHost() { hostBytes.resize(bytes); }

bool Storage::allocateDevice() {
  if (pointer)
    return true;
  // An empty tensor has an address too.
  llvm::Expected<runtime::DevicePtr> allocated =
      owner->device.allocate(std::max<uint64_t>(bytes, 1));
  if (!allocated) {
    owner->note(allocated.takeError());
    return false;
  }
  pointer = *allocated;
  return true;
}

const uint8_t *Storage::read() {
  if (holder == Holder::Host || holder == Holder::Both)
    return hostBytes.data();
  allocateHost();
  if (holder == Holder::Device) {
    owner->note(owner->device.synchronize());
    if (bytes)
      owner->note(owner->device.download(hostBytes.data(), pointer, bytes));
    holder = Holder::Both;
  } else {
    // Still nobody's: reading poison defines nothing.
    std::fill_n(hostBytes.data(), bytes, poisonByte);
  }
  return hostBytes.data();
}

uint8_t *Storage::write() {
  read();
  holder = Holder::Host;
  return hostBytes.data();
}

uint8_t *Storage::overwrite() {
  allocateHost();
  holder = Holder::Host;
  return hostBytes.data();
}

tile::runtime::DevicePtr Storage::devicePointer() {
  bool isNew = !pointer;
  if (!allocateDevice())
    return 0;
  if (holder == Holder::Host && bytes) {
    owner->note(owner->device.upload(pointer, hostBytes.data(), bytes));
    holder = Holder::Both;
  } else if (holder == Holder::Nobody && isNew && bytes) {
    owner->note(owner->device.poison(pointer, poisonByte, bytes));
  }
  return pointer;
}

void Storage::deviceWrote() {
  holder = Holder::Device;
  hostBytes.clear();
  hostBytes.shrink_to_fit();
}
