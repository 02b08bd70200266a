//===- CpuDevice.cpp - host functions on the interpreter ------------------===//
//
// Device memory is host memory with a guard zone on either side. Kernels are
// specialised and compiled to interpreter programs once for each combination
// of source and options.
//
//===----------------------------------------------------------------------===//
#include "frontend/Specialize.h"
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "runtime/Device.h"
#include "runtime/Timing.h"
#include "runtime/interp/Interpreter.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

using namespace tile;
using namespace tile::runtime;

namespace {

/// One specialisation, shared by all kernels prepared from the same request.
struct CpuProgram {
  std::unique_ptr<interp::Program> program;
  KernelMetadata metadata;
};

class CpuKernel : public Kernel {
public:
  CpuKernel(std::shared_ptr<const CpuProgram> shared, const frontend::SourceFile *file)
      : shared(std::move(shared)), file(file) {}
  const KernelMetadata &metadata() const override { return shared->metadata; }
  std::shared_ptr<const CpuProgram> shared;
  const frontend::SourceFile *file;
};

class CpuDevice : public Device {
public:
  explicit CpuDevice(const CpuDeviceOptions &options)
      : options(options), context(mlir::MLIRContext::Threading::DISABLED) {
    frontend::registerDialects(context);
    context.loadDialect<TileDialect, cta::CtaDialect>();
  }
  ~CpuDevice() override {
    for (auto &[address, block] : blocks)
      ::operator delete[](block.raw, std::align_val_t(kAlignment));
  }

  std::string name() const override { return "cpu"; }
  std::string description() const override {
    return llvm::formatv("CPU interpreter, {0} thread{1}{2}", threads(), threads() == 1 ? "" : "s",
                         options.check ? ", memory checked" : "");
  }
  std::string target() const override { return "sm_90a"; }
  bool isCpu() const override { return true; }
  unsigned multiprocessorCount() const override { return threads(); }

  llvm::Expected<DevicePtr> allocate(uint64_t bytes) override;
  llvm::Error free(DevicePtr pointer) override;
  llvm::Error upload(DevicePtr to, const void *from, uint64_t bytes) override;
  llvm::Error download(void *to, DevicePtr from, uint64_t bytes) override;
  llvm::Error fill(DevicePtr to, uint8_t byte, uint64_t bytes) override;
  llvm::Error copy(DevicePtr to, DevicePtr from, uint64_t bytes) override;
  llvm::Error poison(DevicePtr to, uint8_t byte, uint64_t bytes) override;

  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override;
  llvm::Error synchronize() override { return llvm::Error::success(); }
  llvm::Expected<Timing> time(llvm::function_ref<bool()> body,
                              const TimingOptions &options) override;

private:
  static constexpr uint64_t kAlignment = 256, kGuard = 256;
  static constexpr uint8_t kGuardByte = 0xfb, kFreshByte = 0xcd;
  struct Block {
    uint8_t *raw;
    uint64_t bytes;
  };

  unsigned threads() const {
    return options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  }
  llvm::Error inBounds(DevicePtr at, uint64_t bytes, const char *what);
  std::shared_ptr<const CpuProgram> compile(const KernelRequest &request,
                                            frontend::DiagnosticEngine &diagnostics);

