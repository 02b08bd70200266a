//===- LaunchGraph.cpp - one launch, recorded for the driver to repeat ----===//
#include "runtime/LaunchGraph.h"
#include "llvm/ADT/ScopeExit.h"

using namespace tile;
using namespace tile::runtime;
using cuda::Result;

LaunchGraph &LaunchGraph::operator=(LaunchGraph &&other) noexcept {
  std::swap(owner, other.owner);
  std::swap(graph, other.graph);
  return *this;
}

void LaunchGraph::reset() {
  if (graph)
    (void)owner->api().cuGraphExecDestroy(graph);
  graph = nullptr;
  owner.reset();
}

llvm::Expected<LaunchGraph>
LaunchGraph::record(std::shared_ptr<Context> context, cuda::Stream like,
                    llvm::function_ref<llvm::Error(cuda::Stream)> launch) {
  const cuda::CudaApi &api = context->api();
  TILE_ENTER_CONTEXT(api, context->handle());
  // The thread may be recording another stream, in a mode that forbids what follows.
  auto mode = cuda::CaptureMode::Relaxed;
  if (llvm::Error error = api.check(api.cuThreadExchangeStreamCaptureMode(&mode),
                                    "cuThreadExchangeStreamCaptureMode"))
    return std::move(error);
  llvm::scope_exit restoreMode([&] { (void)api.cuThreadExchangeStreamCaptureMode(&mode); });

  // The default streams (handles 0 to 2) have nothing to hand on.
  bool isDefault = reinterpret_cast<uintptr_t>(like) <= 2;
  int priority = 0;
  if (!isDefault)
    if (llvm::Error error =
            api.check(api.cuStreamGetPriority(like, &priority), "cuStreamGetPriority"))
      return std::move(error);
  cuda::Stream stream = nullptr;
  if (llvm::Error error =
          api.check(api.cuStreamCreateWithPriority(&stream, cuda::StreamNonBlocking, priority),
                    "cuStreamCreateWithPriority"))
    return std::move(error);
  llvm::scope_exit destroyStream([&] { (void)api.cuStreamDestroy(stream); });
  if (!isDefault)
    if (llvm::Error error =
            api.check(api.cuStreamCopyAttributes(stream, like), "cuStreamCopyAttributes"))
      return std::move(error);

  if (llvm::Error error = api.check(api.cuStreamBeginCapture(stream, cuda::CaptureMode::Relaxed),
                                    "cuStreamBeginCapture"))
    return std::move(error);
  llvm::Error launched = launch(stream);
  cuda::Graph recorded = nullptr;
  Result ended = api.cuStreamEndCapture(stream, &recorded);
  llvm::scope_exit destroyRecorded([&] {
    if (recorded)
      (void)api.cuGraphDestroy(recorded);
  });
  if (launched)
    return std::move(launched);
  if (llvm::Error error = api.check(ended, "cuStreamEndCapture"))
    return std::move(error);

  LaunchGraph result;
  if (llvm::Error error = api.check(api.cuGraphInstantiate(&result.graph, recorded, /*flags=*/0),
                                    "cuGraphInstantiate"))
    return std::move(error);
  result.owner = std::move(context);
  return result;
}

bool tile::runtime::isCapturing(const cuda::CudaApi &api, cuda::Stream stream) {
  auto status = cuda::CaptureStatus::Active;
  return api.cuStreamIsCapturing(stream, &status) != Result::Success ||
         status != cuda::CaptureStatus::None;
}
