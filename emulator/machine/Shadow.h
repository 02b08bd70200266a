//===- Shadow.h - who touched which byte of shared memory -----------------===//
//
// For each byte of a CTA's shared memory: the last write, and two reads since
// then. An access races with one of them if one of the two writes and the
// accessing thread's clock does not cover the earlier one. Of many readers the
// oldest that is not known to be over and the newest are kept. Reads that an arrival has
// passed (LoadsInFlight.h) are kept apart, the last of each byte.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_SHADOW_H
#define TILE_EMULATOR_MACHINE_SHADOW_H

#include "emulator/machine/Clock.h"
#include <memory>

namespace tile::emu {

struct Thread;

/// One access, packed: who, when, at which instruction, through which proxy.
class Event {
public:
  Event() = default;
  /// `strong`: it may meet other strong accesses; those of other CTAs if they and it
  /// are `wide`.
  Event(Component component, Tick tick, uint32_t site, bool async, bool strong = false,
        bool wide = false)
      : bits(uint64_t(component) << 48 | uint64_t(site & 0xfffff) << 28 |
             uint64_t(tick & 0x1ffffff) << 3 | uint64_t(wide) << 2 | uint64_t(strong) << 1 |
             uint64_t(async)) {}
  explicit operator bool() const { return bits != 0; }
  bool operator==(const Event &other) const = default;
  Component component() const { return Component(bits >> 48); }
  uint32_t site() const { return uint32_t(bits >> 28) & 0xfffff; }
  Tick tick() const { return Tick(bits >> 3) & 0x1ffffff; }
  bool wide() const { return bits & 4; }
  bool strong() const { return bits & 2; }
  bool async() const { return bits & 1; }

private:
  uint64_t bits = 0;
};

/// What is wrong with an access, if anything.
struct Conflict {
  enum Kind { None, Unwritten, WriteWrite, ReadWrite, WriteRead, Fence, Passed } kind = None;
  Event other;
  uint32_t offset = 0; ///< of the byte
  bool narrow = false; ///< something orders them, but not from one CTA to another
};

class Shadow {
public:
  explicit Shadow(uint32_t bytes);
  void reset();

  /// The clock that decides what an access comes after. `own` accesses of the
  /// same component are in order.
  struct View {
    const Clock &clock;
    Component own;
    uint32_t threads; ///< of a CTA
  };
  Conflict read(uint32_t offset, uint32_t bytes, Event event, const View &view);
  Conflict write(uint32_t offset, uint32_t bytes, Event event, const View &view);
  /// A read that an arrival has passed: asynchronous writes must come after it.
  void passedRead(uint32_t offset, uint32_t bytes, Event event);

private:
  static bool mayMeet(Event earlier, Event now, const View &view);
  static bool readIsOver(Event earlier, Event now, const View &view);
  static Conflict::Kind judgeWrite(Event earlier, Event now, const View &view, bool writing);
  static bool narrow(Event earlier, Event now, const View &view);

  uint32_t bytes;
  std::unique_ptr<Event[]> writes, oldest, newest;
  std::unique_ptr<Event[]> passed; ///< made when first used
};

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_SHADOW_H