  CpuDeviceOptions options;
  std::mutex mutex; ///< of everything below
  mlir::MLIRContext context;
  std::map<DevicePtr, Block> blocks;
  interp::MemoryMap memory;
  llvm::StringMap<std::shared_ptr<const CpuProgram>> programs;
};

void *host(DevicePtr pointer) { return reinterpret_cast<void *>(pointer); }

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

llvm::Expected<DevicePtr> CpuDevice::allocate(uint64_t bytes) {
  uint64_t total = bytes + 2 * kGuard;
  void *raw =
      total < bytes ? nullptr : ::operator new[](total, std::align_val_t(kAlignment), std::nothrow);
  if (!raw)
    return llvm::createStringError(
        llvm::formatv("out of memory: {0} bytes were asked for", bytes).str());
  auto *at = static_cast<uint8_t *>(raw);
  std::memset(at, kGuardByte, kGuard);
  std::memset(at + kGuard, kFreshByte, bytes);
  std::memset(at + kGuard + bytes, kGuardByte, kGuard);
  std::lock_guard lock(mutex);
  auto pointer = reinterpret_cast<DevicePtr>(at + kGuard);
  blocks[pointer] = {at, bytes};
  memory.add(host(pointer), bytes, /*initialized=*/!options.check);
  return pointer;
}

llvm::Error CpuDevice::free(DevicePtr pointer) {
  if (!pointer)
    return llvm::Error::success();
  std::lock_guard lock(mutex);
  auto it = blocks.find(pointer);
  if (it == blocks.end())
    return llvm::createStringError(
        llvm::formatv("address {0:x} was not allocated, or has been freed", pointer).str());
  Block block = it->second;
  blocks.erase(it);
  memory.remove(host(pointer));
  auto intact = [](const uint8_t *guard) {
    return std::all_of(guard, guard + kGuard, [](uint8_t b) { return b == kGuardByte; });
  };
  bool before = intact(block.raw), after = intact(block.raw + kGuard + block.bytes);
  ::operator delete[](block.raw, std::align_val_t(kAlignment));
  if (before && after)
    return llvm::Error::success();
  return llvm::createStringError(
      llvm::formatv("something wrote {0} a buffer of {1} bytes; run with checks to find out where",
                    before ? "past the end of" : "before the start of", block.bytes)
          .str());
}

/// Host functions may only touch memory that is allocated.
llvm::Error CpuDevice::inBounds(DevicePtr at, uint64_t bytes, const char *what) {
  if (bytes == 0)
    return llvm::Error::success();
  const interp::MemoryMap::Buffer *buffer = memory.find(at);
  if (buffer && bytes <= buffer->bytes && at - buffer->base <= buffer->bytes - bytes)
    return llvm::Error::success();
  return llvm::createStringError(
      buffer ? llvm::formatv("{0} of {1} bytes at byte {2} of a buffer of {3} bytes", what, bytes,
                             at - buffer->base, buffer->bytes)
                   .str()
             : llvm::formatv("{0} of {1} bytes at address {2:x}, which is in no buffer", what,
                             bytes, at)
                   .str());
}

llvm::Error CpuDevice::upload(DevicePtr to, const void *from, uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (llvm::Error error = inBounds(to, bytes, "upload"))
    return error;
  if (bytes == 0)
    return llvm::Error::success();
  std::memcpy(host(to), from, bytes);
  memory.setInitialized(host(to), bytes, true);
  return llvm::Error::success();
}

llvm::Error CpuDevice::download(void *to, DevicePtr from, uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (llvm::Error error = inBounds(from, bytes, "download"))
    return error;
  if (bytes != 0)
    std::memcpy(to, host(from), bytes);
  return llvm::Error::success();
}

llvm::Error CpuDevice::fill(DevicePtr to, uint8_t byte, uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (llvm::Error error = inBounds(to, bytes, "fill"))
    return error;
  std::memset(host(to), byte, bytes);
  memory.setInitialized(host(to), bytes, true);
  return llvm::Error::success();
}

llvm::Error CpuDevice::poison(DevicePtr to, uint8_t byte, uint64_t bytes) {
  if (llvm::Error error = fill(to, byte, bytes))
    return error;
  std::lock_guard lock(mutex);
  if (options.check)
    memory.setInitialized(host(to), bytes, false);
  return llvm::Error::success();
}

llvm::Error CpuDevice::copy(DevicePtr to, DevicePtr from, uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (llvm::Error error = inBounds(from, bytes, "copy"))
    return error;
  if (llvm::Error error = inBounds(to, bytes, "copy"))
    return error;
  std::memmove(host(to), host(from), bytes);
  memory.copyInitialized(host(to), host(from), bytes);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Everything that the specialised program depends on, as one string.
static std::string keyOf(const KernelRequest &request) {
  const CompileOptions &o = request.options;
  std::string key;
  auto add = [&](llvm::StringRef field) { key += (llvm::Twine(field.size()) + ":" + field).str(); };
  add(request.file->name());
  add(request.file->text());
  add(o.kernel);
  add(o.signature);
  for (const auto &[name, value] : o.constexprs) {
    add(name);
    add(value);
  }
  for (const std::string &path : o.includePaths)
    add(path);
  add(o.target);
  add(llvm::formatv("{0} {1} {2}", o.numWarps, o.numStages, o.debug).str());
  return key;
}

/// A parameter's type as metadata spell it.
static std::string spelling(mlir::Type type) {
  if (isa<PtrType>(type))
    return "ptr";
  if (type.isBF16())
    return "bf16";
  return (isa<mlir::FloatType>(type) ? "fp" : "i") + std::to_string(type.getIntOrFloatBitWidth());
}

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
    p.type = spelling(function.getArgumentTypes()[i]);
    metadata.params.push_back(std::move(p));
  }
  return metadata;
}

