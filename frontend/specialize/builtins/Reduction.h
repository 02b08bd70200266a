//===- Reduction.h - a call of a builtin that reduces ---------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_BUILTINS_REDUCTION_H
#define TILE_FRONTEND_SPECIALIZE_BUILTINS_REDUCTION_H

#include "frontend/specialize/Builtins.h"
#include "frontend/specialize/MathOps.h"
#include "text/Format.h"

namespace tile::specialize {

using Tensors = Emitter::Tensors;

/// One builtin reduction: axis None flattens, keep_dims puts ones back.
struct Reduction {
  Reduction(BuiltinCall &c, Tensor x) : c(c), x(std::move(x)) {}

  BuiltinCall &c;
  Tensor x;
  int64_t rank = 0;
  std::optional<int64_t> axis; ///< nothing: over all
  bool keepDims = false;

  bool prepare(unsigned axisIndex, unsigned keepIndex) {
    keepDims = c.flag(keepIndex);
    if (!x)
      return false;
    if (!x.isBlock()) {
      c.fail(formatted("needs a block, got the scalar {}", describe(x.type, x.shape())));
      return false;
    }
    rank = x.rank();
    if (!c.has(axisIndex))
      return true;
    axis = c.axis(axisIndex, rank);
    return axis.has_value();
  }
  /// Flattens if there is no axis; call before reducing. Where dimensions are
  /// not powers of two they are easier folded one after the other.
  Tensor input(const Tensor &t) {
    if (axis || t.rank() == 1 || foldsEach())
      return t;
    return c.s.reshape(t, {t.blockType().getNumElements()}, /*reorder=*/true);
  }
  int64_t along() const { return axis.value_or(foldsEach() ? Emitter::allAxes : 0); }
  bool foldsEach() const {
    return !axis && !llvm::all_of(x.shape(), [](int64_t n) { return llvm::isPowerOf2_64(n); });
  }
  Tensor finish(const Tensor &t) {
    if (!t || !keepDims)
      return t;
    if (axis)
      return keepDimension(c.s, t, *axis);
    return c.s.splat(t, llvm::SmallVector<int64_t>(rank, 1));
  }
};

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_BUILTINS_REDUCTION_H
