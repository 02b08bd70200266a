//===- Choices.cpp - what a file's decorators decide about launches -------===//
#include "runtime/jit/Choices.h"
#include "frontend/eval/Annotations.h"
#include "frontend/eval/AutoConfigs.h"
#include "text/Format.h"
#include <map>

using namespace tile;
using namespace tile::jit;
using eval::CallArgs;
using eval::EvalError;
using eval::fail;
using eval::PyValue;
using eval::Result;
using Kind = PyValue::Kind;
using ErrorPtr = std::unique_ptr<EvalError>;

std::vector<std::string> Choices::parameters() const {
  std::vector<std::string> out;
  for (const auto &[name, rule] : heuristics)
    out.push_back(name);
  for (const Configuration &configuration : configurations)
    for (const auto &[name, value] : configuration.tune.constexprs)
      if (!llvm::is_contained(out, name))
        out.push_back(name);
  return out;
}

/// The fields of a `triton.Config` after its constexprs.
enum ConfigField { Kwargs, NumWarps, NumStages, NumCtas, MaxRegisters, PreHook };

/// The options of a launch that a configuration sets, by default if not by name. Triton overwrites
/// with them what its dict says of them, and a parameter of that name is the option.
static constexpr std::pair<const char *, ConfigField> kOptionFields[] = {
    {"num_warps", NumWarps}, {"num_stages", NumStages}, {"num_ctas", NumCtas}};

static bool isOption(llvm::StringRef name) {
  return llvm::any_of(kOptionFields, [&](auto &option) { return name == option.first; });
}

static ErrorPtr readConfiguration(const eval::FunctionObject &kernel, const PyValue &value,
                                  Configuration &out) {
  if (eval::typeName(value) != "triton.Config")
    return fail(formatted("`triton.autotune` needs a list of `triton.Config`, got `{}`",
                          eval::typeName(value)));
  llvm::ArrayRef<PyValue> fields = value.asTuple().elements;
  out.value = value;
  const PyValue *registers = &fields[MaxRegisters];
  for (auto &[name, constant] : fields[Kwargs].asDict().items) {
    if (isOption(eval::str(name)))
      continue;
    if (eval::str(name) == "maxnreg" && registers->isNone()) {
      registers = &constant;
      continue;
    }
    std::optional<std::string> text = eval::constantText(constant);
    if (!text)
      return fail(
          formatted("`{}` of a `triton.Config` is a value of type `{}`, which no constexpr can be",
                    eval::str(name), eval::typeName(constant)));
    if (eval::str(name) == "warp_roles" && constant.isStr() &&
        readWarpRoles(constant.asStr(), out.tune.warpRoles))
      continue;
    out.tune.constexprs.emplace_back(eval::str(name), std::move(*text));
  }
  out.tune.numWarps = int(fields[NumWarps].toInt64().value_or(kDefaultWarps));
  out.tune.numStages = int(fields[NumStages].toInt64().value_or(0)); // "auto"
  out.tune.numCtas = int(fields[NumCtas].toInt64().value_or(1));
  out.tune.maxRegisters = int(registers->toInt64().value_or(0));
  for (auto [name, field] : kOptionFields)
    if (llvm::any_of(kernel.params(), [&](auto &param) { return param.name == name; }))
      if (std::optional<std::string> text = eval::constantText(fields[field]))
        out.tune.constexprs.emplace_back(name, std::move(*text));
  return nullptr;
}

