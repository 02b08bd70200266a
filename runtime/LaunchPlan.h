//===- LaunchPlan.h - how a kernel's parameters are found at launch -------===//
//
// Worked out from the metadata alone, once a kernel: how to reach the value of
// each parameter from the caller's arguments. The GPU and the emulator launch by
// the same plan.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_LAUNCHPLAN_H
#define TILE_RUNTIME_LAUNCHPLAN_H

#include "compiler/Compiler.h"
#include "runtime/TensorMaps.h"
#include "tile/tile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace tile::runtime {

/// Bytes of a scalar parameter type ("ptr", "i1", "i32", "bf16", ...); 0 if
/// there is no such type.
unsigned parameterBytes(llvm::StringRef type);

/// The error of metadata that no compiler of ours wrote.
llvm::Error badMetadata(const KernelMetadata &metadata, const llvm::Twine &what);

/// The options for a kernel that is launched here: what they ask of the launcher
/// (`persistent`, `checkedLaunch`) is done.
CompileOptions forLaunch(CompileOptions options);

/// Whether a kernel has tensor maps, so that a launch may need another one that
/// was compiled with `tensorMaps` off.
bool usesTensorMaps(const KernelMetadata &metadata);

/// Where a launch of `grid` programs starts blocks: a persistent kernel no more
/// than `residentBlocks`. The error of a grid that cannot be.
llvm::Expected<std::array<uint64_t, 3>> blocksOf(const KernelMetadata &metadata,
                                                 const uint32_t grid[3], unsigned residentBlocks);

/// Whether a kernel of which a block runs several programs is through `grid` no later than its form
/// with a block for each (GridForms.h).
bool paysToShare(const KernelMetadata &metadata, const uint32_t grid[3], unsigned multiprocessors);

/// Whether a launch of `grid` is better served by the form for few programs, if there is one.
bool wantsForm(const KernelMetadata &metadata, const uint32_t grid[3], unsigned multiprocessors);

/// The error of a grid with more than `most` blocks along an axis.
llvm::Error checkGrid(const KernelMetadata &metadata, const std::array<uint64_t, 3> &blocks,
                      const int (&most)[3]);

/// How one kernel parameter is found at launch.
struct ParameterPlan {
  KernelParameter::Kind kind = KernelParameter::Kind::Arg;
  int index = 0;                  ///< entry of the signature
  unsigned bytes = 0;             ///< of the value; scratch: of the buffer
  unsigned constant = 0;          ///< Const: which of the plan's constants
  int dim = 0;                    ///< DescShape, DescStride, NumPrograms
  bool perProgram = false;        ///< Scratch: bytes are for each program
  bool zero = false;              ///< Scratch: cleared before the launch
  llvm::SmallVector<int, 2> path; ///< into a tuple

  /// Scratch memory, tensor maps and the grid are no arguments of the caller's.
  bool isMadeAtLaunch() const;
};

struct LaunchPlan {
  static llvm::Expected<LaunchPlan> of(const KernelMetadata &metadata);

  /// Points each parameter at its value, except what is made at launch.
  /// `arguments` is as for LoadedKernel::launch.
  llvm::Error resolve(llvm::ArrayRef<const void *> arguments,
                      llvm::MutableArrayRef<void *> pointers) const;
  /// Finds the bytes of one parameter in the argument of its entry.
  llvm::Error locate(const ParameterPlan &parameter, const void *argument,
                     const void *&value) const;
  /// Whether the values of entries `first` and behind it have the sizes that the kernel reads; 0:
  /// not known.
  llvm::Error checkSizes(size_t first, llvm::ArrayRef<size_t> sizes) const;
  /// The error of a caller who leaves an entry of the signature out.
  llvm::Error missingArgument(unsigned index) const;

  /// Makes the axes of `grid` those that the kernel counts programs along. False if it is not good
  /// for this launch.
  bool splitGrid(uint32_t (&grid)[3], llvm::ArrayRef<void *> pointers) const;

  struct Split {
    int axis, to;
    TensorMapPlan::Sum size;
    int64_t divisor;
  };
  /// A parameter of which `most` (a power of two) had better be a divisor; `shift`: where the key
  /// says which one is.
  struct Multiple {
    unsigned parameter;
    uint8_t most, shift;
  };
  /// Of which powers of two the values at `pointers` are multiples, so far as launches are faster
  /// for it: logarithms, one behind the other. 0: none are.
  uint64_t multiplesKey(llvm::ArrayRef<void *> pointers) const;
  /// The same as CompileOptions::multiples.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 4> multiplesOf(uint64_t key) const;

  std::string entry;
  llvm::SmallVector<ParameterPlan, 8> parameters;
  llvm::SmallVector<uint64_t, 2> constants;
  std::vector<TensorMapPlan> tensorMaps;
  llvm::SmallVector<Split, 1> splits; ///< of axes of the grid
  llvm::SmallVector<Multiple, 4> multiples;
  unsigned numArguments = 0; ///< one more than the last entry that is used
  bool hasScratch = false;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_LAUNCHPLAN_H
