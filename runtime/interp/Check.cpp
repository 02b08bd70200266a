//===- Check.cpp - watching memory ----------------------------------------===//
#include "runtime/interp/Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace tile::interp;

/// Clocks that programs leave at addresses may take this much memory.
static constexpr uint64_t kMaxClockBytes = uint64_t(256) << 20;

std::string tile::interp::describeLane(int64_t lane, llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "";
  if (shape.size() == 1)
    return "lane " + std::to_string(lane);
  std::string text;
  for (int64_t size : llvm::reverse(shape)) {
    text = std::to_string(lane % size) + (text.empty() ? "" : ", ") + text;
    lane /= size;
  }
  return "lane (" + text + ")";
}

CheckState::CheckState(Launch &launch, MemoryMap &memory)
    : launch(launch), memory(memory), granule(launch.program->granule) {
  racesWatched = launch.grid.count() < 0xffffffffu;
}

void CheckState::add(const Lane &lane, FindingKind kind, std::string message) {
  Finding &finding = launch.findings.add(lane.frame, lane.i, kind, lane.index, std::move(message));
  if (std::string text = describeLane(lane.index, lane.info.shape);
      finding.occurrences == 1 && !text.empty())
    finding.where += ", " + text;
}

static bool reads(CheckState::Access access) {
  return access == CheckState::Access::Read || access == CheckState::Access::AtomicRead;
}
static bool isAtomic(CheckState::Access access) {
  return access == CheckState::Access::Atomic || access == CheckState::Access::AtomicRead;
}
static const char *verb(bool isAtomic, bool writes) {
  return isAtomic ? writes ? "atomically updates" : "atomically reads"
         : writes ? "writes"
                  : "reads";
}

static std::string nameOf(const MemoryMap::Buffer &buffer) {
  return buffer.name.empty() ? "the buffer" : "`" + buffer.name + "`";
}

//===----------------------------------------------------------------------===//
// Bounds, alignment, initialisation
//===----------------------------------------------------------------------===//

