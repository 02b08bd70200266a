//===- ProductCycles.h - what products take of a multiprocessor -----------===//
//
// Twice the warps are worth something if each has half as much to do. What of a laid-out kernel's
// products by warps is done several times, or only to bring together what several of them have,
// is in these cycles.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_PRODUCTCYCLES_H
#define TILE_PASSES_LAYOUTS_PRODUCTCYCLES_H

#include "ir/TileDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile {

struct Tuning; // target/Tuning.h

/// Turns of all loops around `op`, those nobody knows as `tuning` takes them to be.
double turnsAround(mlir::Operation *op, const Tuning &tuning);

/// Cycles of a warp for the matrix instructions of a product of which each thread has `results`
/// numbers, each the sum of `depth` products.
double cyclesOfInstructions(DotOp dot, int64_t results, int64_t depth);

/// Words of an operand that each thread takes of registers or shared memory.
int64_t wordsOfOperand(mlir::Value operand, int64_t elements);

/// Cycles of a multiprocessor to add up `parts` of each of so many numbers, of which a thread has
/// `own`: they are written, each thread reads those of the numbers it gets, and what they become
/// is given to all.
double cyclesOfSum(mlir::ModuleOp module, int64_t own, int64_t numbers, unsigned parts,
                   unsigned warps);

/// What all products of a program take.
struct ProductCycles {
  double byWarps = 0; ///< with what is read for them, and sums over parts of the inner dimension
  double byWarpgroups = 0; ///< which read for themselves
  double multiplied = 0;   ///< by warps: multiply-adds

  /// What of as many warps is of use that take these cycles for the same as others take `few`: 1
  /// where they take no more, or products of other kinds.
  double partOfUse(const ProductCycles &few) const;
};
ProductCycles cyclesOfProducts(mlir::ModuleOp laidOut);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_PRODUCTCYCLES_H
