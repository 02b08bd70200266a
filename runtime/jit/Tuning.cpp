//===- Tuning.cpp - which configuration serves a launch -------------------===//
//
// The first launch for some values of `key` chooses: the author's pruning leaves some
// configurations, a record decides among them, and where there is none they are compiled
// together and timed with the launch's own arguments, on its stream.
//
//===----------------------------------------------------------------------===//
#include "runtime/Timing.h"
#include "runtime/jit/Jit.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::jit;
using namespace tile::runtime;

/// What times depend on: the part for people, then the driver.
llvm::Expected<Tuner *> Jit::tuner() {
  auto where = context();
  if (!where)
    return where.takeError();
  std::lock_guard<std::mutex> lock(mutex);
  if (ownTuner)
    return ownTuner.get();
  const DeviceInfo &device = (*where)->device();
  std::string name = formatted("{}, {} SMs", device.name, device.multiprocessors);
  ownTuner = std::make_unique<Tuner>(
      formatted("{}, CUDA {} driver", name, cuda::formatVersion((*where)->api().version())),
      tuning.cacheFolder);
  ownTuner->setRecordFile(tuning.recordFile, name, device.target());
  if (tuning.timeless)
    ownTuner->setTimeless();
  if (tuning.exhaustive)
    ownTuner->setExhaustive();
  return ownTuner.get();
}

llvm::Expected<double> Jit::measure(Request &request, unsigned configuration) {
  Request own(request.values, request.stream);
  own.configuration = configuration;
  if (llvm::Error error = readKey(own))
    return std::move(error);
  if (llvm::Error error = addChoice(own.key, configuration, own.values))
    return std::move(error);
  auto variant = make(own.key, own.key.hash());
  if (!variant)
    return variant.takeError();
  uint32_t computed[3];
  const uint32_t *grid = request.grid;
  if (!grid) {
    if (llvm::Error error = computeGrid(own.values, configuration, computed))
      return std::move(error);
    grid = computed;
  }
  const LoadedKernel &loaded = *(*variant)->loaded;
  return timeForTuning(loaded.context(), request.stream, [&] {
    return loaded.launch(request.stream, grid,
                         llvm::ArrayRef(own.passed.pointers, own.passed.size));
  });
}

std::optional<double> Jit::estimate(const Request &request, unsigned configuration,
                                    const std::string &device, const std::string &target) const {
  LaunchOutline outline;
  outline.device = device;
  dispatch::Key key = request.key;
  if (llvm::Error error = addChoice(key, configuration, request.values)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  uint32_t computed[3];
  if (!request.grid)
    if (llvm::Error error = computeGrid(request.values, configuration, computed)) {
      llvm::consumeError(std::move(error));
      return std::nullopt;
    }
  std::copy_n(request.grid ? request.grid : computed, 3, outline.grid.begin());
  for (size_t i = 0; i < description->parameters.size(); ++i)
    if (const tile_value &value = request.values[i];
        value.kind == TILE_VALUE_INT || value.kind == TILE_VALUE_UINT)
      outline.values[description->parameters[i].name] = value.as.integer;
  CompileOptions options = optionsOf(key);
  if (!target.empty())
    options.target = target;
  return service.estimate(description->source(), options, outline);
}

llvm::Expected<TuneResult> Jit::race(Request &request, llvm::ArrayRef<unsigned> left,
                                     const TuneProblem &problem) {
  auto chooser = tuner();
  if (!chooser)
    return chooser.takeError();
  auto prepare = [&](unsigned i) -> llvm::Error {
    dispatch::Key key = request.key;
    if (llvm::Error error = addChoice(key, left[i], request.values))
      return error;
    auto variant = make(key, key.hash());
    return variant ? llvm::Error::success() : variant.takeError();
  };
  auto measureOne = [&](unsigned i) -> llvm::Expected<double> {
    if (!description->choices.whyNotTimed.empty())
      return makeError(
          ErrorCode::Unsupported,
          formatted("{}, which needs tensors, and a launch has addresses: set `no_timing`",
                    description->choices.whyNotTimed));
    return measure(request, left[i]);
  };
  auto where = context();
  if (!where)
    return where.takeError();
  const std::string &device = (*where)->device().name;
  auto estimateOne = [&](unsigned i) { return estimate(request, left[i], device, ""); };
  if (!description->choices.perfModel.isNone()) // the author's own model has ranked them
    return (*chooser)->tune(problem, prepare, measureOne);
  return (*chooser)->tune(problem, prepare, measureOne, estimateOne);
}

TuneProblem Jit::problemOf(const Request &request, llvm::ArrayRef<unsigned> left) const {
  TuneProblem problem;
  problem.kernel = description->kernel();
  problem.identity = description->identity();
  problem.key = description->keyText(request.values);
  for (unsigned i : left)
    problem.configs.push_back(description->choices.configurations[i].tune);
  return problem;
}

llvm::Expected<unsigned> Jit::chooseByModel(llvm::ArrayRef<tile_value> values,
                                            const std::string &target) {
  Request request(values.data());
  if (llvm::Error error = readKey(request))
    return std::move(error);
  auto left = description->prune(values.data());
  if (!left)
    return left.takeError();
  auto prepare = [&](unsigned i) -> llvm::Error {
    dispatch::Key key = request.key;
    if (llvm::Error error = addChoice(key, (*left)[i], request.values))
      return error;
    CompileOptions options = optionsOf(key);
    options.target = target;
    return service.compile(description->source(), std::move(options)).takeError();
  };
  auto measureNone = [](unsigned) -> llvm::Expected<double> { return 0.0; };
  auto estimateOne = [&](unsigned i) { return estimate(request, (*left)[i], "", target); };
  Tuner chooser(target, /*cacheFolder=*/"");
  chooser.setTimeless();
  TuneProblem problem = problemOf(request, *left);
  auto result = description->choices.perfModel.isNone()
                    ? chooser.tune(problem, prepare, measureNone, estimateOne)
                    : chooser.tune(problem, prepare, measureNone);
  if (!result)
    return result.takeError();
  return (*left)[result->best];
}

llvm::Expected<unsigned> Jit::tune(Request &request) {
  Event event;
  event.kind = Event::Kind::Tune;
  event.kernel = description->kernel();
  event.start = Observer::now();
  auto left = description->prune(request.values);
  if (!left)
    return left.takeError();
  TuneProblem problem = problemOf(request, *left);
  TuneResult result;
  if (left->size() > 1) {
    auto raced = race(request, *left, problem);
    if (!raced)
      return raced.takeError();
    result = std::move(*raced);
  }
  std::string how = left->size() == 1 ? "the only one that pruning leaves" : result.reason();
  event.variant = problem.key;
  event.message = formatted("{} ({})", problem.configs[result.best], how);
  event.duration = Observer::now() - event.start;
  service.observer().note(event);
  return (*left)[result.best];
}
