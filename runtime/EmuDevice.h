//===- EmuDevice.h - host functions on the emulator -----------------------===//
//
// Kernels go through the whole compiler, up to the last step before PTX, and run
// on the emulated machine (emulator/Emulator.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_EMUDEVICE_H
#define TILE_RUNTIME_EMUDEVICE_H

#include "emulator/Emulator.h"
#include "runtime/HostMemory.h"

namespace tile::runtime {

struct EmuDeviceOptions {
  bool check = true;             ///< races, unwritten shared memory, proxies
  bool counters = false;         ///< count what launches do
  unsigned threads = 0;          ///< 0: all cores
  std::string target = "sm_90a"; ///< to compile for
  /// Each launch runs once in the default order and this many times more, each
  /// time in another random legal order; results must not differ.
  unsigned schedules = 0;
  uint64_t seed = 1; ///< of the first random order
  /// Called before each launch with the kernel's LLVM IR and what it will get;
  /// false: the launch is left out.
  std::function<bool(llvm::StringRef ir, const emu::LoadOptions &, const emu::LaunchConfig &)>
      beforeLaunch;
};

class EmuDevice : public HostMemoryDevice {
public:
  using HostMemoryDevice::HostMemoryDevice;
  /// Of all launches so far.
  virtual const emu::Counters &counters() const = 0;
  /// What the last launch reported.
  virtual const emu::Report &lastReport() const = 0;
};

std::unique_ptr<EmuDevice> createEmuDevice(const EmuDeviceOptions &options);

} // namespace tile::runtime

#endif // TILE_RUNTIME_EMUDEVICE_H
