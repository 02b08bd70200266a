//===- CarriedBits.cpp - truths that loops carry --------------------------===//
//
// A truth (i1) lies in one of seven predicate registers. NVIDIA's assembler unrolls a loop with
// a constant number of turns, so that the loads of many turns are on their way together, but
// none that carries two predicates or more: `any` and `all` of a row, which hold a truth for each
// element of a thread, wait for each load. So such loops carry 32-bit numbers that are 0 or 1:
//
//   %any = phi i1 [false], [%next]           %any = phi i32 [0], [%next]
//   %next = or i1 %any, %x            =>     %wide = zext i1 %x to i32
//                                            %next = or i32 %any, %wide
//
// What conjunctions, disjunctions and choices make of what is carried is computed in 32 bits
// too; other users compare with zero. Unrolled, the assembler goes back to predicates where that
// is shorter.
//
//===----------------------------------------------------------------------===//
#include "compiler/CarriedBits.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace {

/// One loop's truths.
class CarriedBits {
public:
  explicit CarriedBits(Loop &loop) : loop(loop) {
    for (PHINode &phi : loop.getHeader()->phis())
      if (phi.getType()->isIntegerTy(1))
        phis.push_back(&phi);
  }

  void widen() {
    constexpr size_t kFew = 1; // with one the assembler unrolls
    if (phis.size() <= kFew)
      return;
    for (PHINode *phi : phis)
      wide[phi] = widePhi(phi);
    for (PHINode *phi : phis)
      for (auto [value, from] : zip(phi->incoming_values(), phi->blocks()))
        cast<PHINode>(wide[phi])->addIncoming(widened(value), from);
    for (PHINode *phi : phis)
      narrowUses(phi, wide[phi]);
    for (auto [step, as] : steps)
      narrowUses(step, as);
    // They are used by each other at most.
    for (PHINode *phi : phis)
      phi->replaceAllUsesWith(PoisonValue::get(phi->getType()));
    for (PHINode *phi : phis)
      phi->eraseFromParent();
    for (auto &[step, as] : reverse(steps))
      step->eraseFromParent();
  }

private:
  /// Whether `value` is carried, or what a conjunction, disjunction or choice makes of that.
  bool isStep(Value *value) {
    if (is_contained(phis, value))
      return true;
    auto *op = dyn_cast<Instruction>(value);
    if (!op || !loop.contains(op) || !value->getType()->isIntegerTy(1) ||
        !(isa<SelectInst>(op) || (isa<BinaryOperator>(op) && op->isBitwiseLogicOp())))
      return false;
    if (auto known = asked.find(value); known != asked.end())
      return known->second;
    bool is = any_of(drop_begin(op->operands(), isa<SelectInst>(op)),
                     [&](Value *v) { return isStep(v); });
    return asked[value] = is;
  }

  /// `value` as 0 or 1, right behind where it is computed.
  Value *widened(Value *value) {
    if (Value *done = wide.lookup(value))
      return done;
    if (isStep(value)) {
      auto *op = cast<Instruction>(value);
      Value *left = widened(op->getOperand(op->getNumOperands() - 2));
      Value *right = widened(op->getOperand(op->getNumOperands() - 1));
      IRBuilder<> b(op);
      auto *choice = dyn_cast<SelectInst>(op);
      Value *result = choice ? b.CreateSelect(choice->getCondition(), left, right)
                             : b.CreateBinOp(cast<BinaryOperator>(op)->getOpcode(), left, right);
      steps.push_back({op, result});
      return wide[value] = result;
    }
    BasicBlock &entry = loop.getHeader()->getParent()->getEntryBlock();
    IRBuilder<> b(&entry, entry.getFirstInsertionPt());
    if (auto *op = dyn_cast<Instruction>(value))
      b.SetInsertPoint(*op->getInsertionPointAfterDef());
    return b.CreateZExt(value, b.getInt32Ty()); // of a constant, a constant
  }

  /// Users of the truth `value` that stay compare `as` with zero.
  void narrowUses(Instruction *value, Value *as) {
    SmallSetVector<PHINode *, 4> behind; // the loop: they are numbers, too
    for (Use &use : make_early_inc_range(value->uses())) {
      auto *user = cast<Instruction>(use.getUser());
      bool isCondition = isa<SelectInst>(user) && use.getOperandNo() == 0;
      if (wide.contains(user) && !isCondition)
        continue; // has been computed from `as`
      auto *phi = dyn_cast<PHINode>(user);
      if (phi && !loop.contains(phi)) {
        behind.insert(phi);
        continue;
      }
      IRBuilder<> b(phi ? phi->getIncomingBlock(use)->getTerminator() : user);
      use.set(b.CreateICmpNE(as, b.getInt32(0)));
    }
    for (PHINode *phi : behind) {
      PHINode *number = widePhi(phi);
      for (auto [truth, from] : zip(phi->incoming_values(), phi->blocks()))
        number->addIncoming(widened(truth), from);
      IRBuilder<> b(phi->getParent(), phi->getParent()->getFirstInsertionPt());
      phi->replaceAllUsesWith(b.CreateICmpNE(number, b.getInt32(0)));
      phi->eraseFromParent();
    }
  }

  static PHINode *widePhi(PHINode *phi) {
    return PHINode::Create(Type::getInt32Ty(phi->getContext()), phi->getNumIncomingValues(),
                           phi->getName(), phi->getIterator());
  }

  Loop &loop;
  SmallVector<PHINode *> phis;
  DenseMap<Value *, Value *> wide;
  DenseMap<Value *, bool> asked;                        ///< `isStep`
  SmallVector<std::pair<Instruction *, Value *>> steps; ///< operands in front of their users
};

} // namespace

void tile::widenCarriedBits(LoopInfo &loops) {
  for (Loop *loop : loops.getLoopsInPreorder())
    CarriedBits(*loop).widen();
}
