//===- Contract.cpp - a*b+c in one rounding, as on the GPU ----------------===//
//
// NVPTX fuses every product that is added to something, also one with several
// uses; of two products it takes the one with fewer. The host's back end would
// leave some of them, and has no 16-bit operation, so this is done before.
//
//===----------------------------------------------------------------------===//
#include "emulator/ptx/Contract.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

static BinaryOperator *product(Value *v) {
  auto *op = dyn_cast<BinaryOperator>(v);
  return op && op->getOpcode() == Instruction::FMul ? op : nullptr;
}

/// The fused operation that a sum or difference becomes; null if it stays.
static Value *fuse(BinaryOperator &sum) {
  BinaryOperator *left = product(sum.getOperand(0)), *right = product(sum.getOperand(1));
  if (!left && !right)
    return nullptr;
  bool takeLeft = left && (!right || left->getNumUses() <= right->getNumUses());
  IRBuilder<> b(&sum);
  bool minus = sum.getOpcode() == Instruction::FSub;
  BinaryOperator *taken = takeLeft ? left : right;
  Value *x = taken->getOperand(0), *y = taken->getOperand(1);
  Value *rest = sum.getOperand(takeLeft ? 1 : 0);
  if (minus && takeLeft)
    rest = b.CreateFNeg(rest);
  else if (minus)
    x = b.CreateFNeg(x);
  return b.CreateIntrinsic(Intrinsic::fma, sum.getType(), {x, y, rest});
}

bool tile::emu::contractMulAdd(Function &function) {
  SmallVector<Instruction *> work;
  for (Instruction &inst : instructions(function))
    work.push_back(&inst);
  bool any = false;
  for (Instruction *inst : work) {
    Value *fused = nullptr;
    if (auto *op = dyn_cast<BinaryOperator>(inst);
        op && (op->getOpcode() == Instruction::FAdd || op->getOpcode() == Instruction::FSub)) {
      fused = fuse(*op);
    } else if (auto *call = dyn_cast<IntrinsicInst>(inst);
               call && call->getIntrinsicID() == Intrinsic::fmuladd) {
      IRBuilder<> b(call);
      fused = b.CreateIntrinsic(
          Intrinsic::fma, call->getType(),
          {call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)});
    }
    if (!fused)
      continue;
    inst->replaceAllUsesWith(fused);
    inst->eraseFromParent();
    any = true;
  }
  return any;
}

/// In f64 the product of two 16-bit floats is exact, and the sum is wherever its
/// last bits could decide how the result is rounded.
void tile::emu::expandNarrowMulAdd(Function &function) {
  SmallVector<IntrinsicInst *> work;
  for (Instruction &inst : instructions(function))
    if (auto *call = dyn_cast<IntrinsicInst>(&inst); call &&
                                                     call->getIntrinsicID() == Intrinsic::fma &&
                                                     call->getType()->getScalarSizeInBits() == 16)
      work.push_back(call);
  for (IntrinsicInst *call : work) {
    IRBuilder<> b(call);
    Type *wide = call->getType()->getWithNewType(b.getDoubleTy());
    auto extend = [&](unsigned i) { return b.CreateFPExt(call->getArgOperand(i), wide); };
    Value *sum = b.CreateFAdd(b.CreateFMul(extend(0), extend(1)), extend(2));
    call->replaceAllUsesWith(b.CreateFPTrunc(sum, call->getType()));
    call->eraseFromParent();
  }
}

/// Of the magnitude, 24 bits stay, the last of them set if any below it was: f32
/// holds that, and what follows from there to bf16 is rounded as if all were known.
void tile::emu::expandIntegersToBF16(Function &function) {
  SmallVector<CastInst *> work;
  for (Instruction &inst : instructions(function))
    if (isa<SIToFPInst, UIToFPInst>(inst) && inst.getType()->isBFloatTy() &&
        inst.getOperand(0)->getType()->getIntegerBitWidth() > 24)
      work.push_back(cast<CastInst>(&inst));
  for (CastInst *cast : work) {
    IRBuilder<> b(cast);
    bool isSigned = isa<SIToFPInst>(cast);
    Type *wide = b.getInt64Ty();
    Value *x = b.CreateIntCast(cast->getOperand(0), wide, isSigned);
    Value *negative = isSigned ? b.CreateICmpSLT(x, b.getInt64(0)) : b.getFalse();
    Value *y = b.CreateSelect(negative, b.CreateNeg(x), x);
    Value *zeros = b.CreateBinaryIntrinsic(Intrinsic::ctlz, y, b.getFalse());
    Value *low = b.CreateLShr(b.getInt64(~uint64_t(0) >> 24), b.CreateAnd(zeros, 63));
    Value *rest = b.CreateAnd(y, low);
    Value *last = b.CreateAdd(low, b.getInt64(1));
    Value *sticky = b.CreateSelect(b.CreateIsNotNull(rest), last, b.getInt64(0));
    Value *kept = b.CreateOr(b.CreateAnd(y, b.CreateNot(low)), sticky);
    Value *f = b.CreateUIToFP(kept, b.getFloatTy());
    f = b.CreateSelect(negative, b.CreateFNeg(f), f);
    cast->replaceAllUsesWith(b.CreateFPTrunc(f, cast->getType()));
    cast->eraseFromParent();
  }
}

void tile::emu::expandPairsToBF16(Function &function) {
  SmallVector<IntrinsicInst *> work;
  for (Instruction &inst : instructions(function))
    if (auto *call = dyn_cast<IntrinsicInst>(&inst);
        call && call->getIntrinsicID() == Intrinsic::nvvm_ff2bf16x2_rn)
      work.push_back(call);
  for (IntrinsicInst *call : work) {
    IRBuilder<> b(call);
    Value *pair = PoisonValue::get(call->getType());
    for (unsigned half : {0, 1}) {
      Value *x = call->getArgOperand(1 - half); // the upper half comes first
      pair = b.CreateInsertElement(pair, b.CreateFPTrunc(x, b.getBFloatTy()), half);
    }
    call->replaceAllUsesWith(pair);
    call->eraseFromParent();
  }
}
