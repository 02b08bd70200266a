//===- EmuDevice.h - host functions on the emulator -----------------------===//
//
// Kernels are compiled and launched as LoadedKernel does it (several programs a
// block, tensor maps made from the arguments, another kernel where those do not
// suit), but stop at the last step before PTX and run on the emulated machine
// (emulator/Emulator.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DEVICES_EMUDEVICE_H
#define TILE_RUNTIME_DEVICES_EMUDEVICE_H

#include "emulator/Emulator.h"
#include "runtime/devices/HostMemory.h"

namespace tile::runtime {

struct EmuDeviceOptions {
  bool check = true;                                ///< races, unwritten shared memory, proxies
  bool counters = false;                            ///< count what launches do
  unsigned threads = 0;                             ///< 0: all cores
  std::string target = fallbackTarget().name.str(); ///< to compile for
  /// Blocks that share the programs of a persistent kernel: few, so that each has
  /// several even in small tests. Random orders take other numbers.
  unsigned residentBlocks = 2;
  /// As which forms of kernels for few programs are chosen: one, so that small grids have few and
  /// larger ones, which are not worth emulating on more, have not.
  unsigned multiprocessors = 1;
  /// Each launch runs once in the default order and this many times more, each
  /// time in another random legal order; results must not differ.
  unsigned schedules = 0;
  uint64_t seed = 1; ///< of the first random order
  /// Of each compiled kernel, only the first launch runs in random orders.
  bool firstLaunchesOnly = false;
  /// Numbers of a ring in the place of floating-point ones (docs/algebraic-mode.md).
  bool algebraic = false;
  uint64_t launchLimit = kLaunchLimit; ///< of each order; 0: none
  /// Called before each launch with the kernel's LLVM IR and what it will get;
  /// false: the launch is left out.
  std::function<bool(llvm::StringRef ir, const emu::LoadOptions &, const emu::LaunchConfig &)>
      beforeLaunch;
};

/// What the launches of one kernel did, in all its specialisations.
struct KernelCounters {
  uint64_t launches = 0;
  emu::Counters counters;
};

class EmuDevice : public HostMemoryDevice {
public:
  using Device::launch;
  using HostMemoryDevice::HostMemoryDevice;
  /// With arguments as for LoadedKernel::launch. An error is the caller's; what
  /// the kernel does wrong goes to `diagnostics`, and the result is false.
  virtual llvm::Expected<bool> launch(Kernel &kernel, const uint32_t grid[3],
                                      llvm::ArrayRef<const void *> arguments,
                                      frontend::DiagnosticEngine &diagnostics) = 0;
  /// What a kernel is on the emulator.
  virtual const emu::Program &program(const Kernel &kernel) const = 0;
  /// Of all launches so far, by the kernel's name.
  virtual const std::map<std::string, KernelCounters> &counters() const = 0;
  /// As text, one kernel after the other.
  void printCounters(llvm::raw_ostream &os) const;
  /// Sums, and beside them each kernel's under "kernels".
  std::string countersJson() const;
  /// What the last launch reported.
  virtual const emu::Report &lastReport() const = 0;
};

std::unique_ptr<EmuDevice> createEmuDevice(const EmuDeviceOptions &options);

} // namespace tile::runtime

#endif // TILE_RUNTIME_DEVICES_EMUDEVICE_H
