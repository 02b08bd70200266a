//===- Helpers.h - kernels that others call -------------------------------===//
#ifndef TILE_FRONTEND_EVAL_HELPERS_H
#define TILE_FRONTEND_EVAL_HELPERS_H

#include "frontend/eval/Value.h"
#include "llvm/ADT/ArrayRef.h"

namespace tile::eval {

/// The kernels of a file that no other of them mentions: those that do the work of others are
/// helpers.
std::vector<std::shared_ptr<FunctionObject>>
withoutHelpers(llvm::ArrayRef<std::shared_ptr<FunctionObject>> kernels);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_HELPERS_H
