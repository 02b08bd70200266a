//===- Choose.cpp - which configuration of a built kernel serves a launch -===//
//
// A kernel that was built with choices has one for each launch that was tuned, or asked of the
// cost model, when it was built. The nearest one counts: first of all its device, then types,
// then numbers, by their ratios. What was found is kept by what selects, up to a bound: launches
// of more shapes than that look it up again each time.
//
//===----------------------------------------------------------------------===//
#include "runtime/ahead/Loaded.h"
#include <algorithm>

using namespace tile;
using namespace tile::ahead;
using namespace tile::dispatch;

/// Shapes whose configuration is kept, of one kernel.
static constexpr size_t kMostKept = 16384;

namespace {
/// How far a choice is from a launch.
struct Distance {
  unsigned different = 0; ///< values of another type, or that are no numbers
  double ratio = 1;       ///< product of all numbers' ratios
  bool operator<(const Distance &other) const {
    return different != other.different ? different < other.different : ratio < other.ratio;
  }
};
} // namespace

static bool isInteger(const tile_value &value) {
  return value.kind == TILE_VALUE_INT || value.kind == TILE_VALUE_UINT;
}

/// 1 for equal numbers, else the greater by the smaller; 0 and signs count, too.
static double ratioOf(const tile_value &a, const tile_value &b) {
  auto isNegative = [](const tile_value &v) {
    return v.kind == TILE_VALUE_INT && v.as.integer < 0;
  };
  auto magnitude = [&](const tile_value &v) {
    return double(isNegative(v) ? 0 - v.as.bits : v.as.bits) + 1;
  };
  if (isNegative(a) != isNegative(b))
    return (magnitude(a) + 1) * (magnitude(b) + 1);
  return std::max(magnitude(a), magnitude(b)) / std::min(magnitude(a), magnitude(b));
}

static bool isSame(const tile_value &a, const tile_value &b) {
  auto isMemory = [](const tile_value &v) {
    return v.kind == TILE_VALUE_POINTER || v.kind == TILE_VALUE_DESCRIPTOR;
  };
  if (isMemory(a) && isMemory(b))
    return a.dtype == b.dtype;
  if (a.kind != b.kind)
    return false;
  if (a.kind == TILE_VALUE_TEXT)
    return !std::strcmp(a.as.text, b.as.text);
  return a.kind == TILE_VALUE_NONE || a.as.bits == b.as.bits;
}

static Distance distanceOf(const tile_rt_kernel &kernel, const tile_rt_choice &choice,
                           const tile_value *values) {
  Distance distance;
  for (uint32_t i = 0; i < kernel.num_selecting; ++i) {
    const tile_value &tuned = choice.values[i], &launched = values[kernel.selecting[i]];
    if (isInteger(tuned) && isInteger(launched))
      distance.ratio *= ratioOf(tuned, launched);
    else
      distance.different += !isSame(tuned, launched);
  }
  return distance;
}

/// Whether there is code of the configuration that the device can run.
static bool canRun(const tile_rt_kernel &kernel, uint32_t configuration, int capability) {
  uint64_t number = kernel.configurations[configuration].number;
  for (uint32_t i = 0; i < kernel.num_variants; ++i)
    if (configurationIn(kernel, kernel.variants[i]) == number)
      return chooseCode(kernel.variants[i], capability);
  return false;
}

/// The less, the better what was chosen for `choice` suits the device.
static int rankOf(const tile_rt_choice &choice, const std::string &device, int capability) {
  constexpr int anyLower = 1000, unknown = 2000, higher = 3000;
  if (choice.device && device == choice.device)
    return 0;
  if (!choice.capability)
    return unknown;
  int below = capability - choice.capability;
  return below == 0 ? 1 : below > 0 ? std::min(1 + below, anyLower) : higher;
}

/// The choices that count on the current device, which is of the context with this id.
static Failure choicesOn(tile_rt_kernel *kernel, const Driver &driver, uint64_t context,
                         const std::vector<const tile_rt_choice *> *&out) {
  State &state = stateOf(kernel);
  Key key;
  key.add(context);
  uint64_t hash = key.hash();
  if ((out = state.choices.find(key.words, key.size, hash)))
    return {};
  Device device = 0;
  int capability = 0, processors = 0;
  if (Failure failure = capabilityOf(driver, device, capability))
    return failure;
  char name[256] = "";
  Result result = driver.cuDeviceGetName(name, sizeof name - 1, device);
  if (result == Result::Success)
    result = driver.cuDeviceGetAttribute(&processors, DeviceAttribute::MultiprocessorCount, device);
  if (result != Result::Success)
    return driver.failed(result, "cannot ask the device what it is");
  // As records of tuning say it.
  std::string text = std::string(name) + ", " + std::to_string(processors) + " SMs";
  int least = INT32_MAX;
  std::vector<const tile_rt_choice *> counting;
  for (uint32_t i = 0; i < kernel->num_choices; ++i) {
    const tile_rt_choice &choice = kernel->choices[i];
    int rank = rankOf(choice, text, capability);
    if (rank > least || !canRun(*kernel, choice.configuration, capability))
      continue;
    if (rank < least)
      counting.clear();
    least = rank;
    counting.push_back(&choice);
  }
  if (counting.empty()) // the first variant's load says what is wrong
    counting.push_back(&kernel->choices[0]);
  std::lock_guard<std::mutex> lock(state.mutex);
  if ((out = state.choices.find(key.words, key.size, hash)))
    return {};
  out = state.choices.insert(key.words, key.size, hash, std::move(counting));
  return {};
}

Failure ahead::chooseConfiguration(tile_rt_kernel *kernel, const Driver &driver,
                                   unsigned long long context, const tile_value *values,
                                   const uint64_t *words, uint32_t &out) {
  Key selector;
  selector.add(context);
  if (!addTuningWords(parametersOf(*kernel), kernel->num_arguments, words, values,
                      kernel->selecting, kernel->num_selecting, selector))
    return {TILE_INVALID_ARGUMENT, std::string("what selects a configuration of `") + kernel->name +
                                       "` takes more than is possible"};
  State &state = stateOf(kernel);
  uint64_t hash = selector.hash();
  if (const uint32_t *known = state.chosen.find(selector.words, selector.size, hash)) {
    out = *known;
    return {};
  }
  const std::vector<const tile_rt_choice *> *choices = nullptr;
  if (Failure failure = choicesOn(kernel, driver, context, choices))
    return failure;
  const tile_rt_choice *nearest = nullptr;
  Distance least;
  for (const tile_rt_choice *choice : *choices)
    if (Distance distance = distanceOf(*kernel, *choice, values); !nearest || distance < least) {
      nearest = choice;
      least = distance;
    }
  out = nearest->configuration;
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.chosen.size() < kMostKept && !state.chosen.find(selector.words, selector.size, hash))
    state.chosen.insert(selector.words, selector.size, hash, out);
  return {};
}

Failure ahead::canBeChosen(tile_rt_kernel *kernel, const Driver &driver, unsigned long long context,
                           uint64_t number, bool &out) {
  const std::vector<const tile_rt_choice *> *choices = nullptr;
  if (Failure failure = choicesOn(kernel, driver, context, choices))
    return failure;
  out = std::any_of(choices->begin(), choices->end(), [&](const tile_rt_choice *choice) {
    return kernel->configurations[choice->configuration].number == number;
  });
  return {};
}
