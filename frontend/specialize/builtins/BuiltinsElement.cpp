//===- BuiltinsElement.cpp - gather, histogram, functions of elements -----===//
//
// What picks or counts elements by computed positions, and what runs a function of the
// language on every element. Foreign code is in BuiltinsForeign.cpp.
//
//===----------------------------------------------------------------------===//
#include "frontend/Counted.h"
#include "frontend/specialize/ElementRegion.h"
#include "frontend/specialize/builtins/ElementOperands.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// gather, histogram
//===----------------------------------------------------------------------===//

Tensor pickAlong(Specializer &s, const Tensor &x, const Tensor &index, int64_t axis) {
  bool isBool = x.type.isBool();
  Tensor from = isBool ? s.cast(x, Kind::Int8) : x;
  Tensor picked{s.create<GatherOp>(s.irType(from.type, index.shape()), from.value, index.value,
                                   s.builder.getI32IntegerAttr(axis)),
                from.type};
  return isBool ? s.isTrue(picked) : picked;
}

static PyValue gather(BuiltinCall &c) {
  Tensor src = c.tensor(0), index = c.tensor(1);
  if (!src || !index)
    return PoisonValue::get();
  if (!src.isBlock() || !index.isBlock() || !index.type.isInt() || index.type.isBool())
    return c.fail(formatted("needs a block and a block of integer indices, got {} and {}",
                            describe(c[0]), describe(c[1])));
  if (src.rank() != index.rank())
    return c.fail(formatted("the indices must have the {} dimensions of the source, got {}",
                            src.rank(), describe(c[1])));
  auto axis = c.axis(2, src.rank());
  if (!axis)
    return PoisonValue::get();
  for (int64_t d = 0; d < src.rank(); ++d)
    if (d != *axis && src.shape()[d] != index.shape()[d])
      return c.fail(formatted("source and indices must agree in all dimensions but {}: {} and {}",
                              *axis, describe(c[0]), describe(c[1])));
  return c.s.wrap(pickAlong(c.s, src, index, *axis));
}

static PyValue histogram(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  auto bins = c.integer(1);
  if (!x || !bins)
    return PoisonValue::get();
  std::string problem;
  if (x.rank() != 1 || !x.type.isInt())
    return c.fail(formatted("needs a one-dimensional block of integers, got {}", describe(c[0])));
  if (!checkShape({*bins}, problem))
    return c.fail(problem);
  Specializer &s = c.s;
  if (x.type.bitWidth() < 32)
    x = s.cast(x, Kind::Int32);
  Tensor mask;
  if (c.has(2)) {
    mask = s.isTrue(s.broadcastTo(c.tensor(2), x.shape()));
    if (!mask)
      return PoisonValue::get();
  }
  DType count = Kind::Int32;
  return s.wrap({s.create<HistogramOp>(s.irType(count, {*bins}), x.value, mask.value), count});
}

//===----------------------------------------------------------------------===//
// map_elementwise
//===----------------------------------------------------------------------===//

/// Fills the region with a call of the function; the result types, one for
/// each result, or nothing after an error.
static std::optional<SmallVector<DType>>
buildMapBody(BuiltinCall &c, Region &region, ArrayRef<Tensor> inputs, unsigned pack, bool &single) {
  Specializer &s = c.s;
  OpBuilder::InsertionGuard guard(s.builder);
  Block *block = new Block;
  region.push_back(block);
  std::vector<PyValue> args;
  for (const Tensor &input : inputs)
    for (unsigned k = 0; k < pack; ++k)
      args.push_back(s.wrap({block->addArgument(s.irType(input.type), s.loc()), input.type}));
  s.builder.setInsertionPointToStart(block);
  ElementRegion elements(s, ElementRegion::Kind::Mapped);
  PyValue result = s.call(c[0], args);
  if (holdsPoison(result))
    return std::nullopt;
  single = !result.isSequence() && pack == 1;
  SmallVector<Value> values;
  SmallVector<DType> types;
  for (const PyValue &part : result.isSequence() ? result.elements() : ArrayRef(result)) {
    Tensor t = s.tensor(part, "a result of the function");
    if (!t)
      return std::nullopt;
    if (t.isBlock()) {
      c.fail(formatted("the function must return scalars, got {}", describe(part)));
      return std::nullopt;
    }
    values.push_back(t.value);
    types.push_back(t.type);
  }
  if (values.empty() || values.size() % pack) {
    c.fail(formatted("the function must return {} for each result, got {}", counted(pack, "value"),
                     values.size()));
    return std::nullopt;
  }
  SmallVector<DType> results;
  for (size_t i = 0; i < types.size(); i += pack) {
    for (unsigned k = 1; k < pack; ++k)
      if (types[i + k] != types[i]) {
        c.fail(formatted("the {} values of one result must have one type, got {} and {}", pack,
                         types[i].str(), types[i + k].str()));
        return std::nullopt;
      }
    results.push_back(types[i]);
  }
  single |= results.size() == 1;
  YieldOp::create(s.builder, s.loc(), values);
  if (!elements.finish(region))
    return std::nullopt;
  return results;
}

static PyValue mapElementwise(BuiltinCall &c) {
  SmallVector<Tensor> inputs;
  auto pack = packOf(c, 2);
  if (!pack || !elementOperands(c, c[1].elements(), inputs))
    return PoisonValue::get();
  if (inputs.empty())
    return c.fail("needs arguments");
  if (!c[0].is(PyValue::Kind::Function))
    return c.fail(formatted("the first argument must be a function, got {}", describe(c[0])));
  Specializer &s = c.s;
  OperationState state(s.loc(), MapElementwiseOp::getOperationName());
  for (const Tensor &t : inputs)
    state.addOperands(t.value);
  state.addAttribute("pack", s.builder.getI32IntegerAttr(*pack));
  bool single = false;
  auto types = buildMapBody(c, *state.addRegion(), inputs, *pack, single);
  if (!types)
    return PoisonValue::get();
  for (const DType &type : *types)
    state.addTypes(s.irType(type, inputs[0].shape()));
  return oneOrTuple(c, single, s.builder.create(state)->getResults(), *types);
}

void addElementBuiltins(BuiltinTable &t) {
  t.add("tl.gather", "src, index, axis", gather);
  t.add("tl.histogram", "input, num_bins, mask=", histogram);
  t.add("tl.map_elementwise", "scalar_fn, *args, pack=", mapElementwise);
}

} // namespace tile::specialize
