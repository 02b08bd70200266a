//===- Run.cpp - tilec run, tilec test, tilec bench -----------------------===//
//
// Three commands, one way: read a file, open a device, run its host functions
// of one purpose, print what came out. docs/host-functions.md is the language.
//
//===----------------------------------------------------------------------===//
#include "frontend/Parser.h"
#include "runtime/Cache.h"
#include "runtime/devices/AgreementDevice.h"
#include "runtime/devices/EmuDevice.h"
#include "runtime/host/Suite.h"
#include "target/Target.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/CompilingDevice.h"
#include "tools/tilec/OutputFiles.h"
#include "tools/tilec/Report.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tilec;
using namespace tile::host;
using llvm::StringRef;
using tile::eval::PyValue;
using Status = CaseResult::Status;

static constexpr StringRef detailsText =
    R"(FILE holds kernels, and host functions marked @tile.test, @tile.bench or @tile.example.
NAME picks some of them. PARAM=VALUE replaces a sweep by one value, e.g. n=1000 or
dtype=tl.float16.

On the CPU, kernels are interpreted, and every access to memory is checked: lanes out of bounds,
reads of memory that nobody wrote, programs that race.

The emulator (emu) runs the compiled kernel, as it is before it becomes PTX, thread by thread on the
CPU: it finds races in shared memory, missing barriers and fences, and what depends on the order of
threads. See docs/emulator.md.

Exit codes: 0 all passed, 1 a failure or an error, 2 wrong usage, 3 nothing failed but something
is not supported yet.
)";

namespace {
class HostCommand : public Command {
public:
  explicit HostCommand(Purpose purpose);
  int run() override;
  StringRef details() const override { return detailsText; }

private:
  StringRef name() const;
  std::unique_ptr<tile::runtime::Device> openDevice();
  std::unique_ptr<tile::runtime::Device> openAlgebraic();
  int runFile(const tile::frontend::SourceFile &source, const tile::ast::Module &module,
              tile::runtime::Device &device);
  void readArguments(tile::eval::Program &program, tile::eval::ModuleEnv &file,
                     std::vector<std::string> &names,
                     std::vector<std::pair<std::string, PyValue>> &overrides);
  int list(Suite &suite) const;
  bool writeCounters();
  int conclude(llvm::ArrayRef<FunctionResult> results) const;

