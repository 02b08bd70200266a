//===- AutoConfigs.h - `configs="auto"` of `@triton.autotune` -------------===//
//
// Which sizes of blocks, warps and stages are worth a try where the author lists none. What may be
// chosen shows in the kernel's text: a constexpr without a default that is the length of a block,
// and by which a program or a turn of a loop moves on. The results are the same whatever it is
// then. A block that has to hold a whole row is none of these: nothing moves on by it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_AUTOCONFIGS_H
#define TILE_FRONTEND_EVAL_AUTOCONFIGS_H

#include "frontend/eval/Evaluator.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::eval {

/// The `triton.Config`s to try for the GPU that files are told about, the most usual first.
/// `isGiven`: constexprs that somebody else gives a value.
std::vector<PyValue> autoConfigs(Evaluator &evaluator, const FunctionObject &kernel,
                                 llvm::function_ref<bool(llvm::StringRef)> isGiven);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_AUTOCONFIGS_H
