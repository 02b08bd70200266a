//===- TensorMaps.h - tensor map parameters of a launch -------------------===//
//
// A kernel's tensor maps follow from the launch's other arguments. How is
// worked out when the kernel is loaded; a launch evaluates a few products and
// has the driver encode the map, unless this thread has encoded the same one
// before.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_TENSORMAPS_H
#define TILE_RUNTIME_TENSORMAPS_H

#include "compiler/Compiler.h"
#include "runtime/CudaApi.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>

namespace tile::runtime {

/// A parameter's value among those of a launch.
struct LaunchValue {
  unsigned parameter = 0;
  unsigned bytes = 8; ///< of an integer, sign-extended
};

struct TensorMapPlan {
  struct Term {
    int64_t coefficient;
    llvm::SmallVector<LaunchValue, 2> factors;
  };
  using Sum = llvm::SmallVector<Term, 2>;

  uint64_t id = 0;        ///< of this plan alone, ever: what caches know it by
  unsigned parameter = 0; ///< that takes the map
  LaunchValue base;
  llvm::SmallVector<Sum, 5> sizes, strides;
  llvm::SmallVector<Sum, 1> notNegative;
  cuda::TensorMapDataType type = cuda::TensorMapDataType::UInt8;
  unsigned elementBytes = 1;
  llvm::SmallVector<uint32_t, 5> box;
  cuda::TensorMapSwizzle swizzle = cuda::TensorMapSwizzle::None;
  bool stored = false; ///< the kernel writes through it
};

/// What a map's numbers are in one launch.
struct TensorMapValues {
  static constexpr unsigned kMaxRank = 5;
  unsigned rank = 0;
  int64_t base = 0;
  std::array<int64_t, kMaxRank> sizes{};
  std::array<int64_t, kMaxRank> strides{}; ///< of all dimensions but the first, as maps have them
  bool startsInside = true;                ///< what the map needs not to be negative is not
  /// Nothing is stored, or rows end at multiples of 16 bytes: the hardware stores all
  /// of the last 16.
  bool endsWhole = true;
  bool operator==(const TensorMapValues &) const = default;
  /// False if no map can describe that array: nothing in it, an address or a
  /// stride that is not a multiple of 16 bytes, rows to store that end elsewhere, or
  /// a stride that is negative; or if blocks may start before it where the map is
  /// not good for that.
  bool isSuitable() const;
};
/// For a launch whose parameters have the values at `pointers`.
TensorMapValues evaluateTensorMap(const TensorMapPlan &plan, llvm::ArrayRef<void *> pointers);

/// How a sum is worked out; `find` gives the parameter that carries an entry of the signature.
llvm::Expected<TensorMapPlan::Sum>
planSum(const LaunchSum &sum,
        llvm::function_ref<llvm::Expected<LaunchValue>(const LaunchSum::Factor &)> find);
/// The sum, for a launch whose parameters have the values at `pointers`.
int64_t evaluate(const TensorMapPlan::Sum &sum, llvm::ArrayRef<void *> pointers);

llvm::Expected<TensorMapPlan>
planTensorMap(const TensorMap &map, const KernelParameter &parameter,
              llvm::function_ref<llvm::Expected<LaunchValue>(const LaunchSum::Factor &)> find);

/// Makes the map for a launch whose parameters have the values at `pointers`.
/// `isSuitable` becomes false if none can describe that array.
llvm::Error encodeTensorMap(const cuda::CudaApi &api, const TensorMapPlan &plan,
                            llvm::ArrayRef<void *> pointers, cuda::TensorMap &out,
                            bool &isSuitable);

} // namespace tile::runtime

#endif // TILE_RUNTIME_TENSORMAPS_H
