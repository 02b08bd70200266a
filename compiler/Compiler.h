//===- Compiler.h - from kernel source to PTX, in process -----------------===//
//
// The one entry point to the whole pipeline: `tilec`, the C API, the tuner and
// the tests all compile through it. Thread-safe: each Compiler owns an MLIR
// context; use one Compiler a thread, or one with several threads taking turns.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_COMPILER_H
#define TILE_COMPILER_COMPILER_H

#include "frontend/Files.h"
#include "frontend/Source.h"
#include "target/CompileOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace tile {

struct Remark;

/// An integer that a launch works out from its arguments: the sum of the terms,
/// each a coefficient times the values of some arguments.
struct LaunchSum {
  struct Factor {
    enum class Part { Value, Shape, Stride };
    int index = 0;           ///< entry of the signature
    std::vector<int> path;   ///< into a tuple
    Part part = Part::Value; ///< of a descriptor: its size or stride along `dim`, else its address
    int dim = 0;
  };
  struct Term {
    int64_t coefficient = 0;
    std::vector<Factor> factors;
  };
  std::vector<Term> terms;
};

/// What cuTensorMapEncodeTiled needs; the base is the parameter's entry of the
/// signature. Dimension 0 is the contiguous one.
struct TensorMap {
  std::string type;               ///< of the elements: "fp16", "bf16", ...
  std::vector<LaunchSum> sizes;   ///< in elements
  std::vector<LaunchSum> strides; ///< in bytes, of all dimensions but the first
  std::vector<int64_t> box;       ///< elements that one copy moves
  int swizzle = 0;                ///< span in bytes: 128, 64, 32, or 0
  bool stored = false;            ///< the kernel stores through it, so rows must end whole
  /// The map is good only for launches where none of these is below zero.
  std::vector<LaunchSum> notNegative;
};

/// One parameter of the entry, in kernel order; see `tilec compile --help`
/// for the JSON form.
struct KernelParameter {
  enum class Kind { Arg, TensorMap, DescBase, DescShape, DescStride, Scratch, Const, NumPrograms };
  Kind kind = Kind::Arg;
  int index = 0;         ///< entry of the signature (0-based, folded ones count)
  std::string type;      ///< "ptr", "i1", "i8", ..., "fp64"
  std::vector<int> path; ///< into a tuple
  int dim = 0;           ///< DescShape, DescStride; NumPrograms: axis of the grid
  /// Arg: launches of which the value is a multiple of it (a power of two) are better served by
  /// what `CompileOptions::multiples` gives; 1: none are.
  int multiple = 1;
  int64_t bytes = 0; ///< Scratch
  std::string per;   ///< Scratch: "launch" or "program"
  bool zero = false; ///< Scratch: must be zero at launch
  std::string value; ///< Const, as JSON
  TensorMap map;     ///< TensorMap
};

/// An axis of the grid that a launch makes two of: n programs stay along it, and along `to`, where
/// one was asked for, are as many as that leaves. n is `size` divided by `divisor`, rounded down.
struct GridSplit {
  int axis = 0, to = 0;
  LaunchSum size;
  int64_t divisor = 1;
};

struct KernelMetadata {
  std::string entry;
  std::string target;
  int sharedBytes = 0;
  int numWarps = kDefaultWarps;
  int threads = 32 * kDefaultWarps;
  int cluster[3] = {1, 1, 1};
  int ctasPerProgram = 1;
  bool cooperative = false;
  /// The kernel itself waits for the grids before it in its stream, so it may be
  /// launched as their programmatic dependent.
  bool dependent = false;
  /// Blocks take programs of the grid in turn: start at most as many as fit the
  /// chip, along x, and pass the grid in the `num_programs` parameters.
  bool persistent = false;
  /// Neighbours along each axis of the grid that one block runs at once: start as many blocks as
  /// they all need.
  int programsPerBlock[3] = {1, 1, 1};
  /// Where a block runs several programs, all equally long: how many of them a multiprocessor runs
  /// at once if each has a block to itself; 0: not known.
  int programsApart = 0;
  /// Those of a block run longer and longer, so that it waits for the last of them: in grids with
  /// few programs along their axis, `GridPrograms::Few` gives a faster form.
  bool programsGrow = false;
  /// Grids with at most so many programs for each multiprocessor are better served by what
  /// `GridPrograms::Few` gives; 0: none are.
  int fewPrograms = 0;
  /// Before blocks are counted, one after the other. The kernel is good only for launches that
  /// come out even.
  std::vector<GridSplit> gridSplits;
  int registers = -1; ///< -1: not known
  std::vector<KernelParameter> params;
  std::string toJson() const;
  static bool fromJson(llvm::StringRef text, KernelMetadata &out, std::string &error);
};

struct StageTime {
  std::string name;
  double milliseconds;
};

struct CompileResult {
  enum class Status { Ok, Error, Unsupported };
  Status status = Status::Ok;
  frontend::DiagnosticEngine diagnostics;
  std::string output; ///< the text of the last stage (PTX by default)
  KernelMetadata metadata;
  std::string irDump;
  std::vector<StageTime> times;
  /// The other files that were read (imports, libraries), and those that were looked
  /// for in vain: a cached result holds only while all of them are as they were.
  std::vector<frontend::Dependency> dependencies;
  bool ok() const { return status == Status::Ok; }
};

class Compiler {
public:
  Compiler();
  ~Compiler();
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  /// Who wants to see the kernel as it is before it is lowered: laid out, with what
  /// the passes remarked on the way (passes/facts/Refusals.h).
  using LaidOutReader = llvm::function_ref<void(mlir::ModuleOp, llvm::ArrayRef<Remark>)>;

  /// Compiles one kernel of `file`. The file must outlive the result, whose
  /// diagnostics point into it.
  CompileResult compile(const frontend::SourceFile &file, const CompileOptions &options,
                        LaidOutReader readLaidOut = {});

  mlir::MLIRContext &context();
  /// The names that `CompileOptions::printIrAfter` knows, in pipeline order.
  std::vector<std::string> passNames();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// A string that changes whenever the compiler's output might.
llvm::StringRef compilerVersion();

} // namespace tile

#endif // TILE_COMPILER_COMPILER_H
