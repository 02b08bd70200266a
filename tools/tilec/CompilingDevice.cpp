//===- CompilingDevice.cpp - interpreted kernels, compiled as well --------===//
#include "tools/tilec/CompilingDevice.h"
#include "runtime/devices/ForwardingDevice.h"
#include "tools/tilec/Assembler.h"
#include "llvm/ADT/StringSet.h"

using namespace tile;
using namespace tile::runtime;

namespace {
class CompilingDevice : public ForwardingDevice {
public:
  CompilingDevice(std::unique_ptr<Device> inner, std::string target, bool assemble)
      : ForwardingDevice(std::move(inner)), gpu(std::move(target)), assemble(assemble) {}

  std::string description() const override {
    return inner->description() + "; compiled for " + gpu;
  }
  std::string target() const override { return gpu; }
  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;

private:
  bool compile(const KernelRequest &request, frontend::DiagnosticEngine &diagnostics);

  std::string gpu;
  bool assemble;
  Compiler compiler;
  llvm::StringSet<> accepted; ///< kernels that have been compiled
};
} // namespace

static std::string keyOf(const KernelRequest &request) {
  const CompileOptions &o = request.options;
  std::string key = request.file->name().str() + "\n" + o.kernel + "\n" + o.signature;
  if (request.file->name().ends_with(".mlir")) // not the author's, but one of many kernels
    key += "\n" + request.file->text().str();
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
