//===- Rings.cpp - slots that copies fill and readers give back -----------===//
#include "passes/lowering/rings/Rings.h"
#include "ir/CtaSlots.h"
#include "ir/Kernel.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

Rings::Cursor Rings::makeCursor(int32_t parity) {
  return {core.makeVariable(0), core.makeVariable(parity)};
}

void Rings::advance(const Ring &ring, const Cursor &cursor, Value condition) {
  Location loc = in.getLoc();
  Value next = core.plus(core.read(cursor.slot), 1);
  if (condition)
    next = LLVM::SelectOp::create(b, loc, condition, next, core.read(cursor.slot));
  Value wraps =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, next, in.i32(int32_t(ring.stages)));
  LLVM::StoreOp::create(b, loc, LLVM::SelectOp::create(b, loc, wraps, in.i32(0), next),
                        cursor.slot);
  Value flip = LLVM::ZExtOp::create(b, loc, b.getI32Type(), wraps);
  LLVM::StoreOp::create(b, loc, LLVM::XOrOp::create(b, loc, core.read(cursor.parity), flip),
                        cursor.parity);
}

/// base + slot * stride
static Value slotAddress(OpBuilder &b, Instructions &in, Value base, Value slot, int64_t stride) {
  Value offset = LLVM::MulOp::create(b, in.getLoc(), slot, in.i32(int32_t(stride)));
  return LLVM::AddOp::create(b, in.getLoc(), base, offset);
}

Value Rings::barrierOf(const Ring &ring, const Cursor &cursor, bool full) {
  int64_t first = ring.barriers + (full ? 0 : 8 * int64_t(ring.stages));
  return slotAddress(b, in, core.sharedAddress(first), core.read(cursor.slot), 8);
}

/// Where in slot 0 of a ring buffers of `types` are: each behind the one before it.
SmallVector<int64_t, 2> Rings::buffersInSlot(const Ring &ring, TypeRange types) {
  SmallVector<int64_t, 2> offsets;
  int64_t next = ring.begin;
  for (Type type : types) {
    offsets.push_back(next);
    next += cta::bytesInSlot(type);
  }
  return offsets;
}

Registers Rings::buffersOf(const Ring &ring, const Cursor &cursor, TypeRange types) {
  Registers addresses;
  for (int64_t offset : buffersInSlot(ring, types))
    addresses.push_back(
        slotAddress(b, in, core.sharedAddress(offset), core.read(cursor.slot), ring.slotBytes));
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
SmallVector<Value, 4> Rings::fieldsOf(const Ring &ring, const Cursor &cursor, TypeRange types) {
  if (!sharedField) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(core.tid);
    // A group of consumers has its own place for what is not in rings.
    sharedField = core.plus(core.addressField(core.sharedAddress(ring.begin)), -ring.begin / 16);
  }
  SmallVector<Value, 4> fields;
  for (int64_t offset : buffersInSlot(ring, types))
    fields.push_back(slotAddress(b, in, core.plus(sharedField, offset / 16), core.read(cursor.slot),
                                 ring.slotBytes / 16));
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

Rings::Ring Rings::makeRing(cta::RingOp op) {
  Ring ring;
  ring.stages = op.getStages();
  ring.begin = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr).getInt();
  ring.slotBytes = cta::bytesInSlot(op.getType().getBuffers());
  ring.barriers = barriersOf(op, core.groups);
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
    ring.reads = core.makeVariable(0);
  ring.hasElements = llvm::any_of(op->getUsers(), llvm::IsaPred<cta::RingElementCopyOp>);
  ring.cluster = op.getCluster();
  ring.eachLaneArrives = op->getParentOfType<ModuleOp>()->hasAttr(kEachLaneArrivesAttr);
  return ring;
}

/// `arrivals`: those that give a slot back.
void Rings::initBarriers(const Ring &ring, unsigned arrivals) {
  // By one thread: the instruction has one address for the whole warp.
  core.emitIf(core.isThread(in.i32(0)), [&] {
    if (rings.empty()) // once for the kernel
      for (BlockArgument arg : core.kernel.getArguments())
        if (isa<cta::TensorMapType>(arg.getType()))
          in.prefetchTensorMap(in.tensorMapAddress(core.getScalar(arg)));
    for (unsigned slot = 0; slot < ring.stages; ++slot) {
      in.mbarrierInit(core.sharedAddress(ring.barriers + 8 * slot), ring.hasElements ? 2 : 1);
      in.mbarrierInit(core.sharedAddress(ring.barriers + 8 * (ring.stages + slot)), arrivals);
    }
    if (core.groups > 1) // the first turn begins at the first slot
      in.storeShared(core.sharedBase(ring.turns()), {in.i32(0)});
    in.fenceMbarrierInit();
  });
}

void Rings::lower(cta::RingOp op) {
  Ring ring = makeRing(op);
  initBarriers(ring, op.getConsumers() * ring.cluster * (ring.eachLaneArrives ? 32 : 1));
  if (op->hasAttr(cta::kOwnSlotsAttr))
    LLVM::StoreOp::create(b, op.getLoc(), core.group(), ring.consumer.slot);
  rings[op.getResult()] = std::move(ring);
}

/// What the machine's copies bring to a slot: all but the numbers that threads copy.
static unsigned announcedBytes(cta::RingAcquireOp acquire) {
  int64_t bytes = 0;
  for (auto buffer : acquire.getBuffers())
    if (llvm::none_of(buffer.getUsers(), llvm::IsaPred<cta::RingElementCopyOp>))
      bytes += cast<cta::BufferType>(buffer.getType()).getBytes();
  return unsigned(bytes);
}

