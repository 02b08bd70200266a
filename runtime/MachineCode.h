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

struct MachineCode {
  std::string cubin;
  std::string log; ///< what the assembler said: registers, spills
};

/// Runs `assembler`, a path or a name on PATH, as ptxas is run; and again where it spills a lot
/// (dispatch/AssemblerPlan.h). `lineInfo` keeps `.loc`
/// for profilers.
llvm::Expected<MachineCode> assembleWith(llvm::StringRef assembler, llvm::StringRef ptx,
                                         llvm::StringRef target, bool lineInfo);

/// Bytes of the largest stack frame that the remarks of ptxas or the driver tell of; 0 if none.
int stackFrameBytes(llvm::StringRef log);

} // namespace tile::runtime

#endif // TILE_RUNTIME_MACHINECODE_H
