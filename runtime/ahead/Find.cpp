//===- Find.cpp - the variant that a launch takes --------------------------===//
#include "runtime/ahead/Find.h"
#include <algorithm>
#include <cstddef>

using namespace tile;
using namespace tile::ahead;
using namespace tile::dispatch;

// The generated tables are these structs, in C.
static_assert(sizeof(tile_rt_argument) == sizeof(Parameter) &&
              offsetof(tile_rt_argument, flags) == offsetof(Parameter, flags) &&
              offsetof(tile_rt_argument, dtype) == offsetof(Parameter, dtype));
static_assert(sizeof(tile_rt_step) == sizeof(Step) &&
              offsetof(tile_rt_step, operand) == offsetof(Step, operand));

const Parameter *ahead::parametersOf(const tile_rt_kernel &kernel) {
  return reinterpret_cast<const Parameter *>(kernel.arguments);
}

FormulaFailure ahead::run(const tile_rt_formula &formula, const tile_value *values, int64_t *out) {
  return runFormula(reinterpret_cast<const Step *>(formula.steps), formula.count, values,
                    formula.results, out);
}

Failure ahead::readKey(Launch &launch, unsigned long long context, Key &key) {
  tile_rt_kernel &kernel = *launch.kernel;
  const Parameter *parameters = parametersOf(kernel);
  if (Refusal refusal =
          readValues(parameters, kernel.num_arguments, launch.values, key, launch.passed))
    return {TILE_INVALID_ARGUMENT, std::string("cannot launch `") + kernel.name +
                                       "`: " + explain(refusal, parameters, launch.values)};
  uint32_t chosen = 0;
  if (kernel.num_choices)
    if (Failure failure =
            chooseConfiguration(&kernel, *launch.driver, context, launch.values, key.words, chosen))
      return failure;
  launch.configuration = &kernel.configurations[chosen];
  bool fits = key.add(launch.configuration->number);
  for (uint32_t i = 0; i < kernel.num_heuristics; ++i) {
    int64_t value = 0;
    FormulaFailure failure = run(launch.configuration->heuristics[i], launch.values, &value);
    if (failure != FormulaFailure::None)
      return {TILE_INVALID_ARGUMENT, std::string("the heuristic `") + kernel.heuristic_names[i] +
                                         "` of `" + kernel.name +
                                         "` cannot be computed: " + explain(failure)};
    fits = fits && key.add(uint64_t(value));
  }
  if (fits)
    return {};
  return {TILE_INVALID_ARGUMENT, std::string("what decides the code of `") + kernel.name +
                                     "` takes more than is possible"};
}

/// Only launches of new keys come here.
static const tile_rt_variant *findVariant(const tile_rt_kernel &kernel, const Key &key) {
  for (uint32_t i = 0; i < kernel.num_variants; ++i) {
    const tile_rt_variant &variant = kernel.variants[i];
    if (variant.size == key.size - 1 &&
        std::equal(variant.words, variant.words + variant.size, key.words + 1))
      return &variant;
  }
  return nullptr;
}

static Failure notBuilt(const tile_rt_kernel &kernel, const Key &key) {
  auto described = std::make_unique<Described>();
  describe(parametersOf(kernel), kernel.num_arguments, key.words + 1, *described);
  std::string text =
      std::string("`") + kernel.name + "` was not built for `" + described->signature;
  for (unsigned i = 0; i < described->numConstants; ++i)
    text += std::string(" ") + kernel.arguments[described->constants[i].parameter].name + "=" +
            described->constants[i].text;
  return {TILE_NO_COMPILE, text + "`: give `tilec build` arguments that reach it"};
}

Failure ahead::find(Launch &launch, unsigned long long context, const Key &own,
                    const Loaded *&out) {
  Key key;
  key.add(context);
  for (unsigned i = 0; i < own.size; ++i)
    if (!key.add(own.words[i]))
      return {TILE_INVALID_ARGUMENT, "the key of a launch takes more than is possible"};
  State &state = stateOf(launch.kernel);
  if (const Loaded **known = state.table.find(key.words, key.size, key.hash())) {
    out = *known;
    return {};
  }
  const tile_rt_variant *variant = findVariant(*launch.kernel, key);
  if (!variant)
    return notBuilt(*launch.kernel, key);
  return loadVariant(launch.kernel, *launch.driver, *variant, key, out);
}
