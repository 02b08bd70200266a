//===- Extrema.h - `max`, `sort` and others along a dimension, as PyTorch --===//
//
// In PyTorch `x.max(dim=1)` is a pair, values and places, and so are `sort`, `median`, `kthvalue`,
// `cummax` and `cummin`; here, as in NumPy, the values. What people do with the pair at once
// (`.values`, `[0]`, two names on the left) means the same: the result remembers how it was asked
// for. Whatever is computed of it is a tensor as any other.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_EXTREMA_H
#define TILE_FRONTEND_EVAL_EXTREMA_H

#include "frontend/eval/Evaluator.h"
#include <functional>

namespace tile::eval {

/// How a program asked for extrema, or elements in order, along one dimension.
struct Extrema {
  std::string name;             ///< "max" or "sort"
  bool isByDim = false;         ///< in a way that is PyTorch's alone; else NumPy's, too
  std::function<Result()> both; ///< values and places, as a pair

  /// What a call asks for; nothing if it is another one, or `axis=` says that it is NumPy's.
  static std::optional<Extrema> of(llvm::StringRef name, const CallArgs &args, bool isMethod);
  llvm::StringRef placesName() const;

  // Nothing: as of any tensor.
  std::optional<Result> attribute(llvm::StringRef of) const;
  std::optional<Result> subscript(const PyValue &index) const;
  Result iterate(std::vector<PyValue> &elements) const;
};

/// A tuple whose two elements have names.
PyValue namedPair(llvm::StringRef type, std::pair<llvm::StringRef, llvm::StringRef> names,
                  const PyValue &first, const PyValue &second);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_EXTREMA_H
