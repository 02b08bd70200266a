//===- Configurations.cpp - what `@triton.autotune` says ------------------===//
#include "runtime/host/Configurations.h"
#include "frontend/eval/AutoConfigs.h"
#include "text/Format.h"
#include <map>

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using llvm::ArrayRef;
using llvm::StringRef;
using Kind = PyValue::Kind;

CallArgs host::withConfig(const PyValue &config) {
  CallArgs out;
  const std::vector<PyValue> &fields = config.asTuple().elements;
  const char *options[] = {"num_warps", "num_stages", "num_ctas", "maxnreg"};
  for (size_t i = 0; i < std::size(options); ++i)
    if (!fields[i + 1].isNone())
      out.keywords.emplace_back(options[i], fields[i + 1]);
  // Options overwrite what the dict says of them, as in Triton: all but `maxnreg` have a default.
  for (auto &[name, value] : fields[0].asDict().items)
    if (!out.keyword(eval::str(name)))
      out.keywords.emplace_back(eval::str(name), value);
  return out;
}

static std::unique_ptr<EvalError> checkConfigs(ArrayRef<PyValue> configs, StringRef who) {
  for (const PyValue &config : configs)
    if (eval::typeName(config) != "triton.Config")
      return fail(
          formatted("`{}` needs a list of `triton.Config`, got `{}`", who, eval::typeName(config)));
  return nullptr;
}

runtime::TuneConfig host::toTuneConfig(const PyValue &config) {
  runtime::TuneConfig out;
  for (auto &[name, value] : withConfig(config).keywords) {
    std::optional<int64_t> number = value.toInt64();
    if (name == "num_warps" && number)
      out.numWarps = *number;
    else if (name == "num_stages")
      out.numStages = number.value_or(0); // "auto"
    else if (name == "maxnreg")
      out.maxRegisters = number.value_or(0);
    else if (name == "num_ctas")
      out.numCtas = number.value_or(1);
    else if (name == "warp_roles" && value.isStr())
      readWarpRoles(value.asStr(), out.warpRoles);
    else
      out.constexprs.emplace_back(name, eval::repr(value));
  }
  return out;
}

const PyValue *Launcher::Settings::find(StringRef name) const {
  static const char *const order[] = {"configs",       "key",           "prune_configs_by",
                                      "reset_to_zero", "restore_value", "pre_hook",
                                      "post_hook"};
  const PyValue *value = args.keyword(name);
  for (size_t i = 0; !value && i < std::min(std::size(order), args.positional.size()); ++i)
    if (name == order[i])
      value = &args.positional[i];
  return value && !value->isNone() ? value : nullptr;
}

