//===- Session.h - what `tile.*` means while host functions run -----------===//
//
// The evaluator knows nothing of tensors, launches or checks; this class gives
// them their meaning, on one device.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_SESSION_H
#define TILE_RUNTIME_HOST_SESSION_H

#include "runtime/host/Check.h"
#include "runtime/host/Launcher.h"
#include "runtime/host/TensorFunctions.h"

namespace tile::host {

/// One timed function: a row's cells in the table of a bench.
struct Measurement {
  std::string label;       ///< empty if there is only one
  double milliseconds = 0; ///< the median; 0: not known
  double minimum = 0, maximum = 0;
  int repeats = 0;
  std::optional<double> gigabytesPerSecond, teraflops;
  /// What a `perf_report` function returned, in the unit that its author named.
  std::optional<double> value, low, high;
  std::string unit;
};

class Session : public eval::EvaluatorHooks {
public:
  /// `cacheFolder` keeps what tuning found out; empty: it is kept in memory only.
  Session(runtime::Device &device, std::vector<std::string> includePaths,
          std::string cacheFolder = "");

  std::optional<Result> callSymbol(Evaluator &evaluator, llvm::StringRef name,
                                   const CallArgs &args) override;
  std::optional<Result> callKernel(Evaluator &evaluator, const PyValue &function,
                                   const CallArgs &args) override;
  std::optional<Result> subscriptKernel(Evaluator &evaluator, const PyValue &kernel,
                                        const PyValue &grid) override;
  void print(llvm::StringRef text) override;

  /// Forgets what belongs to one case: random seeds, errors seen so far.
  void startCase();
  /// tile.check(got, expected): an error if they differ.
  std::unique_ptr<eval::EvalError> check(const PyValue &got, const PyValue &expected,
                                         std::optional<double> relative = {},
                                         std::optional<double> absolute = {},
                                         llvm::StringRef message = "");
  /// Waits for the device; an error it reports on the way.
  std::unique_ptr<eval::EvalError> finish();
  /// What `tile.measure` returned; nothing if `value` is something else.
  static std::optional<Measurement> toMeasurement(const PyValue &value);

  const ContextPtr &hostContext() const { return context; }
  /// Compiles what a launch's handle is asked about (`handle.asm["ptx"]`).
  void setInspector(Inspector inspector) { launcher.inspector = std::move(inspector); }
  Launcher &kernels() { return launcher; }
  TensorFunctions &tensorFunctions() { return functions; }
  /// Of all checks of the case so far.
  const Comparison &comparisons() const { return worst; }
  bool checkedAnything() const { return checks != 0; }
  llvm::raw_ostream *output = nullptr; ///< of print(); null: dropped

private:
  friend class LaunchSite;
  Result callCheck(const CallArgs &args);
  Result callMeasure(Evaluator &evaluator, const CallArgs &args);
  Result callCopy(const CallArgs &args);
  llvm::Expected<runtime::Timing> timeCalls(Evaluator &evaluator, const PyValue &fn,
                                            runtime::TimingOptions options,
                                            std::unique_ptr<eval::EvalError> &error);
  std::optional<Result> callTriton(Evaluator &evaluator, llvm::StringRef name,
                                   const CallArgs &args);
  Result callDoBench(Evaluator &evaluator, const CallArgs &args);
  std::unique_ptr<eval::EvalError> takeDeviceError();

  ContextPtr context;
  Launcher launcher;
  TensorFunctions functions;
  Comparison worst;
  unsigned checks = 0;
};

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_SESSION_H
