//===- AgreementDevice.h - two devices that must agree --------------------===//
//
// Does everything on the emulator and on another device, and compares all memory
// after each launch. Every bit must be the same, but for two things: floats of a
// kernel with instructions that leave their last bits open (emu::Program::inexact)
// may differ by those, and what atomic operations leave may depend on the order of
// programs (emu::Program::dependsOnOrder).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DEVICES_AGREEMENTDEVICE_H
#define TILE_RUNTIME_DEVICES_AGREEMENTDEVICE_H

#include "runtime/devices/EmuDevice.h"

namespace tile::runtime {

/// What was found so far.
struct Agreement {
  uint64_t launches = 0;
  uint64_t identical = 0; ///< launches that left the same bits everywhere
  uint64_t exact = 0;     ///< launches of which every bit is defined, so had to
  uint64_t unordered = 0; ///< that did not, by kernels that depend on their order
  /// The largest difference relative to the largest value of its array, by type,
  /// between results that instructions leave open.
  std::map<std::string, double> largest;
};

class AgreementDevice : public Device {
public:
  virtual const Agreement &agreement() const = 0;
};

/// Owns both. Launches are compiled for the second one's target by both if the
/// caller has made them so. `bitwise`: floats are no floats (docs/algebraic-mode.md).
std::unique_ptr<AgreementDevice> createAgreementDevice(std::unique_ptr<EmuDevice> first,
                                                       std::unique_ptr<Device> second,
                                                       bool bitwise = false);

} // namespace tile::runtime

#endif // TILE_RUNTIME_DEVICES_AGREEMENTDEVICE_H
