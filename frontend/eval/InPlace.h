//===- InPlace.h - what writes tensors where they lie ---------------------===//
//
// `x.add_(y)` and PyTorch's other methods that end so are `x[...] = x.add(y)`, and give `x`.
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

/// Whether `name` is one of a method: `isMethod` says so of it without the underscore.
bool isInPlaceMethod(llvm::StringRef name, llvm::function_ref<bool(llvm::StringRef)> isMethod);
/// Calls it: `call` is for the method without the underscore, and is given `self` first.
Result callInPlace(PyValue self, llvm::StringRef name, const CallArgs &args,
                   llvm::function_ref<Result(llvm::StringRef, const CallArgs &)> call);
/// A call that says `inplace=`, as PyTorch's activations may: with True what comes of it is written
/// where the first argument lies. Nothing if it says nothing of that.
std::optional<Result>
callByInPlace(llvm::StringRef name, const CallArgs &args,
              llvm::function_ref<Result(llvm::StringRef, const CallArgs &)> call);
/// Of a method that gives another shape.
Result shapeChanges(llvm::StringRef name);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_INPLACE_H
