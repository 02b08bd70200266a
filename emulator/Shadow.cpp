//===- Shadow.cpp - who touched which byte of shared memory ---------------===//
#include "emulator/Shadow.h"
#include <algorithm>

using namespace tile::emu;

Shadow::Shadow(uint32_t bytes)
    : bytes(bytes), writes(new Event[bytes]), oldest(new Event[bytes]), newest(new Event[bytes]) {}

void Shadow::reset() {
  std::fill_n(writes.get(), bytes, Event());
  std::fill_n(oldest.get(), bytes, Event());
  std::fill_n(newest.get(), bytes, Event());
}

bool Shadow::covered(Event earlier, const View &view) {
  return earlier.component() == view.own ||
         tickOf(view.clock.generic, earlier.component()) >= earlier.tick();
}

/// What meeting an earlier write means.
Conflict::Kind Shadow::judgeWrite(Event earlier, Event now, const View &view, bool writing) {
  if (earlier.atomic() && now.atomic())
    return Conflict::None;
  if (!covered(earlier, view))
    return writing ? Conflict::WriteWrite : Conflict::WriteRead;
  // The asynchronous proxy sees a write through the generic one only after a fence.
  if (now.async() && !earlier.async() &&
      tickOf(view.clock.async, earlier.component()) < earlier.tick())
    return Conflict::Fence;
  return Conflict::None;
}

Conflict Shadow::read(uint32_t offset, uint32_t count, Event event, const View &view) {
  Event judged; // neighbours mostly have the same history
  for (uint32_t at = offset; at < offset + count; ++at) {
    Event write = writes[at];
    if (!write)
      return {Conflict::Unwritten, {}, at};
    if (write != judged) {
      if (Conflict::Kind kind = judgeWrite(write, event, view, /*writing=*/false))
        return {kind, write, at};
      judged = write;
    }
    if (!oldest[at] || oldest[at] == event || covered(oldest[at], view))
      oldest[at] = event;
    else
      newest[at] = event;
  }
  return {};
}

Conflict Shadow::write(uint32_t offset, uint32_t count, Event event, const View &view) {
  Conflict conflict;
  Event judgedWrite, judgedOldest, judgedNewest;
  for (uint32_t at = offset; at < offset + count; ++at) {
    Event write = writes[at], first = oldest[at], last = newest[at];
    if (!conflict.kind) {
      if (write && write != judgedWrite)
        if (Conflict::Kind kind = judgeWrite(write, event, view, /*writing=*/true))
          conflict = {kind, write, at};
      if (first && first != judgedOldest && !covered(first, view))
        conflict = {Conflict::ReadWrite, first, at};
      if (last && last != judgedNewest && !covered(last, view))
        conflict = {Conflict::ReadWrite, last, at};
      judgedWrite = write, judgedOldest = first, judgedNewest = last;
    }
    writes[at] = event;
    oldest[at] = newest[at] = Event();
  }
  return conflict;
}
