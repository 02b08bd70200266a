//===- WarmKernels.cpp - several kernels compiled at the same time --------===//
#include "runtime/capi/WarmKernels.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"

using namespace tile;
using namespace tile::runtime;

static std::shared_ptr<const LoadedKernel> warm(CompileService &service, const TensorLaunch &launch,
                                                const std::shared_ptr<Context> &where) {
  auto compiled = service.compile(*launch.source, launch.options);
  if (!compiled) {
    llvm::consumeError(compiled.takeError());
    return nullptr;
  }
  auto loaded = service.share(std::move(*compiled))->loadOn(where);
  if (loaded) {
    llvm::consumeError((*loaded)->prepareFor(launch.grid.data()));
    return std::move(*loaded);
  }
  llvm::consumeError(loaded.takeError());
  return nullptr;
}

std::vector<std::shared_ptr<const LoadedKernel>>
capi::warmKernels(CompileService &service, llvm::ArrayRef<const TensorLaunch *> launches,
                  const std::shared_ptr<Context> &where) {
  std::vector<std::shared_ptr<const LoadedKernel>> kernels(launches.size());
  auto most = llvm::hardware_concurrency(unsigned(launches.size()));
  if (launches.size() < 2 || most.compute_thread_count() < 2)
    return kernels;
  llvm::DefaultThreadPool pool(most);
  for (size_t i = 0; i < launches.size(); ++i)
    pool.async([&, i] { kernels[i] = warm(service, *launches[i], where); });
  pool.wait();
  return kernels;
}
