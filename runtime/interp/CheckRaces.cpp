//===- CheckRaces.cpp - races, and arguments that overlap ---------------===//
#include "runtime/interp/Check.h"
#include "text/Format.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tile::interp;

/// Clocks that programs leave at addresses may take this much memory.
static constexpr uint64_t kMaxClockBytes = uint64_t(256) << 20;

static bool isAtomic(CheckState::Access access) {
  return access == CheckState::Access::Atomic || access == CheckState::Access::AtomicRead;
}
static const char *verb(bool isAtomic, bool writes) {
  return isAtomic ? writes ? "atomically updates" : "atomically reads"
         : writes ? "writes"
                  : "reads";
}

CheckState::EventId CheckState::eventOf(const Lane &lane) {
  const uint64_t program = lane.frame.linearId;
  if (turnProgram != program) {
    turnProgram = program;
    turnStart = firstEvent + EventId(events.size());
  }
  const uint32_t tick = program < ticks.size() ? ticks[program] : 1;
  const uint32_t place = launch.program->indexOf(lane.i);
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
    for (auto *cells : {&buffer.writes, &buffer.readsA, &buffer.readsB, &buffer.writeLanes,
                        &buffer.readLanes, &buffer.writeTurns})
      cells->clear();
  }
  const bool reading = reads(lane.access);
  std::vector<uint32_t> &mine = reading ? buffer.readsA : buffer.writes;
  std::vector<uint32_t> &lanes = reading ? buffer.readLanes : buffer.writeLanes;
  if (mine.empty())
    mine.resize(size);
  if (lanes.empty() && lanesWatched)
    lanes.resize(size);
  if (!reading && buffer.writeTurns.empty() && lanesWatched)
    buffer.writeTurns.resize(size);
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
    // The turns of a loop are one event: which of them it was, the cell says.
    auto isOfThisTurn = [&] { return buffer.writeTurns[cell] == turn; };
    auto isOfEarlierTurn = [&] { return !isOfThisTurn() && buffer.writeLanes[cell] != index; };
    if (lanesWatched && write >= unordered && (write != now || isOfEarlierTurn()))
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
        noteLane(lanes, cell, mine[cell] == now && (reading || isOfThisTurn()), index);
      if (lanesWatched && !reading)
        buffer.writeTurns[cell] = turn;
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
  const Instruction &other = launch.program->instruction(e.place);
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
  finding.otherPlace = launch.program->places[launch.program->instruction(other.place).place].place;
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
