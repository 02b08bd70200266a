//===- CpuDevice.cpp - host functions on the interpreter ------------------===//
//
// Kernels are specialised and compiled to interpreter programs once for each combination
// of source and options.
//
//===----------------------------------------------------------------------===//
#include "frontend/Specialize.h"
#include "ir/CtaDialect.h"
#include "ir/Spelling.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "runtime/Cache.h"
#include "runtime/KernelCache.h"
#include "runtime/devices/HostMemory.h"
#include "runtime/interp/Interpreter.h"
#include "text/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::runtime;

/// What programs that nobody uses may take together, each taken for kProgramSize.
static constexpr uint64_t kProgramBytes = uint64_t(64) << 20, kProgramSize = uint64_t(64) << 10;

namespace {

/// One specialisation, shared by all kernels prepared from the same request.
struct CpuProgram {
  std::unique_ptr<interp::Program> program;
  KernelMetadata metadata;
  std::vector<frontend::Dependency> dependencies;
};

class CpuKernel : public Kernel {
public:
  CpuKernel(std::shared_ptr<const CpuProgram> shared, const frontend::SourceFile *file)
      : shared(std::move(shared)), file(file) {}
  const KernelMetadata &metadata() const override { return shared->metadata; }
  std::shared_ptr<const CpuProgram> shared;
  const frontend::SourceFile *file;
};

class CpuDevice : public HostMemoryDevice {
public:
  /// `watched`: memory of another device, which this one runs beside.
  explicit CpuDevice(const CpuDeviceOptions &options, interp::MemoryMap *watched = nullptr)
      : HostMemoryDevice(options.check), options(options), watched(watched),
        context(mlir::MLIRContext::Threading::DISABLED) {
    frontend::registerDialects(context);
    context.loadDialect<TileDialect, cta::CtaDialect>();
  }

  std::string name() const override { return "cpu"; }
  std::string description() const override {
    unsigned threads = hostThreads(options.threads);
    return formatted("CPU interpreter, {} thread{}{}{}", threads, threads == 1 ? "" : "s",
                     options.algebraic ? ", algebraic" : "",
                     options.check ? ", memory checked" : "");
  }
  std::string target() const override { return fallbackTarget().name.str(); }
  unsigned multiprocessorCount() const override { return hostThreads(options.threads); }

  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override;

private:
  std::shared_ptr<const CpuProgram> compile(const KernelRequest &request,
                                            frontend::DiagnosticEngine &diagnostics);

  CpuDeviceOptions options;
  interp::MemoryMap *watched;
  mlir::MLIRContext context; ///< under `mutex`, like everything below
  KernelCache<const CpuProgram> programs{kProgramBytes};
};

} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static KernelMetadata describe(mlir::func::FuncOp function, const CompileOptions &options) {
  KernelMetadata metadata;
  metadata.entry = function.getName().str();
  metadata.target = options.target;
  metadata.numWarps = options.numWarps;
  metadata.threads = 32 * options.numWarps;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    KernelParameter p;
    p.index = int(i);
    if (auto index = function.getArgAttrOfType<mlir::IntegerAttr>(i, kSignatureIndexAttr))
      p.index = int(index.getInt());
    if (auto path = function.getArgAttrOfType<mlir::DenseI64ArrayAttr>(i, kSignaturePathAttr))
      p.path.assign(path.asArrayRef().begin(), path.asArrayRef().end());
    if (auto part = function.getArgAttrOfType<mlir::StringAttr>(i, kDescriptorPartAttr))
      p.kind = part.getValue() == "base"    ? KernelParameter::Kind::DescBase
               : part.getValue() == "shape" ? KernelParameter::Kind::DescShape
                                            : KernelParameter::Kind::DescStride;
    if (auto dim = function.getArgAttrOfType<mlir::IntegerAttr>(i, kDescriptorDimAttr))
      p.dim = int(dim.getInt());
    p.type = spelled(function.getArgumentTypes()[i]);
    metadata.params.push_back(std::move(p));
  }
  return metadata;
}

/// Everything but the lowering. False after a report.
static bool runPasses(mlir::ModuleOp module, frontend::DiagnosticEngine &diagnostics) {
  std::string message = "the passes failed";
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &d) {
    message += formatted(": {}", d);
    return mlir::success();
  });
  mlir::PassManager passes(module.getContext());
  buildSimplifyPipeline(passes);
  buildCtaPipeline(passes);
  if (mlir::succeeded(passes.run(module)))
    return true;
  diagnostics.error(nullptr, {}, message);
  return false;
}

std::shared_ptr<const CpuProgram> CpuDevice::compile(const KernelRequest &request,
                                                     frontend::DiagnosticEngine &diagnostics) {
  unsigned before = diagnostics.numErrors();
  auto shared = std::make_shared<CpuProgram>();
  CompileOptions chosen = request.options;
  chosen.checked = options.check;
  auto module = frontend::specialize(context, *request.file, *request.module, chosen, diagnostics,
                                     &shared->dependencies);
  if (!module || diagnostics.numErrors() != before)
    return nullptr;
  if (options.throughPasses && !runPasses(*module, diagnostics))
    return nullptr;
  auto functions = module->getOps<mlir::func::FuncOp>();
  interp::LoadOptions load;
  load.check = options.check;
  load.algebraic = options.algebraic;
  load.function = (*functions.begin()).getName().str();
  std::string error;
  shared->program = interp::Program::load(*module, load, error);
  if (!shared->program) {
    diagnostics.error(nullptr, {}, error).unsupported = true;
    return nullptr;
  }
  shared->metadata = describe(*functions.begin(), request.options);
  return shared;
}

