//===- GlobalShadow.h - global memory among the threads of one CTA ---------===//
//
// What Shadow is for shared memory: for each byte that threads of a CTA touch by plain
// accesses, the last write and two reads since then. It grows with what is touched, and
// begins anew where that is too much. Atomic and other strong accesses, and copies, are
// not looked at; nor are other CTAs, which GlobalOrder puts in order.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_GLOBALSHADOW_H
#define TILE_EMULATOR_MACHINE_GLOBALSHADOW_H

#include "emulator/machine/Shadow.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::emu {

class GlobalShadow {
public:
  /// Checks a plain access of a thread against those of others, and enters it. The offset in the
  /// conflict is from `address`.
  Conflict touch(uint64_t address, uint32_t bytes, bool writes, Event event, const Clock &clock);

private:
  static constexpr unsigned kPageBytes = 128, kMostPages = 1 << 14;
  struct Page {
    Event writes[kPageBytes], oldest[kPageBytes], newest[kPageBytes];
  };
  Page &pageOf(uint64_t number);
  static Conflict read(Page &page, unsigned at, Event event, const Clock &clock);
  static Conflict write(Page &page, unsigned at, Event event, const Clock &clock);

  llvm::DenseMap<uint64_t, std::unique_ptr<Page>> pages;
  Page *last = nullptr; ///< neighbours are mostly asked for together
  uint64_t lastNumber = 0;
};

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_GLOBALSHADOW_H
