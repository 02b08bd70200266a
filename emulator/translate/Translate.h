//===- Translate.h - from a kernel's LLVM module to one for the host ------===//
#ifndef TILE_EMULATOR_TRANSLATE_TRANSLATE_H
#define TILE_EMULATOR_TRANSLATE_TRANSLATE_H

#include "emulator/machine/Translation.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"

namespace llvm {
class DataLayout;
class Module;
class Triple;
} // namespace llvm

namespace tile::emu {

/// Rewrites the module in place: every machine operation becomes a call of a
/// hook (see Hooks.h), addresses become the host's.
llvm::Expected<Translation> translateToHost(llvm::Module &module, const llvm::Triple &triple,
                                            const llvm::DataLayout &layout,
                                            const LoadOptions &options);

/// Runs LLVM's passes on a module.
void runPasses(llvm::Module &module, llvm::ModulePassManager passes);

} // namespace tile::emu

#endif // TILE_EMULATOR_TRANSLATE_TRANSLATE_H
