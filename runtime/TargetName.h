//===- TargetName.h - what a target may be called --------------------------===//
//
// Users name a target by itself (`sm_90a`), by a board that has it (`h100`), or as `native`: this
// machine's GPU, which only the driver knows. Everything below works with its own name.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_TARGETNAME_H
#define TILE_RUNTIME_TARGETNAME_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tile::runtime {

/// The target of the calling thread's current device, else of device 0.
llvm::Expected<std::string> nativeTarget();
/// That one, or what is compiled for where there is no GPU.
std::string defaultTarget();
/// The target that `name` stands for; an error that says what would work.
llvm::Expected<std::string> resolveTarget(llvm::StringRef name);

} // namespace tile::runtime

#endif // TILE_RUNTIME_TARGETNAME_H
