//===- HooksWarp.cpp - shuffles, votes and other operations of a warp -----===//
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Machine.h"
#include "llvm/ADT/bit.h"

using namespace tile::emu;

/// Calls `body(lane, thread)` for each lane of a mask.
template <typename Body> static void forLanes(Warp &w, uint32_t lanes, Body body) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = unsigned(llvm::countr_zero(rest));
    body(lane, *w.lanes[lane]);
  }
}

namespace {
struct ShuffleOperands {
  uint32_t value, source, clamp, mode;
  uint32_t result, inRange;
};
struct VoteOperands {
  uint32_t predicate, mode, result;
};
struct MatchOperands {
  uint64_t value;
  uint32_t all, result, predicate;
};
struct ReduxOperands {
  uint32_t value, operation, result;
};
} // namespace

static void performShuffle(Warp &w, uint32_t lanes) {
  forLanes(w, lanes, [&](unsigned lane, Thread &t) {
    auto &o = *static_cast<ShuffleOperands *>(t.request.operands);
    // As PTX defines it: the clamp word holds a segment mask and a bound.
    uint32_t segment = o.clamp >> 8 & 31, bound = o.clamp & 31, b = o.source & 31;
    uint32_t maxLane = (lane & segment) | (bound & ~segment);
    uint32_t minLane = lane & segment;
    int32_t from = 0;
    bool ok = false;
    switch (o.mode) {
    case 0: // up
      from = int32_t(lane) - int32_t(b), ok = from >= int32_t(maxLane);
      break;
    case 1: // down
      from = int32_t(lane + b), ok = from <= int32_t(maxLane);
      break;
    case 2: // bfly
      from = int32_t(lane ^ b), ok = from <= int32_t(maxLane);
      break;
    default: // idx
      from = int32_t(minLane | (b & ~segment)), ok = from <= int32_t(maxLane);
      break;
    }
    if (!ok)
      from = int32_t(lane);
    o.inRange = ok;
    if (!(lanes >> from & 1)) {
      report(t, FindingKind::NonUniform, t.request.site,
             "the shuffle reads a lane that does not take part in it");
      o.result = 0xdeadbeef;
      return;
    }
    o.result = static_cast<ShuffleOperands *>(w.lanes[size_t(from)]->request.operands)->value;
  });
}

static void performVote(Warp &w, uint32_t lanes) {
  uint32_t ballot = 0;
  forLanes(w, lanes, [&](unsigned lane, Thread &t) {
    ballot |= uint32_t(static_cast<VoteOperands *>(t.request.operands)->predicate != 0) << lane;
  });
  forLanes(w, lanes, [&](unsigned, Thread &t) {
    auto &o = *static_cast<VoteOperands *>(t.request.operands);
    o.result = o.mode == 0   ? ballot == lanes
               : o.mode == 1 ? ballot != 0
               : o.mode == 2 ? ballot == 0 || ballot == lanes
                             : ballot;
  });
}

static void performMatch(Warp &w, uint32_t lanes) {
  forLanes(w, lanes, [&](unsigned, Thread &t) {
    auto &o = *static_cast<MatchOperands *>(t.request.operands);
    uint32_t same = 0;
    forLanes(w, lanes, [&](unsigned lane, Thread &other) {
      same |= uint32_t(static_cast<MatchOperands *>(other.request.operands)->value == o.value)
              << lane;
    });
    o.predicate = same == lanes;
    o.result = o.all && same != lanes ? 0 : same;
  });
}

