//===- Tuner.h - @triton.autotune: configurations by measured time --------===//
//
// Given configurations and two closures (make one ready; time one), finds the
// fastest for a key and remembers it, in memory and on disk.
//
//   1. A decision on record for this problem (kernel, key, device, driver,
//      compiler) that covers every configuration is used as it stands. Records are in the
//      disk cache and, if one is named, in a file that people read, merge and commit: one
//      line of JSON a record, of kernel, key, device, source and times. Its records count
//      for every compiler and driver.
//   2. Otherwise a cost model puts them in order, where the caller has one; else they are taken
//      as they stand, all at once.
//   3. A few at a time are made ready in parallel, the most promising first; one that fails (too
//      much shared memory, say) is out of the race. The others are timed one after the other.
//   4. The least time wins, the first of equals. Ranked ones are tried until several in a row
//      have brought nothing, or some seconds have gone by.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_TUNER_H
#define TILE_RUNTIME_TUNER_H

#include "frontend/Files.h"
#include "runtime/Cache.h"
#include "runtime/Error.h"
#include "target/WarpRoles.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include <mutex>

namespace tile::runtime {

/// One `triton.Config`.
struct TuneConfig {
  std::vector<std::pair<std::string, std::string>> constexprs; ///< as in CompileOptions
  int numWarps = kDefaultWarps;
  int numStages = kDefaultStages;
  int maxRegisters = 0;
  int numCtas = 1;
  WarpRoles warpRoles = WarpRoles::Auto;

  /// "BLOCK: 128, num_warps: 4, num_stages: 3"; also what identifies it on disk.
  std::string str() const;
  /// Sets what a configuration decides, over the launch's own options.
  void applyTo(CompileOptions &options) const;
};

struct TuneProblem {
  std::string kernel; ///< for messages
  /// What the times depend on besides configuration and machine: `identityOf` the source, or
  /// `kernelKey` of the options that the configurations share.
  std::string identity;
  std::string key; ///< the values of the arguments in `key=[...]`, and dtypes
  std::vector<TuneConfig> configs;
};

/// Of a source and what it imports, by content: the same wherever the files stand.
std::string identityOf(llvm::StringRef source, llvm::ArrayRef<frontend::Dependency> imports);

struct TuneCandidate {
  double milliseconds = 0;
  double estimate = 0; ///< milliseconds by the cost model; 0: none
  std::string failure; ///< why it is out of the race; empty: it was timed
};

struct TuneResult {
  unsigned best = 0;                     ///< index into the configurations
  bool measured = false;                 ///< false: the decision was on record
  bool named = false;                    ///< by a record without times
  bool ranked = false;                   ///< by a cost model
  std::vector<TuneCandidate> candidates; ///< one a configuration
  /// Why the best is: "0.1 ms, the fastest of 4; the cost model's first takes 0.11 ms".
  std::string reason() const;
};

/// What times by configuration, as JSON, say about a problem: nothing unless they cover every
/// configuration, since times of different runs are not compared. With `timesAll` those that were
/// not timed are not covered.
std::optional<TuneResult> resultOf(const TuneProblem &problem, const llvm::json::Object &times,
                                   bool timesAll = false);
llvm::json::Object timesOf(const TuneProblem &problem, const TuneResult &result);

/// A line of a file of records. One by hand need not have all of it: without a source it counts
/// for any, and its best configuration counts without times.
struct TuneRecord {
  std::string kernel, key, device, target, source, best;
  const llvm::json::Object *times = nullptr; ///< milliseconds by configuration, or why it is out
};
/// Visits the records of a file in order; an error if it cannot be read. What is wrong with a line
/// is told.
llvm::Error readTuneRecords(const std::string &path,
                            llvm::function_ref<void(const TuneRecord &)> visit,
                            llvm::function_ref<void(const llvm::Twine &)> warn);
/// Whether it was made from the source that has this identity (TuneProblem).
bool isOfSource(const TuneRecord &record, llvm::StringRef identity);

class Tuner {
public:
  /// `machine`: what times depend on there, such as Device::description().
  /// `cacheFolder` empty: nothing is kept on disk. `threads` 0: all cores.
  Tuner(std::string machine, std::string cacheFolder, unsigned threads = 0)
      : machine(std::move(machine)), cache(std::move(cacheFolder)), threads(threads) {}
  /// `device`: the part of `machine` that the records of the file are for; `target`: what is
  /// compiled for there.
  void setRecordFile(std::string path, std::string device, std::string target);
  /// Nothing is timed: without a record the first configuration that can be prepared wins, in
  /// the order of the cost model. The same in every process.
  void setTimeless() { isTimeless = true; }
  /// All are timed, whatever the cost model says and however long it takes.
  void setExhaustive() { isExhaustive = true; }
  /// Why the file's records are not used or written; empty if they are.
  std::string warning() const;

  /// Compiles and loads configuration i. Called from several threads at once.
  using Prepare = llvm::function_ref<llvm::Error(unsigned i)>;
  /// Milliseconds of configuration i, which has been prepared. An error ends
  /// the tuning: after a fault on the device no time means anything.
  using Measure = llvm::function_ref<llvm::Expected<double>(unsigned i)>;
  /// About how many milliseconds configuration i takes; nothing: not known. Called from several
  /// threads at once.
  using Estimate = llvm::function_ref<std::optional<double>(unsigned i)>;

  /// Any thread; one tuning runs at a time. Configurations on record need not
  /// have been prepared when this returns: prepare `best` before using it.
  llvm::Expected<TuneResult> tune(const TuneProblem &problem, Prepare prepare, Measure measure,
                                  Estimate estimate = {});

private:
  std::string keyOf(const TuneProblem &problem) const;
  std::optional<TuneResult> onRecord(const TuneProblem &problem, const std::string &key);
  void estimateAll(const TuneProblem &problem, Estimate estimate, TuneResult &result);
  /// The order in which configurations are tried; estimates go into `result`.
  std::vector<unsigned> rank(const TuneProblem &problem, Estimate estimate, TuneResult &result);
  llvm::Expected<TuneResult> race(const TuneProblem &problem, Prepare prepare, Measure measure,
                                  Estimate estimate);
  void prepareAll(llvm::ArrayRef<unsigned> which, Prepare prepare, TuneResult &result) const;
  llvm::Error timeAll(llvm::ArrayRef<unsigned> which, const TuneProblem &problem, Measure measure,
                      TuneResult &result) const;
  void record(const TuneProblem &problem, const std::string &key, const TuneResult &result);

  std::optional<TuneResult> fromFile(const TuneProblem &problem);
  void writeFile(const TuneProblem &problem, const TuneResult &result);
  void noteFailure(const llvm::Twine &what);
  llvm::Expected<TuneResult> firstThatWorks(const TuneProblem &problem, Prepare prepare,
                                            Estimate estimate);

  std::string machine, recordFile, recordDevice, recordTarget;
  bool isTimeless = false, isExhaustive = false;
  std::string failure;
  DiskCache cache;
  unsigned threads;
  mutable std::mutex mutex;
  std::map<std::string, TuneResult> known;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_TUNER_H
