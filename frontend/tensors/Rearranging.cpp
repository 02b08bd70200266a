//===- Rearranging.cpp - parts of tensors, joined and taken ---------------===//
#include "frontend/tensors/Subscripts.h"
#include "text/Format.h"
#include <algorithm>

using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

using Dims = llvm::SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Result Tracer::window(const Operand &x, ArrayRef<Size> starts, ArrayRef<Size> sizes, bool inside,
                      bool loose) {
  if (refusal)
    return checkRoom();
  llvm::SmallVector<mlir::Attribute> formulas;
  for (const Size &start : starts)
    formulas.push_back(builder.getStringAttr(start.str()));
  auto type = GraphTensorType::of(builder.getContext(), sizes, x.type().getElement());
  return wrap(graph::WindowOp::create(builder, here(), type, x.value,
                                      builder.getArrayAttr(formulas), inside, loose));
}

void Tracer::require(const Size &size, const std::string &otherwise) {
  if (!size.isNeverNegative())
    requirements.push_back({size, otherwise});
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Result Tracer::reshape(const Operand &x, ArrayRef<Size> sizes) {
  auto type = GraphTensorType::of(builder.getContext(), sizes, x.type().getElement());
  return wrap(graph::ReshapeOp::create(builder, here(), type, x.value));
}

static Result reshape(Tracer &tracer, StringRef name, const CallArgs &args) {
  Operand x;
  std::vector<PyValue> given;
  if (auto error = tracer.operandAndRest(name, args, x, given))
    return error;
  if (const PyValue *shape = args.keyword("shape"))
    given = {*shape};
  if (given.size() == 1 && given[0].isSequence())
    given = given[0].elements().vec();
  if (auto error = checkRank(given.size()))
    return error;
  Size total = graph::product(x.type().sizes()), known(1);
  Sizes sizes;
  std::optional<size_t> open;
  for (const PyValue &value : given) {
    std::optional<Size> size = sizeOf(value);
    if (!size)
      return fail(formatted("`{}` needs sizes, got {}", name, eval::repr(value)));
    bool isOpen = size->isConstant(-1);
    if (isOpen && open)
      return fail(formatted("`{}` can work out one -1, not two", name));
    if (isOpen)
      open = sizes.size();
    else
      known = known * *size;
    sizes.push_back(*size);
  }
  if (open) {
    std::optional<Size> rest = total.dividedBy(known);
    if (!rest)
      return fail(formatted("`{}` elements are not a whole number of `{}` whatever the sizes are: "
                            "-1 cannot be worked out; a size that is divided is declared as a "
                            "multiple (`\"8*G\"`)",
                            total, known),
                  "ValueError");
    sizes[*open] = *rest;
  } else if (total != known) {
    return fail(formatted("`{}` of shape {} to {}: `{}` elements are not `{}`", name,
                          graph::shapeText(x.type().sizes()), graph::shapeText(sizes), total,
                          known),
                "ValueError");
  }
  return tracer.reshape(x, sizes);
}

/// flatten(x, start_dim=0, end_dim=-1)
static Result flatten(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "start_dim", "end_dim"}, 1);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Sizes sizes = x.type().sizes();
  int64_t first = 0, last = -1;
  if (sizes.empty())
    return tracer.reshape(x, {Size(1)});
  if (auto error = readAxis(name, r.has(1) ? r[1] : PyValue::integer(0), sizes.size(), first))
    return error;
  if (auto error = readAxis(name, r.has(2) ? r[2] : PyValue::integer(-1), sizes.size(), last))
    return error;
  if (last < first)
    return fail(formatted("`flatten` goes from a dimension to one behind it, not from {} to {}",
                          first, last));
  Sizes shape(sizes.begin(), sizes.begin() + first);
  shape.push_back(graph::product(ArrayRef(sizes).slice(first, last - first + 1)));
  shape.append(sizes.begin() + last + 1, sizes.end());
  return tracer.reshape(x, shape);
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

