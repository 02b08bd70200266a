//===- Hooks.h - what compiled kernels call -------------------------------===//
//
// Translated code knows the machine by these names only. A function with C
// linkage and simple arguments each; the table gives their addresses to the
// linker.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_HOOKS_H
#define TILE_EMULATOR_MACHINE_HOOKS_H

#include "llvm/ADT/ArrayRef.h"

namespace tile::emu {

struct Hook {
  const char *name;
  void *address;
};

llvm::ArrayRef<Hook> memoryHooks();
llvm::ArrayRef<Hook> printHooks();
llvm::ArrayRef<Hook> privateHooks();
llvm::ArrayRef<Hook> warpHooks();
llvm::ArrayRef<Hook> barrierHooks();
llvm::ArrayRef<Hook> orderHooks();
llvm::ArrayRef<Hook> loadHooks();
llvm::ArrayRef<Hook> mbarrierHooks();
llvm::ArrayRef<Hook> mathHooks();
llvm::ArrayRef<Hook> asyncHooks();
llvm::ArrayRef<Hook> matrixHooks();
llvm::ArrayRef<Hook> wgmmaHooks();
llvm::ArrayRef<Hook> tensorCopyHooks();
llvm::ArrayRef<Hook> schedulerHooks();

} // namespace tile::emu

#define TILE_HOOK(f) {#f, reinterpret_cast<void *>(&f)}

#endif // TILE_EMULATOR_MACHINE_HOOKS_H
