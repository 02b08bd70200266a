//===- EmuDevice.cpp - host functions on the emulator ---------------------===//
//
// A launch that the machine has nothing to say about runs a second time, as it is written,
// on the interpreter: what the language forbids and the compiled kernel does not show, such
// as hints that do not hold, is found there.
//
//===----------------------------------------------------------------------===//
#include "runtime/devices/EmuDevice.h"
#include "runtime/Cache.h"
#include "runtime/Error.h"
#include "runtime/GridForms.h"
#include "runtime/KernelCache.h"
#include "runtime/LaunchPlan.h"
#include "runtime/PackedArguments.h"
#include "runtime/devices/EmuParameters.h"
#include "text/Format.h"
#include <cstring>

using namespace tile;
using namespace tile::runtime;

/// What programs that nobody uses may take together: code about as large as their IR, and what
/// makes and holds it, an LLJIT with all hooks by name for each (0.77 MB for a kernel of a line).
static constexpr uint64_t kProgramBytes = uint64_t(256) << 20, kJitBytes = uint64_t(768) << 10;

/// What every GPU can start.
static constexpr int kMaxGrid[3] = {INT32_MAX, 65535, 65535};

namespace {

/// One specialisation, shared by all kernels prepared from the same request.
struct EmuProgram {
  std::unique_ptr<emu::Program> program;
  emu::LoadOptions load;
  std::string ir; ///< kept only for `beforeLaunch`
  KernelMetadata metadata;
  LaunchPlan plan;
  std::vector<frontend::Dependency> dependencies;
  uint64_t irBytes = 0;
  mutable bool launched = false; ///< under the device's mutex
};
using EmuProgramPtr = std::shared_ptr<const EmuProgram>;

class EmuKernel : public Kernel {
public:
  EmuKernel(EmuProgramPtr program, const KernelRequest &request)
      : program(std::move(program)), request(request) {}
  const KernelMetadata &metadata() const override { return program->metadata; }
  EmuProgramPtr program;
  KernelRequest request;
  std::unique_ptr<Kernel> asWritten; ///< for the interpreter, if it knows all of it
};

class Emulator : public EmuDevice {
public:
  explicit Emulator(const EmuDeviceOptions &options) : EmuDevice(options.check), options(options) {
    // What is compared to the bit is interpreted anyway.
    if (options.check && !options.beforeLaunch && !options.algebraic)
      language = createLanguageChecker(memory, options.launchLimit);
  }

  std::string name() const override { return "emu"; }
  std::string description() const override {
    unsigned threads = hostThreads(options.threads);
    std::string text =
        formatted("emulated {}, {} thread{}", options.target, threads, threads == 1 ? "" : "s");
    if (options.schedules)
      text += formatted(", {} random schedules from seed {}", options.schedules, options.seed);
    return text + (options.algebraic ? ", algebraic" : "") + (options.check ? "" : ", unchecked");
  }
  std::string target() const override { return options.target; }
  unsigned multiprocessorCount() const override { return 132; }
  const emu::Program &program(const Kernel &kernel) const override {
    return *static_cast<const EmuKernel &>(kernel).program->program;
  }
  const std::map<std::string, KernelCounters> &counters() const override { return counted; }
  const emu::Report &lastReport() const override { return last; }

  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override;
  llvm::Expected<bool> launch(Kernel &kernel, const uint32_t grid[3],
                              llvm::ArrayRef<const void *> arguments,
                              frontend::DiagnosticEngine &diagnostics) override;

private:
  EmuProgramPtr find(const KernelRequest &request, frontend::DiagnosticEngine &diagnostics);
  EmuProgramPtr compile(const KernelRequest &request, frontend::DiagnosticEngine &diagnostics);
  /// What a launch runs, and its parameters, which point into what is here.
  struct Chosen {
    EmuProgramPtr program;
    uint32_t programs[3];
    std::vector<void *> pointers;
    LaunchMemory memory;
  };
  /// Finds the program that suits arguments and grid; false if it cannot be compiled.
  llvm::Expected<bool> choose(const EmuKernel &kernel, const uint32_t grid[3],
                              llvm::ArrayRef<const void *> arguments, Chosen &chosen,
                              frontend::DiagnosticEngine &diagnostics);
  llvm::Expected<emu::LaunchConfig> configure(Chosen &chosen, const uint32_t grid[3]);
  using Image = std::vector<std::vector<uint8_t>>;
  Image save() const;
  void restore(const Image &image);
  emu::Report runSchedules(const EmuProgram &program, const uint32_t grid[3],
                           emu::LaunchConfig &launch);