Result Tracer::join(ArrayRef<Operand> parts, int64_t axis) {
  if (refusal)
    return checkRoom();
  mlir::Type element = parts.back().type().getElement();
  for (const Operand &part : llvm::reverse(parts))
    element = graph::promoteTypes(part.type().getElement(), element);
  Sizes whole = parts.front().type().sizes();
  whole[axis] = Size(0);
  llvm::SmallVector<mlir::Value> values;
  for (const Operand &part : parts) {
    Sizes own = part.type().sizes();
    whole[axis] = whole[axis] + own[axis];
    auto type = GraphTensorType::of(builder.getContext(), own, element);
    values.push_back(type == part.type()
                         ? part.value
                         : graph::CastOp::create(builder, here(), type, part.value).getResult());
  }
  auto type = GraphTensorType::of(builder.getContext(), whole, element);
  return wrap(graph::JoinOp::create(builder, here(), type, values, axis));
}

/// cat(tensors, axis=0)
static Result cat(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"tensors", "axis"}, 1);
  if (!r)
    return r.error();
  if (!r[0].isSequence() || r[0].elements().empty())
    return fail(formatted("`cat` needs a list of tensors, got {}", eval::repr(r[0])));
  if (auto error = tracer.checkRoom(r[0].elements().size()))
    return error;
  std::vector<Operand> parts;
  for (const PyValue &value : r[0].elements())
    if (auto error = tracer.operand(name, value, parts.emplace_back()))
      return error;
  Sizes shape = parts[0].type().sizes();
  int64_t axis;
  if (auto error = readAxis(name, r.has(1) ? r[1] : PyValue::integer(0), shape.size(), axis))
    return error;
  for (const Operand &part : parts) {
    Sizes own = part.type().sizes();
    bool fits = own.size() == shape.size();
    for (size_t i = 0; fits && i < own.size(); ++i)
      fits = int64_t(i) == axis || own[i] == shape[i];
    if (!fits)
      return fail(formatted("`cat` of shapes {} and {}: all dimensions but {} must be the same",
                            graph::shapeText(shape), graph::shapeText(own), axis),
                  "ValueError");
  }
  return tracer.join(parts, axis);
}

static Result stack(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"tensors", "axis"}, 1);
  if (!r)
    return r.error();
  if (!r[0].isSequence())
    return fail(formatted("`stack` needs a list of tensors, got {}", eval::repr(r[0])));
  if (auto error = tracer.checkRoom(r[0].elements().size()))
    return error;
  std::vector<PyValue> parts;
  PyValue axis = r.has(1) ? r[1] : PyValue::integer(0);
  for (const PyValue &value : r[0].elements()) {
    Result part = tracer.callNamed("unsqueeze", {{value, axis}, {}}).value();
    if (!part)
      return part;
    parts.push_back(*part);
  }
  return cat(tracer, "cat", {{PyValue::list(std::move(parts)), axis}, {}});
}

/// pad(x, [(before, behind), ...], value=0), one pair for each dimension.
static Result pad(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "widths", "value"}, 2);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Sizes sizes = x.type().sizes(), starts, whole;
  if (!r[1].isSequence() || r[1].elements().size() != sizes.size())
    return fail(
        formatted("`pad` needs a pair of widths for each of the {} dimensions", sizes.size()));
  Result inside = PyValue();
  for (auto [i, pair] : llvm::enumerate(r[1].elements())) {
    std::optional<Size> ends[2];
    for (size_t e = 0; e < 2 && pair.isSequence() && pair.elements().size() == 2; ++e)
      ends[e] = sizeOf(pair.elements()[e]);
    if (!ends[0] || !ends[1])
      return fail(formatted("`pad` needs pairs of sizes, got {}", eval::repr(pair)));
    starts.push_back(Size(0) - *ends[0]);
    whole.push_back(sizes[i] + *ends[0] + *ends[1]);
  }
  Result padded = tracer.window(x, starts, whole, /*inside=*/false, /*loose=*/!r.get(2).isNone());
  if (r.get(2).isNone())
    return padded;
  for (size_t i = 0; i < sizes.size() && padded; ++i) {
    Dims dims(sizes.size() - i, -1);
    dims[0] = 0;
    Result place = tracer.rearrange({tracer.indices(whole[i]), "", false}, dims);
    Size before = Size(0) - starts[i];
    Result from = tracer.map(MapKind::ge, name, {*place, tracer.sizeValue(before)});
    Result to = tracer.map(MapKind::lt, name, {*place, tracer.sizeValue(before + sizes[i])});
    Result both = from && to ? tracer.map(MapKind::bit_and, name, {*from, *to}) : std::move(from);
    padded = both ? tracer.map(MapKind::select, name, {*both, *padded, r[2]}) : std::move(both);
  }
  return padded;
}

