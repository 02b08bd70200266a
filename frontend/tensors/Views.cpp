//===- Views.cpp - the same elements, seen differently --------------------===//
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::tensors;

std::unique_ptr<EvalError> tile::tensors::readAxis(StringRef name, const PyValue &value,
                                                   size_t count, int64_t &axis) {
  std::optional<int64_t> given = value.toInt64();
  axis = given && *given < 0 ? *given + int64_t(count) : given.value_or(-1);
  if (given && axis >= 0 && axis < int64_t(count))
    return nullptr;
  return fail(formatted("an axis of `{}` is a number from {} to {}, got {}", name, -int64_t(count),
                        int64_t(count) - 1, eval::repr(value)),
              "IndexError");
}

llvm::SmallVector<int64_t> tile::tensors::inOrder(size_t rank) {
  llvm::SmallVector<int64_t> dims(rank);
  for (size_t i = 0; i < rank; ++i)
    dims[i] = i;
  return dims;
}

static Result unsqueeze(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "axis"}, 2);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  size_t rank = x.type().sizes().size();
  int64_t axis;
  if (auto error = readAxis(name, r[1], rank + 1, axis))
    return error;
  llvm::SmallVector<int64_t> dims = inOrder(rank);
  dims.insert(dims.begin() + axis, -1);
  return tracer.rearrange(x, dims);
}

static Result squeeze(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "axis"}, 1);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  Sizes sizes = x.type().sizes();
  llvm::SmallVector<int64_t> dims = inOrder(sizes.size());
  if (r.get(1).isNone()) {
    llvm::erase_if(dims, [&](int64_t d) { return sizes[d].isConstant(1); });
    return tracer.rearrange(x, dims);
  }
  int64_t axis;
  if (auto error = readAxis(name, r[1], sizes.size(), axis))
    return error;
  if (!sizes[axis].isConstant(1))
    return fail(
        formatted("dimension {} is `{}`, and only one that is always 1 can be squeezed away", axis,
                  sizes[axis]),
        "ValueError");
  dims.erase(dims.begin() + axis);
  return tracer.rearrange(x, dims);
}

static Result permute(Tracer &tracer, StringRef name, const CallArgs &args) {
  Operand x;
  std::vector<PyValue> order;
  if (auto error = tracer.operandAndRest(name, args, x, order))
    return error;
  if (order.size() == 1 && order[0].isSequence())
    order = order[0].elements().vec();
  size_t rank = x.type().sizes().size();
  llvm::SmallVector<int64_t> dims;
  for (const PyValue &value : order) {
    int64_t axis;
    if (auto error = readAxis(name, value, rank, axis))
      return error;
    if (!llvm::is_contained(dims, axis))
      dims.push_back(axis);
  }
  if (dims.size() != rank || order.size() != rank)
    return fail(formatted("`{}` needs each of the {} dimensions once", name, rank));
  return tracer.rearrange(x, dims);
}

/// transpose(x, i, j); in NumPy's form of all dimensions in another order, or of none: turned
/// round, where all that wrote so agree what that is.
static Result transpose(Tracer &tracer, StringRef name, const CallArgs &args) {
  size_t given = args.positional.size();
  if (args.keywords.empty() && given > 0 && (given > 3 || args.positional.back().isSequence()))
    return permute(tracer, name, args);
  if (args.keywords.empty() && given == 1) {
    Operand x;
    if (auto error = tracer.operand(name, args.positional[0], x))
      return error;
    size_t rank = x.type().sizes().size();
    if (rank <= 2)
      return tracer.rearrange(x, llvm::to_vector(llvm::reverse(inOrder(rank))));
  }
  TensorReader r(tracer, name, args, {"x", "i", "j"}, 3);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  size_t rank = x.type().sizes().size();
  int64_t i, j;
  if (auto error = readAxis(name, r[1], rank, i))
    return error;
  if (auto error = readAxis(name, r[2], rank, j))
    return error;
  llvm::SmallVector<int64_t> dims = inOrder(rank);
  std::swap(dims[i], dims[j]);
  return tracer.rearrange(x, dims);
}

//===----------------------------------------------------------------------===//
// What a shape is, as PyTorch asks for it
//===----------------------------------------------------------------------===//

/// x.size(), x.size(axis)
static Result size(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x", "axis"}, 1);
  if (!r)
    return r.error();
  if (r.get(1).isNone())
    return r[0].dynExtension<TensorValue>()->attribute("shape");
  Sizes sizes = r.tensor().type().sizes();
  int64_t axis;
  if (auto error = readAxis(name, r[1], sizes.size(), axis))
    return error;
  return tracer.sizeValue(sizes[axis]);
}

/// x.dim()
static Result rank(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x"}, 1);
  return r ? Result(PyValue::integer(r.tensor().type().sizes().size())) : Result(r.error());
}

/// x.nelement()
static Result count(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x"}, 1);
  return r ? Result(tracer.sizeValue(graph::product(r.tensor().type().sizes()))) : r.error();
}

ArrayRef<TracedEntry> tensors::tracedViews() {
  static const TracedEntry table[] = {
      {"unsqueeze", unsqueeze}, {"squeeze", squeeze}, {"permute", permute},
      {"transpose", transpose}, {"size", size},       {"dim", rank},
      {"nelement", count},
  };
  return table;
}
