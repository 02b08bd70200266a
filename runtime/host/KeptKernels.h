//===- KeptKernels.h - the kernels that launches have prepared ------------===//
#ifndef TILE_RUNTIME_HOST_KEPTKERNELS_H
#define TILE_RUNTIME_HOST_KEPTKERNELS_H

#include "runtime/host/Tensor.h"
#include "llvm/ADT/StringMap.h"

namespace tile::host {

/// By what tells them apart. When they are too many all are forgotten, once nothing runs them: the
/// device keeps what it compiled for as long as it has room.
class KeptKernels {
public:
  /// On the emulator each holds 0.77 MB and more.
  static constexpr size_t kMost = 512;

  runtime::Kernel *find(llvm::StringRef key) const {
    auto it = kernels.find(key);
    return it == kernels.end() ? nullptr : it->second.get();
  }
  /// Stays where it is while launches are being noted, which name it.
  runtime::Kernel *keep(HostContext &context, llvm::StringRef key,
                        std::unique_ptr<runtime::Kernel> kernel) {
    if (kernels.size() >= kMost && !context.recording) {
      if (llvm::Error failed = context.device.synchronize())
        context.deviceError = llvm::toString(std::move(failed));
      else
        kernels.clear();
    }
    return (kernels[key] = std::move(kernel)).get();
  }
  size_t size() const { return kernels.size(); }

private:
  llvm::StringMap<std::unique_ptr<runtime::Kernel>> kernels;
};

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_KEPTKERNELS_H
