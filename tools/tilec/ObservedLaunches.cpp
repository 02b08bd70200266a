//===- ObservedLaunches.cpp - what host functions would launch ------------===//
#include "tools/tilec/ObservedLaunches.h"
#include "frontend/eval/Evaluator.h"
#include "runtime/devices/ForwardingDevice.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "llvm/ADT/ScopeExit.h"

using namespace tilec;
using namespace tile;
using namespace tile::runtime;
using llvm::StringRef;

namespace {
class ObservedVariant : public Kernel {
public:
  explicit ObservedVariant(size_t index) : index(index) {}
  const KernelMetadata &metadata() const override { return described; }
  size_t index;

private:
  KernelMetadata described;
};

/// Memory is the host's, so that functions may read what nobody wrote.
class ObservingDevice : public ForwardingDevice {
public:
  ObservingDevice(std::unique_ptr<Device> inner, std::string target, unsigned multiprocessors)
      : ForwardingDevice(std::move(inner)), gpu(std::move(target)),
        multiprocessors(multiprocessors) {}

  std::string name() const override { return "cuda:0"; }
  std::string target() const override { return gpu; }
  unsigned multiprocessorCount() const override { return multiprocessors; }

  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &) override {
    ObservedKernel &kernel = kernels.emplace_back();
    kernel.options = request.options;
    kernel.file = request.file;
    kernel.module = request.module;
    return std::make_unique<ObservedVariant>(kernels.size() - 1);
  }
  bool launch(Kernel &kernel, const LaunchConfig &config, frontend::DiagnosticEngine &) override {
    note(kernels[static_cast<ObservedVariant &>(kernel).index], config);
    return true;
  }
  llvm::Expected<Timing> time(llvm::function_ref<bool()> body, const TimingOptions &) override {
    (void)body();
    return Timing{1, 1, 1, 1, {1}};
  }

  std::string function, parameters; ///< the case that runs
  std::vector<ObservedKernel> kernels;

private:
  void note(ObservedKernel &kernel, const LaunchConfig &config);

  std::string gpu;
  unsigned multiprocessors;
};

/// Tells the device which case runs, and keeps what went wrong.
class Observer : public host::SuiteObserver {
public:
  explicit Observer(ObservingDevice &device) : device(device) {}
  void startCase(StringRef function, StringRef parameters, size_t, size_t) override {
    device.function = function.str();
    device.parameters = parameters.str();
  }
  void finishCase(StringRef, const host::CaseResult &result) override {
    if (result.error && !firstError)
      firstError = result.error->diagnostic;
  }
  std::optional<frontend::Diagnostic> firstError;

private:
  ObservingDevice &device;
};
} // namespace

static const ast::FunctionDef *findKernel(const ast::Body &body, StringRef name) {
  for (const ast::StmtPtr &statement : body)
    if (auto *function = llvm::dyn_cast<ast::FunctionDef>(statement.get()))
      if (function->name == name)
        return function;
  return nullptr;
}

void ObservingDevice::note(ObservedKernel &kernel, const LaunchConfig &config) {
  if (kernel.launches++)
    return;
  kernel.function = function;
  kernel.parameters = parameters;
  kernel.grid = config.grid;
  const ast::FunctionDef *def =
      kernel.module ? findKernel(kernel.module->body, kernel.options.kernel) : nullptr;
  if (!def)
    return;
  size_t entry = 0; // of the signature: constexprs have none
  for (const ast::Parameter &parameter : def->params) {
    if (eval::isConstexprAnnotation(parameter.annotation.get()))
      continue;
    if (entry >= config.args.size())
      return;
    const LaunchArg &argument = config.args[entry++];
    if (argument.kind == LaunchArg::Kind::Int)
      kernel.values[parameter.name] = int64_t(argument.bits);
  }
}

std::optional<std::vector<ObservedKernel>>
tilec::observeLaunches(StringRef command, HostFile &file, host::Purpose purpose,
                       const std::string &name, llvm::ArrayRef<std::string> arguments,
                       const CompileOptions &compile, const DeviceModel *model) {
  CpuDeviceOptions memory;
  memory.check = false;
  ObservingDevice device(createCpuDevice(memory), compile.target,
                         model ? unsigned(model->multiprocessors) : 1);
  llvm::scope_exit release([&] { // they hold the device, which ends here
    file.suite = nullptr;
    file.session = nullptr;
  });
  file.prepare(device, compile.includePaths);
  file.session->hostContext()->ignoresReferences = true; // results are nobody's
  file.session->hostContext()->skipsLargeRandom = true;
  Observer observer(device);
  std::vector<host::FunctionResult> results;
  if (auto error = file.suite->run(purpose, {name}, file.overrides(arguments), observer, results)) {
    printError(command, error->diagnostic.message);
    return std::nullopt;
  }
  llvm::erase_if(device.kernels, [](const ObservedKernel &kernel) { return !kernel.launches; });
  if (device.kernels.empty()) {
    if (observer.firstError) {
      frontend::DiagnosticEngine said;
      said.error(observer.firstError->file, observer.firstError->range,
                 observer.firstError->message);
      said.print(llvm::errs(), colorMessages());
    } else {
      printError(command, formatted("`{}` launches nothing", name));
    }
    return std::nullopt;
  }
  return std::move(device.kernels);
}
