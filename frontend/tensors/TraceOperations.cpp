//===- TraceOperations.cpp - operations of a function of whole tensors ----===//
#include "frontend/tensors/Trace.h"
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::tensors;

/// `x` of shape (M, N)
static std::string describe(const Operand &x) {
  return formatted("{} of shape {}", x.name.empty() ? "a value" : formatted("`{}`", x.name),
                   graph::shapeText(x.type().sizes()));
}

/// The type that the operands have together. Numbers take the tensors' type, unless they
/// are floats and the tensors are not.
static Type commonType(ArrayRef<Operand> operands) {
  Type strong, weak;
  for (const Operand &x : operands) {
    Type &side = x.isWeak ? weak : strong;
    side = side ? graph::promoteTypes(side, x.type().getElement()) : x.type().getElement();
  }
  if (!strong || !weak)
    return strong ? strong : weak;
  bool widens = (isa<FloatType>(weak) && !isa<FloatType>(strong)) ||
                (strong.isInteger(1) && !weak.isInteger(1));
  return widens ? weak : strong;
}

/// Whether such numbers have no sign.
static bool isNatural(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

Result Tracer::map(MapKind kind, ArrayRef<PyValue> values) {
  return map(kind, graph::stringifyMapKind(kind), values);
}

Value Tracer::inDoubles(Value value) {
  auto type = cast<GraphTensorType>(value.getType());
  if (!type.getElement().isF32())
    return value;
  if (Value made = doubles.lookup(value))
    return made;
  auto wide = GraphTensorType::of(builder.getContext(), type.sizes(), builder.getF64Type());
  if (auto number = value.getDefiningOp<graph::ConstantOp>())
    return doubles[value] =
               graph::ConstantOp::create(builder, number.getLoc(), wide, number.getValue());
  auto map = value.getDefiningOp<graph::MapOp>();
  if (!map)
    return value;
  SmallVector<Value, 3> inputs;
  for (Value input : map->getOperands())
    inputs.push_back(inDoubles(input));
  return doubles[value] = graph::MapOp::create(builder, map.getLoc(), wide, map.getKind(), inputs);
}

/// Whether a number of the source can be an element. Of bits it may be in either sign: the mask
/// 0xff000000 has 32 of them.
static bool fitsElement(int64_t number, Type element, MapKind kind) {
  auto type = dyn_cast<IntegerType>(element);
  unsigned bits = type ? type.getWidth() : 64;
  if (bits == 1 || bits >= 64)
    return true;
  bool isBits = kind == MapKind::bit_and || kind == MapKind::bit_or || kind == MapKind::bit_xor ||
                kind == MapKind::philox;
  return ((isBits || !type.isUnsigned()) && llvm::isIntN(bits, number)) ||
         ((isBits || type.isUnsigned()) && llvm::isUIntN(bits, number));
}

/// Sums and products of bools are bools: either, and both.
static MapKind ofBools(MapKind kind) {
  return kind == MapKind::add ? MapKind::bit_or : kind == MapKind::mul ? MapKind::bit_and : kind;
}

Result Tracer::map(MapKind kind, StringRef what, ArrayRef<PyValue> values) {
  SmallVector<Operand, 3> operands(values.size());
  Sizes shape;
  for (auto [value, x] : llvm::zip(values, operands))
    if (auto error = operand(what, value, x))
      return error;
  for (auto [i, x] : llvm::enumerate(operands)) {
    unsigned dim;
    Sizes own = x.type().sizes();
    std::optional<Sizes> both = graph::broadcast(shape, own, dim);
    if (!both) {
      const Operand &sofar = operands[i ? i - 1 : 0];
      std::string left = i == 1 ? describe(sofar) : formatted("shape {}", graph::shapeText(shape));
      return fail(formatted("`{}` of {} and {}: dimension -{} is `{}` in one and `{}` in the "
                            "other; they must be the same, or one of them 1",
                            what, left, describe(x), dim + 1, shape[shape.size() - 1 - dim],
                            own[own.size() - 1 - dim]),
                  "ValueError");
    }
    shape = *both;
  }
  bool isSelect = kind == MapKind::select;
  Type element = commonType(ArrayRef(operands).drop_front(isSelect));
  if (graph::needsFloat(kind) && !isa<FloatType>(element))
    element = builder.getF32Type();
  if (element.isInteger(1) && kind == MapKind::sub)
    return fail(
        formatted("`{}` of bools has no meaning: `x ^ y` is where they differ, and `x & ~y` "
                  "where only the first holds",
                  what));
  if (element.isInteger(1))
    kind = ofBools(kind);
  if (graph::isShift(kind)) {
    if (element.isInteger(1))
      return fail(formatted("`{}` needs integers, got bools", what));
    // Of a number with a sign the sign stays, whatever the places are counted in.
    if (element.isUnsignedInteger() && !isNatural(operands[0].type().getElement()))
      element = builder.getIntegerType(element.getIntOrFloatBitWidth());
  }
  for (Operand &x : operands)
    if (x.isWeak && element.isF64())
      x.value = inDoubles(x.value);
  for (const PyValue &value : values)
    if (std::optional<int64_t> number = value.toInt64();
        number && !fitsElement(*number, element, kind))
      return fail(
          formatted("`{}`: {} does not fit the elements of {} bits that it is computed with", what,
                    *number, element.getIntOrFloatBitWidth()));
  if (graph::givesBool(kind))
    element = builder.getI1Type();
  if (kind == MapKind::philox)
    element = builder.getF32Type();
  bool allWeak = llvm::all_of(operands, [](auto &x) { return x.isWeak; });
  SmallVector<Value, 3> inputs;
  for (Operand &x : operands)
    inputs.push_back(x.value);
  auto type = GraphTensorType::of(builder.getContext(), shape, element);
  return wrap(graph::MapOp::create(builder, here(), type, kind, inputs), allWeak);
}

Value Tracer::indices(const Size &size) {
  auto type = GraphTensorType::of(builder.getContext(), {size}, builder.getI32Type());
  return graph::IndexOp::create(builder, here(), type);
}

Result Tracer::gather(Value source, ArrayRef<Value> indices, bool guarded) {
  if (refusal)
    return checkRoom();
  Sizes shape;
  for (Value index : indices) {
    unsigned dim;
    std::optional<Sizes> both =
        graph::broadcast(shape, cast<GraphTensorType>(index.getType()).sizes(), dim);
    if (!both)
      return fail("the indices do not broadcast", "ValueError");
    shape = *both;
  }
  Type element = cast<GraphTensorType>(source.getType()).getElement();
  auto type = GraphTensorType::of(builder.getContext(), shape, element);
  return wrap(graph::GatherOp::create(builder, here(), type, source, indices, guarded));
}

Result Tracer::cast(const PyValue &value, Type element) {
  Operand x;
  if (auto error = operand("to", value, x))
    return error;
  auto type = GraphTensorType::of(builder.getContext(), x.type().sizes(), element);
  if (x.isWeak)
    if (Value wide = inDoubles(x.value); wide.getType() == type)
      return wrap(wide);
  return wrap(graph::CastOp::create(builder, here(), type, x.value));
}

Result Tracer::reduce(ReduceKind kind, const Operand &x, ArrayRef<int64_t> axes, bool keepdim) {
  Sizes sizes = x.type().sizes(), left;
  SmallVector<int64_t> dims;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    bool reduced = llvm::is_contained(axes, int64_t(i));
    if (reduced && keepdim)
      dims.push_back(-1);
    if (reduced)
      continue;
    dims.push_back(left.size());
    left.push_back(size);
  }
  Type element = x.type().getElement();
  bool adds = kind == ReduceKind::sum || kind == ReduceKind::prod;
  Value src = x.value;
  if (adds && isa<IntegerType>(element) && element.getIntOrFloatBitWidth() < 64) {
    element = builder.getI64Type(); // as references do
    src = graph::CastOp::create(builder, here(),
                                GraphTensorType::of(builder.getContext(), sizes, element), src);
  }
  auto type = GraphTensorType::of(builder.getContext(), left, element);
  Value result = graph::ReduceOp::create(builder, here(), type, kind, src, axes);
  return keepdim ? rearrange({result, "", false}, dims) : Result(wrap(result));
}

Result Tracer::rearrange(const Operand &x, ArrayRef<int64_t> dims) {
  if (refusal)
    return checkRoom();
  if (auto error = checkRank(dims.size()))
    return error;
  Sizes sizes = x.type().sizes(), shape;
  for (int64_t dim : dims)
    shape.push_back(dim < 0 ? Size(1) : sizes[dim]);
  auto type = GraphTensorType::of(builder.getContext(), shape, x.type().getElement());
  return wrap(graph::RearrangeOp::create(builder, here(), type, x.value, dims));
}
