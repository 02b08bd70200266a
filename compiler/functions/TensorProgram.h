//===- TensorProgram.h - a function of whole tensors, compiled ------------===//
//
// Traced once for the types of its parameters, simplified and grouped into kernels; sizes
// stay formulas. A launch puts numbers in: it decides how each kernel is cut into blocks,
// and only a cut that was not there before is another kernel to compile. No MLIR in it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_FUNCTIONS_TENSORPROGRAM_H
#define TILE_COMPILER_FUNCTIONS_TENSORPROGRAM_H

#include "frontend/tensors/HandKernel.h"
#include "frontend/tensors/Signature.h"
#include "target/CompileOptions.h"
#include "llvm/Support/Error.h"
#include <array>
#include <memory>

namespace tile {

/// What kernels read and write: the caller's tensors, and what lies between kernels.
struct TensorBuffer {
  enum class Kind { Tensor, Number, Result, Intermediate };
  Kind kind = Kind::Intermediate;
  int index = 0; ///< Tensor, Number: of the parameter; Result: which one
  graph::Sizes shape;
  eval::DType type;
  int sameAs = -1; ///< the buffer in whose memory it lies, in another shape or with its new values
};

/// A buffer's place in memory, for one launch. Strides count elements; none: no gaps.
struct TensorPlace {
  uint64_t address = 0;
  std::vector<int64_t> strides;
};

struct TensorKernel {
  std::string name;
  unsigned line = 0;             ///< of its last operation; 0: not known
  std::vector<unsigned> buffers; ///< read, then written
  unsigned numRead = 0;
  graph::Size bytesRead, bytesWritten; ///< each buffer once
  bool reduces = false;                ///< whole rows
  bool multiplies = false;             ///< matrices
  bool chains = false;                 ///< two of them, with a softmax between
  /// Products of one left operand that its programs are shared out among; or, where they have a
  /// kernel each, the first of the kernels that few rows may have in the place of all.
  unsigned sideBySide = 1;
  std::string mayBeBeside;
  /// Of a product whose inner dimension programs share in so many parts, the kernel that
  /// multiplies them, or the one behind it that adds them up.
  int64_t parts = 1;
  bool addsParts = false;
  /// Of a product that adds rows to those that numbers name (ScatterRows.h): the kernel that clears
  /// the sums, or the one that adds to them; the one behind them adds up one part.
  enum class Scatter { No, Clears, Adds };
  Scatter scatter = Scatter::No;
  /// Of rows that so many programs share: which of the kernels (RowSteps.h) it is, and whether
  /// there are as many programs, or one, which knows the rest.
  int step = -1;
  bool isAlone = false;
  std::vector<std::string> operations; ///< by name, in order
  std::vector<std::string> reasons;    ///< of fusions not taken
  /// If somebody wrote it: what it is given, instead of all buffers.
  std::shared_ptr<const tensors::HandKernel> hand;
};

/// One argument of a kernel.
struct TensorArgument {
  bool isBuffer = false;
  unsigned buffer = 0; ///< whose address or number it is
  int64_t size = 0;    ///< else; of a real number its bits
  bool isReal = false; ///< a number of 32 bits
};

/// A kernel with numbers put in.
struct TensorLaunch {
  std::string key;                                    ///< the same for launches of the same code
  std::shared_ptr<const frontend::SourceFile> source; ///< of the kernel, in the tile dialect
  const ast::Module *tree = nullptr;                  ///< parsed, if somebody wrote it
  CompileOptions options;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::vector<TensorArgument> arguments;
  double elements = 0; ///< that it goes over, in memory or not
};

/// A way to cut a kernel into blocks: what of it does not follow from the sizes.
/// In the place of the parts of a product: rows are added where numbers say (ScatterRows.h), in
/// three kernels.
inline constexpr int64_t kScattered = 0;

struct TensorCut {
  int64_t rows = 0;    ///< of a block
  int64_t columns = 0; ///< of a block; 0: whole rows, however long
  int64_t inner = 0;   ///< what a turn of a product's loop adds up
  int64_t parts = 1; ///< programs that share the inner dimension of a product, or rows; kScattered
  int warps = 0, stages = 0;
  bool operator==(const TensorCut &) const = default;
};

/// How much of a call's sizes and addresses the code of a launch counts on: on what divides them
/// and on blocks that fit, on multiples of 16 alone, or on nothing.
enum class Fit { Own, Divisible, Any };

/// Something that is so of a size.
struct SizeCondition {
  enum class Kind { Divides, AtLeast, AtMost };
  Kind kind = Kind::Divides;
  graph::Size size;
  int64_t number = 1; ///< that divides it, or that it is at least or at most
};

/// All calls that the code of one launch serves, and what they give it. Tensors have no gaps, and
/// arrays that the code takes for aligned are.
struct LaunchClass {
  std::vector<SizeCondition> conditions;
  std::vector<tensors::HandGrid> grid; ///< along x, y and z
  graph::Sizes arguments;              ///< of the launch's arguments those that are no buffers

  bool serves(const graph::Bindings &sizes) const;
  /// Makes the launch one for other sizes, which are served; false if it would be none.
  bool fill(TensorLaunch &launch, const graph::Bindings &sizes) const;
};

class TensorProgram {
public:
  /// Null, and `error`, if the function cannot be compiled for arguments of these types.
  static std::unique_ptr<TensorProgram> create(eval::Evaluator &evaluator,
                                               const eval::PyValue &function,
                                               const tensors::Signature &signature,
                                               llvm::ArrayRef<tensors::Argument> arguments,
                                               std::unique_ptr<eval::EvalError> &error);
  virtual ~TensorProgram();

