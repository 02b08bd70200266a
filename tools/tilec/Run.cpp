//===- Run.cpp - tilec run, tilec test, tilec bench -----------------------===//
//
// Three commands, one way: read files, open a device, run their host functions
// of one purpose, print what came out. docs/host-functions.md is the language.
//
//===----------------------------------------------------------------------===//
#include "text/Format.h"
#include "tools/tilec/BenchResults.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/HostDevice.h"
#include "tools/tilec/HostFile.h"
#include "tools/tilec/OutputFiles.h"
#include "tools/tilec/Report.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>

using namespace tilec;
using namespace tile::host;
using llvm::StringRef;
using tile::formatted;
using Status = CaseResult::Status;

static constexpr StringRef detailsText =
    R"(FILE holds kernels, and host functions marked @tile.test, @tile.bench or @tile.example; a folder
stands for all files with kernels below it. NAME picks some of the functions. PARAM=VALUE replaces a
sweep by one value, e.g. n=1000 or dtype=tl.float16.

On the CPU, kernels are interpreted, and every access to memory is checked: lanes out of bounds,
reads of memory that nobody wrote, programs that race.

The emulator (emu) runs the compiled kernel, as it is before it becomes PTX, thread by thread on the
CPU: it finds races in shared memory, missing barriers and fences, and what depends on the order of
threads. See docs/emulator.md.

Exit codes: 0 all passed, 1 a failure or an error, 2 wrong usage (also results to compare with that
cannot be read), 3 nothing failed but something is not supported yet. A run that failed leaves files
of results and counters that are there as they were.
)";

namespace {
class HostCommand : public Command {
public:
  explicit HostCommand(Purpose purpose);
  int run() override;
  StringRef details() const override { return detailsText; }

private:
  StringRef name() const;
  bool readArguments();
  int list() const;
  int runFile(HostFile &file);
  int runFiles();
  void setTuning(HostFile &file);
  void warnOfRecords() const;
  /// Where text goes that is no result: beside results as JSON or CSV it is for people.
  llvm::raw_ostream &told() const { return json || csv ? llvm::errs() : llvm::outs(); }
  bool writeCounters(bool failed);
  bool checkOutputs();
  int compareFiles();
  int finishBench(int status);

  Purpose purpose;
  std::vector<std::string> arguments, includePaths, parameters;
  WantedNames wanted;
  HostDeviceOptions deviceOptions;
  HostDevice opened;
  std::vector<std::unique_ptr<HostFile>> files;
  std::vector<FileTotals> totals;
  bool listOnly = false;
  // Of benches:
  bool json = false, csv = false, compare = false;
  std::vector<std::string> outputs;
  std::string against;
  BenchResults measured;
};
} // namespace

StringRef HostCommand::name() const {
  switch (purpose) {
  case Purpose::Test:
    return "test";
  case Purpose::Bench:
    return "bench";
  default:
    return "run";
  }
}

HostCommand::HostCommand(Purpose purpose) : purpose(purpose) {
  options.positional("FILE|FOLDER... [NAME]... [PARAM=VALUE]...", arguments, 1, 100000);
  addHostDeviceOptions(options, deviceOptions);
  options
      .list("include", "DIR", "where imported files are looked for, besides FILE's folder",
            includePaths, ValueKind::Directory, 'I')
      .text("filter", "TEXT", "only functions whose names have TEXT in them", wanted.filter,
            ValueKind::Text, 'k')
      .flag("list", "print the names of the functions and their numbers of cases, and stop",
            listOnly);
  if (purpose != Purpose::Bench)
    return;
  options.group("Results")
      .flag("json", "print results as JSON", json)
      .flag("csv", "print results as CSV", csv)
      .list("output", "OUT",
            "file for the results: a report with plots (.html), JSON or CSV by its ending; may be "
            "repeated",
            outputs, ValueKind::File, 'o')
      .text("against", "OLD.json", "compare with these results", against, ValueKind::File)
      .flag("compare", "FILE is OLD.json NEW.json: compare two saved results, and run nothing",
            compare);
}

/// Files and folders come first, then names and parameters.
bool HostCommand::readArguments() {
  std::vector<std::string> paths;
  for (const std::string &argument : arguments) {
    if (paths.empty() || (wanted.names.empty() && parameters.empty() && looksLikePath(argument)))
      paths.push_back(argument);
    else
      (StringRef(argument).contains('=') ? parameters : wanted.names).push_back(argument);
  }
  std::vector<SourcePath> sources;
  std::string error;
  if (!findSources(paths, sources, error)) {
    printError(name(), error);
    return false;
  }
  for (SourcePath &source : sources) {
    files.push_back(std::make_unique<HostFile>());
    files.back()->path = std::move(source);
  }
  return true;
}

int HostCommand::list() const {
  for (auto &file : files)
    for (auto &[function, count] : file->suite->count(purpose)) {
      if (!StringRef(function).contains(wanted.filter))
        continue;
      if (files.size() > 1)
        llvm::outs() << file->path.path << ' ';
      llvm::outs() << function << ' ' << count << '\n';
    }
  return Success;
}

