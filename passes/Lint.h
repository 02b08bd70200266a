//===- Lint.h - what a careful reader would remark about a kernel ---------===//
#ifndef TILE_PASSES_LINT_H
#define TILE_PASSES_LINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace tile {

/// Called with the place and the text of each remark, in program order.
using LintReporter = llvm::function_ref<void(mlir::Location, std::string)>;

/// Looks at a kernel as the front end built it, before any pass:
///  - loads whose value nothing uses;
///  - masks that are always, or never, true;
///  - blocks of accesses whose neighbours are apart in memory;
///  - 32-bit products in addresses that may pass 2^31;
///  - faults that show without running it: shifts too far, division by zero, indices outside
///    of a gather or histogram, writes to constant memory, writes of every program to one
///    place, accesses without the mask that others of the same offsets have, or beside a bound
///    that bounds nothing, masked-off lanes that are added up.
/// `stridesKnown`: a stride that is a parameter is not 1 (it would be folded).
void lint(mlir::func::FuncOp kernel, bool stridesKnown, LintReporter report);

} // namespace tile

#endif // TILE_PASSES_LINT_H
