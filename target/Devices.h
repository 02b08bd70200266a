//===- Devices.h - what chips can do at most ------------------------------===//
//
// What boards are called, with the chip that each has; and data-sheet peaks, for bounds that no
// kernel beats: dense products, no boost beyond the rated clock.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_DEVICES_H
#define TILE_TARGET_DEVICES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace tile {

struct Multiprocessor;

/// Kinds of arithmetic that have a peak of their own.
enum class Arithmetic { Fp8, Int8, Fp16, Tf32, Fp64Dot, Fp32, Fp64 };
inline constexpr unsigned kNumArithmetic = 7;
llvm::StringRef nameOf(Arithmetic arithmetic);

/// What a multiprocessor gets out of the L2 cache in a cycle.
inline constexpr double kL2BytesPerCycle = 64;

struct DeviceModel {
  llvm::StringLiteral name;  ///< "h200": what `--device` takes
  llvm::StringLiteral title; ///< "H200 SXM"
  int capability;            ///< 90 for sm_90
  int multiprocessors;
  double gigahertz;
  double terabytesPerSecond; ///< memory
  int64_t l2Bytes;
  /// Tera-operations a second by Arithmetic; 0: no instruction for it.
  double tera[kNumArithmetic];

  double peak(Arithmetic a) const { return tera[unsigned(a)] * 1e12; }
  const Multiprocessor &multiprocessor() const;
};

llvm::ArrayRef<DeviceModel> allDevices();
/// Null if there is none of that name; how it is written does not matter ("RTX 4090").
const DeviceModel *findDevice(llvm::StringRef name);
/// The one that stands for a compute capability; null if none does.
const DeviceModel *deviceFor(int capability);
/// That one, or an H100 where none does: its multiprocessors and peaks are somebody's at least.
const DeviceModel &deviceLike(int capability);
/// "sm_90a": with all that the chip has.
std::string targetOf(const DeviceModel &device);
/// "h200, h100, ...".
std::string deviceNames();

/// A board without peaks of its own, which is nearly another one.
struct Board {
  llvm::StringLiteral name;
  int capability;
};
/// Names of boards that stand for their chip's target, those of `allDevices()` included.
std::vector<llvm::StringRef> boardNames();
/// The target of a board; nothing if none is called so.
std::optional<std::string> targetOfBoard(llvm::StringRef name);

} // namespace tile

#endif // TILE_TARGET_DEVICES_H
