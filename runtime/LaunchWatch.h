//===- LaunchWatch.h - launches that are counted, timed, waited for -------===//
//
// Around every launch that the C interface passes on. Where nobody listens and launches do
// not block, it is one counter.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_LAUNCHWATCH_H
#define TILE_RUNTIME_LAUNCHWATCH_H

#include "runtime/CompileService.h"

namespace tile::runtime {

/// Waits for a launch. An error of the device names the kernel, its arguments and its
/// source; `arguments` is as for LoadedKernel::launch, or empty if they are not known.
llvm::Error waitFor(const LoadedKernel &loaded, cuda::Stream stream, const uint32_t grid[3],
                    llvm::ArrayRef<const void *> arguments);

llvm::Error noteLaunch(const CompileService &service, const LoadedKernel &loaded, double start,
                       llvm::Error error);

/// Runs `launch`, which returns an error. A null service watches nothing.
template <typename Launch>
llvm::Error watched(const CompileService *service, const LoadedKernel &loaded, cuda::Stream stream,
                    const uint32_t *grid, llvm::ArrayRef<const void *> arguments, Launch launch) {
  if (!service)
    return launch();
  Observer &observer = service->observer();
  observer.countLaunch();
  if (LLVM_LIKELY(!observer.wantsLaunches() && !service->isBlocking()))
    return launch();
  double start = Observer::now();
  llvm::Error error = launch();
  if (!error && service->isBlocking())
    error = waitFor(loaded, stream, grid, arguments);
  return noteLaunch(*service, loaded, start, std::move(error));
}

} // namespace tile::runtime

#endif // TILE_RUNTIME_LAUNCHWATCH_H
