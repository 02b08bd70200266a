//===- OtherNames.h - what other libraries call it --------------*- C++ -*-===//
//
// Who comes from PyTorch, NumPy or CUDA writes a name that Triton's language does
// not have. A message that says what does the same is worth more than the name
// that is spelt most like it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_OTHERNAMES_H
#define TILE_FRONTEND_EVAL_OTHERNAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile::eval {

/// What a kernel says for `name`, as a member of `tl` or a method of a tensor; empty if nothing
/// is known.
llvm::StringRef inKernels(llvm::StringRef name);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_OTHERNAMES_H