  Purpose purpose;
  std::vector<std::string> arguments, includePaths;
  std::string deviceName = "auto", compileFor;
  int threads = 0;
  int schedules = 0, seed = 1;
  bool counters = false, firstLaunches = false;
  std::string countersFile, emulated = tile::fallbackTarget().name.str();
  tile::runtime::EmuDevice *emulator = nullptr; ///< the device, if it is one
  const tile::runtime::Agreement *agreement = nullptr;
  bool eachLaneArrives = false, algebraic = false;
  bool check = true, listOnly = false, throughPasses = false, assemble = true;
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
  options.positional("FILE [NAME]... [PARAM=VALUE]...", arguments, 1, 1000)
      .choice("device", {"auto", "cpu", "emu", "cuda", "emu+cuda"},
              "where kernels run; auto: on the GPU if there is one; emu+cuda: on both, and compare",
              deviceName)
      .flag("no-check", "on the CPU and the emulator, do not report faults (faster)", check, false)
      .flag("check", "on the CPU, check every access to memory", check)
      .integer("threads", "N", "cores that interpret or emulate; 0: all of them", threads, 0, 1024)
      .text("target", "TARGET", "emu: the GPU to emulate", emulated)
      .integer("schedules", "N", "emu: run each launch in N random orders more, and compare",
               schedules, 0, 1000000)
      .flag("first-launches",
            "emu: with --schedules, only the first launch of each compiled kernel", firstLaunches)
      .integer("seed", "S", "emu: of the first random order", seed, 0, 1 << 30)
      .flag("counters", "emu: print what the kernels did (transactions, sectors, instructions)",
            counters)
      .text("counters-json", "FILE", "emu: write the counters to FILE", countersFile,
            ValueKind::File)
      .flag("through-passes",
            "on the CPU, interpret kernels after the passes over tile and cta operations",
            throughPasses)
      .text("compile-for", "TARGET",
            "on the CPU, compile each kernel for a GPU as well, with ptxas if it is on PATH",
            compileFor)
      .flag("no-assemble", "with --compile-for, stop at the PTX", assemble, false)
      .flag("each-lane-arrives",
            "compile kernels so: for racecheck, which does not follow the barriers of warps",
            eachLaneArrives)
      .flag("algebraic",
            "run each launch on the emulator and interpreted, with numbers of a ring in the place "
            "of floats, and compare every bit; references are not looked at",
            algebraic)
      .list("include", "DIR", "where imported files are looked for, besides FILE's folder",
            includePaths, ValueKind::Directory, 'I')
      .flag("list", "print the names of the functions and their numbers of cases, and stop",
            listOnly);
}

/// The emulator and the interpreter, which must agree to the bit.
std::unique_ptr<tile::runtime::Device> HostCommand::openAlgebraic() {
  if (deviceName == "cuda" || deviceName == "emu+cuda") {
    printError(name(), "--algebraic compares the emulator with the interpreter: no other --device");
    return nullptr;
  }
  if (!tile::findTarget(emulated)) {
    printError(name(), tile::describeUnknownTarget(emulated));
    return nullptr;
  }
  tile::runtime::EmuDeviceOptions emu;
  tile::runtime::CpuDeviceOptions cpu;
  emu.target = emulated;
  emu.threads = cpu.threads = unsigned(threads);
  emu.algebraic = cpu.algebraic = true;
  cpu.check = false;
  auto first = tile::runtime::createEmuDevice(emu);
  emulator = first.get();
  auto both = tile::runtime::createAgreementDevice(
      std::move(first), tile::runtime::createCpuDevice(cpu), /*bitwise=*/true);
  agreement = &both->agreement();
  return both;
}

std::unique_ptr<tile::runtime::Device> HostCommand::openDevice() {
  if (algebraic)
    return openAlgebraic();
  if (deviceName == "emu" || deviceName == "emu+cuda") {
    if (!tile::findTarget(emulated)) {
      printError(name(), tile::describeUnknownTarget(emulated));
      return nullptr;
    }
    std::unique_ptr<tile::runtime::Device> gpu;
    tile::runtime::EmuDeviceOptions options;
    options.target = emulated;
    if (deviceName == "emu+cuda") {
      tile::runtime::CudaDeviceOptions cuda;
      cuda.cacheDirectory = tile::runtime::cacheFolderFromEnvironment();
      auto opened = tile::runtime::createCudaDevice(cuda);
      if (!opened) {
        printError(name(), llvm::toString(opened.takeError()));
        return nullptr;
      }
      gpu = std::move(*opened);
      options.target = gpu->target();
    }
    options.check = check;
    options.threads = unsigned(threads);
    options.schedules = unsigned(schedules);
    options.seed = uint64_t(seed);
    options.firstLaunchesOnly = firstLaunches;
    options.counters = counters || !countersFile.empty();
    auto device = tile::runtime::createEmuDevice(options);
    emulator = device.get();
    if (!gpu)
      return device;
    auto both = tile::runtime::createAgreementDevice(std::move(device), std::move(gpu));
    agreement = &both->agreement();
    return both;
  }
  if (deviceName != "cpu") {
    tile::runtime::CudaDeviceOptions cuda;
    cuda.cacheDirectory = tile::runtime::cacheFolderFromEnvironment();
    auto device = tile::runtime::createCudaDevice(cuda);
    if (device)
      return std::move(*device);
    std::string message = llvm::toString(device.takeError());
    if (deviceName == "cuda") {
      printError(name(), message);
      return nullptr;
    }
  }
  tile::runtime::CpuDeviceOptions cpu;
  cpu.check = check;
  cpu.threads = threads;
  cpu.throughPasses = throughPasses;
  auto device = tile::runtime::createCpuDevice(cpu);
  if (compileFor.empty())
    return device;
  if (!tile::findTarget(compileFor)) {
    printError(name(), tile::describeUnknownTarget(compileFor));
    return nullptr;
  }
  return createCompilingDevice(std::move(device), compileFor, assemble);
}

/// Names, and values for parameters. A value that is no expression is a string.
void HostCommand::readArguments(tile::eval::Program &program, tile::eval::ModuleEnv &file,
                                std::vector<std::string> &names,
                                std::vector<std::pair<std::string, PyValue>> &overrides) {
  for (const std::string &argument : llvm::drop_begin(arguments)) {
    auto [parameter, text] = StringRef(argument).split('=');
    if (parameter.size() == argument.size()) {
      names.push_back(argument);
      continue;
    }
    PyValue value = PyValue::string(text.str());
    tile::frontend::DiagnosticEngine ignored;
    tile::frontend::SourceFile source("argument " + parameter.str(), text.str());
    tile::ast::ExprPtr expr = tile::frontend::parseExpression(source, ignored);
    if (expr && !ignored.hasErrors()) {
      auto result = program.evaluator().evaluate(*expr, tile::eval::Evaluator::makeScope(file));
      if (result)
        value = result.take();
    }
    overrides.emplace_back(parameter.str(), std::move(value));
  }
}

int HostCommand::list(Suite &suite) const {
  for (auto &[function, count] : suite.count(purpose))
    llvm::outs() << function << ' ' << count << '\n';
  return Success;
}

int HostCommand::conclude(llvm::ArrayRef<FunctionResult> results) const {
  bool failed = false, unsupported = false;
  for (const FunctionResult &result : results) {
    failed |= result.count(Status::Failed) != 0;
    unsupported |= result.count(Status::Unsupported) != 0;
  }
  return failed ? Failure : unsupported ? Unsupported : Success;
}

bool HostCommand::writeCounters() {
  if (!emulator)
    return true;
  if (agreement) {
    llvm::outs() << agreement->launches << " launches on both, " << agreement->identical
                 << " with the same bits (" << agreement->exact << " had to be)";
    if (agreement->unordered)
      llvm::outs() << ", " << agreement->unordered << " that depend on the order of programs";
    for (auto &[type, difference] : agreement->largest)
      llvm::outs() << llvm::formatv(", {0} within {1:e1}", type, difference);
    llvm::outs() << '\n';
  }
  if (counters)
    emulator->printCounters(llvm::outs());
  if (countersFile.empty())
    return true;
  OutputFiles out(arguments[0]);
  out.add(countersFile, emulator->countersJson() + "\n");
  std::string error;
  if (out.commit(error))
    return true;
  printError(name(), error);
  return false;
}

int HostCommand::runFile(const tile::frontend::SourceFile &source, const tile::ast::Module &module,
                         tile::runtime::Device &device) {
  tile::eval::Program program(includePaths);
  tile::eval::ModuleEnv &file = program.add(source, module);
  program.evaluator().limits.steps = tile::host::maxSteps;
  Session session(device, includePaths);
  session.output = &llvm::outs();
  session.hostContext()->eachLaneArrives = eachLaneArrives;
  session.hostContext()->ignoresReferences = algebraic;
  Suite suite(program, file, session);
  if (listOnly)
    return list(suite);

  std::vector<std::string> names;
  std::vector<std::pair<std::string, PyValue>> overrides;
  readArguments(program, file, names, overrides);
  ProgressPrinter progress;
  std::vector<FunctionResult> results;
  if (auto error = suite.run(purpose, names, overrides, progress, results)) {
    printError(name(), error->diagnostic.message);
    return Usage;
  }
  if (results.empty()) {
    printError(name(), "`" + source.name() + "` has no function marked `@tile." +
                           (purpose == Purpose::Example ? "example" : name()) + "`");
    return Failure;
  }
  if (purpose != Purpose::Example)
    llvm::outs() << source.name() << " on " << device.name() << ": " << device.description()
                 << '\n';
  bool color = llvm::outs().is_displayed() && colorMessages();
  if (purpose == Purpose::Test)
    printTestTable(results, llvm::outs(), color);
  else if (purpose == Purpose::Bench)
    printBenchTables(results, llvm::outs());
  return writeCounters() ? conclude(results) : int(Failure);
}

int HostCommand::run() {
  std::string error;
  auto source = tile::frontend::SourceFile::open(arguments[0], error);
  if (!source) {
    printError(name(), error);
    return Failure;
  }
  tile::frontend::DiagnosticEngine diagnostics;
  tile::ast::Module module = tile::frontend::parse(*source, diagnostics);
  diagnostics.print(llvm::errs(), colorMessages());
  if (diagnostics.hasErrors())
    return Failure;
  auto device = openDevice();
  return device ? runFile(*source, module, *device) : int(Failure);
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
