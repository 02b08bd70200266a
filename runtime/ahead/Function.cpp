//===- Function.cpp - running functions of whole tensors that were built ----===//
//
// Sizes are read, a sample is chosen, and its kernels are launched one behind the other, each in
// the code that counts on most of what is so.
//
//===----------------------------------------------------------------------===//
#include "runtime/ahead/Function.h"

using namespace tile;
using namespace tile::ahead;
using namespace tile::dispatch;

static Failure check(const tile_rt_function *function, const void *const *arguments) {
  if (!function)
    return {TILE_INVALID_ARGUMENT, "`function` is null"};
  if (function->version != TILE_RT_VERSION)
    return {TILE_INVALID_ARGUMENT, "the function was built by another version of `tilec build`"};
  if (!arguments && function->num_parameters)
    return {TILE_INVALID_ARGUMENT, "`arguments` is null"};
  return {};
}

namespace {
/// A run with all that its launches are given.
struct Run {
  FunctionCall call;
  tile_rt_function *function;
  const Driver *driver;
  unsigned long long context;
  Stream stream;
  const tile_tensor *results;
  DevicePtr workspace = 0;
  std::vector<int64_t> bytes, offsets; ///< by buffer
};
} // namespace

/// Where a buffer lies; of a number its value, if it is one of the call's.
static uint64_t addressOf(const Run &run, uint32_t buffer) {
  const tile_rt_form &form = *run.call.form;
  const tile_rt_buffer &of = form.buffers[form.buffers[buffer].memory];
  if (of.kind == TILE_RT_OF_CALL)
    return reinterpret_cast<uintptr_t>(run.call.tensor(of.index).data);
  if (of.kind == TILE_RT_RESULT)
    return reinterpret_cast<uintptr_t>(run.results[of.index].data);
  return run.workspace + uint64_t(run.offsets[form.buffers[buffer].memory]);
}

static bool isNumber(const Run &run, uint32_t buffer) {
  const tile_rt_buffer &of = run.call.form->buffers[buffer];
  return of.kind == TILE_RT_OF_CALL && run.call.function->parameters[of.index].is_number;
}

/// The arguments of one launch.
namespace {
struct StageArguments {
  tile_value values[kMostArguments]; ///< what tensor maps are made of
  uint64_t words[kMostArguments];    ///< what is passed
};
} // namespace

static Failure fillArguments(const Run &run, const tile_rt_stage &stage, StageArguments &out,
                             Values &passed) {
  int64_t numbers[kMostArguments];
  for (uint32_t i = 0; i < stage.num_sizes; ++i)
    if (!run.call.evaluate(stage.sizes[i], &numbers[i]))
      return {TILE_INVALID_ARGUMENT, std::string("the sizes of kernel `") + stage.name +
                                         "` do not fit: a dimension is too large"};
  for (uint32_t i = 0; i < stage.num_arguments; ++i) {
    int32_t argument = stage.arguments[i];
    passed.pointers[i] = &out.words[i];
    if (argument < 0) {
      out.words[i] = uint64_t(numbers[-1 - argument]);
      out.values[i] = tile_int(numbers[-1 - argument]);
    } else if (isNumber(run, uint32_t(argument))) {
      passed.pointers[i] = run.call.arguments[run.call.form->buffers[argument].index];
      out.values[i] = tile_none();
    } else {
      out.words[i] = addressOf(run, uint32_t(argument));
      out.values[i] = tile_pointer(reinterpret_cast<const void *>(out.words[i]), TILE_I8);
    }
  }
  passed.size = stage.num_arguments;
  return {};
}

/// Whether the code may count on what it does.
static bool isRight(const Run &run, const tile_rt_stage &stage, const tile_rt_stage_code &code,
                    const StageArguments &arguments) {
  int64_t holds = 0;
  if (!run.call.evaluate(code.holds, &holds) || !holds)
    return false;
  for (uint32_t i = 0; i < stage.num_arguments; ++i)
    if (code.aligned[i] && arguments.words[i] % 16 != 0)
      return false;
  return true;
}

