//===- ProgramRun.cpp - tile.h: functions of whole tensors, run ------------===//
#include "compiler/functions/Workspace.h"
#include "runtime/capi/Program.h"
#include "runtime/capi/WarmKernels.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;
using tensors::Parameter;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// The arguments of a call, read.
struct Call {
  TensorProgram *program = nullptr; ///< what runs for its sizes
  graph::Bindings sizes;
  std::vector<const void *> values; ///< by parameter; null for constants
};
} // namespace

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

static llvm::Error readCall(tile_program &program, const void *const *arguments,
                            size_t numArguments, Call &call) {
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
  call.program = &program.program->forSizes(call.sizes, *program.target);
  call.program->chooseParts(call.sizes, *program.target);
  return llvm::Error::success();
}

/// Bytes of what lies between kernels; `offsets` gets where each is, by buffer.
static llvm::Expected<int64_t> placeIntermediates(const TensorProgram &program,
                                                  const graph::Bindings &sizes,
                                                  std::vector<int64_t> &offsets) {
  std::optional<int64_t> bytes = tile::planWorkspace(program, sizes, offsets);
  if (!bytes)
    return invalid("the workspace is too large");
  return *bytes;
}

tile_status tile_program_result(tile_program *program, const void *const *arguments,
                                size_t numArguments, size_t index, tile_tensor *result,
                                const char **type) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(program);
    TILE_REQUIRE(result);
    Call call;
    if (llvm::Error error = readCall(*program, arguments, numArguments, call))
      return error;
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
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(bytes);
    *bytes = 0;
    TILE_REQUIRE(program);
    Call call;
    if (llvm::Error error = readCall(*program, arguments, numArguments, call))
      return error;
    std::vector<int64_t> offsets;
    llvm::Expected<int64_t> needed = placeIntermediates(*call.program, call.sizes, offsets);
    if (!needed)
      return needed.takeError();
    *bytes = *needed;
    return llvm::Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Strides that say more than that there are no gaps.