//===----------------------------------------------------------------------===//
// By indices
//===----------------------------------------------------------------------===//

/// take(x, index): of all elements in order.
static Result take(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "index"}, 2);
  if (!r)
    return r.error();
  Sizes sizes = r.tensor().type().sizes();
  Result row =
      sizes.size() == 1 ? Result(r[0]) : tracer.reshape(r.tensor(), {graph::product(sizes)});
  return row ? takeRows(tracer, name, *row, r[1], /*wraps=*/true) : std::move(row);
}

/// Rows of which those of one index have no gradient.
static Result withoutSlopeOf(Tracer &tracer, const PyValue &rows, const PyValue &index,
                             const PyValue &which, const Size &count) {
  std::optional<int64_t> number = which.toInt64();
  if (!number)
    return fail(
        formatted("`padding_idx` of `embedding` is a whole number, got {}", eval::repr(which)));
  PyValue padding = tracer.sizeValue(*number < 0 ? count + Size(*number) : Size(*number));
  Result is = tracer.map(MapKind::eq, "embedding", {index, padding});
  if (is)
    is = *tracer.callNamed("unsqueeze", {{*is, PyValue::integer(-1)}, {}});
  Result still = *tracer.callNamed("detach", {{rows}, {}});
  if (!is || !still)
    return !is ? std::move(is) : std::move(still);
  return tracer.map(MapKind::select, "embedding", {*is, *still, rows});
}

/// embedding(index, weight, padding_idx=None): rows of the weight.
static Result embedding(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"index", "weight", "padding_idx"}, 2);
  Result rows = r ? takeRows(tracer, name, r[1], r[0], /*wraps=*/false) : Result(r.error());
  if (!rows || r.get(2).isNone() || tracer.evaluator.gradients == 0)
    return rows;
  Sizes sizes = r[1].dynExtension<TensorValue>()->sizes();
  return sizes.size() == 2 ? withoutSlopeOf(tracer, *rows, r[0], r[2], sizes[0]) : std::move(rows);
}

/// flip(x, axis): one or several
static Result flip(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "axis"}, 1);
  llvm::SmallVector<int64_t> axes;
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Sizes sizes = x.type().sizes();
  if (auto error = readAxes(name, r.get(1), sizes.size(), axes))
    return error;
  Subscript at{Sizes(sizes.size(), Size(0)), sizes, {}, {}};
  at.steps.assign(sizes.size(), 1);
  for (int64_t axis : axes) {
    at.steps[axis] = -1;
    at.starts[axis] = sizes[axis] - Size(1);
  }
  return everySo(tracer, x, at);
}

/// gather(x, index, axis): index has x's dimensions, all but that of the axis of their sizes.
static Result gather(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"x", "index", "axis"}, 3);
  Operand x, index;
  int64_t axis;
  if (!r)
    return r.error();
  if (auto error = tracer.operand(name, r[0], x))
    return error;
  if (auto error = tracer.operand(name, r[1], index))
    return error;
  Sizes sizes = x.type().sizes(), own = index.type().sizes();
  if (auto error = readAxis(name, r[2], sizes.size(), axis))
    return error;
  if (own.size() != sizes.size() || !mlir::isa<mlir::IntegerType>(index.type().getElement()))
    return fail("`gather` needs whole numbers for indices, of as many dimensions as the tensor",
                "ValueError");
  llvm::SmallVector<mlir::Value> indices;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (int64_t(i) == axis) {
      indices.push_back(index.value);
      continue;
    }
    tracer.require(
        sizes[i] - own[i],
        formatted("`gather` takes `{}` elements along a dimension `{}`", own[i], sizes[i]));
    Dims dims(sizes.size() - i, -1);
    dims[0] = 0;
    Operand along;
    Result line = tracer.rearrange({tracer.indices(own[i]), "", false}, dims);
    if (auto error = tracer.operand(name, *line, along))
      return error;
    indices.push_back(along.value);
  }
  return tracer.gather(x.value, indices, /*guarded=*/true);
}