//===----------------------------------------------------------------------===//
// Who fills slots
//===----------------------------------------------------------------------===//

void Rings::lower(cta::RingAcquireOp op) {
  const Ring &ring = ringOf(op.getRing());
  in.mbarrierWait(barrierOf(ring, ring.producer, /*full=*/false), core.read(ring.producer.parity));
  Value full = barrierOf(ring, ring.producer, /*full=*/true);
  if (op.getBytes())
    in.mbarrierExpect(full, core.getScalar(op.getBytes()));
  else
    in.mbarrierExpect(full, announcedBytes(op));
  for (auto [result, address] :
       llvm::zip(op->getResults(), buffersOf(ring, ring.producer, op->getResultTypes())))
    core.set(result, {address});
}

void Rings::lower(cta::RingBulkCopyOp op) {
  const Ring &ring = ringOf(op.getRing());
  Value bytes = core.getScalar(op.getBytes());
  Value any = LLVM::ICmpOp::create(b, op.getLoc(), LLVM::ICmpPredicate::ne, bytes, in.i32(0));
  in.bulkLoad(core.plus(core.getScalar(op.getBuffer()), op.getOffset()),
              core.address(core.getScalar(op.getPtr())), bytes,
              barrierOf(ring, ring.producer, /*full=*/true), any, core.policyOf(op));
}

void Rings::lower(cta::RingElementCopyOp op) {
  Value policy = core.policyOf(op);
  in.copyAsync(core.hiddenBeside(policy, core.getScalar(op.getBuffer())),
               core.address(core.getScalar(op.getPtr())),
               unsigned(op.getBuffer().getType().getBytes()),
               /*sourceBytes=*/Value(),
               /*predicate=*/Value(), /*again=*/false, policy);
}

void Rings::lower(cta::RingCommitOp op) {
  const Ring &ring = ringOf(op.getRing());
  if (ring.hasElements)
    in.copyAsyncArrive(barrierOf(ring, ring.producer, /*full=*/true));
  advance(ring, ring.producer);
}

//===----------------------------------------------------------------------===//
// Who reads them
//===----------------------------------------------------------------------===//

void Rings::lower(cta::RingWaitOp op) {
  const Ring &ring = ringOf(op.getRing());
  SmallVector<Value, 4> fields = fieldsOf(ring, ring.consumer, op->getResultTypes());
  in.mbarrierWait(barrierOf(ring, ring.consumer, /*full=*/true), core.read(ring.consumer.parity));
  for (auto [result, address, field] : llvm::zip_equal(
           op->getResults(), buffersOf(ring, ring.consumer, op->getResultTypes()), fields)) {
    core.set(result, {address});
    slotFields[result] = field;
  }
}

void Rings::lower(cta::RingAdvanceOp op) {
  const Ring &ring = ringOf(op.getRing());
  advance(ring, ring.consumer);
}

void Rings::touchNext(Value ringValue) {
  const Ring &ring = ringOf(ringValue);
  in.mbarrierTouch(barrierOf(ring, ring.consumer, /*full=*/true), core.read(ring.consumer.parity));
}

Value Rings::placeOfReader(Value ringValue) {
  const Ring &ring = ringOf(ringValue);
  Value slot = LLVM::ShlOp::create(b, in.getLoc(), core.read(ring.consumer.slot), in.i32(1));
  return LLVM::OrOp::create(b, in.getLoc(), slot, core.read(ring.consumer.parity));
}

void Rings::goOnFrom(Value ringValue, Value place) {
  const Ring &ring = ringOf(ringValue);
  Location loc = in.getLoc();
  Value slot = LLVM::LShrOp::create(b, loc, place, in.i32(1));
  Value parity = LLVM::AndOp::create(b, loc, place, in.i32(1));
  for (const Cursor &cursor : {ring.consumer, ring.released}) {
    LLVM::StoreOp::create(b, loc, slot, cursor.slot);
    LLVM::StoreOp::create(b, loc, parity, cursor.parity);
  }
}

/// `barrier`, which nobody can arrive at before what the thread has read of the slot has come. An
/// arrival passes loads that still queue for shared memory (measured on an H100: by 340 cycles,
/// where conflicts of banks had filled the queue), and the next copy, which does not queue with
/// them, lands under them. A fence would wait for accesses to global memory as well.
Value Rings::behindReads(const Ring &ring, Value barrier) {
  if (!ring.reads)
    return barrier;
  Location loc = in.getLoc();
  Value nothing = LLVM::AndOp::create(b, loc, core.read(ring.reads), core.zeroUnknown());
  LLVM::StoreOp::create(b, loc, in.i32(0), ring.reads);
  return LLVM::AddOp::create(b, loc, barrier, nothing);
}

void Rings::lower(cta::RingReleaseOp op) {
  const Ring &ring = ringOf(op.getRing());
  Value condition = op.getCondition() ? core.getScalar(op.getCondition()) : Value();
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
    Value tells = LLVM::ICmpOp::create(b, op.getLoc(), LLVM::ICmpPredicate::ult, core.lane(),
                                       in.i32(int32_t(ring.cluster)));
    arrive(core.lane(), core.andB(tells, condition));
  }
  advance(ring, cursor, condition);
}
