//===- Located.h - diagnostics at a line and a column ---------------------===//
//
// What runs a kernel knows places as its code carries them: a path, a line and a column, which may
// be of the file at hand or of one that it imports.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_LOCATED_H
#define TILE_FRONTEND_LOCATED_H

#include "frontend/Source.h"

namespace tile::frontend {

struct LineAndColumn {
  llvm::StringRef path;
  unsigned line = 0, column = 0; ///< from 1; 0: not known
};

/// Gives `d` its message, and its place: in `file` if that is where it is and has such a line
/// (null: nowhere), else in words behind the message.
void say(Diagnostic &d, std::string message, LineAndColumn place, const SourceFile *file);

} // namespace tile::frontend

#endif // TILE_FRONTEND_LOCATED_H