bool HostCommand::writeCounters(bool failed) {
  if (!opened.emulator)
    return true;
  if (const tile::runtime::Agreement *agreement = opened.agreement) {
    told() << formatted("{} launches on both, {} with the same bits ({} had to be)",
                        agreement->launches, agreement->identical, agreement->exact);
    if (agreement->unordered)
      told() << formatted(", {} that depend on the order of programs", agreement->unordered);
    for (auto &[type, difference] : agreement->largest)
      told() << formatted(", {} within {:.1e}", type, difference);
    told() << '\n';
  }
  if (deviceOptions.counters)
    opened.emulator->printCounters(told());
  if (deviceOptions.countersFile.empty())
    return true;
  OutputFiles out(files.front()->path.path);
  out.addFound(name(), failed, deviceOptions.countersFile,
               formatted("{}\n", opened.emulator->countersJson()));
  std::string error;
  if (out.commit(error))
    return true;
  printError(name(), error);
  return false;
}

int HostCommand::runFile(HostFile &file) {
  // Of several files, one may have nothing of what was asked for.
  bool mayBeEmpty = file.path.isFound || (files.size() > 1 && !wanted.empty());
  if (file.names.empty() && !wanted.empty() && mayBeEmpty)
    return Success;
  std::vector<std::string> names; // none: all, and what is no test for a misspelt word
  if (!wanted.empty())
    names = file.names;
  ProgressPrinter progress;
  std::vector<FunctionResult> results;
  if (auto error = file.suite->run(purpose, names, file.overrides(parameters), progress, results)) {
    printError(name(), error->diagnostic.message);
    return Usage;
  }
  StringRef path = file.source->name();
  if (results.empty() && mayBeEmpty)
    return Success;
  if (results.empty()) {
    printError(name(),
               formatted("`{}` has no function marked `@{}`{}", path,
                         tile::host::decoratorName(purpose), file.suite->howToMark(purpose)));
    return Failure;
  }
  bool hasHeading = purpose != Purpose::Example && !json && !csv;
  if (hasHeading && !totals.empty())
    llvm::outs() << '\n';
  if (hasHeading)
    llvm::outs() << formatted("{} on {}: {}\n", path, opened.device->name(),
                              opened.device->description());
  bool color = llvm::outs().is_displayed() && colorMessages();
  if (purpose == Purpose::Test)
    printTestTable(results, llvm::outs(), color);
  else if (purpose == Purpose::Bench && !json && !csv)
    printBenchTables(results, llvm::outs());
  if (purpose == Purpose::Bench)
    measured.add(path, results);
  llvm::outs().flush();
  totals.push_back(totalsOf(path, results));
  return totals.back().failed ? Failure : totals.back().unsupported ? Unsupported : Success;
}

/// What can be known to go wrong before hours are spent on measuring.
bool HostCommand::checkOutputs() {
  std::string problem;
  if (json && csv)
    problem = "`--json` and `--csv` both print on standard output: give one of them, and a file "
              "for the other with `-o`";
  else if ((json || csv) && deviceOptions.countersFile == "-")
    problem = formatted("`--counters-json -` and `--{}` both print on standard output: name a file "
                        "for one of them",
                        json ? "json" : "csv");
  if (!problem.empty()) {
    printError(name(), problem);
    return false;
  }
  for (const std::string &path : outputs)
    if (!measured.inFormatOf(path)) {
      printError(
          name(),
          formatted(
              "option `--output`: expected a file that ends in .html, .json or .csv, got `{}`",
              path));
      return false;
    }
  BenchResults old;
  std::string error;
  if (against.empty() || BenchResults::read(against, old, error))
    return true;
  printError(name(), error);
  return false;
}

/// Slower is a failure, for whoever runs this unattended.
int HostCommand::compareFiles() {
  if (arguments.size() != 2) {
    printError(name(), "`--compare` needs two results: OLD.json NEW.json");
    return Usage;
  }
  if (json || csv || !outputs.empty() || !against.empty()) {
    printError(name(), "`--compare` runs nothing and has no results: leave out `--json`, `--csv`, "
                       "`--output` and `--against`");
    return Usage;
  }
  BenchResults before, after;
  std::string error;
  if (!BenchResults::read(arguments[0], before, error) ||
      !BenchResults::read(arguments[1], after, error)) {
    printError(name(), error);
    return Usage; // nothing is slower
  }
  return compareBenches(before, after, llvm::outs()) ? Success : Failure;
}