std::unique_ptr<Kernel> CpuDevice::prepare(const KernelRequest &request,
                                           frontend::DiagnosticEngine &diagnostics) {
  std::lock_guard lock(mutex);
  std::string key = kernelKey(*request.file, request.options);
  std::shared_ptr<const CpuProgram> program = programs.find(key);
  if (!program) {
    program = compile(request, diagnostics);
    if (program)
      programs.insert(key, program, program->dependencies, kProgramSize);
  }
  return program ? std::make_unique<CpuKernel>(program, request.file) : nullptr;
}

/// The value that a parameter takes from the launch's arguments; null after a
/// report.
static const LaunchArg *findArgument(const KernelParameter &parameter,
                                     llvm::ArrayRef<LaunchArg> args, const std::string &entry,
                                     frontend::DiagnosticEngine &diagnostics) {
  const LaunchArg *arg = size_t(parameter.index) < args.size() ? &args[parameter.index] : nullptr;
  for (int step : parameter.path) {
    if (!arg || arg->kind != LaunchArg::Kind::Tuple || size_t(step) >= arg->elements.size())
      arg = nullptr;
    else
      arg = &arg->elements[step];
  }
  bool wantsPointer = parameter.type == "ptr";
  if (parameter.kind != KernelParameter::Kind::Arg) {
    if (arg && arg->kind == LaunchArg::Kind::Descriptor &&
        size_t(parameter.dim) < arg->shape.size())
      return arg;
    diagnostics.error(nullptr, {},
                      formatted("argument {} of `{}` must be a descriptor of {} dimensions or more",
                                parameter.index, entry, parameter.dim + 1));
    return nullptr;
  }
  bool fits = arg && (wantsPointer ? arg->kind == LaunchArg::Kind::Pointer
                                   : arg->kind == LaunchArg::Kind::Int ||
                                         arg->kind == LaunchArg::Kind::Float);
  if (fits)
    return arg;
  diagnostics.error(
      nullptr, {},
      formatted("argument {} of `{}` must be {}", parameter.index, entry,
                wantsPointer ? "a pointer" : formatted("a number of type {}", parameter.type)));
  return nullptr;
}

/// The part of a descriptor that a parameter names.
static int64_t descriptorPart(const KernelParameter &parameter, const LaunchArg &arg) {
  switch (parameter.kind) {
  case KernelParameter::Kind::DescShape:
    return arg.shape[parameter.dim];
  case KernelParameter::Kind::DescStride:
    return size_t(parameter.dim) < arg.strides.size() ? arg.strides[parameter.dim] : 1;
  default:
    return int64_t(arg.bits);
  }
}

/// How programs wait, and what assertions and prints say, is the other device's business.
static void keepFaultsOfLanguage(interp::Report &report) {
  llvm::erase_if(report.findings, [](const interp::Finding &f) {
    return f.kind == interp::FindingKind::Stuck || f.kind == interp::FindingKind::AssertFailed ||
           f.kind == interp::FindingKind::BadLaunch;
  });
  report.note.clear();
}

bool CpuDevice::launch(Kernel &kernel, const LaunchConfig &config,
                       frontend::DiagnosticEngine &diagnostics) {
  auto &cpu = static_cast<CpuKernel &>(kernel);
  std::vector<interp::Argument> arguments;
  for (const KernelParameter &parameter : cpu.metadata().params) {
    const LaunchArg *arg = findArgument(parameter, config.args, cpu.metadata().entry, diagnostics);
    if (!arg)
      return false;
    arguments.push_back(arg->kind == LaunchArg::Kind::Float
                            ? interp::Argument::real(arg->number)
                            : interp::Argument::integer(descriptorPart(parameter, *arg)));
  }
  interp::Grid grid{config.grid[0], config.grid[1], config.grid[2]};
  interp::RunOptions run;
  run.numThreads = options.threads;
  run.workLimit = options.launchLimit;
  run.memory = watched ? watched : &memory;
  llvm::raw_null_ostream nowhere;
  if (watched)
    run.printTo = &nowhere;
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (options.check) // the map of memory is shared
    lock.lock();
  interp::Report report = cpu.shared->program->run(grid, arguments, run);
  if (watched)
    keepFaultsOfLanguage(report);
  interp::reportTo(report, cpu.file, diagnostics);
  return report.ok();
}

std::unique_ptr<Device> runtime::createLanguageChecker(interp::MemoryMap &memory,
                                                       uint64_t launchLimit) {
  CpuDeviceOptions options;
  options.launchLimit = launchLimit;
  return std::make_unique<CpuDevice>(options, &memory);
}

std::unique_ptr<Device> runtime::createCpuDevice(const CpuDeviceOptions &options) {
  return std::make_unique<CpuDevice>(options);
}
