//===- Launch.h - the state of one launch ---------------------------------===//
#ifndef TILE_RUNTIME_INTERP_LAUNCH_H
#define TILE_RUNTIME_INTERP_LAUNCH_H

#include "runtime/interp/Instruction.h"
#include "llvm/ADT/DenseMap.h"
#include <atomic>
#include <deque>
#include <mutex>

namespace tile::interp {

/// Collects findings from all programs: one entry an operation and kind, the
/// first in program order, with a count.
class Findings {
public:
  Finding &add(const Frame &frame, const Instruction &i, FindingKind kind, int64_t lane,
               std::string message);
  /// Counts one more of a finding that an earlier program (or this one) had
  /// already; false if there is none yet.
  bool repeat(const Frame &frame, const Instruction &i, FindingKind kind);
  /// The finding that the last `add` returned.
  Finding &last() { return entries[lastEntry].finding; }
  /// In program order, at most `maxFindings`.
  Report take(unsigned maxFindings, bool firstOnly);
  std::string note;

private:
  struct Entry {
    Finding finding;
    uint64_t linearProgram = 0;
    uint64_t order = 0; ///< of discovery
  };
  std::mutex mutex;
  std::deque<Entry> entries;
  llvm::DenseMap<std::pair<const Instruction *, unsigned>, size_t> index;
  size_t lastEntry = 0;
};

/// Shared by the programs of one launch.
struct Launch {
  const ProgramImpl *program = nullptr;
  Grid grid;
  RunOptions options;
  std::vector<uint64_t> parameters; ///< bits, in the parameter's width
  Findings findings;
  std::atomic<bool> stop{false};
  /// Iterations of `while` loops since anything last moved on.
  std::atomic<uint64_t> idleSteps{0};
  /// Done by all programs, but for what their frames have not added yet.
  std::atomic<uint64_t> work{0};
  std::atomic<bool> exhausted{false}; ///< that is more than they may do
  std::mutex printMutex;
  std::vector<std::pair<uint64_t, std::string>> printed; ///< by program
};

/// Runs the whole grid; fills `launch.findings` and prints.
void runGrid(Launch &launch, CheckState *check);

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_LAUNCH_H