int HostCommand::finishBench(int status) {
  bool failed = status == Failure || status == Usage; // by itself, not beside others
  measured.device = opened.device->name();
  measured.description = opened.device->description();
  measured.target = opened.device->target();
  if (json)
    llvm::outs() << measured.toJson();
  if (csv)
    llvm::outs() << measured.toCsv();
  std::string error;
  BenchResults old;
  if (!against.empty() && BenchResults::read(against, old, error)) {
    told() << '\n';
    if (!compareBenches(old, measured, told()) && status == Success)
      status = Failure;
  }
  auto hasPoints = [](const BenchTable &table) { return !table.points.empty(); };
  if (failed && !outputs.empty() && llvm::none_of(measured.tables, hasPoints)) {
    llvm::errs() << formatted("tilec {}: note: nothing was measured, and no results are written\n",
                              name());
    return status;
  }
  OutputFiles out(files.front()->path.path);
  for (const std::string &path : outputs)
    out.addFound(name(), failed, path, *measured.inFormatOf(path));
  if (out.commit(error))
    return status;
  printError(name(), error);
  return Failure;
}

/// The worst that happened: wrong usage, a failure, something not supported.
int HostCommand::runFiles() {
  bool seen[4] = {};
  for (auto &file : files) {
    int status = file->suite ? runFile(*file) : int(Failure);
    if (status == Usage && files.size() == 1)
      return Usage;
    seen[status] = true;
  }
  if (totals.empty() && !seen[Failure] && !seen[Usage]) {
    printError(name(), formatted("no file has a function marked `@tile.{}`",
                                 purpose == Purpose::Example ? "example" : name()));
    return Failure;
  }
  if (purpose == Purpose::Test && files.size() > 1)
    printTotals(totals, llvm::outs());
  int worst = seen[Usage]         ? Usage
              : seen[Failure]     ? Failure
              : seen[Unsupported] ? Unsupported
                                  : Success;
  if (!writeCounters(worst == Failure || worst == Usage))
    return Failure;
  return purpose == Purpose::Bench ? finishBench(worst) : worst;
}

static void printChoices(HostFile &file) {
  file.session->kernels().onChoice = [](StringRef text) {
    llvm::errs() << "tilec: " << text << '\n';
  };
  file.session->tensorFunctions().tuner().onChoice = [](const tile::runtime::TuneProblem &problem,
                                                        const tile::runtime::TuneResult &result) {
    llvm::errs() << formatted("tilec: {}({}): {} ({})\n", problem.kernel, problem.key,
                              problem.configs[result.best],
                              tile::runtime::FunctionTuner::reasonOf(result));
  };
}

void HostCommand::setTuning(HostFile &file) {
  Launcher &kernels = file.session->kernels();
  if (deviceOptions.tuning == "all")
    kernels.configurations().setExhaustive();
  if (deviceOptions.tuning == "none")
    kernels.configurations().setTimeless();
  if (const char *named = std::getenv("TILE_TUNING"); named && deviceOptions.tuningFile.empty())
    deviceOptions.tuningFile = named;
  kernels.configurations().setRecordFile(deviceOptions.tuningFile, opened.device->model(),
                                         opened.device->target());
  if (const char *asked = std::getenv("TRITON_PRINT_AUTOTUNING");
      deviceOptions.printTuning || (asked && StringRef(asked) == "1"))
    printChoices(file);
}

/// What is wrong with the file of records, once everything has run.
void HostCommand::warnOfRecords() const {
  std::vector<std::string> said;
  for (const auto &file : files)
    if (file->source && file->session)
      if (std::string text = file->session->kernels().configurations().warning();
          !text.empty() && !llvm::is_contained(said, text))
        llvm::errs() << formatted("tilec {}: warning: {}\n", name(), said.emplace_back(text));
}

int HostCommand::run() {
  if (compare)
    return compareFiles();
  if (!checkOutputs())
    return Usage;
  if (!readArguments())
    return Failure;
  size_t parsed = 0;
  for (auto &file : files) {
    if (file->parse(name()))
      ++parsed;
    else
      file->source = nullptr; // said; the others are run
  }
  if (!parsed)
    return Failure;
  opened = openHostDevice(name(), deviceOptions);
  if (!opened.device)
    return opened.isUsage ? Usage : Failure;
  for (auto &file : files)
    if (file->source) {
      file->prepare(*opened.device, includePaths);
      file->session->output = &told();
      file->session->hostContext()->eachLaneArrives = deviceOptions.eachLaneArrives;
      file->session->hostContext()->asBuilt = deviceOptions.asBuilt;
      file->session->hostContext()->inFastestCuts = deviceOptions.mode == "max-autotune";
      file->session->hostContext()->otherCuts = deviceOptions.otherCuts;
      file->session->hostContext()->ignoresReferences = deviceOptions.algebraic;
      setTuning(*file);
      file->names = file->suite->names(purpose);
    }
  if (listOnly) {
    llvm::erase_if(files, [](auto &file) { return !file->source; });
    return list();
  }
  if (!chooseNames(name(), purpose, wanted, files))
    return Usage;
  int status = runFiles();
  warnOfRecords();
  return status;
}

std::unique_ptr<Command> tilec::createRunCommand() {
  return std::make_unique<HostCommand>(Purpose::Example);
}
std::unique_ptr<Command> tilec::createTestCommand() {
  return std::make_unique<HostCommand>(Purpose::Test);
}
std::unique_ptr<Command> tilec::createBenchCommand() {
  return std::make_unique<HostCommand>(Purpose::Bench);
}
