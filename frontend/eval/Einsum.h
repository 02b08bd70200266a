//===- Einsum.h - products of tensors whose dimensions have names -----------===//
#ifndef TILE_FRONTEND_EVAL_EINSUM_H
#define TILE_FRONTEND_EVAL_EINSUM_H

#include "frontend/eval/FormulaTerms.h"

namespace tile::eval {

/// A tensor with a name for each dimension: a letter, or a number below 0.
struct Labelled {
  Term x;
  std::vector<int> labels;
};

/// The sum over all names that `out` has not, of the product of all.
Term contracted(Formula &f, std::vector<Labelled> operands, const std::vector<int> &out);
/// einsum(equation, operands...)
Term einsum(Formula &f);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_EINSUM_H
