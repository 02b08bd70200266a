//===- MachineCode.h - PTX to machine code, by a toolkit's assembler ------===//
//
// The driver compiles PTX when a kernel is loaded, and keeps the result in a cache of its
// own that is nobody's to rely on. Who wants loads that compile nothing names an assembler.
// Not the driver's linker: it compiles as relocatable code, with more registers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_MACHINECODE_H
#define TILE_RUNTIME_MACHINECODE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tile::runtime {

/// Runs `assembler`, a path or a name on PATH, as ptxas is run.
llvm::Expected<std::string> assembleWith(llvm::StringRef assembler, llvm::StringRef ptx,
                                         llvm::StringRef target);

} // namespace tile::runtime

#endif // TILE_RUNTIME_MACHINECODE_H
