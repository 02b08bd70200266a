//===- FunctionSizes.cpp - the sizes of a function's call -------------------===//
//
// As frontend/tensors/Signature.cpp, whose messages these are: what is a name alone says the name,
// formulas are solved for the one that is not known yet, and in the end all are held against what
// was given. The order was found when the function was built.
//
//===----------------------------------------------------------------------===//
#include "runtime/ahead/Function.h"

using namespace tile;
using namespace tile::ahead;

static Failure invalid(std::string message) { return {TILE_INVALID_ARGUMENT, std::move(message)}; }

static std::string quotedName(const char *name) { return std::string("`") + name + "`"; }

/// "(3, 4)"
template <typename Part> static std::string shapeText(uint32_t rank, Part part) {
  std::string text = "(";
  for (uint32_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + part(i);
  return text + (rank == 1 ? ",)" : ")");
}

static std::string saidShape(const tile_rt_operand &operand) {
  return shapeText(operand.shape.results, [&](uint32_t i) { return std::string(operand.dims[i]); });
}

static std::string givenShape(const tile_tensor &tensor) {
  return shapeText(uint32_t(tensor.rank),
                   [&](uint32_t i) { return std::to_string(tensor.shape[i]); });
}

/// Whether the strides say more than that there are no gaps.
static bool hasGaps(const tile_tensor &tensor) {
  bool isGiven = false, isPlain = true;
  int64_t step = 1;
  for (int32_t i = tensor.rank; i-- > 0;) {
    isGiven |= tensor.strides[i] != 0;
    isPlain &= tensor.shape[i] == 1 || tensor.strides[i] == step;
    step = int64_t(uint64_t(step) * uint64_t(tensor.shape[i]));
  }
  return isGiven && !isPlain;
}

static Failure checkTensor(const tile_rt_function &function, const tile_rt_operand &parameter,
                           const tile_tensor &tensor) {
  if (tensor.rank < 0 || tensor.rank > TILE_TENSOR_RANK)
    return invalid(quotedName(parameter.name) + " has " + std::to_string(tensor.rank) +
                   " dimensions: 0 to 8 are possible");
  for (int32_t i = 0; i < tensor.rank; ++i)
    if (tensor.shape[i] < 0)
      return invalid(quotedName(parameter.name) + " has a negative size");
  uint32_t rank = parameter.shape.results;
  if (uint32_t(tensor.rank) != rank)
    return invalid(quotedName(parameter.name) + " of " + quotedName(function.name) + " has " +
                   std::to_string(rank) + (rank == 1 ? " dimension, " : " dimensions, ") +
                   saidShape(parameter) + ", got a tensor of shape " + givenShape(tensor));
  if (hasGaps(tensor))
    return {TILE_UNSUPPORTED,
            quotedName(parameter.name) +
                " has gaps between its elements, or another order: a function "
                "that was built ahead takes tensors that lie as their shape says"};
  return {};
}

/// What a dimension must be, and is not.
static Failure disagree(const FunctionCall &call, uint32_t parameter, uint32_t dim,
                        const int64_t *wanted) {
  const tile_rt_function &function = *call.function;
  const tile_rt_operand &operand = function.parameters[parameter];
  auto describe = [&](uint32_t which) {
    const tile_rt_operand &of = function.parameters[which];
    return quotedName(of.name) + " is " + saidShape(of) + ", and has the shape " +
           givenShape(call.tensor(which));
  };
  std::string message = "dimension " + std::to_string(dim) + " of " + quotedName(operand.name) +
                        " is " + quotedName(operand.dims[dim]) + ", which is " +
                        (wanted ? std::to_string(wanted[dim]) : "too large") + ", but has size " +
                        std::to_string(call.tensor(parameter).shape[dim]) + ": " +
                        describe(parameter);
  std::string told;
  for (uint32_t i = 0; i < function.num_sizes; ++i) {
    std::string other = "; " + describe(function.sizes[i].parameter);
    if (function.sizes[i].parameter != parameter && told.find(other) == std::string::npos)
      told += other;
  }
  return invalid(message + told);
}

static Failure bindNames(FunctionCall &call) {
  const tile_rt_function &function = *call.function;
  for (uint32_t i = 0; i < function.num_sizes; ++i)
    call.sizes[i] = tile_int(0);
  for (uint32_t i = 0; i < function.num_sizes; ++i) {
    const tile_rt_size &size = function.sizes[i];
    int64_t given = call.tensor(size.parameter).shape[size.dim], value = given;
    call.sizes[i] = tile_int(given);
    // What cannot be solved does not agree with what is found instead.
    if (size.value.count && !call.evaluate(size.value, &value))
      value = 0;
    call.sizes[i] = tile_int(value < 0 ? 0 : value);
  }
  return {};
}

Failure ahead::readSizes(FunctionCall &call, size_t numArguments) {
  const tile_rt_function &function = *call.function;
  if (numArguments != function.num_parameters)
    return invalid(quotedName(function.name) + " takes " + std::to_string(function.num_parameters) +
                   " arguments; " + std::to_string(numArguments) + " passed");
  for (uint32_t i = 0; i < function.num_parameters; ++i) {
    const tile_rt_operand &parameter = function.parameters[i];
    if (!call.arguments[i])
      return invalid("argument " + std::to_string(i) + ", " + quotedName(parameter.name) +
                     ", is missing");
    if (!parameter.is_number)
      if (Failure failure = checkTensor(function, parameter, call.tensor(i)))
        return failure;
  }
  if (Failure failure = bindNames(call))
    return failure;
  for (uint32_t i = 0; i < function.num_parameters; ++i) {
    const tile_rt_operand &parameter = function.parameters[i];
    int64_t wanted[TILE_TENSOR_RANK];
    if (parameter.is_number)
      continue;
    bool isKnown = call.evaluate(parameter.shape, wanted);
    for (uint32_t dim = 0; dim < parameter.shape.results; ++dim)
      if (!isKnown || wanted[dim] != call.tensor(i).shape[dim])
        return disagree(call, i, dim, isKnown ? wanted : nullptr);
  }
  for (uint32_t i = 0; i < function.num_requirements; ++i) {
    int64_t number = -1;
    if (call.evaluate(function.requirements[i].number, &number) && number >= 0)
      continue;
    std::string text =
        quotedName(function.name) + ": " + function.requirements[i].otherwise + ", with";
    for (uint32_t name = 0; name < function.num_sizes; ++name)
      text += std::string(" ") + function.sizes[name].name + " = " +
              std::to_string(call.sizes[name].as.integer);
    return invalid(std::move(text));
  }
  return {};
}

Failure ahead::shapeOf(const FunctionCall &call, const tile_rt_operand &result, tile_tensor &out) {
  out.rank = int32_t(result.shape.results);
  if (!call.evaluate(result.shape, out.shape))
    return invalid("the result has a size that does not fit 64 bits");
  int64_t step = 1;
  for (int32_t i = out.rank; i-- > 0;) {
    if (out.shape[i] < 0)
      return invalid("the size " + quotedName(result.dims[i]) + " of the result is no size");
    out.strides[i] = step;
    step = int64_t(uint64_t(step) * uint64_t(out.shape[i]));
  }
  return {};
}

namespace {
/// The bytes of an array.
struct Range {
  uint64_t begin, end;
  bool meets(const Range &other) const { return begin < other.end && other.begin < end; }
};
} // namespace

static Range rangeOf(const tile_tensor &tensor, const void *data, uint32_t bytes) {
  uint64_t count = bytes, begin = reinterpret_cast<uintptr_t>(data);
  for (int32_t i = 0; i < tensor.rank; ++i)
    count *= uint64_t(tensor.shape[i]);
  return {begin, begin + count};
}

Failure ahead::checkWritten(const FunctionCall &call, const tile_tensor *results) {
  const tile_rt_function &function = *call.function;
  auto rangeOfParameter = [&](uint32_t i) {
    return rangeOf(call.tensor(i), call.tensor(i).data, function.parameters[i].bytes);
  };
  for (uint32_t i = 0; i < function.num_parameters; ++i) {
    if (!function.parameters[i].is_written)
      continue;
    Range own = rangeOfParameter(i);
    std::string other;
    for (uint32_t k = 0; k < function.num_parameters; ++k)
      if (k != i && !function.parameters[k].is_number && rangeOfParameter(k).meets(own))
        other = quotedName(function.parameters[k].name);
    for (uint32_t k = 0; k < function.num_results; ++k) {
      tile_tensor shape = {};
      if (Failure failure = shapeOf(call, function.results[k], shape))
        return failure;
      if (rangeOf(shape, results[k].data, function.results[k].bytes).meets(own))
        other = "result " + std::to_string(k);
    }
    if (!other.empty())
      return invalid(quotedName(function.name) + ": " + quotedName(function.parameters[i].name) +
                     " is written, and " + other + " lies in the same memory: give each its own");
  }
  return {};
}
