//===- HardwareArithmetic.cpp - results that LLVM leaves open -------------===//
#include "emulator/ptx/HardwareArithmetic.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

Value *tile::emu::createDivision(IRBuilder<> &b, Instruction::BinaryOps op, Value *x, Value *y) {
  Type *type = x->getType();
  Value *isZero = b.CreateIsNull(y), *faults = isZero; // on the host
  if (op == Instruction::SDiv || op == Instruction::SRem) {
    APInt least = APInt::getSignedMinValue(type->getScalarSizeInBits());
    Value *overflows = b.CreateAnd(b.CreateICmpEQ(x, ConstantInt::get(type, least)),
                                   b.CreateICmpEQ(y, Constant::getAllOnesValue(type)));
    faults = b.CreateOr(isZero, overflows);
  }
  // The least number by -1 is the least number, and leaves nothing: as by 1.
  Value *result = b.CreateBinOp(op, x, b.CreateSelect(faults, ConstantInt::get(type, 1), y));
  return b.CreateSelect(isZero, Constant::getAllOnesValue(type), result);
}

/// Amounts of the width or more shift everything out.
static Value *createShift(IRBuilder<> &b, BinaryOperator &op) {
  Value *x = op.getOperand(0), *amount = op.getOperand(1);
  Type *type = x->getType();
  unsigned width = type->getScalarSizeInBits();
  Value *isTooFar = b.CreateICmpUGE(amount, ConstantInt::get(type, width));
  if (op.getOpcode() == Instruction::AShr)
    return b.CreateAShr(x, b.CreateSelect(isTooFar, ConstantInt::get(type, width - 1), amount));
  Constant *zero = Constant::getNullValue(type);
  amount = b.CreateSelect(isTooFar, zero, amount);
  return b.CreateSelect(isTooFar, zero, b.CreateBinOp(op.getOpcode(), x, amount));
}

/// Numbers outside of the type become its nearest; NaN becomes 0, or the highest bit alone
/// where one of the types has 64 bits. There is no conversion to 8 bits: it is that to 16,
/// of which the lower half is kept.
static Value *createToInteger(IRBuilder<> &b, CastInst &cast) {
  Value *x = cast.getOperand(0);
  Type *result = cast.getType();
  unsigned width = std::max(16u, result->getScalarSizeInBits());
  Type *type = result->getWithNewBitWidth(width);
  auto id = cast.getOpcode() == Instruction::FPToSI ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
  Value *number = b.CreateIntrinsic(id, {type, x->getType()}, {x});
  bool isWide = width == 64 || x->getType()->getScalarSizeInBits() == 64;
  APInt none = isWide ? APInt::getSignMask(width) : APInt::getZero(width);
  Value *isNaN = b.CreateFCmpUNO(x, x);
  return b.CreateTrunc(b.CreateSelect(isNaN, ConstantInt::get(type, none), number), result);
}

static bool isOpen(const BinaryOperator &op) {
  auto *known = dyn_cast<ConstantInt>(op.getOperand(1));
  if (op.isShift())
    return !known || known->getValue().uge(known->getBitWidth());
  return op.isIntDivRem() && (!known || known->isZero() || known->isMinusOne());
}

static Value *hardwareResult(IRBuilder<> &b, Instruction &inst) {
  if (auto *op = dyn_cast<BinaryOperator>(&inst)) {
    if (!isOpen(*op))
      return nullptr;
    return op->isShift() ? createShift(b, *op)
                         : tile::emu::createDivision(b, op->getOpcode(), op->getOperand(0),
                                                     op->getOperand(1));
  }
  if (isa<FPToSIInst, FPToUIInst>(inst))
    return createToInteger(b, cast<CastInst>(inst));
  auto *call = dyn_cast<IntrinsicInst>(&inst);
  if (!call)
    return nullptr;
  // -0 is below +0.
  if (call->getIntrinsicID() == Intrinsic::maxnum)
    return b.CreateBinaryIntrinsic(Intrinsic::maximumnum, call->getArgOperand(0),
                                   call->getArgOperand(1));
  if (call->getIntrinsicID() == Intrinsic::minnum)
    return b.CreateBinaryIntrinsic(Intrinsic::minimumnum, call->getArgOperand(0),
                                   call->getArgOperand(1));
  return nullptr;
}

bool tile::emu::replaceByHardware(Instruction &inst) {
  IRBuilder<> b(&inst);
  Value *result = hardwareResult(b, inst);
  if (!result)
    return false;
  inst.replaceAllUsesWith(result);
  inst.eraseFromParent();
  return true;
}
