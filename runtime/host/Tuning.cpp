//===- Tuning.cpp - `@triton.autotune` ------------------------------------===//
//
// 1. `prune_configs_by` takes configurations out of the list (Configurations.cpp).
// 2. On a GPU the others are ranked, compiled together and timed one after another;
//    hooks run, and tensors get their values back, around each. Which one won is
//    kept for the values of `key`. On the CPU the first one counts.
// 3. The `pre_hook` of the configuration runs before the launch itself.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Annotations.h"
#include "runtime/Timing.h"
#include "runtime/host/Configurations.h"
#include "text/Format.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>
#include <map>

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using llvm::ArrayRef;
using Kind = PyValue::Kind;

static const PyValue &preHookOf(const PyValue &config) { return config.asTuple().elements[5]; }

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

/// Calls a hook with a dict of the arguments, if there is one.
static std::unique_ptr<EvalError> callHook(Evaluator &evaluator, const PyValue *hook,
                                           const CallArgs &known, CallArgs more = {}) {
  if (!hook || hook->isNone())
    return nullptr;
  PyValue dict = PyValue::dict({});
  for (auto &[name, value] : known.keywords)
    dict.asDict().set(PyValue::string(name), value);
  more.positional.insert(more.positional.begin(), std::move(dict));
  Result done = evaluator.call(*hook, more);
  return done ? nullptr : done.takeError();
}

//===----------------------------------------------------------------------===//
// Timing configurations
//===----------------------------------------------------------------------===//

namespace {
/// Puts tensors back to what they held, around every timed launch.
class Restorer {
public:
  Restorer(const PyValue &known, const PyValue *restoredNames, const PyValue *zeroedNames) {
    collect(known, restoredNames, restored);
    collect(known, zeroedNames, zeroed);
    for (Tensor *tensor : restored)
      if (!failure)
        failure = tensor->values(saved.emplace_back());
  }
  void apply() {
    for (auto [tensor, values] : llvm::zip(restored, saved))
      (void)tensor->assign(values);
    for (Tensor *tensor : zeroed)
      (void)tensor->assign(Array::scalar(0.0));
  }

  std::unique_ptr<EvalError> failure; ///< why values could not be kept

private:
  static void collect(const PyValue &known, const PyValue *names, std::vector<Tensor *> &out) {
    for (const PyValue &name : names ? names->elements() : ArrayRef<PyValue>())
      if (PyValue *value = known.asDict().find(name))
        if (auto *tensor = value->dynExtension<Tensor>())
          out.push_back(tensor);
  }
  std::vector<Tensor *> restored, zeroed;
  std::vector<Array> saved;
};
} // namespace

/// One configuration in the race.
struct Launcher::Trial {
  explicit Trial(const Request &request) : request(request) {}
  Request request; ///< with the configuration's values
  /// What it will launch; no file: not known before it runs.
  runtime::KernelRequest kernel;
  runtime::LaunchOutline outline;
  std::unique_ptr<runtime::Kernel> prepared;
  std::unique_ptr<EvalError> error;
};

/// Works out which kernel a configuration launches, so that all of them can be
/// compiled at once: the evaluator itself runs in one thread.
Result Launcher::plan(Evaluator &evaluator, const Request &request, size_t next,
                      const PyValue &config, Trial &trial) {
  // The blocks of descriptors may be what the configuration's hook sets.
  CallArgs arguments = byName(request.kernel, request.args, config);
  if (llvm::any_of(arguments.keywords,
                   [](auto &entry) { return eval::typeName(entry.second) == "TensorDescriptor"; }))
    if (auto error = callHook(evaluator, &preHookOf(config), arguments))
      return error;
  if (auto error = splitOptions(withConfig(config), trial.request))
    return error;
  Request resolved = trial.request;
  for (const auto &decorator : ArrayRef(request.kernel.decorators).drop_front(next)) {
    if (decorator.name == "triton.autotune")
      return PyValue();
    if (decorator.name == "triton.heuristics")
      if (auto error = applyHeuristics(evaluator, resolved, decorator))
        return error;
  }
  std::vector<PyValue> values;
  if (Result ok = evaluator.bind(resolved.kernel, resolved.args, values); !ok)
    return ok;
  Specialization specialization;
  if (auto error = specialize(evaluator, resolved.kernel, values, resolved.plain,
                              resolved.unaligned, specialization))
    return error;
  trial.kernel = kernelRequest(resolved.kernel, resolved.options, specialization);
  for (auto [parameter, value] : llvm::zip(resolved.kernel.params(), values))
    if (std::optional<int64_t> number = value.toInt64())
      trial.outline.values[parameter.name] = *number;
  // An error of the grid is one of the trial.
  (void)evaluateGrid(evaluator, resolved, trial.outline.grid);
  return PyValue();
}