static void performRedux(Warp &w, uint32_t lanes) {
  bool first = true;
  uint32_t sum = 0;
  forLanes(w, lanes, [&](unsigned, Thread &t) {
    auto &o = *static_cast<ReduxOperands *>(t.request.operands);
    uint32_t v = o.value;
    if (first) {
      sum = v, first = false;
      return;
    }
    switch (o.operation) {
    case 0:
      sum += v;
      break;
    case 1:
      sum = uint32_t(std::min(int32_t(sum), int32_t(v)));
      break;
    case 2:
      sum = uint32_t(std::max(int32_t(sum), int32_t(v)));
      break;
    case 3:
      sum = std::min(sum, v);
      break;
    case 4:
      sum = std::max(sum, v);
      break;
    case 5:
      sum &= v;
      break;
    case 6:
      sum |= v;
      break;
    default:
      sum ^= v;
      break;
    }
  });
  forLanes(w, lanes, [&](unsigned, Thread &t) {
    static_cast<ReduxOperands *>(t.request.operands)->result = sum;
  });
}

/// bar.warp.sync also orders memory between the lanes.
static void performSync(Warp &w, uint32_t lanes) {
  ClockGathering all;
  forLanes(w, lanes, [&](unsigned, Thread &t) { all.add(t.clock, t.component, t.tick++); });
  Clock clock = all.take();
  forLanes(w, lanes, [&](unsigned, Thread &t) { t.clock = clock; });
}

static void performNothing(Warp &, uint32_t) {}

extern "C" {

/// The low half of the result is the value, bit 32 whether the source was in range.
uint64_t tileEmuShuffle(Thread *t, uint32_t mask, uint32_t value, uint32_t source, uint32_t clamp,
                        uint32_t mode, uint32_t site) {
  ShuffleOperands o{value, source, clamp, mode, 0, 0};
  converge(*t, {performShuffle, mode, mask, site, &o});
  return o.result | uint64_t(o.inRange) << 32;
}

uint32_t tileEmuVote(Thread *t, uint32_t mask, uint32_t predicate, uint32_t mode, uint32_t site) {
  VoteOperands o{predicate, mode, 0};
  converge(*t, {performVote, mode, mask, site, &o});
  return o.result;
}

uint64_t tileEmuMatch(Thread *t, uint32_t mask, uint64_t value, uint32_t all, uint32_t site) {
  MatchOperands o{value, all, 0, 0};
  converge(*t, {performMatch, all, mask, site, &o});
  return o.result | uint64_t(o.predicate) << 32;
}

uint32_t tileEmuRedux(Thread *t, uint32_t mask, uint32_t value, uint32_t operation, uint32_t site) {
  ReduxOperands o{value, operation, 0};
  converge(*t, {performRedux, operation, mask, site, &o});
  return o.result;
}

void tileEmuSyncWarp(Thread *t, uint32_t mask, uint32_t site) {
  converge(*t, {performSync, 0, mask, site, nullptr});
}

/// elect.sync: the lowest lane is chosen, or with a seed any; the low half is
/// the leader, bit 32 whether it is this lane.
uint64_t tileEmuElect(Thread *t, uint32_t mask, uint32_t site) {
  converge(*t, {performNothing, 1, mask, site, nullptr});
  uint32_t live = mask & t->warp->live, leader = unsigned(llvm::countr_zero(live));
  if (t->cluster->randomOrder) { // the same for one mask every time
    uint64_t hash =
        (*t->cluster->launch->options.seed + 1) * (uint64_t(mask) | 1) * 0x9e3779b97f4a7c15;
    for (uint64_t n = (hash >> 32) % unsigned(llvm::popcount(live)); n; --n)
      live &= live - 1;
    leader = unsigned(llvm::countr_zero(live));
  }
  return leader | uint64_t(leader == t->lane) << 32;
}

/// The lanes that could be here together: all that have not ended.
uint32_t tileEmuActiveMask(Thread *t) { return t->warp->live; }
}

llvm::ArrayRef<Hook> tile::emu::warpHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuShuffle),   TILE_HOOK(tileEmuVote),
                               TILE_HOOK(tileEmuMatch),     TILE_HOOK(tileEmuRedux),
                               TILE_HOOK(tileEmuSyncWarp),  TILE_HOOK(tileEmuElect),
                               TILE_HOOK(tileEmuActiveMask)};
  return hooks;
}
