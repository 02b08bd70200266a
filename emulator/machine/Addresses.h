//===- Addresses.h - where compiled code finds what -----------------------===//
//
// Special registers by number, and shared memory by address: what the translation of a kernel and
// the machine that runs it agree on.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_ADDRESSES_H
#define TILE_EMULATOR_MACHINE_ADDRESSES_H

#include <cstdint>

namespace tile::emu {

/// Where compiled code finds a thread's special registers and, behind them, what else it
/// uses itself: at the start of Thread, in this order.
enum SpecialRegister : unsigned {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtarank,
  kClusterNctarank,
  kDynamicSmemSize,
  kTotalSmemSize,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kTurnsLeft, ///< turns of loops until the machine is asked
  kSpecialRegisters
};

/// Shared memory: bits 24 and up of an address are the CTA's rank in its
/// cluster, the low ones the offset in its window. Dynamic shared memory begins
/// behind what the system reserves, as on the hardware.
constexpr uint32_t kSharedReserved = 1024;
constexpr unsigned kSharedRankShift = 24;
constexpr uint32_t kSharedOffsetMask = (1u << kSharedRankShift) - 1;
/// Where the shared window stands in the generic address space.
constexpr uint64_t kGenericShared = 0x7f80000000000000ull;

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_ADDRESSES_H
