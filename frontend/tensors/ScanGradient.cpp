//===- ScanGradient.cpp - gradients of what is combined so far ------------===//
//
// An element has a part in all results from its own on, so that these are scans the other way, but
// of maxima: each result is one element's, which is looked for.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/ScanGradient.h"
#include "frontend/tensors/Derivatives.h"
#include <cmath>
#include <limits>

using namespace tile;
using namespace tile::tensors;

namespace {

/// The gradient of one scan.
class ScanBackward : Derivatives {
public:
  ScanBackward(Tracer &tracer, graph::ScanOp op)
      : Derivatives(tracer), op(op), axis(op.getAxis()), x(tracer.wrap(op.getSrc())),
        result(tracer.wrap(op.getResult())) {}
  Result run(const PyValue &derivative) {
    PyValue made = ofKind(derivative);
    return error ? Result(std::move(error)) : Result(std::move(made));
  }

private:
  V scan(ReduceKind kind, const V &v, bool reverse) {
    Operand of = operand(v);
    return error ? V() : keep(tracer.scan(kind, of, axis, reverse));
  }
  V back(ReduceKind kind, const V &v) { return scan(kind, v, !op.getReverse()); }

  V ofKind(const V &g);
  V ofProducts(const V &g);
  V ofExtrema(const V &g);
  V ofPowers(const V &g);

  graph::ScanOp op;
  int64_t axis;
  V x, result;
};

} // namespace

PyValue ScanBackward::ofKind(const V &g) {
  switch (op.getKind()) {
  case ReduceKind::sum:
    return back(ReduceKind::sum, g);
  case ReduceKind::prod:
    return ofProducts(g);
  case ReduceKind::logaddexp:
    return ofPowers(g);
  default:
    return ofExtrema(g);
  }
}

/// sum(g * r) from an element on, less its own factor. The first 0 has the products without it for
/// a slope, and what comes behind it none.
PyValue ScanBackward::ofProducts(const V &g) {
  V isZero = map(MapKind::eq, {x, number(0)});
  V zeros = scan(ReduceKind::sum, where(isZero, number(1), number(0)), op.getReverse());
  V isFirst = map(MapKind::bit_and, {isZero, map(MapKind::eq, {zeros, number(1)})});
  V without = scan(ReduceKind::prod, where(isFirst, number(1), x), op.getReverse());
  V ofFirst = back(ReduceKind::sum, map(MapKind::mul, {g, without}));
  V sums = back(ReduceKind::sum, map(MapKind::mul, {g, result}));
  V ofRest = map(MapKind::div, {sums, where(isZero, number(1), x)});
  return where(isFirst, ofFirst, where(isZero, number(0), ofRest));
}

/// The last element that is the extremum so far has the result's derivative.
PyValue ScanBackward::ofExtrema(const V &g) {
  Sizes sizes = op.getType().sizes();
  size_t rank = sizes.size();
  // Results go along one dimension more, behind that of the elements.
  auto line = [&](size_t dim, size_t of) {
    llvm::SmallVector<int64_t> dims(of - dim, -1);
    dims[0] = 0;
    return error ? V() : keep(tracer.rearrange({tracer.indices(sizes[axis]), "", false}, dims));
  };
  auto spread = [&](const V &v) {
    llvm::SmallVector<int64_t> dims = inOrder(rank);
    dims.insert(dims.begin() + axis, -1);
    Operand of = operand(v);
    return error ? V() : keep(tracer.rearrange(of, dims));
  };
  V place = line(axis, rank);
  V nowhere = PyValue::integer(-1);
  bool isReverse = op.getReverse();
  if (isReverse && !error) { // the largest place is the first then
    place = map(MapKind::sub, {tracer.sizeValue(sizes[axis]), place});
    nowhere = PyValue::integer(0);
  }
  V isIt = map(MapKind::eq, {x, result});
  V last = scan(ReduceKind::max, where(isIt, place, nowhere), isReverse);
  V own = line(axis, rank + 1);
  if (isReverse && !error)
    own = map(MapKind::sub, {tracer.sizeValue(sizes[axis]), own});
  V parts = where(map(MapKind::eq, {spread(last), own}), spread(g), number(0));
  Operand of = operand(parts);
  return error ? V() : keep(tracer.reduce(ReduceKind::sum, of, {axis + 1}, /*keepdim=*/false));
}

/// e^x times the sums of g / e^r from an element on, by logarithms: of the positive ones less of
/// the others. What is 0 has no logarithm that has a derivative, and powers of which nothing is
/// left so far have no part in any.
PyValue ScanBackward::ofPowers(const V &g) {
  V least = number(-std::numeric_limits<double>::infinity());
  V isNothing = map(MapKind::eq, {result, least});
  auto part = [&](const V &positive) {
    V isOut = map(MapKind::bit_or, {isNothing, map(MapKind::eq, {positive, number(0)})});
    V log = map(MapKind::log, {where(isOut, number(1), positive)});
    V logs = where(isOut, least, map(MapKind::sub, {log, result}));
    V sums = back(ReduceKind::logaddexp, logs);
    return map(MapKind::exp, {map(MapKind::add, {sums, x})});
  };
  V none = number(0);
  return map(MapKind::sub, {part(map(MapKind::maximum, {g, none})),
                            part(map(MapKind::maximum, {map(MapKind::neg, {g}), none}))});
}

Result tensors::scanGradient(Tracer &tracer, graph::ScanOp op, const PyValue &derivative) {
  return ScanBackward(tracer, op).run(derivative);
}
