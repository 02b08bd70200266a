//===- Synonyms.h - what other libraries call the same functions ----------===//
#ifndef TILE_FRONTEND_EVAL_SYNONYMS_H
#define TILE_FRONTEND_EVAL_SYNONYMS_H

#include "llvm/ADT/StringRef.h"

namespace tile::eval {

/// Our name of a function on tensors that NumPy or PyTorch calls otherwise; what is given if it
/// has no other.
llvm::StringRef usualName(llvm::StringRef name);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_SYNONYMS_H
