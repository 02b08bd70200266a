//===- LoadsInFlight.h - loads from shared memory that have not come ------===//
//
// A load from shared memory reads at some time between its instruction and the first use
// of its value. An arrival at an mbarrier does not queue with loads: it may pass them, and
// who has waited for it may start an asynchronous copy, which does not queue with them
// either, into the memory that they are still to read. So each load of a warp is kept here
// until something waits for its value (translate/LoadsInFlight.cpp finds what does), or
// until a barrier or a fence. What is left at an arrival is entered into the shadow
// memory as read by a component of its own, which nobody knows of before the value is used.
//
// Registers of a warp are written for all lanes at once: a lane that uses a value has
// waited for those of the others.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_LOADSINFLIGHT_H
#define TILE_EMULATOR_MACHINE_LOADSINFLIGHT_H

#include "emulator/machine/Clock.h"
#include <vector>

namespace tile::emu {

struct Cta;
struct Thread;

struct LoadInFlight {
  uint32_t number = 0; ///< of the instruction
  uint32_t lane = 0;
  Cta *cta = nullptr; ///< whose memory
  uint32_t offset = 0, bytes = 0;
  uint32_t site = 0;
  Tick passed = 0; ///< an arrival has passed it; 0: none
};

/// Of a warp.
struct LoadsInFlight {
  std::vector<LoadInFlight> loads;
  Component component = 0; ///< of those that an arrival has passed; 0: there were none
  Tick passed = 0;         ///< the last such
  Tick over = 0;           ///< all up to this one have been waited for
};

/// The thread arrives at an mbarrier, past what its warp has not waited for.
void passLoads(Thread &thread);
/// The thread comes to something behind which all that it has loaded has come.
void waitForLoads(Thread &thread);

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_LOADSINFLIGHT_H
