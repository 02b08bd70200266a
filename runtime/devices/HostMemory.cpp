//===- HostMemory.cpp - devices whose memory is the host's ----------------===//
#include "runtime/devices/HostMemory.h"
#include "runtime/Error.h"
#include "runtime/Timing.h"
#include "text/Format.h"
#include <chrono>
#include <cstring>
#include <thread>

using namespace tile;
using namespace tile::runtime;

static void *host(DevicePtr pointer) { return reinterpret_cast<void *>(pointer); }

HostMemoryDevice::~HostMemoryDevice() {
  for (auto &[address, block] : blocks)
    ::operator delete[](block.raw, std::align_val_t(kAlignment));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

llvm::Expected<DevicePtr> HostMemoryDevice::allocate(uint64_t bytes) {
  uint64_t total = bytes + 2 * kGuard;
  void *raw =
      total < bytes ? nullptr : ::operator new[](total, std::align_val_t(kAlignment), std::nothrow);
  if (!raw)
    return makeError(ErrorCode::OutOfMemory,
                     formatted("out of memory: {} bytes were asked for", bytes));
  auto *at = static_cast<uint8_t *>(raw);
  std::memset(at, kGuardByte, kGuard);
  std::memset(at + kGuard, kFreshByte, bytes);
  std::memset(at + kGuard + bytes, kGuardByte, kGuard);
  std::lock_guard lock(mutex);
  auto pointer = reinterpret_cast<DevicePtr>(at + kGuard);
  blocks[pointer] = {at, bytes};
  memory.add(host(pointer), bytes, /*initialized=*/!watchContent);
  return pointer;
}

llvm::Error HostMemoryDevice::free(DevicePtr pointer) {
  if (!pointer)
    return llvm::Error::success();
  std::lock_guard lock(mutex);
  auto it = blocks.find(pointer);
  if (it == blocks.end())
    return makeError(ErrorCode::InvalidArgument,
                     formatted("address {:#x} was not allocated, or has been freed", pointer));
  Block block = it->second;
  blocks.erase(it);
  memory.remove(host(pointer));
  auto intact = [](const uint8_t *guard) {
    return std::all_of(guard, guard + kGuard, [](uint8_t b) { return b == kGuardByte; });
  };
  bool before = intact(block.raw), after = intact(block.raw + kGuard + block.bytes);
  ::operator delete[](block.raw, std::align_val_t(kAlignment));
  if (before && after)
    return llvm::Error::success();
  return makeError(
      ErrorCode::KernelFault,
      formatted("something wrote {} a buffer of {} bytes; run with checks to find out where",
                before ? "past the end of" : "before the start of", block.bytes));
}

/// Host functions may only touch memory that is allocated.
llvm::Error HostMemoryDevice::inBounds(DevicePtr at, uint64_t bytes, const char *what) {
  if (bytes == 0)
    return llvm::Error::success();
  const interp::MemoryMap::Buffer *buffer = memory.find(at);
  if (buffer && bytes <= buffer->bytes && at - buffer->base <= buffer->bytes - bytes)
    return llvm::Error::success();
  return makeError(ErrorCode::InvalidArgument,
                   buffer ? formatted("{} of {} bytes at byte {} of a buffer of {} bytes", what,
                                      bytes, at - buffer->base, buffer->bytes)
                          : formatted("{} of {} bytes at address {:#x}, which is in no buffer",
                                      what, bytes, at));
}

llvm::Error HostMemoryDevice::upload(DevicePtr to, const void *from, uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (llvm::Error error = inBounds(to, bytes, "upload"))
    return error;
  if (bytes == 0)
    return llvm::Error::success();
  std::memcpy(host(to), from, bytes);
  memory.setInitialized(host(to), bytes, true);
  return llvm::Error::success();
}

llvm::Error HostMemoryDevice::download(void *to, DevicePtr from, uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (llvm::Error error = inBounds(from, bytes, "download"))
    return error;
  if (bytes != 0)
    std::memcpy(to, host(from), bytes);
  return llvm::Error::success();
}

llvm::Error HostMemoryDevice::fill(DevicePtr to, uint8_t byte, uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (llvm::Error error = inBounds(to, bytes, "fill"))
    return error;
  std::memset(host(to), byte, bytes);
  memory.setInitialized(host(to), bytes, true);
  return llvm::Error::success();
}

llvm::Error HostMemoryDevice::poison(DevicePtr to, uint8_t byte, uint64_t bytes) {
  if (llvm::Error error = fill(to, byte, bytes))
    return error;
  std::lock_guard lock(mutex);
  if (watchContent)
    memory.setInitialized(host(to), bytes, false);
  return llvm::Error::success();
}

llvm::Error HostMemoryDevice::copy(DevicePtr to, DevicePtr from, uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (llvm::Error error = inBounds(from, bytes, "copy"))
    return error;
  if (llvm::Error error = inBounds(to, bytes, "copy"))
    return error;
  std::memmove(host(to), host(from), bytes);
  memory.copyInitialized(host(to), host(from), bytes);
  return llvm::Error::success();
}

llvm::Expected<Timing> HostMemoryDevice::time(llvm::function_ref<bool()> body,
                                              const TimingOptions &timing) {
  using Clock = std::chrono::steady_clock;
  auto giveUp = [] { return llvm::createStringError("the timed function failed"); };
  std::vector<double> milliseconds;
  double spent = 0;
  for (bool warm = true; warm; warm = spent < timing.warmupMilliseconds) {
    auto start = Clock::now();
    if (!body())
      return giveUp();
    spent += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
  spent = 0;
  while (spent < timing.repeatMilliseconds || int(milliseconds.size()) < timing.minimumRepeats) {
    auto start = Clock::now();
    if (!body())
      return giveUp();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    spent += milliseconds.back();
  }
  return summarize(std::move(milliseconds));
}

unsigned runtime::hostThreads(unsigned wanted) {
  return wanted ? wanted : std::max(1u, std::thread::hardware_concurrency());
}
