//===- ForwardingDevice.h - a device on top of another --------------------===//
//
// Does everything on the inner device: what stands between host functions and a
// machine derives from it, and overrides what it is there for.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DEVICES_FORWARDINGDEVICE_H
#define TILE_RUNTIME_DEVICES_FORWARDINGDEVICE_H

#include "runtime/Device.h"

namespace tile::runtime {

class ForwardingDevice : public Device {
public:
  explicit ForwardingDevice(std::unique_ptr<Device> inner) : inner(std::move(inner)) {}

  std::string name() const override { return inner->name(); }
  std::string description() const override { return inner->description(); }
  std::string target() const override { return inner->target(); }
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
                                  frontend::DiagnosticEngine &diagnostics) override {
    return inner->prepare(request, diagnostics);
  }
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override {
    return inner->launch(kernel, config, diagnostics);
  }
  llvm::Error synchronize() override { return inner->synchronize(); }
  std::optional<double> estimate(const KernelRequest &request, LaunchOutline outline) override {
    return inner->estimate(request, std::move(outline));
  }
  llvm::Expected<Timing> time(llvm::function_ref<bool()> body,
                              const TimingOptions &options) override {
    return inner->time(body, options);
  }

protected:
  std::unique_ptr<Device> inner;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_DEVICES_FORWARDINGDEVICE_H
