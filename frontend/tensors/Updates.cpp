//===- Updates.cpp - tensors that a function writes -----------------------===//
//
// `w[:] = ...`, `w[1:] = ...` and `w -= ...`: what is read of it from there on is the new value,
// which a parameter's memory holds when the function has run. Everything before has the old one:
// the graph knows values, not memory. Only what NumPy would let see both, a view that was taken
// before and is used behind, has no such meaning, and is refused.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Masked.h"
#include "frontend/tensors/Subscripts.h"
#include "text/Format.h"
#include "llvm/ADT/SetVector.h"

using namespace tile;
using namespace tile::tensors;

/// Whether an index means all elements: `:`, `...`, `:, :`.
static bool isWhole(const PyValue &index) {
  if (index.is(PyValue::Kind::Tuple))
    return llvm::all_of(index.elements(), isWhole);
  if (!index.is(PyValue::Kind::Slice))
    return index.is(PyValue::Kind::Ellipsis);
  const auto &slice = index.asSlice();
  return slice.lower.isNone() && slice.upper.isNone() && slice.step.isNone();
}

bool tensors::isOwn(const TensorValue &tensor) {
  mlir::Operation *op = tensor.value.getDefiningOp();
  return tensor.isCopy ||
         mlir::isa_and_nonnull<graph::MapOp, graph::ReduceOp, graph::MatmulOp, graph::ScanOp,
                               graph::GatherOp, graph::IndexOp, graph::JoinOp>(op);
}

/// `given` as what all of a part of that shape becomes.
static Result asElements(Tracer &tracer, const TensorValue &to, const PyValue &given,
                         ArrayRef<Size> part) {
  Operand x;
  if (auto error = tracer.operand("=", given, x))
    return error;
  unsigned dim;
  Sizes own(part.begin(), part.end());
  std::optional<Sizes> both = graph::broadcast(own, x.type().sizes(), dim);
  if (!both || *both != own)
    return fail(formatted("`{}` has the shape {}, and what is assigned {}: it must have the same, "
                          "or repeat along dimensions where it is 1",
                          to.name.empty() ? "the left" : to.name, graph::shapeText(own),
                          graph::shapeText(x.type().sizes())),
                "ValueError");
  mlir::Type element = to.type().getElement();
  return element.isInteger(1) && !x.type().getElement().isInteger(1)
             ? tracer.map(MapKind::ne, "=", {given, PyValue::integer(0)})
             : tracer.cast(given, element);
}

/// The numbers along dimension `i` of a tensor of that many, less the first of a part.
static Result placeAlong(Tracer &tracer, const Size &size, size_t i, size_t rank) {
  llvm::SmallVector<int64_t> along(rank - i, -1);
  along[0] = 0;
  return tracer.rearrange({tracer.indices(size), "", false}, along);
}

/// Where a part lies along dimension `i`, added to what is known of others; None: everywhere.
static Result isInPart(Tracer &tracer, Result isThere, const Subscript &at, const Sizes &own,
                       size_t i) {
  int64_t step = at.steps[i];
  Size end = at.starts[i] + at.sizes[i] * Size(step);
  bool steps = step > 1, isWhole = step < 0 || at.sizes[i] == own[i];
  if (!isThere || isWhole)
    return isThere;
  Result line = placeAlong(tracer, own[i], i, own.size());
  PyValue start = tracer.sizeValue(at.starts[i]);
  Result rest = line && steps ? tracer.map(MapKind::sub, "=", {*line, start}) : Result(PyValue());
  if (rest && steps)
    rest = tracer.map(MapKind::mod, "=", {*rest, PyValue::integer(step)});
  if (!line || !rest)
    return !line ? std::move(line) : std::move(rest);
  llvm::SmallVector<Result, 3> asks;
  if (!steps || at.starts[i] != Size(0))
    asks.push_back(tracer.map(MapKind::ge, "=", {*line, start}));
  if (!steps || (end - own[i]).constant().value_or(-1) < 0)
    asks.push_back(tracer.map(MapKind::lt, "=", {*line, tracer.sizeValue(end)}));
  if (steps)
    asks.push_back(tracer.map(MapKind::eq, "=", {*rest, PyValue::integer(0)}));
  for (Result &holds : asks) {
    if (holds && !isThere->isNone())
      holds = tracer.map(MapKind::bit_and, "=", {*isThere, *holds});
    isThere = std::move(holds);
    if (!isThere)
      return isThere;
  }
  return isThere;
}

