//===- Check.h - watching memory ------------------------------------------===//
//
// Races are found by happens-before. Each program has a vector clock, advanced
// by its releases; an atomic that acquires takes in the clock that the last
// release left at its address. Two accesses of different programs to the same
// bytes race if one of them writes, not both are atomic, and the later program's
// clock does not cover the earlier access. For each cell of memory the last
// write and two reads are remembered. Cells outlive a launch: event numbers go
// up for ever, so those of earlier launches are told by being small.
//
// Lanes of one program are in order where they use the same element by the same
// pointers, and across `tl.debug_barrier()`: which thread has which lane is the compiler's
// choice. So with the last write and one read of a cell its lane is remembered, and of the write
// the turn: an instruction in a loop is another one each time.
//
// Programs run one after another (see Interpreter.h), so none of this locks.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_INTERP_CHECK_H
#define TILE_RUNTIME_INTERP_CHECK_H

#include "runtime/interp/Kernels.h"
#include "runtime/interp/Launch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

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
  ~CheckState();

  enum class Access { Read, Write, Atomic, AtomicRead };
  static bool reads(Access access) {
    return access == Access::Read || access == Access::AtomicRead;
  }
  /// Checks the lanes of one instruction. The result says, for each lane,
  /// whether it may touch memory; it is valid until the next call.
  const uint8_t *check(Frame &frame, const Instruction &i, uint32_t n, unsigned bytes,
                       Access access, const uint8_t *mask);
  /// Takes in what releases left at the allowed lanes' addresses; leaves the
  /// program's clock there.
  void acquire(Frame &frame, const uint64_t *pointers, const uint8_t *allowed, uint32_t n);
  void release(Frame &frame, const uint64_t *pointers, const uint8_t *allowed, uint32_t n);
  /// All lanes of the program that runs come before all that it does from here on.
  void barrier() { orderedUpTo = firstEvent + EventId(events.size()); }

private:
  using EventId = uint32_t;
  /// One instruction of one program at one tick of its clock. Cells of memory
  /// name the events that touched them last by number.
  struct Event {
    uint32_t program; ///< linear id
    uint32_t tick;
    uint32_t place; ///< instruction index
    bool atomic;
  };

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
  void checkRun(Lane lane, uint32_t count);
  bool checkLane(const Lane &lane);
  MemoryMap::Buffer *locate(uint64_t root, uint64_t address, uint64_t length);
  std::string argumentOf(const AccessInfo &info) const;
  std::string nameOf(const Lane &lane, const MemoryMap::Buffer &buffer) const;
  std::string describeOutOfBounds(const Lane &lane);
  void initialized(const Lane &lane, MemoryMap::Buffer &buffer);
  EventId eventOf(const Lane &lane);
  const Event &event(EventId id) const { return events[id - firstEvent]; }
  bool conflicts(EventId earlier, const Lane &lane) const;
  bool before(EventId earlier, const Frame &frame) const;
  void race(Lane lane, uint32_t count, MemoryMap::Buffer &buffer);
  bool argumentsOverlap() const;
  void overlap(const Lane &lane, EventId write);
  void constantWritten(const Lane &lane);
  // UnorderedLanes.cpp
  void meetLane(const Lane &lane, EventId earlier, uint32_t earlierLane, bool earlierWrote);
  void noteLane(std::vector<uint32_t> &lanes, size_t cell, bool isSame, uint32_t index) const;
  void meet(const Lane &lane, EventId write, EventId readA, EventId readB);
  void reportRace(const Lane &lane, EventId other, bool otherWrote);
  void add(const Lane &lane, FindingKind kind, llvm::function_ref<std::string()> message);
  void join(uint32_t program, const VectorClock &clock);

  Launch &launch;
  MemoryMap &memory;
  unsigned granule;
  MemoryMap::Buffer *recent = nullptr;
  const EventId firstEvent;            ///< smaller numbers are of earlier launches
  std::vector<Event> events;           ///< by number, from `firstEvent`
  std::vector<EventId> latest;         ///< by instruction: its last event
  uint64_t turnProgram = ~uint64_t(0); ///< the program that runs now, and
  EventId turnStart = 0;               ///< the first event of its turn
  EventId orderedUpTo = 0;             ///< the first event behind its last barrier
  uint64_t clockBytes = 0;
  std::vector<uint32_t> ticks;                                        ///< each program's own clock
  std::vector<VectorClock> clocks;                                    ///< what else it knows
  llvm::DenseMap<uint64_t, std::shared_ptr<const Snapshot>> released; ///< by address
  bool racesWatched = true;
  const bool overlapWatched; ///< two arguments point into one buffer
  const bool lanesWatched;
  uint32_t turn = 0; ///< how many instructions have been checked
  std::vector<uint8_t> allowed;
};

/// "lane 5" or "lane (1, 5)"; nothing for a scalar.
std::string describeLane(int64_t lane, llvm::ArrayRef<int64_t> shape);

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_CHECK_H
