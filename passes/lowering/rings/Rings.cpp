//===- Rings.cpp - slots that copies fill and readers give back -----------===//
//
// A ring's cursors (which slot is next, in which round) are variables of the
// thread: allocas that the optimiser turns into registers, so that they follow
// any control flow.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaSlots.h"
#include "ir/Kernel.h"
#include "ir/layout/Swizzle.h"
#include "passes/facts/Registers.h"
#include "passes/lowering/Lowering.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

Lowering::Cursor Lowering::makeCursor(int32_t parity) {
  return {makeVariable(0), makeVariable(parity)};
}

void Lowering::advance(const Ring &ring, const Cursor &cursor, Value condition) {
  Location loc = in.getLoc();
  Value next = plus(read(cursor.slot), 1);
  if (condition)
    next = LLVM::SelectOp::create(b, loc, condition, next, read(cursor.slot));
  Value wraps =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, next, in.i32(int32_t(ring.stages)));
  LLVM::StoreOp::create(b, loc, LLVM::SelectOp::create(b, loc, wraps, in.i32(0), next),
                        cursor.slot);
  Value flip = LLVM::ZExtOp::create(b, loc, b.getI32Type(), wraps);
  LLVM::StoreOp::create(b, loc, LLVM::XOrOp::create(b, loc, read(cursor.parity), flip),
                        cursor.parity);
}

/// base + slot * stride
static Value slotAddress(OpBuilder &b, Instructions &in, Value base, Value slot, int64_t stride) {
  Value offset = LLVM::MulOp::create(b, in.getLoc(), slot, in.i32(int32_t(stride)));
  return LLVM::AddOp::create(b, in.getLoc(), base, offset);
}

Value Lowering::barrierOf(const Ring &ring, const Cursor &cursor, bool full) {
  int64_t first = ring.barriers + (full ? 0 : 8 * int64_t(ring.stages));
  return slotAddress(b, in, sharedAddress(first), read(cursor.slot), 8);
}

/// Where in slot 0 of a ring buffers of `types` are: each behind the one before it.
SmallVector<int64_t, 2> Lowering::buffersInSlot(const Ring &ring, TypeRange types) {
  SmallVector<int64_t, 2> offsets;
  int64_t next = ring.begin;
  for (Type type : types) {
    offsets.push_back(next);
    next += cta::bytesInSlot(type);
  }
  return offsets;
}

Registers Lowering::buffersOf(const Ring &ring, const Cursor &cursor, TypeRange types) {
  Registers addresses;
  for (int64_t offset : buffersInSlot(ring, types))
    addresses.push_back(
        slotAddress(b, in, sharedAddress(offset), read(cursor.slot), ring.slotBytes));
  return addresses;
}

/// Whether some lanes of a warp may have done with a slot that others still wait for or
/// read: where threads read it by themselves, and where no matrix instruction, to which all
/// lanes come together, stands beside the wait. One lane gives the slot back for all.
static bool lanesMayLag(cta::RingWaitOp wait) {
  auto isRead = [](Operation *by) { return isa<cta::ReadOp>(by); };
  auto isBeside = [&](Operation *by) {
    return isa<cta::WarpgroupDotOp>(by) && by->getBlock() == wait->getBlock();
  };
  return !wait->use_empty() &&
         (llvm::any_of(wait->getUsers(), isRead) || llvm::none_of(wait->getUsers(), isBeside));
}

/// The address fields of matrix descriptors of the slot's buffers.
SmallVector<Value, 4> Lowering::fieldsOf(const Ring &ring, const Cursor &cursor, TypeRange types) {
  if (!sharedField) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(tid);
    // A group of consumers has its own place for what is not in rings.
    sharedField = plus(addressField(sharedAddress(ring.begin)), -ring.begin / 16);
  }
  SmallVector<Value, 4> fields;
  for (int64_t offset : buffersInSlot(ring, types))
    fields.push_back(
        slotAddress(b, in, plus(sharedField, offset / 16), read(cursor.slot), ring.slotBytes / 16));
  return fields;
}

