//===- ProgramRecordings.h - runs of a program, recorded to be repeated ----===//
//
// A run with the same addresses, sizes and numbers launches the same kernels with the same
// arguments: a CUDA graph of them is launched by one call, which neither looks at shapes nor
// allocates. What it was recorded for is a list of words, compared as they are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CAPI_PROGRAMRECORDINGS_H
#define TILE_RUNTIME_CAPI_PROGRAMRECORDINGS_H

#include "compiler/functions/TensorProgram.h"
#include "runtime/LaunchGraph.h"
#include "tile/tile.h"

namespace tile::runtime::capi {

/// All that decides what a run launches.
struct ProgramRun {
  const tensors::Signature &signature;
  Context *context;
  void *stream;
  const void *const *arguments;
  size_t numArguments;
  const tile_tensor *results;
  size_t numResults;
  void *workspace;
  size_t workspaceBytes;
};

/// The recordings of one program: of the runs of late that were repeated.
class ProgramRecordings {
public:
  struct Recording {
    std::vector<uint64_t> words;
    LaunchGraph graph;      ///< none before the run is repeated
    bool isRefused = false; ///< it could not be recorded
    uint64_t lastUse = 0;
  };
  /// The recording of such a run; null if there was none of late. Does not allocate.
  Recording *find(const ProgramRun &run);
  /// Remembers a run, in the place of the one that is longest ago.
  void remember(const ProgramRun &run);

private:
  std::vector<Recording> recordings;
  uint64_t clock = 0;
};

} // namespace tile::runtime::capi

#endif // TILE_RUNTIME_CAPI_PROGRAMRECORDINGS_H
