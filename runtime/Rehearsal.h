//===- Rehearsal.h - a function run kernel by kernel, to be measured ------===//
#ifndef TILE_RUNTIME_REHEARSAL_H
#define TILE_RUNTIME_REHEARSAL_H

#include "runtime/FunctionTuner.h"

namespace tile::runtime {

/// The kernels of a call in order, in the model's cuts, as far as somebody asks, each once. What
/// they write lies in memory of the rehearsal's own, but for parameters that the function writes,
/// which are put back in the end.
class Rehearsal {
public:
  Rehearsal(const TuningCall &call, TensorProgram &whole, TuningMachine *machine);
  ~Rehearsal() { llvm::consumeError(finish()); }
  Rehearsal(const Rehearsal &) = delete;
  Rehearsal &operator=(const Rehearsal &) = delete;

  /// Runs all kernels in front of this one that have not run yet.
  llvm::Error reach(unsigned kernel);
  /// Where a form of the program, which has sums of parts besides, has its buffers while a kernel
  /// is measured: that runs over and over, and what it writes to parameters lies elsewhere, so that
  /// it always finds what those before it have left. (Indices that it counts up would leave their
  /// tables else.)
  llvm::Expected<std::vector<TensorPlace>> placesOf(const TensorProgram &form, unsigned kernel);
  /// Puts parameters back and frees the memory.
  llvm::Error finish();

  /// Of the call, and what the compiler chooses.
  const graph::Bindings &sizes() const { return allSizes; }
  /// Parameters where they are, the rest anywhere: enough to make launches.
  const std::vector<TensorPlace> &places() const { return all; }
  /// Null where there is none, or what the function writes has gaps between its elements: those
  /// belong to others, and cannot be put back without harm.
  TuningMachine *machine() const { return on; }
  /// Whether the device had no memory for what was asked for last.
  bool lacksMemory() const { return isShort; }

private:
  struct Kept { ///< a parameter's bytes, and a copy of them
    uint64_t address, bytes, copy;
  };
  uint64_t bytesOf(const TensorBuffer &buffer) const;
  llvm::Expected<uint64_t> allocate(uint64_t bytes);
  llvm::Error begin();
  llvm::Error keepParameters();
  void shareMemory();
  bool writesWithoutGaps() const;

  const TuningCall &call;
  TensorProgram &whole;
  TuningMachine *on;
  graph::Bindings allSizes;
  std::vector<TensorPlace> all;
  std::vector<uint64_t> owned;
  std::vector<Kept> kept;
  uint64_t apart = 0, bytesApart = 0; ///< what `placesOf` places elsewhere
  unsigned next = 0;
  bool hasBegun = false, isShort = false;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_REHEARSAL_H