static Failure loadedFor(const Run &run, const tile_rt_stage_code &code, const Loaded *&out) {
  FunctionState &state = stateOf(run.function);
  Key key;
  key.add(run.context);
  key.add(reinterpret_cast<uintptr_t>(&code));
  uint64_t hash = key.hash();
  if (const Loaded **known = state.loaded.find(key.words, key.size, hash)) {
    out = *known;
    return {};
  }
  std::lock_guard<std::mutex> lock(state.mutex); // the second thread waits for the first
  if (const Loaded **known = state.loaded.find(key.words, key.size, hash)) {
    out = *known;
    return {};
  }
  Device device = 0;
  int capability = 0;
  if (Failure failure = capabilityOf(*run.driver, device, capability))
    return failure;
  const tile_rt_variant all = {nullptr, 0, code.num_codes, code.codes};
  const tile_rt_code *chosen = chooseCode(all, capability);
  if (!chosen)
    return notForDevice(run.function->name, capability);
  if (Failure failure = loadCode(*run.driver, *chosen, out))
    return failure;
  state.loaded.insert(key.words, key.size, hash, out);
  return {};
}

static Failure gridOf(const Run &run, const tile_rt_stage &stage, const tile_rt_stage_code &code,
                      uint32_t (&grid)[3]) {
  int64_t extents[3];
  bool isKnown = run.call.evaluate(code.grid, extents);
  for (int axis = 0; isKnown && axis < 3; ++axis) {
    isKnown = extents[axis] >= 0 && extents[axis] <= (axis ? 65535 : INT32_MAX);
    grid[axis] = uint32_t(extents[axis]);
  }
  if (!isKnown)
    return {TILE_INVALID_ARGUMENT, std::string("the sizes of kernel `") + stage.name +
                                       "` do not fit: the number of programs is too large"};
  bool isNone = grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
  if (isNone && !stage.by_hand)
    return {TILE_NO_COMPILE, std::string("`") + run.function->name +
                                 "` was not built for tensors without elements, of which kernel `" +
                                 stage.name + "` makes some"};
  return {};
}

static Failure launchStage(const Run &run, uint32_t number) {
  const tile_rt_stage &stage = run.call.form->stages[number];
  if (writesNothing(run.call, stage))
    return {};
  StageArguments arguments;
  Launch launch;
  launch.driver = run.driver;
  launch.stream = run.stream;
  launch.values = arguments.values;
  if (Failure failure = fillArguments(run, stage, arguments, launch.passed))
    return failure;
  const tile_rt_stage_code *code = nullptr;
  for (int fit = 0; fit < 3 && !code; ++fit) {
    const tile_rt_stage_code &one = stage.codes[run.call.sample->codes[3 * number + fit]];
    code = isRight(run, stage, one, arguments) ? &one : nullptr;
  }
  if (!code)
    return {TILE_INVALID_ARGUMENT, std::string("an array of kernel `") + stage.name +
                                       "` does not lie as its type asks for"};
  if (Failure failure = gridOf(run, stage, *code, launch.grid))
    return failure;
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0)
    return {};
  const Loaded *loaded = nullptr;
  if (Failure failure = loadedFor(run, *code, loaded))
    return failure;
  return launchLoaded(launch, *loaded);
}

static Failure launchAll(const Run &run) {
  for (uint32_t i = 0; i < run.call.form->num_stages; ++i)
    if (Failure failure = launchStage(run, i))
      return failure;
  return {};
}

/// In memory of the caller's, or in some that is the stream's meanwhile.
static Failure launchIn(Run &run, int64_t needed, void *workspace, size_t workspaceBytes) {
  if (needed == 0 || workspace) {
    run.workspace = reinterpret_cast<uintptr_t>(workspace);
    if (uint64_t(needed) > workspaceBytes && needed)
      return {TILE_INVALID_ARGUMENT, "the workspace has " + std::to_string(workspaceBytes) +
                                         " bytes, and " + std::to_string(needed) +
                                         " are needed: see tile_rt_workspace"};
    if (needed && run.workspace % 256)
      return {TILE_INVALID_ARGUMENT, "the workspace is not aligned to 256 bytes"};
    return launchAll(run);
  }
  const Driver &driver = *run.driver;
  Result result = driver.cuMemAllocAsync(&run.workspace, size_t(needed), run.stream);
  if (result != Result::Success)
    return driver.failed(result, "cannot get " + std::to_string(needed) +
                                     " bytes for what lies "
                                     "between the kernels of `" +
                                     run.function->name + "`");
  Failure failure = launchAll(run);
  result = driver.cuMemFreeAsync(run.workspace, run.stream);
  return failure || result == Result::Success ? failure : driver.failed(result, "cuMemFreeAsync");
}

