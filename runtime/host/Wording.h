//===- Wording.h - errors in the words of host functions ------------------===//
#ifndef TILE_RUNTIME_HOST_WORDING_H
#define TILE_RUNTIME_HOST_WORDING_H

#include "frontend/eval/Eval.h"

namespace tile::host {

/// The evaluator runs the compile-time half of kernels, too, and speaks of it. In a host function
/// nothing is compiled: the same errors without that.
void useHostWords(eval::EvalError &error);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_WORDING_H
