//===- Storage.cpp - memory that is on the host, the device, or both ------===//
#include "runtime/host/Tensor.h"
#include "text/Format.h"
#include <algorithm>
#include <cstring>

using namespace tile::host;
using tile::formatted;

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
  if (pointer && owner->device.isCpu())
    owner->memory.held -= bytes;
  releaseHost();
}

bool Storage::reserve() {
  Memory &memory = owner->memory;
  if (bytes <= memory.limit - std::min(memory.limit, memory.held)) {
    memory.held += bytes;
    return true;
  }
  owner->note(llvm::createStringError(
      formatted("no memory for the {} bytes of a tensor: others hold {} of {}", bytes, memory.held,
                memory.limit)));
  return false;
}

bool Storage::allocateHost() {
  if (hostBytes)
    return true;
  if (!reserve())
    return false;
  hostBytes.reset(static_cast<uint8_t *>(std::malloc(std::max<uint64_t>(bytes, 1))));
  if (hostBytes)
    return true;
  owner->memory.held -= bytes;
  owner->note(llvm::createStringError(
      formatted("the system has no memory for the {} bytes of a tensor", bytes)));
  return false;
}

void Storage::releaseHost() {
  if (hostBytes)
    owner->memory.held -= bytes;
  hostBytes.reset();
}

bool Storage::allocateDevice() {
  if (pointer)
    return true;
  bool isHostMemory = owner->device.isCpu();
  if (isHostMemory && !reserve())
    return false;
  // An empty tensor has an address too.
  llvm::Expected<runtime::DevicePtr> allocated =
      owner->device.allocate(std::max<uint64_t>(bytes, 1));
  if (!allocated) {
    owner->note(allocated.takeError());
    owner->memory.held -= isHostMemory ? bytes : 0;
    return false;
  }
  pointer = *allocated;
  return true;
}

const uint8_t *Storage::read() {
  if (holder == Holder::Host || holder == Holder::Both)
    return hostBytes.get();
  if (!allocateHost())
    return nullptr;
  if (holder == Holder::Device) {
    owner->note(owner->device.synchronize());
    if (bytes)
      owner->note(owner->device.download(hostBytes.get(), pointer, bytes));
    holder = Holder::Both;
  } else {
    // Still nobody's: reading poison defines nothing.
    std::fill_n(hostBytes.get(), bytes, poisonByte);
  }
  return hostBytes.get();
}

uint8_t *Storage::write() {
  if (!read())
    return nullptr;
  holder = Holder::Host;
  return hostBytes.get();
}

uint8_t *Storage::overwrite() {
  if (!allocateHost())
    return nullptr;
  holder = Holder::Host;
  return hostBytes.get();
}

tile::runtime::DevicePtr Storage::devicePointer() {
  bool isNew = !pointer;
  if (!allocateDevice())
    return 0;
  if (holder == Holder::Host && bytes) {
    owner->note(owner->device.upload(pointer, hostBytes.get(), bytes));
    holder = Holder::Both;
  } else if (holder == Holder::Nobody && isNew && bytes) {
    owner->note(owner->device.poison(pointer, poisonByte, bytes));
  }
  return pointer;
}

void Storage::deviceWrote() {
  holder = Holder::Device;
  releaseHost();
}