/// one_hot(index, classes)
static Result oneHot(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"index", "classes"}, 2);
  if (!r)
    return r.error();
  const Operand &at = r.tensor();
  std::optional<Size> classes = sizeOf(r[1]);
  if (!mlir::isa<mlir::IntegerType>(at.type().getElement()))
    return fail(formatted("`one_hot` needs whole numbers, got {}", eval::repr(r[0])));
  if (!classes)
    return fail(formatted("`one_hot` needs a number of classes, got {}", eval::repr(r[1])));
  if (classes->constant().value_or(1) < 1)
    return fail(
        formatted("`one_hot` needs a positive number of classes, got {}", eval::repr(r[1])));
  Dims dims = inOrder(at.type().sizes().size());
  dims.push_back(-1);
  Result column = tracer.rearrange(at, dims);
  Result is = tracer.map(MapKind::eq, name, {*column, tracer.wrap(tracer.indices(*classes))});
  return is ? tracer.cast(*is, tracer.builder.getI64Type()) : std::move(is);
}

/// tril(x, diagonal=0): the lower triangle of the last two dimensions, 0 elsewhere; triu the upper.
static Result triangle(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "diagonal"}, 1);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Sizes sizes = x.type().sizes();
  if (sizes.size() < 2)
    return fail(formatted("`{}` needs two dimensions at least", name), "ValueError");
  Result row = tracer.rearrange({tracer.indices(sizes[sizes.size() - 2]), "", false}, {0, -1});
  if (r.has(1) && !sizeOf(r[1]))
    return fail(formatted("`diagonal` of `{}` is a whole number, got {}", name, eval::repr(r[1])));
  if (std::optional<int64_t> number = r.has(1) ? r[1].toInt64() : std::nullopt) {
    // Far beyond all places it is as good as further beyond; a place and it need more than 32 bits.
    constexpr int64_t far = int64_t(1) << 62;
    if (row && *number != int16_t(*number))
      row = tracer.cast(*row, tracer.builder.getI64Type());
    if (row)
      row =
          tracer.map(MapKind::add, name, {*row, PyValue::integer(std::clamp(*number, -far, far))});
  } else if (r.has(1)) {
    row = tracer.map(MapKind::add, name, {*row, r[1]});
  }
  if (!row)
    return row;
  Result stays = tracer.map(name == "tril" ? MapKind::ge : MapKind::le, name,
                            {*row, tracer.wrap(tracer.indices(sizes.back()))});
  if (!stays)
    return stays;
  mlir::Type element = x.type().getElement();
  if (element.isInteger(1))
    return tracer.map(MapKind::bit_and, name, {*stays, r[0]});
  PyValue zero = mlir::isa<mlir::IntegerType>(element) ? PyValue::integer(0) : PyValue::number(0);
  return tracer.map(MapKind::select, name, {*stays, r[0], zero});
}

ArrayRef<TracedEntry> tensors::tracedRearranging() {
  static const TracedEntry table[] = {
      {"reshape", reshape}, {"view", reshape}, {"flatten", flatten}, {"cat", cat},
      {"stack", stack},     {"pad", pad},      {"take", take},       {"embedding", embedding},
      {"gather", gather},   {"flip", flip},    {"one_hot", oneHot},  {"tril", triangle},
      {"triu", triangle},
  };
  return table;
}
