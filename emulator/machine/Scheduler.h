//===- Scheduler.h - whose turn it is -------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_SCHEDULER_H
#define TILE_EMULATOR_MACHINE_SCHEDULER_H

#include "emulator/machine/Machine.h"

namespace tile::emu {

/// Who goes on; null when the cluster cannot, with its outcome set. `leaveWarp`: a thread of
/// another warp, if one can.
Thread *nextThread(Cluster &cluster, bool leaveWarp);

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_SCHEDULER_H
