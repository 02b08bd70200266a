//===- TileSteps.cpp - a loop over the steps of one tile after the other --===//
#include "passes/tile/TileSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/facts/DeadValues.h"

using namespace mlir;
using namespace tile;

/// Whether `v` is `left ==` what `isRight` holds of.
static bool isEqual(Value v, Value left, llvm::function_ref<bool(Value)> isRight) {
  auto compare = v.getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::eq &&
         ((compare.getLhs() == left && isRight(compare.getRhs())) ||
          (compare.getRhs() == left && isRight(compare.getLhs())));
}
static bool isEqual(Value v, Value left, Value right) {
  return isEqual(v, left, [&](Value other) { return other == right; });
}

/// Whether `op`, or anything in it, may write.
static bool writes(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return hasOwnEffect(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// 1. next = counter == last ? 0 : counter + 1, from -1 or `last` on.
bool TileSteps::isCounter(BlockArgument arg, Value init) {
  auto select =
      body->getTerminator()->getOperand(arg.getArgNumber() - 1).getDefiningOp<arith::SelectOp>();
  if (!select || arg.getType() != loop.getInductionVar().getType() || select->getBlock() != body ||
      !isConstantIntValue(select.getTrueValue(), 0))
    return false;
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto add = select.getFalseValue().getDefiningOp<arith::AddIOp>();
  if (!compare || !add || !compare->hasOneUse() || !add->hasOneUse() || add.getLhs() != arg ||
      !isConstantIntValue(add.getRhs(), 1) || llvm::range_size(arg.getUses()) != 2)
    return false;
  last = compare.getLhs() == arg ? compare.getRhs() : compare.getLhs();
  if (!isEqual(compare, arg, last) || !loop.isDefinedOutsideOfLoop(last) ||
      (init != last && !isConstantIntValue(init, -1)))
    return false;
  counter = arg;
  next = select;
  counting[0] = compare;
  counting[1] = add;
  counting[2] = select;
  return true;
}

bool TileSteps::findCounter() {
  // Turns are divided by steps as signed numbers.
  if (loop.getUnsignedCmp() || !isConstantIntValue(loop.getLowerBound(), 0) ||
      !isConstantIntValue(loop.getStep(), 1) || !loop.getInductionVar().use_empty() ||
      !loop->use_empty())
    return false;
  for (auto [arg, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInits()))
    if (isCounter(arg, init))
      return true;
  return false;
}

/// 2. What is done in the first and in the last step of a tile.
bool TileSteps::findChoices() {
  bool stores = false;
  for (Operation &op : body->without_terminator()) {
    if (!isa<scf::IfOp, arith::SelectOp>(op) || &op == next.getDefiningOp())
      continue;
    Choice choice{&op};
    Value condition = op.getOperand(0);
    bool isLast = isEqual(condition, next, last);
    bool isFirst = isEqual(condition, next, [](Value v) { return isConstantIntValue(v, 0); });
    if (!isFirst && !isLast)
      continue;
    // What is done in all other steps alone would have to be taken apart.
    if (scf::IfOp branch = choice.branch();
        branch && branch.elseBlock() && !llvm::hasSingleElement(*branch.elseBlock()))
      return false;
    (isFirst ? firsts : lasts).push_back(choice);
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      if (isFirst)
        firstOf[result] = {choice, unsigned(i)};
      else
        lastOf[result] = choice;
    }
    stores |= isLast && writes(&op);
  }
  return stores && !firsts.empty();
}

/// 3. Whether all that a turn does beside what it does in the last step may be done before that,
/// and turns that no tile is left for may be left out.
bool TileSteps::isInOrder() {
  bool isBehind = false;
  for (Operation &op : body->without_terminator()) {
    bool isLast = llvm::any_of(lasts, [&](const Choice &c) { return c.op == &op; });
    if (isLast)
      isBehind |= !isMemoryEffectFree(&op);
    else if (writes(&op) || (isBehind && !isMemoryEffectFree(&op)))
      return false;
  }
  return true;
}

Value TileSteps::inLastStep(Value v) const {
  auto choice = lastOf.find(v);
  return choice == lastOf.end() ? v : choice->second.then(cast<OpResult>(v).getResultNumber());
}

Value TileSteps::inOtherSteps(Value v) const {
  auto choice = lastOf.find(v);
  return choice == lastOf.end() ? v : choice->second.otherwise(cast<OpResult>(v).getResultNumber());
}

/// 4. What stays what the first step made of it until the last. What it was before is for the
/// first step alone.
bool TileSteps::findKept() {
  auto args = loop.getRegionIterArgs();
  kept.assign(args.size(), Value());
  for (auto [i, arg] : llvm::enumerate(args)) {
    Value handed = inOtherSteps(body->getTerminator()->getOperand(i));
    if (arg == counter || handed == arg) {
      kept[i] = arg;
      continue;
    }
    auto first = firstOf.find(handed);
    if (first == firstOf.end() || first->second.first.otherwise(first->second.second) != arg)
      continue;
    kept[i] = handed;
    for (Operation *user : arg.getUsers())
      if (llvm::none_of(firsts, [&](const Choice &c) { return c.op->isAncestor(user); }))
        return false;
  }
  // Each result of a first step's choice is what a tile keeps.
  return llvm::all_of(firstOf, [&](auto &entry) { return llvm::is_contained(kept, entry.first); });
}

bool TileSteps::find() { return findCounter() && findChoices() && isInOrder() && findKept(); }
