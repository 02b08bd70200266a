//===- RefilledSlots.cpp - one slot, filled again behind what reads it ----===//
//
// A part of tile-pipeline-loads. Where blocks are large, and what is computed of them is small, it
// is the slots that keep other programs from the multiprocessor. With one slot for each copy the
// next turn's block is on its way from the last product that reads this turn's until the first one
// that reads it: programs are twice as many, and run under the copies of each other.
//
//===----------------------------------------------------------------------===//
#include "passes/copies/Pipeline.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/SharedOperands.h"

using namespace mlir;
using namespace tile;

/// Whether a product may read a slot through what `op` makes of it: another name for it, as which
/// it is read where it is multiplied, or its elements widened one by one.
static bool isSeenThrough(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         (isa<cta::StageOp, cta::ReadOp, cta::ConvertLayoutOp>(op) || isRenaming(op) ||
          (op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op)));
}

Operation *tile::lastReader(Value copied, Block *body) {
  Operation *last = nullptr;
  DenseSet<Operation *> seen;
  SmallVector<Value> work{copied};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      Operation *here = body->findAncestorOpInBlock(*user);
      if (!here || here != user || here->hasTrait<OpTrait::IsTerminator>())
        return nullptr;
      if (!last || last->isBeforeInBlock(here))
        last = here;
      if (isSeenThrough(user) && seen.insert(user).second)
        work.push_back(user->getResult(0));
    }
  return last;
}

bool tile::canBeRefilled(const Pipeline &p) {
  scf::ForOp loop = p.loop;
  std::optional<APInt> turns = loop.getStaticTripCount();
  bool isAllInFront = turns && turns->ule(2);
  return p.stages > 1 && !p.isTight && !isAllInFront && p.multiplied.empty() &&
         llvm::all_of(p.copies, [&](const Copy &copy) {
           return readsZerosOutside(copy.load) && lastReader(copy.value, loop.getBody());
         });
}

/// The only user of `v`, if it is in the same block.
static Operation *onlyUser(Value v, Block *body) {
  Operation *user = v.hasOneUse() ? *v.user_begin() : nullptr;
  return user && user->getBlock() == body && !user->hasTrait<OpTrait::IsTerminator>() ? user
                                                                                      : nullptr;
}

void tile::readLate(cta::SlotOp slot) {
  Block *body = slot->getBlock();
  for (Operation *user : llvm::make_early_inc_range(slot->getUsers())) {
    SmallVector<Operation *> chain;
    Operation *next = user;
    while (next && isSeenThrough(next)) {
      chain.push_back(next);
      next = onlyUser(next->getResult(0), body);
    }
    if (next && !chain.empty())
      for (Operation *op : chain)
        op->moveBefore(next);
  }
  Operation *first = nullptr;
  for (Operation *user : slot->getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  slot->moveBefore(first);
}
