//===- Divisors.cpp - divisors that may be zero ---------------------------===//
//
// On a GPU a division by zero gives some number; lanes divide by zero all the time, and what
// they get is masked off. In LLVM a program with such a division means nothing, so that a
// divisor is known not to be zero wherever the division is certain to run:
//
//   where(n == 0, 0, x // n)  =>  x // n
//
// So a divisor about which the kernel asks such a question, or that has been made from an
// answer, is divided by as a copy that LLVM does not see through. The assembler drops the copy.
//
//===----------------------------------------------------------------------===//
#include "compiler/Divisors.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static Value *withoutCasts(Value *v) {
  while (isa<CastInst, FreezeInst>(v) && v->getType()->isIntegerTy() &&
         cast<Instruction>(v)->getOperand(0)->getType()->isIntegerTy())
    v = cast<Instruction>(v)->getOperand(0);
  return v;
}

static bool isTruth(Value *v) { return withoutCasts(v)->getType()->isIntegerTy(1); }

/// Whether `divisor` is zero or not as a condition says.
static bool comesFromCondition(Value *divisor) {
  Value *v = withoutCasts(divisor);
  if (isa<SelectInst, PHINode>(v) || isTruth(v))
    return true;
  auto *op = dyn_cast<BinaryOperator>(v);
  if (!op)
    return false;
  if (op->getOpcode() == Instruction::And)
    return true;
  return op->getOpcode() == Instruction::Mul &&
         (isTruth(op->getOperand(0)) || isTruth(op->getOperand(1)));
}

/// Whether something else that is computed depends on `divisor` being zero or not. What is made
/// from it and anything else may be zero in any case, but for a disjunction of bits.
static bool isAskedAbout(Value *divisor) {
  constexpr unsigned kMost = 64; // beyond that it may well be
  SmallPtrSet<Value *, 16> seen;
  SmallVector<Value *> work{withoutCasts(divisor)};
  while (!work.empty()) {
    Value *value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (seen.size() > kMost)
      return true;
    for (User *user : value->users()) {
      bool hasConstant = any_of(user->operands(), [](Value *v) { return isa<ConstantInt>(v); });
      auto *call = dyn_cast<IntrinsicInst>(user);
      if (isa<ICmpInst, MinMaxIntrinsic>(user) && hasConstant)
        return true;
      if (call && is_contained({Intrinsic::ctlz, Intrinsic::cttz}, call->getIntrinsicID()))
        return true;
      auto *op = dyn_cast<BinaryOperator>(user);
      if ((isa<CastInst, FreezeInst>(user) && user->getType()->isIntegerTy()) ||
          isa<MinMaxIntrinsic>(user) ||
          (op && !op->isIntDivRem() && (hasConstant || op->getOpcode() == Instruction::Or)))
        work.push_back(user);
    }
  }
  return false;
}

static Value *hidden(IRBuilder<> &b, Value *v) {
  unsigned width = v->getType()->getIntegerBitWidth(), held = width <= 16   ? 16
                                                              : width <= 32 ? 32
                                                                            : 64;
  Type *type = b.getIntNTy(held);
  StringRef constraints = held == 16 ? "=h,0" : held == 32 ? "=r,0" : "=l,0";
  auto *copy = InlineAsm::get(FunctionType::get(type, {type}, false), "", constraints,
                              /*hasSideEffects=*/false);
  CallInst *call = b.CreateCall(copy, {b.CreateSExt(v, type)});
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  return b.CreateTrunc(call, v->getType());
}

/// The least number divided by -1 is itself; LLVM says nothing about that either.
static bool divideByMinusOne(BinaryOperator &op) {
  auto *divisor = dyn_cast<ConstantInt>(op.getOperand(1));
  bool isSigned = op.getOpcode() == Instruction::SDiv || op.getOpcode() == Instruction::SRem;
  if (!divisor || !divisor->isMinusOne() || !isSigned)
    return false;
  IRBuilder<> b(&op);
  op.replaceAllUsesWith(op.getOpcode() == Instruction::SRem
                            ? static_cast<Value *>(ConstantInt::get(op.getType(), 0))
                            : b.CreateNeg(op.getOperand(0)));
  op.eraseFromParent();
  return true;
}

void tile::hideDivisors(Module &module) {
  for (Function &f : module)
    for (Instruction &inst : make_early_inc_range(instructions(f))) {
      auto *op = dyn_cast<BinaryOperator>(&inst);
      if (!op || !op->isIntDivRem() || !op->getType()->isIntegerTy() || divideByMinusOne(*op))
        continue;
      Value *divisor = op->getOperand(1);
      auto *known = dyn_cast<ConstantInt>(divisor);
      bool isSafe =
          known ? !known->isZero()
                : !isa<Constant>(divisor) && !comesFromCondition(divisor) && !isAskedAbout(divisor);
      IRBuilder<> b(op);
      if (!isSafe)
        op->setOperand(1, hidden(b, divisor));
    }
}
