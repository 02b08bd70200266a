//===- TightSlots.cpp - slots that are filled in the turn that reads them -===//
//
// A part of tile-pipeline-loads. Where small programs copy ahead, it is the slots that keep others
// from the multiprocessor. What threads read of a slot into registers anyway may be read first
// thing in a turn, and the slot be filled again behind that: the copies start a few instructions
// later, and one slot less is needed.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "passes/copies/Pipeline.h"

using namespace mlir;
using namespace tile;

/// Whether what becomes of the copy is read by threads in each turn of `loop`.
static bool isReadInTurns(const Copy &copy, scf::ForOp loop) {
  auto isHere = [&](Operation *user) {
    return user->getBlock() == loop.getBody() && !isa<cta::StageOp, scf::YieldOp>(user);
  };
  return llvm::all_of(copy.value.getUsers(), [&](Operation *user) {
    return isHere(user) && (!isa<TransOp>(user) || llvm::all_of(user->getUsers(), isHere));
  });
}

bool tile::canBeTight(const Pipeline &p) {
  std::optional<APInt> turns = scf::ForOp(p.loop).getStaticTripCount();
  bool isAllInFront = turns && turns->ule(uint64_t(p.stages));
  return p.stages > 1 && !p.hasSpare && !isAllInFront && p.multiplied.empty() &&
         llvm::all_of(p.copies, [&](const Copy &copy) { return isReadInTurns(copy, p.loop); });
}

void tile::holdReads(Pipeline &p, ArrayRef<cta::SlotOp> read, Operation *behind) {
  for (cta::SlotOp slot : read) {
    slot->moveAfter(behind);
    behind = slot;
    for (Operation *user : llvm::make_early_inc_range(slot->getUsers())) {
      auto held = cast<cta::ReadOp>(user);
      held->setAttr(cta::kHeldAttr, UnitAttr::get(slot.getContext()));
      held->moveAfter(behind);
      behind = held;
    }
  }
  OpBuilder b(p.loop.getContext());
  b.setInsertionPointAfter(behind);
  cta::BarrierOp::create(b, p.loop.getLoc());
}
