//===- Translate.h - from a kernel's LLVM module to one for the host ------===//
#ifndef TILE_EMULATOR_TRANSLATE_H
#define TILE_EMULATOR_TRANSLATE_H

#include "emulator/Emulator.h"
#include "llvm/Support/Error.h"
#include <set>

namespace llvm {
class DataLayout;
class Module;
class Triple;
} // namespace llvm

namespace tile::emu {

enum class Approximation : uint32_t { Ex2, Lg2, Sin, Cos, Rcp, Sqrt, Rsqrt, Tanh };

/// What the translation learned about a kernel.
struct Translation {
  std::string kernel;
  std::vector<Site> sites{Site()}; ///< 0 stands for nothing in particular
  /// Atomic operations on global memory leave something that depends on their order.
  bool dependsOnOrder = false;
  std::set<std::string> inexact; ///< see Program::inexact
  uint32_t staticSharedBytes = 0;
};

/// The name of the function that a translated module defines:
/// void(Thread *, const void *const *parameters).
inline constexpr const char *kEntryName = "tile_emulated_kernel";

/// Rewrites the module in place: every machine operation becomes a call of a
/// hook (see Hooks.h), addresses become the host's.
llvm::Expected<Translation> translateToHost(llvm::Module &module, const llvm::Triple &triple,
                                            const llvm::DataLayout &layout,
                                            const LoadOptions &options);

} // namespace tile::emu

#endif // TILE_EMULATOR_TRANSLATE_H
