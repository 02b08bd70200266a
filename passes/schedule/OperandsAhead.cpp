//===- OperandsAhead.cpp - operands computed under the product before -----===//
//
// A part of tile-overlap-dots, for loops whose products read what the threads compute in each turn
// and write to shared memory: weights that are widened or scaled, say. With two places for it a
// product may still read one while the threads fill the other.
//
//   for k:                            slots, t = 0
//     b = f(k)                        for k:
//     s = stage b             =>        b = f(k)
//     c = dot a, s                      fill slots[t] with b
//                                       c = dot a, slots[t], in flight
//                                       t = 1 - t
//
// A place is filled again two turns later. Behind the barrier that tile-insert-barriers puts in
// front of that all threads have waited for the product which read it: they do so behind the next.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/OperandsAhead.h"
#include "ir/CtaSlots.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/memory/Scratch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

bool tile::canAlternate(Value operand, scf::ForOp loop) {
  auto stage = operand.getDefiningOp<cta::StageOp>();
  return stage && stage->getBlock() == loop.getBody() &&
         llvm::all_of(stage->getUsers(), [&](Operation *user) {
           return isa<cta::WarpgroupDotOp>(user) && user->getBlock() == loop.getBody();
         });
}

static llvm::SmallSetVector<cta::StageOp, 2> operandsOf(scf::ForOp loop) {
  llvm::SmallSetVector<cta::StageOp, 2> stages;
  for (auto stage : loop.getBody()->getOps<cta::StageOp>())
    if (canAlternate(stage, loop))
      stages.insert(stage);
  return stages;
}

bool tile::haveRoomToAlternate(scf::ForOp loop) {
  auto module = loop->getParentOfType<ModuleOp>();
  int64_t bytes = lowering::bytesBesidesSlots(module, {}) + lowering::bytesOfCopies(module);
  int64_t more = 0;
  for (cta::StageOp stage : operandsOf(loop))
    more += cta::bytesInSlot(stage.getType());
  more *= cta::groupsOf(module);
  int64_t most = lowering::mostPrograms(module);
  auto programs = [&](int64_t b) { return std::min(most, lowering::programsWith(module, b)); };
  return bytes + more <= lowering::maxSharedBytes(module) &&
         programs(bytes + more) >= programs(bytes);
}

scf::ForOp tile::alternateOperands(scf::ForOp loop) {
  llvm::SmallSetVector<cta::StageOp, 2> stages = operandsOf(loop);
  IRRewriter rewriter(loop.getContext());
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
  Value one = arith::ConstantIntOp::create(rewriter, loc, 1, 32);
  auto attributes = loop->getDiscardableAttrDictionary();
  auto made =
      cast<scf::ForOp>(loop.replaceWithAdditionalYields(
                               rewriter, zero, /*replaceInitOperandUsesInLoop=*/false,
                               [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> args) {
                                 Value next = arith::XOrIOp::create(b, loc, args.front(), one);
                                 return SmallVector<Value>{next};
                               })
                           ->getOperation());
  made->setDiscardableAttrs(attributes);
  Value turn = made.getRegionIterArgs().back();
  for (cta::StageOp stage : stages) {
    rewriter.setInsertionPoint(made);
    Value slots = cta::SlotsOp::create(rewriter, stage.getLoc(), stage.getType(), 2u);
    rewriter.setInsertionPoint(stage);
    Value slot = cta::SlotOp::create(rewriter, stage.getLoc(), stage.getType(), slots, turn);
    cta::FillOp::create(rewriter, stage.getLoc(), stage.getSrc(), slot);
    rewriter.replaceOp(stage, slot);
  }
  return made;
}
