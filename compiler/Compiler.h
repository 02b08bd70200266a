//===- Compiler.h - from kernel source to PTX, in process -----------------===//
//
// The one entry point to the whole pipeline: `tilec`, the C API, the tuner and
// the tests all compile through it. Thread-safe: each Compiler owns an MLIR
// context; use one Compiler a thread, or one with several threads taking turns.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_COMPILER_H
#define TILE_COMPILER_COMPILER_H

#include "frontend/Source.h"
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

/// Where to stop, in pipeline order.
enum class Stage { Ast, Tile, Cta, Llvm, Ptx };

/// On sm_90a, what warps of a kernel with products do. PingPong is a wish: where the
/// kernel does not allow it, warps cooperate.
enum class WarpRoles {
  Auto,        ///< as it pays
  Cooperative, ///< one warp copies, the others share every block
  PingPong,    ///< ... or two groups of them take blocks by turns
  None,        ///< all warps do everything
};
/// "auto", "cooperative", "pingpong", "none".
llvm::StringRef spelled(WarpRoles roles);
/// False if there are no such roles.
bool readWarpRoles(llvm::StringRef text, WarpRoles &roles);

/// Everything that decides what comes out, besides the source. Hashed whole
/// into cache keys.
struct CompileOptions {
  std::string kernel;    ///< function to compile; empty: the file's only kernel
  std::string signature; ///< see `tilec compile --help`; empty: from annotations
  /// NAME -> VALUE (JSON, `tl.float16`, `@function`, inf, -inf, nan), in order.
  std::vector<std::pair<std::string, std::string>> constexprs;
  int numWarps = 4;
  int numStages = 3; ///< 0: as many as fit
  std::string target = "sm_90a";
  bool enableFpFusion = true; ///< contract a*b+c
  bool debug = false;         ///< keep device asserts
  /// On sm_90 and later: wait for the grids before it inside the kernel, which
  /// lets the launch overlap their end.
  bool dependentLaunch = true;
  /// One thread block runs several programs of the grid, where that pays. The
  /// launcher starts no more blocks than fit the chip and passes the true grid.
  bool persistent = false;
  /// On sm_90a, of a persistent kernel: thread blocks of a cluster, which load once
  /// what their programs have in common.
  int numCtas = 1;
  WarpRoles warpRoles = WarpRoles::Auto;
  /// The launcher checks that arrays suit TMA and takes a kernel compiled with
  /// `tensorMaps` off where they do not: strides may be taken to suit.
  bool checkedLaunch = false;
  bool tensorMaps = true; ///< copies by TMA on targets that have it
  /// Every lane of a warp tells a copying warp that it is done, not one for all: slower,
  /// for tools that do not follow what a warp's barrier orders.
  bool eachLaneArrives = false;
  /// Numbers of a ring in the place of floating-point ones (docs/algebraic-mode.md): for the
  /// emulator only, up to `Stage::Llvm`.
  bool algebraic = false;
  int maxRegisters = 0;      ///< `.maxnreg`; 0: none
  std::string libdevicePath; ///< optional: NVIDIA's libdevice bitcode
  std::vector<std::string> includePaths;
  bool lineInfo = true; ///< `.loc` in the PTX
  Stage stopAfter = Stage::Ptx;
  std::string printIrAfter; ///< pass name; dump goes to `CompileResult::irDump`
  bool timing = false;
};

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
  int64_t bytes = 0;     ///< Scratch
  std::string per;       ///< Scratch: "launch" or "program"
  bool zero = false;     ///< Scratch: must be zero at launch
  std::string value;     ///< Const, as JSON
  TensorMap map;         ///< TensorMap
};

struct KernelMetadata {
  std::string entry;
  std::string target;
  int sharedBytes = 0;
  int numWarps = 4;
  int threads = 128;
  int cluster[3] = {1, 1, 1};
  int ctasPerProgram = 1;
  bool cooperative = false;
  /// The kernel itself waits for the grids before it in its stream, so it may be
  /// launched as their programmatic dependent.
  bool dependent = false;
  /// Blocks take programs of the grid in turn: start at most as many as fit the
  /// chip, along x, and pass the grid in the `num_programs` parameters.
  bool persistent = false;
  int registers = -1; ///< -1: not known
  std::vector<KernelParameter> params;
  std::string toJson() const;
  static bool fromJson(llvm::StringRef text, KernelMetadata &out, std::string &error);
};

struct StageTime {
  std::string name;
  double milliseconds;
};

/// What a pass says about one place: why something better was not possible.
struct Remark {
  unsigned line, column; ///< 1-based
  std::string message;
};

struct CompileResult {
  enum class Status { Ok, Error, Unsupported };
  Status status = Status::Ok;
  frontend::DiagnosticEngine diagnostics;
  std::string output; ///< the text of the last stage (PTX by default)
  KernelMetadata metadata;
  std::string irDump;
  std::vector<StageTime> times;
  /// Paths of other files that were read (imports): a cached result holds
  /// only while they are unchanged.
  std::vector<std::string> dependencies;
  bool ok() const { return status == Status::Ok; }
};

class Compiler {
public:
  Compiler();
  ~Compiler();
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  /// Who wants to see the kernel as it is before it is lowered: laid out, with what
  /// the passes remarked on the way.
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
