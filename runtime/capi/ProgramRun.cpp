//===- ProgramRun.cpp - tile.h: functions of whole tensors, run ------------===//
#include "compiler/functions/Workspace.h"
#include "runtime/capi/ProgramCall.h"
#include "runtime/capi/WarmKernels.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;
using tensors::Parameter;

/// Where an argument that is a tensor lies.
static TensorPlace placeOf(const void *argument) {
  auto &tensor = *static_cast<const tile_tensor *>(argument);
  return {reinterpret_cast<uintptr_t>(tensor.data), stridesOf(tensor)};
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

static std::vector<const void *> argumentsOf(const TensorProgram &program,
                                             const TensorLaunch &launch, const ProgramCall &call,
                                             llvm::ArrayRef<TensorPlace> places) {
  std::vector<const void *> arguments;
  for (const TensorArgument &argument : launch.arguments) {
    const TensorBuffer &buffer = program.buffers[argument.buffer];
    if (!argument.isBuffer)
      arguments.push_back(&argument.size); // the low half, where 32 bits are asked for
    else if (buffer.kind == TensorBuffer::Kind::Number)
      arguments.push_back(call.values[buffer.index]);
    else
      arguments.push_back(&places[argument.buffer].address);
  }
  return arguments;
}

static llvm::Error runKernel(tile_program &program, const TensorLaunch &launch,
                             const ProgramCall &call, llvm::ArrayRef<TensorPlace> places,
                             RunTarget &on) {
  if (launch.grid[0] == 0)
    return llvm::Error::success();
  auto kernel = kernelFor(program, launch, on.where);
  if (!kernel)
    return kernel.takeError();
  std::vector<const void *> arguments = argumentsOf(*call.program, launch, call, places);
  on.mayRepeat &= llvm::none_of((*kernel)->metadata().params, [](const KernelParameter &of) {
    return of.kind == KernelParameter::Kind::Scratch;
  });
  LaunchOptions options;
  if (on.isRecorded && on.isFirst)
    options.dependent = false;
  on.isFirst = false;
  return (*kernel)->launch(on.stream, launch.grid.data(), arguments, options);
}

static llvm::Expected<std::vector<TensorPlace>> placeBuffers(const ProgramCall &call,
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
      place = placeOf(call.values[buffer.index]);
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

static llvm::Error launchAll(tile_program &program, const ProgramCall &call,
                             llvm::ArrayRef<TensorPlace> places, RunTarget &on) {
  std::vector<TensorLaunch> launches;
  for (unsigned i = 0; i < call.program->kernels.size(); ++i) {
    llvm::Expected<TensorLaunch> launch =
        call.inCuts.program ? call.inCuts.launch(i, call.sizes, places, *program.target)
                            : call.program->launch(i, call.sizes, places, *program.target);
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

/// Takes the cuts that are fastest, which are measured first if nobody knows them; not on a stream
/// that somebody captures.
static llvm::Error chooseCuts(tile_program &program, const ProgramRun &run,
                              const std::shared_ptr<Context> &where, ProgramCall &call) {
  CompileService &service = program.compiler->service;
  std::vector<TensorPlace> places(call.values.size());
  for (auto [parameter, value, place] :
       llvm::zip_equal(program.signature.parameters, call.values, places))
    if (parameter.kind == Parameter::Kind::Tensor)
      place = placeOf(value);
  auto argumentsFor = [&](const TensorProgram &of, const TensorLaunch &launch,
                          llvm::ArrayRef<TensorPlace> at) {
    return argumentsOf(of, launch, call, at);
  };
  auto stream = static_cast<cuda::Stream>(run.stream);
  StreamMachine machine(service, where, stream, argumentsFor);
  bool isCaptured = isCapturing(where->api(), stream);
  auto chosen = program.tuning->on(*where, service)
                    .fastest({*call.function, call.given, *program.target, places},
                             isCaptured ? nullptr : &machine);
  if (!chosen)
    return chosen.takeError();
  call.inCuts = std::move(*chosen);
  return llvm::Error::success();
}

/// Makes the chosen cuts what runs, if the caller's workspace is enough for them.
static llvm::Error takeCuts(tile_program &program, const ProgramRun &run, ProgramCall &call) {
  graph::Bindings sizes = call.given;
  call.inCuts.program->chooseParts(sizes, *program.target);
  std::vector<int64_t> offsets;
  auto needed = placeIntermediates(*call.inCuts.program, sizes, offsets);
  if (!needed)
    return needed.takeError();
  if (uint64_t(*needed) > run.workspaceBytes) {
    call.inCuts = {};
    return llvm::Error::success();
  }
  call.program = call.inCuts.program;
  call.sizes = std::move(sizes);
  return llvm::Error::success();
}

/// Where the arrays of what runs lie.
static llvm::Error placeRun(tile_program &program, const ProgramRun &run, const ProgramCall &call,
                            std::vector<TensorPlace> &places) {
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

/// The arguments of a run, read, and where its arrays lie. What is refused is refused before
/// anything is measured.
static llvm::Error prepareRun(tile_program &program, const ProgramRun &run,
                              const std::shared_ptr<Context> &where, ProgramCall &call,
                              std::vector<TensorPlace> &places) {
  if (llvm::Error error = readCall(program, run.arguments, run.numArguments, call))
    return error;
  if (run.numResults != call.program->results.size())
    return invalid(formatted("`{}` has {} results, not {}", program.function.asFunction().name(),
                             uint64_t(call.program->results.size()), uint64_t(run.numResults)));
  if (llvm::Error error = placeRun(program, run, call, places))
    return error;
  if (!program.tuning)
    return llvm::Error::success();
  if (llvm::Error error = chooseCuts(program, run, where, call))
    return error;
  if (llvm::Error error = takeCuts(program, run, call))
    return error;
  return call.inCuts.program ? placeRun(program, run, call, places) : llvm::Error::success();
}

static llvm::Error runProgram(tile_program &program, const ProgramRun &run,
                              const std::shared_ptr<Context> &where) {
  auto stream = static_cast<cuda::Stream>(run.stream);
  ProgramRecordings::Recording *known = program.repeats ? program.recordings.find(run) : nullptr;
  ProgramCall call;
  std::vector<TensorPlace> places;
  auto launch = [&](RunTarget &on) { return launchAll(program, call, places, on); };
  if (!known || !known->graph)
    if (llvm::Error error = prepareRun(program, run, where, call, places))
      return error;
  if (known) {
    auto hasRun = runRecorded(*known, where, stream, launch);
    if (!hasRun)
      return hasRun.takeError();
    if (*hasRun)
      return llvm::Error::success();
    if (known->graph) // on a stream that somebody records
      if (llvm::Error error = prepareRun(program, run, where, call, places))
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