  /// The buffer in whose memory one lies: itself, unless it is another's shape.
  unsigned memoryOf(unsigned buffer) const {
    while (buffers[buffer].sameAs >= 0)
      buffer = buffers[buffer].sameAs;
    return buffer;
  }

  std::vector<TensorBuffer> buffers;
  std::vector<TensorKernel> kernels; ///< in order
  std::vector<unsigned> results;     ///< buffers
  bool returnsTuple = false, returnsNone = false;
  /// What parameters become: the buffer of the new value, and the parameter's.
  std::vector<std::pair<unsigned, unsigned>> updates;
  /// What is wrong with where a call's arrays lie, if the function writes some of them; empty:
  /// nothing.
  std::string unsafeUpdate(const graph::Bindings &sizes, llvm::ArrayRef<TensorPlace> places,
                           const tensors::Signature &signature) const;
  /// Formulas that must not be negative, and what a call is told otherwise.
  std::vector<std::pair<graph::Size, std::string>> requirements;
  /// What is wrong with the sizes of a call; empty: nothing.
  std::string unmetRequirement(const graph::Bindings &sizes) const;

  // Operation by operation, for comparison.
  graph::Size unfusedBytes, leastBytes; ///< least: parameters and results once
  unsigned unfusedLaunches = 0;

  /// This program counts on arrays of the caller's that have no gaps where it sees them in another
  /// shape. The same function for arrays that may have some, or this program, if it sees none so.
  virtual llvm::Expected<TensorProgram *> withGaps() = 0;
  /// What runs for sizes: this program, or, where a program of a kernel could not hold what it
  /// needs, one in which products stand apart; or one in which programs share the inner
  /// dimensions of products with few blocks, or rows of which there are few. Parameters and
  /// results are the same.
  virtual TensorProgram &forSizes(const graph::Bindings &sizes, const Target &target) = 0;
  /// The same, but that no programs share inner dimensions: cuts are chosen of its kernels.
  virtual TensorProgram &wholeForSizes(const graph::Bindings &sizes, const Target &target) = 0;
  /// Of that one: with inner dimensions and rows in so many parts, by kernel. Its buffers keep
  /// their numbers; those of sums come behind them.
  virtual TensorProgram &withParts(llvm::ArrayRef<int64_t> parts) = 0;
  /// How many kernels one of that program becomes in so many parts.
  virtual unsigned kernelsIn(unsigned kernel, int64_t parts) const = 0;
  /// Adds sizes that the compiler chooses to those of the arguments: of what is combined in
  /// parts, how many there are.
  virtual void chooseParts(graph::Bindings &sizes, const Target &target) const = 0;
  /// `places`: of all buffers that the kernel uses, by buffer.
  virtual llvm::Expected<TensorLaunch> launch(unsigned kernel, const graph::Bindings &sizes,
                                              llvm::ArrayRef<TensorPlace> places,
                                              const Target &target) = 0;
  /// Of a kernel of `wholeForSizes`, the model's cut and those that may be faster. None of kernels
  /// that somebody wrote, and where there is nothing to compute.
  virtual std::vector<TensorCut> cutsFor(unsigned kernel, const graph::Bindings &sizes,
                                         const Target &target) = 0;
  /// What such a kernel computes, as text: the same in every process.
  virtual std::string textOfKernel(unsigned kernel) const = 0;
  /// As `launch`, in this cut; its parts are those of the program.
  virtual llvm::Expected<TensorLaunch> launchCut(unsigned kernel, const graph::Bindings &sizes,
                                                 llvm::ArrayRef<TensorPlace> places,
                                                 const Target &target, const TensorCut &cut) = 0;
  /// The same in code that counts on no more than `fit` says, and the calls that this code serves.
  virtual llvm::Expected<TensorLaunch> launchOfClass(unsigned kernel, const graph::Bindings &sizes,
                                                     llvm::ArrayRef<TensorPlace> places,
                                                     const Target &target, Fit fit,
                                                     LaunchClass &calls) = 0;
  /// Whether all kernels, in code that was made for the sizes `made`, serve others.
  bool isServed(const graph::Bindings &made, const graph::Bindings &sizes, const Target &target);
  /// As `launch`, in code that was made for the sizes `made`, which serves these (see isServed),
  /// and counts on as much as it can.
  llvm::Expected<TensorLaunch> launchServed(unsigned kernel, const graph::Bindings &made,
                                            const graph::Bindings &sizes,
                                            llvm::ArrayRef<TensorPlace> places,
                                            const Target &target);
  /// Kernels that a run of this program launches at most, whatever the sizes and gaps.
  virtual unsigned mostKernels() = 0;
  /// As text: what was traced, and the groups that were made of it.
  virtual std::string tracedText() const = 0;
  virtual std::string groupedText() const = 0;
  /// How many modules `launch` has made so far: sizes of a class share one.
  unsigned modulesMade = 0;
};

/// A program whose kernels run in chosen cuts.
struct CutProgram {
  TensorProgram *program = nullptr;
  std::vector<std::optional<TensorCut>> cuts; ///< by kernel; nothing, or none: the model's
  llvm::Expected<TensorLaunch> launch(unsigned kernel, const graph::Bindings &sizes,
                                      llvm::ArrayRef<TensorPlace> places,
                                      const Target &target) const;
};
/// One of `wholeForSizes`, in these cuts of its kernels.
CutProgram inCuts(TensorProgram &whole, llvm::ArrayRef<std::optional<TensorCut>> cuts);

/// Sizes that are near each other are a class, in which one cut is the fastest: the largest of it,
/// and what it is called ("M=225..256, N=4096:16").
graph::Bindings classOfSizes(const graph::Bindings &sizes);
std::string textOfClass(const graph::Bindings &sizes);

} // namespace tile

#endif // TILE_COMPILER_FUNCTIONS_TENSORPROGRAM_H
