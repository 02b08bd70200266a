//===- GroupTurns.cpp - two groups of consumers, one after the other ------===//
#include "passes/lowering/rings/GroupTurns.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// Two named barriers for each order of turns, behind those of Core.h.
static constexpr unsigned kTurnBarrier = 3;

/// What `group` waits at for its turn, and the other one arrives at.
Value GroupTurns::barrierOf(uint32_t order, Value group) {
  return core.plus(group, kTurnBarrier + 2 * order);
}

/// Where in shared memory `group` finds the place of a ring that it goes on at: one
/// each, because a group may write before the last of its warps has read.
Value GroupTurns::placeOf(Value ring, Value group) {
  Value skip = LLVM::ShlOp::create(b, in.getLoc(), group, in.i32(2));
  return core.sharedAt(core.sharedBase(rings.turnsOf(ring)), skip);
}

void GroupTurns::open(cta::RolesOp op) {
  llvm::SmallSetVector<uint32_t, 2> orders;
  op.getConsumers().walk([&](cta::TurnBeginOp turn) { orders.insert(turn.getOrder()); });
  Value isSecond =
      LLVM::ICmpOp::create(b, op.getLoc(), LLVM::ICmpPredicate::ne, core.group(), in.i32(0));
  core.emitIf(isSecond, [&] {
    for (uint32_t order : orders)
      in.arrive(barrierOf(order, in.i32(0)), 2 * core.numThreads);
  });
}

void GroupTurns::lower(cta::TurnBeginOp op) {
  in.namedBarrier(barrierOf(op.getOrder(), core.group()), 2 * core.numThreads);
  for (Value ring : op.getRings()) {
    Value place = in.loadShared(b.getI32Type(), 1, placeOf(ring, core.group())).front();
    rings.goOnFrom(ring, core.sameInWarp(place));
  }
}

void GroupTurns::lower(cta::TurnEndOp op) {
  Location loc = op.getLoc();
  if (!op.getRings().empty() || op.getStores()) {
    Value leads = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, core.tid, in.i32(0));
    core.emitIf(leads, [&] {
      for (Value ring : op.getRings()) {
        Value place = rings.placeOfReader(ring);
        in.storeShared(placeOf(ring, core.otherGroup()), {place});
      }
      if (op.getStores())
        in.bulkWait();
    });
  }
  in.arrive(barrierOf(op.getOrder(), core.otherGroup()), 2 * core.numThreads);
}
