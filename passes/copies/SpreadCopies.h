//===- SpreadCopies.h - rows copied by as many threads as can ---*- C++ -*-===//
#ifndef TILE_PASSES_COPIES_SPREADCOPIES_H
#define TILE_PASSES_COPIES_SPREADCOPIES_H

#include "ir/CtaDialect.h"

namespace tile {

/// The layout in which a row that threads hold copies of (of type `block`) is copied by
/// instructions of `vector` elements with fewest of them in a thread; null if it is already.
cta::LayoutAttr spreadLayout(mlir::RankedTensorType block, unsigned vector);

/// `row` computed again in `layout`, at `b`; null if it does not come from ranges and numbers by
/// few operations.
mlir::Value computedIn(mlir::OpBuilder &b, mlir::Value row, cta::LayoutAttr layout);

} // namespace tile

#endif // TILE_PASSES_COPIES_SPREADCOPIES_H
