//===- MoveBehind.cpp - what a kernel need not compute for another one -----===//
//
// Operations are grouped in order, with what they are computed of if that can be; the kernel that
// needs the last of them may come later. Where it can read all that these are computed of, they
// are computed there, and nothing is stored for it.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Chain.h"
#include "passes/graph/Fusion.h"
#include "passes/graph/Sources.h"

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
/// Of what grows, as numbers of each element beside each other one do.
static constexpr size_t kMostGrown = 64;

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

/// What a kernel computes an operation's result of, from near to far.
static Ops sourcesIn(Operation *op, const Ops &ops) {
  Ops found;
  visitSources(SmallVector<Value>(op->getOperands()), [&](Value value) {
    Operation *source = value.getDefiningOp();
    bool isIn = source && llvm::is_contained(ops, source);
    if (isIn)
      found.push_back(source);
    return isIn && isa<MapOp, CastOp, RearrangeOp>(source);
  });
  return found;
}

/// What is computed of `source` in its kernel, element by element and for others alone, by the
/// kernel that needs it, if that takes several arrays that together have more bytes than `source`,
/// or one of more dimensions: `source` is stored instead. Nothing if there is something else, or
/// too much.
std::optional<Fusion::Moves> Fusion::endsOf(Operation *source, Group *group) const {
  if (source->getNumResults() != 1)
    return std::nullopt;
  Value value = source->getResult(0);
  Ops found;
  SmallVector<Operation *> next(value.user_begin(), value.user_end());
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (llvm::is_contained(found, op))
      continue;
    if (owner.lookup(op) != group || !isa<MapOp, CastOp, RearrangeOp>(op) ||
        found.size() == kMostGrown)
      return std::nullopt;
    found.push_back(op);
    for (Operation *user : op->getUsers())
      if (owner.lookup(user) == group)
        next.push_back(user);
  }
  sortInBlock(found);
  llvm::DenseMap<Operation *, Group *> goal;
  Ops places; // of nothing but indices, and views, each with one user
  unsigned arrays = 0, bytes = 0;
  size_t stored = 0, read = dimensionsOf(value);
  for (Operation *op : llvm::reverse(found)) {
    Group *&to = goal[op];
    bool isStored = false;
    for (Operation *user : op->getUsers()) {
      Group *of = owner.lookup(user);
      isStored |= of != group;
      of = of == group ? goal.lookup(user) : of;
      if (!of || (to && to != of))
        return std::nullopt;
      to = of;
    }
    if (!to)
      return std::nullopt;
    arrays += isStored;
    bytes += isStored ? bytesOf(typeOf(op->getResult(0)).getElement()) : 0;
    if (isStored)
      stored = std::max(stored, dimensionsOf(op->getResult(0)));
    Ops needed = {op};
    for (size_t i = 0; i < needed.size(); ++i)
      for (Value operand : needed[i]->getOperands()) {
        Operation *of = operand.getDefiningOp();
        if (operand == value || llvm::is_contained(found, of))
          continue;
        if (isStoredAnyway(operand, group, to)) {
          read = std::max(read, dimensionsOf(operand));
          continue;
        }
        bool isFree = isOfIndices(of) || isa<RearrangeOp>(of);
        if (!isFree || !of->hasOneUse() || places.size() == kMostGrown)
          return std::nullopt;
        needed.push_back(of);
        places.push_back(of);
        goal[of] = to;
      }
  }
  bool isLess = arrays > 1 && bytes > bytesOf(typeOf(value).getElement());
  if (stored <= read && (!isLess || found.size() > kMostMoved))
    return std::nullopt;
  llvm::append_range(found, places);
  Moves moves;
  for (Operation *op : found) {
    auto *known = llvm::find_if(moves, [&](auto &move) { return move.first == goal[op]; });
    if (known == moves.end())
      known = moves.insert(known, {goal[op], Ops()});
    known->second.push_back(op);
  }
  return moves;
}

/// Whether `moves` go from a kernel to others, and all are kernels then.
bool Fusion::move(const Moves &moves, Group *group) {
  std::string reason;
  Ops without = group->ops;
  Moves with;
  for (auto &[to, ops] : moves) {
    llvm::erase_if(without, [&](Operation *op) { return llvm::is_contained(ops, op); });
    Ops &all = with.emplace_back(to, to->ops).second;
    llvm::append_range(all, ops);
    sortInBlock(all);
    if (all.size() > kMostTogether || !spaceOf(all, reason))
      return false;
  }
  if (without.empty() || !spaceOf(without, reason))
    return false;
  group->ops = without;
  for (auto &[to, ops] : with) {
    to->ops = ops;
    for (Operation *op : ops)
      owner[op] = to;
  }
  return true;
}

/// Moves what stood at the end of a kernel to those that need it, where what it reads is stored
/// anyway, or takes less to store than what it gives; false if there is none.
bool Fusion::moveBehind() {
  for (auto &group : groups)
    for (Operation *op : group->ops) {
      Group *to = op->use_empty() ? nullptr : owner.lookup(*op->user_begin());
      bool isLast =
          isa<MapOp, CastOp>(op) && to && to != group.get() && group->ops.size() > 1 &&
          llvm::all_of(op->getUsers(), [&](Operation *user) { return owner.lookup(user) == to; });
      std::optional<Ops> moved = isLast ? endOf(op, group.get(), to) : std::nullopt;
      if (moved && move({{to, *moved}}, group.get()))
        return true;
      for (Operation *source : isLast ? sourcesIn(op, group->ops) : Ops())
        if (std::optional<Moves> ends = endsOf(source, group.get());
            ends && move(*ends, group.get()))
          return true;
    }
  return false;
}
