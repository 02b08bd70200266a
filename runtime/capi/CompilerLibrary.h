//===- CompilerLibrary.h - the compiler, opened when it is needed ---------===//
//
// libtile.so has what launches kernels that the cache has. The compiler, with LLVM, the emulator
// and functions of whole tensors are libtile_compiler.so beside it, which is opened at the first
// call that needs it: to load LLVM takes longer than all else until the first launch of a process.
//
// The second library uses the first one's classes, and shares its state: libtile.so exports them
// to it under a version of their own (libtile.map). Both are of one build, or are not used
// together.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CAPI_COMPILERLIBRARY_H
#define TILE_RUNTIME_CAPI_COMPILERLIBRARY_H

#include "runtime/CompileService.h"
#include "tile/tile.h"

/// What of tile.h is in the compiler's library.
#define TILE_COMPILER_FUNCTIONS(X)                                                                 \
  X(tile_program_compile_file)                                                                     \
  X(tile_program_compile_buffer)                                                                   \
  X(tile_program_destroy)                                                                          \
  X(tile_program_get_info)                                                                         \
  X(tile_program_check_sizes)                                                                      \
  X(tile_program_result)                                                                           \
  X(tile_program_workspace)                                                                        \
  X(tile_program_run)                                                                              \
  X(tile_emulator_create)                                                                          \
  X(tile_emulator_destroy)                                                                         \
  X(tile_emulator_alloc)                                                                           \
  X(tile_emulator_free)                                                                            \
  X(tile_emulator_load)                                                                            \
  X(tile_emulated_destroy)                                                                         \
  X(tile_emulated_launch)                                                                          \
  X(tile_emulator_counters)

namespace tile::runtime::capi {

struct CompilerEntries {
  const char *build;   ///< `libraryBuild()` of the compiler's library: first, whatever else changes
  const void *runtime; ///< which libtile it uses: where that has `RuntimeError::ID`
  PooledCompiler (*pool)();
#define TILE_ENTRY(NAME) decltype(&::NAME) NAME;
  TILE_COMPILER_FUNCTIONS(TILE_ENTRY)
#undef TILE_ENTRY
};

/// Names what both libraries were built from.
inline const char *libraryBuild() {
  return
#include "runtime/Build.inc"
      ;
}

} // namespace tile::runtime::capi

/// The one symbol of libtile_compiler.so.
extern "C" TILE_API const tile::runtime::capi::CompilerEntries *tile_compiler_entries();

#endif // TILE_RUNTIME_CAPI_COMPILERLIBRARY_H
