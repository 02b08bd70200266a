//===- MapGradient.cpp - derivatives of functions of elements -------------===//
#include "frontend/tensors/Backward.h"
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::tensors;

PyValue Backward::slopeOfGelu(V x) {
  V part = mul(add(of(MapKind::erf, mul(x, number(M_SQRT1_2))), number(1)), number(0.5));
  V bell = of(MapKind::exp, mul(of(MapKind::square, x), number(-0.5)));
  return add(part, mul(x, mul(bell, number(0.5 * M_2_SQRTPI * M_SQRT1_2))));
}

PyValue Backward::slopeOfGeluTanh(V x) {
  double scale = M_2_SQRTPI * M_SQRT1_2;
  V one = number(1), squared = of(MapKind::square, x);
  V t = of(MapKind::tanh, mul(mul(x, number(scale)), add(one, mul(squared, number(0.044715)))));
  V slope = mul(add(one, mul(squared, number(3 * 0.044715))), number(scale));
  V rest = mul(mul(x, number(0.5)), mul(sub(one, of(MapKind::square, t)), slope));
  return add(mul(add(one, t), number(0.5)), rest);
}

/// Activations, and the integrals of theirs and other bells.
PyValue Backward::ofActivation(MapKind kind, V x, V r, V g) {
  V one = number(1);
  switch (kind) {
  case MapKind::sigmoid:
    return mul(g, mul(r, sub(one, r)));
  case MapKind::relu:
    return where(map(MapKind::gt, {x, PyValue::integer(0)}), g, number(0));
  case MapKind::silu: {
    V s = of(MapKind::sigmoid, x);
    return mul(g, mul(s, add(one, mul(x, sub(one, s)))));
  }
  case MapKind::gelu:
    return mul(g, slopeOfGelu(x));
  case MapKind::gelu_tanh:
    return mul(g, slopeOfGeluTanh(x));
  case MapKind::erf:
    return mul(g,
               mul(of(MapKind::exp, of(MapKind::neg, of(MapKind::square, x))), number(M_2_SQRTPI)));
  case MapKind::erfc:
    return of(MapKind::neg, ofUnary(MapKind::erf, x, r, g));
  case MapKind::lgamma:
    return mul(g, keep(tracer.callNamed("digamma", {{x}, {}}).value()));
  case MapKind::erfinv:
    return mul(g, mul(of(MapKind::exp, of(MapKind::square, r)), number(1 / M_2_SQRTPI)));
  default:
    return {}; // steps: their slope is 0
  }
}

PyValue Backward::ofUnary(MapKind kind, V x, V r, V g) {
  V one = number(1);
  switch (kind) {
  case MapKind::neg:
    return of(MapKind::neg, g);
  case MapKind::abs:
    return mul(g, of(MapKind::sign, x));
  case MapKind::exp:
    return mul(g, r);
  case MapKind::exp2:
    return mul(g, mul(r, number(M_LN2)));
  case MapKind::expm1:
    return mul(g, add(r, one));
  case MapKind::log:
    return div(g, x);
  case MapKind::log2:
    return div(g, mul(x, number(M_LN2)));
  case MapKind::log10:
    return div(g, mul(x, number(M_LN10)));
  case MapKind::log1p:
    return div(g, add(x, one));
  case MapKind::sqrt:
    return div(mul(g, number(0.5)), r);
  case MapKind::rsqrt:
    return mul(mul(g, number(-0.5)), mul(r, of(MapKind::square, r)));
  case MapKind::sin:
    return mul(g, of(MapKind::cos, x));
  case MapKind::cos:
    return of(MapKind::neg, mul(g, of(MapKind::sin, x)));
  case MapKind::tan:
    return mul(g, add(of(MapKind::square, r), one));
  case MapKind::tanh:
    return mul(g, sub(one, of(MapKind::square, r)));
  case MapKind::asin:
    return mul(g, of(MapKind::rsqrt, sub(one, of(MapKind::square, x))));
  case MapKind::acos:
    return of(MapKind::neg, ofUnary(MapKind::asin, x, r, g));
  case MapKind::atan:
    return div(g, add(of(MapKind::square, x), one));
  case MapKind::reciprocal:
    return of(MapKind::neg, mul(g, of(MapKind::square, r)));
  case MapKind::square:
    return mul(mul(g, number(2)), x);
  default:
    return ofActivation(kind, x, r, g);
  }
}

void Backward::throughMap(graph::MapOp op, V g) {
  Sizes whole = graph::sizesOf(op.getResult());
  auto to = [&](unsigned i, auto &&derivative) {
    Value at = op.getOperand(i);
    if (wanted.contains(at) && isFloat(at) && !error)
      give(at, narrowed(derivative(), whole, graph::sizesOf(at)));
  };
  V x = value(op.getOperand(0)), r = value(op.getResult());
  V y = op.getNumOperands() > 1 ? value(op.getOperand(1)) : V();
  V zero = number(0);
  switch (op.getKind()) {
  case MapKind::add:
    to(0, [&] { return g; });
    to(1, [&] { return g; });
    return;
  case MapKind::sub:
    to(0, [&] { return g; });
    to(1, [&] { return of(MapKind::neg, g); });
    return;
  case MapKind::mul:
    to(0, [&] { return mul(g, y); });
    to(1, [&] { return mul(g, x); });
    return;
  case MapKind::div:
    to(0, [&] { return div(g, y); });
    to(1, [&] { return of(MapKind::neg, div(mul(g, r), y)); });
    return;
  case MapKind::mod:
    to(0, [&] { return g; });
    to(1, [&] { return of(MapKind::neg, mul(g, map(MapKind::floordiv, {x, y}))); });
    return;
  case MapKind::pow:
    to(0, [&] { return mul(g, mul(y, map(MapKind::pow, {x, sub(y, number(1))}))); });
    to(1, [&] { return mul(g, mul(r, of(MapKind::log, x))); });
    return;
  case MapKind::atan2: {
    V length = add(of(MapKind::square, x), of(MapKind::square, y));
    to(0, [&] { return mul(g, div(y, length)); });
    to(1, [&] { return of(MapKind::neg, mul(g, div(x, length))); });
    return;
  }
  case MapKind::maximum:
  case MapKind::minimum: {
    V isFirst = map(op.getKind() == MapKind::maximum ? MapKind::ge : MapKind::le, {x, y});
    auto share = [&](V derivative) { // each of two equals has half, where PyTorch has it so
      return tracer.sharing.contains(op)
                 ? where(map(MapKind::eq, {x, y}), mul(g, number(0.5)), derivative)
                 : derivative;
    };
    to(0, [&] { return share(where(isFirst, g, zero)); });
    to(1, [&] { return share(where(isFirst, zero, g)); });
    return;
  }
  case MapKind::select:
    to(1, [&] { return where(x, g, zero); });
    to(2, [&] { return where(x, zero, g); });
    return;
  default:
    if (op.getNumOperands() > 1)
      return;
    V derivative = ofUnary(op.getKind(), x, r, g);
    if (!derivative.isNone())
      to(0, [&] { return derivative; });
  }
}
