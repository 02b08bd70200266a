//===- EmuParameters.h - what an emulated launch makes for a kernel -------===//
//
// Besides the caller's arguments: tensor maps of them, and scratch memory.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DEVICES_EMUPARAMETERS_H
#define TILE_RUNTIME_DEVICES_EMUPARAMETERS_H

#include "emulator/Emulator.h"
#include "emulator/machine/TensorMap.h"
#include "runtime/LaunchPlan.h"
#include <deque>

namespace tile::runtime {

/// Lives as long as the launch. Addresses stay.
struct LaunchMemory {
  std::deque<emu::TensorMap> maps;
  std::vector<std::unique_ptr<uint8_t[]>> scratch;
  std::deque<uint64_t> scratchAddresses;
};

/// Makes the tensor maps; false if none can describe one of the arrays.
llvm::Expected<bool> makeTensorMaps(const LaunchPlan &plan, llvm::MutableArrayRef<void *> pointers,
                                    LaunchMemory &memory);

/// Makes the scratch memory of a launch of so many programs, filled with `garbage` where it need
/// not be zero.
void addScratch(const LaunchPlan &plan, uint64_t programs, uint8_t garbage,
                llvm::MutableArrayRef<void *> pointers, LaunchMemory &memory,
                std::vector<emu::MemoryRange> &ranges);

} // namespace tile::runtime

#endif // TILE_RUNTIME_DEVICES_EMUPARAMETERS_H