/// New elements where they lie in a tensor of those sizes; elsewhere there may be anything.
static Result inPlace(Tracer &tracer, const Operand &x, const Subscript &at, const Sizes &own) {
  if (llvm::all_of(at.steps, [](int64_t step) { return step == 1; })) {
    Sizes starts, whole;
    for (size_t i = 0; i < own.size(); ++i) {
      bool repeats = at.sizes[i].isConstant(1); // the same wherever it is
      starts.push_back(repeats ? Size(0) : Size(0) - at.starts[i]);
      whole.push_back(repeats ? Size(1) : own[i]);
    }
    return x.type().sizes() == whole
               ? Result(tracer.wrap(x.value))
               : tracer.window(x, starts, whole, /*inside=*/false, /*loose=*/true);
  }
  llvm::SmallVector<mlir::Value> indices;
  for (size_t i = 0; i < own.size(); ++i) {
    PyValue start = tracer.sizeValue(at.starts[i]);
    Result place = at.sizes[i].isConstant(1) ? Result(PyValue::integer(0))
                                             : placeAlong(tracer, own[i], i, own.size());
    if (place && !at.sizes[i].isConstant(1)) {
      bool isReversed = at.steps[i] < 0;
      place = isReversed ? tracer.map(MapKind::sub, "=", {start, *place})
                         : tracer.map(MapKind::sub, "=", {*place, start});
      if (place && at.steps[i] > 1)
        place = tracer.map(MapKind::floordiv, "=", {*place, PyValue::integer(at.steps[i])});
    }
    Operand index;
    if (!place)
      return place;
    if (auto error = tracer.operand("=", *place, index))
      return error;
    indices.push_back(index.value);
  }
  return tracer.gather(x.value, indices, /*guarded=*/true);
}

/// `to` with new elements where a part of it lies: what is behind its ends nobody looks at.
static Result withPart(Tracer &tracer, const PyValue &to, const PyValue &given,
                       const Subscript &at) {
  const auto &tensor = *to.dynExtension<TensorValue>();
  Sizes own = tensor.sizes(), part;
  llvm::SmallVector<int64_t> dims(own.size(), -1);
  for (auto [i, dim] : llvm::enumerate(at.dims)) {
    part.push_back(dim < 0 ? Size(1) : at.sizes[dim]);
    if (dim >= 0)
      dims[dim] = i;
  }
  Result elements = asElements(tracer, tensor, given, part);
  if (elements)
    elements = tracer.expand(*elements, part);
  Operand x;
  if (!elements)
    return elements;
  if (auto error = tracer.operand("=", *elements, x))
    return error;
  Result placed = tracer.rearrange(x, dims), isThere = PyValue();
  for (size_t i = 0; i < own.size() && isThere; ++i)
    isThere = isInPart(tracer, std::move(isThere), at, own, i);
  if (!placed || !isThere)
    return !placed ? std::move(placed) : std::move(isThere);
  if (auto error = tracer.operand("=", *placed, x))
    return error;
  placed = inPlace(tracer, x, at, own);
  if (!placed || isThere->isNone())
    return placed;
  return tracer.map(MapKind::select, "=", {*isThere, *placed, to});
}

/// `x[mask] = value`, or `= y[mask]` of the same mask.
static Result withMasked(Tracer &tracer, const PyValue &to, const PyValue &mask,
                         const PyValue &given) {
  Result part = takeByMask(tracer, to, mask); // which looks at the shapes
  if (!part)
    return part;
  auto *other = given.dynExtension<MaskedValue>();
  auto *tensor = given.dynExtension<TensorValue>();
  bool isSame = other && other->mask.dynExtension<TensorValue>()->value ==
                             mask.dynExtension<TensorValue>()->value;
  if ((other && !isSame) || (tensor && !tensor->sizes().empty()))
    return eval::unsupported(
        "what is assigned where a mask holds is one number, or `y[mask]` by the same mask; "
        "`x[:] = tile.where(mask, y, x)` takes of a whole tensor");
  const auto &own = *to.dynExtension<TensorValue>();
  Sizes sizes = own.sizes();
  Result elements = asElements(tracer, own, other ? other->whole : given, other ? sizes : Sizes());
  Result is = maskFor(tracer, mask, sizes.size());
  if (!elements || !is)
    return !elements ? std::move(elements) : std::move(is);
  return tracer.map(MapKind::select, "=", {*is, *elements, to});
}

