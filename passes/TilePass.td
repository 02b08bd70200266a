//===- TilePass.td - what the declaration of a pass consists of -----------===//
//
// Each pass by its name on the command line, what it does in a sentence, and its
// contract: what it needs, what holds behind it, and what it never does.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_TILEPASS
#define TILE_PASSES_TILEPASS

include "mlir/Pass/PassBase.td"

/// Something that a pass counts: `ALWAYS_ENABLED_STATISTIC` of that name in its sources,
/// printed by `tile-opt --counts`.
class Count<string theName, string whatItIs> {
  string name = theName;
  string what = whatItIs;
}

/// A pass whose choices can be overridden (options) and are counted.
class TilePass<string argument, string operation> : Pass<argument, operation> {
  list<Count> counts = [];
}

#endif // TILE_PASSES_TILEPASS
