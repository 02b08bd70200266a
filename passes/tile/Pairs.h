//===- Pairs.h - elements whose places differ in one bit ------------------===//
//
// Partners are written as the front end and older networks have them: along an axis of two
// elements, each element is combined with the `xor` of both, which leaves the other one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_TILE_PAIRS_H
#define TILE_PASSES_TILE_PAIRS_H

#include "ir/TileDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile {

/// Of each element of `block`, integers, the other one of its pair along `axis`.
mlir::Value otherOfPair(mlir::OpBuilder &b, mlir::Location loc, mlir::Value block, unsigned axis);

/// Of what is the partner of a partner, of which nobody else wants what lies between, each bit of
/// the place that partners differ in is turned over once or not at all. The number of partners
/// that are gone.
unsigned joinPairs(mlir::ModuleOp module);

/// Gathers by constant indices that pick each element's partner, or that of a partner and so on,
/// are these. The number of gathers that are gone.
unsigned gathersOfPartners(mlir::ModuleOp module);

} // namespace tile

#endif // TILE_PASSES_TILE_PAIRS_H
