//===- FunctionTuner.cpp --------------------------------------------------===//
#include "runtime/FunctionTuner.h"
#include "runtime/Rehearsal.h"
#include "text/Format.h"
#include <cmath>
#include <mutex>

using namespace tile;
using namespace tile::runtime;

/// A kernel of a call, and the cuts that it may have.
struct FunctionTuner::Kernel {
  TensorProgram &whole;
  unsigned number;
  std::vector<TensorCut> cuts;
  TuneProblem problem;
};

namespace {
/// One way to compute what the kernel does: it alone, or one that multiplies parts and one that
/// adds them up.
struct Alternative {
  TensorProgram *program = nullptr;
  std::vector<TensorLaunch> launches;
  std::string failure;
};
} // namespace

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static TuneConfig toConfig(const TensorCut &cut) {
  TuneConfig config;
  auto add = [&](const char *name, int64_t value) {
    config.constexprs.emplace_back(name, std::to_string(value));
  };
  add("rows", cut.rows);
  if (cut.columns)
    add("columns", cut.columns);
  if (cut.inner)
    add("inner", cut.inner);
  if (cut.parts != 1)
    add("parts", cut.parts);
  config.numWarps = cut.warps;
  config.numStages = cut.stages;
  return config;
}

/// What of the arrays times depend on: where strides are no multiples of 16 or addresses none, an
/// access is narrower.
static std::string textOfArrays(const TensorProgram &program, const TensorKernel &kernel,
                                llvm::ArrayRef<TensorPlace> places) {
  std::string text;
  for (auto [i, buffer] : llvm::enumerate(kernel.buffers)) {
    const TensorPlace &place = places[buffer];
    std::string strides;
    for (int64_t stride : place.strides)
      strides += formatted(" {}", stride == 1 ? "1" : stride % 16 == 0 ? "16" : "other");
    if (!strides.empty())
      text += formatted("; array {} strides{}", i, strides);
    if (place.address % 16)
      text += formatted("; array {} not aligned", i);
  }
  return text;
}

static TuneProblem problemOf(const TuningCall &call, TensorProgram &whole, unsigned number,
                             llvm::ArrayRef<TensorCut> cuts, llvm::ArrayRef<TensorPlace> places) {
  TuneProblem problem;
  const TensorKernel &kernel = whole.kernels[number];
  problem.kernel = kernel.name;
  problem.identity = identityOf(whole.textOfKernel(number), {});
  problem.key = formatted("{}{}; {}", textOfClass(call.sizes), textOfArrays(whole, kernel, places),
                          call.target.name);
  for (const TensorCut &cut : cuts)
    problem.configs.push_back(toConfig(cut));
  return problem;
}

