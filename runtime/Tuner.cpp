//===- Tuner.cpp ----------------------------------------------------------===//
#include "runtime/Tuner.h"
#include "compiler/ParseJson.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ThreadPool.h"
#include <cmath>

using namespace tile;
using namespace tile::runtime;
namespace json = llvm::json;

std::string TuneConfig::str() const {
  std::string text;
  for (const auto &[name, value] : constexprs)
    text += name + ": " + value + ", ";
  text += llvm::formatv("num_warps: {0}, num_stages: {1}", numWarps, numStages);
  if (maxRegisters)
    text += llvm::formatv(", maxnreg: {0}", maxRegisters);
  if (numCtas > 1)
    text += llvm::formatv(", num_ctas: {0}", numCtas);
  if (warpRoles != WarpRoles::Auto)
    text += llvm::formatv(", warp_roles: {0}", nameOf(warpRoles));
  return text;
}

void TuneConfig::applyTo(CompileOptions &options) const {
  for (const auto &[name, value] : constexprs) {
    auto existing =
        llvm::find_if(options.constexprs, [&](const auto &entry) { return entry.first == name; });
    if (existing == options.constexprs.end())
      options.constexprs.push_back({name, value});
    else
      existing->second = value;
  }
  options.numWarps = numWarps;
  options.numStages = numStages;
  options.numCtas = numCtas;
  options.warpRoles = warpRoles;
  if (maxRegisters)
    options.maxRegisters = maxRegisters;
}

std::string Tuner::keyOf(const TuneProblem &problem) const {
  return KeyBuilder("tune")
      .add(compilerVersion())
      .add(machine)
      .add(problem.identity)
      .add(problem.key)
      .finish();
}

/// The first of the fastest; nothing if none was timed.
static std::optional<unsigned> fastest(llvm::ArrayRef<TuneCandidate> candidates) {
  std::optional<unsigned> best;
  for (auto [i, candidate] : llvm::enumerate(candidates))
    if (candidate.failure.empty() &&
        (!best || candidate.milliseconds < candidates[*best].milliseconds))
      best = i;
  return best;
}

//===----------------------------------------------------------------------===//
// The record: {"kernel", "key", "machine", "times": {config: ms or "failure"}}
//===----------------------------------------------------------------------===//

std::optional<TuneResult> runtime::resultOf(const TuneProblem &problem, const json::Object &times) {
  TuneResult result;
  for (const TuneConfig &config : problem.configs) {
    TuneCandidate &candidate = result.candidates.emplace_back();
    if (auto milliseconds = times.getNumber(config.str()))
      candidate.milliseconds = *milliseconds;
    else if (auto failure = times.getString(config.str()))
      candidate.failure = failure->str();
    else
      return std::nullopt;
  }
  std::optional<unsigned> best = fastest(result.candidates);
  if (!best)
    return std::nullopt;
  result.best = *best;
  return result;
}

std::optional<TuneResult> Tuner::onRecord(const TuneProblem &problem, const std::string &key) {
  if (std::optional<TuneResult> result = fromFile(problem))
    return result;
  auto entry = cache.lookup(key);
  if (!entry)
    return std::nullopt;
  auto parsed = parseJson(entry->sections["record"]);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return std::nullopt;
  }
  const json::Object *object = parsed->getAsObject();
  const json::Object *times = object ? object->getObject("times") : nullptr;
  return times ? resultOf(problem, *times) : std::nullopt;
}

json::Object runtime::timesOf(const TuneProblem &problem, const TuneResult &result) {
  json::Object times;
  for (auto [config, candidate] : llvm::zip(problem.configs, result.candidates)) {
    if (candidate.failure.empty())
      times[config.str()] = candidate.milliseconds;
    else
      times[config.str()] = candidate.failure;
  }
  return times;
}

void Tuner::record(const TuneProblem &problem, const std::string &key, const TuneResult &result) {
  writeFile(problem, result);
  json::Object object{{"kernel", problem.kernel},
                      {"key", problem.key},
                      {"machine", machine},
                      {"times", timesOf(problem, result)}};
  CacheEntry entry;
  entry.sections["record"] = llvm::formatv("{0:2}", json::Value(std::move(object))).str();
  cache.store(key, entry);
}

//===----------------------------------------------------------------------===//
// The race
//===----------------------------------------------------------------------===//

llvm::Expected<TuneResult> Tuner::race(const TuneProblem &problem, Prepare prepare,
                                       Measure measure) {
  TuneResult result;
  result.measured = true;
  result.candidates.resize(problem.configs.size());
  {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
    for (unsigned i = 0; i < problem.configs.size(); ++i)
      pool.async([&, i] {
        if (llvm::Error error = prepare(i))
          result.candidates[i].failure = takeError(std::move(error)).message;
      });
    pool.wait();
  }
  for (auto [i, candidate] : llvm::enumerate(result.candidates)) {
    if (!candidate.failure.empty())
      continue;
    auto milliseconds = measure(i);
    if (!milliseconds)
      return addContext(milliseconds.takeError(),
                        "tuning `" + problem.kernel + "` with " + problem.configs[i].str());
    if (std::isfinite(*milliseconds))
      candidate.milliseconds = *milliseconds;
    else
      candidate.failure = "it could not be timed";
  }

  std::optional<unsigned> best = fastest(result.candidates);
  if (!best) {
    std::string message = llvm::formatv("none of the {0} configurations of `{1}` works",
                                        problem.configs.size(), problem.kernel);
    for (auto [config, candidate] : llvm::zip(problem.configs, result.candidates))
      message += "\n  " + config.str() + ": " + candidate.failure;
    return makeError(ErrorCode::Resources, message);
  }
  result.best = *best;
  return result;
}

llvm::Expected<TuneResult> Tuner::tune(const TuneProblem &problem, Prepare prepare,
                                       Measure measure) {
  if (problem.configs.empty())
    return makeError(ErrorCode::InvalidArgument,
                     "`" + problem.kernel + "` has no configurations to choose from");
  std::string key = keyOf(problem);
  // In memory a decision counts for one list of configurations.
  KeyBuilder listed("configs");
  listed.add(key);
  for (const TuneConfig &config : problem.configs)
    listed.add(config.str());
  std::string memoryKey = listed.finish();

  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = known.find(memoryKey); found != known.end())
    return found->second;
  if (std::optional<TuneResult> kept = onRecord(problem, key)) {
    known[memoryKey] = *kept;
    return *kept;
  }
  auto result = isTimeless ? firstThatWorks(problem, prepare) : race(problem, prepare, measure);
  if (!result)
    return result;
  if (!isTimeless)
    record(problem, key, *result);
  TuneResult &stored = known[memoryKey] = *result;
  stored.measured = false; // as later callers see it
  return result;
}
