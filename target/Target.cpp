//===- Target.cpp - the NVIDIA targets that code can be made for ----------===//
#include "target/Target.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;
using llvm::StringRef;

// CUDA C++ Programming Guide, "Compute Capabilities": technical specifications.
static constexpr Multiprocessor sm75 = {1024, 16, 64 << 10, 65536, 0};
static constexpr Multiprocessor sm80 = {2048, 32, 164 << 10};
static constexpr Multiprocessor sm86 = {1536, 16, 100 << 10};
static constexpr Multiprocessor sm87 = {1536, 16, 164 << 10};
static constexpr Multiprocessor sm88 = {1536, 16, 100 << 10};
static constexpr Multiprocessor sm89 = {1536, 24, 100 << 10};
static constexpr Multiprocessor sm90 = {2048, 32, 228 << 10};
static constexpr Multiprocessor sm100 = {2048, 32, 228 << 10};
static constexpr Multiprocessor sm103 = {2048, 32, 228 << 10};
static constexpr Multiprocessor sm110 = {1536, 24, 228 << 10};
static constexpr Multiprocessor sm120 = {1536, 24, 100 << 10};
static constexpr Multiprocessor sm121 = {1536, 24, 100 << 10};

// Portable, then architecture-specific ('a': instructions that later chips may
// drop), then family-specific ('f') where one exists.
static const Target targets[] = {
    {"sm_75", 75, 0, 63, 64 << 10, "Turing: T4, RTX 20", sm75},
    {"sm_80", 80, 0, 70, 163 << 10, "Ampere: A100", sm80},
    {"sm_86", 86, 0, 71, 99 << 10, "Ampere: A10, RTX 30", sm86},
    {"sm_87", 87, 0, 74, 163 << 10, "Ampere: Jetson Orin", sm87},
    {"sm_88", 88, 0, 90, 99 << 10, "Ampere, embedded", sm88},
    {"sm_89", 89, 0, 78, 99 << 10, "Ada: L4, L40, RTX 40", sm89},
    {"sm_90", 90, 0, 78, 227 << 10, "Hopper: H100, H200, without its specific instructions", sm90},
    {"sm_90a", 90, 'a', 80, 227 << 10, "Hopper: H100, H200", sm90},
    {"sm_100", 100, 0, 86, 227 << 10, "Blackwell: B100, B200, portable", sm100},
    {"sm_100a", 100, 'a', 86, 227 << 10, "Blackwell: B100, B200", sm100},
    {"sm_100f", 100, 'f', 88, 227 << 10, "Blackwell data-centre family", sm100},
    {"sm_103", 103, 0, 88, 227 << 10, "Blackwell: B300, portable", sm103},
    {"sm_103a", 103, 'a', 88, 227 << 10, "Blackwell: B300", sm103},
    {"sm_103f", 103, 'f', 88, 227 << 10, "Blackwell: B300, family", sm103},
    {"sm_110", 110, 0, 90, 227 << 10, "Blackwell: Jetson Thor, portable", sm110},
    {"sm_110a", 110, 'a', 90, 227 << 10, "Blackwell: Jetson Thor", sm110},
    {"sm_110f", 110, 'f', 90, 227 << 10, "Blackwell: Jetson Thor, family", sm110},
    {"sm_120", 120, 0, 87, 99 << 10, "Blackwell: RTX 50, RTX PRO, portable", sm120},
    {"sm_120a", 120, 'a', 87, 99 << 10, "Blackwell: RTX 50, RTX PRO", sm120},
    {"sm_120f", 120, 'f', 88, 99 << 10, "Blackwell: RTX family", sm120},
    {"sm_121", 121, 0, 88, 99 << 10, "Blackwell: DGX Spark, portable", sm121},
    {"sm_121a", 121, 'a', 88, 99 << 10, "Blackwell: DGX Spark", sm121},
    {"sm_121f", 121, 'f', 88, 99 << 10, "Blackwell: DGX Spark, family", sm121},
};

llvm::ArrayRef<Target> tile::allTargets() { return targets; }

const Target *tile::findTarget(StringRef name) {
  for (const Target &target : targets)
    if (target.name == name)
      return &target;
  return nullptr;
}

const Target &tile::fallbackTarget() { return *findTarget("sm_90a"); }

const Target &tile::targetNamed(StringRef name) {
  const Target *target = findTarget(name);
  return target ? *target : fallbackTarget();
}

bool Target::has(Feature feature) const {
  switch (feature) {
  case Feature::Ldmatrix:
    return capability >= 75;
  case Feature::CpAsync:
  case Feature::Redux:
  case Feature::Mma16x8x16:
  case Feature::MmaF64:
  case Feature::NarrowPairs:
    return capability >= 80;
  case Feature::ConvertFp8:
  case Feature::E4M3:
    return capability >= 89;
  case Feature::MmaFp8:
    // Hopper and the Blackwell server chips have it in warpgroup instructions only; there
    // the warp-wide form is no faster than f16, and less exact.
    return capability == 89 || capability >= 120;
  case Feature::Stmatrix:
  case Feature::MmaF64Deep:
  case Feature::BulkCopies:
  case Feature::Clusters:
  case Feature::DependentLaunch:
  case Feature::Bf16Arithmetic:
  case Feature::VectorAtomics:
    return capability >= 90;
  case Feature::Wgmma: // dropped by the chips that followed
    return capability == 90 && variant == 'a';
  }
  llvm_unreachable("a feature without a row");
}

std::string tile::targetNameOf(int capability) {
  // From 9.0 on chips have instructions that only code for exactly them can use.
  return formatted("sm_{}{}", capability, capability >= 90 ? "a" : "");
}

std::optional<std::string> tile::targetMismatch(StringRef target, int capability) {
  std::string chip = formatted("sm_{}", capability);
  StringRef variant = target;
  int number = 0;
  if (!variant.consume_front("sm_") || variant.consumeInteger(10, number) || variant.size() > 1 ||
      (!variant.empty() && variant != "a" && variant != "f"))
    return formatted("`{}` is not a target", target);
  if (variant == "a" && number != capability)
    return formatted("code for {} runs on sm_{} only, and this device is {}", target, number, chip);
  if (variant == "f" && (number / 10 != capability / 10 || number > capability))
    return formatted("code for {} runs on the sm_{}x family from sm_{} on, and this device is {}",
                     target, number / 10, number, chip);
  if (number > capability)
    return formatted("code for {} needs sm_{} or newer, and this device is {}", target, number,
                     chip);
  return std::nullopt;
}

Occupancy tile::occupancyOf(const Multiprocessor &multiprocessor, int threads, int registers,
                            int64_t sharedBytes) {
  Occupancy result{multiprocessor.blocks, "thread blocks"};
  auto limit = [&](int64_t programs, StringRef by) {
    if (programs < result.programs)
      result = {int(programs), by};
  };
  limit(multiprocessor.threads / std::max(threads, 1), "threads");
  if (registers > 0) { // each scheduler has a quarter, dealt out by the warp in units of 256
    constexpr int schedulers = 4;
    int64_t ofWarp = int64_t(llvm::alignTo(uint64_t(registers) * 32, 256));
    int64_t warps = multiprocessor.registers / schedulers / ofWarp * schedulers;
    limit(warps / ((threads + 31) / 32), "registers");
  }
  if (int64_t shared = sharedBytes + multiprocessor.reservedBytes)
    limit(multiprocessor.sharedBytes / shared, "shared memory");
  return result;
}