bool Launcher::Settings::hasModel() const {
  const PyValue *rules = find("prune_configs_by");
  const PyValue *model =
      rules && rules->is(Kind::Dict) ? rules->asDict().find(StringRef("perf_model")) : nullptr;
  return model && !model->isNone();
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

CallArgs host::byName(const eval::FunctionObject &kernel, const CallArgs &args,
                      const PyValue &config) {
  CallArgs out;
  for (auto [param, value] : llvm::zip(kernel.params(), args.positional))
    out.keywords.emplace_back(param.name, value);
  llvm::append_range(out.keywords, args.keywords);
  for (auto &entry : withConfig(config).keywords)
    if (!entry.second.isNone())
      out.keywords.push_back(entry);
  return out;
}

/// How many `top_k` leaves: a number of configurations, or a share of them.
static std::unique_ptr<EvalError> readTopK(const PyValue *value, size_t all, size_t &out) {
  out = all;
  if (!value)
    return nullptr;
  std::optional<int64_t> count = value->toInt64();
  if (value->is(Kind::Float) && value->asFloat() > 0 && value->asFloat() <= 1)
    count = std::max<int64_t>(1, all * value->asFloat());
  if (!count || *count < 1)
    return fail(formatted(
        "`top_k` is a positive number of configurations or a share of them up to 1.0, got {}",
        eval::repr(*value)));
  out = std::min<size_t>(all, *count);
  return nullptr;
}

std::unique_ptr<EvalError> Launcher::prune(Evaluator &evaluator, const Request &request,
                                           const Settings &settings,
                                           std::vector<PyValue> &configs) {
  const PyValue *rules = settings.find("prune_configs_by");
  if (!rules)
    return nullptr;
  if (!rules->is(Kind::Dict))
    return fail(formatted("`prune_configs_by` needs a dict, got `{}`", eval::typeName(*rules)));
  auto rule = [&](const char *name) -> const PyValue * {
    const PyValue *value = rules->asDict().find(PyValue::string(name));
    return value && !value->isNone() ? value : nullptr;
  };
  if (const PyValue *early = rule("early_config_prune")) {
    PyValue positional = PyValue::dict({});
    for (auto [param, value] : llvm::zip(request.kernel.params(), request.args.positional))
      positional.asDict().set(PyValue::string(param.name), value);
    Result left = evaluator.call(
        *early, CallArgs{{PyValue::list(configs), std::move(positional)}, request.args.keywords});
    if (!left)
      return left.takeError();
    if (!left->isSequence())
      return fail(formatted("`early_config_prune` needs to return a list, got `{}`",
                            eval::typeName(*left)));
    configs = left->elements().vec();
    if (configs.empty())
      return fail(
          formatted("`early_config_prune` of `{}` leaves no configuration", request.kernel.name()));
    if (auto error = checkConfigs(configs, "early_config_prune"))
      return error;
  }
  const PyValue *model = rule("perf_model");
  size_t count;
  if (auto error = readTopK(rule("top_k"), configs.size(), count))
    return error;
  if (!model || count >= configs.size())
    return nullptr;
  // Among equals the first.
  std::multimap<double, PyValue> estimates;
  for (const PyValue &config : configs) {
    Result time = evaluator.call(*model, byName(request.kernel, request.args, config));
    if (!time)
      return time.takeError();
    std::optional<double> number = time->toDouble();
    if (!number)
      return fail(
          formatted("`perf_model` needs to return a number, got `{}`", eval::typeName(*time)));
    estimates.emplace(*number, config);
  }
  configs.clear();
  for (auto &[time, config] :
       llvm::make_range(estimates.begin(), std::next(estimates.begin(), count)))
    configs.push_back(config);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

/// The constexprs that `@triton.heuristics` sets.
static std::unique_ptr<EvalError> readHeuristicNames(Evaluator &evaluator,
                                                     const eval::FunctionObject &kernel,
                                                     std::vector<std::string> &out) {
  for (const eval::Decorator &decorator : kernel.decorators) {
    if (decorator.name != "triton.heuristics")
      continue;
    CallArgs args;
    if (Result ok = evaluator.decoratorArguments(kernel, decorator, args); !ok)
      return ok.takeError();
    const PyValue *rules = args.keyword("values");
    if (!rules && !args.positional.empty())
      rules = &args.positional[0];
    if (rules && rules->is(Kind::Dict))
      for (auto &[name, rule] : rules->asDict().items)
        out.push_back(eval::str(name));
  }
  return nullptr;
}

std::unique_ptr<EvalError> Launcher::listConfigs(Evaluator &evaluator, const Request &request,
                                                 const Settings &settings,
                                                 std::vector<PyValue> &out) {
  const PyValue *configs = settings.find("configs");
  if (!configs)
    return nullptr;
  if (configs->isSequence()) {
    out = configs->elements().vec();
    return checkConfigs(out, "triton.autotune");
  }
  if (!configs->isStr() || configs->asStr() != "auto")
    return fail(formatted("`configs` is a list of `triton.Config` or \"auto\", got {}",
                          eval::repr(*configs)));
  std::vector<std::string> given;
  if (auto error = readHeuristicNames(evaluator, request.kernel, given))
    return error;
  for (auto [parameter, value] : llvm::zip(request.kernel.params(), request.args.positional))
    given.push_back(parameter.name);
  for (const auto &[name, value] : request.args.keywords)
    given.push_back(name);
  out = eval::autoConfigs(evaluator, request.kernel,
                          [&](StringRef name) { return llvm::is_contained(given, name); });
  return nullptr;
}