/// Where the barriers of `ring` begin: those of all rings are the end of shared memory.
static int64_t barriersOf(cta::RingOp ring, unsigned groups) {
  auto module = ring->getParentOfType<ModuleOp>();
  int64_t begin = cta::madeOf(module).sharedBytes;
  bool behind = false;
  module.walk([&](cta::RingOp other) {
    behind |= other == ring;
    if (behind)
      begin -= barrierBytes(other.getStages(), groups);
  });
  return begin;
}

LogicalResult Lowering::lowerRing(cta::RingOp op) {
  Ring ring;
  ring.stages = op.getStages();
  ring.begin = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr).getInt();
  ring.slotBytes = cta::bytesInSlot(op.getType().getBuffers());
  ring.barriers = barriersOf(op, groups);
  ring.consumer = makeCursor(0);
  ring.released = makeCursor(0);
  ring.producer = makeCursor(1); // a fresh barrier counts as just emptied
  bool areRead = false;
  for (Operation *user : op->getUsers())
    if (auto wait = dyn_cast<cta::RingWaitOp>(user)) {
      ring.lanesMayLag |= lanesMayLag(wait);
      areRead |= llvm::any_of(wait->getUsers(), llvm::IsaPred<cta::ReadOp>);
    }
  if (areRead)
    ring.reads = makeVariable(0);
  ring.hasElements = llvm::any_of(op->getUsers(), llvm::IsaPred<cta::RingElementCopyOp>);
  ring.cluster = op.getCluster();
  ring.eachLaneArrives = op->getParentOfType<ModuleOp>()->hasAttr(kEachLaneArrivesAttr);
  unsigned consumers = op.getConsumers() * ring.cluster * (ring.eachLaneArrives ? 32 : 1);
  // By one thread: the instruction has one address for the whole warp.
  emitIf(isThread(in.i32(0)), [&] {
    if (rings.empty()) // once for the kernel
      for (BlockArgument arg : kernel.getArguments())
        if (isa<cta::TensorMapType>(arg.getType()))
          in.prefetchTensorMap(in.tensorMapAddress(getScalar(arg)));
    for (unsigned slot = 0; slot < ring.stages; ++slot) {
      in.mbarrierInit(sharedAddress(ring.barriers + 8 * slot), ring.hasElements ? 2 : 1);
      in.mbarrierInit(sharedAddress(ring.barriers + 8 * (ring.stages + slot)), consumers);
    }
    if (groups > 1) // the first turn begins at the first slot
      in.storeShared(sharedBase(ring.turns()), {in.i32(0)});
    in.fenceMbarrierInit();
  });
  if (op->hasAttr(cta::kOwnSlotsAttr))
    LLVM::StoreOp::create(b, op.getLoc(), group(), ring.consumer.slot);
  rings[op.getResult()] = std::move(ring);
  return success();
}

/// What the machine's copies bring to a slot: all but the numbers that threads copy.
static unsigned announcedBytes(cta::RingAcquireOp acquire) {
  int64_t bytes = 0;
  for (auto buffer : acquire.getBuffers())
    if (llvm::none_of(buffer.getUsers(), llvm::IsaPred<cta::RingElementCopyOp>))
      bytes += cast<cta::BufferType>(buffer.getType()).getBytes();
  return unsigned(bytes);
}

