//===- VerifyProtocol.h - rings and groups of copies, checked -------------===//
#ifndef TILE_PASSES_FACTS_VERIFYPROTOCOL_H
#define TILE_PASSES_FACTS_VERIFYPROTOCOL_H

namespace mlir {
class PassManager;
}

namespace tile {

/// In builds with assertions: checks the protocol behind each pass, and names the one that breaks
/// it. The compiler and tile-opt do, so that every test of a pass is one of this as well.
void verifyProtocolBehindPasses(mlir::PassManager &pm);

} // namespace tile

#endif // TILE_PASSES_FACTS_VERIFYPROTOCOL_H
