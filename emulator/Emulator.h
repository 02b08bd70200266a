//===- Emulator.h - running a lowered kernel on the CPU -------------------===//
//
// Takes the LLVM module that would become PTX, compiles it for the host with
// every machine operation turned into a call of the emulated machine, and runs
// it thread by thread. What the hardware leaves open, the emulator decides
// against the program: asynchronous work ends as late as it may, and with a
// seed, threads and asynchronous work advance in a random legal order.
//
// docs/emulator.md says what is emulated, what is checked, and how to read the
// reports.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_EMULATOR_H
#define TILE_EMULATOR_EMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace llvm {
class Module;
class raw_ostream;
namespace json {
class Object;
}
} // namespace llvm
namespace tile::frontend {
class DiagnosticEngine;
class SourceFile;
} // namespace tile::frontend

namespace tile::emu {

struct Place {
  std::string file;
  unsigned line = 0, column = 0; ///< from 1; 0: not known
};

/// One machine instruction of the kernel.
struct Site {
  std::string instruction;   ///< "ld.global.b32"
  std::vector<Place> places; ///< innermost first; empty without debug info
};

enum class FindingKind {
  OutOfBounds,
  Misaligned,
  Uninitialized,
  Race,
  MissingProxyFence,
  NonUniform,
  BarrierMismatch,
  BarrierMisuse,
  Deadlock,
  Stuck,
  TooMuchWork,
  LeakedAsync,
  AccumulatorInFlight,
  BadDescriptor,
  BadOperand,
  AssertFailed,
  Trap,
  SchedulesDisagree,
};
/// A short name such as `race`.
llvm::StringRef name(FindingKind kind);

/// One thing found at one instruction: the first occurrence, and how many there
/// were.
struct Finding {
  FindingKind kind;
  Site site;
  std::string message;
  std::string where; ///< "CTA (1, 0, 0), warp 2, thread 67"
  std::string otherNote;
  Site otherSite; ///< of a race: the other instruction
  uint64_t occurrences = 1;
};

/// What a launch did, summed over all threads.
struct Counters {
  uint64_t globalLoads = 0, globalStores = 0; ///< warp requests
  uint64_t globalLoadSectors = 0, globalStoreSectors = 0;
  uint64_t globalLoadBytes = 0, globalStoreBytes = 0; ///< that threads asked for
  uint64_t globalLanes = 0, globalMaskedLanes = 0;    ///< that came; kept off by predicates
  uint64_t sharedLoads = 0, sharedStores = 0;         ///< warp requests
  uint64_t sharedLoadWavefronts = 0, sharedStoreWavefronts = 0;
  uint64_t sharedLoadBytes = 0, sharedStoreBytes = 0;
  uint64_t bulkLoadBytes = 0, bulkStoreBytes = 0, bulkCopies = 0;
  uint64_t mmas = 0, multiplyAdds = 0;
  std::map<std::string, uint64_t> instructions; ///< warp instructions, by mnemonic

  void add(const Counters &other);
  void print(llvm::raw_ostream &os) const;
  llvm::json::Object toJson() const;
};

struct Report {
  std::vector<Finding> findings;
  uint64_t omitted = 0;
  Counters counters;
  uint64_t work = 0; ///< as RunOptions::workLimit counts it
  /// With RunOptions::sortSums: the kernel has loads or stores where it had added up floats, by
  /// which their order may show all the same.
  bool sumsAreSeen = false;
  bool ok() const { return findings.empty(); }
  bool has(FindingKind kind) const;
  /// As text, one finding a paragraph.
  std::string str() const;
};

/// Adds the findings as errors; places in `file` get the quoted line and caret.
void reportTo(const Report &report, const frontend::SourceFile *file,
              frontend::DiagnosticEngine &diagnostics);

/// A range of memory that kernels may touch.
struct MemoryRange {
  uint64_t base = 0, bytes = 0;
};

struct LaunchConfig {
  std::array<uint32_t, 3> grid = {1, 1, 1}; ///< CTAs
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  uint32_t threads = 128; ///< of a CTA
  uint32_t sharedBytes = 0;
  /// One a parameter of the kernel: where its value is (of a by-value
  /// aggregate, the aggregate itself).
  std::vector<const void *> parameters;
  std::vector<MemoryRange> memory; ///< sorted by base
};

struct RunOptions {
  bool check = true;     ///< races, unwritten shared memory, proxies
  bool counters = false; ///< fill in Report::counters
  /// With a seed, one host thread runs everything in a random legal order that
  /// the seed decides; without one, CTAs run on all cores, warps in turn, and
  /// asynchronous work ends as late as it can.
  std::optional<uint64_t> seed;
  unsigned threads = 0; ///< host threads; 0: one a core
  unsigned maxFindings = 16;
  /// Turns that waiting threads may take while nothing in the launch moves on.
  uint64_t stepLimit = uint64_t(1) << 22;
  /// Turns of loops that a thread may take without waiting for anybody.
  uint64_t turnLimit = uint64_t(1) << 27;
  /// What all threads may do together, counted as operations: a thread, and a turn of a loop, as
  /// about so many as it takes the time of. 0: any number.
  uint64_t workLimit = 0;
  /// Sums of floats that atomic operations leave in global memory are rounded as if their terms
  /// came in one order, whatever the order of threads: for runs that are compared.
  bool sortSums = false;
  llvm::raw_ostream *printTo = nullptr; ///< device output; null: standard output
};

struct LoadOptions {
  bool fuseMulAdd = true; ///< as the back end would: contract a*b+c
  /// Instructions that compute with floats compute in a ring of integers instead, and those that
  /// cannot are refused (docs/algebraic-mode.md).
  bool algebraic = false;
  /// Called on the module before translation; what tests use to break it.
  llvm::function_ref<void(llvm::Module &)> mutate = nullptr;
};

struct ProgramImpl;

/// A kernel compiled for the host. Immutable: may run on several threads at once.
class Program {
public:
  /// `ir` is LLVM IR, text or bitcode, with one kernel. Null, with `error` a
  /// sentence that names the instruction, where something is not emulated.
  static std::unique_ptr<Program> load(llvm::StringRef ir, const LoadOptions &options,
                                       std::string &error);
  ~Program();

  llvm::StringRef name() const;
  llvm::ArrayRef<Site> sites() const;
  /// Whether atomic operations on global memory leave something that depends on
  /// their order: sums of floats, and all whose results are used.
  bool dependsOnOrder() const;
  /// The same without the sums of floats, which RunOptions::sortSums makes the same in every order.
  bool dependsOnMoreThanSums() const;
  /// What makes the kernel's floats differ from the hardware's in their last bits:
  /// the instructions of which PTX leaves that open. Empty: every bit is defined.
  const std::set<std::string> &inexact() const;
  /// Among them if such a kernel also rounds floats to 8 bits.
  static constexpr char kRoundsToNarrow[] = "rounds to 8 bits what is inexact";

  Report run(const LaunchConfig &config, const RunOptions &options = {}) const;

private:
  explicit Program(std::unique_ptr<ProgramImpl> impl);
  std::unique_ptr<ProgramImpl> impl;
};

} // namespace tile::emu

#endif // TILE_EMULATOR_EMULATOR_H
