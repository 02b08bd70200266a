//===- Assembler.h - from PTX to a cubin ----------------------------------===//
#ifndef TILE_TOOLS_TILEC_ASSEMBLER_H
#define TILE_TOOLS_TILEC_ASSEMBLER_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace tilec {

/// Where `ptxas` of a toolkit is; empty without one.
std::string findPtxas();

/// Assembles `ptx` for `target` with NVIDIA's `ptxas`, found on PATH or where
/// the CUDA toolkit puts it; without a toolkit, with the driver, if this
/// machine's GPU runs that target. `registers` is set to what the kernel uses,
/// if the assembler says; `log` (may be null) to its remarks. False after setting
/// `error`.
bool assembleCubin(llvm::StringRef ptx, llvm::StringRef target, std::string &cubin, int &registers,
                   std::string &error, std::string *log = nullptr);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_ASSEMBLER_H