  bool checkLanguage(EmuKernel &kernel, const LaunchConfig &config, const Image &before,
                     frontend::DiagnosticEngine &diagnostics);

  EmuDeviceOptions options;
  std::unique_ptr<Device> language; ///< null where nothing is checked
  Compiler compiler;                ///< under `mutex`, like everything below
  KernelCache<const EmuProgram> programs{kProgramBytes};
  std::map<std::string, KernelCounters> counted;
  emu::Report last;
};

} // namespace

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

EmuProgramPtr Emulator::compile(const KernelRequest &request,
                                frontend::DiagnosticEngine &diagnostics) {
  CompileOptions chosen = request.options;
  chosen.checked = options.check;
  CompileResult result = compiler.compile(*request.file, chosen);
  auto said = std::make_shared<frontend::DiagnosticEngine>(std::move(result.diagnostics));
  for (const frontend::Diagnostic &d : said->all()) {
    frontend::Diagnostic &copy = d.severity == frontend::Severity::Error
                                     ? diagnostics.error(d.file, d.range, d.message)
                                     : diagnostics.warning(d.file, d.range, d.message);
    copy = d;
  }
  diagnostics.retain(said); // owns the files that were imported
  if (!result.ok())
    return nullptr;
  auto shared = std::make_shared<EmuProgram>();
  shared->load.fuseMulAdd = request.options.enableFpFusion;
  shared->load.algebraic = options.algebraic;
  std::string error;
  shared->program = emu::Program::load(result.output, shared->load, error);
  if (!shared->program) {
    diagnostics.error(nullptr, {}, error).unsupported = true;
    return nullptr;
  }
  auto plan = LaunchPlan::of(result.metadata);
  if (!plan) {
    diagnostics.error(nullptr, {}, takeError(plan.takeError()).message);
    return nullptr;
  }
  shared->plan = std::move(*plan);
  shared->irBytes = result.output.size();
  shared->dependencies = std::move(result.dependencies);
  if (options.beforeLaunch)
    shared->ir = std::move(result.output);
  shared->metadata = std::move(result.metadata);
  return shared;
}

EmuProgramPtr Emulator::find(const KernelRequest &request,
                             frontend::DiagnosticEngine &diagnostics) {
  KernelRequest ours = request;
  ours.options = forLaunch(std::move(ours.options));
  ours.options.stopAfter = Stage::Llvm;
  ours.options.lineInfo = true;
  ours.options.algebraic = options.algebraic;
  std::string key = kernelKey(*request.file, ours.options);
  EmuProgramPtr program = programs.find(key);
  if (program)
    return program;
  program = compile(ours, diagnostics);
  if (program)
    programs.insert(key, program, program->dependencies,
                    kJitBytes + program->irBytes + (program->ir.empty() ? 0 : program->irBytes));
  return program;
}