/// Reads sizes and chooses the kernels of a run on the current context.
static Failure prepare(Run &run, size_t numArguments, int64_t &needed) {
  if (Failure failure = readSizes(run.call, numArguments))
    return failure;
  if (Failure failure = chooseSample(run.function, *run.driver, run.context, run.call))
    return failure;
  return planWorkspace(run.call, run.bytes, run.offsets, needed);
}

/// A call that is prepared on the context that is current, or the device's, for as long as `then`
/// goes on with it and the bytes that it needs.
template <typename Then>
static Failure prepared(Run &run, const void *const *arguments, size_t numArguments, Then then) {
  run.call.function = run.function;
  run.call.arguments = arguments;
  Failure failure;
  run.driver = Driver::get(failure);
  if (!run.driver)
    return failure;
  CurrentContext context(*run.driver, failure);
  run.context = context.id;
  int64_t needed = 0;
  if (!failure)
    failure = prepare(run, numArguments, needed);
  return failure ? failure : then(needed);
}

static Failure checkResults(const Run &run, size_t numResults) {
  const tile_rt_function &function = *run.function;
  if (numResults != function.num_results || (numResults && !run.results))
    return {TILE_INVALID_ARGUMENT, std::string("`") + function.name + "` has " +
                                       std::to_string(function.num_results) + " results, not " +
                                       std::to_string(run.results ? numResults : 0)};
  for (uint32_t i = 0; i < run.call.form->num_buffers; ++i) {
    const tile_rt_buffer &buffer = run.call.form->buffers[i];
    if (buffer.kind == TILE_RT_RESULT && run.bytes[i] && !run.results[buffer.index].data)
      return {TILE_INVALID_ARGUMENT, "result " + std::to_string(buffer.index) + " has no data"};
  }
  return checkWritten(run.call, run.results);
}

tile_status tile_rt_run(tile_rt_function *function, void *stream, const void *const *arguments,
                        size_t num_arguments, const tile_tensor *results, size_t num_results,
                        void *workspace, size_t workspace_bytes) {
  return guarded([&]() -> Failure {
    if (Failure failure = check(function, arguments))
      return failure;
    Run run = {};
    run.function = function;
    run.stream = static_cast<Stream>(stream);
    run.results = results;
    return prepared(run, arguments, num_arguments, [&](int64_t needed) {
      Failure failure = checkResults(run, num_results);
      return failure ? failure : launchIn(run, needed, workspace, workspace_bytes);
    });
  });
}

tile_status tile_rt_result(const tile_rt_function *function, const void *const *arguments,
                           size_t num_arguments, size_t index, tile_tensor *result) {
  return guarded([&]() -> Failure {
    if (Failure failure = check(function, arguments))
      return failure;
    if (!result || index >= function->num_results)
      return {TILE_INVALID_ARGUMENT,
              "`result` is null, or there is no result " + std::to_string(index)};
    FunctionCall call = {};
    call.function = function;
    call.arguments = arguments;
    if (Failure failure = readSizes(call, num_arguments))
      return failure;
    return shapeOf(call, function->results[index], *result);
  });
}

tile_status tile_rt_workspace(tile_rt_function *function, const void *const *arguments,
                              size_t num_arguments, size_t *bytes) {
  return guarded([&]() -> Failure {
    if (Failure failure = check(function, arguments))
      return failure;
    if (!bytes)
      return {TILE_INVALID_ARGUMENT, "`bytes` is null"};
    *bytes = 0;
    Run run = {};
    run.function = function;
    return prepared(run, arguments, num_arguments, [&](int64_t needed) {
      *bytes = size_t(needed);
      return Failure();
    });
  });
}
