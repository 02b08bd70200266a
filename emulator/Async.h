//===- Async.h - asynchronous work of threads -----------------------------===//
#ifndef TILE_EMULATOR_ASYNC_H
#define TILE_EMULATOR_ASYNC_H

#include "emulator/Memory.h"

namespace tile::emu {

/// Reports copies and matrix products that a thread started and never waited for.
void checkAsyncAtExit(Thread &thread);

} // namespace tile::emu

#endif // TILE_EMULATOR_ASYNC_H
