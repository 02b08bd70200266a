//===- ProgramCall.cpp - tile.h: what a call of a function says ------------===//
#include "runtime/capi/ProgramCall.h"
#include "compiler/functions/Workspace.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;
using tensors::Parameter;

std::vector<int64_t> capi::stridesOf(const tile_tensor &tensor) {
  llvm::ArrayRef<int64_t> strides(tensor.strides, tensor.rank), shape(tensor.shape, tensor.rank);
  bool isGiven = llvm::any_of(strides, [](int64_t s) { return s != 0; });
  bool isPlain = true;
  int64_t step = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    isPlain &= shape[i] == 1 || strides[i] == step;
    step *= shape[i];
  }
  return isGiven && !isPlain ? strides.vec() : std::vector<int64_t>();
}

static llvm::Error readTensor(const Parameter &parameter, const tile_tensor &tensor,
                              tensors::Argument &out) {
  if (tensor.rank < 0 || tensor.rank > TILE_TENSOR_RANK)
    return invalid(
        formatted("`{}` has {} dimensions: 0 to 8 are possible", parameter.name, tensor.rank));
  for (int64_t size : llvm::ArrayRef(tensor.shape, tensor.rank)) {
    if (size < 0)
      return invalid(formatted("`{}` has a negative size", parameter.name));
    out.shape.push_back(size);
  }
  return llvm::Error::success();
}

llvm::Error capi::readCall(tile_program &program, const void *const *arguments, size_t numArguments,
                           ProgramCall &call) {
  if (numArguments)
    TILE_REQUIRE(arguments);
  const std::vector<Parameter> &parameters = program.signature.parameters;
  std::vector<tensors::Argument> shapes(parameters.size());
  size_t next = 0;
  for (auto [parameter, shape] : llvm::zip_equal(parameters, shapes)) {
    bool isConstant = parameter.kind == Parameter::Kind::Constant;
    const void *value = isConstant || next >= numArguments ? nullptr : arguments[next];
    call.values.push_back(value);
    if (isConstant)
      continue;
    if (!value)
      return invalid(formatted("argument {}, `{}`, is missing", uint64_t(next), parameter.name));
    ++next;
    if (parameter.kind == Parameter::Kind::Tensor)
      if (llvm::Error error =
              readTensor(parameter, *static_cast<const tile_tensor *>(value), shape))
        return error;
  }
  if (next < numArguments)
    return invalid(
        formatted("`{}` takes {} arguments", program.function.asFunction().name(), uint64_t(next)));
  if (auto error = tensors::bindSizes(program.signature, shapes,
                                      program.function.asFunction().name(), call.sizes))
    return invalid(error->diagnostic.message);
  if (std::string wrong = program.program->unmetRequirement(call.sizes); !wrong.empty())
    return invalid(formatted("`{}`: {}", program.function.asFunction().name(), wrong));
  call.given = call.sizes;
  auto hasGaps = [](auto pair) {
    auto &[parameter, value] = pair;
    return parameter.kind == Parameter::Kind::Tensor &&
           !stridesOf(*static_cast<const tile_tensor *>(value)).empty();
  };
  bool someGaps = llvm::any_of(llvm::zip_equal(parameters, call.values), hasGaps);
  call.function = program.program.get();
  if (someGaps) {
    llvm::Expected<TensorProgram *> form = program.program->withGaps();
    if (!form)
      return form.takeError();
    call.function = *form;
  }
  call.program = &call.function->forSizes(call.sizes, *program.target);
  call.program->chooseParts(call.sizes, *program.target);
  return llvm::Error::success();
}

llvm::Expected<int64_t> capi::placeIntermediates(const TensorProgram &program,
                                                 const graph::Bindings &sizes,
                                                 std::vector<int64_t> &offsets) {
  std::optional<int64_t> bytes = tile::planWorkspace(program, sizes, offsets);
  if (!bytes)
    return invalid("the workspace is too large");
  return *bytes;
}

tile_status tile_program_check_sizes(const tile_program *program, const size_t *sizes,
                                     size_t numArguments) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(program);
    if (numArguments)
      TILE_REQUIRE(sizes);
    size_t next = 0;
    for (const Parameter &parameter : program->signature.parameters) {
      if (parameter.kind == Parameter::Kind::Constant)
        continue;
      if (next == numArguments)
        break; // that some are missing is said by who needs them
      size_t given = sizes[next++];
      bool isTensor = parameter.kind == Parameter::Kind::Tensor;
      size_t wanted = isTensor ? sizeof(tile_tensor) : (parameter.element->bitWidth() + 7) / 8;
      if (given && given != wanted)
        return invalid(formatted("`{}` of `{}` is {}, and the value given has {} bytes",
                                 parameter.name, program->function.asFunction().name(),
                                 isTensor ? "a tensor (tile_tensor)"
                                          : formatted("a number of {} bytes", wanted),
                                 given));
    }
    return llvm::Error::success();
  });
}

/// Reads a call and answers a question about it.
static tile_status answer(tile_program *program, const void *const *arguments, size_t numArguments,
                          llvm::function_ref<llvm::Error(const ProgramCall &)> question) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(program);
    ProgramCall call;
    if (llvm::Error error = readCall(*program, arguments, numArguments, call))
      return error;
    return question(call);
  });
}

tile_status tile_program_result(tile_program *program, const void *const *arguments,
                                size_t numArguments, size_t index, tile_tensor *result,
                                const char **type) {
  return answer(program, arguments, numArguments, [&](const ProgramCall &call) -> llvm::Error {
    TILE_REQUIRE(result);
    if (index >= call.program->results.size())
      return invalid(formatted("there is no result {}", uint64_t(index)));
    const TensorBuffer &buffer = call.program->buffers[call.program->results[index]];
    if (buffer.shape.size() > TILE_TENSOR_RANK)
      return invalid("the result has more than 8 dimensions");
    void *data = result->data;
    *result = {data, int32_t(buffer.shape.size()), {}, {}};
    int64_t step = 1;
    for (size_t i = buffer.shape.size(); i-- > 0;) {
      std::optional<int64_t> size = buffer.shape[i].evaluate(call.sizes);
      if (!size || *size < 0)
        return invalid(formatted("the size `{}` of the result is no size", buffer.shape[i]));
      result->shape[i] = *size;
      result->strides[i] = step;
      step = int64_t(uint64_t(step) * uint64_t(*size));
    }
    if (type)
      *type = program->resultTypes[index].c_str();
    return llvm::Error::success();
  });
}

tile_status tile_program_workspace(tile_program *program, const void *const *arguments,
                                   size_t numArguments, size_t *bytes) {
  if (bytes)
    *bytes = 0;
  return answer(program, arguments, numArguments, [&](const ProgramCall &call) -> llvm::Error {
    TILE_REQUIRE(bytes);
    std::vector<int64_t> offsets;
    llvm::Expected<int64_t> needed = placeIntermediates(*call.program, call.sizes, offsets);
    if (!needed)
      return needed.takeError();
    *bytes = *needed;
    if (program->tuning) { // it is not known yet what is fastest
      auto most =
          placeIntermediates(FunctionTuner::largest(*call.function, call.given, *program->target),
                             call.sizes, offsets);
      if (!most)
        return most.takeError();
      *bytes = std::max(*needed, *most);
    }
    return llvm::Error::success();
  });
}
