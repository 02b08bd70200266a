//===- FunctionMachine.h - where host functions' calls are rehearsed ------===//
#ifndef TILE_RUNTIME_HOST_FUNCTIONMACHINE_H
#define TILE_RUNTIME_HOST_FUNCTIONMACHINE_H

#include "runtime/FunctionTuner.h"
#include "runtime/host/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <mutex>

namespace tile::host {

/// The arguments of a launch; `values` are those of the function's parameters.
std::vector<runtime::LaunchArg> launchArguments(const TensorProgram &program,
                                                const TensorLaunch &launch,
                                                llvm::ArrayRef<PyValue> values,
                                                llvm::ArrayRef<TensorPlace> places);

/// Calls with these values on a device that is no CPU.
class FunctionMachine final : public runtime::TuningMachine {
public:
  using RequestOf = std::function<runtime::KernelRequest(const TensorLaunch &)>;
  FunctionMachine(runtime::Device &device, llvm::ArrayRef<PyValue> values, RequestOf requestOf)
      : device(device), values(values), requestOf(std::move(requestOf)) {}

  llvm::Error prepare(const TensorLaunch &launch) override;
  llvm::Error launch(const TensorProgram &program, const TensorLaunch &launch,
                     llvm::ArrayRef<TensorPlace> places) override;
  llvm::Expected<double> time(llvm::function_ref<llvm::Error()> body) override;
  llvm::Expected<uint64_t> allocate(uint64_t bytes) override { return device.allocate(bytes); }
  llvm::Error free(uint64_t address) override { return device.free(address); }
  llvm::Error copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    return device.copy(to, from, bytes);
  }

private:
  runtime::Device &device;
  llvm::ArrayRef<PyValue> values;
  RequestOf requestOf;
  std::mutex mutex; ///< of the kernels
  llvm::StringMap<std::unique_ptr<runtime::Kernel>> kernels;
};

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_FUNCTIONMACHINE_H
