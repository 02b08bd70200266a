//===- CompilingDevice.h - interpreted kernels, compiled as well ----------===//
//
// Runs kernels on another device and compiles each of them for a GPU besides,
// up to machine code where `ptxas` is at hand: on a machine without a GPU a
// suite then tests as much of the compiler as can be tested there.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_COMPILINGDEVICE_H
#define TILE_TOOLS_TILEC_COMPILINGDEVICE_H

#include "runtime/Device.h"

namespace tilec {

/// `assemble`: give the PTX to the assembler too. `folder`: where the PTX of each kernel is
/// written as FILE.KERNEL.N.ptx, N counting those of a name; empty: nowhere.
std::unique_ptr<tile::runtime::Device>
createCompilingDevice(std::unique_ptr<tile::runtime::Device> inner, std::string target,
                      bool assemble, std::string folder);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_COMPILINGDEVICE_H