std::string FunctionTuner::reasonOf(const TuneResult &result) {
  std::string text = result.reason();
  if (double own = result.candidates.front().milliseconds; result.best != 0 && own > 0)
    text += formatted("; the compiler's own choice takes {:.4f} ms", own);
  return text;
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

static Alternative makeAlternative(const TuningCall &call, TensorProgram &whole, unsigned number,
                                   const TensorCut &cut, const Rehearsal &rehearsal) {
  Alternative out;
  std::vector<std::optional<TensorCut>> cuts(whole.kernels.size());
  cuts[number] = cut;
  CutProgram form = inCuts(whole, cuts);
  out.program = form.program;
  std::vector<TensorPlace> places = rehearsal.places();
  places.resize(form.program->buffers.size());
  for (unsigned i = number; i < number + whole.kernelsIn(number, cut.parts); ++i) {
    auto launch = form.launch(i, rehearsal.sizes(), places, call.target);
    if (!launch) {
      out.failure = llvm::toString(launch.takeError());
      return out;
    }
    out.launches.push_back(std::move(*launch));
  }
  return out;
}

struct FunctionTuner::Race {
  const TuningCall &call;
  Rehearsal &rehearsal;
  const Kernel &kernel;
  std::vector<Alternative> alternatives = {}; ///< by cut
  std::once_flag areMade = {};                ///< not for what is on record

  void makeAll() {
    for (const TensorCut &cut : kernel.cuts)
      alternatives.push_back(makeAlternative(call, kernel.whole, kernel.number, cut, rehearsal));
  }
  llvm::Error prepare(unsigned i);
  llvm::Expected<double> measure(unsigned i);
};

llvm::Error FunctionTuner::Race::prepare(unsigned i) {
  std::call_once(areMade, [&] { makeAll(); });
  if (!alternatives[i].failure.empty())
    return makeError(ErrorCode::InvalidArgument, alternatives[i].failure);
  for (const TensorLaunch &launch : alternatives[i].launches)
    if (llvm::Error error = rehearsal.machine()->prepare(launch))
      return error;
  return llvm::Error::success();
}

llvm::Expected<double> FunctionTuner::Race::measure(unsigned i) {
  if (llvm::Error error = rehearsal.reach(kernel.number))
    return std::move(error);
  const Alternative &alternative = alternatives[i];
  auto places = rehearsal.placesOf(*alternative.program, kernel.number);
  if (!places) { // others may need less
    llvm::consumeError(places.takeError());
    return HUGE_VAL;
  }
  TuningMachine &machine = *rehearsal.machine();
  return machine.time([&]() -> llvm::Error {
    for (const TensorLaunch &launch : alternative.launches)
      if (launch.grid[0] != 0)
        if (llvm::Error error = machine.launch(*alternative.program, launch, *places))
          return error;
    return llvm::Error::success();
  });
}

/// The model's for the call's own sizes.
static TensorCut modelsCut(const TuningCall &call, TensorProgram &whole, unsigned kernel,
                           const Rehearsal &rehearsal, const TensorCut &ofClass) {
  std::vector<TensorCut> own = whole.cutsFor(kernel, rehearsal.sizes(), call.target);
  return own.empty() ? ofClass : own.front();
}

llvm::Expected<TensorCut> FunctionTuner::choose(Kernel &kernel, const TuningCall &call,
                                                Rehearsal &rehearsal) {
  std::string name =
      formatted("{}\n{}\n{}", kernel.problem.kernel, kernel.problem.identity, kernel.problem.key);
  if (auto found = known.find(name); found != known.end())
    return found->second;
  auto own = [&] {
    return modelsCut(call, kernel.whole, kernel.number, rehearsal, kernel.cuts.front());
  };
  if (!rehearsal.machine())
    return own();
  Race race{call, rehearsal, kernel};
  auto result = tuner.tune(
      kernel.problem, [&](unsigned i) { return race.prepare(i); },
      [&](unsigned i) { return race.measure(i); });
  if (!result)
    return result.takeError();
  if (onChoice)
    onChoice(kernel.problem, *result);
  bool isKnown = result->named || result->candidates[result->best].milliseconds > 0;
  return isKnown ? known[name] = kernel.cuts[result->best] : own();
}

/// The sizes that cuts are chosen by: the largest of their class, where the function takes these
/// and is made of the same kernels for them.
static graph::Bindings sizesToChooseBy(TensorProgram &program, TensorProgram &whole,
                                       const graph::Bindings &sizes, const Target &target) {
  graph::Bindings out = classOfSizes(sizes);
  if (!program.unmetRequirement(out).empty() || &program.wholeForSizes(out, target) != &whole)
    out = sizes;
  whole.chooseParts(out, target);
  return out;
}

llvm::Expected<CutProgram> FunctionTuner::chooseAll(const TuningCall &call, TensorProgram &whole,
                                                    TuningMachine *machine) {
  graph::Bindings sizes = sizesToChooseBy(call.program, whole, call.sizes, call.target);
  Rehearsal rehearsal(call, whole, machine);
  std::vector<std::optional<TensorCut>> cuts(whole.kernels.size());
  for (auto [number, cut] : llvm::enumerate(cuts)) {
    std::vector<TensorCut> all = whole.cutsFor(number, sizes, call.target);
    if (all.empty())
      continue;
    Kernel kernel{whole, unsigned(number), all,
                  problemOf(call, whole, number, all, rehearsal.places())};
    auto chosen = choose(kernel, call, rehearsal);
    if (!chosen && rehearsal.lacksMemory()) {
      llvm::consumeError(chosen.takeError());
      if (llvm::Error error = rehearsal.finish())
        return std::move(error);
      return CutProgram{&call.program.forSizes(call.sizes, call.target), {}};
    }
    if (!chosen)
      return chosen.takeError();
    cut = *chosen;
  }
  if (llvm::Error error = rehearsal.finish())
    return std::move(error);
  return inCuts(whole, cuts);
}

/// Calls that are remembered.
static constexpr size_t kMostCalls = 1024;

static std::vector<int64_t> wordsOf(const TuningCall &call, const TensorProgram &whole) {
  std::vector<int64_t> words = {int64_t(reinterpret_cast<uintptr_t>(&whole)),
                                int64_t(reinterpret_cast<uintptr_t>(&call.target))};
  for (auto &[name, size] : call.sizes)
    words.push_back(size);
  for (const TensorPlace &place : call.parameters) {
    words.push_back(int64_t(place.address % 16));
    words.push_back(int64_t(place.strides.size()));
    llvm::append_range(words, place.strides);
  }
  return words;
}

llvm::Expected<CutProgram> FunctionTuner::fastest(const TuningCall &call, TuningMachine *machine) {
  TensorProgram &whole = call.program.wholeForSizes(call.sizes, call.target);
  std::vector<int64_t> words = wordsOf(call, whole);
  if (auto found = calls.find(words); found != calls.end())
    return found->second;
  auto chosen = chooseAll(call, whole, machine);
  if (!chosen || !machine) // without one nothing may have been measured yet
    return chosen;
  if (calls.size() >= kMostCalls)
    calls.clear();
  return calls[std::move(words)] = std::move(*chosen);
}

TensorProgram &FunctionTuner::largest(TensorProgram &program, const graph::Bindings &sizes,
                                      const Target &target) {
  TensorProgram &whole = program.wholeForSizes(sizes, target);
  graph::Bindings chosenBy = sizesToChooseBy(program, whole, sizes, target);
  std::vector<int64_t> parts(whole.kernels.size(), 1);
  for (auto [number, most] : llvm::enumerate(parts))
    for (const TensorCut &cut : whole.cutsFor(number, chosenBy, target))
      most = cut.parts == kScattered ? kScattered : std::max(most, cut.parts);
  return whole.withParts(parts);
}