/// The configurations of one launch, and what the tuner does with each.
struct Launcher::Race {
  Launcher &launcher;
  Evaluator &evaluator;
  const Request &request;
  size_t next; ///< of the decorators
  ArrayRef<PyValue> configs;
  const Settings &settings;
  Restorer &restorer;
  std::vector<Trial> trials = {};

  llvm::Error prepare(unsigned i);
  llvm::Expected<double> measure(unsigned i);
  std::optional<double> estimate(unsigned i) const;
};

/// A configuration that does not compile or fit is no candidate.
llvm::Error Launcher::Race::prepare(unsigned i) {
  Trial &trial = trials[i];
  if (!trial.kernel.file)
    return llvm::Error::success();
  frontend::DiagnosticEngine diagnostics;
  trial.prepared = launcher.context->device.prepare(trial.kernel, diagnostics);
  if (trial.prepared)
    return llvm::Error::success();
  trial.error =
      toError(diagnostics, formatted("kernel `{}` could not be prepared", request.kernel.name()));
  return llvm::createStringError(trial.error->diagnostic.message);
}

llvm::Expected<double> Launcher::Race::measure(unsigned i) {
  Trial &trial = trials[i];
  Launcher &l = launcher;
  if (std::string key = kernelKey(trial.kernel); trial.prepared && !l.kernels.find(key))
    l.kernels.keep(*l.context, key, std::move(trial.prepared));
  restorer.apply();
  CallArgs arguments = byName(request.kernel, request.args, configs[i]);
  trial.error = callHook(evaluator, settings.find("pre_hook"), arguments);
  if (!trial.error)
    trial.error = callHook(evaluator, &preHookOf(configs[i]), arguments);
  if (trial.error)
    return llvm::createStringError(trial.error->diagnostic.message);
  llvm::Expected<runtime::Timing> timing = timeWork(
      *l.context, [&] { return l.runDecorators(evaluator, trial.request, next + 1); },
      runtime::kTuningTime, trial.error);
  double time = HUGE_VAL;
  if (timing) {
    time = timing->median;
  } else {
    std::string message = llvm::toString(timing.takeError());
    if (!trial.error)
      trial.error = fail(message, "RuntimeError");
  }
  PyValue exception = timing ? PyValue() : PyValue::string(trial.error->diagnostic.message);
  if (auto error = callHook(evaluator, settings.find("post_hook"), arguments,
                            {{}, {{"exception", std::move(exception)}}})) {
    trial.error = std::move(error);
    return llvm::createStringError(trial.error->diagnostic.message);
  }
  return time;
}

std::optional<double> Launcher::Race::estimate(unsigned i) const {
  const Trial &trial = trials[i];
  if (!trial.kernel.file || settings.hasModel())
    return std::nullopt;
  return launcher.context->device.estimate(trial.kernel, trial.outline);
}

Result Launcher::tune(Evaluator &evaluator, const Request &request, size_t next,
                      const std::string &key, ArrayRef<PyValue> configs, const Settings &settings,
                      size_t &best) {
  Result known = namedValues(evaluator, request);
  if (!known)
    return known;
  Restorer restorer(*known, settings.find("restore_value"), settings.find("reset_to_zero"));
  if (restorer.failure)
    return std::move(restorer.failure);
  // Trials are not part of what an enclosing measurement repeats.
  llvm::SaveAndRestore<std::vector<DeviceWork> *> quiet(context->recording, nullptr);

  runtime::TuneProblem problem;
  problem.kernel = request.kernel.name();
  // What the file imports is a part of its kernels.
  eval::readImports(*request.kernel.module);
  problem.identity = runtime::identityOf(request.kernel.module->source().text(),
                                         request.kernel.module->owner().dependencies());
  problem.key = key;
  Race race{*this, evaluator, request, next, configs, settings, restorer};
  race.trials.reserve(configs.size());
  for (const PyValue &config : configs) {
    problem.configs.push_back(toTuneConfig(config));
    Trial &trial = race.trials.emplace_back(request);
    if (Result ok = plan(evaluator, request, next + 1, config, trial); !ok)
      return ok;
  }

  llvm::Expected<runtime::TuneResult> result = tuner.tune(
      problem, [&](unsigned i) { return race.prepare(i); },
      [&](unsigned i) { return race.measure(i); }, [&](unsigned i) { return race.estimate(i); });
  restorer.apply();
  if (result) {
    best = result->best;
    if (onChoice)
      onChoice(formatted("{}({}): {} ({})", problem.kernel, key, problem.configs[best],
                         result->reason()));
    if (!result->measured)
      return PyValue();
    if (auto error = callHook(evaluator, settings.find("pre_hook"),
                              byName(request.kernel, request.args, configs[best]),
                              {{}, {{"reset_only", PyValue::boolean(true)}}}))
      return error;
    return PyValue();
  }
  // All failed: the first one's reason, which has its place in the source.
  std::string message = llvm::toString(result.takeError());
  for (Trial &trial : race.trials)
    if (trial.error)
      return std::move(trial.error);
  return fail(message, "RuntimeError");
}

