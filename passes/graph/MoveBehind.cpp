//===- MoveBehind.cpp - what a kernel need not compute for another one -----===//
//
// Operations are grouped in order, with what they are computed of if that can be; the kernel that
// needs the last of them may come later. Where it can read all that these are computed of, they
// are computed there, and nothing is stored for it.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Fusion.h"

using namespace mlir;
using namespace tile::graph;

void tile::graph::sortInBlock(Ops &ops) {
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

/// Whether a kernel can read a value that another one computes, or computes it of nothing: it is
/// stored anyway.
bool Fusion::isStoredAnyway(Value value, Group *by, Group *reader) const {
  Operation *source = value.getDefiningOp();
  return !source || isFree(source) || owner.lookup(source) != by ||
         llvm::any_of(source->getUsers(), [&](Operation *user) {
           Group *group = owner.lookup(user);
           return group == reader || (group != by && !isa<MapOp>(user));
         });
}

/// What moves with an operation at most: a mask and the like. More would seldom be worth less than
/// an array.
static constexpr size_t kMostMoved = 8;

/// An operation at the end of a kernel with what is computed for it alone, down to what is stored
/// anyway; nothing if there is something else, or too much.
std::optional<Ops> Fusion::endOf(Operation *last, Group *group, Group *to) const {
  Ops found = {last};
  for (size_t i = 0; i < found.size(); ++i)
    for (Value operand : found[i]->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (isStoredAnyway(operand, group, to) || llvm::is_contained(found, source))
        continue;
      bool isAlone = isa<MapOp, CastOp, RearrangeOp, IndexOp>(source) &&
                     llvm::all_of(source->getUsers(),
                                  [&](Operation *user) { return llvm::is_contained(found, user); });
      if (!isAlone || found.size() == kMostMoved)
        return std::nullopt;
      found.push_back(source);
    }
  return found;
}

/// Moves what stood at the end of a kernel to the one that needs it, where what it reads is stored
/// anyway; false if there is none.
bool Fusion::moveBehind() {
  for (auto &group : groups)
    for (Operation *op : group->ops) {
      Group *to = op->use_empty() ? nullptr : owner.lookup(*op->user_begin());
      bool isLast =
          isa<MapOp, CastOp>(op) && to && to != group.get() && group->ops.size() > 1 &&
          llvm::all_of(op->getUsers(), [&](Operation *user) { return owner.lookup(user) == to; });
      std::optional<Ops> moved = isLast ? endOf(op, group.get(), to) : std::nullopt;
      if (!moved || moved->size() == group->ops.size() ||
          moved->size() + to->ops.size() > kMostTogether)
        continue;
      Ops with = to->ops, without = group->ops;
      llvm::append_range(with, *moved);
      sortInBlock(with);
      llvm::erase_if(without, [&](Operation *one) { return llvm::is_contained(*moved, one); });
      std::string reason;
      if (!findSpace(with, reason) || !findSpace(without, reason))
        continue;
      group->ops = without;
      to->ops = with;
      for (Operation *one : *moved)
        owner[one] = to;
      return true;
    }
  return false;
}