static std::string countBytes(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

/// The buffer the lane lies in, or null after a report. Where the pointer
/// comes from a kernel argument, it is that argument's buffer it must lie in:
/// one that happens to lie next to it will not do.
MemoryMap::Buffer *CheckState::inBounds(const Lane &lane) {
  auto holds = [&](const MemoryMap::Buffer *b) {
    return b && lane.address >= b->base && lane.bytes <= b->bytes &&
           lane.address - b->base <= b->bytes - lane.bytes;
  };
  const char *what = reads(lane.access)             ? "read"
                     : lane.access == Access::Write ? "write"
                                                    : "atomic access";
  uint64_t root =
      lane.info.rootPointer == kNone ? 0 : *lane.frame.reg<uint64_t>(lane.info.rootPointer);
  bool sameRoot =
      recent && (!root || (root >= recent->base && root - recent->base < recent->bytes));
  if (sameRoot && holds(recent))
    return recent;
  MemoryMap::Buffer *buffer = memory.find(root ? root : lane.address);
  if (holds(buffer))
    return recent = buffer;
  std::string start = llvm::formatv("out-of-bounds {0} of {1}", what, countBytes(lane.bytes));
  std::string argument;
  if (lane.info.rootPointer != kNone) {
    const Parameter &parameter = launch.program->parameters[lane.info.rootIndex];
    argument = parameter.name.empty() ? "argument " + std::to_string(lane.info.rootIndex)
                                      : "`" + parameter.name + "`";
  }
  if (!buffer && lane.info.rootPointer == kNone)
    buffer = memory.findBelow(lane.address);
  std::string where;
  if (!buffer) {
    where = llvm::formatv(": address {0:x} is in no buffer", lane.address);
    if (!argument.empty())
      where += " (" + argument + (root ? " points to none" : " is null") + ")";
  } else {
    std::string name = argument.empty() ? nameOf(*buffer) : argument;
    if (lane.address < buffer->base)
      where =
          llvm::formatv(": {0} before the start of {1}, which has {2}",
                        countBytes(buffer->base - lane.address), name, countBytes(buffer->bytes));
    else
      where = llvm::formatv(": at byte {0} of {1}, which has {2}", lane.address - buffer->base,
                            name, countBytes(buffer->bytes));
  }
  add(lane, FindingKind::OutOfBounds, start + where);
  return nullptr;
}

void CheckState::initialized(const Lane &lane, MemoryMap::Buffer &buffer) {
  if (buffer.written.empty())
    return;
  uint8_t *written = buffer.written.data() + (lane.address - buffer.base);
  if (lane.access != Access::Write && std::memchr(written, 0, lane.bytes))
    add(lane, FindingKind::Uninitialized,
        llvm::formatv("read of memory that nobody wrote: {0} at byte {1} of {2}",
                      countBytes(lane.bytes), lane.address - buffer.base, nameOf(buffer)));
  if (!reads(lane.access))
    std::memset(written, 1, lane.bytes);
}

const uint8_t *CheckState::check(Frame &frame, const Instruction &i, uint32_t n, unsigned bytes,
                                 Access access, const uint8_t *mask) {
  const auto &info = *static_cast<const AccessInfo *>(i.aux);
  const uint64_t *pointers = frame.reg<uint64_t>(i.a);
  const uint8_t *wrapped = info.wrapped == kNone ? nullptr : frame.reg<uint8_t>(info.wrapped);
  allowed.assign(n, 1);
  for (uint32_t k = 0; k < n; ++k) {
    if (mask && !mask[k]) {
      allowed[k] = 0;
      continue;
    }
    Lane lane{frame, i, info, access, pointers[k], bytes, k};
    if (wrapped && wrapped[k])
      add(lane, FindingKind::AddressOverflow,
          "the offset of this address does not fit 32 bits and wraps; compute it in 64 bits");
    MemoryMap::Buffer *buffer = inBounds(lane);
    if (!buffer) {
      allowed[k] = 0;
      continue;
    }
    if (lane.address % bytes)
      add(lane, FindingKind::Misaligned,
          llvm::formatv("misaligned address {0:x}: an access of {1} bytes must be aligned to {1}",
                        lane.address, bytes));
    initialized(lane, *buffer);
    if (racesWatched)
      race(lane);
  }
  return allowed.data();
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

CheckState::Cell &CheckState::cell(uint64_t number) {
  uint64_t page = number / kPageCells;
  if (page != recentPage) {
    auto &slot = pages[page];
    if (!slot)
      slot = std::make_unique<Cell[]>(kPageCells);
    recentPage = page;
    recentCells = slot.get();
  }
  return recentCells[number % kPageCells];
}

/// Whether an earlier access is ordered before what the program does now.
bool CheckState::before(const Event &event, const Frame &frame) const {
  uint32_t program = event.program - 1;
  if (event.program == 0 || program == frame.linearId)
    return true;
  if (frame.linearId >= clocks.size())
    return false;
  const VectorClock &clock = clocks[frame.linearId];
  return program < clock.size() && clock[program] >= event.tick;
}

void CheckState::race(const Lane &lane) {
  const Frame &frame = lane.frame;
  const bool atomic = isAtomic(lane.access);
  Event event;
  event.program = uint32_t(frame.linearId) + 1;
  event.tick = frame.linearId < ticks.size() ? ticks[frame.linearId] : 1;
  event.atomic = atomic;
  uint32_t place = uint32_t(&lane.i - launch.program->code.data());
  auto conflicts = [&](const Event &e) { return !(e.atomic && atomic) && !before(e, frame); };
  uint64_t first = lane.address / granule, last = (lane.address + lane.bytes - 1) / granule;
  for (uint64_t number = first; number <= last; ++number) {
    Cell &c = cell(number);
    if (conflicts(c.write))
      reportRace(lane, c.write, true, c.writePlace);
    if (!reads(lane.access)) {
      for (const Event &read : {c.readA, c.readB})
        if (conflicts(read))
          reportRace(lane, read, false, c.readPlace);
      c.write = event;
      c.writePlace = place;
      continue;
    }
    // Keep two reads that no other covers: enough for a later write to meet
    // one of another program.
    c.readPlace = place;
    if (c.readA.program == event.program || before(c.readA, frame))
      c.readA = event;
    else if (c.readB.program == event.program || before(c.readB, frame))
      c.readB = event;
  }
}

void CheckState::reportRace(const Lane &lane, const Event &other, bool otherWrote,
                            uint32_t otherPlace) {
  uint64_t linear = other.program - 1, x = launch.grid.x, y = launch.grid.y;
  std::string who =
      llvm::formatv("program ({0}, {1}, {2})", linear % x, linear / x % y, linear / x / y);
  MemoryMap::Buffer *buffer = memory.find(lane.address);
  const char *mine = verb(isAtomic(lane.access), !reads(lane.access));
  const char *theirs = verb(other.atomic, otherWrote);
  add(lane, FindingKind::Race,
      llvm::formatv("race: this program {0} byte {1} of {2}, which {3} {4} with nothing to order "
                    "the two",
                    mine, buffer ? lane.address - buffer->base : 0,
                    buffer ? nameOf(*buffer) : "memory", who, theirs));
  Finding &finding = launch.findings.last();
  if (finding.occurrences != 1)
    return;
  finding.otherNote = llvm::formatv("{0} {1} it here", who, theirs);
  finding.otherPlace = launch.program->places[launch.program->code[otherPlace].place].place;
}

//===----------------------------------------------------------------------===//
// Order between programs
//===----------------------------------------------------------------------===//

void CheckState::join(uint32_t program, const VectorClock &clock) {
  if (clocks.size() <= program)
    clocks.resize(program + 1);
  VectorClock &mine = clocks[program];
  if (mine.size() < clock.size())
    mine.resize(clock.size());
  for (size_t k = 0; k < clock.size(); ++k)
    mine[k] = std::max(mine[k], clock[k]);
}

void CheckState::acquire(Frame &frame, const uint64_t *pointers, const uint8_t *lanes, uint32_t n) {
  if (!racesWatched)
    return;
  const Snapshot *previous = nullptr;
  for (uint32_t k = 0; k < n; ++k) {
    if (!lanes[k])
      continue;
    auto it = released.find(pointers[k]);
    if (it == released.end() || it->second.get() == previous)
      continue;
    previous = it->second.get();
    join(uint32_t(frame.linearId), previous->clock);
  }
}

void CheckState::release(Frame &frame, const uint64_t *pointers, const uint8_t *lanes, uint32_t n) {
  if (!racesWatched)
    return;
  auto program = uint32_t(frame.linearId);
  if (ticks.size() <= program)
    ticks.resize(program + 1, 1);
  VectorClock mine = program < clocks.size() ? clocks[program] : VectorClock();
  if (mine.size() <= program)
    mine.resize(program + 1);
  mine[program] = ticks[program]++;
  auto snapshot = std::make_shared<const Snapshot>(std::move(mine), clockBytes);
  for (uint32_t k = 0; k < n; ++k) {
    if (!lanes[k])
      continue;
    auto &slot = released[pointers[k]];
    if (slot == snapshot)
      continue;
    bool covers = !slot || slot->clock.size() <= snapshot->clock.size();
    for (size_t j = 0; covers && slot && j < slot->clock.size(); ++j)
      covers = slot->clock[j] <= snapshot->clock[j];
    if (covers) {
      slot = snapshot;
      continue;
    }
    VectorClock both = snapshot->clock; // a release that did not acquire
    both.resize(std::max(both.size(), slot->clock.size()));
    for (size_t j = 0; j < slot->clock.size(); ++j)
      both[j] = std::max(both[j], slot->clock[j]);
    slot = std::make_shared<const Snapshot>(std::move(both), clockBytes);
  }
  if (clockBytes > kMaxClockBytes) {
    racesWatched = false;
    released.clear();
    launch.findings.note =
        "races were watched only up to a point: too many atomics order too many programs";
  }
}
