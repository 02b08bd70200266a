//===- Version.cpp - the name of this compiler in cache keys --------------===//
#include "compiler/Compiler.h"

/// Version, LLVM's version and a hash of the sources; see CMakeLists.txt.
llvm::StringRef tile::compilerVersion() {
  return
#include "compiler/Version.inc"
      ;
}
