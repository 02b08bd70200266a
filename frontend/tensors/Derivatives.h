//===- Derivatives.h - operations of a gradient ---------------------------===//
#ifndef TILE_FRONTEND_TENSORS_DERIVATIVES_H
#define TILE_FRONTEND_TENSORS_DERIVATIVES_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

/// Makes operations of a gradient; remembers the first error, and makes nothing more behind it.
class Derivatives {
protected:
  explicit Derivatives(Tracer &tracer) : tracer(tracer) {}

  using V = PyValue;
  V keep(Result made) {
    if (made)
      return *made;
    if (!error)
      error = made.takeError();
    return {};
  }
  V map(MapKind kind, std::vector<V> operands) {
    return error ? V() : keep(tracer.map(kind, "grad", operands));
  }
  V number(double x) { return PyValue::number(x); }
  V where(V c, V x, V y) { return map(MapKind::select, {c, x, y}); }
  Operand operand(const V &v) {
    Operand out;
    if (!error)
      error = tracer.operand("grad", v, out);
    return out;
  }

  Tracer &tracer;
  std::unique_ptr<EvalError> error;
};

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_DERIVATIVES_H
