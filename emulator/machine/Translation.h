//===- Translation.h - what the machine is told of a translated kernel ----===//
#ifndef TILE_EMULATOR_MACHINE_TRANSLATION_H
#define TILE_EMULATOR_MACHINE_TRANSLATION_H

#include "emulator/Emulator.h"
#include <set>

namespace tile::emu {

/// What the translation learned about a kernel.
struct Translation {
  std::string kernel;
  std::vector<Site> sites{Site()}; ///< 0 stands for nothing in particular
  /// Atomic operations on global memory leave something that depends on their order, apart from
  /// sums of floats...
  bool dependsOnOrder = false;
  bool sums = false;             ///< ... of which there are some
  std::set<std::string> inexact; ///< see Program::inexact
  bool narrows = false;          ///< rounds to floats of 8 bits somewhere
  uint32_t staticSharedBytes = 0;
  /// Variables in the private memory of a thread, by offset, and its size.
  struct PrivateObject {
    uint64_t offset, bytes;
  };
  std::vector<PrivateObject> privateObjects;
  uint64_t privateBytes = 0;
  /// Of a thread's stack, what the compiled code takes: all its frames (nothing recurses).
  uint64_t frameBytes = 0;
  /// The module's own variables, in the order of the table kVariablesName.
  struct Variable {
    uint64_t bytes;
    bool writable;
  };
  std::vector<Variable> variables;
  std::vector<uint64_t> parameterBytes; ///< of aggregates; 0 for plain values
};

/// The name of the table of the addresses of the module's own variables.
inline constexpr const char *kVariablesName = "tile_emulated_variables";

/// The name of the function that a translated module defines:
/// void(Thread *, const void *const *parameters).
inline constexpr const char *kEntryName = "tile_emulated_kernel";

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_TRANSLATION_H
