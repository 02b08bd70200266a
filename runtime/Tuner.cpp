//===- Tuner.cpp ----------------------------------------------------------===//
#include "runtime/Tuner.h"
#include "compiler/ParseJson.h"
#include "text/Format.h"
#include "text/PlainNumbers.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include <chrono>
#include <cmath>

using namespace tile;
using namespace tile::runtime;
namespace json = llvm::json;

/// Ranked configurations are tried so many at a time, until so many times nothing was gained or
/// so many seconds have gone by.
static constexpr size_t kTogether = 4;
static constexpr unsigned kPatience = 2;
static constexpr double kSeconds = 10;
/// A gain that is none: times vary by as much.
static constexpr double kGain = 0.99;
static constexpr llvm::StringLiteral kNotTimed = "not timed: ";

std::string TuneConfig::str() const {
  std::string text;
  for (const auto &[name, value] : constexprs)
    text += formatted("{}: {}, ", name, value);
  text += formatted("num_warps: {}, num_stages: {}", numWarps, numStages);
  if (maxRegisters)
    text += formatted(", maxnreg: {}", maxRegisters);
  if (numCtas > 1)
    text += formatted(", num_ctas: {}", numCtas);
  if (warpRoles != WarpRoles::Auto)
    text += formatted(", warp_roles: {}", nameOf(warpRoles));
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

std::string runtime::identityOf(llvm::StringRef source,
                                llvm::ArrayRef<frontend::Dependency> imports) {
  KeyBuilder builder("launches");
  builder.add(source);
  const std::string absent = frontend::currentState("");
  for (const frontend::Dependency &file : imports)
    if (file.state != absent) // elsewhere other folders are looked into
      builder.add(llvm::sys::path::filename(file.path)).add(file.state);
  return builder.finish();
}

std::string Tuner::keyOf(const TuneProblem &problem) const {
  return KeyBuilder("tune")
      .add(compilerVersion())
      .add(machine)
      .add(problem.kernel)
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

std::optional<TuneResult> runtime::resultOf(const TuneProblem &problem, const json::Object &times,
                                            bool timesAll) {
  TuneResult result;
  for (const TuneConfig &config : problem.configs) {
    TuneCandidate &candidate = result.candidates.emplace_back();
    if (auto milliseconds = times.getNumber(config.str()))
      candidate.milliseconds = *milliseconds;
    else if (auto failure = times.getString(config.str()))
      candidate.failure = failure->str();
    else
      return std::nullopt;
    if (timesAll && llvm::StringRef(candidate.failure).starts_with(kNotTimed))
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
  return times ? resultOf(problem, *times, isExhaustive) : std::nullopt;
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
  PlainNumbers plain;
  CacheEntry entry;
  entry.sections["record"] = llvm::formatv("{0:2}", json::Value(std::move(object))).str();
  cache.store(key, entry);
}

//===----------------------------------------------------------------------===//
// The race
//===----------------------------------------------------------------------===//

std::string TuneResult::reason() const {
  const TuneCandidate &winner = candidates[best];
  auto timed = llvm::count_if(candidates, [](auto &c) { return c.milliseconds > 0; });
  if (named)
    return "on record";
  if (!timed)
    return ranked ? formatted("the first of {} by the cost model, about {:.4f} ms; not timed",
                              candidates.size(), winner.estimate)
                  : "the first that works, not timed";
  if (!measured)
    return formatted("{:.4f} ms, on record", winner.milliseconds);
  std::string text = formatted("{:.4f} ms, the fastest of {}", winner.milliseconds, timed);
  if (size_t(timed) < candidates.size())
    text += formatted(", {} in all", candidates.size());
  const TuneCandidate *first = nullptr;
  for (const TuneCandidate &c : candidates)
    if (c.milliseconds > 0 && c.estimate > 0 && (!first || c.estimate < first->estimate))
      first = &c;
  if (first)
    text += formatted("; the cost model's first takes {:.4f} ms", first->milliseconds);
  return text;
}

/// Estimates are kept on disk: a process that is not to compile, or to start soon, goes by them.
void Tuner::estimateAll(const TuneProblem &problem, Estimate estimate, TuneResult &result) {
  KeyBuilder builder("estimates");
  builder.add(keyOf(problem));
  for (const TuneConfig &config : problem.configs)
    builder.add(config.str());
  std::string key = builder.finish();
  if (auto entry = cache.lookup(key)) {
    llvm::SmallVector<llvm::StringRef> numbers;
    llvm::StringRef(entry->sections["estimates"]).split(numbers, '\n', -1, /*KeepEmpty=*/false);
    if (numbers.size() == result.candidates.size() &&
        llvm::none_of(llvm::zip(numbers, result.candidates), [](auto pair) {
          auto &[number, candidate] = pair;
          return number.getAsDouble(candidate.estimate);
        }))
      return;
  }
  {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
    for (unsigned i = 0; i < problem.configs.size(); ++i)
      pool.async([&, i] { result.candidates[i].estimate = estimate(i).value_or(0); });
    pool.wait();
  }
  CacheEntry entry;
  for (const TuneCandidate &candidate : result.candidates)
    entry.sections["estimates"] += formatted("{:.6e}\n", candidate.estimate);
  if (llvm::any_of(result.candidates, [](auto &candidate) { return candidate.estimate > 0; }))
    cache.store(key, entry);
}

std::vector<unsigned> Tuner::rank(const TuneProblem &problem, Estimate estimate,
                                  TuneResult &result) {
  std::vector<unsigned> order(problem.configs.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  if (!estimate)
    return order;
  estimateAll(problem, estimate, result);
  // Those that nothing is known of come last.
  auto cost = [&](unsigned i) {
    double known = result.candidates[i].estimate;
    return known > 0 ? known : HUGE_VAL;
  };
  result.ranked = llvm::any_of(order, [&](unsigned i) { return cost(i) < HUGE_VAL; });
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_pair(cost(a), a) < std::make_pair(cost(b), b);
  });
  return order;
}

void Tuner::prepareAll(llvm::ArrayRef<unsigned> which, Prepare prepare, TuneResult &result) const {
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
  for (unsigned i : which)
    pool.async([&, i] {
      if (llvm::Error error = prepare(i))
        result.candidates[i].failure = takeError(std::move(error)).message;
    });
  pool.wait();
}

llvm::Error Tuner::timeAll(llvm::ArrayRef<unsigned> which, const TuneProblem &problem,
                           Measure measure, TuneResult &result) const {
  for (unsigned i : which) {
    TuneCandidate &candidate = result.candidates[i];
    if (!candidate.failure.empty())
      continue;
    auto milliseconds = measure(i);
    if (!milliseconds)
      return addContext(milliseconds.takeError(),
                        formatted("tuning `{}` with {}", problem.kernel, problem.configs[i]));
    if (std::isfinite(*milliseconds))
      candidate.milliseconds = *milliseconds;
    else
      candidate.failure = "it could not be timed";
  }
  return llvm::Error::success();
}

llvm::Expected<TuneResult> Tuner::race(const TuneProblem &problem, Prepare prepare, Measure measure,
                                       Estimate estimate) {
  TuneResult result;
  result.measured = true;
  result.candidates.resize(problem.configs.size());
  std::vector<unsigned> order = rank(problem, estimate, result);
  size_t together = result.ranked && !isExhaustive ? kTogether : order.size();
  auto start = std::chrono::steady_clock::now();
  double least = HUGE_VAL;
  unsigned idle = 0; // times that brought nothing
  for (llvm::ArrayRef<unsigned> left = order; !left.empty();) {
    std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
    bool isLate = gone.count() > kSeconds;
    if (together < order.size() && least < HUGE_VAL && (idle >= kPatience || isLate)) {
      for (unsigned i : left)
        result.candidates[i].failure =
            (kNotTimed + (isLate ? "others took the time" : "the cost model ranks it lower")).str();
      break;
    }
    llvm::ArrayRef<unsigned> now = left.take_front(together);
    left = left.drop_front(now.size());
    prepareAll(now, prepare, result);
    if (llvm::Error error = timeAll(now, problem, measure, result))
      return std::move(error);
    double before = least;
    for (unsigned i : now)
      if (result.candidates[i].failure.empty())
        least = std::min(least, result.candidates[i].milliseconds);
    idle = least < before * kGain ? 0 : idle + 1;
  }

  if (std::optional<unsigned> best = fastest(result.candidates)) {
    result.best = *best;
    return result;
  }
  std::string message = formatted("none of the {} configurations of `{}` works",
                                  problem.configs.size(), problem.kernel);
  for (auto [config, candidate] : llvm::zip(problem.configs, result.candidates))
    message += formatted("\n  {}: {}", config, candidate.failure);
  return makeError(ErrorCode::Resources, message);
}

llvm::Expected<TuneResult> Tuner::tune(const TuneProblem &problem, Prepare prepare, Measure measure,
                                       Estimate estimate) {
  if (problem.configs.empty())
    return makeError(ErrorCode::InvalidArgument,
                     formatted("`{}` has no configurations to choose from", problem.kernel));
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
  auto result = isTimeless ? firstThatWorks(problem, prepare, estimate)
                           : race(problem, prepare, measure, estimate);
  if (!result)
    return result;
  if (!isTimeless)
    record(problem, key, *result);
  TuneResult &stored = known[memoryKey] = *result;
  stored.measured = false; // as later callers see it
  return result;
}
