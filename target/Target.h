//===- Target.h - the NVIDIA targets that code can be made for ------------===//
//
// The ground floor: what a chip has. Nobody above compares numbers of capabilities
// or takes names of targets apart; passes ask for features and limits. A new chip is
// a row in Target.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TARGET_H
#define TILE_TARGET_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tile {

/// What instructions a target has. Each is asked for by name, and says what it stands for.
enum class Feature : unsigned {
  Ldmatrix,   ///< ldmatrix: 8 x 8 blocks from shared memory to a matrix instruction's registers
  Stmatrix,   ///< stmatrix: back to shared memory
  Mma16x8x16, ///< mma.sync m16n8k16 of f16, and of bf16, tf32, and 8-bit integers (k32)
  MmaF64,     ///< mma.sync m8n8k4 of f64
  MmaF64Deep, ///< mma.sync m16n8k16 of f64
  MmaFp8,     ///< mma.sync of 8-bit floats that is worth using
  Wgmma,      ///< warpgroup matrix instructions, and setmaxnreg
  CpAsync,    ///< cp.async: copies to shared memory by the threads
  BulkCopies, ///< cp.async.bulk, mbarriers with transaction counts, TMA
  Clusters,   ///< thread blocks that read each other's shared memory
  DependentLaunch, ///< griddepcontrol
  Redux,           ///< redux.sync: an integer operation over the lanes of a warp at once
  NarrowPairs,     ///< cvt of two f32 to a register of 16-bit floats
  Bf16Arithmetic,  ///< add, mul of two bf16 in a register, and atomic additions of bf16
  ConvertFp8,      ///< cvt between fp8 and f16
  E4M3,            ///< the type fp8e4nv
  VectorAtomics,   ///< red of 16 bytes of floats at once, where nobody asks for what was there
};

/// What one multiprocessor has for all its thread blocks together.
struct Multiprocessor {
  int threads;
  int blocks;
  int sharedBytes;
  int registers = 65536;
  int reservedBytes = 1024; ///< of each block's shared memory, for the system
};

//===----------------------------------------------------------------------===//
// What all chips have alike
//===----------------------------------------------------------------------===//

inline constexpr unsigned kLanes = 32;             ///< of a warp
inline constexpr unsigned kWarpgroupThreads = 128; ///< that run a warpgroup instruction
inline constexpr unsigned kMaxThreads = 1024;      ///< of a thread block
inline constexpr unsigned kMaxRegisters = 255;     ///< of a thread
/// Bytes that one access of a warp covers at best, and those that the L2 cache gives at once.
inline constexpr unsigned kLineBytes = 128, kSectorBytes = 32;

struct Target {
  llvm::StringLiteral name;    ///< as ptxas spells it: `sm_90a`
  int capability;              ///< 10 * major + minor: 90
  char variant;                ///< 'a' architecture-, 'f' family-specific, 0 portable
  int ptxVersion;              ///< lowest PTX ISA that knows it, times 10: 80
  int maxSharedBytes;          ///< that one thread block can have
  llvm::StringLiteral example; ///< what it is found in
  Multiprocessor multiprocessor;

  bool has(Feature feature) const;
};

/// All known targets, oldest first.
llvm::ArrayRef<Target> allTargets();
/// Null if there is none of that name.
const Target *findTarget(llvm::StringRef name);
/// What is compiled for where nobody says and no chip is there: the newest whose
/// instructions the compiler knows best.
const Target &fallbackTarget();
/// That one, or the fallback where there is none of that name.
const Target &targetNamed(llvm::StringRef name);
/// One sentence on why `name` is no target, with what would work.
std::string describeUnknownTarget(llvm::StringRef name);

/// The name of the target with all that a chip of this capability has: "sm_90a".
std::string targetNameOf(int capability);
/// Whether code for `target` ("sm_80", "sm_90a", "sm_100f") runs on a chip of this
/// capability; if not, the sentence that says why.
std::optional<std::string> targetMismatch(llvm::StringRef target, int capability);

/// How many programs a multiprocessor runs at once, and what keeps it from more.
struct Occupancy {
  int programs = 0;
  llvm::StringRef limit; ///< "registers", "shared memory", "threads", "thread blocks"
};
/// `registers` of a thread; 0 if not known. `sharedBytes` of a program.
Occupancy occupancyOf(const Multiprocessor &multiprocessor, int threads, int registers,
                      int64_t sharedBytes);

} // namespace tile

#endif // TILE_TARGET_TARGET_H
