//===- Rings.h - slots that copies fill and readers give back ---*- C++ -*-===//
//
// A ring is a number of slots in shared memory, with two barriers each: one that copies arrive at
// when a slot is full, and one that readers arrive at when they have done with it. Who fills slots
// and who reads them have a cursor each: which slot is next, and in which round. Cursors are
// variables of the thread, so that they follow any control flow.
//
// - `cta.ring` makes its barriers and variables, once, before all that names it is lowered.
// - An acquire, copies and a commit fill the next slot; a wait, reads, and an advance or release
//   take the next one. In which order is the protocol's (passes/facts/VerifyProtocol.h); nothing
//   is checked here.
// - What a wait gives are the addresses of the slot's buffers, as the core's values.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_RINGS_RINGS_H
#define TILE_PASSES_LOWERING_RINGS_RINGS_H

#include "passes/lowering/core/Core.h"

namespace tile::lowering {

class Rings {
public:
  explicit Rings(Core &core) : core(core), in(core.in), b(core.b) {}

  void lower(cta::RingOp op);
  void lower(cta::RingAcquireOp op);
  /// The copies of all boxes, or (`common`, where that is true) of this thread
  /// block's share of them to all blocks of the cluster.
  void lower(cta::RingCopyOp copy);
  void lower(cta::RingBulkCopyOp op);
  void lower(cta::RingElementCopyOp op);
  void lower(cta::RingCommitOp op);
  void lower(cta::RingWaitOp op);
  void lower(cta::RingAdvanceOp op);
  void lower(cta::RingReleaseOp op);
  void lower(cta::RingFillOp op);

  /// The address field of a matrix descriptor of a buffer that was waited for, computed ahead of
  /// the wait; null of other buffers.
  mlir::Value fieldOf(mlir::Value buffer) const { return slotFields.lookup(buffer); }
  /// The variable that something of all has to join that a thread reads of a slot by itself:
  /// the slot is not given back before it has come. Null if threads read nothing of slots.
  mlir::Value readsOf(mlir::Value ring) const { return ringOf(ring).reads; }
  /// Asks whether the slot that is read next has come, and for no answer.
  void touchNext(mlir::Value ring);

  //===--- groups of consumers that take turns (GroupTurns.h) -------------===//
  /// Where in shared memory groups tell each other at which slot to go on: 4 bytes for each.
  int64_t turnsOf(mlir::Value ring) const { return ringOf(ring).turns(); }
  /// The slot that is read next, and the round, in one i32; and reading goes on there.
  mlir::Value placeOfReader(mlir::Value ring);
  void goOnFrom(mlir::Value ring, mlir::Value place);

private:
  /// Which slot is next, and the parity of its round: variables of a thread.
  struct Cursor {
    mlir::Value slot, parity;
  };
  struct Ring {
    unsigned stages = 1, cluster = 1;
    int64_t begin = 0, slotBytes = 0; ///< of slot 0, of each
    int64_t barriers = 0;             ///< full ones, then empty ones
    Cursor producer, consumer;
    Cursor released;              ///< trails the consumer where slots are given back later
    bool lanesMayLag = false;     ///< behind the one that gives slots back for its warp
    bool hasElements = false;     ///< which the producer's own copies bring
    bool eachLaneArrives = false; ///< to give a slot back; else one of each warp
    mlir::Value reads;            ///< `readsOf`
    int64_t turns() const { return barriers + 16 * int64_t(stages); }
  };
  const Ring &ringOf(mlir::Value ring) const { return rings.find(ring)->second; }
  Ring makeRing(cta::RingOp op);
  void initBarriers(const Ring &ring, unsigned arrivals);
  Cursor makeCursor(int32_t parity);
  void advance(const Ring &ring, const Cursor &cursor, mlir::Value condition = {});
  mlir::Value barrierOf(const Ring &ring, const Cursor &cursor, bool full);
  static llvm::SmallVector<int64_t, 2> buffersInSlot(const Ring &ring, mlir::TypeRange types);
  Registers buffersOf(const Ring &ring, const Cursor &cursor, mlir::TypeRange types);
  llvm::SmallVector<mlir::Value, 4> fieldsOf(const Ring &ring, const Cursor &cursor,
                                             mlir::TypeRange types);
  mlir::Value behindReads(const Ring &ring, mlir::Value barrier);

  Core &core;
  Instructions &in;
  mlir::OpBuilder &b;
  llvm::DenseMap<mlir::Value, Ring> rings;
  llvm::DenseMap<mlir::Value, mlir::Value> slotFields; ///< `fieldOf`
  mlir::Value sharedField;                             ///< of the start of shared memory
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_RINGS_RINGS_H