LogicalResult Lowering::lowerRingStep(Operation *op, const Ring &ring) {
  if (auto acquire = dyn_cast<cta::RingAcquireOp>(op)) {
    in.mbarrierWait(barrierOf(ring, ring.producer, /*full=*/false), read(ring.producer.parity));
    Value full = barrierOf(ring, ring.producer, /*full=*/true);
    if (acquire.getBytes())
      in.mbarrierExpect(full, getScalar(acquire.getBytes()));
    else
      in.mbarrierExpect(full, announcedBytes(acquire));
    for (auto [result, address] :
         llvm::zip(op->getResults(), buffersOf(ring, ring.producer, op->getResultTypes())))
      set(result, {address});
  } else if (auto copy = dyn_cast<cta::RingCopyOp>(op)) {
    lowerRingCopy(copy, ring);
  } else if (auto copy = dyn_cast<cta::RingBulkCopyOp>(op)) {
    Value bytes = getScalar(copy.getBytes());
    Value any = LLVM::ICmpOp::create(b, op->getLoc(), LLVM::ICmpPredicate::ne, bytes, in.i32(0));
    in.bulkLoad(plus(getScalar(copy.getBuffer()), copy.getOffset()),
                address(getScalar(copy.getPtr())), bytes,
                barrierOf(ring, ring.producer, /*full=*/true), any, policyOf(copy));
  } else if (auto copy = dyn_cast<cta::RingElementCopyOp>(op)) {
    Value policy = policyOf(copy);
    in.copyAsync(hiddenBeside(policy, getScalar(copy.getBuffer())),
                 address(getScalar(copy.getPtr())), unsigned(copy.getBuffer().getType().getBytes()),
                 /*sourceBytes=*/Value(),
                 /*predicate=*/Value(), /*again=*/false, policy);
  } else if (isa<cta::RingCommitOp>(op)) {
    if (ring.hasElements)
      in.copyAsyncArrive(barrierOf(ring, ring.producer, /*full=*/true));
    advance(ring, ring.producer);
  } else if (isa<cta::RingWaitOp>(op)) {
    SmallVector<Value, 4> fields = fieldsOf(ring, ring.consumer, op->getResultTypes());
    in.mbarrierWait(barrierOf(ring, ring.consumer, /*full=*/true), read(ring.consumer.parity));
    for (auto [result, address, field] : llvm::zip_equal(
             op->getResults(), buffersOf(ring, ring.consumer, op->getResultTypes()), fields)) {
      set(result, {address});
      slotFields[result] = field;
    }
  } else if (isa<cta::RingAdvanceOp>(op)) {
    advance(ring, ring.consumer);
  } else {
    releaseSlot(cast<cta::RingReleaseOp>(op), ring);
  }
  return success();
}

/// `barrier`, which nobody can arrive at before what the thread has read of the slot has come. An
/// arrival passes loads that still queue for shared memory (measured on an H100: by 340 cycles,
/// where conflicts of banks had filled the queue), and the next copy, which does not queue with
/// them, lands under them. A fence would wait for accesses to global memory as well.
Value Lowering::behindReads(const Ring &ring, Value barrier) {
  if (!ring.reads)
    return barrier;
  Location loc = in.getLoc();
  Value nothing = LLVM::AndOp::create(b, loc, read(ring.reads), zeroUnknown());
  LLVM::StoreOp::create(b, loc, in.i32(0), ring.reads);
  return LLVM::AddOp::create(b, loc, barrier, nothing);
}

void Lowering::releaseSlot(cta::RingReleaseOp op, const Ring &ring) {
  Value condition = op.getCondition() ? getScalar(op.getCondition()) : Value();
  const Cursor &cursor = condition ? ring.released : ring.consumer;
  Value barrier = behindReads(ring, barrierOf(ring, cursor, /*full=*/false));
  auto arrive = [&](Value block, Value predicate) {
    if (ring.cluster > 1)
      in.mbarrierArriveAt(barrier, block, predicate);
    else
      in.mbarrierArrive(barrier, predicate);
  };
  // What no product waits for, either.
  auto passed = dyn_cast_if_present<cta::RingWaitOp>(op->getPrevNode());
  if (ring.lanesMayLag || (passed && passed->use_empty()))
    in.warpBarrier();
  if (ring.eachLaneArrives) {
    for (unsigned block = 0; block < ring.cluster; ++block)
      arrive(in.i32(int32_t(block)), condition ? condition : in.i1(true));
  } else {
    // Lane i tells thread block i of the cluster.
    Value tells = LLVM::ICmpOp::create(b, op.getLoc(), LLVM::ICmpPredicate::ult, lane(),
                                       in.i32(int32_t(ring.cluster)));
    arrive(lane(), andB(tells, condition));
  }
  advance(ring, cursor, condition);
}
