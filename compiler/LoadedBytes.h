//===- LoadedBytes.h - bytes that are loaded behind masks ------*- C++ -*-===//
#ifndef TILE_COMPILER_LOADEDBYTES_H
#define TILE_COMPILER_LOADEDBYTES_H

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Says what words a byte that is loaded behind a mask can be, and extends its sign where it is
/// loaded if nobody wants it otherwise.
void extendLoadedBytes(llvm::Function &f);

} // namespace tile

#endif // TILE_COMPILER_LOADEDBYTES_H
