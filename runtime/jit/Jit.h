//===- Jit.h - a kernel that is launched with values ----------------------===//
//
// The one idea: a launch writes what its values specialise on into a key of a few words
// and looks that up in a table that is read without a lock (runtime/dispatch/). Only the
// first launch of a key goes on from there: it compiles, loads, and puts the loaded kernel
// into the table, from which it never goes before the Jit does.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_JIT_JIT_H
#define TILE_RUNTIME_JIT_JIT_H

#include "runtime/CompileService.h"
#include "runtime/dispatch/WordTable.h"
#include "runtime/jit/JitFile.h"

namespace tile::jit {

using runtime::LoadedKernel;

/// How configurations are chosen where a file lists several.
struct JitTuning {
  std::string cacheFolder; ///< keeps records; empty: none
  std::string recordFile;  ///< keeps records for people; empty: none
  bool timeless = false;   ///< nothing is timed, see Tuner::setTimeless
  bool exhaustive = false; ///< everything is
};

/// Everything that a type stands for: `*fp32`, `*fp32:16`, `i32`, `i32:16`, `fp32`, `i1`. Nothing
/// if the text is none.
std::optional<tile_argument_range> rangeOfType(const char *parameter, llvm::StringRef type);

class Jit {
public:
  using ContextSource = std::function<llvm::Expected<std::shared_ptr<runtime::Context>>()>;

  /// `service` must outlive it. `context` is asked once, when it is needed first.
  static llvm::Expected<std::unique_ptr<Jit>> create(runtime::CompileService &service,
                                                     std::unique_ptr<frontend::SourceFile> file,
                                                     JitSettings settings, JitTuning tuning,
                                                     ContextSource context);

  /// A null grid is the grid function's. No allocation and no lock, once the variant is there.
  llvm::Error launch(cuda::Stream stream, const uint32_t *grid, llvm::ArrayRef<tile_value> values,
                     const runtime::LaunchOptions &options = {});
  /// The variant that a launch with these values runs.
  llvm::Expected<std::shared_ptr<const LoadedKernel>> find(llvm::ArrayRef<tile_value> values);
  llvm::Error gridOf(llvm::ArrayRef<tile_value> values, uint32_t (&grid)[3]);
  /// The configuration that serves a launch with these values, chosen if it has not been;
  /// null if the file lists none.
  llvm::Expected<const runtime::TuneConfig *> bestConfig(llvm::ArrayRef<tile_value> values);

  const JitFile &file() const { return *description; }
  size_t numVariants() const;

  /// Every variant that arguments in these ranges reach, once each; `visit` returns false to
  /// end it (Ranges.cpp).
  llvm::Error variants(llvm::ArrayRef<tile_argument_range> ranges,
                       llvm::function_ref<bool(const dispatch::Key &)> visit) const;
  /// Compiles all of them, and loads them with `load`.
  llvm::Error prepare(llvm::ArrayRef<tile_argument_range> ranges, unsigned threads, bool load);
  void describe(const dispatch::Key &key, dispatch::Described &out) const;
  /// What a variant is compiled with.
  CompileOptions optionsOf(const dispatch::Key &key) const;
  /// The configuration that the cost model, or the author's, puts first for a launch on chips of a
  /// target, of those that compile. Nothing is timed, and no device is asked; `values` are
  /// complete.
  llvm::Expected<unsigned> chooseByModel(llvm::ArrayRef<tile_value> values,
                                         const std::string &target);

private:
  struct Variant {
    std::shared_ptr<const LoadedKernel> loaded;
  };
  /// A launch between the steps.
  struct Request {
    explicit Request(const tile_value *values, cuda::Stream stream = nullptr,
                     const uint32_t *grid = nullptr)
        : values(values), stream(stream), grid(grid) {}
    const tile_value *values;
    cuda::Stream stream;
    const uint32_t *grid; ///< null: computed
    unsigned configuration = 0;
    dispatch::Key key;       ///< not cleared: launches are in a hurry
    dispatch::Values passed; ///< neither
  };
  Jit(runtime::CompileService &service, std::unique_ptr<JitFile> file, JitTuning tuning,
      ContextSource context)
      : service(service), description(std::move(file)), tuning(std::move(tuning)),
        contextSource(std::move(context)) {}

  /// Fills in what was left out; the result is `values` or `filled`.
  llvm::Expected<const tile_value *> complete(llvm::ArrayRef<tile_value> values,
                                              tile_value *filled) const;
  llvm::Expected<Variant *> variantFor(Request &request);
  llvm::Error readKey(Request &request) const;
  /// Chooses a configuration for the key, and appends it with what its heuristics compute.
  llvm::Error decide(Request &request);
  llvm::Error addChoice(dispatch::Key &key, unsigned configuration, const tile_value *values) const;
  llvm::Error computeGrid(const tile_value *values, unsigned configuration,
                          uint32_t (&grid)[3]) const;
  // Ranges.cpp
  llvm::Error forEachChoice(const dispatch::Key &key, const tile_value *values,
                            llvm::function_ref<void(const dispatch::Key &)> visit) const;
  // Tuning.cpp
  llvm::Expected<unsigned> tune(Request &request);
  llvm::Expected<runtime::TuneResult> race(Request &request, llvm::ArrayRef<unsigned> left,
                                           const runtime::TuneProblem &problem);
  llvm::Expected<double> measure(Request &request, unsigned configuration);
  /// What the cost model says of a launch on a device, or on one of the target; nothing if it
  /// does not know.
  std::optional<double> estimate(const Request &request, unsigned configuration,
                                 const std::string &device, const std::string &target) const;
  runtime::TuneProblem problemOf(const Request &request, llvm::ArrayRef<unsigned> left) const;
  llvm::Expected<runtime::Tuner *> tuner();
  llvm::Expected<Variant *> make(const dispatch::Key &key, uint64_t hash);
  llvm::Expected<runtime::CompiledKernelPtr> compile(const dispatch::Key &key,
                                                     bool withFallback = false);
  llvm::Expected<std::shared_ptr<runtime::Context>> context();
  llvm::Error wrongCount(size_t given) const;
  llvm::Error refused(const dispatch::Refusal &refusal, const tile_value *values) const;

  runtime::CompileService &service;
  std::unique_ptr<JitFile> description;
  dispatch::WordTable<Variant> table;
  dispatch::WordTable<unsigned> tuned; ///< configurations, by what selects them
  const JitTuning tuning;
  mutable std::mutex mutex; ///< of insertions and of all below
  ContextSource contextSource;
  std::unique_ptr<runtime::Tuner> ownTuner;
  std::shared_ptr<runtime::Context> owner;
};

} // namespace tile::jit

#endif // TILE_RUNTIME_JIT_JIT_H
