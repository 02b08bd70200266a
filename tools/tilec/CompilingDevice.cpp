//===- CompilingDevice.cpp - interpreted kernels, compiled as well --------===//
#include "tools/tilec/CompilingDevice.h"
#include "tools/tilec/Assembler.h"
#include "llvm/ADT/StringSet.h"

using namespace tile;
using namespace tile::runtime;

namespace {
class CompilingDevice : public Device {
public:
  CompilingDevice(std::unique_ptr<Device> inner, std::string target, bool assemble)
      : inner(std::move(inner)), gpu(std::move(target)), assemble(assemble) {}

  std::string name() const override { return inner->name(); }
  std::string description() const override {
    return inner->description() + "; compiled for " + gpu;
  }
  std::string target() const override { return gpu; }
  bool isCpu() const override { return inner->isCpu(); }
  unsigned multiprocessorCount() const override { return inner->multiprocessorCount(); }

  llvm::Expected<DevicePtr> allocate(uint64_t bytes) override { return inner->allocate(bytes); }
  llvm::Error free(DevicePtr pointer) override { return inner->free(pointer); }
  llvm::Error upload(DevicePtr to, const void *from, uint64_t bytes) override {
    return inner->upload(to, from, bytes);
  }
  llvm::Error download(void *to, DevicePtr from, uint64_t bytes) override {
    return inner->download(to, from, bytes);
  }
  llvm::Error fill(DevicePtr to, uint8_t byte, uint64_t bytes) override {
    return inner->fill(to, byte, bytes);
  }
  llvm::Error copy(DevicePtr to, DevicePtr from, uint64_t bytes) override {
    return inner->copy(to, from, bytes);
  }
  llvm::Error poison(DevicePtr to, uint8_t byte, uint64_t bytes) override {
    return inner->poison(to, byte, bytes);
  }

  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override {
    return inner->launch(kernel, config, diagnostics);
  }
  llvm::Error synchronize() override { return inner->synchronize(); }
  llvm::Expected<Timing> time(llvm::function_ref<bool()> body,
                              const TimingOptions &options) override {
    return inner->time(body, options);
  }

private:
  bool compile(const KernelRequest &request, frontend::DiagnosticEngine &diagnostics);

  std::unique_ptr<Device> inner;
  std::string gpu;
  bool assemble;
  Compiler compiler;
  llvm::StringSet<> accepted; ///< kernels that have been compiled
};
} // namespace

static std::string keyOf(const KernelRequest &request) {
  const CompileOptions &o = request.options;
  std::string key = request.file->name().str() + "\n" + o.kernel + "\n" + o.signature;
  for (const auto &[name, value] : o.constexprs)
    key += "\n" + name + "=" + value;
  return key + "\n" + std::to_string(o.numWarps) + " " + std::to_string(o.debug);
}

bool CompilingDevice::compile(const KernelRequest &request,
                              frontend::DiagnosticEngine &diagnostics) {
  CompileOptions options = request.options;
  options.target = gpu;
  CompileResult result = compiler.compile(*request.file, options);
  std::string cubin, error;
  int registers = 0;
  bool ok = result.ok();
  if (!ok)
    error = result.diagnostics.str();
  else if (assemble)
    ok = tilec::assembleCubin(result.output, gpu, cubin, registers, error);
  if (ok)
    return true;
  diagnostics
      .error(nullptr, {}, "`" + options.kernel + "` does not compile for " + gpu + ": " + error)
      .unsupported = result.status == CompileResult::Status::Unsupported;
  return false;
}

std::unique_ptr<Kernel> CompilingDevice::prepare(const KernelRequest &request,
                                                 frontend::DiagnosticEngine &diagnostics) {
  std::unique_ptr<Kernel> kernel = inner->prepare(request, diagnostics);
  if (!kernel)
    return nullptr;
  std::string key = keyOf(request);
  if (!accepted.contains(key)) {
    if (!compile(request, diagnostics))
      return nullptr;
    accepted.insert(key);
  }
  return kernel;
}

std::unique_ptr<Device> tilec::createCompilingDevice(std::unique_ptr<Device> inner,
                                                     std::string target, bool assemble) {
  return std::make_unique<CompilingDevice>(std::move(inner), std::move(target), assemble);
}
