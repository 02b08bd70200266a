//===- Collectives.cpp - collective operations of a warp ------------------===//
//
// Lanes wait at such an instruction until all that it names have come; the last
// performs it for everybody. Lanes that can never meet are reported.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Machine.h"
#include "emulator/machine/Memory.h"
#include "text/Format.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace tile::emu;
using tile::formatted;

/// Performs a waiting operation all of whose lanes have come.
static void performIfComplete(Warp &w, const LaneRequest &request) {
  uint32_t need = request.mask & w.live;
  if ((w.waiting & need) != need || !need)
    return;
  for (uint32_t rest = need; rest; rest &= rest - 1) {
    const LaneRequest &other = w.lanes[unsigned(llvm::countr_zero(rest))]->request;
    if (other.perform != request.perform || other.mask != request.mask ||
        other.qualifiers != request.qualifiers)
      return;
  }
  LaneRequest performed = request; // the lanes may ask again
  performed.perform(w, need);
  w.waiting &= ~need;
  for (uint32_t rest = need; rest; rest &= rest - 1)
    makeRunnable(*w.lanes[unsigned(llvm::countr_zero(rest))]);
}

static unsigned firstLane(uint32_t lanes) { return unsigned(llvm::countr_zero(lanes)); }

void tile::emu::checkTogether(Thread &t, uint32_t mask, bool aligned, SiteId site) {
  Warp &w = *t.warp;
  auto give = [&](const Thread &other, const char *what, SiteId otherSite) {
    report(t, FindingKind::NonUniform, site,
           formatted("only a part of a warp is at this instruction, which {}: lane {} is here, and "
                     "lane {} {}",
                     aligned ? "takes all of it" : "waits for others of it", t.lane, other.lane,
                     what),
           otherSite, formatted("lane {} {}", other.lane, what));
    abandon(t);
  };
  uint32_t named = mask & ~(1u << t.lane);
  if (uint32_t there = w.atBarrier & named)
    if (const Thread &o = *w.lanes[firstLane(there)]; o.waitSite != site)
      give(o, "waits at a barrier", o.waitSite);
  uint32_t ended = aligned ? llvm::maskTrailingOnes<uint32_t>(w.numThreads()) & ~w.live : 0;
  if (ended)
    give(*w.lanes[firstLane(ended)], "has ended", 0);
}

void tile::emu::reportElsewhere(Thread &t, SiteId site, const Thread &other) {
  report(
      t, FindingKind::NonUniform, site,
      formatted("lanes of one warp wait for each other at different instructions: lane {} is here",
                t.lane),
      other.request.site, formatted("lane {} is here", other.lane));
  abandon(t);
}

void tile::emu::converge(Thread &t, const LaneRequest &request) {
  Warp &w = *t.warp;
  uint32_t self = 1u << t.lane;
  if (!(request.mask & self)) {
    report(t, FindingKind::NonUniform, request.site,
           formatted("lane {} executes this with a mask of {:#x}, which does not name it", t.lane,
                     request.mask));
    abandon(t);
  }
  checkTogether(t, request.mask, request.aligned, request.site);
  for (uint32_t rest = w.waiting & request.mask; rest; rest &= rest - 1) {
    const Thread &o = *w.lanes[unsigned(llvm::countr_zero(rest))];
    if (!(o.request.mask & self))
      continue;
    if (o.request.perform == request.perform && o.request.mask == request.mask &&
        o.request.qualifiers == request.qualifiers &&
        (!request.aligned || o.request.site == request.site))
      continue;
    reportElsewhere(t, request.site, o);
  }
  t.request = request;
  w.waiting |= self;
  if (t.cluster->worker->log)
    countInstruction(t, request.site);
  uint32_t need = request.mask & w.live;
  if ((w.waiting & need) == need) {
    t.wait = Wait::WarpOp; // for makeRunnable
    performIfComplete(w, t.request);
    if (!(w.waiting & self)) {
      if (t.cluster->oneIn(4))
        yield(t);
      return;
    }
  }
  waitFor(t, Wait::WarpOp, 0, request.site);
}

/// Whoever waits for the whole warp waits in vain.
static void checkNobodyWaits(Thread &t) {
  Warp &w = *t.warp;
  uint32_t left = w.atBarrier;
  for (uint32_t rest = w.waiting; rest; rest &= rest - 1)
    if (w.lanes[firstLane(rest)]->request.aligned)
      left |= rest & -rest;
  if (!left)
    return;
  const Thread &o = *w.lanes[firstLane(left)];
  report(o, FindingKind::NonUniform, w.atBarrier ? o.waitSite : o.request.site,
         formatted("only a part of a warp is at this instruction, which takes all of it: lane {} "
                   "is here, and lane {} has ended",
                   o.lane, t.lane));
}

void tile::emu::leaveWarp(Thread &t) {
  checkNobodyWaits(t);
  Warp &w = *t.warp;
  w.live &= ~(1u << t.lane);
  if (w.waiting) // those who named it need not wait for it any more
    performIfComplete(w, w.lanes[firstLane(w.waiting)]->request);
}
