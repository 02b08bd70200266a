//===- LaunchGraph.h - one launch, recorded for the driver to repeat ------===//
//
// A launch through cuLaunchKernelEx is checked and encoded by the driver each
// time; a CUDA graph of that one launch has this behind it and costs less than
// half of the CPU time. It is worth recording (tens of microseconds) what is
// launched again and again with the same arguments.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_LAUNCHGRAPH_H
#define TILE_RUNTIME_LAUNCHGRAPH_H

#include "runtime/Context.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::runtime {

/// An executable graph; destroyed with the object, also while it runs.
class LaunchGraph {
public:
  LaunchGraph() = default;
  LaunchGraph(LaunchGraph &&other) noexcept { *this = std::move(other); }
  LaunchGraph &operator=(LaunchGraph &&other) noexcept;
  ~LaunchGraph() { reset(); }

  /// Records what `launch` enqueues on the stream it is given. That stream has
  /// the priority and the attributes of `like`, since the nodes of a graph have
  /// those of the stream they were recorded on, whatever stream runs them.
  static llvm::Expected<LaunchGraph> record(std::shared_ptr<Context> context, cuda::Stream like,
                                            llvm::function_ref<llvm::Error(cuda::Stream)> launch);

  /// Runs it in stream order, after any run of it on another stream.
  cuda::Result run(cuda::Stream stream) const { return owner->api().cuGraphLaunch(graph, stream); }

  explicit operator bool() const { return graph != nullptr; }
  void reset();

private:
  std::shared_ptr<Context> owner;
  cuda::GraphExec graph = nullptr;
};

/// Whether `stream` records what is enqueued, or cannot tell: a graph must not
/// be run on it then.
bool isCapturing(const cuda::CudaApi &api, cuda::Stream stream);

} // namespace tile::runtime

#endif // TILE_RUNTIME_LAUNCHGRAPH_H