std::unique_ptr<Kernel> Emulator::prepare(const KernelRequest &request,
                                          frontend::DiagnosticEngine &diagnostics) {
  std::lock_guard lock(mutex);
  EmuProgramPtr program = find(request, diagnostics);
  if (!program)
    return nullptr;
  auto kernel = std::make_unique<EmuKernel>(std::move(program), request);
  frontend::DiagnosticEngine said; // nothing that the compiler has not said
  if (language)
    kernel->asWritten = language->prepare(request, said);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

Emulator::Image Emulator::save() const {
  Image image;
  for (auto &[base, block] : blocks) {
    auto *bytes = reinterpret_cast<const uint8_t *>(base);
    image.emplace_back(bytes, bytes + block.bytes);
  }
  return image;
}

void Emulator::restore(const Image &image) {
  size_t i = 0;
  for (auto &[base, block] : blocks) {
    if (block.bytes)
      std::memcpy(reinterpret_cast<void *>(base), image[i].data(), block.bytes);
    ++i;
  }
}

/// The default order, then the random ones from the same initial memory. A
/// kernel with atomic operations may legally give different results.
emu::Report Emulator::runSchedules(const EmuProgram &program, const uint32_t grid[3],
                                   emu::LaunchConfig &launch) {
  emu::RunOptions run;
  run.check = options.check;
  run.counters = options.counters;
  run.threads = options.threads;
  run.workLimit = options.launchLimit;
  bool isFirst = !std::exchange(program.launched, true);
  unsigned schedules = options.firstLaunchesOnly && !isFirst ? 0 : options.schedules;
  run.sortSums = schedules;
  Image before;
  if (schedules)
    before = save();
  emu::Report report = program.program->run(launch, run);
  if (!schedules || !report.ok())
    return report;
  bool isComparable = !program.program->dependsOnMoreThanSums();
  Image expected = save();
  run.counters = false;
  for (unsigned i = 0; i < schedules && report.ok(); ++i) {
    restore(before);
    run.seed = options.seed + i;
    if (program.metadata.persistent) // the chip may have room for any number of blocks
      launch.grid[0] =
          launch.cluster[0] *
          (1 + uint32_t(*run.seed % std::min<uint64_t>(uint64_t(grid[0]) * grid[1] * grid[2], 8)));
    emu::Report again = program.program->run(launch, run);
    report.findings = std::move(again.findings);
    isComparable &= !report.sumsAreSeen && !again.sumsAreSeen;
    if (report.ok() && isComparable && save() != expected) {
      emu::Finding finding{emu::FindingKind::SchedulesDisagree, {}, "", "", "", {}, 1};
      finding.message = formatted("`{}` gives another result in a random order of its threads",
                                  program.program->name());
      report.findings.push_back(std::move(finding));
    }
    for (emu::Finding &f : report.findings)
      f.where += formatted("{}seed {}", f.where.empty() ? "" : ", ", *run.seed);
  }
  return report;
}

llvm::Expected<bool> Emulator::choose(const EmuKernel &kernel, const uint32_t grid[3],
                                      llvm::ArrayRef<const void *> arguments, Chosen &chosen,
                                      frontend::DiagnosticEngine &diagnostics) {
  EmuProgramPtr &program = chosen.program = kernel.program;
  std::copy(grid, grid + 3, chosen.programs);
  auto resolve = [&]() -> llvm::Expected<bool> {
    chosen.pointers.assign(program->plan.parameters.size(), nullptr);
    if (llvm::Error error = program->plan.resolve(arguments, chosen.pointers))
      return std::move(error);
    return makeTensorMaps(program->plan, chosen.pointers, chosen.memory);
  };
  auto suits = resolve();
  bool comesOutEven =
      program->plan.splits.empty() ||
      (suits && *suits && program->plan.splitGrid(chosen.programs, chosen.pointers));
  bool areFew = suits && kernel.request.options.programs == GridPrograms::Any &&
                hasFewPrograms(unsigned(std::max(program->metadata.fewPrograms, 0)), grid,
                               options.multiprocessors);
  if (suits && (!*suits || !comesOutEven || areFew)) {
    KernelRequest other = kernel.request;
    if (areFew)
      other.options.programs = GridPrograms::Few;
    if (!*suits)
      other.options.tensorMaps = false;
    else if (!comesOutEven)
      other.options.warpRoles = WarpRoles::Apart;
    program = find(other, diagnostics);
    if (!program)
      return false;
    if (program->dependencies != kernel.program->dependencies)
      return makeError(
          ErrorCode::Compile,
          formatted("a file that `{}` imports has changed since it was compiled; compile it again",
                    kernel.metadata().entry));
    std::copy(grid, grid + 3, chosen.programs);
    suits = resolve();
  }
  if (!suits)
    return addContext(suits.takeError(), formatted("cannot launch `{}`", kernel.metadata().entry));
  return true;
}

llvm::Expected<emu::LaunchConfig> Emulator::configure(Chosen &chosen, const uint32_t grid[3]) {
  const KernelMetadata &metadata = chosen.program->metadata;
  auto started = blocksOf(metadata, chosen.programs, options.residentBlocks);
  if (!started)
    return started.takeError();
  if (llvm::Error error = checkGrid(metadata, *started, kMaxGrid))
    return std::move(error);
  emu::LaunchConfig launch;
  for (unsigned axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = uint32_t((*started)[axis]);
    launch.cluster[axis] = uint32_t(metadata.cluster[axis]);
  }
  launch.threads = uint32_t(metadata.threads);
  launch.sharedBytes = uint32_t(metadata.sharedBytes);
  for (auto &[base, block] : blocks)
    launch.memory.push_back({base, block.bytes});
  addScratch(chosen.program->plan, uint64_t(grid[0]) * grid[1] * grid[2], kFreshByte,
             chosen.pointers, chosen.memory, launch.memory);
  llvm::sort(launch.memory,
             [](const emu::MemoryRange &a, const emu::MemoryRange &b) { return a.base < b.base; });
  for (auto [pointer, parameter] : llvm::zip(chosen.pointers, chosen.program->plan.parameters))
    if (parameter.kind == KernelParameter::Kind::NumPrograms)
      pointer = &chosen.programs[parameter.dim];
  launch.parameters.assign(chosen.pointers.begin(), chosen.pointers.end());
  return launch;
}

llvm::Expected<bool> Emulator::launch(Kernel &kernel, const uint32_t grid[3],
                                      llvm::ArrayRef<const void *> arguments,
                                      frontend::DiagnosticEngine &diagnostics) {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return true;
  auto &emulated = static_cast<EmuKernel &>(kernel);
  std::lock_guard lock(mutex);
  Chosen chosen;
  auto suits = choose(emulated, grid, arguments, chosen, diagnostics);
  if (!suits || !*suits)
    return suits;
  auto launch = configure(chosen, grid);
  if (!launch)
    return launch.takeError();
  const EmuProgram &program = *chosen.program;
  if (options.beforeLaunch && !options.beforeLaunch(program.ir, program.load, *launch))
    return true;
  last = runSchedules(program, grid, *launch);
  if (options.counters) {
    KernelCounters &ofKernel = counted[program.metadata.entry];
    ++ofKernel.launches;
    ofKernel.counters.add(last.counters);
  }
  emu::reportTo(last, emulated.request.file, diagnostics);
  return last.ok();
}

/// Runs the kernel as it is written, from the memory before the launch; leaves memory as the
/// machine has left it. Which bytes are written is known from this run alone.
bool Emulator::checkLanguage(EmuKernel &kernel, const LaunchConfig &config, const Image &before,
                             frontend::DiagnosticEngine &diagnostics) {
  std::lock_guard lock(mutex);
  if (!kernel.asWritten) {
    for (auto &[base, block] : blocks)
      memory.setInitialized(reinterpret_cast<void *>(base), block.bytes, true);
    return true;
  }
  Image after = save();
  restore(before);
  bool ok = language->launch(*kernel.asWritten, config, diagnostics);
  restore(after);
  return ok;
}

bool Emulator::launch(Kernel &kernel, const LaunchConfig &config,
                      frontend::DiagnosticEngine &diagnostics) {
  PackedArguments arguments(kernel.metadata(), config.args);
  auto &emulated = static_cast<EmuKernel &>(kernel);
  Image before;
  if (emulated.asWritten) {
    std::lock_guard lock(mutex);
    before = save();
  }
  auto ok = launch(kernel, config.grid.data(), arguments.pointers(), diagnostics);
  if (ok)
    return *ok && (!language || checkLanguage(emulated, config, before, diagnostics));
  diagnostics.error(nullptr, {}, takeError(ok.takeError()).message);
  return false;
}

std::unique_ptr<EmuDevice> runtime::createEmuDevice(const EmuDeviceOptions &options) {
  return std::make_unique<Emulator>(options);
}
