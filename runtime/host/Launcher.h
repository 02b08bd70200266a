//===- Launcher.h - `kernel[grid](...)` in host functions -----------------===//
//
// 1. Decorators, outermost first: autotune chooses a configuration (Tuning.cpp), heuristics
//    compute constexprs from what is known so far.
// 2. Arguments are bound to parameters and specialised.
// 3. The kernel for that specialisation is prepared once and kept.
// 4. The grid is evaluated, and the kernel launched.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_LAUNCHER_H
#define TILE_RUNTIME_HOST_LAUNCHER_H

#include "runtime/Tuner.h"
#include "runtime/host/Handle.h"
#include "runtime/host/KeptKernels.h"
#include "runtime/host/Specialization.h"
#include "target/WarpRoles.h"
#include "llvm/ADT/StringMap.h"

namespace tile::host {

/// Keywords of a launch that are not parameters.
struct LaunchOptions {
  int numWarps = kDefaultWarps, numStages = kDefaultStages, maxRegisters = 0, numCtas = 1;
  WarpRoles warpRoles = WarpRoles::Auto;
  bool enableFpFusion = true, debug = false;
};

class Launcher {
public:
  /// `cacheFolder` keeps what tuning found out; empty: only this launcher does.
  Launcher(ContextPtr context, std::vector<std::string> includePaths, std::string cacheFolder)
      : context(std::move(context)), includePaths(std::move(includePaths)),
        tuner(this->context->device.description(), std::move(cacheFolder)) {}

  Result launch(Evaluator &evaluator, const eval::FunctionObject &kernel, const PyValue &grid,
                const CallArgs &args);
  /// `kernel.warmup(*args, grid=..., **options)`: the kernel first, nothing is launched.
  Result warmup(Evaluator &evaluator, const CallArgs &args);
  /// `kernel.best_config`: what its last launch took.
  Result bestConfig(const eval::FunctionObject &kernel) const;
  Inspector inspector; ///< for handles; null: they cannot be asked
  /// Kernels compiled by this launcher.
  size_t numKernels() const { return kernels.size(); }

  /// Which configuration launches of tuned kernels take, of those that pruning leaves; nothing:
  /// the one that tuning chooses.
  std::optional<unsigned> forcedConfiguration;
  /// The most that a launch had to choose from since somebody set this to 0.
  unsigned mostConfigurations = 0;
  /// The one that a launch took last, for messages.
  std::string takenConfiguration;
  /// How launches of tuned kernels find theirs.
  runtime::Tuner &configurations() { return tuner; }
  /// Told which configuration won, and why; may be null.
  std::function<void(llvm::StringRef)> onChoice;

private:
  /// A launch between the steps.
  struct Request {
    const eval::FunctionObject &kernel;
    PyValue grid;
    CallArgs args; ///< of parameters only
    LaunchOptions options;
    std::vector<std::string> plain, unaligned;
    bool isWarmup = false; ///< prepared, not launched
  };
  Result launch(Evaluator &evaluator, Request request, const CallArgs &args);
  std::unique_ptr<eval::EvalError> splitOptions(const CallArgs &args, Request &request);
  std::unique_ptr<eval::EvalError>
  readJitArguments(Evaluator &evaluator, const eval::Decorator &decorator, Request &request);
  /// The values known by name so far: what `lambda args: ...` sees.
  static Result namedValues(Evaluator &evaluator, const Request &request);
  /// What tells the kernels of one launcher apart.
  static std::string kernelKey(const runtime::KernelRequest &request);
  Result runDecorators(Evaluator &evaluator, Request request, size_t next);
  // Tuning.cpp
  Result autotune(Evaluator &evaluator, Request request, size_t next);
  struct Settings;
  struct Trial;
  struct Race;
  /// What the decorator lists, or the compiler in its place.
  static std::unique_ptr<eval::EvalError> listConfigs(Evaluator &evaluator, const Request &request,
                                                      const Settings &settings,
                                                      std::vector<PyValue> &out);
  std::unique_ptr<eval::EvalError> prune(Evaluator &evaluator, const Request &request,
                                         const Settings &settings, std::vector<PyValue> &configs);
  Result tune(Evaluator &evaluator, const Request &request, size_t next, const std::string &key,
              llvm::ArrayRef<PyValue> configs, const Settings &settings, size_t &best);
  Result plan(Evaluator &evaluator, const Request &request, size_t next, const PyValue &config,
              Trial &trial);
  std::unique_ptr<eval::EvalError> applyHeuristics(Evaluator &evaluator, Request &request,
                                                   const eval::Decorator &decorator);
  static std::unique_ptr<eval::EvalError> evaluateGrid(Evaluator &evaluator, const Request &request,
                                                       std::array<uint32_t, 3> &grid);
  Result run(Evaluator &evaluator, const Request &request);
  runtime::KernelRequest kernelRequest(const eval::FunctionObject &kernel,
                                       const LaunchOptions &options,
                                       const Specialization &specialization) const;
  runtime::Kernel *prepare(const runtime::KernelRequest &request,
                           std::unique_ptr<eval::EvalError> &error);

  ContextPtr context;
  std::vector<std::string> includePaths;
  runtime::Tuner tuner;
  KeptKernels kernels;
  Result chooseConfiguration(Evaluator &evaluator, const Request &request, size_t next,
                             const Settings &settings, std::vector<PyValue> &choices,
                             PyValue &best);
  struct Tuned {
    PyValue configuration;
    unsigned among;
  };
  llvm::StringMap<Tuned> tuned;       ///< by kernel and key
  llvm::StringMap<PyValue> lastTaken; ///< by kernel
};

/// Runs `body` once, noting its launches and copies, and times those alone: the
/// cost of evaluating the body is not measured. After a failure `error` says
/// why if the body or a launch did.
llvm::Expected<runtime::Timing> timeWork(HostContext &context, llvm::function_ref<Result()> body,
                                         const runtime::TimingOptions &options,
                                         std::unique_ptr<eval::EvalError> &error);

/// The first error of `diagnostics` with the others as notes.
std::unique_ptr<eval::EvalError> toError(const frontend::DiagnosticEngine &diagnostics,
                                         const std::string &fallback);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_LAUNCHER_H
