//===- FunctionPlan.cpp - which kernels serve the sizes of a call -----------===//
//
// Samples were asked of the compiler when the function was built; the nearest one, by the ratios of
// sizes, whose kernels are right for the call's sizes serves it. What was found is kept by context
// and sizes, up to a bound.
//
//===----------------------------------------------------------------------===//
#include "runtime/ahead/Function.h"
#include "runtime/ahead/MadeOnce.h"
#include <algorithm>

using namespace tile;
using namespace tile::ahead;
using namespace tile::dispatch;

/// Sizes whose sample is kept, of one function.
static constexpr size_t kMostKept = 16384;
/// What lies between kernels is aligned to so many bytes.
static constexpr int64_t kAlignment = 256;

FunctionState &ahead::stateOf(tile_rt_function *function) {
  return madeOnce<FunctionState>(function->state);
}

/// The plan for the device of the context with this id.
static Failure planOn(tile_rt_function *function, const Driver &driver, uint64_t context,
                      const tile_rt_plan *&out) {
  FunctionState &state = stateOf(function);
  Key key;
  key.add(context);
  uint64_t hash = key.hash();
  if (const tile_rt_plan **known = state.plans.find(key.words, key.size, hash)) {
    out = *known;
    return {};
  }
  Device device = 0;
  int capability = 0;
  if (Failure failure = capabilityOf(driver, device, capability))
    return failure;
  out = ahead::choosePlan(*function, capability);
  if (!out)
    return notForDevice(function->name, capability);
  std::lock_guard<std::mutex> lock(state.mutex);
  if (!state.plans.find(key.words, key.size, hash))
    state.plans.insert(key.words, key.size, hash, out);
  return {};
}

/// The product of all sizes' ratios.
static double distanceOf(const FunctionCall &call, const tile_rt_sample &sample) {
  double distance = 1;
  for (uint32_t i = 0; i < call.function->num_sizes; ++i) {
    double a = double(sample.sizes[i]) + 1, b = double(call.sizes[i].as.integer) + 1;
    distance *= std::max(a, b) / std::min(a, b);
  }
  return distance;
}

bool ahead::writesNothing(const FunctionCall &call, const tile_rt_stage &stage) {
  return std::all_of(stage.written, stage.written + stage.num_written, [&](uint32_t buffer) {
    int64_t bytes = 0;
    return call.evaluate(call.form->buffers[buffer].bytes, &bytes) && bytes == 0;
  });
}

/// Makes the sample that of the call; false if a kernel of its form is not right for the sizes.
static bool take(FunctionCall &call, const tile_rt_plan &plan, const tile_rt_sample &sample) {
  call.sample = &sample;
  call.form = &plan.forms[sample.form];
  uint32_t known = call.function->num_sizes;
  for (uint32_t i = 0; i < call.form->num_chosen; ++i)
    call.sizes[known + i] = tile_int(sample.sizes[known + i]);
  for (uint32_t i = 0; i < call.form->num_stages; ++i) {
    const tile_rt_stage &stage = call.form->stages[i];
    // What counts on least is right wherever the others are.
    const tile_rt_stage_code &code = stage.codes[sample.codes[3 * i + 2]];
    int64_t holds = 0;
    if ((!call.evaluate(code.holds, &holds) || !holds) && !writesNothing(call, stage))
      return false;
  }
  return true;
}

static Failure notBuilt(const FunctionCall &call) {
  std::string sizes;
  for (uint32_t i = 0; i < call.function->num_sizes; ++i)
    sizes += std::string(i ? ", " : "") + call.function->sizes[i].name + " = " +
             std::to_string(call.sizes[i].as.integer);
  return {TILE_NO_COMPILE,
          std::string("`") + call.function->name + "` was not built for " + sizes +
              ": give `tilec build` sizes like these (--argument NAME=LEAST..MOST)"};
}

Failure ahead::chooseSample(tile_rt_function *function, const Driver &driver,
                            unsigned long long context, FunctionCall &call) {
  const tile_rt_plan *plan = nullptr;
  if (Failure failure = planOn(function, driver, context, plan))
    return failure;
  FunctionState &state = stateOf(function);
  Key key;
  key.add(context);
  for (uint32_t i = 0; i < function->num_sizes; ++i)
    key.add(call.sizes[i].as.bits);
  uint64_t hash = key.hash();
  if (const tile_rt_sample **known = state.nearest.find(key.words, key.size, hash)) {
    take(call, *plan, **known);
    return {};
  }
  std::vector<std::pair<double, uint32_t>> order;
  for (uint32_t i = 0; i < plan->num_samples; ++i)
    order.push_back({distanceOf(call, plan->samples[i]), i});
  std::sort(order.begin(), order.end());
  auto found = std::find_if(order.begin(), order.end(), [&](const auto &one) {
    return take(call, *plan, plan->samples[one.second]);
  });
  if (found == order.end())
    return notBuilt(call);
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.nearest.size() < kMostKept && !state.nearest.find(key.words, key.size, hash))
    state.nearest.insert(key.words, key.size, hash, call.sample);
  return {};
}

//===----------------------------------------------------------------------===//
// The workspace
//===----------------------------------------------------------------------===//

/// As compiler/functions/Workspace.cpp: large ones first, each at the lowest place that none has
/// that is needed at the same time.
Failure ahead::planWorkspace(const FunctionCall &call, std::vector<int64_t> &bytes,
                             std::vector<int64_t> &offsets, int64_t &total) {
  const tile_rt_form &form = *call.form;
  const Failure tooLarge = {TILE_INVALID_ARGUMENT, "the workspace is too large"};
  bytes.assign(form.num_buffers, 0);
  offsets.assign(form.num_buffers, 0);
  total = 0;
  std::vector<uint32_t> order, placed;
  for (uint32_t i = 0; i < form.num_buffers; ++i) {
    const tile_rt_buffer &buffer = form.buffers[i];
    if (!call.evaluate(buffer.bytes, &bytes[i]) || bytes[i] < 0 ||
        bytes[i] > INT64_MAX / 4 - kAlignment)
      return tooLarge;
    if (buffer.kind == TILE_RT_BETWEEN && buffer.memory == i && buffer.first <= buffer.last)
      order.push_back(i);
  }
  auto room = [&](uint32_t i) { return (bytes[i] + kAlignment - 1) / kAlignment * kAlignment; };
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return room(a) != room(b) ? room(a) > room(b) : a < b; });
  for (uint32_t i : order) {
    int64_t begin = 0;
    for (uint32_t k : placed) { // upwards
      bool meets = form.buffers[k].first <= form.buffers[i].last &&
                   form.buffers[i].first <= form.buffers[k].last;
      if (meets && offsets[k] < begin + room(i) && begin < offsets[k] + room(k))
        begin = offsets[k] + room(k);
    }
    offsets[i] = begin;
    if (begin > INT64_MAX / 2)
      return tooLarge;
    total = std::max(total, begin + room(i));
    auto isBelow = [&](uint32_t a, uint32_t b) { return offsets[a] < offsets[b]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i, isBelow), i);
  }
  return {};
}
