//===- ChooseCut.h - how a kernel is cut into blocks ----------------------===//
//
// One model for all kernels: a program should move several kilobytes, a thread hold what
// fits its registers, and a row be read once if that is possible.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_FUNCTIONS_CHOOSECUT_H
#define TILE_COMPILER_FUNCTIONS_CHOOSECUT_H

#include "compiler/functions/TensorProgram.h"
#include "passes/graph/KernelShape.h"
#include "target/Target.h"
#include "llvm/Support/MathExtras.h"

namespace tile {

struct DeviceModel;

/// The numbers of a launch. Of a product, `batch` of which are multiplied; of a chain of two,
/// `depth` is what the first one adds up.
struct Extents {
  int64_t batch = 1, rows = 1, columns = 1, inner = 1, depth = 1;
  int64_t parts = 0;      ///< programs that share the rows; 0: each program has rows of its own
  int64_t leastDepth = 1; ///< of several first products; `depth` is the most
  /// Of a product: an operand, and what it takes if it is computed where it is read.
  struct Computed {
    double slots = 0; ///< for each element (graph::slotsOf); 0: it is an array
    double bytes = 0; ///< that an element takes in memory
    double elements = 0;
    int64_t vector = 1; ///< of an array: elements that one access may have
  };
  Computed left, right;
};
/// Nothing if they do not fit 64 bits.
std::optional<Extents> extentsOf(const graph::KernelShape &shape, const graph::Bindings &sizes);

graph::Cut chooseCut(const graph::KernelShape &shape, const Extents &extents, const Target &target);

/// That of a chain of products.
void cutChain(graph::Cut &cut, const graph::KernelShape &shape, const Extents &extents,
              const Target &target);
/// What of a cut follows from its blocks.
void finishCut(graph::Cut &cut, const graph::KernelShape &shape, const Extents &extents,
               const Target &target);

/// The model's cut, and those beside it that may be faster.
std::vector<TensorCut> cutsBeside(const graph::KernelShape &shape, const Extents &extents,
                                  const Target &target);
/// All cuts of a product, the fastest by the model of ShareProducts.cpp first.
std::vector<TensorCut> rankProducts(const graph::KernelShape &shape, const Extents &extents,
                                    const Target &target);
/// Cuts of a chain that a multiprocessor has room for; `cut`: the model's.
void chainCuts(const graph::KernelShape &shape, const graph::Cut &cut, const Extents &extents,
               const Target &target, std::vector<TensorCut> &out);
/// Makes the model's cut another one of these.
void takeCut(graph::Cut &cut, const graph::KernelShape &shape, const TensorCut &other,
             const Extents &extents, const Target &target);

/// Whether a kernel that is cut so goes through large arrays once, and writes little: the right
/// operands of a product of few rows, or rows that are combined and of which a few numbers remain.
bool isStreaming(const graph::KernelShape &shape, const graph::Cut &cut, const Extents &extents,
                 const Target &target);

/// Whether a program can hold what it needs for a chain of products of these sizes.
bool chainFits(const graph::KernelShape &shape, const Extents &extents, const Target &target);

/// Elements from so many bytes on are multiplied by threads, not by tensor cores.
inline constexpr int64_t kBytesOfThreads = 4;
/// That of a product of such elements: the best one of ShareProducts.cpp.
void cutOfThreads(graph::Cut &cut, const graph::KernelShape &shape, const Extents &extents,
                  const Target &target);
/// Makes the cut of a product that memory limits the best one of ShareProducts.cpp, if that is
/// faster.
void cutSkinny(graph::Cut &cut, const graph::KernelShape &shape, const Extents &extents,
               const Target &target);
/// How many parts the inner dimension of a product is best shared in; 1: it is not.
int64_t shareInner(const graph::KernelShape &shape, const Extents &extents, const Target &target);
/// The kernel that multiplies so many parts, one for each y of its grid, and the one that adds
/// them up.
graph::Cut cutShared(const graph::KernelShape &shape, const Extents &extents, const Target &target,
                     int64_t parts);
/// Whether what the kernel's parts leave to be summed is counted by 32 bits.
bool sumsFit(const TensorKernel &kernel, const Extents &extents);
graph::Cut cutSum(const Extents &extents, const Target &target, int64_t parts);

/// Whether products are faster side by side in one kernel than in kernels of their own, of these
/// sizes.
bool isBestSideBySide(const graph::KernelShape &joined,
                      llvm::ArrayRef<const graph::KernelShape *> apart,
                      const graph::Bindings &sizes, const Target &target);

/// Whether a product that adds rows to those that numbers name is faster by atomic additions.
bool isBestScattered(const graph::KernelShape &shape, const Extents &extents, const Target &target);
/// The kernels that clear the sums, and that add to them.
graph::Cut cutScatter(const graph::KernelShape &shape, const Extents &extents, const Target &target,
                      TensorKernel::Scatter which);

/// Operands of a product that are faster computed by kernels in front of it than where it reads
/// them, of these sizes.
struct OperandsToStore {
  bool left = false, right = false;
  auto operator<=>(const OperandsToStore &) const = default;
};
OperandsToStore operandsToStore(const graph::KernelShape &shape, const Extents &extents,
                                const Target &target);

/// Whether rows of a kernel that reduces lie beside each other in memory: blocks have some of each.
bool hasRowsBeside(const graph::KernelShape &shape, const Extents &extents);
/// How many programs are best to share each row of a kernel without a product; 1: they do not.
int64_t shareRows(const graph::KernelShape &shape, const Extents &extents, const Target &target);
/// The kernel that is a step of these.
graph::Cut cutStep(const graph::KernelShape &shape, const Extents &extents, const Target &target,
                   const TensorKernel &kernel);

/// So many of them a multiprocessor gets at most; 0: they are thread blocks for the whole chip even
/// if two share each.
int fewPrograms(int64_t programs, const Target &target);
/// Threads that the chip runs at once.
int64_t threadsAtOnce(const Target &target);

/// How many programs share the rows of a kernel that combines them in parts.
int64_t chooseParts(const graph::KernelShape &shape, const Extents &extents, const Target &target);

/// The least block: rows of less are shorter than a warp's smallest access anyway.
inline constexpr int64_t kLeastBlock = 16;
inline int64_t powerOfTwo(int64_t n) {
  return int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(n, 1))));
}
/// Turns of a product that may be on their way, of so many bytes each, in each of so many programs;
/// at most `wanted`.
int turnsOnTheWay(const Target &target, int64_t turnBytes, int64_t programs,
                  int64_t wanted = INT64_MAX);

/// Products of elements of so many bytes that a multiprocessor does in a cycle.
double productsPerCycle(const DeviceModel &device, int64_t bytes);

/// What a block of products takes for each number of the inner dimension, in products of elements
/// of so many bytes. Tensor cores multiply 64 rows at least, and read operands beside that; threads
/// multiply what there is, and load operands by instructions of their own.
double productsOfBlock(const graph::Cut &cut, const Extents &of, int64_t products, int64_t bytes);

/// Programs along x that the cut needs.
int64_t countPrograms(const graph::KernelShape &shape, const graph::Cut &cut,
                      const Extents &extents);

/// Rows and columns from here on are counted by 64 bits: below, a block more still fits 32.
inline constexpr int64_t kNarrowExtents = int64_t(1) << 30;

/// The calls that a kernel serves which was cut so; `parts`: of the inner dimension. Nothing of it
/// may be absent.
LaunchClass classOf(const graph::KernelShape &shape, const graph::Cut &cut, int64_t parts);

} // namespace tile

#endif // TILE_COMPILER_FUNCTIONS_CHOOSECUT_H
