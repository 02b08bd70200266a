//===- Interpreter.h - running tile IR on the CPU -------------------------===//
//
// The interpreter is the specification of the `tile` dialect: whatever a pass
// or a back end does, the values computed here are the right ones. A function
// is compiled once into a flat list of block-wide operations (Program), then
// run for every program of a grid, several at a time.
//
// What the IR leaves open, the interpreter decides: see Numeric.h for integer
// division by zero, oversized shifts and out-of-range conversions. Masked-off
// lanes of a load without `other` give zero, poison is zero, and a reduction
// combines neighbours in a balanced tree, so a combiner need only be
// associative.
//
// A program compiled with `check` also watches memory (see MemoryMap): lanes
// outside their buffer, reads of bytes nobody wrote, programs that race,
// misaligned addresses, 32-bit address arithmetic that wraps, integer division
// by zero, shifts too far whose result is used, writes to what the signature says is
// constant, arguments that overlap where the compiler takes them not to, and values that do
// not keep what a hint promises. Checked programs run one after
// another, so that the same launch always reports the same findings in the same order.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_INTERP_INTERPRETER_H
#define TILE_RUNTIME_INTERP_INTERPRETER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir
namespace llvm {
class raw_ostream;
} // namespace llvm
namespace tile::frontend {
class DiagnosticEngine;
class SourceFile;
} // namespace tile::frontend

namespace tile::interp {

class MemoryMap;
struct ProgramImpl;

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// The value of one kernel parameter. Integers are truncated to the
/// parameter's width and reals are rounded to its type.
struct Argument {
  enum class Kind { Integer, Real };
  Kind kind = Kind::Integer;
  uint64_t bits = 0;
  double number = 0;

  static Argument integer(int64_t value) { return {Kind::Integer, uint64_t(value), 0}; }
  static Argument real(double value) { return {Kind::Real, 0, value}; }
  /// A host address.
  static Argument pointer(const void *address) {
    return {Kind::Integer, reinterpret_cast<uint64_t>(address), 0};
  }
};

struct LoadOptions {
  std::string function;   ///< empty: the module's only public function
  bool check = false;     ///< compile in the checks; `run` then needs a MemoryMap
  bool algebraic = false; ///< numbers of a ring for floats (docs/algebraic-mode.md)
};

struct RunOptions {
  unsigned numThreads = 0; ///< 0: one a core; checked programs always use one
  MemoryMap *memory = nullptr;
  unsigned maxFindings = 16;
  /// Iterations of `while` loops that all programs together may spend while no
  /// program ends, stores or changes memory, before the launch is declared
  /// stuck.
  uint64_t stepLimit = uint64_t(1) << 26;
  /// What all programs may do together, counted as operations on elements: an instruction is so
  /// many as its result has, and a few for itself. 0: any number. A launch that would do more
  /// ends with an error, early where loops with a known number of turns or the number of programs
  /// say so.
  uint64_t workLimit = 0;
  llvm::raw_ostream *printTo = nullptr; ///< output of `tile.print`; null: standard output
};

enum class FindingKind {
  OutOfBounds,
  Uninitialized,
  Race,
  Misaligned,
  AddressOverflow,
  DivisionByZero,
  ShiftTooFar,
  ConstantWritten,
  Overlap,
  UnorderedLanes,
  BrokenPromise,
  AssertFailed,
  BadLoopStep,
  Stuck,
  TooMuchWork,
  BadLaunch,
};
/// A short name such as `out-of-bounds`.
llvm::StringRef name(FindingKind kind);

struct SourcePlace {
  std::string file;
  unsigned line = 0, column = 0; ///< from 1; 0: not known
};

/// One thing found at one operation: the first occurrence, and how many there
/// were.
struct Finding {
  FindingKind kind;
  SourcePlace place;
  std::vector<SourcePlace> callers; ///< innermost first
  std::string message;
  std::string where;      ///< "program (1, 0, 0), lane (3, 5)"
  std::string otherNote;  ///< Race: what the other program did
  SourcePlace otherPlace; ///< Race: where
  uint32_t program[3] = {0, 0, 0};
  int64_t lane = 0; ///< row-major position in the block
  uint64_t occurrences = 1;
};

struct Report {
  std::vector<Finding> findings;
  /// Findings that the limit left out, and what checking gave up on.
  uint64_t omitted = 0;
  std::string note;
  bool ok() const { return findings.empty(); }
  /// As text, one finding a paragraph.
  std::string str() const;
};

/// Adds the findings as errors; places in `file` get the quoted line and caret.
void reportTo(const Report &report, const frontend::SourceFile *file,
              frontend::DiagnosticEngine &diagnostics);

/// A compiled function. Immutable: may be run from several threads at once.
class Program {
public:
  /// Null, with `error` a sentence, where the module holds no such function or
  /// an operation that the interpreter does not know. The module may be
  /// destroyed afterwards.
  static std::unique_ptr<Program> load(mlir::ModuleOp module, const LoadOptions &options,
                                       std::string &error);
  ~Program();

  llvm::StringRef name() const;
  size_t numParameters() const;
  bool isChecked() const;
  /// Bytes of working memory one running program takes.
  size_t workingBytes() const;

  /// Runs every program of the grid. A failed assertion, a launch that is
  /// stuck or does more than it may, and whatever checking finds is in the report.
  Report run(const Grid &grid, llvm::ArrayRef<Argument> arguments,
             const RunOptions &options = {}) const;

private:
  explicit Program(std::unique_ptr<ProgramImpl> impl);
  std::unique_ptr<ProgramImpl> impl;
};

/// The buffers that checked programs may touch. Not thread-safe.
class MemoryMap {
public:
  MemoryMap();
  ~MemoryMap();
  MemoryMap(const MemoryMap &) = delete;
  MemoryMap &operator=(const MemoryMap &) = delete;

  /// `name` appears in messages. Overlap with a registered buffer is refused
  /// (false).
  bool add(const void *base, uint64_t bytes, bool initialized, std::string name = "");
  void remove(const void *base);
  /// Marks bytes as written or as holding nothing; parts outside of any buffer
  /// are ignored.
  void setInitialized(const void *base, uint64_t bytes, bool initialized);
  bool isInitialized(const void *base, uint64_t bytes) const;
  /// Bytes copied from unwritten memory are unwritten. Ranges may overlap.
  void copyInitialized(const void *to, const void *from, uint64_t bytes);

  struct Buffer {
    uint64_t base = 0, bytes = 0;
    std::string name;
    std::vector<uint8_t> written; ///< one a byte; empty: all written
    /// For each `granule` bytes, the numbers of the events that last touched
    /// them (see Check.h); empty until there is one.
    unsigned granule = 0;
    std::vector<uint32_t> writes, readsA, readsB;
    /// The lanes of the last write and of the read in `readsA`.
    std::vector<uint32_t> writeLanes, readLanes;
    /// The number of the instruction that wrote last, of all that have run: the turns of a loop
    /// have one event.
    std::vector<uint32_t> writeTurns;
  };
  /// The buffer that holds `address`, or null.
  Buffer *find(uint64_t address);
  /// The last buffer that begins at or below `address`, or null.
  Buffer *findBelow(uint64_t address);

  /// Event numbers for one more launch, larger than all before.
  uint32_t firstEvent();
  void endEvents(uint32_t next) { nextEvent = next; }

private:
  std::vector<std::unique_ptr<Buffer>> buffers; ///< by base
  uint32_t nextEvent = 1;                       ///< 0: none
};

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_INTERPRETER_H
