//===- Check.h - watching memory ------------------------------------------===//
//
// Races are found by happens-before. Each program has a vector clock, advanced
// by its releases; an atomic that acquires takes in the clock that the last
// release left at its address. Two accesses of different programs to the same
// bytes race if one of them writes, not both are atomic, and the later program's
// clock does not cover the earlier access. For each cell of memory the last
// write and two reads are remembered.
//
// Programs run one after another (see Interpreter.h), so none of this locks.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_INTERP_CHECK_H
#define TILE_RUNTIME_INTERP_CHECK_H

#include "runtime/interp/Kernels.h"
#include "runtime/interp/Launch.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::interp {

/// For each program (by linear id), up to which of its own clock ticks it is
/// known to have come before.
using VectorClock = std::vector<uint32_t>;

/// What a release left at an address. Counts its size while it is kept.
struct Snapshot {
  VectorClock clock;
  uint64_t &total;
  Snapshot(VectorClock c, uint64_t &total) : clock(std::move(c)), total(total) {
    total += clock.size() * sizeof(uint32_t);
  }
  ~Snapshot() { total -= clock.size() * sizeof(uint32_t); }
};

class CheckState {
public:
  CheckState(Launch &launch, MemoryMap &memory);

  enum class Access { Read, Write, Atomic, AtomicRead };
  /// Checks the lanes of one instruction. The result says, for each lane,
  /// whether it may touch memory; it is valid until the next call.
  const uint8_t *check(Frame &frame, const Instruction &i, uint32_t n, unsigned bytes,
                       Access access, const uint8_t *mask);
  /// Takes in what releases left at the allowed lanes' addresses; leaves the
  /// program's clock there.
  void acquire(Frame &frame, const uint64_t *pointers, const uint8_t *allowed, uint32_t n);
  void release(Frame &frame, const uint64_t *pointers, const uint8_t *allowed, uint32_t n);

private:
  /// One access of a program: who, at which tick of its clock, by which
  /// instruction.
  struct Event {
    uint32_t program = 0; ///< linear id + 1; 0: none
    uint32_t tick : 31 = 0;
    uint32_t atomic : 1 = 0;
  };
  struct Cell {
    Event write, readA, readB;
    uint32_t writePlace = 0, readPlace = 0; ///< instruction indices
  };
  static constexpr unsigned kPageCells = 4096;

  /// The lane at hand, in the steps below.
  struct Lane {
    Frame &frame;
    const Instruction &i;
    const AccessInfo &info;
    Access access;
    uint64_t address;
    unsigned bytes;
    int64_t index;
  };
  MemoryMap::Buffer *inBounds(const Lane &lane);
  void initialized(const Lane &lane, MemoryMap::Buffer &buffer);
  void race(const Lane &lane);
  void reportRace(const Lane &lane, const Event &other, bool otherWrote, uint32_t otherPlace);
  void add(const Lane &lane, FindingKind kind, std::string message);
  bool before(const Event &event, const Frame &frame) const;
  Cell &cell(uint64_t number);
  void join(uint32_t program, const VectorClock &clock);

  Launch &launch;
  MemoryMap &memory;
  unsigned granule;
  MemoryMap::Buffer *recent = nullptr;
  llvm::DenseMap<uint64_t, std::unique_ptr<Cell[]>> pages;
  uint64_t recentPage = ~uint64_t(0);
  Cell *recentCells = nullptr;

  uint64_t clockBytes = 0;
  std::vector<uint32_t> ticks;                                        ///< each program's own clock
  std::vector<VectorClock> clocks;                                    ///< what else it knows
  llvm::DenseMap<uint64_t, std::shared_ptr<const Snapshot>> released; ///< by address
  bool racesWatched = true;
  std::vector<uint8_t> allowed;
};

/// "lane 5" or "lane (1, 5)"; nothing for a scalar.
std::string describeLane(int64_t lane, llvm::ArrayRef<int64_t> shape);

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_CHECK_H