static ErrorPtr readAutotune(const eval::FunctionObject &kernel, const CallArgs &given,
                             Choices &out) {
  static const char *const order[] = {"configs",       "key",           "prune_configs_by",
                                      "reset_to_zero", "restore_value", "pre_hook",
                                      "post_hook"};
  auto find = [&](llvm::StringRef name) -> PyValue {
    if (const PyValue *value = given.keyword(name))
      return *value;
    for (size_t i = 0; i < std::min(std::size(order), given.positional.size()); ++i)
      if (name == order[i])
        return given.positional[i];
    return PyValue();
  };
  PyValue configs = find("configs");
  out.isAuto = configs.isStr() && configs.asStr() == "auto";
  if (!out.isAuto && !configs.isSequence() && !configs.isNone())
    return fail(formatted("`configs` is a list of `triton.Config` or \"auto\", got {}",
                          eval::repr(configs)));
  for (const PyValue &value : out.isAuto ? llvm::ArrayRef<PyValue>() : configs.elements()) {
    Configuration configuration;
    if (ErrorPtr error = readConfiguration(kernel, value, configuration))
      return error;
    if (!value.asTuple().elements[PreHook].isNone())
      out.whyNotTimed = "a configuration has a `pre_hook`";
    out.configurations.push_back(std::move(configuration));
  }
  for (const PyValue &name : find("key").elements())
    out.key.push_back(eval::str(name));
  // What these do to tensors cannot be done to addresses whose lengths nobody knows.
  for (const char *name : {"reset_to_zero", "restore_value", "pre_hook", "post_hook"})
    if (PyValue value = find(name);
        !value.isNone() && !(value.isSequence() && value.elements().empty()))
      out.whyNotTimed = formatted("`@triton.autotune` has `{}`", name);
  PyValue rules = find("prune_configs_by");
  if (rules.isNone())
    return nullptr;
  if (!rules.is(Kind::Dict))
    return fail(formatted("`prune_configs_by` needs a dict, got `{}`", eval::typeName(rules)));
  for (auto [name, target] :
       {std::pair("early_config_prune", &out.earlyPrune), std::pair("perf_model", &out.perfModel),
        std::pair("top_k", &out.topK)})
    if (const PyValue *rule = rules.asDict().find(llvm::StringRef(name)))
      *target = *rule;
  return nullptr;
}

/// What `configs="auto"` stands for, once all that sets constexprs is known.
static ErrorPtr listAutomatically(eval::Evaluator &evaluator, const eval::FunctionObject &kernel,
                                  const NamedTexts &given, Choices &out) {
  auto isGiven = [&](llvm::StringRef name) {
    auto isIt = [&](auto &entry) { return entry.first == name; };
    return llvm::any_of(given, isIt) || llvm::any_of(out.heuristics, isIt);
  };
  for (const PyValue &value : eval::autoConfigs(evaluator, kernel, isGiven))
    if (ErrorPtr error = readConfiguration(kernel, value, out.configurations.emplace_back()))
      return error;
  out.isTuned = true;
  return nullptr;
}

