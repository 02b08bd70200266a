//===- Check.cpp - watching memory ----------------------------------------===//
#include "runtime/interp/Check.h"
#include "text/Format.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tile::interp;
using tile::formatted;

/// Clocks that programs leave at addresses may take this much memory.
static constexpr uint64_t kMaxClockBytes = uint64_t(256) << 20;

std::string tile::interp::describeLane(int64_t lane, llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "";
  if (shape.size() == 1)
    return formatted("lane {}", lane);
  std::string text;
  for (int64_t size : llvm::reverse(shape)) {
    text = std::to_string(lane % size) + (text.empty() ? "" : ", ") + text;
    lane /= size;
  }
  return formatted("lane ({})", text);
}

CheckState::CheckState(Launch &launch, MemoryMap &memory)
    : launch(launch), memory(memory), granule(launch.program->granule),
      firstEvent(memory.firstEvent()), latest(launch.program->code.size()),
      overlapWatched(argumentsOverlap()), lanesWatched(launch.program->isAsWritten) {
  racesWatched = launch.grid.count() < 0xffffffffu;
}
CheckState::~CheckState() { memory.endEvents(firstEvent + uint32_t(events.size())); }

/// Most occurrences repeat a finding: they are counted, not put into words.
void CheckState::add(const Lane &lane, FindingKind kind,
                     llvm::function_ref<std::string()> message) {
  if (launch.findings.repeat(lane.frame, lane.i, kind))
    return;
  Finding &finding = launch.findings.add(lane.frame, lane.i, kind, lane.index, message());
  if (std::string text = describeLane(lane.index, lane.info.shape); !text.empty())
    finding.where += formatted(", {}", text);
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

/// The kernel's argument that the lane's pointer comes from, or nothing.
std::string CheckState::argumentOf(const AccessInfo &info) const {
  if (info.rootPointer == kNone)
    return "";
  const Parameter &parameter = launch.program->parameters[info.rootIndex];
  return parameter.name.empty() ? formatted("argument {}", info.rootIndex)
                                : formatted("`{}`", parameter.name);
}

std::string CheckState::nameOf(const Lane &lane, const MemoryMap::Buffer &buffer) const {
  if (!buffer.name.empty())
    return formatted("`{}`", buffer.name);
  std::string argument = argumentOf(lane.info);
  return argument.empty() ? "the buffer" : argument;
}

//===----------------------------------------------------------------------===//
// Bounds, alignment, initialisation
//===----------------------------------------------------------------------===//

static std::string countBytes(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

/// The argument that an access is an offset from, or null.
static uint64_t rootOf(Frame &frame, const AccessInfo &info) {
  return info.rootPointer == kNone ? 0 : *frame.reg<uint64_t>(info.rootPointer);
}

/// The buffer that `length` bytes at `address` lie in, or null. Where the
/// pointer comes from a kernel argument, it is that argument's buffer they must
/// lie in: one that happens to lie next to it will not do.
MemoryMap::Buffer *CheckState::locate(uint64_t root, uint64_t address, uint64_t length) {
  auto holds = [&](const MemoryMap::Buffer *b) {
    return b && address >= b->base && length <= b->bytes && address - b->base <= b->bytes - length;
  };
  bool sameRoot =
      recent && (!root || (root >= recent->base && root - recent->base < recent->bytes));
  if (sameRoot && holds(recent))
    return recent;
  MemoryMap::Buffer *buffer = memory.find(root ? root : address);
  return holds(buffer) ? recent = buffer : nullptr;
}

std::string CheckState::describeOutOfBounds(const Lane &lane) {
  const char *what = reads(lane.access)             ? "read"
                     : lane.access == Access::Write ? "write"
                                                    : "atomic access";
  std::string text = formatted("out-of-bounds {} of {}: ", what, countBytes(lane.bytes));
  uint64_t root = rootOf(lane.frame, lane.info);
  const std::string argument = argumentOf(lane.info);
  MemoryMap::Buffer *buffer = argument.empty() ? memory.findBelow(lane.address)
                              : root           ? memory.find(root)
                                               : nullptr;
  if (!buffer) {
    text += formatted("address {:#x} is in no buffer", lane.address);
    if (!argument.empty())
      text += formatted(" ({}{})", argument, root ? " points to none" : " is null");
    return text;
  }
  const std::string name = argument.empty() ? nameOf(lane, *buffer) : argument;
  if (lane.address < buffer->base)
    return text + formatted("{} before the start of {}, which has {}",
                            countBytes(buffer->base - lane.address), name,
                            countBytes(buffer->bytes));
  return text + formatted("at byte {} of {}, which has {}", lane.address - buffer->base, name,
                          countBytes(buffer->bytes));
}

void CheckState::initialized(const Lane &lane, MemoryMap::Buffer &buffer) {
  uint8_t *written = buffer.written.data() + (lane.address - buffer.base);
  if (lane.access != Access::Write && std::memchr(written, 0, lane.bytes))
    add(lane, FindingKind::Uninitialized, [&] {
      return formatted("read of memory that nobody wrote: {} at byte {} of {}",
                       countBytes(lane.bytes), lane.address - buffer.base, nameOf(lane, buffer));
    });
  if (!reads(lane.access))
    std::memset(written, 1, lane.bytes);
}

/// One lane; false if it must not touch memory.
bool CheckState::checkLane(const Lane &lane) {
  MemoryMap::Buffer *buffer = locate(rootOf(lane.frame, lane.info), lane.address, lane.bytes);
  if (!buffer) {
    add(lane, FindingKind::OutOfBounds, [&] { return describeOutOfBounds(lane); });
    return false;
  }
  if (lane.address % lane.bytes)
    add(lane, FindingKind::Misaligned, [&] {
      return formatted("misaligned address {0:#x}: an access of {1} bytes must be aligned to {1}",
                       lane.address, lane.bytes);
    });
  if (!buffer->written.empty())
    initialized(lane, *buffer);
  if (racesWatched)
    race(lane, 1, *buffer);
  return true;
}

/// `count` lanes at consecutive addresses from `lane` on. As long as all is
/// well the run is one access; otherwise each lane is looked at by itself.
void CheckState::checkRun(Lane lane, uint32_t count) {
  uint64_t length = uint64_t(count) * lane.bytes;
  MemoryMap::Buffer *buffer = locate(rootOf(lane.frame, lane.info), lane.address, length);
  bool fine = buffer && lane.address % lane.bytes == 0;
  if (fine && !buffer->written.empty()) {
    uint8_t *written = buffer->written.data() + (lane.address - buffer->base);
    fine = lane.access == Access::Write || !std::memchr(written, 0, length);
    if (fine && !reads(lane.access))
      std::memset(written, 1, length);
  }
  if (fine) {
    if (racesWatched)
      race(lane, count, *buffer);
    return;
  }
  for (uint32_t k = 0; k < count; ++k, ++lane.index, lane.address += lane.bytes)
    allowed[lane.index] = checkLane(lane);
}

const uint8_t *CheckState::check(Frame &frame, const Instruction &i, uint32_t n, unsigned bytes,
                                 Access access, const uint8_t *mask) {
  const auto &info = *static_cast<const AccessInfo *>(i.aux);
  const uint64_t *pointers = frame.reg<uint64_t>(i.a);
  if (mask)
    allowed.assign(mask, mask + n);
  else
    allowed.assign(n, 1);
  if (info.wrapped != kNone) {
    const uint8_t *wrapped = frame.reg<uint8_t>(info.wrapped);
    for (uint32_t k = 0; k < n; ++k)
      if (wrapped[info.isOfBase ? 0 : k] && allowed[k])
        add({frame, i, info, access, pointers[k], bytes, k}, FindingKind::AddressOverflow, [] {
          return "the offset of this address does not fit 32 bits and wraps; compute it in 64 bits";
        });
  }
  const bool isConstant = info.rootPointer != kNone && !reads(access) &&
                          launch.program->parameters[info.rootIndex].isConstant;
  for (uint32_t k = 0; k < n;) {
    if (!allowed[k]) {
      ++k;
      continue;
    }
    uint32_t end = k + 1;
    while (end < n && allowed[end] && pointers[end] == pointers[end - 1] + bytes)
      ++end;
    if (isConstant)
      constantWritten({frame, i, info, access, pointers[k], bytes, k});
    checkRun({frame, i, info, access, pointers[k], bytes, k}, end - k);
    k = end;
  }
  return allowed.data();
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

CheckState::EventId CheckState::eventOf(const Lane &lane) {
  const uint64_t program = lane.frame.linearId;
  if (turnProgram != program) {
    turnProgram = program;
    turnStart = firstEvent + EventId(events.size());
  }
  const uint32_t tick = program < ticks.size() ? ticks[program] : 1;
  const auto place = uint32_t(&lane.i - launch.program->code.data());
  EventId &last = latest[place];
  if (last && last >= orderedUpTo && event(last).program == program && event(last).tick == tick)
    return last;
  events.push_back({uint32_t(program), tick, place, isAtomic(lane.access)});
  return last = firstEvent + EventId(events.size() - 1);
}

/// Whether an earlier access is ordered before what the program does now.
bool CheckState::before(EventId earlier, const Frame &frame) const {
  if (earlier < firstEvent)
    return true;
  const Event &e = event(earlier);
  if (e.program == frame.linearId)
    return true;
  if (frame.linearId >= clocks.size())
    return false;
  const VectorClock &clock = clocks[frame.linearId];
  return e.program < clock.size() && clock[e.program] >= e.tick;
}

bool CheckState::conflicts(EventId earlier, const Lane &lane) const {
  return !before(earlier, lane.frame) && !(event(earlier).atomic && isAtomic(lane.access));
}

/// The lane meets what touched its memory last.
void CheckState::meet(const Lane &lane, EventId write, EventId readA, EventId readB) {
  if (conflicts(write, lane))
    reportRace(lane, write, true);
  else if (!reads(lane.access) && conflicts(readA, lane))
    reportRace(lane, readA, false);
  else if (!reads(lane.access) && conflicts(readB, lane))
    reportRace(lane, readB, false);
}

/// `count` lanes at consecutive addresses of `buffer` from `lane` on.
void CheckState::race(Lane lane, uint32_t count, MemoryMap::Buffer &buffer) {
  const EventId now = eventOf(lane);
  // Of no program, of an earlier launch, or of this program's present turn: the
  // usual case, told at a glance.
  auto harmless = [&](EventId e) { return e < firstEvent || e >= turnStart; };
  const size_t size = (buffer.bytes + granule - 1) / granule;
  if (buffer.granule != granule) {
    buffer.granule = granule;
    for (auto *cells :
         {&buffer.writes, &buffer.readsA, &buffer.readsB, &buffer.writeLanes, &buffer.readLanes})
      cells->clear();
  }
  const bool reading = reads(lane.access);
  std::vector<uint32_t> &mine = reading ? buffer.readsA : buffer.writes;
  std::vector<uint32_t> &lanes = reading ? buffer.readLanes : buffer.writeLanes;
  if (mine.empty())
    mine.resize(size);
  if (lanes.empty() && lanesWatched)
    lanes.resize(size);
  const EventId unordered = std::max(turnStart, orderedUpTo);

  const uint64_t start = lane.address - buffer.base;
  const int64_t firstLane = lane.index;
  auto at = [&](int64_t index) {
    Lane one = lane;
    one.index = index;
    one.address = buffer.base + start + uint64_t(index - firstLane) * lane.bytes;
    return one;
  };
  const uint64_t end = (start + uint64_t(count) * lane.bytes - 1) / granule + 1;
  for (uint64_t cell = start / granule; cell < end; ++cell) {
    EventId write = buffer.writes.empty() ? 0 : buffer.writes[cell];
    EventId readA = buffer.readsA.empty() ? 0 : buffer.readsA[cell];
    EventId readB = buffer.readsB.empty() ? 0 : buffer.readsB[cell];
    if (overlapWatched && reading && write >= firstEvent)
      overlap(lane, write);
    const auto index = uint32_t(firstLane + (int64_t(std::max(cell * granule, start) - start) >>
                                             llvm::Log2_32(lane.bytes)));
    if (lanesWatched && write >= unordered && write != now)
      meetLane(at(index), write, buffer.writeLanes[cell], true);
    else if (lanesWatched && !reading && readA >= unordered && readA != now)
      meetLane(at(index), readA, buffer.readLanes[cell], false);
    if (!harmless(write) || (!reading && !(harmless(readA) && harmless(readB)))) {
      meet(at(index), write, readA, readB);
    }
    // Of reads, keep two that no later one covers: enough for a write to meet
    // one of another program.
    if (!reading || harmless(readA) || before(readA, lane.frame)) {
      if (lanesWatched)
        noteLane(lanes, cell, mine[cell] == now, index);
      mine[cell] = now;
    } else if (harmless(readB) || before(readB, lane.frame)) {
      if (buffer.readsB.empty())
        buffer.readsB.resize(size);
      buffer.readsB[cell] = now;
    }
  }
}

//===----------------------------------------------------------------------===//
// Arguments that overlap
//===----------------------------------------------------------------------===//

bool CheckState::argumentsOverlap() const {
  llvm::DenseSet<const MemoryMap::Buffer *> seen;
  for (auto [parameter, value] : llvm::zip(launch.program->parameters, launch.parameters))
    if (MemoryMap::Buffer *buffer = parameter.isPointer ? memory.find(value) : nullptr)
      if (!seen.insert(buffer).second)
        return true;
  return false;
}

/// A program reads through one argument what it has written through another. The compiler
/// takes what different arguments point to as different memory, so the read may come first:
/// loads of a loop do, where it is pipelined. The other way round, what is read and then
/// written elementwise in place, all of it stays in order.
void CheckState::overlap(const Lane &lane, EventId write) {
  const Event &e = event(write);
  if (e.program != lane.frame.linearId || e.atomic || isAtomic(lane.access) ||
      lane.info.rootPointer == kNone)
    return;
  const Instruction &other = launch.program->code[e.place];
  const auto &theirs = *static_cast<const AccessInfo *>(other.aux);
  if (theirs.rootPointer == kNone || theirs.rootIndex == lane.info.rootIndex)
    return;
  if (launch.findings.repeat(lane.frame, lane.i, FindingKind::Overlap))
    return;
  add(lane, FindingKind::Overlap, [&] {
    return formatted("arguments overlap: this reads through {} what the program has written "
                     "through {}; the compiler takes their memory as different, and may read first "
                     "(pass one of them, or memory that does not overlap)",
                     argumentOf(lane.info), argumentOf(theirs));
  });
  Finding &finding = launch.findings.last();
  finding.otherNote = "written here";
  finding.otherPlace = launch.program->places[other.place].place;
}

/// A write through a pointer that the signature says is to constant memory, by way of a
/// cast: the compiler reads such memory through a cache that does not see writes.
void CheckState::constantWritten(const Lane &lane) {
  add(lane, FindingKind::ConstantWritten, [&] {
    return formatted("this writes through {}, which is declared as a pointer to constant memory",
                     argumentOf(lane.info));
  });
}

void CheckState::reportRace(const Lane &lane, EventId otherId, bool otherWrote) {
  if (launch.findings.repeat(lane.frame, lane.i, FindingKind::Race))
    return;
  const Event &other = event(otherId);
  uint64_t linear = other.program, x = launch.grid.x, y = launch.grid.y;
  std::string who = formatted("program ({}, {}, {})", linear % x, linear / x % y, linear / x / y);
  const char *mine = verb(isAtomic(lane.access), !reads(lane.access));
  const char *theirs = verb(other.atomic, otherWrote);
  MemoryMap::Buffer *buffer = memory.find(lane.address);
  add(lane, FindingKind::Race, [&] {
    return formatted(
        "race: this program {} byte {} of {}, which {} {} with nothing to order the two", mine,
        buffer ? lane.address - buffer->base : 0, buffer ? nameOf(lane, *buffer) : "memory", who,
        theirs);
  });
  Finding &finding = launch.findings.last();
  finding.otherNote = formatted("{} {} it here", who, theirs);
  finding.otherPlace = launch.program->places[launch.program->code[other.place].place].place;
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
  barrier(); // who waits for another program waits with all its lanes
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
  barrier();
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
