//===- CudaDevice.cpp - host functions on a GPU ---------------------------===//
//
// Device.h in terms of the runtime's pieces: kernels compile through the
// caches, everything runs in order on one stream of the primary context.
//
//===----------------------------------------------------------------------===//
#include "runtime/CudaDevice.h"
#include "runtime/Memory.h"
#include "runtime/PackedArguments.h"
#include "runtime/Timing.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;

namespace {
class CudaKernel : public Kernel {
public:
  explicit CudaKernel(std::shared_ptr<const LoadedKernel> loaded) : loaded(std::move(loaded)) {}
  const KernelMetadata &metadata() const override { return loaded->metadata(); }
  std::shared_ptr<const LoadedKernel> loaded;
};

class CudaDevice : public Device {
public:
  CudaDevice(std::shared_ptr<Context> context, StreamHandle stream, CompileFunction compiler,
             ServiceSettings settings)
      : context(std::move(context)), stream(std::move(stream)),
        service(std::move(compiler), std::move(settings)) {}

  std::string name() const override { return formatted("cuda:{}", context->device().ordinal); }
  std::string description() const override {
    return formatted("{}, CUDA {} driver", model(), cuda::formatVersion(context->api().version()));
  }
  std::string model() const override {
    const DeviceInfo &info = context->device();
    return formatted("{}, {} SMs", info.name, info.multiprocessors);
  }
  std::string target() const override { return context->device().target(); }
  bool isCpu() const override { return false; }
  unsigned multiprocessorCount() const override { return context->device().multiprocessors; }

  llvm::Expected<DevicePtr> allocate(uint64_t bytes) override {
    auto pointer = allocateDevice(*context, bytes);
    if (!pointer)
      return pointer.takeError();
    return static_cast<DevicePtr>(*pointer);
  }
  llvm::Error free(DevicePtr pointer) override {
    if (llvm::Error error = synchronize()) // what still runs may use it
      return error;
    return freeDevice(*context, pointer);
  }
  llvm::Error upload(DevicePtr to, const void *from, uint64_t bytes) override {
    return copyToDevice(*context, to, from, bytes, stream.handle());
  }
  llvm::Error download(void *to, DevicePtr from, uint64_t bytes) override {
    return copyToHost(*context, to, from, bytes, stream.handle());
  }
  llvm::Error fill(DevicePtr to, uint8_t byte, uint64_t bytes) override {
    return fillDevice(*context, to, byte, bytes, stream.handle());
  }
  llvm::Error copy(DevicePtr to, DevicePtr from, uint64_t bytes) override {
    return copyOnDevice(*context, to, from, bytes, stream.handle());
  }
  llvm::Error poison(DevicePtr to, uint8_t byte, uint64_t bytes) override {
    return fill(to, byte, bytes); // compute-sanitizer is the checking GPU
  }
  llvm::Error synchronize() override { return runtime::synchronize(*context, stream.handle()); }
  std::optional<double> estimate(const KernelRequest &request, LaunchOutline outline) override {
    outline.device = context->device().name;
    return service.estimate(*request.file, request.options, outline);
  }

  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override;
  llvm::Expected<Timing> time(llvm::function_ref<bool()> body,
                              const TimingOptions &options) override {
    return timeOnStream(context, stream.handle(), body, options);
  }

private:
  std::shared_ptr<Context> context;
  StreamHandle stream;
  CompileService service;
};
} // namespace

std::unique_ptr<Kernel> CudaDevice::prepare(const KernelRequest &request,
                                            frontend::DiagnosticEngine &diagnostics) {
  unsigned before = diagnostics.numErrors();
  auto report = [&](llvm::Error error) {
    std::string message = takeError(std::move(error)).message;
    if (diagnostics.numErrors() == before) // else it has been reported with its place
      diagnostics.error(nullptr, {}, message);
    return nullptr;
  };
  auto compiled = service.compile(*request.file, request.options, &diagnostics);
  if (!compiled)
    return report(compiled.takeError());
  auto loaded = service.share(std::move(*compiled))->loadOn(context, &service.observer());
  if (!loaded)
    return report(loaded.takeError());
  return std::make_unique<CudaKernel>(std::move(*loaded));
}

bool CudaDevice::launch(Kernel &kernel, const LaunchConfig &config,
                        frontend::DiagnosticEngine &diagnostics) {
  const LoadedKernel &loaded = *static_cast<CudaKernel &>(kernel).loaded;
  PackedArguments arguments(loaded.metadata(), config.args);
  llvm::Error error = loaded.launch(stream.handle(), config.grid.data(), arguments.pointers());
  if (!error)
    return true;
  diagnostics.error(nullptr, {}, takeError(std::move(error)).message);
  return false;
}

llvm::Expected<std::unique_ptr<Device>> runtime::createCudaDevice(const cuda::CudaApi &api,
                                                                  CompileFunction compiler,
                                                                  const CudaDeviceOptions &options,
                                                                  EstimateFunction estimator) {
  auto context = Context::primary(api, options.ordinal);
  if (!context)
    return context.takeError();
  auto stream = StreamHandle::create(*context);
  if (!stream)
    return stream.takeError();
  ServiceSettings settings;
  settings.cacheFolder = options.cacheDirectory;
  settings.estimator = std::move(estimator);
  return std::make_unique<CudaDevice>(std::move(*context), std::move(*stream), std::move(compiler),
                                      std::move(settings));
}

llvm::Expected<std::unique_ptr<Device>>
runtime::createCudaDevice(const CudaDeviceOptions &options) {
  auto api = cuda::CudaApi::get();
  if (!api)
    return api.takeError();
  PooledCompiler pool = pooledCompiler();
  return createCudaDevice(*api, std::move(pool.compile), options, std::move(pool.estimate));
}
