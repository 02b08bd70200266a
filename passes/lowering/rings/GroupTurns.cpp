//===- GroupTurns.cpp - two groups of consumers, one after the other ------===//
//
// Each group waits at a named barrier of its own that the other one arrives at when
// its turn ends. Where a ring goes on is told in shared memory.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Lowering.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// Two named barriers for each order of turns, behind those of Lowering.h.
static constexpr unsigned kTurnBarrier = 3;

/// What `group` waits at for its turn, and the other one arrives at.
Value Lowering::turnBarrier(uint32_t order, Value group) {
  return plus(group, kTurnBarrier + 2 * order);
}

/// Where in shared memory `group` finds the cursor that it goes on with: one place
/// each, because a group may write before the last of its warps has read.
Value Lowering::turnPlace(const Ring &ring, Value group) {
  Value skip = LLVM::ShlOp::create(b, in.getLoc(), group, in.i32(2));
  return sharedAt(sharedBase(ring.turns()), skip);
}

/// As if the second group had ended a turn in every order.
void Lowering::openTurns(cta::RolesOp op) {
  llvm::SmallSetVector<uint32_t, 2> orders;
  op.getConsumers().walk([&](cta::TurnBeginOp turn) { orders.insert(turn.getOrder()); });
  Value isSecond =
      LLVM::ICmpOp::create(b, op.getLoc(), LLVM::ICmpPredicate::ne, group(), in.i32(0));
  emitIf(isSecond, [&] {
    for (uint32_t order : orders)
      in.arrive(turnBarrier(order, in.i32(0)), 2 * numThreads);
  });
}

LogicalResult Lowering::lowerTurnBegin(cta::TurnBeginOp op) {
  Location loc = op.getLoc();
  in.namedBarrier(turnBarrier(op.getOrder(), group()), 2 * numThreads);
  for (Value r : op.getRings()) {
    const Ring &ring = rings.find(r)->second;
    Value packed = in.loadShared(b.getI32Type(), 1, turnPlace(ring, group())).front();
    packed = sameInWarp(packed);
    Value slot = LLVM::LShrOp::create(b, loc, packed, in.i32(1));
    Value parity = LLVM::AndOp::create(b, loc, packed, in.i32(1));
    for (const Cursor &cursor : {ring.consumer, ring.released}) {
      LLVM::StoreOp::create(b, loc, slot, cursor.slot);
      LLVM::StoreOp::create(b, loc, parity, cursor.parity);
    }
  }
  return success();
}

LogicalResult Lowering::lowerTurnEnd(cta::TurnEndOp op) {
  Location loc = op.getLoc();
  if (!op.getRings().empty() || op.getStores()) {
    Value leads = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, tid, in.i32(0));
    emitIf(leads, [&] {
      for (Value r : op.getRings()) {
        const Ring &ring = rings.find(r)->second;
        Value slot = LLVM::ShlOp::create(b, loc, read(ring.consumer.slot), in.i32(1));
        Value packed = LLVM::OrOp::create(b, loc, slot, read(ring.consumer.parity));
        in.storeShared(turnPlace(ring, otherGroup()), {packed});
      }
      if (op.getStores())
        in.bulkWait();
    });
  }
  in.arrive(turnBarrier(op.getOrder(), otherGroup()), 2 * numThreads);
  return success();
}
