//===- BuildTuning.cpp - which configurations are built, and for what -----===//
//
// A choice says which configuration serves launches like one: what a record of a tuning file says,
// or the cost model for values that arguments can have. Configurations that nothing chooses are
// not built, and for a target only those that launches there can take (runtime/ahead/Choose.cpp
// has the rule).
//
//===----------------------------------------------------------------------===//
#include "tools/tilec/BuildTuning.h"
#include "frontend/Counted.h"
#include "runtime/Error.h"
#include "runtime/jit/Records.h"
#include "target/Target.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace tilec;
using namespace tile;
using namespace tile::runtime;
using Ranges = llvm::ArrayRef<tile_argument_range>;
using dispatch::Parameter;

/// The cost model is asked about so many launches of a target at the most.
static constexpr size_t kMostLaunches = 64;
/// A number that may be any, and selects nothing.
static constexpr int64_t kUsualNumber = 4096;

namespace {
class Chooser {
public:
  Chooser(jit::Jit &kernel, Ranges ranges, llvm::ArrayRef<std::string> targets,
          const BuildTuning &tuning, BuiltKernel &out)
      : kernel(kernel), file(kernel.file()), ranges(ranges), targets(targets), tuning(tuning),
        out(out) {}
  llvm::Error run();

private:
  llvm::Error fromRecords();
  llvm::Error fromModel();
  llvm::Error ask(llvm::ArrayRef<tile_value> values);
  bool isSelecting(unsigned argument) const;
  std::vector<std::vector<tile_value>> launchedValues() const;
  unsigned add(unsigned number);
  void setTargets();
  void print() const;

  jit::Jit &kernel;
  const jit::JitFile &file;
  Ranges ranges;
  llvm::ArrayRef<std::string> targets;
  const BuildTuning &tuning;
  BuiltKernel &out;
  std::vector<std::string> told; ///< a line a choice
};
} // namespace