//===----------------------------------------------------------------------===//
// The decorator
//===----------------------------------------------------------------------===//

/// What tells tuned kernels apart.
static std::string idOf(const eval::FunctionObject &kernel) {
  return kernel.module->source().name().str() + ":" + kernel.name();
}

/// The values that select a tuned configuration: those of `key`, and the type
/// of every tensor.
static std::string tuningKey(const eval::FunctionObject &kernel, const PyValue &known,
                             const PyValue *key) {
  std::string text = idOf(kernel);
  for (const PyValue &name : key ? key->elements() : ArrayRef<PyValue>())
    if (PyValue *value = known.asDict().find(name))
      text += formatted(",{}", value->dynExtension<Tensor>() ? "tensor" : eval::repr(*value));
  for (auto &[name, value] : known.asDict().items)
    if (auto *tensor = value.dynExtension<Tensor>())
      text += "," + tensor->type().str();
  return text;
}

/// The same for people and for records, as launches through tile/jit.h write it:
/// "n=512, x: *fp32".
static std::string recordKey(const eval::FunctionObject &kernel, const PyValue &known,
                             const PyValue *key) {
  std::string text;
  auto add = [&](const std::string &part) { text += (text.empty() ? "" : ", ") + part; };
  for (const PyValue &name : key ? key->elements() : ArrayRef<PyValue>())
    if (PyValue *value = known.asDict().find(name))
      add(formatted("{}={}", eval::str(name),
                    value->dynExtension<Tensor>() ? "pointer" : eval::repr(*value)));
  for (const ast::Parameter &parameter : kernel.params()) {
    PyValue *value = known.asDict().find(llvm::StringRef(parameter.name));
    // A descriptor counts by its base.
    if (value && eval::typeName(*value) == "TensorDescriptor")
      value = const_cast<PyValue *>(&value->elements()[0]);
    if (auto *tensor = value ? value->dynExtension<Tensor>() : nullptr)
      add(formatted("{}: *{}", parameter.name, tensor->type()));
  }
  return text;
}

Result Launcher::chooseConfiguration(Evaluator &evaluator, const Request &request, size_t next,
                                     const Settings &settings, std::vector<PyValue> &choices,
                                     PyValue &best) {
  Result known = namedValues(evaluator, request);
  if (!known)
    return known;
  std::string id = tuningKey(request.kernel, *known, settings.find("key"));
  auto it = forcedConfiguration ? tuned.end() : tuned.find(id);
  if (it != tuned.end()) {
    best = it->second.configuration;
    mostConfigurations = std::max(mostConfigurations, it->second.among);
    return PyValue();
  }
  if (auto error = prune(evaluator, request, settings, choices))
    return error;
  mostConfigurations = std::max(mostConfigurations, unsigned(choices.size()));
  size_t index =
      forcedConfiguration ? std::min<size_t>(*forcedConfiguration, choices.size() - 1) : 0;
  if (!forcedConfiguration && choices.size() > 1 && !context->device.isCpu())
    if (Result ok =
            tune(evaluator, request, next, recordKey(request.kernel, *known, settings.find("key")),
                 choices, settings, index);
        !ok)
      return ok;
  best = choices[index];
  if (!forcedConfiguration)
    tuned.try_emplace(id, Tuned{best, unsigned(choices.size())});
  return PyValue();
}

Result Launcher::autotune(Evaluator &evaluator, Request request, size_t next) {
  Settings settings;
  const eval::Decorator &decorator = request.kernel.decorators[next];
  if (Result ok = evaluator.decoratorArguments(request.kernel, decorator, settings.args); !ok)
    return ok;
  std::vector<PyValue> choices;
  if (auto error = listConfigs(evaluator, request, settings, choices))
    return error;
  if (choices.empty())
    return runDecorators(evaluator, std::move(request), next + 1);
  PyValue best = choices[0];
  if (choices.size() > 1)
    if (Result ok = chooseConfiguration(evaluator, request, next, settings, choices, best); !ok)
      return ok;
  takenConfiguration = toTuneConfig(best).str();
  lastTaken[idOf(request.kernel)] = best;
  if (auto error =
          callHook(evaluator, &preHookOf(best), byName(request.kernel, request.args, best)))
    return error;
  if (auto error = splitOptions(withConfig(best), request))
    return error;
  return runDecorators(evaluator, std::move(request), next + 1);
}

Result Launcher::bestConfig(const eval::FunctionObject &kernel) const {
  auto known = lastTaken.find(idOf(kernel));
  if (known != lastTaken.end())
    return known->second;
  return fail(
      formatted("`{}` has no `best_config` before its first launch, which chooses", kernel.name()),
      "AttributeError");
}
