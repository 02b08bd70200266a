//===- SourcePaths.h - the files that a command is to read ----------------===//
#ifndef TILE_TOOLS_TILEC_SOURCEPATHS_H
#define TILE_TOOLS_TILEC_SOURCEPATHS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tilec {

struct SourcePath {
  std::string path;
  bool isFound = false; ///< in a folder that was named: it may have nothing for the command
};

/// Whether an argument names a file or a folder rather than something in a file.
bool looksLikePath(llvm::StringRef argument);
/// The files that `paths` stand for: those named, and of each folder named, in order, all below it
/// that end in .tile, or in .py and speak of kernels; what is hidden is left out. False after
/// setting `error`, if a folder has none.
bool findSources(llvm::ArrayRef<std::string> paths, std::vector<SourcePath> &out,
                 std::string &error);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_SOURCEPATHS_H
