//===- HostDevice.h - the machine that host functions run on --------------===//
#ifndef TILE_TOOLS_TILEC_HOSTDEVICE_H
#define TILE_TOOLS_TILEC_HOSTDEVICE_H

#include "runtime/devices/AgreementDevice.h"
#include "runtime/devices/EmuDevice.h"
#include "target/Target.h"
#include "tools/tilec/Options.h"

namespace tilec {

/// `--launch-limit` counts in so many operations.
constexpr uint64_t kBillion = 1'000'000'000;

/// What `--device` and the options about it say.
struct HostDeviceOptions {
  std::string device = "auto", compileFor, mode = "default",
              emulated = tile::fallbackTarget().name.str();
  int threads = 0, schedules = 0, seed = 1, otherCuts = 0,
      launchLimit = int(tile::runtime::kLaunchLimit / kBillion);
  bool check = true, counters = false, firstLaunches = false;
  bool throughPasses = false, assemble = true, eachLaneArrives = false, asBuilt = false,
       algebraic = false, printTuning = false;
  std::string countersFile, savedPtx, tuning = "ranked", tuningFile;
};
void addHostDeviceOptions(OptionTable &options, HostDeviceOptions &device);

/// A device, and those of its parts that are asked for what they saw.
struct HostDevice {
  std::unique_ptr<tile::runtime::Device> device; ///< null after an error
  tile::runtime::EmuDevice *emulator = nullptr;
  const tile::runtime::Agreement *agreement = nullptr;
  bool isUsage = false; ///< the error is one of the options
};
/// Prints what is wrong as an error of `command`. Gives targets their own names.
HostDevice openHostDevice(llvm::StringRef command, HostDeviceOptions &options);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_HOSTDEVICE_H