ErrorPtr jit::readChoices(eval::Evaluator &evaluator, const eval::FunctionObject &kernel,
                          Choices &out, const NamedTexts &given) {
  for (const eval::Decorator &decorator : kernel.decorators) {
    bool isTuner = decorator.name == "triton.autotune";
    if (!isTuner && decorator.name != "triton.heuristics")
      continue;
    CallArgs arguments;
    auto place = [&](ErrorPtr error) {
      return Result(std::move(error)).at(kernel.module->source(), decorator.range).takeError();
    };
    if (Result ok = evaluator.decoratorArguments(kernel, decorator, arguments); !ok)
      return ok.takeError();
    if (isTuner) {
      if (out.isTuned || out.isAuto)
        return place(
            eval::unsupported(formatted("`{}` has two `@triton.autotune`", kernel.name())));
      if (ErrorPtr error = readAutotune(kernel, arguments, out))
        return place(std::move(error));
      out.isTuned = !out.configurations.empty();
      continue;
    }
    const PyValue *rules = arguments.keyword("values");
    PyValue dict = rules                          ? *rules
                   : arguments.positional.empty() ? PyValue()
                                                  : arguments.positional[0];
    if (!dict.is(Kind::Dict))
      return place(fail("`triton.heuristics` needs a dict of functions"));
    for (auto &[name, rule] : dict.asDict().items) {
      if (!rule.is(Kind::Function))
        return place(fail(formatted("the heuristic `{}` has to be a function", eval::str(name))));
      out.heuristics.emplace_back(eval::str(name), rule);
    }
  }
  if (out.isAuto)
    if (ErrorPtr error = listAutomatically(evaluator, kernel, given, out))
      return error;
  if (out.configurations.empty())
    out.configurations.emplace_back();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

/// Applies the author's own pruning, whose configurations are found again by identity.
static ErrorPtr pruneEarly(eval::Evaluator &evaluator, const Choices &choices,
                           const CallArgs &arguments, std::vector<unsigned> &left) {
  std::vector<PyValue> values;
  for (unsigned i : left)
    values.push_back(choices.configurations[i].value);
  PyValue named = PyValue::dict({});
  for (const auto &[name, value] : arguments.keywords)
    named.asDict().set(PyValue::string(name), value);
  Result result =
      evaluator.call(choices.earlyPrune, CallArgs{{PyValue::list(std::move(values)), named}, {}});
  if (!result)
    return result.takeError();
  if (!result->isSequence() || result->elements().empty())
    return fail("`early_config_prune` has to return a list of configurations, and not an empty "
                "one");
  std::vector<unsigned> kept;
  for (const PyValue &value : result->elements())
    for (unsigned i : left)
      if (eval::identical(value, choices.configurations[i].value))
        kept.push_back(i);
  if (kept.empty())
    return fail("`early_config_prune` returns configurations that are none of the list");
  left = std::move(kept);
  return nullptr;
}

static ErrorPtr countOf(const PyValue &topK, size_t all, size_t &out) {
  out = all;
  if (topK.isNone())
    return nullptr;
  std::optional<int64_t> count = topK.toInt64();
  if (topK.is(Kind::Float) && topK.asFloat() > 0 && topK.asFloat() <= 1)
    count = std::max<int64_t>(1, int64_t(double(all) * topK.asFloat()));
  if (!count || *count < 1)
    return fail(formatted(
        "`top_k` is a positive number of configurations or a share of them up to 1.0, got {}",
        eval::repr(topK)));
  out = std::min<size_t>(all, size_t(*count));
  return nullptr;
}

ErrorPtr jit::pruneConfigurations(eval::Evaluator &evaluator, const Choices &choices,
                                  const CallArgs &arguments, std::vector<unsigned> &left) {
  left.clear();
  for (unsigned i = 0; i < choices.configurations.size(); ++i)
    left.push_back(i);
  if (!choices.earlyPrune.isNone())
    if (ErrorPtr error = pruneEarly(evaluator, choices, arguments, left))
      return error;
  if (choices.perfModel.isNone())
    return nullptr;
  size_t count = 0;
  if (ErrorPtr error = countOf(choices.topK, left.size(), count))
    return error;
  std::multimap<double, unsigned> estimates; // among equals the first
  for (unsigned i : left) {
    CallArgs with = arguments;
    const Configuration &configuration = choices.configurations[i];
    for (auto &[name, value] : configuration.value.asTuple().elements[Kwargs].asDict().items)
      with.keywords.emplace_back(eval::str(name), value);
    with.keywords.emplace_back("num_warps", PyValue::integer(configuration.tune.numWarps));
    with.keywords.emplace_back("num_stages", PyValue::integer(configuration.tune.numStages));
    Result time = evaluator.call(choices.perfModel, with);
    if (!time)
      return time.takeError();
    std::optional<double> number = time->toDouble();
    if (!number)
      return fail(
          formatted("`perf_model` has to return a number, got `{}`", eval::typeName(*time)));
    estimates.emplace(*number, i);
  }
  left.clear();
  for (const auto &[time, i] : estimates)
    if (left.size() < count)
      left.push_back(i);
  return nullptr;
}