/// All of a tensor as it is behind an assignment.
static Result assigned(Tracer &tracer, const PyValue &to, const PyValue &index,
                       const PyValue &given) {
  const auto &tensor = *to.dynExtension<TensorValue>();
  std::vector<PyValue> parts = {index};
  if (index.is(PyValue::Kind::Tuple))
    parts = index.elements().vec();
  Result all = PyValue();
  Sizes own = tensor.sizes();
  if (isWhole(index)) {
    all = asElements(tracer, tensor, given, own);
  } else if (isMask(index)) {
    all = withMasked(tracer, to, index, given);
  } else if (llvm::any_of(parts,
                          [](auto &part) { return part.template dynExtension<TensorValue>(); })) {
    return eval::unsupported("elements at indices that tensors hold are not written in place; "
                             "`x[:] = tile.where(condition, new, x)` chooses by a condition");
  } else {
    Subscript at;
    if (auto error = readSubscript(tracer, parts, own, eval::repr(to), at))
      return error;
    all = withPart(tracer, to, given, at);
  }
  return all ? tracer.expand(*all, own) : std::move(all);
}

Result TensorValue::assignSubscript(const PyValue &index, const PyValue &given) {
  if (!tracer.parameters.count(this) && !isOwn(*this))
    return eval::unsupported("parameters and what is computed are written in place, and this is a "
                             "view: make a new one, such as `tile.where(condition, new, old)`, or "
                             "write what it is a view of");
  isUnwritten = false;
  Result whole = assigned(tracer, PyValue::extension(shared_from_this()), index, given);
  Operand x;
  if (!whole)
    return whole;
  if (auto error = tracer.operand("=", *whole, x))
    return error;
  tracer.update(*this, x.value);
  return PyValue();
}

void Tracer::update(TensorValue &tensor, mlir::Value value) {
  auto parameter = parameters.find(&tensor);
  bool isParameter = parameter != parameters.end();
  updates.push_back({isParameter ? std::optional(parameter->second) : std::nullopt, tensor.value,
                     value, tensor.name.empty() ? "a value" : formatted("`{}`", tensor.name)});
  tensor.value = value;
  tensor.isWeak = false;
  tensor.extrema = nullptr;
  tensor.isCopy = !isParameter;
}

static std::string lineOf(mlir::Operation *op) {
  auto at = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>();
  return at ? formatted("line {}", at.getLine()) : "a line";
}

/// What shows the same memory as a parameter did before an update must not be used behind it.
std::unique_ptr<EvalError> Tracer::checkUpdates() {
  for (const Update &update : updates) {
    mlir::Operation *at = update.after.getDefiningOp();
    llvm::SmallSetVector<mlir::Value, 8> views;
    views.insert(update.before);
    for (size_t i = 0; at && i < views.size(); ++i)
      for (mlir::Operation *user : views[i].getUsers()) {
        bool isView = mlir::isa<graph::RearrangeOp, graph::WindowOp, graph::ReshapeOp>(user);
        if (isView && user->isBeforeInBlock(at)) {
          views.insert(user->getResult(0));
          continue;
        }
        if (i == 0 || user == at || user->isBeforeInBlock(at))
          continue;
        return fail(formatted(
            "what {} takes of {} is used in {}, behind the update in {}: NumPy would find new "
            "elements there; take it behind the update, or take a copy, `.clone()`",
            lineOf(views[i].getDefiningOp()), update.name, lineOf(user), lineOf(at)));
      }
  }
  return nullptr;
}

llvm::SmallVector<std::pair<unsigned, mlir::Value>> Tracer::updated() const {
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> out;
  for (const Update &update : updates) {
    if (!update.parameter)
      continue;
    auto known = llvm::find_if(out, [&](auto &pair) { return pair.first == *update.parameter; });
    if (known == out.end())
      out.push_back({*update.parameter, update.after});
    else
      known->second = update.after;
  }
  return out;
}
