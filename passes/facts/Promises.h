//===- Promises.h - what authors say about scalars ------------*- C++ -*-===//
//
// `tl.assume` and `tl.multiple_of` count where the value is computed: a promise
// in a branch that may not be taken says nothing about the others.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_PROMISES_H
#define TILE_PASSES_FACTS_PROMISES_H

#include "mlir/IR/Value.h"

namespace tile {

/// A power of two that divides `v` by the author's word: `tl.multiple_of(v, n)`,
/// `tl.assume(v % n == 0)`.
int64_t promisedDivisibility(mlir::Value v);

/// `tl.assume(v >= 0)` or `> 0`; or v = a - b in a branch that is taken only where a >= b, as
/// programs are shared out among two kinds of work: `if pid < n: ... else: i = pid - n`.
bool isPromisedNonNegative(mlir::Value v);

} // namespace tile

#endif // TILE_PASSES_FACTS_PROMISES_H
