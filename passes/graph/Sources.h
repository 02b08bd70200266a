//===- Sources.h - what values of a graph are computed of -----------------===//
#ifndef TILE_PASSES_GRAPH_SOURCES_H
#define TILE_PASSES_GRAPH_SOURCES_H

#include "mlir/IR/Operation.h"

namespace tile::graph {

/// Visits `values` and what they are computed of, each value once, those without an operation,
/// too. Behind a value it goes on with the operands of its operation, if `goesOn` says so of it.
void visitSources(llvm::ArrayRef<mlir::Value> values, llvm::function_ref<bool(mlir::Value)> goesOn);

/// Whether a value is an array of the caller's, seen one way or another.
bool isCallers(mlir::Value value);
/// Whether a place is computed of places and numbers alone, without anything from memory.
bool isOfPlaces(mlir::Value place);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_SOURCES_H
