//===- Roles.cpp - warps that compute, and a warp that copies -------------===//
//
// One branch at the start of the kernel, on which side a thread stays; and what one thread does
// for all.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/facts/Registers.h"
#include "passes/lowering/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

LogicalResult Lowering::lowerRoles(cta::RolesOp op) {
  Location loc = op.getLoc();
  Block *consumers = new Block, *producer = new Block, *merge = new Block;
  Region *region = b.getInsertionBlock()->getParent();
  for (Block *block : {consumers, producer, merge})
    region->push_back(block);
  unsigned consumerThreads = numThreads * groups;
  RoleRegisters registers = registersOfRoles(in.target(), consumerThreads);

  Value isConsumer = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, blockTid,
                                          in.i32(int32_t(consumerThreads)));
  LLVM::CondBrOp::create(b, loc, isConsumer, consumers, producer);

  enterBlock(consumers);
  if (registers.areDealt)
    in.setMaxRegisters(unsigned(registers.consumers), /*increase=*/true);
  in.setRole(kConsumerBarrier, numThreads, groups > 1 ? group() : Value());
  if (groups > 1)
    openTurns(op);
  if (failed(lowerBlock(op.getConsumers().front())))
    return failure();
  in.setLoc(loc);
  LLVM::BrOp::create(b, loc, ValueRange(), merge);

  enterBlock(producer);
  if (registers.areDealt)
    in.setMaxRegisters(unsigned(registers.producer), /*increase=*/false);
  LogicalResult result = success();
  emitIf(isThread(in.i32(int32_t(consumerThreads))),
         [&] { result = lowerBlock(op.getProducer().front()); });
  in.setLoc(loc);
  LLVM::BrOp::create(b, loc, ValueRange(), merge);
  enterBlock(merge);
  in.setRole(0, 0);
  return result;
}

/// Whether all that is done is to copy into rings by TMA.
static bool onlyFillsRings(cta::SingleOp op) {
  return !op.walk([](Operation *in) {
              bool fills = isa<cta::RingAcquireOp, cta::RingCopyOp, cta::RingCommitOp>(in);
              bool isPlain = isPure(in) || isa<scf::IfOp, scf::ForOp, scf::YieldOp>(in) ||
                             in->hasTrait<OpTrait::IsTerminator>();
              return fills || isPlain || isa<cta::SingleOp>(in) ? WalkResult::advance()
                                                                : WalkResult::interrupt();
            }).wasInterrupted();
}

/// One thread does it. Copies alone are a warp's, of which one lane starts them: with no lane on a
/// way of its own, what the warp computes with stays in uniform registers.
LogicalResult Lowering::lowerSingle(cta::SingleOp op) {
  LogicalResult result = success();
  if (onlyFillsRings(op)) {
    emitIf(LLVM::ICmpOp::create(b, in.getLoc(), LLVM::ICmpPredicate::eq, uniformWarp(), in.i32(0)),
           [&] {
             in.setElected(in.electLane());
             result = lowerBlock(op.getBody().front());
             in.setElected(Value());
           });
    return result;
  }
  emitIf(isThread(in.i32(0)), [&] { result = lowerBlock(op.getBody().front()); });
  return result;
}
