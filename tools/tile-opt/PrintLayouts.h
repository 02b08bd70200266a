//===- PrintLayouts.h - the layouts of a module, drawn ---------------------===//
#ifndef TILE_TOOLS_TILE_OPT_PRINTLAYOUTS_H
#define TILE_TOOLS_TILE_OPT_PRINTLAYOUTS_H

namespace tile {

/// `--print-layouts`: draws each layout of the module once, with the values that have it.
void registerPrintLayouts();

} // namespace tile

#endif // TILE_TOOLS_TILE_OPT_PRINTLAYOUTS_H
