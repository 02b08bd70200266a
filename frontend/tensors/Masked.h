//===- Masked.h - elements of a tensor where a mask is true ---------------===//
//
// How many there are depends on what tensors hold, so that they have no shape, and are no tensor.
// What is computed of them element by element is computed of all, and sums and means are of those
// where the mask is true: `((x - y)[mask] ** 2).mean()`, `x[mask] = 0`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TENSORS_MASKED_H
#define TILE_FRONTEND_TENSORS_MASKED_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

class MaskedValue : public eval::Extension {
public:
  MaskedValue(Tracer &tracer, PyValue whole, PyValue mask)
      : Extension(&id), tracer(tracer), whole(std::move(whole)), mask(std::move(mask)) {}
  static bool classof(const Extension *e) { return e->classId() == &id; }
  std::string typeName() const override { return "part of a tensor by a mask"; }
  std::string repr() const override;
  Result unary(ast::UnaryOp op) override;
  Result binary(ast::BinaryOp op, const PyValue &other, bool reflected) override;
  Result compare(ast::CompareOp op, const PyValue &other) override;
  Result attribute(StringRef name) override;
  Result callMethod(eval::Evaluator &evaluator, StringRef name, const CallArgs &args) override;

  static char id;
  Tracer &tracer;
  const PyValue whole, mask; ///< the mask has the first dimensions of the tensor, or all
};

/// Whether an index is a mask, for the first dimensions of a tensor or all.
bool isMask(const PyValue &index);
/// `x[mask]`; an error if the mask does not fit.
Result takeByMask(Tracer &tracer, const PyValue &x, const PyValue &mask);
/// The mask with as many dimensions as `x`.
Result maskFor(Tracer &tracer, const PyValue &mask, size_t rank);
/// A function of `tile` of arguments that have a mask; nothing if none has one.
std::optional<Result> callMasked(Tracer &tracer, StringRef name, const CallArgs &args);
/// Why such a part cannot be what a tensor can.
std::unique_ptr<EvalError> hasNoShape();

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_MASKED_H