static std::vector<int64_t> stridesOf(const tile_tensor &tensor) {
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

static llvm::Expected<std::shared_ptr<const LoadedKernel>>
kernelFor(tile_program &program, const TensorLaunch &launch,
          const std::shared_ptr<Context> &where) {
  std::shared_ptr<const LoadedKernel> &known = program.kernels[{launch.key, where.get()}];
  if (known)
    return known;
  CompileService &service = program.compiler->service;
  auto compiled = service.compile(*launch.source, launch.options);
  if (!compiled) {
    program.kernels.erase({launch.key, where.get()});
    return compiled.takeError();
  }
  auto loaded = service.share(std::move(*compiled))->loadOn(where);
  if (!loaded) {
    program.kernels.erase({launch.key, where.get()});
    return loaded.takeError();
  }
  return known = std::move(*loaded);
}

namespace {
/// Where and how the kernels of a run are launched.
struct RunTarget {
  const std::shared_ptr<Context> &where;
  cuda::Stream stream;
  bool isRecorded = false; ///< into a graph, which starts when the work before it has ended
  bool isFirst = true;     ///< nothing has been launched yet
  bool mayRepeat = true;   ///< no kernel has memory of the stream's
};
} // namespace

static llvm::Error runKernel(tile_program &program, const TensorLaunch &launch, const Call &call,
                             llvm::ArrayRef<TensorPlace> places, RunTarget &on) {
  if (launch.grid[0] == 0)
    return llvm::Error::success();
  auto kernel = kernelFor(program, launch, on.where);
  if (!kernel)
    return kernel.takeError();
  std::vector<const void *> arguments;
  for (const TensorArgument &argument : launch.arguments) {
    const TensorBuffer &buffer = call.program->buffers[argument.buffer];
    if (!argument.isBuffer)
      arguments.push_back(&argument.size); // the low half, where 32 bits are asked for
    else if (buffer.kind == TensorBuffer::Kind::Number)
      arguments.push_back(call.values[buffer.index]);
    else
      arguments.push_back(&places[argument.buffer].address);
  }
  on.mayRepeat &= llvm::none_of((*kernel)->metadata().params, [](const KernelParameter &of) {
    return of.kind == KernelParameter::Kind::Scratch;
  });
  LaunchOptions options;
  if (on.isRecorded && on.isFirst)
    options.dependent = false;
  on.isFirst = false;
  return (*kernel)->launch(on.stream, launch.grid.data(), arguments, options);
}

static llvm::Expected<std::vector<TensorPlace>> placeBuffers(const Call &call,
                                                             const tile_tensor *results,
                                                             void *workspace,
                                                             llvm::ArrayRef<int64_t> offsets) {
  std::vector<TensorPlace> places;
  auto isEmpty = [&](const TensorBuffer &buffer) {
    return graph::product(buffer.shape).evaluate(call.sizes) == 0;
  };
  for (auto [i, buffer] : llvm::enumerate(call.program->buffers)) {
    TensorPlace &place = places.emplace_back();
    if (buffer.kind == TensorBuffer::Kind::Tensor) {
      auto &tensor = *static_cast<const tile_tensor *>(call.values[buffer.index]);
      place = {reinterpret_cast<uintptr_t>(tensor.data), stridesOf(tensor)};
    } else if (buffer.kind == TensorBuffer::Kind::Result) {
      place.address = reinterpret_cast<uintptr_t>(results[buffer.index].data);
      if (!place.address && !isEmpty(buffer))
        return invalid(formatted("result {} has no data", buffer.index));
    } else if (buffer.kind == TensorBuffer::Kind::Intermediate) {
      place.address = reinterpret_cast<uintptr_t>(workspace) + offsets[i];
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    unsigned memory = call.program->memoryOf(i);
    places[i].address = places[memory].address;
    if (call.program->buffers[memory].kind == TensorBuffer::Kind::Tensor) // what it becomes
      places[i].strides = places[memory].strides;
  }
  return places;
}

static llvm::Error launchAll(tile_program &program, const Call &call,
                             llvm::ArrayRef<TensorPlace> places, RunTarget &on) {
  std::vector<TensorLaunch> launches;
  for (unsigned i = 0; i < call.program->kernels.size(); ++i) {
    llvm::Expected<TensorLaunch> launch =
        call.program->launch(i, call.sizes, places, *program.target);
    if (!launch)
      return invalid(llvm::toString(launch.takeError()));
    launches.push_back(std::move(*launch));
  }
  std::vector<const TensorLaunch *> missing;
  for (const TensorLaunch &launch : launches) {
    auto isSame = [&](const TensorLaunch *other) { return other->key == launch.key; };
    if (launch.grid[0] != 0 && !program.kernels.count({launch.key, on.where.get()}) &&
        llvm::none_of(missing, isSame))
      missing.push_back(&launch);
  }
  auto warmed = warmKernels(program.compiler->service, missing, on.where);
  for (const TensorLaunch &launch : launches)
    if (llvm::Error error = runKernel(program, launch, call, places, on))
      return error;
  return llvm::Error::success();
}

/// Runs the recording of a run that has been before, which is made if it is not there yet; false
/// if there can be none.
static llvm::Expected<bool> runRecorded(ProgramRecordings::Recording &recording,
                                        const std::shared_ptr<Context> &where, cuda::Stream stream,
                                        llvm::function_ref<llvm::Error(RunTarget &)> launch) {
  const cuda::CudaApi &api = where->api();
  TILE_ENTER_CONTEXT(api, where->handle());
  if (recording.isRefused || isCapturing(api, stream))
    return false;
  if (!recording.graph) {
    bool mayRepeat = false;
    auto made = LaunchGraph::record(where, stream, [&](cuda::Stream own) {
      RunTarget on{where, own, /*isRecorded=*/true};
      llvm::Error error = launch(on);
      mayRepeat = on.mayRepeat && !on.isFirst;
      return error;
    });
    if (!made)
      llvm::consumeError(made.takeError()); // the launches themselves will say it
    recording.isRefused = !made || !mayRepeat;
    if (recording.isRefused)
      return false;
    recording.graph = std::move(*made);
  }
  if (llvm::Error error = api.check(recording.graph.run(stream), "cuGraphLaunch"))
    return std::move(error);
  return true;
}

/// The arguments of a run, read, and where its arrays lie.
static llvm::Error prepareRun(tile_program &program, const ProgramRun &run, Call &call,
                              std::vector<TensorPlace> &places) {
  if (llvm::Error error = readCall(program, run.arguments, run.numArguments, call))
    return error;
  if (run.numResults != call.program->results.size())
    return invalid(formatted("`{}` has {} results, not {}", program.function.asFunction().name(),
                             uint64_t(call.program->results.size()), uint64_t(run.numResults)));
  std::vector<int64_t> offsets;
  llvm::Expected<int64_t> needed = placeIntermediates(*call.program, call.sizes, offsets);
  if (!needed)
    return needed.takeError();
  if (uint64_t(*needed) > run.workspaceBytes || (*needed && !run.workspace))
    return invalid(
        formatted("the workspace has {} bytes, and {} are needed: see tile_program_workspace",
                  uint64_t(run.workspaceBytes), *needed));
  if (*needed && reinterpret_cast<uintptr_t>(run.workspace) % kWorkspaceAlignment)
    return invalid("the workspace is not aligned to 256 bytes");
  auto placed = placeBuffers(call, run.results, run.workspace, offsets);
  if (!placed)
    return placed.takeError();
  if (std::string wrong = call.program->unsafeUpdate(call.sizes, *placed, program.signature);
      !wrong.empty())
    return invalid(formatted("`{}`: {}", program.function.asFunction().name(), wrong));
  places = std::move(*placed);
  return llvm::Error::success();
}

static llvm::Error runProgram(tile_program &program, const ProgramRun &run,
                              const std::shared_ptr<Context> &where) {
  auto stream = static_cast<cuda::Stream>(run.stream);
  ProgramRecordings::Recording *known = program.repeats ? program.recordings.find(run) : nullptr;
  Call call;
  std::vector<TensorPlace> places;
  auto launch = [&](RunTarget &on) { return launchAll(program, call, places, on); };
  if (!known || !known->graph)
    if (llvm::Error error = prepareRun(program, run, call, places))
      return error;
  if (known) {
    auto hasRun = runRecorded(*known, where, stream, launch);
    if (!hasRun)
      return hasRun.takeError();
    if (*hasRun)
      return llvm::Error::success();
    if (known->graph) // on a stream that somebody records
      if (llvm::Error error = prepareRun(program, run, call, places))
        return error;
  }
  RunTarget on{where, stream};
  if (llvm::Error error = launch(on))
    return error;
  if (program.repeats && !known)
    program.recordings.remember(run);
  return llvm::Error::success();
}

tile_status tile_program_run(tile_program *program, void *stream, const void *const *arguments,
                             size_t numArguments, const tile_tensor *results, size_t numResults,
                             void *workspace, size_t workspaceBytes) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(program);
    if (numResults != 0) // what writes its parameters may have none
      TILE_REQUIRE(results);
    auto where = contextFor(nullptr);
    if (!where)
      return where.takeError();
    ProgramRun run{program->signature, where->get(), stream,
                   arguments,          numArguments, results,
                   numResults,         workspace,    workspaceBytes};
    return runProgram(*program, run, *where);
  });
}
