//===- FunctionTuner.h - the fastest cuts of a function's kernels ---------===//
//
// With the mode `max-autotune` kernels of functions run in the cuts that are fastest. Which are,
// the tuner has on record, by kernel, class of sizes and device; what it has not is measured once,
// in a rehearsal: the function runs kernel by kernel in memory of its own, each kernel in the
// model's cut and in those beside it over and over, on what those before it have left. Parameters
// that the function writes are put back to what they held; nothing else of the caller's is written.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_FUNCTIONTUNER_H
#define TILE_RUNTIME_FUNCTIONTUNER_H

#include "compiler/functions/TensorProgram.h"
#include "runtime/Tuner.h"
#include <functional>

namespace tile::runtime {

class Rehearsal;

/// What a rehearsal runs on.
class TuningMachine {
public:
  virtual ~TuningMachine() = default;
  /// Compiles and loads. Called from several threads at once.
  virtual llvm::Error prepare(const TensorLaunch &launch) = 0;
  /// Of what has been prepared. `places` are of the program's buffers; numbers are the call's.
  virtual llvm::Error launch(const TensorProgram &program, const TensorLaunch &launch,
                             llvm::ArrayRef<TensorPlace> places) = 0;
  /// Milliseconds of what `body` launches, which runs many times.
  virtual llvm::Expected<double> time(llvm::function_ref<llvm::Error()> body) = 0;
  /// Memory aligned to 256 bytes.
  virtual llvm::Expected<uint64_t> allocate(uint64_t bytes) = 0;
  virtual llvm::Error free(uint64_t address) = 0;
  virtual llvm::Error copy(uint64_t to, uint64_t from, uint64_t bytes) = 0;
};

/// A call of a function.
struct TuningCall {
  TensorProgram &program;
  const graph::Bindings &sizes; ///< of the arguments
  const Target &target;
  llvm::ArrayRef<TensorPlace> parameters; ///< where tensors lie, by parameter
};

class FunctionTuner {
public:
  explicit FunctionTuner(Tuner &tuner) : tuner(tuner) {}
  /// What a call runs. Without a machine, and where it has no memory, nothing is measured: what is
  /// not known yet runs in the model's cut.
  llvm::Expected<CutProgram> fastest(const TuningCall &call, TuningMachine *machine);
  /// The program with the largest workspace that `fastest` may give.
  static TensorProgram &largest(TensorProgram &program, const graph::Bindings &sizes,
                                const Target &target);

  /// Why the best of a kernel's cuts is: as TuneResult::reason, beside the compiler's own choice.
  static std::string reasonOf(const TuneResult &result);
  /// Told which of a kernel's cuts won, and why; may be null.
  std::function<void(const TuneProblem &problem, const TuneResult &result)> onChoice;

private:
  struct Kernel;
  struct Race;
  llvm::Expected<TensorCut> choose(Kernel &kernel, const TuningCall &call, Rehearsal &rehearsal);
  llvm::Expected<CutProgram> chooseAll(const TuningCall &call, TensorProgram &whole,
                                       TuningMachine *machine);

  Tuner &tuner;
  std::map<std::string, TensorCut> known; ///< by kernel, sizes and arrays
  /// By all that a call's choice depends on: what comes again is not looked at.
  std::map<std::vector<int64_t>, CutProgram> calls;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_FUNCTIONTUNER_H
