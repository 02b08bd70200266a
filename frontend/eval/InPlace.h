//===- InPlace.h - parameters that `x += y` writes ------------------------===//
//
// In a function of whole tensors `x += y` of a parameter writes the caller's tensor, traced or
// run operation by operation; of anything else it makes a new one, as numbers do.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_INPLACE_H
#define TILE_FRONTEND_EVAL_INPLACE_H

#include "frontend/eval/Value.h"

namespace tile::eval {

/// Says so of what these values hold, as long as it lives; functions that are called from there
/// add nothing.
class InPlace {
public:
  explicit InPlace(llvm::ArrayRef<PyValue> parameters);
  ~InPlace();
  InPlace(const InPlace &) = delete;
  InPlace &operator=(const InPlace &) = delete;
  static bool covers(const PyValue &value);

private:
  bool isOutermost;
};

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_INPLACE_H
