//===- HostMemory.h - devices whose memory is the host's ------------------===//
#ifndef TILE_RUNTIME_DEVICES_HOSTMEMORY_H
#define TILE_RUNTIME_DEVICES_HOSTMEMORY_H

#include "runtime/Device.h"
#include "runtime/interp/Interpreter.h"
#include <map>
#include <mutex>

namespace tile::runtime {

/// What the devices on the CPU share: memory of the host, with a guard zone on
/// either side of each allocation, and time by the clock.
class HostMemoryDevice : public Device {
public:
  /// `check`: what nobody wrote is remembered as such.
  explicit HostMemoryDevice(bool check) : watchContent(check) {}
  ~HostMemoryDevice() override;

  bool isCpu() const override { return true; }
  llvm::Expected<DevicePtr> allocate(uint64_t bytes) override;
  llvm::Error free(DevicePtr pointer) override;
  llvm::Error upload(DevicePtr to, const void *from, uint64_t bytes) override;
  llvm::Error download(void *to, DevicePtr from, uint64_t bytes) override;
  llvm::Error fill(DevicePtr to, uint8_t byte, uint64_t bytes) override;
  llvm::Error copy(DevicePtr to, DevicePtr from, uint64_t bytes) override;
  llvm::Error poison(DevicePtr to, uint8_t byte, uint64_t bytes) override;
  llvm::Error synchronize() override { return llvm::Error::success(); }
  llvm::Expected<Timing> time(llvm::function_ref<bool()> body,
                              const TimingOptions &options) override;

protected:
  struct Block {
    uint8_t *raw;
    uint64_t bytes;
  };
  static constexpr uint64_t kAlignment = 256, kGuard = 256;
  static constexpr uint8_t kGuardByte = 0xfb, kFreshByte = 0xcd;

  std::mutex mutex; ///< of everything below
  std::map<DevicePtr, Block> blocks;
  interp::MemoryMap memory;

private:
  llvm::Error inBounds(DevicePtr at, uint64_t bytes, const char *what);
  bool watchContent;
};

/// The interpreter beside another device whose memory it shares: it says what a launch does
/// wrong by the rules of the language, prints nothing, and runs no checks of its own on how
/// programs wait for each other. `memory` is the other's, who sees to it that nobody else
/// uses it at the time.
std::unique_ptr<Device> createLanguageChecker(interp::MemoryMap &memory, uint64_t launchLimit);

/// How many threads `wanted` means: 0 is one a core.
unsigned hostThreads(unsigned wanted);

} // namespace tile::runtime

#endif // TILE_RUNTIME_DEVICES_HOSTMEMORY_H
