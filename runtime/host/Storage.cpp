//===- Storage.cpp - memory that is on the host, the device, or both ------===//
#include "runtime/host/Tensor.h"
#include "text/Format.h"
#include <algorithm>
#include <cstring>

using namespace tile::host;

/// What nobody wrote reads as NaN in every float type.
constexpr uint8_t poisonByte = 0xff;
/// Of larger tensors, all counts as written once the host has written a part.
constexpr uint64_t kMostTracked = 1 << 30;

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
  if (bytes <= memory.left()) {
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
  if (holder != Holder::Host && owner->device.isCpu() && bytes <= kMostTracked)
    written.resize(bytes);
  holder = Holder::Host;
  return hostBytes.get();
}

void Storage::wrote(uint64_t at, uint64_t count) {
  if (!written.empty() && count)
    written.set(at, at + count);
}

uint8_t *Storage::overwrite() {
  if (!allocateHost())
    return nullptr;
  written.clear();
  holder = Holder::Host;
  return hostBytes.get();
}

/// Of what the device has, only the bytes that the host wrote: the others may be nobody's.
void Storage::upload() {
  if (written.empty())
    owner->note(owner->device.upload(pointer, hostBytes.get(), bytes));
  for (int begin = written.find_first(), end; begin != -1; begin = written.find_next(end - 1)) {
    end = written.find_next_unset(begin);
    end = end == -1 ? int(written.size()) : end;
    owner->note(owner->device.upload(pointer + begin, hostBytes.get() + begin, end - begin));
  }
  written.clear();
}

tile::runtime::DevicePtr Storage::devicePointer() {
  bool isNew = !pointer;
  if (!allocateDevice())
    return 0;
  bool isWhole = holder == Holder::Host && written.empty();
  if (isNew && bytes && !isWhole)
    owner->note(owner->device.poison(pointer, poisonByte, bytes));
  if (holder == Holder::Host && bytes) {
    upload();
    holder = Holder::Both;
  }
  return pointer;
}

void Storage::deviceWrote() {
  written.clear();
  holder = Holder::Device;
  releaseHost();
}
