//===- Shadow.cpp - who touched which byte of shared memory ---------------===//
#include "emulator/machine/Shadow.h"
#include <algorithm>

using namespace tile::emu;

Shadow::Shadow(uint32_t bytes)
    : bytes(bytes), writes(new Event[bytes]), oldest(new Event[bytes]), newest(new Event[bytes]) {}

void Shadow::reset() {
  std::fill_n(writes.get(), bytes, Event());
  std::fill_n(oldest.get(), bytes, Event());
  std::fill_n(newest.get(), bytes, Event());
  passed.reset();
}

/// Whether two strong accesses are: in the same CTA, or each for the whole cluster.
bool Shadow::mayMeet(Event earlier, Event now, const View &view) {
  return earlier.strong() && now.strong() &&
         ((earlier.wide() && now.wide()) ||
          (earlier.component() - 1) / view.threads == (view.own - 1) / view.threads);
}

/// What has been read may be overwritten once that is over.
bool Shadow::readIsOver(Event earlier, Event now, const View &view) {
  return earlier.component() == view.own ||
         view.clock.knowsOver(earlier.component(), earlier.tick()) || mayMeet(earlier, now, view);
}

/// What meeting an earlier write means.
Conflict::Kind Shadow::judgeWrite(Event earlier, Event now, const View &view, bool writing) {
  if (mayMeet(earlier, now, view))
    return Conflict::None;
  // A copy that somebody has waited for has arrived; it may be overwritten.
  bool known =
      earlier.component() == view.own ||
      (writing && earlier.async() ? view.clock.knowsOver(earlier.component(), earlier.tick())
                                  : view.clock.knows(earlier.component(), earlier.tick()));
  if (!known)
    return writing ? Conflict::WriteWrite : Conflict::WriteRead;
  // The asynchronous proxy sees a write through the generic one only after a fence.
  if (now.async() && !earlier.async() &&
      tickOf(view.clock.async, earlier.component()) < earlier.tick())
    return Conflict::Fence;
  return Conflict::None;
}

/// Whether an access that conflicts with an earlier one would not in the same CTA.
bool Shadow::narrow(Event earlier, Event now, const View &view) {
  return view.clock.knowsOver(earlier.component(), earlier.tick()) ||
         (earlier.strong() && now.strong());
}

Conflict Shadow::read(uint32_t offset, uint32_t count, Event event, const View &view) {
  Event judged; // neighbours mostly have the same history
  for (uint32_t at = offset; at < offset + count; ++at) {
    Event write = writes[at];
    if (!write)
      return {Conflict::Unwritten, {}, at};
    if (write != judged) {
      if (Conflict::Kind kind = judgeWrite(write, event, view, /*writing=*/false))
        return {kind, write, at, narrow(write, event, view)};
      judged = write;
    }
    if (!oldest[at] || oldest[at] == event || readIsOver(oldest[at], event, view))
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
          conflict = {kind, write, at, narrow(write, event, view)};
      if (first && first != judgedOldest && !readIsOver(first, event, view))
        conflict = {Conflict::ReadWrite, first, at, narrow(first, event, view)};
      if (last && last != judgedNewest && !readIsOver(last, event, view))
        conflict = {Conflict::ReadWrite, last, at, narrow(last, event, view)};
      judgedWrite = write, judgedOldest = first, judgedNewest = last;
      if (passed && event.async() && passed[at] &&
          !view.clock.knowsOver(passed[at].component(), passed[at].tick()))
        conflict = {Conflict::Passed, passed[at], at};
    }
    if (passed)
      passed[at] = Event();
    writes[at] = event;
    oldest[at] = newest[at] = Event();
  }
  return conflict;
}

void Shadow::passedRead(uint32_t offset, uint32_t count, Event event) {
  if (!passed)
    passed.reset(new Event[bytes]);
  std::fill_n(passed.get() + offset, count, event);
}
