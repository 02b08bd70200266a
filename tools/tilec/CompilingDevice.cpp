//===- CompilingDevice.cpp - interpreted kernels, compiled as well --------===//
#include "tools/tilec/CompilingDevice.h"
#include "runtime/devices/ForwardingDevice.h"
#include "text/Format.h"
#include "tools/tilec/Assembler.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::runtime;

namespace {
class CompilingDevice : public ForwardingDevice {
public:
  CompilingDevice(std::unique_ptr<Device> inner, std::string target, bool assemble,
                  std::string folder)
      : ForwardingDevice(std::move(inner)), gpu(std::move(target)), assemble(assemble),
        folder(std::move(folder)) {}

  std::string description() const override {
    return formatted("{}; compiled for {}", inner->description(), gpu);
  }
  std::string target() const override { return gpu; }
  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;

private:
  bool compile(const KernelRequest &request, frontend::DiagnosticEngine &diagnostics);

  bool save(const KernelRequest &request, llvm::StringRef ptx, std::string &error);

  std::string gpu;
  bool assemble;
  std::string folder;
  Compiler compiler;
  llvm::StringSet<> accepted; ///< kernels that have been compiled
  llvm::StringMap<int> saved; ///< how many of each name
};
} // namespace

static std::string keyOf(const KernelRequest &request) {
  const CompileOptions &o = request.options;
  std::string key = formatted("{}\n{}\n{}", request.file->name(), o.kernel, o.signature);
  if (request.file->name().ends_with(".mlir")) // not the author's, but one of many kernels
    key += formatted("\n{}", request.file->text());
  for (const auto &[name, value] : o.constexprs)
    key += formatted("\n{}={}", name, value);
  return formatted("{}\n{} {}", key, o.numWarps, o.debug);
}

bool CompilingDevice::save(const KernelRequest &request, llvm::StringRef ptx, std::string &error) {
  std::string name =
      (llvm::sys::path::stem(request.file->name()).str() + "." + request.options.kernel);
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, formatted("{}.{}.ptx", name, saved[name]++));
  std::error_code failed;
  llvm::raw_fd_ostream file(path, failed);
  if (failed) {
    error = formatted("cannot write `{}`: {}", path, failed.message());
    return false;
  }
  file << ptx;
  return true;
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
  else if (!folder.empty())
    ok = save(request, result.output, error);
  if (ok && assemble)
    ok = tilec::assembleCubin(result.output, gpu, cubin, registers, error);
  if (ok)
    return true;
  diagnostics
      .error(nullptr, {}, formatted("`{}` does not compile for {}: {}", options.kernel, gpu, error))
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
                                                     std::string target, bool assemble,
                                                     std::string folder) {
  return std::make_unique<CompilingDevice>(std::move(inner), std::move(target), assemble,
                                           std::move(folder));
}
