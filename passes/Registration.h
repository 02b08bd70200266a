//===- Registration.h - every pass by its command-line name ---------------===//
#ifndef TILE_PASSES_REGISTRATION_H
#define TILE_PASSES_REGISTRATION_H

namespace tile {

/// Registers all passes and pipelines: this project's own, and the general
/// ones of MLIR that its pipelines use. For tools that name passes in text
/// (`tile-opt`, `--print-ir-after`); the compiler itself builds its pipeline
/// without names and never calls this.
void registerAllPasses();

} // namespace tile

#endif // TILE_PASSES_REGISTRATION_H
