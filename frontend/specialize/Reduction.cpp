//===- Reduction.cpp - reductions and scans with a combiner ---------------===//
#include "frontend/specialize/ElementRegion.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

/// Fills `region` with a block that combines two values of every input.
bool Emitter::buildCombiner(Region &region, ArrayRef<Tensor> inputs, Combine combine) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = new Block;
  region.push_back(block);
  Location here = loc();
  Tensors left, right;
  for (Tensors *side : {&left, &right})
    for (const Tensor &input : inputs)
      side->push_back({block->addArgument(irType(input.type), here), input.type});
  builder.setInsertionPointToStart(block);
  ElementRegion elements(*this, ElementRegion::Kind::Combiner);
  Tensors combined = combine(left, right);
  if (combined.size() != inputs.size())
    return false; // reported
  SmallVector<Value> results;
  for (auto [result, input] : llvm::zip(combined, inputs)) {
    if (!result)
      return false;
    if (result.isBlock() || result.type != input.type) {
      error(formatted("the combining function must return {}, as it is given, but returns {}",
                      input.type.str(), describe(result.type, result.shape())));
      return false;
    }
    results.push_back(result.value);
  }
  YieldOp::create(builder, here, results);
  return elements.finish(region);
}

static bool sameShape(Emitter &e, ArrayRef<Tensor> inputs, int64_t axis) {
  for (const Tensor &t : inputs) {
    if (!t)
      return false;
    if (t.shape() != inputs[0].shape()) {
      e.error(formatted("all inputs must have one shape, got {} and {}",
                        describeShape(inputs[0].shape()), describeShape(t.shape())));
      return false;
    }
  }
  assert(axis >= 0 && axis < inputs[0].rank() && "the caller checks the axis");
  return true;
}

/// A result for each input, of its type.
static Emitter::Tensors resultsOf(Operation *op, ArrayRef<Tensor> inputs) {
  Emitter::Tensors results;
  for (auto [t, value] : llvm::zip(inputs, op->getResults()))
    results.push_back({value, t.type});
  return results;
}

Emitter::Tensors Emitter::reduce(ArrayRef<Tensor> inputs, int64_t axis, Combine combine) {
  if (axis == allAxes) {
    Tensors rest(inputs);
    while (!rest.empty() && rest[0] && rest[0].isBlock())
      rest = reduce(rest, rest[0].rank() - 1, combine);
    return rest;
  }
  if (!sameShape(*this, inputs, axis))
    return {};
  SmallVector<int64_t> shape(inputs[0].shape());
  shape.erase(shape.begin() + axis);
  OperationState state(loc(), ReduceOp::getOperationName());
  for (const Tensor &t : inputs) {
    state.addOperands(t.value);
    state.addTypes(irType(t.type, shape));
  }
  state.addAttribute("axis", builder.getI32IntegerAttr(axis));
  if (!buildCombiner(*state.addRegion(), inputs, combine))
    return {};
  return resultsOf(builder.create(state), inputs);
}

Emitter::Tensors Emitter::scan(ArrayRef<Tensor> inputs, int64_t axis, bool reverse,
                               Combine combine) {
  if (!sameShape(*this, inputs, axis))
    return {};
  OperationState state(loc(), ScanOp::getOperationName());
  for (const Tensor &t : inputs) {
    state.addOperands(t.value);
    state.addTypes(t.value.getType());
  }
  state.addAttribute("axis", builder.getI32IntegerAttr(axis));
  state.addAttribute("reverse", builder.getBoolAttr(reverse));
  if (!buildCombiner(*state.addRegion(), inputs, combine))
    return {};
  return resultsOf(builder.create(state), inputs);
}

} // namespace tile::specialize