/// The index of a configuration of the file's list among those that are built.
unsigned Chooser::add(unsigned number) {
  for (auto [i, known] : llvm::enumerate(out.configurations))
    if (known.number == number)
      return unsigned(i);
  out.configurations.push_back({number, {}});
  return unsigned(out.configurations.size() - 1);
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

llvm::Error Chooser::fromRecords() {
  auto records = jit::readRecords(file, tuning.file);
  if (!records)
    return records.takeError();
  for (const std::string &warning : records->warnings)
    llvm::errs() << formatted("tilec build: warning: {}\n", warning);
  if (records->launches.empty()) {
    if (tuning.how == "model")
      return llvm::Error::success();
    std::string why = records->numOfOtherSources
                          ? formatted("{} of it {} of another version of its source",
                                      counted(records->numOfOtherSources, "record"),
                                      records->numOfOtherSources == 1 ? "is" : "are")
                          : "it has none";
    return makeError(
        ErrorCode::InvalidArgument,
        formatted("`{}` has no record of `{}`: {}; `--tuning model` has the cost model choose",
                  tuning.file, file.kernel(), why));
  }
  std::set<unsigned> selecting;
  for (const jit::TunedLaunch &launch : records->launches)
    for (const auto &[argument, value] : launch.values)
      selecting.insert(argument);
  out.selecting.assign(selecting.begin(), selecting.end());
  for (const jit::TunedLaunch &launch : records->launches) {
    BuiltChoice choice;
    choice.device = launch.device;
    if (const Target *target = findTarget(launch.target))
      choice.capability = target->capability;
    choice.configuration = add(launch.configuration);
    for (unsigned argument : out.selecting) {
      auto is = [&](auto &entry) { return entry.first == argument; };
      auto found = llvm::find_if(launch.values, is);
      choice.values.push_back(found == launch.values.end() ? tile_none() : found->second);
    }
    told.push_back(formatted("{}({}) on {}", file.kernel(), launch.key, launch.device));
    out.choices.push_back(std::move(choice));
  }
  // Texts of values stay as long as the kernel.
  for (std::unique_ptr<std::string> &text : records->texts)
    out.texts.push_back(std::move(text));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The cost model
//===----------------------------------------------------------------------===//

bool Chooser::isSelecting(unsigned argument) const {
  return llvm::is_contained(file.key, argument);
}

/// Numbers of a range, each about `factor` times the one before.
static void addNumbers(const tile_argument_range &range, int64_t factor,
                       std::vector<tile_value> &out) {
  int64_t step = int64_t(std::max<uint64_t>(range.step, 1));
  int64_t least = range.least.as.integer, most = range.most.as.integer;
  most = least + (most - least) / step * step;
  // Of a type's whole range, what sizes are.
  if (most > INT32_MAX / 2)
    most = std::max(least, int64_t(1) << 24);
  for (int64_t number = std::max<int64_t>(least, std::min<int64_t>(step, most)); number < most;
       number = std::min(most, (number * factor + step - 1) / step * step))
    out.push_back(tile_int(number));
  out.push_back(tile_int(most));
}

/// Values of each argument with which the model is asked.
std::vector<std::vector<tile_value>> Chooser::launchedValues() const {
  std::vector<std::vector<tile_value>> values;
  for (int64_t factor = 2;; factor *= 2) {
    values.assign(file.parameters.size(), {});
    size_t launches = 1;
    for (size_t i = 0; i < values.size(); ++i) {
      bool isConstexpr = file.parameters[i].flags & Parameter::Constexpr;
      for (const tile_argument_range &range : ranges) {
        if (file.find(range.parameter) != unsigned(i))
          continue;
        bool isNumber = range.least.kind == TILE_VALUE_INT;
        if (isNumber && isSelecting(unsigned(i)) && !isConstexpr) {
          addNumbers(range, factor, values[i]);
        } else if (isNumber && !isConstexpr) {
          int64_t usual = std::clamp(kUsualNumber, range.least.as.integer, range.most.as.integer);
          values[i] = {tile_int(usual)};
        } else {
          values[i].push_back(range.least);
          if (range.least.kind == TILE_VALUE_POINTER)
            values[i].back().as.bits = 16; // aligned
        }
      }
      if (values[i].empty() && file.defaults[i])
        values[i].push_back(*file.defaults[i]);
      launches *= std::max<size_t>(values[i].size(), 1);
    }
    if (launches <= kMostLaunches || factor > (int64_t(1) << 24))
      return values;
  }
}

llvm::Error Chooser::ask(llvm::ArrayRef<tile_value> values) {
  for (const std::string &target : targets) {
    // Launches that differ in what is not in the key are served alike, by the first.
    std::string line =
        formatted("{}({}) on {}", file.kernel(), file.keyText(values.data()), target);
    if (llvm::is_contained(told, line))
      continue;
    auto number = kernel.chooseByModel(values, target);
    if (!number)
      return number.takeError();
    BuiltChoice choice;
    choice.capability = findTarget(target)->capability;
    choice.configuration = add(*number);
    for (unsigned argument : out.selecting)
      choice.values.push_back(values[argument]);
    told.push_back(std::move(line));
    out.choices.push_back(std::move(choice));
  }
  return llvm::Error::success();
}

llvm::Error Chooser::fromModel() {
  if (!file.hasGrid)
    return makeError(ErrorCode::InvalidArgument,
                     formatted("`--tuning model` has to know the grid of `{}`: give --grid, or the "
                               "file a function `{}_grid`",
                               file.kernel(), file.kernel()));
  std::vector<std::vector<tile_value>> values = launchedValues();
  for (unsigned i = 0; i < values.size(); ++i)
    if (isSelecting(i) || (!values[i].empty() && values[i][0].kind == TILE_VALUE_POINTER))
      out.selecting.push_back(i);
  size_t launches = 1;
  for (const std::vector<tile_value> &some : values)
    launches *= some.size();
  std::vector<tile_value> chosen(values.size());
  for (size_t number = 0; number < launches; ++number) {
    size_t rest = number;
    for (size_t i = values.size(); i-- > 0; rest /= values[i].size())
      chosen[i] = values[i][rest % values[i].size()];
    if (llvm::Error error = ask(chosen))
      return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

/// As launches rank choices, on a device of the capability that no choice names.
static int rankOf(const BuiltChoice &choice, int capability) {
  if (!choice.capability)
    return 2000;
  int below = capability - choice.capability;
  return below == 0 ? 1 : below > 0 ? 1 + below : 3000;
}

void Chooser::setTargets() {
  for (const std::string &target : targets) {
    int capability = findTarget(target)->capability, least = INT32_MAX;
    for (const BuiltChoice &choice : out.choices)
      least = std::min(least, rankOf(choice, capability));
    for (const BuiltChoice &choice : out.choices) {
      std::vector<std::string> &chosen = out.configurations[choice.configuration].targets;
      // A device of which nothing is known but its name may have any target.
      if ((rankOf(choice, capability) == least || !choice.capability) &&
          !llvm::is_contained(chosen, target))
        chosen.push_back(target);
    }
  }
  // What serves none of the targets is not built.
  std::vector<BuiltConfiguration> all = std::move(out.configurations);
  std::vector<BuiltChoice> choices = std::move(out.choices);
  std::vector<std::string> lines = std::move(told);
  out.configurations.clear(), out.choices.clear(), told.clear();
  for (auto [choice, line] : llvm::zip(choices, lines)) {
    const BuiltConfiguration &chosen = all[choice.configuration];
    if (chosen.targets.empty())
      continue;
    choice.configuration = add(chosen.number);
    out.configurations[choice.configuration].targets = chosen.targets;
    out.choices.push_back(std::move(choice));
    told.push_back(std::move(line));
  }
}

void Chooser::print() const {
  for (const auto &[line, choice] : llvm::zip(told, out.choices))
    llvm::outs()
        << line << ": "
        << file.choices.configurations[out.configurations[choice.configuration].number].tune.str()
        << '\n';
}

llvm::Error Chooser::run() {
  size_t count = file.choices.configurations.size();
  if (!file.choices.isTuned || (tuning.file.empty() && tuning.how != "model")) {
    unsigned number = file.choices.isTuned ? unsigned(std::max(tuning.configuration, 1)) : 1;
    if (number > count)
      return makeError(
          ErrorCode::InvalidArgument,
          formatted("option `--config`: `{}` has {} configurations", file.kernel(), count));
    out.configurations = {{number - 1, targets.vec()}};
    return llvm::Error::success();
  }
  if (!tuning.file.empty())
    if (llvm::Error error = fromRecords())
      return error;
  if (out.choices.empty())
    if (llvm::Error error = fromModel())
      return error;
  setTargets();
  if (tuning.print)
    print();
  return llvm::Error::success();
}

llvm::Error tilec::chooseConfigurations(jit::Jit &kernel, Ranges ranges,
                                        llvm::ArrayRef<std::string> targets,
                                        const BuildTuning &tuning, BuiltKernel &out) {
  return Chooser(kernel, ranges, targets, tuning, out).run();
}
