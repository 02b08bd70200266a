//===- CompilerEntries.cpp - what libtile_compiler.so is asked for --------===//
#include "runtime/capi/CompilerLibrary.h"

using namespace tile::runtime;

const capi::CompilerEntries *tile_compiler_entries() {
  static const capi::CompilerEntries entries = {capi::libraryBuild(), &RuntimeError::ID,
                                                pooledCompiler,
#define TILE_ENTRY(NAME) ::NAME,
                                                TILE_COMPILER_FUNCTIONS(TILE_ENTRY)
#undef TILE_ENTRY
  };
  return &entries;
}