/// Everything but the lowering. False after a report.
static bool runPasses(mlir::ModuleOp module, frontend::DiagnosticEngine &diagnostics) {
  std::string message = "the passes failed";
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &d) {
    message += ": " + d.str();
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
  auto module =
      frontend::specialize(context, *request.file, *request.module, request.options, diagnostics);
  if (!module || diagnostics.numErrors() != before)
    return nullptr;
  if (options.throughPasses && !runPasses(*module, diagnostics))
    return nullptr;
  auto functions = module->getOps<mlir::func::FuncOp>();
  interp::LoadOptions load;
  load.check = options.check;
  load.function = (*functions.begin()).getName().str();
  auto shared = std::make_shared<CpuProgram>();
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
  auto &slot = programs[keyOf(request)];
  if (!slot)
    slot = compile(request, diagnostics);
  return slot ? std::make_unique<CpuKernel>(slot, request.file) : nullptr;
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
  bool fits = arg && (wantsPointer ? arg->kind == LaunchArg::Kind::Pointer
                                   : arg->kind == LaunchArg::Kind::Int ||
                                         arg->kind == LaunchArg::Kind::Float);
  if (fits)
    return arg;
  diagnostics.error(nullptr, {},
                    llvm::formatv("argument {0} of `{1}` must be {2}", parameter.index, entry,
                                  wantsPointer ? "a pointer" : "a number of type " + parameter.type)
                        .str());
  return nullptr;
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
                            : interp::Argument::integer(int64_t(arg->bits)));
  }
  interp::Grid grid{config.grid[0], config.grid[1], config.grid[2]};
  interp::RunOptions run;
  run.numThreads = options.threads;
  run.memory = &memory;
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (options.check) // the map of memory is shared
    lock.lock();
  interp::Report report = cpu.shared->program->run(grid, arguments, run);
  interp::reportTo(report, cpu.file, diagnostics);
  return report.ok();
}

llvm::Expected<Timing> CpuDevice::time(llvm::function_ref<bool()> body,
                                       const TimingOptions &timing) {
  using Clock = std::chrono::steady_clock;
  auto giveUp = [] { return llvm::createStringError("the timed function failed"); };
  std::vector<double> milliseconds;
  double spent = 0;
  for (bool warm = true; warm; warm = spent < timing.warmupMilliseconds) {
    auto start = Clock::now();
    if (!body())
      return giveUp();
    spent += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
  spent = 0;
  while (spent < timing.repeatMilliseconds || int(milliseconds.size()) < timing.minimumRepeats) {
    auto start = Clock::now();
    if (!body())
      return giveUp();
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    spent += milliseconds.back();
  }
  return summarize(std::move(milliseconds));
}

std::unique_ptr<Device> runtime::createCpuDevice(const CpuDeviceOptions &options) {
  return std::make_unique<CpuDevice>(options);
}
