//===- Roles.cpp - warps that compute, and a warp that copies -------------===//
#include "passes/lowering/rings/Roles.h"
#include "ir/Kernel.h"
#include "passes/facts/Registers.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

LogicalResult Roles::lower(cta::RolesOp op) {
  Location loc = op.getLoc();
  Block *consumers = core.newBlock(), *producer = core.newBlock(), *merge = core.newBlock();
  unsigned consumerThreads = core.numThreads * core.groups;
  RoleRegisters registers = registersOfRoles(in.target(), consumerThreads);

  Value isConsumer = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, core.blockTid,
                                          in.i32(int32_t(consumerThreads)));
  LLVM::CondBrOp::create(b, loc, isConsumer, consumers, producer);

  core.enterBlock(consumers);
  if (registers.areDealt)
    in.setMaxRegisters(unsigned(registers.consumers), /*increase=*/true);
  in.setRole(kConsumerBarrier, core.numThreads, core.groups > 1 ? core.group() : Value());
  if (core.groups > 1)
    turns.open(op);
  if (failed(core.lowerBlock(op.getConsumers().front())))
    return failure();
  in.setLoc(loc);
  LLVM::BrOp::create(b, loc, ValueRange(), merge);

  core.enterBlock(producer);
  if (registers.areDealt)
    in.setMaxRegisters(unsigned(registers.producer), /*increase=*/false);
  LogicalResult result = success();
  core.emitIf(core.isThread(in.i32(int32_t(consumerThreads))),
              [&] { result = core.lowerBlock(op.getProducer().front()); });
  in.setLoc(loc);
  LLVM::BrOp::create(b, loc, ValueRange(), merge);
  core.enterBlock(merge);
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

LogicalResult Roles::lower(cta::SingleOp op) {
  LogicalResult result = success();
  if (onlyFillsRings(op)) {
    core.emitIf(LLVM::ICmpOp::create(b, in.getLoc(), LLVM::ICmpPredicate::eq, core.uniformWarp(),
                                     in.i32(0)),
                [&] {
                  in.setElected(in.electLane());
                  result = core.lowerBlock(op.getBody().front());
                  in.setElected(Value());
                });
    return result;
  }
  core.emitIf(core.isThread(in.i32(0)), [&] { result = core.lowerBlock(op.getBody().front()); });
  return result;
}
